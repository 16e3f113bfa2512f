"""The page of how judges agree with people, people with each other, and judges with judges."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from django.http import HttpRequest
from django.urls import reverse

from arena.models import Study
from leaderboard.agreement.figure import correlations, kinds_map
from leaderboard.agreement.table import (
    COEFFICIENTS,
    UNMIRRORED,
    beside_people_table,
    between,
    category_names,
    correlated,
    correlation_table,
    kappa_table,
    kind_matrix,
    matrix_table,
    stand_in_sentence,
    stand_in_table,
    within_table,
)
from leaderboard.models import Snapshot
from leaderboard.pages.page import NoNumbersError, Panel, step
from leaderboard.pages.switches import Switch
from leaderboard.pages.wording import FEWEST_PAIRS
from leaderboard.rater_kinds.flags import Flag, snapshot_flags
from leaderboard.rater_kinds.page import (
    FEW_KINDS,
    PEOPLE,
    AboutRaters,
    Reading,
    choices,
    listed,
    one_of,
)
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.contents import find
from leaderboard.snapshots.settings import Scope


@dataclass(frozen=True, kw_only=True)
class View(Reading):
    coefficient: str = "pearson"

    @classmethod
    def of(cls, wanted: Mapping[str, str], snapshot: Snapshot) -> "View":
        """Raises UnknownSettingError."""
        coefficient = one_of(wanted, "coefficient", tuple(COEFFICIENTS), "pearson")
        return cls(coefficient=coefficient, **cls.asked(wanted, snapshot))

    def parts(self) -> list[tuple[str, str]]:
        coefficient = "" if self.coefficient == "pearson" else self.coefficient
        return [*super().parts(), ("coefficient", coefficient)]


@dataclass(frozen=True, kw_only=True)
class AgreementPage(AboutRaters):
    view: View
    flags: Mapping[str, list[Flag]]

    template: ClassVar[str] = "leaderboard/agreement.html"
    tab: ClassVar[str] = "study-agreement"

    @cached_property
    def kinds(self) -> list[tuple[str, str]]:
        return [(entry["selector"], entry["label"]) for entry in listed(self.snapshot)]

    @cached_property
    def judges(self) -> list[tuple[str, Content]]:
        """Label and correlations of each judge that has some with people."""
        read = [(label, self.stored.get("correlation", one)) for one, label in self.kinds if one != PEOPLE]
        return [(label, content) for label, content in read if content]

    @property
    def ceiling(self) -> Content | None:
        """How people correlate with the other people."""
        return self.stored.get("correlation", PEOPLE)

    @property
    def beside_people(self) -> list[tuple[str, Content]]:
        """Label and correlations of each judge that is compared with people in their place."""
        return [(label, content) for label, content in self.judges if "ceiling" in content]

    @property
    def beside_people_sentences(self) -> list[str]:
        coefficient, level = self.view.coefficient, self.level
        return [
            stand_in_sentence(label, content, coefficient, level) for label, content in self.beside_people
        ]

    @property
    def coefficient_name(self) -> str:
        return COEFFICIENTS[self.view.coefficient]

    @property
    def warnings(self) -> list[str]:
        found = [flag.sentence for flags in self.flags.values() for flag in flags]
        thin = sorted(
            {
                name
                for _, content in self.judges
                for row, name in zip(content["rows"], category_names(content["rows"]), strict=True)
                if row["n"] < FEWEST_PAIRS
            }
        )
        if thin:
            found.append(
                f"Fewer than {FEWEST_PAIRS} pairs were rated by people and a judge in: {', '.join(thin)}. "
                "Correlations there say little, whatever their size."
            )
        return found

    @property
    def dated(self) -> bool:
        """Whether the snapshot is older than the computing of agreement."""
        return not self.pending and (not self.agreements or len(self.beside_people) < len(self.judges))

    @property
    def coefficients(self) -> list[Switch]:
        options = list(COEFFICIENTS.items())
        shown = choices("coefficient", "Coefficient", options, self.view.coefficient, self.view.query)
        return [*self.criterion_choices, shown]

    @property
    def two_url(self) -> str:
        return reverse("study-two", args=[self.study.slug]) + self.view.shared

    def _panels(self) -> Iterator[Panel]:
        yield from self._correlation()
        yield from self._beside_people()
        yield from self._tables()
        yield from self._matrices()

    def among(self, *slugs: str) -> list[Panel]:
        return [panel for panel in self.panels if panel.slug in slugs]

    @property
    def correlation(self) -> list[Panel]:
        return self.among("correlation")

    @property
    def beside_people_tables(self) -> list[Panel]:
        return self.among("ceiling", "stand-in")

    @property
    def coefficient_tables(self) -> list[Panel]:
        return self.among("kappa", "within")

    @property
    def matrices(self) -> list[Panel]:
        return self.among("kappa-matrix", "correlation-matrix")

    def _correlation(self) -> Iterator[Panel]:
        coefficient, ceiling = self.view.coefficient, self.ceiling
        own = [correlated(label, content, coefficient) for label, content in self.judges]
        people = correlated("People with each other", ceiling, coefficient) if ceiling else []
        listed_too = [("People with each other", ceiling)] if ceiling else []
        known = any(row.value is not None for series in (*own, people) for row in series)
        if not self.judges and not known:
            return
        rows = len([*own, people][0]) * (0.8 + 0.45 * (len(own) + 1))
        yield self.make_panel(
            "correlation",
            "Correlation with people by category",
            f"Dots are {self.coefficient_name}, bars {self.level:g} % intervals from resampling prompts; n "
            "counts the pairs that both rated. The upright mark is how people agree with the other people.",
            correlation_table([*self.judges, *listed_too]),
            draw=(lambda: correlations(coefficient, own, people)) if known else None,
            height=step(rows + 5),
        )

    def _beside_people(self) -> Iterator[Panel]:
        if self.beside_people:
            ceilings = [(label, content["ceiling"]) for label, content in self.beside_people]
            tests = [(label, content["stand_in"]) for label, content in self.beside_people]
            yield self.make_panel(
                "ceiling",
                "Beside what people reach",
                "Each person is held against the mean of the other people, and so is the judge in that "
                f"person’s place, on the same pairs. Intervals of {self.level:g} % of the difference draw "
                "prompts for both at once.",
                beside_people_table(ceilings, self.view.coefficient),
            )
            yield self.make_panel(
                "stand-in",
                "Alternative annotator test",
                f"Calderon, Reichart and Dror (2025), with ε = {tests[0][1]['epsilon']:g}, over verdicts. "
                "The winning rate is the share of people in whose place the judge is shown to do well "
                "enough; the advantage is how often, on average, it matches the others at least as well.",
                stand_in_table(tests),
            )

    def _tables(self) -> Iterator[Panel]:
        names = dict(self.kinds)
        entries = [
            (label, names[PEOPLE], entry)
            for one, label in self.kinds
            if one != PEOPLE and (entry := between(self.agreements, one, PEOPLE))
        ]
        if entries:
            yield self.make_panel(
                "kappa",
                f"Kappa with {names[PEOPLE]}",
                f"Cohen's kappa with quadratic weights and {self.level:g} % intervals, by category. "
                f"{UNMIRRORED}",
                kappa_table(entries),
            )
        within = [
            (label, content)
            for one, label in self.kinds
            if (content := self.agreements.get(one)) and (content.get("within") or {}).get("rows")
        ]
        if within:
            yield self.make_panel(
                "within",
                "Agreement among raters of one kind",
                "Krippendorff's alpha over all ratings, Fleiss' kappa over verdicts (first, tie, second). "
                f"A judge is compared with itself, in the other order. {UNMIRRORED}",
                within_table(within),
            )

    def _matrices(self) -> Iterator[Panel]:
        category = self.view.category
        listed_kinds = [(one, label) for one, label in self.kinds if not one.startswith("group:")]
        for slug, title, what, name in (
            ("kappa-matrix", "Every kind against every other: kappa", "kappa", "Weighted kappa"),
            ("correlation-matrix", "Every kind against every other: correlation", "pearson", "Pearson r"),
        ):
            values, pairs = kind_matrix(self.agreements, listed_kinds, what, category)
            if len(listed_kinds) > 1 and any(value is not None for row in values.values for value in row):
                yield self.make_panel(
                    slug,
                    title,
                    "Read across a row: how the raters of the row agree with those of each column, over the "
                    "pairs that both rated.",
                    matrix_table(name, values, pairs),
                    draw=lambda values=values, pairs=pairs, name=name: kinds_map(values, pairs, name),
                    height=step(len(listed_kinds) * 2 + 6),
                    width="matrix" if len(listed_kinds) > FEW_KINDS else "",
                )


def read(request: HttpRequest, study: Study, snapshot: Snapshot, **place: Any) -> AgreementPage:
    if not snapshot.counts["raters"]:
        raise NoNumbersError("Nobody has rated yet.")
    view = View.of(request.GET, snapshot)
    found = find(snapshot, view.setting, Scope.RATERS)
    return AgreementPage(
        study=study,
        snapshot=snapshot,
        address=reverse("study-agreement", args=[study.slug]),
        query=view.query(),
        view=view,
        stored=found.stored,
        pending=found.pending,
        flags=snapshot_flags(study, snapshot),
    )
