"""What a run would take, before it starts. Never writes.

The lower end of a range is what to expect; the upper end is what is possible: a token for every byte, the
longest replies, every step. Retries are in neither. Of a large run an even sample is looked at.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Final

from django.conf import settings

from arena.models import Assignment, Completion, Pair, Prompt, Study
from arena.rating import planning, plans
from arena.rating.plans import Target
from judging.endpoints import costs
from judging.endpoints.costs import Load, Prices, Range, Total
from judging.judges.asked import AskedModel, asked_by, authors
from judging.models import Judge, JudgeCall, JudgeRun, RunAssignment
from judging.protocols import conversation, rehearsal
from judging.protocols.conversation import Question
from judging.protocols.parsing import no_text
from judging.protocols.protocol import About
from judging.protocols.rehearsal import Rehearsed, rehearse
from judging.runs.asking import CallBuilder
from judging.runs.lifecycle import check_usable
from judging.runs.work import Work, requirements, text_of
from judging.spending.reservations import prices_of

RECENT: Final = 200  # most replies that are looked at, the latest
RECENT_RUNS: Final = 20


@dataclass(frozen=True)
class ReplyStatistics:
    """Means over a model's earlier replies; None where none of them tells."""

    bytes_per_token: Decimal = costs.BYTES_PER_TOKEN
    reply_tokens: Decimal | None = None
    seconds: Decimal | None = None
    replies: int = 0  # how many there were


def reply_statistics(judge: Judge) -> ReplyStatistics:
    """How the judge's model has replied of late, to any judge; reply lengths only for the same protocol."""
    alike = JudgeRun.objects.filter(
        judge__endpoint__model=judge.model, judge__endpoint__base_url=judge.base_url
    )
    runs = list(alike.order_by("-pk").values_list("pk", flat=True)[:RECENT_RUNS])
    calls = JudgeCall.objects.filter(
        run__in=runs,
        state=JudgeCall.State.REPLIED,
        cached_from=None,
        model=judge.model,
        prompt_tokens__gt=0,
        completion_tokens__isnull=False,
    )
    recent = list(calls.select_related("run__judge").order_by("-pk")[:RECENT])
    if not recent:
        return ReplyStatistics()
    size = sum(costs.size(message["content"]) for call in recent for message in call.messages)
    own = [
        costs.reply_tokens(call.completion_tokens, call.reasoning_tokens)
        for call in recent
        if call.completion_tokens is not None and call.run.judge.protocol == judge.protocol
    ]
    waited = [call.latency for call in recent if call.latency]
    return ReplyStatistics(
        bytes_per_token=Decimal(size) / sum(call.prompt_tokens or 0 for call in recent),
        reply_tokens=Decimal(sum(own)) / len(own) if own else None,
        seconds=Decimal(sum(waited) / len(waited)) if waited else None,
        replies=len(recent),
    )


LOOKED_AT: Final = (5, 100)  # fewest and most assignments that are looked at
QUESTIONS: Final = 400  # about how many questions are worded for an estimate
REQUIREMENTS: Final = 5  # about how many a prompt has
USUAL_REPLY: Final = 100  # tokens of a verdict with a short explanation; used until the judge has replied


@dataclass(frozen=True)
class Estimate:
    pairs: int  # or answers
    assignments: int
    identical: int
    looked_at: int  # unless it is all assignments, numbers are approximate
    calls: Range
    cached: int  # first questions that have a reply
    later_steps: bool  # some questions build on replies, so nobody knows if they are cached
    prompt_tokens: Range
    reply_tokens: Range
    cost: Range | None
    currency: str
    prices: Mapping[str, Prices]
    unpriced: tuple[str, ...]  # models without a price
    seconds: Range | None
    habits_from: int  # earlier replies from which lengths and times are learnt

    def covered(self, budget: Decimal) -> int | None:
        """About how many assignments a budget is enough for; None without a price.

        The last one, too, is asked only if there is room for the most that it can cost.
        """
        if self.cost is None or not self.assignments:
            return None
        usual = self.cost.low / self.assignments
        most = usual if self.cost.high is None else self.cost.high / self.assignments
        if budget < most:
            return 0
        return min(self.assignments, int((budget - most) / usual) + 1) if usual else self.assignments


def estimate(study: Study, judge: Judge, wanted: plans.Wanted, *, remote: bool = False) -> Estimate:
    """What a run would take; raises JudgeError if there can be none."""
    check_usable(judge, study, remote=remote)
    wanted = replace(wanted, kind=judge.task)
    every = list(planning.chosen(study, judge.rater, wanted))
    pairs = [each for each in every if each.asked]
    identical = sum(len(each.showings) for each in every if not each.asked)
    return _Estimating(study, judge, wanted.which, pairs).estimate(identical)


@dataclass
class _Slot:
    rehearsed: Rehearsed
    sizes: list[int] = field(default_factory=list)
    bounds: list[int] = field(default_factory=list)
    hashes: set[str] = field(default_factory=set)
    share: Fraction = Fraction(1)  # of the assignments looked at in which it is asked

    @property
    def question(self) -> Question:
        return self.rehearsed.question


class _Estimating:
    def __init__(self, study: Study, judge: Judge, which: plans.Which, pairs: Sequence[Target]) -> None:
        self._study, self._judge, self._which, self._pairs = study, judge, which, pairs
        self._assignments = [(each, showing) for each in pairs for showing in each.showings]
        self._configured = judge.configured_for(study)
        self._models = {author: asked_by(judge, author) for author in authors(self._configured)}
        self._statistics = reply_statistics(judge)
        self._keys: dict[int, frozenset[str]] = {}
        takes = self._configured.takes_questions
        self._requirements = requirements(each.prompt for each in pairs if takes)
        self._turns = _turns_of(pairs) if judge.task == Assignment.Kind.SCORE else {}

    def estimate(self, identical: int) -> Estimate:
        fewest, most = LOOKED_AT
        keys = len(conversation.keys(self._configured)) or REQUIREMENTS
        works = self._works(min(most, max(fewest, QUESTIONS // keys)))
        slots = self._slots(works)
        cached = self._cached(works, slots)
        prices = dict(zip(self._models, prices_of(self._models.values()), strict=True))
        loads = [
            self._load(slot, cached.get(key, Fraction(0)), self._models[slot.question.author], prices)
            for key, slot in slots.items()
        ]
        whole = costs.total(loads) if loads else Total(costs.NOTHING, costs.NOTHING, costs.NOTHING, None)
        saved = sum(
            (share * slots[key].share * self._times(slots[key].question) for key, share in cached.items()),
            Fraction(0),
        )
        models = {self._models[author].model: price for author, price in prices.items()}
        unpriced = (
            () if self._judge.is_simulated else tuple(name for name, price in models.items() if not price)
        )
        return Estimate(
            pairs=len(self._pairs),
            assignments=len(self._assignments),
            identical=identical,
            looked_at=len(works),
            calls=_whole(whole.calls),
            cached=round(saved),
            later_steps=any(not slot.hashes for slot in slots.values()) and not self._judge.is_simulated,
            prompt_tokens=_whole(whole.prompt_tokens),
            reply_tokens=_whole(whole.reply_tokens),
            cost=whole.cost,
            currency=whole.currency,
            prices={name: price for name, price in models.items() if price},
            unpriced=unpriced,
            seconds=self._seconds(whole),
            habits_from=self._statistics.replies,
        )

    def _times(self, question: Question) -> Fraction:
        """How often a question is asked in all; one about a single answer is asked of both sides."""
        if not self._judge.compares and question.about is About.COMPLETION:
            return Fraction(self._asked_about(question.key))
        if question.about is About.PROMPT:
            return Fraction(len({each.prompt for each in self._pairs}))
        if question.about is About.COMPLETION:
            return Fraction(len({one for each in self._pairs for one in each.completions}), 2)
        return Fraction(len(self._assignments))

    def _asked_about(self, key: str) -> int:
        """How many of the assignments ask a question, counted for each prompt once."""
        times = Counter(each.prompt for each, _ in self._assignments)
        return sum(times[prompt] for prompt in times if key in self._keys_of(prompt))

    def _keys_of(self, prompt: int) -> frozenset[str]:
        if prompt not in self._keys:
            asking = self._configured.asking(self._requirements.get(prompt, {}))
            self._keys[prompt] = frozenset(conversation.keys(asking.of_turns(self._turns.get(prompt, 1))))
        return self._keys[prompt]

    def _works(self, most: int) -> list[Work]:
        """At most so many assignments, evenly spread, with their texts; they are not stored."""
        count = len(self._assignments)
        some = range(min(most, count))
        chosen = [self._assignments[number * count // len(some)] for number in some]
        more = list({self._turns[each[0].prompt]: each for each in self._assignments if self._turns}.values())
        if self._requirements and chosen:  # the longest list, so that every question is looked at
            more.append(max(self._assignments, key=lambda each: len(self._keys_of(each[0].prompt))))
        chosen += [each for each in more if each not in chosen]
        ids = {completion for pair, _ in chosen for completion in pair.completions}
        texts = (
            Completion.objects.select_related("prompt").prefetch_related("prompt__references").in_bulk(ids)
        )
        run = JudgeRun(study=self._study, judge=self._judge)
        works = []
        for planned, showing in chosen:
            shown = [texts[completion] for completion in planned.completions]
            is_pair = len(shown) == 2
            prompt = shown[0].prompt
            assignment = Assignment(
                study=self._study,
                rater=self._judge.rater,
                kind=self._judge.task,
                pair=Pair(prompt=prompt, first=shown[0], second=shown[1]) if is_pair else None,
                completion=None if is_pair else shown[0],
                swapped=showing.swapped,
                turn=planned.turn,
                repeat=showing.repeat,
                seed=showing.seed,
            )
            # What is asked anew is another question each time.
            anew = int(self._which is plans.Which.UNSCORED)
            row = RunAssignment(run=run, assignment=assignment, round=anew)
            works.append(Work(row, requirements=self._requirements.get(planned.prompt, {})))
        return works

    def _slots(self, works: Sequence[Work]) -> dict[str, _Slot]:
        """Every possible question by key, with its sizes when replies are minimal."""
        if not works:
            return {}
        # Without references where a prompt lacks them: what stands in for them is asked there.
        slots: dict[str, _Slot] = {}
        for work in sorted(works, key=lambda work: bool(work.texts.references)):
            if not slots.keys() >= set(conversation.keys(work.configured_protocol)):
                every = rehearse(work.configured_protocol, work.texts)
                slots |= {each.question.key: _Slot(each) for each in every if each.question.key not in slots}
        for work in works:
            for question in rehearsal.questions(work.configured_protocol, work.texts):
                slots[question.key].sizes.append(rehearsal.size(question))
                options = self._models[question.author].most_tokens_beside
                slots[question.key].bounds.append(costs.most_prompt_tokens(question.messages) + options)
        for slot in slots.values():
            # What is asked about one answer is counted exactly.
            by_share = self._judge.compares or slot.question.about is not About.COMPLETION
            slot.share = Fraction(len(slot.sizes), len(works)) if by_share else Fraction(1)
        return slots

    def _cached(self, works: Sequence[Work], slots: Mapping[str, _Slot]) -> dict[str, Fraction]:
        """The share of each first question that has a reply already, by key."""
        builder = CallBuilder()
        for work in works:
            for question in conversation.next_questions(work.configured_protocol, work.texts, work.replies):
                name = builder.build(work, question).request_hash
                if name:
                    slots[question.key].hashes.add(name)
        hashes = {name for slot in slots.values() for name in slot.hashes}
        replied = JudgeCall.objects.cached(hashes).only(
            "request_hash", "raw_reply", "finish_reason", "refusal"
        )
        known = {call.request_hash for call in replied if not no_text(text_of(call))}
        return {
            key: Fraction(len(slot.hashes & known), len(slot.hashes))
            for key, slot in slots.items()
            if slot.hashes
        }

    def _load(
        self,
        slot: _Slot,
        cached: Fraction,
        model: AskedModel,
        prices: Mapping[str, Prices | None],
    ) -> Load:
        rehearsed = slot.rehearsed
        exact = self._times(slot.question) * slot.share * (1 - cached)
        times = Decimal(exact.numerator) / exact.denominator
        usual = self._usual_reply(model)
        limit = model.reply_limit
        quoted = rehearsed.quotes * costs.BYTES_PER_TOKEN
        size, bound = _mean(slot.sizes) + quoted * usual, _mean(slot.bounds)
        return Load(
            calls=Range(times if rehearsed.is_certain else Decimal(0), times),
            prompt_tokens=Range(
                size / self._statistics.bytes_per_token,
                bound if not rehearsed.quotes else None if limit is None else bound + quoted * limit,
            ),
            reply_tokens=Range(usual, None if limit is None else Decimal(limit)),
            prices=prices[slot.question.author],
        )

    def _usual_reply(self, model: AskedModel) -> Decimal:
        usual = self._statistics.reply_tokens or Decimal(USUAL_REPLY)
        return usual if model.reply_limit is None else min(usual, Decimal(model.reply_limit))

    def _seconds(self, whole: Total) -> Range | None:
        """Duration by earlier replies, concurrency and limits; None if nothing is known."""
        endpoint = self._judge.asks
        at_once = endpoint.concurrency
        if settings.EMBEDDED_WORKER:
            at_once = min(at_once, settings.WORKER_CONCURRENCY)
        paces = []  # seconds for a call or a token, and how many
        if self._statistics.seconds:
            paces.append((self._statistics.seconds / at_once, whole.calls))
        if endpoint.requests_per_minute:
            paces.append((Decimal(60) / endpoint.requests_per_minute, whole.calls))
        if endpoint.tokens_per_minute:
            tokens = whole.prompt_tokens + whole.reply_tokens
            paces.append((Decimal(60) / endpoint.tokens_per_minute, tokens))
        if not paces:
            return None
        highs = [pace * each.high if each.high is not None else None for pace, each in paces]
        known = [high for high in highs if high is not None]
        return Range(
            max(pace * each.low for pace, each in paces), max(known) if len(known) == len(highs) else None
        )


def _turns_of(answers: Sequence[Target]) -> dict[int, int]:
    """How many turns the answers to each prompt have that are scored one by one."""
    prompts = Prompt.objects.filter(pk__in={each.prompt for each in answers})
    return {pk: max(len(turns), 1) for pk, turns in prompts.values_list("pk", "turns")}


def _mean(numbers: Sequence[int]) -> Decimal:
    return Decimal(sum(numbers)) / len(numbers)


def _whole(numbers: Range) -> Range:
    def rounded(number: Decimal) -> Decimal:
        return number.quantize(Decimal(1), ROUND_HALF_UP)

    return Range(rounded(numbers.low), None if numbers.high is None else rounded(numbers.high))
