"""Which comparisons an export holds, and what raters are called in it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.db.models import Q

from arena.data import export
from arena.files import writing
from arena.models import Comparison, Rater, Study
from arena.models.querysets import ComparisonQuerySet, SelectorError
from arena.people.rater_data import pseudonym
from arena.rules.subsets import LIVE_SUBSET
from judging.models import Judge
from leaderboard.models import Snapshot
from leaderboard.snapshots.prompt_kinds import of_kind
from leaderboard.snapshots.settings import BOTH, DECLARED, PROMPT_KINDS


class ExportError(Exception):
    """What was asked for cannot be exported; the message is for the operator."""


def no_scores(study: Study) -> str:
    return (
        f'The study "{study.slug}" has no scores yet. Compute them: {settings.COMMAND} refresh {study.slug}'
    )


EVERYBODY: Final = "all"


@dataclass(frozen=True)
class Selection:
    """Comparisons of some raters on the prompts of a category, or of all.

    ``ties``: whether the tie band of a scale is a tie, and not only its exact middle. ``conversational``:
    texts as lists of messages. ``private``: with the texts of private prompts. ``prompts``: the kind of
    prompts, or both; empty in a study without live ones.
    """

    raters: str
    ties: bool = True
    category: str = ""
    conversational: bool = False
    private: bool = False
    prompts: str = ""

    @classmethod
    def read(cls, study: Study, asked: Mapping[str, Any], *, everybody: bool = False) -> "Selection":
        """What an address or a command asks for. Raises ExportError."""
        ties = asked.get("ties") or "on"
        if ties not in DECLARED["ties"].values:
            raise ExportError(f'ties is "{ties}"; it must be on or off.')
        category = asked.get("category") or ""
        # PostgreSQL refuses to look for a NUL character, which no name holds.
        if category and ("\0" in category or not study.prompts.filter(category=category).exists()):
            raise ExportError(f'The study "{study.slug}" has no category "{category}".')
        raters = asked.get("raters") or (
            EVERYBODY if everybody else usual_raters(Snapshot.objects.newest(study))[0]
        )
        conversational = str(asked.get("conversational") or "").lower() in ("1", "on", "true", "yes")
        prompts = _prompts(study, asked.get("prompts") or BOTH)
        found = cls(raters, ties == "on", category, conversational, prompts=prompts)
        found.rater_ids(study)
        return found

    def rater_ids(self, study: Study) -> Any:
        """A query for the raters' ids; None for everybody. Raises ExportError."""
        if self.raters == EVERYBODY:
            return None
        try:
            return Rater.objects.selected(study, self.raters).values("pk")
        except SelectorError as error:
            raise ExportError(f"{str(error)[0].upper()}{str(error)[1:]}.") from error

    def comparisons(self, study: Study, *, panels: bool = False) -> ComparisonQuerySet:
        """The comparisons that count, scored or not.

        Of everybody those of ``panels`` only if asked for: they repeat what their judges say.
        """
        found = Comparison.objects.counted(study).filter(self.about("pair__prompt")).order_by("pk")
        raters = self.rater_ids(study)
        if raters is not None:
            found = found.filter(rater__in=raters)
        elif not panels:
            found = found.independent()
        return found

    def about(self, prompt: str) -> Q:
        """The rows whose ``prompt`` (a path of fields) is chosen."""
        kind = of_kind(self.prompts, prompt)
        return kind & Q(**{f"{prompt}__category": self.category}) if self.category else kind


def _prompts(study: Study, asked: str) -> str:
    if asked not in PROMPT_KINDS:
        raise ExportError(f'prompts is "{asked}"; it must be curated, live or both.')
    return asked if study.prompts.filter(subset=LIVE_SUBSET).exists() else ""


def usual_prompts(study: Study) -> str:
    """The kind of prompts that the leaderboard shows first."""
    snapshot = Snapshot.objects.newest(study)
    return str(snapshot.counts.get("prompts_shown", BOTH)) if snapshot else BOTH


def usual_raters(snapshot: Snapshot | None) -> tuple[str, str]:
    """Selector and name in a sentence of those whose ratings a file holds that mixes nobody's: the first of
    the leaderboard."""
    listed = snapshot.counts["raters"] if snapshot else []
    selector, label = (str(listed[0][name]) for name in ("selector", "label")) if listed else ("people", "")
    return selector, "people" if selector == "people" else label


@dataclass(frozen=True)
class NamedRater:
    """A rater in files: judges by name, people by pseudonym. Of a panel, the names of its judges."""

    name: str
    kind: str
    simulated: bool
    protocol: str | None = None
    version: str | None = None
    derived_from: list[str] | None = None


def rater_names(study: Study) -> dict[int, NamedRater]:
    slugs = export.rater_slugs(study)
    members = export.panel_members(study, slugs)
    asked = {
        rater: {"protocol": protocol, "version": prompt_hash or None}
        for rater, protocol, prompt_hash in Judge.objects.filter(rater__in=list(slugs)).values_list(
            "rater", "protocol", "prompt_hash"
        )
    }
    return {
        rater.pk: NamedRater(
            pseudonym(study, rater.pk) if rater.kind == Rater.Kind.PERSON else slugs[rater.pk],
            rater.kind,
            rater.simulated,
            **asked.get(rater.pk, {}),
            derived_from=members.get(rater.pk),
        )
        for rater in Rater.objects.filter(pk__in=list(slugs)).order_by("pk")
    }


def check_form(form: str) -> None:
    if form == "parquet" and not writing.has_parquet():
        raise ExportError(writing.PARQUET_MISSING)
