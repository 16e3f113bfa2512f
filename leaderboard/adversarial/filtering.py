"""Candidates that judges get wrong, kept in a new study, and what people say of them there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from django.db import transaction
from django.db.models import Exists, OuterRef
from ninja import Field, Schema

from arena.api.schemas import Name
from arena.models import Pair, Study
from arena.pages.permissions import Visitor
from arena.studies import changes
from leaderboard.adversarial.making import (
    FROM,
    MAKER,
    AdversarialError,
    Making,
    made_how,
    source_of,
    study_named,
)
from leaderboard.stats.sides import FIRST, SECOND, TIE, UNSCORED, counted, majority

NO_LABEL: Final = "no pair with a right answer"
GOLD_TIE: Final = "both answers are equally right"
NOT_ALL: Final = "a judge was not asked in both orders"

GUIDELINES: Final = Path(__file__).with_name("guidelines.md")
PEOPLE: Final = 2  # ratings of each pair
CONFIRMED, WAITING = "confirmed", "waiting"
TASTE, OTHER = "people see no objective difference", "people prefer the other answer"


class Filter:
    """What judges say of the pairs of a study that have a right answer."""

    def __init__(self, study: Study, judges: Sequence[str] = ()) -> None:
        """By these judges, or all that are no panel. Raises AdversarialError."""
        from leaderboard.snapshots.reading import opinions  # needs SciPy: the web process loads it on demand
        from leaderboard.trust.errors import errors_in
        from leaderboard.trust.reading import Gold, NothingToJudgeError

        read = opinions(study).at()
        every = [each for each in read.raters if each.selector.startswith("judge:") and not each.panel]
        named = judges or [each.selector for each in every]
        try:
            self.errors = errors_in(study, read, Gold(), named)
        except NothingToJudgeError as error:
            raise AdversarialError(f"{str(error)[0].upper()}{str(error)[1:]}.", "judges") from error
        self.study, self.pairs = study, self.errors.instances.pair
        self.verdicts = 2 * len(self.errors.slugs)  # that each can have
        self.wrong = self.errors.wrong.sum(axis=0)
        self.unlabelled = _unlabelled(study)

    def sorted_out(self, least: int) -> tuple[npt.NDArray[np.bool_], dict[str, int]]:
        """Which pairs are kept if so many verdicts must be wrong; by reason, how many candidates are not."""
        sided = self.errors.instances.gold != TIE
        asked = sided & self.errors.in_both_orders.all(axis=0)
        kept = asked & (self.wrong >= least)
        counts = {
            NO_LABEL: self.unlabelled,
            GOLD_TIE: int((~sided).sum()),
            NOT_ALL: int((sided & ~asked).sum()),
            f"fewer than {least} of {self.verdicts} verdicts are wrong": int((asked & ~kept).sum()),
        }
        return kept, {reason: count for reason, count in counts.items() if count}

    def told(self) -> dict[str, Any]:
        asked = self.errors.in_both_orders.sum(axis=1).tolist()
        return {
            "all": len(self.pairs) + self.unlabelled,
            "judges": dict(zip(self.errors.slugs, asked, strict=True)),
            "dropped": self.sorted_out(0)[1],
            "kept": [int(self.sorted_out(least)[0].sum()) for least in range(1, self.verdicts + 1)],
        }

    def how(self, place: int) -> dict[str, list[str]]:
        """By judge its verdicts about a pair, in the stored order and swapped."""
        gold = self.errors.instances.gold[place]
        words = [
            ["none" if each == UNSCORED else "right" if each == gold else "wrong" for each in own]
            for own in self.errors.said[:, :, place]
        ]
        return dict(zip(self.errors.slugs, words, strict=True))


def _unlabelled(study: Study) -> int:
    """How many prompts are no candidates yet."""
    known = Pair.objects.filter(prompt=OuterRef("pk")).exclude(gold="")
    return study.prompts.rated().exclude(turns=[]).exclude(Exists(known)).count()


class Keep(Schema):
    """A new study of the candidates that judges get wrong."""

    model_config = {"extra": "forbid"}

    source: Name = Field(description="Slug of the study with the candidates.")
    study: Name = Field(max_length=80, description="Slug of the new study.")
    judges: list[Name] = Field([], description="Slugs; empty: all that are no panel.")
    wrong: int | None = Field(None, ge=1, description="Verdicts that must be wrong at least; null: half.")

    def make(self, by: Visitor | None = None) -> Study:
        """Raises JudgeError."""
        found = Filter(study_named(self.source), self.judges)
        slugs, most = found.errors.slugs, found.verdicts
        least = self.wrong or len(slugs)
        if not 1 <= least <= most:
            raise AdversarialError(f"At most {most} verdicts about a candidate can be wrong.", "wrong")
        made = Making(found.study)
        kept, dropped = found.sorted_out(least)
        made.left_out.update(dropped)
        pairs = Pair.objects.select_related("prompt", "first", "second").in_bulk(found.pairs.tolist())
        for place in np.flatnonzero(kept).tolist():
            pair = pairs[int(found.pairs[place])]
            right, wrong = (pair.first, pair.second)[:: 1 if pair.gold == Pair.Gold.FIRST else -1]
            how = {**made_how(pair.prompt), "verdicts": found.how(place)}
            made.add(pair.prompt, pair.prompt.subset, right, wrong, how)
        told = f"at least {least} of {most} verdicts of {', '.join(f'`{slug}`' for slug in slugs)} are wrong"
        return made.study(
            self.study,
            by,
            points=3,
            ratings_per_pair_people=PEOPLE,
            guidelines=GUIDELINES.read_text(encoding="utf-8"),
            description=f"Pairs of `{self.source}` about which {told}.",
        )


def decided(study: Study) -> list[tuple[Pair, str, str]]:
    """The pairs that Keep has made, each with its right answer and what people have decided."""
    from leaderboard.snapshots.reading import opinions  # needs SciPy, which the web process loads on demand
    from leaderboard.trust.reading import of_people

    made = Pair.objects.filter(prompt__study=study, prompt__extra__adversarial__verdicts__isnull=False)
    pairs = list(made.select_related("prompt", "first").order_by("pk"))
    read = opinions(study).at() if pairs else None
    if read is None:
        return []
    golds = [
        pair.gold or ("first" if pair.first.external_id == made_how(pair.prompt).get("right") else "second")
        for pair in pairs
    ]
    counts = counted(of_people(read, read.people, np.array([pair.pk for pair in pairs]))[0])
    enough = counts.sum(axis=1) >= study.ratings_per_pair_people
    found = []
    for pair, gold, said, is_enough in zip(pairs, golds, majority(counts), enough, strict=True):
        is_right = said == (FIRST if gold == "first" else SECOND)
        decision = CONFIRMED if is_right else TASTE if said == TIE else OTHER
        found.append((pair, gold, decision if is_enough else WAITING))
    return found


STILL_RATED: Final = (
    "Close the study or make it private first. While people rate, its number of pairs with a right answer "
    "would tell everybody how many they refused."
)


def tells(study: Study) -> bool:
    """True while everybody sees the study's numbers and people still rate."""
    return study.is_public and not study.is_closed


@transaction.atomic
def take_out(study: Study, by: Visitor | None = None) -> int:
    """Take the right answers of refused pairs away, and give back those of others; how many changed.

    Raises AdversarialError while the number of right answers would tell everybody what people say.
    """
    study = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    if tells(study):
        raise AdversarialError(STILL_RATED)
    changed = 0
    for pair, gold, decision in decided(study):
        wanted = "" if decision in (TASTE, OTHER) else gold
        if pair.gold != wanted and pair.use == Pair.Use.RATE:
            pair.gold, pair.gold_source = wanted, source_of(pair.prompt.subset) if wanted else ""
            changed += bool(changes.store_row(pair, study, by, ["gold", "gold_source"]))
    return changed


def told(study: Study, judges: Sequence[str] = ()) -> dict[str, Any]:
    """What was left out before, what judges get wrong, what people decided. Raises AdversarialError."""
    left_out = list(study.left_out_rows.filter(file__startswith=FROM))
    labelled = Pair.objects.filter(prompt__in=study.prompts.rated()).exclude(gold="").count()
    candidates = None
    made = study.prompts.filter(extra__has_key=MAKER).first()
    if labelled or made:
        candidates = {"all": labelled + _unlabelled(study), "judges": {}, "dropped": {}, "kept": []}
    try:
        candidates = Filter(study, judges).told()
    except AdversarialError:
        if judges:
            raise
    decisions = Counter(decision for _, _, decision in decided(study))
    people = {name: decisions.pop(name, 0) for name in (CONFIRMED, WAITING)}
    kept = sum(people.values()) + decisions.total()
    source = made_how(made).get("study") if made else None
    return {
        "study": study.slug,
        "source": source if isinstance(source, str) else None,  # a file may say anything of it
        "left_out": {each.reason: each.rows for each in left_out},
        "candidates": candidates,
        "people": {"kept": kept, **people, "refused": dict(decisions)} if kept else None,
    }
