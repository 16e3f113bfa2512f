"""The time that the rest of a study takes, and the people who are missing for it."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from django.db.models import Count, F, IntegerField, Min, Q, QuerySet, Sum, Value
from django.db.models.functions import Least
from django.template.defaultfilters import capfirst, floatformat, pluralize
from django.utils import timezone

from arena.models import Answer, Assignment, Comparison, Completion, Purpose, Role, Score, Study
from arena.models.querysets import Length
from arena.rating import limits, training
from arena.rating.offering_texts import TASKS, asked_later, asked_texts, given, opinions, text_tasks
from arena.rating.progress import why_nothing
from arena.studies.counts import Wanted, offered_pairs, pairs_wanted

WINDOWS: Final = {
    "the last hour": timedelta(hours=1),
    "the last 24 hours": timedelta(hours=24),
    "the last 7 days": timedelta(days=7),
}
"""Windows for the present pace: the shortest in which enough was rated is taken."""

SHORTEST: Final = timedelta(minutes=10)
ENOUGH: Final = 20  # comparisons that make a pace worth telling


@dataclass(frozen=True)
class Pace:
    comparisons: int
    hours: float
    window: str
    left: int

    @property
    def per_hour(self) -> float:
        return self.comparisons / self.hours

    @property
    def is_long(self) -> bool:
        """True if the window holds nights, in which nobody rates."""
        return self.hours > 12

    @property
    def is_thin(self) -> bool:
        return self.comparisons < ENOUGH

    @property
    def words(self) -> str:
        """Say how long the rest takes; "" if nobody rates."""
        if not self.comparisons:
            return ""
        hours = self.left / self.per_hour
        if hours < 1:
            return "less than an hour"
        if hours < 48:
            return f"about {hours:.0f} hour{pluralize(round(hours))}"
        if hours < 24 * 60:
            return f"about {hours / 24:.0f} day{pluralize(round(hours / 24))}"
        return "more than two months"

    def sentence(self, deeds: str) -> str:
        """Say how long the rest takes, with the rate: so many deeds an hour."""
        if not self.comparisons:
            return "No estimate yet."
        rate = f"{floatformat(self.per_hour)} {deeds} an hour{', including breaks' if self.is_long else ''}"
        rough = " This is a rough estimate." if self.is_thin else ""
        return f"{capfirst(self.words)} left, at the rate of {self.window} ({rate}).{rough}"


def of(study: Study, left: int, people: Collection[int], now: datetime | None = None) -> Pace:
    """Measure how fast these people rate here, for ``left``; imports and checks are not counted.

    Where a window reaches back before the first rating, the time since that rating counts.
    """
    now = now or timezone.now()
    longest = max(WINDOWS.values())
    rated = Q(
        study=study,
        is_current=True,
        purpose="study",
        rater__in=people,
        source__in=["web", "api"],
        created_at__gt=now - longest,
    )
    names = [f"window_{number}" for number in range(len(WINDOWS))]
    found: Counter[str] = Counter()
    firsts: list[datetime] = []
    for model, counted in ((Comparison, "pk"), (Score, "pk"), (Answer, "assignment")):
        windows = {
            name: Count(counted, distinct=True, filter=Q(created_at__gt=now - window))
            for name, window in zip(names, WINDOWS.values(), strict=True)
        }
        rows = model._default_manager.filter(rated).aggregate(**windows, first=Min("created_at"))
        if first := rows.pop("first"):
            firsts.append(first)
        found.update(rows)
    for name, (words, window) in zip(names, WINDOWS.items(), strict=True):  # noqa: B007 - the last stays
        if found[name] >= ENOUGH:
            break
    since = max(now - min(firsts), SHORTEST) if firsts else window
    if since < window:
        window, words = since, _the_last(since)
    return Pace(found[name], window / timedelta(hours=1), words, left)


def _the_last(time: timedelta) -> str:
    minutes = round(time / timedelta(minutes=1))
    if minutes < 120:
        return f"the last {minutes} minutes"
    return f"the last {minutes / 60:.0f} hours" if minutes < 48 * 60 else f"the last {time.days} days"


def may_rate(study: Study) -> dict[int, int | None]:
    """The people who are offered something while the study is open and whose ratings count, by rater.

    With how many tasks the study still takes from each; None if it takes all.
    """
    members = list(
        study.memberships.filter(
            role__in=[Role.RATER, Role.OPERATOR],
            paused_at=None,
            left_out_at=None,
            rater__paused_at=None,
            rater__anonymised_at=None,
        )
    )
    for member in members:
        member.study = study
    failed = {pk for pk, waiting in training.waiting(members).items() if waiting.is_lost}
    taken = limits.by_rater(study)
    room = {
        member.rater_id: taken.get(member.rater_id, limits.Allowance(study)).left
        for member in members
        if member.pk not in failed
    }
    return {rater: left for rater, left in room.items() if left != 0}


class Supply(NamedTuple):
    """Counts whether people suffice for what is left of one task.

    stuck: opinions that are left, and that nobody who may rate can give. lacking: how many people are missing
    where most are; everywhere: as many are missing for all. able: who has something left to do.
    """

    stuck: int
    lacking: int
    everywhere: bool
    able: frozenset[int]


def supply(
    needs: Mapping[int, int], fresh: int, wants: int, done: Iterable[tuple[int, int]], people: Collection[int]
) -> Supply:
    """Count who there is for ``needs``, opinions left by item, and ``fresh`` more items that need ``wants``.

    ``done``: items and who is not offered them again.
    """
    rows = {(item, rater) for item, rater in done if item in needs and rater in people}
    by_item, by_rater = Counter(item for item, _ in rows), Counter(rater for _, rater in rows)
    missing = Counter(max(0, need - len(people) + by_item[item]) for item, need in needs.items())
    missing[max(0, wants - len(people))] += fresh
    found = {number for number, items in missing.items() if items}
    return Supply(
        stuck=sum(number * items for number, items in missing.items()),
        lacking=max(found, default=0),
        everywhere=len(found) == 1,
        able=frozenset(rater for rater in people if by_rater[rater] < len(needs) + fresh),
    )


DONE: Final = (Assignment.State.SUBMITTED, Assignment.State.SKIPPED)


def supplies(study: Study, by_task: Mapping[str, Wanted], people: Collection[int]) -> dict[str, Supply]:
    """By task of those of which something is left."""
    return {
        kind: _of_texts(study, kind, people) if kind in TASKS else _of_pairs(study, wanted, people)
        for kind, wanted in by_task.items()
        if wanted.left
    }


def _of_pairs(study: Study, wanted: Wanted, people: Collection[int]) -> Supply:
    own = Assignment.objects.filter(study=study, rater__in=people, pair__isnull=False, state__in=DONE)
    imported = Comparison.objects.current().filter(study=study, rater__in=people, assignment=None)
    wants, opened = study.ratings_per_pair_people, offered_pairs(study)
    if study.rated_turns == Study.Rated.EACH:  # after a turn the next ones of the pair are left
        wanted = sum(pairs_wanted(study).values(), Wanted())
        ended = Q(state=Assignment.State.SKIPPED) | Q(turn__gte=Length("pair__prompt__turns")) | Q(turn=0)
        own = own.filter(ended)
    if study.reveal_names:  # of a prompt each is offered one pair
        return supply(_by_prompt(study), 0, 0, _rows((own, imported), "pair__prompt"), people)
    # With enough people a pair can lack some only where it was skipped, or rated for something else. To look
    # at these alone is much faster, as long as there is a pair that is new to everybody.
    odd = own.exclude(purpose=Purpose.STUDY, state=Assignment.State.SUBMITTED)
    aside = {pair for pair, _ in _rows((odd,), "pair")} if len(people) >= wants else set()
    if len(people) >= wants and wanted.untouched > len(aside):
        own, imported = own.filter(pair__in=aside), imported.filter(pair__in=aside)
        opened = opened.filter(pk__in=aside)
    opened = opened.filter(people_ratings__lt=wants)
    needs = {pk: wants - given for pk, given in opened.values_list("pk", "people_ratings")}
    fresh = wanted.pairs - wanted.full - len(needs)
    return supply(needs, fresh, wants, _rows((own, imported), "pair"), people)


def _by_prompt(study: Study) -> dict[int, int]:
    """The ratings left of each prompt's pairs."""
    wants = study.ratings_per_pair_people
    useful = Sum(Least(F("people_ratings"), Value(wants), output_field=IntegerField()))
    given = dict(offered_pairs(study).values_list("prompt").annotate(n=useful))
    pairs = Completion.objects.rateable_in(study).pairs_by("prompt")
    left = {prompt: number * wants - given.get(prompt, 0) for prompt, number in pairs.items()}
    return {prompt: number for prompt, number in left.items() if number > 0}


def _of_texts(study: Study, kind: str, people: Collection[int]) -> Supply:
    wants, asked = study.ratings_per_pair_people, text_tasks(study)
    counts = given(study, kind).filter(study=study).values_list("completion")
    said = dict(counts.annotate(n=Count("rater", distinct=True)))
    texts = dict(asked_texts(study, kind).values_list("pk", "prompt"))
    needs = {pk: wants - said.get(pk, 0) for pk in texts if said.get(pk, 0) < wants}
    ended = Q(kind__in=[kind, *asked_later(study, kind)], state__in=DONE)
    ended |= Q(kind__in=asked[: asked.index(kind)], state=Assignment.State.SKIPPED)
    own = Assignment.objects.filter(ended, study=study, rater__in=people)
    done = {*_rows((own, opinions(kind).filter(study=study, rater__in=people)), "completion")}
    if study.reveal_names:  # whoever was told two authors of a prompt may infer the others
        pairs = Assignment.objects.filter(study=study, rater__in=people, pair__isnull=False, state__in=DONE)
        named = set(_rows((pairs,), "pair__prompt"))
        done |= {(pk, rater) for pk, prompt in texts.items() for rater in people if (prompt, rater) in named}
    return supply(needs, 0, wants, done, people)


def _rows(found: Iterable[QuerySet[Any]], item: str) -> Iterator[tuple[int, int]]:
    for rows in found:
        yield from rows.order_by().values_list(item, "rater")


class Outlook(NamedTuple):
    """Sentences about the rest of a study; ``invite`` is what a link to its people says.

    goes_on: somebody who may rate has something left.
    """

    words: str
    invite: str = ""
    goes_on: bool = False


def outlook(study: Study, by_task: Mapping[str, Wanted]) -> Outlook:
    total = sum(by_task.values(), Wanted())
    pairs_alone = study.compares and len(study.tasks) == 1
    if not total.wanted:
        return Outlook(why_nothing(study))
    if not total.left:
        return Outlook("All ratings are in." if pairs_alone else "Everything is done.")
    if study.is_closed:
        return Outlook("The study is closed.")
    people = may_rate(study)
    found = supplies(study, by_task, people)
    able = frozenset[int]().union(*(each.able for each in found.values()))
    short = _shortage(study, by_task, found) or _limited(people, total.left)
    words = short.words
    if study.is_draft or study.paused_at:
        state = "People can rate once you publish the study." if study.is_draft else "The study is paused."
        words = f"{state} {words}".rstrip()
    elif not words:
        words = of(study, total.left, able).sentence("ratings" if pairs_alone else "done")
    return Outlook(words, short.invite, bool(able))


def _shortage(study: Study, by_task: Mapping[str, Wanted], found: Mapping[str, Supply]) -> Outlook | None:
    """Say how many people are missing for some of what is left; None if there are enough."""
    kind = max(found, key=lambda kind: found[kind].lacking)
    short, wants = found[kind], study.ratings_per_pair_people
    if not short.lacking:
        return None
    invite = f"Invite {short.lacking:,}"
    noun = "answer" if kind in TASKS else "pair"
    if study.reveal_names and kind not in TASKS:
        left, need = by_task[kind].left, f"need{pluralize(short.stuck, 's,')}"
        return Outlook(f"{short.stuck:,} of {left:,} rating{pluralize(left)} left {need} new people.", invite)
    number = wants - short.lacking
    counts = f"{number:,} count{pluralize(number, 's,')}" if number else "none counts yet"
    if not short.everywhere or by_task[kind].full:
        counts = f"for some {noun}s {'only ' if number else ''}{counts}"
    needed = f"{wants:,} {pluralize(wants, 'person,people')}"
    return Outlook(f"Each {noun} needs {needed}; {counts}.", invite)


def _limited(people: Mapping[int, int | None], left: int) -> Outlook:
    """Say that the limit per rater leaves no room for all; empty if it does."""
    room = [number for number in people.values() if number is not None]
    if len(room) < len(people) or sum(room) >= left:
        return Outlook("")
    return Outlook(f"The limit per rater leaves room for {sum(room):,} of {left:,}.", "Invite more people")
