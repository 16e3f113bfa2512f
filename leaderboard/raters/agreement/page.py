"""The page of how judges agree with people, people with each other, and judges with judges."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, floor
from typing import Any, ClassVar, Final

from django.http import HttpRequest
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from arena.models import Study
from leaderboard.models import Snapshot
from leaderboard.pages.dots import Axis
from leaderboard.pages.format import number_range, signed
from leaderboard.pages.page import Panel, step
from leaderboard.pages.rater_kinds.choices import (
    FEW_KINDS,
    PEOPLE,
    AboutRaters,
    Reading,
    at_switches,
    choices,
    listed,
    one_of,
)
from leaderboard.pages.rater_kinds.flags import flag_sentences
from leaderboard.pages.switches import Switch
from leaderboard.pages.units import COEFFICIENT, Estimate
from leaderboard.pages.wording import FEWEST_PAIRS, enumerated
from leaderboard.raters.agreement.figure import correlations, kinds_map
from leaderboard.raters.agreement.table import (
    AGREES,
    COEFFICIENTS,
    UNMIRRORED,
    agrees_table,
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
    with_people,
    with_people_by_category,
    within_table,
    without_pools,
)
from leaderboard.raters.agreement.verdict import Verdict, verdict
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.contents import find_about_raters
from leaderboard.snapshots.settings import ALL_CATEGORIES, Setting

ORDER_BY: Final = "bradley-terry"
"""The method of the orders of models that the verdict compares."""


@dataclass(frozen=True)
class Line:
    """One kind of raters with its drawn interval."""

    label: str
    address: str
    value: str
    ends: str
    apart: str
    apart_ends: str
    pairs: int
    drawing: SafeString


@dataclass(frozen=True)
class Detail:
    name: str
    title: str
    panels: Sequence[Panel]


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

    @property
    def orders(self) -> Setting | None:
        """Of the standings that the verdict compares; None with unusual ties, by a criterion or a turn."""
        if self.band or self.criterion or self.turn:
            return None
        return Setting("", category=self.category, method=ORDER_BY)

    @property
    def rare_words(self) -> str:
        coefficient = "" if self.coefficient == "pearson" else COEFFICIENTS[self.coefficient]
        return "; ".join(filter(None, (self.category, coefficient, super().rare_words)))


@dataclass(frozen=True, kw_only=True)
class AgreementPage(AboutRaters):
    view: View
    flags: Sequence[str]

    template: ClassVar[str] = "leaderboard/agreement.html"
    tab: ClassVar[str] = "study-agreement"

    @cached_property
    def kinds(self) -> list[tuple[str, str]]:
        return [(entry["selector"], entry["label"]) for entry in listed(self.snapshot)]

    @property
    def has_people(self) -> bool:
        return any(one == PEOPLE for one, _ in self.kinds)

    @cached_property
    def judges(self) -> list[tuple[str, Content]]:
        """Label and correlations of each judge that has some with people."""
        read = [(label, self.stored.get("correlation", one)) for one, label in self.kinds if one != PEOPLE]
        return [(label, content) for label, content in read if content]

    @property
    def ceiling(self) -> Content | None:
        """How people correlate with the other people."""
        return self.stored.get("correlation", PEOPLE)

    @cached_property
    def verdict(self) -> Verdict:
        raters, category = self.snapshot.counts["raters"], self.view.category
        return verdict(raters, self.stored, category, method=ORDER_BY)

    @cached_property
    def rows(self) -> list[tuple[str, Content]]:
        """The first numbers of every kind of raters: of people, then of the judges that agree most."""
        read = [
            (one, with_people(self.stored.get("correlation", one), self.view.category))
            for one, _ in self.kinds
        ]
        known = [(one, row) for one, row in read if row and row[self.view.coefficient] is not None]
        return sorted(known, key=lambda each: (each[0] != PEOPLE, -each[1][self.view.coefficient]))

    @cached_property
    def axis(self) -> Axis:
        """To tenths around the intervals, on the scale of a correlation; all of it where there are none."""
        if not self.has_intervals:
            return Axis(-1.0, 1.0)
        ends = [end for _, row in self.rows for end in self._found(row) if end is not None]
        low, high = floor(10 * min(ends) - 0.5) / 10, ceil(10 * max(ends) + 0.5) / 10
        return Axis(max(low, -1.0), min(high, 1.0))

    @cached_property
    def has_intervals(self) -> bool:
        return any(self._found(row).low is not None for _, row in self.rows)

    def _found(self, row: Content, of: str = "") -> Estimate:
        return Estimate.of(row, f"{self.view.coefficient}{of}")

    @property
    def axis_drawing(self) -> SafeString:
        return mark_safe(self.axis.heading())  # noqa: S308 - numbers alone

    @property
    def lines(self) -> Iterator[Line]:
        labels = dict(self.kinds)
        for one, row in self.rows:
            found, apart = self._found(row), self._found(row, "_difference")
            yield Line(
                "People with each other" if one == PEOPLE else labels[one],
                reverse("study-rater", args=[self.study.slug, one]) + self.view.shared,
                COEFFICIENT.text(found.value),
                number_range(*found[1:]),
                "" if apart.value is None else signed(apart.value),
                number_range(*apart[1:]),
                row["n"],
                mark_safe(self.axis.row(*found)),  # noqa: S308 - numbers alone
            )

    @property
    def beside_people(self) -> list[tuple[str, Content]]:
        """Label and correlations of each judge that is compared with people in their place."""
        return [(label, content) for label, content in self.judges if "ceiling" in content]

    @property
    def has_places(self) -> bool:
        """Whether a judge's number is of people's places."""
        return any(line.apart for line in self.lines)

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
    def measure(self) -> str:
        return AGREES[self.view.coefficient]

    @property
    def notices(self) -> list[str]:
        found = [*self.flags]
        named = [_pairs_by_category(content) for _, content in self.judges]
        thin = {name for pairs in named for name, n in pairs.items() if n < FEWEST_PAIRS}
        if thin:
            every = len(thin) > 1 and thin == set().union(*named)
            where = "each category" if every else enumerated(sorted(thin))
            found.append(
                f"People and a judge both rated fewer than {FEWEST_PAIRS} pairs in {where}: "
                "too few to compare them there."
            )
        return found

    @property
    def dated(self) -> bool:
        """Whether the snapshot is older than the computing of agreement."""
        lacks = not self.agreements or len(self.beside_people) < len(self.judges)
        return not self.pending and self.is_rated and lacks

    @property
    def rare_choices(self) -> list[Switch]:
        options = list(COEFFICIENTS.items())
        shown = choices("coefficient", "Coefficient", options, self.view.coefficient, self.view.query)
        return [*self.category_choices, shown, *super().rare_choices]

    @property
    def two_url(self) -> str:
        return reverse("study-two", args=[self.study.slug]) + self.view.shared

    def _panels(self) -> Iterator[Panel]:
        yield from self._correlation()
        yield from self._beside_people()
        yield from self._tables()
        yield from self._matrices()

    @property
    def details(self) -> list[Detail]:
        """What is shown on demand."""
        parts = (
            ("categories", "By category", ("correlation", "correlations", "ceiling")),
            ("places", "Could a judge take a person’s place?", ("stand-in",)),
            ("coefficients", "Kappa and alpha: agreement beyond chance", ("kappa", "within")),
            ("matrices", "Everybody with everybody", ("kappa-matrix", "correlation-matrix")),
        )
        found = [
            Detail(name, title, [panel for panel in self.panels if panel.slug in slugs])
            for name, title, slugs in parts
        ]
        return [detail for detail in found if detail.panels]

    def _correlation(self) -> Iterator[Panel]:
        coefficient, ceiling = self.view.coefficient, self.ceiling
        listed_too = [("People with each other", ceiling)] if ceiling else []
        drawn = [(label, with_people_by_category(content)) for label, content in self.judges]
        own = [correlated(label, without_pools(content), coefficient) for label, content in drawn]
        people = [
            row for each in listed_too for row in correlated(each[0], without_pools(each[1]), coefficient)
        ]
        every = [row for series in (*own, people) for row in series]
        if any(row.found.value is not None for row in every):
            rows = len([*own, people][0]) * (0.8 + 0.45 * (len(own) + 1))
            known = any(row.found.value is not None for row in people)
            of_prompts = f" Intervals ({self.level:g}%) are for other prompts of this kind."
            spans = of_prompts if any(row.found.low is not None for row in every) else ""
            line = " The vertical line shows how people agree with each other." if known else ""
            yield self.make_panel(
                "correlation",
                "Agreement with people by category",
                f"{self.coefficient_name}: 1 is full agreement, 0 is none, −1 the opposite.{spans}{line}",
                agrees_table([*drawn, *listed_too]),
                draw=lambda: correlations(own, people, AGREES[coefficient]),
                height=step(rows + 5),
            )
        if self.judges:
            yield self.make_panel(
                "correlations",
                "With the mean of all people",
                "The mean of several people is easier to agree with than one person.",
                correlation_table([*self.judges, *listed_too]),
            )

    def _beside_people(self) -> Iterator[Panel]:
        if self.beside_people:
            ceilings = [(label, content["ceiling"]) for label, content in self.beside_people]
            tests = [(label, content["stand_in"]) for label, content in self.beside_people]
            yield self.make_panel(
                "ceiling",
                "In a person’s place",
                "Each person, and the judge in that person’s place, beside the other people on the same "
                "pairs.",
                beside_people_table(ceilings, self.view.coefficient),
            )
            yield self.make_panel(
                "stand-in",
                "Alternative annotator test",
                "Does the judge agree with the other people about as often as this person does? It may "
                f"do so less often by at most {tests[0][1]['epsilon']:g}. A judge that wins against half "
                "of the people passes (Calderon, Reichart and Dror 2025). The advantage is the share "
                "of pairs on which it does at least as well, averaged over people. The test looks at "
                "the pairs of each person alone, the page’s first sentence at all pairs together: the two "
                "can differ.",
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
                "Cohen's kappa with quadratic weights: 1 is the same rating every time, 0 what chance "
                f"gives. {UNMIRRORED}",
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
                "Raters among themselves",
                "Krippendorff's alpha of ratings and Fleiss' kappa of verdicts. A judge is compared with "
                f"itself in the other order. {UNMIRRORED}",
                within_table(within),
            )

    def _matrices(self) -> Iterator[Panel]:
        category = self.view.category
        listed_kinds = [(one, label) for one, label in self.kinds if not one.startswith("group:")]
        for slug, title, what, name in (
            ("kappa-matrix", "Kappa of every two", "kappa", "Weighted kappa"),
            ("correlation-matrix", "Correlation of every two", "pearson", "Pearson r"),
        ):
            values, pairs = kind_matrix(self.agreements, listed_kinds, what, category)
            if len(listed_kinds) > 1 and any(value is not None for row in values.values for value in row):
                yield self.make_panel(
                    slug,
                    title,
                    "Over the pairs that both rated.",
                    matrix_table(name, self.agreements, listed_kinds, what, category),
                    draw=lambda values=values, pairs=pairs, name=name: kinds_map(values, pairs, name),
                    height=step(len(listed_kinds) * 2 + 6),
                    width="matrix" if len(listed_kinds) > FEW_KINDS else "",
                )


def read(request: HttpRequest, study: Study, snapshot: Snapshot, **place: Any) -> AgreementPage:
    snapshot = at_switches(request.GET, snapshot)
    view = View.of(request.GET, snapshot)
    found = find_about_raters(snapshot, view.setting, view.orders)
    return AgreementPage(
        study=study,
        snapshot=snapshot,
        address=reverse("study-agreement", args=[study.slug]),
        query=view.query(),
        view=view,
        stored=found.stored,
        pending=found.pending,
        flags=flag_sentences(study, snapshot, turn=view.turn),
    )


def _pairs_by_category(content: Content) -> Mapping[str, int]:
    """Pairs that a judge and people rated in each category; none where the first sentence tells of all."""
    rows = without_pools(content)["rows"]
    named = {name: row["n"] for name, row in zip(category_names(rows), rows, strict=True)}
    return named if named.pop(ALL_CATEGORIES, FEWEST_PAIRS) >= FEWEST_PAIRS else {}
