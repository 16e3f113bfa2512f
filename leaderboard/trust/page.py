"""The page of how often each judge is right, on pairs whose right answer is known."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Final, Self
from urllib.parse import urlencode

from django.db.models import Q
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe

from arena.models import Study
from arena.pages.permissions import can_operate
from leaderboard.models import Snapshot
from leaderboard.pages.columns import SortedTable, TableQuery
from leaderboard.pages.computed_page import Computed
from leaderboard.pages.dots import Axis
from leaderboard.pages.figure import MOST_ON_A_PHONE
from leaderboard.pages.page import Panel, step
from leaderboard.pages.rater_kinds.choices import labels, one_of
from leaderboard.pages.rater_kinds.judge_facts import facts_of_judges
from leaderboard.pages.switches import Option, Switch
from leaderboard.pages.wording import enumerated, gives_interval, on_intervals
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.contents import find
from leaderboard.snapshots.settings import (
    CONFIDENCE,
    DECLARED,
    LABELS,
    OF_TRUST,
    PEOPLE,
    SEALED,
    Scope,
    TrustSetting,
    gold_sources,
    judges_of,
    level_choices,
    parse_for_trust,
    subsets_in,
    subsets_of,
)
from leaderboard.snapshots.stored import Stored
from leaderboard.stats.choices import CLASS
from leaderboard.trust import figure, table, tags
from leaderboard.trust.measures import (
    BASE,
    BEST_MODEL,
    BEST_PROTOCOL,
    MEAN_OF_MODELS,
    MEAN_OF_PROTOCOLS,
    SELF_AGREEMENT,
    STRONG,
    WEAK,
    Measure,
)
from leaderboard.trust.table import NAME, RIGHT, USUAL, Price, Row

_PER: Final = 1000
_UNASKED: Final = TableQuery()
_USUAL: Final = (NAME, RIGHT, *USUAL)
_SWITCHES: Final[Mapping[str, tuple[str, str, Mapping[str, str]]]] = {
    "unscored": (
        "Replies without a rating",
        "Left out, counted as wrong, given a random side, or taken as ties.",
        {"exclude": "Left out", "wrong": "Wrong", "random": "At random", "tie": "Ties"},
    ),
    "ties": (
        "Ties",
        "A tie beside a side is half right, or wrong. Their own class: also right where most people say tie.",
        {"half": "Half right", "tie": "Wrong", CLASS: "Their own class"},
    ),
    "published": (
        "Counting rule",
        "The LLMBar paper’s rule overrides the two above.",
        {"": "This site", "llmbar": "LLMBar paper"},
    ),
}


@dataclass(frozen=True, kw_only=True)
class TrustPage(Computed):
    """``part``: the subset or group that the table is about, empty for all; ``content`` None until computed.

    ``operator``: whether the reader may see everything while the study is open.
    """

    setting: TrustSetting
    part: str = ""
    asked: TableQuery = _UNASKED
    operator: bool = False

    template: ClassVar[str] = "leaderboard/trust.html"
    tab: ClassVar[str] = "study-trust"

    @classmethod
    def read(cls, study: Study, snapshot: Snapshot, wanted: Mapping[str, str], *, operator: bool) -> Self:
        """The page an address asks for. Raises UnknownSettingError."""
        sealed = "" if operator or study.is_closed else SEALED
        asked_of = (*OF_TRUST, "base", "gold", "level", "without")
        own = {name: wanted[name] for name in asked_of if name in wanted}
        setting = parse_for_trust(own | {"sealed": sealed}, snapshot.known)
        content, pending = _content(snapshot, setting)
        part = wanted.get("subset", "")
        if content is not None:  # nobody knows the parts of what is not computed yet
            part = one_of(wanted, "subset", () if "nothing" in content else table.parts(content), "")
        asked = TableQuery.of({name: wanted.get(name, "") for name in ("sort", "columns")}, _USUAL)
        return cls(
            study=study,
            snapshot=snapshot,
            address=reverse("study-trust", args=[study.slug]),
            query=_ending(setting, part),
            pending=pending,
            setting=setting,
            content=content,
            part=part,
            asked=asked,
            operator=operator,
        )

    @property
    def without_gold(self) -> bool:
        return not self.snapshot.counts.get("labelled") and self.setting.gold == LABELS

    @property
    def without_judges(self) -> bool:
        return not any(entry["selector"].startswith("judge:") for entry in self.snapshot.counts["raters"])

    @property
    def can_ask_people(self) -> bool:
        """Whether the majority of people can be taken as right instead of labels that are not there."""
        return self.without_gold and PEOPLE in self._sources

    @property
    def shows_pairs(self) -> bool:
        """Whether the reader may see which pairs a judge gets wrong."""
        return self.operator or self.study.is_closed

    @cached_property
    def tags(self) -> dict[str, dict[str, int]]:
        """How often each judge has each error tag now, for those who may see the pairs."""
        return tags.counts(self.study) if self.shows_pairs else {}

    @cached_property
    def confidence(self) -> Content | None:
        """What judges' own probabilities say, for those who may see the pairs; None where none has any."""
        if not self.shows_pairs or self.setting.gold != LABELS:
            return None
        stored = Stored.read(self.snapshot, Q(kind="trust", method=CONFIDENCE))
        return stored.get("trust", "", method=CONFIDENCE)

    def answer(self) -> dict[str, Any]:
        """The content as JSON values, with what it is of. Raises NoNumbersError, or NotReadyError."""
        return {
            **super().answer(),
            "tags": self.tags,
            "confidence": self.confidence,
            "created_at": self.snapshot.created_at,
            "watermark": self.snapshot.watermark,
            "simulated": self.simulated,
        }

    @property
    def verdict(self) -> tuple[str, str]:
        return table.verdict(self.found, self.part) if self.found else ("", "")

    @cached_property
    def in_front(self) -> frozenset[str]:
        """The judge in front and those it cannot be told apart from, by slug; empty if it leads alone."""
        lead = table.lead_in(self.found, self.part) if self.found else None
        return frozenset((lead["judge"], *lead["alike"])) if lead and lead["alike"] else frozenset()

    @property
    def pairs(self) -> int:
        """With a right answer, in the part that is shown."""
        return self._sum("subsets")

    @property
    def prompts(self) -> int:
        """Of these pairs; 0 where each has its own, or where that is not known."""
        found = self._sum("prompts")
        return found if found < self.pairs else 0

    def _sum(self, name: str) -> int:
        used = (self.found or {})["parameters"]
        names = used["groups"].get(self.part) or ([self.part] if self.part else used["averaged"])
        return sum(used.get(name, {}).get(subset, 0) for subset in names)

    @property
    def has_people(self) -> bool:
        """Whether a row of the table is about people."""
        return any(each["baseline"] == PEOPLE for each in (self.found or {"baselines": ()})["baselines"])

    @property
    def notices(self) -> list[str]:
        return list(table.notes(self.found)) if self.found else []

    @property
    def level(self) -> float:
        """Of the intervals, in percent."""
        return float(self.setting.level)

    @property
    def setting_words(self) -> str:
        return ", ".join([*self._gold_words, *self._method_changes])

    @property
    def filters(self) -> str:
        """What the switches are set to, in words."""
        return ", ".join(filter(None, (self.part or "all pairs", self.setting_words)))

    @property
    def method_words(self) -> str:
        """What *Settings* are set to, in words."""
        return ", ".join(self._method_changes) or "default"

    @property
    def _method_changes(self) -> list[str]:
        words = [
            f"{options[getattr(self.setting, name)].lower()} ({label.lower()})"
            for name, (label, _, options) in _SWITCHES.items()
            if getattr(self.setting, name) != getattr(TrustSetting, name)
        ]
        if self.setting.base:
            words.append(f"base {judges_of(self.snapshot.counts)[self.setting.base]}")
        if self.setting.without:
            words.append(f"average without {enumerated(subsets_in(self.setting.without))}")
        if self.setting.level != TrustSetting.level:
            words.append(f"{self.setting.level}% intervals")
        return words

    @property
    def _gold_words(self) -> list[str]:
        by = self._sources[self.setting.gold]
        return [] if self.setting.gold == LABELS else [f"right answers by {by[:1].lower()}{by[1:]}"]

    @cached_property
    def _sources(self) -> dict[str, str]:
        named = {LABELS: "Gold labels", **labels(self.snapshot), PEOPLE: "Most people"}
        sealed = bool(self.setting.sealed)
        return {source: named[source] for source in gold_sources(self.snapshot.known, sealed=sealed)}

    @property
    def switches(self) -> list[Switch]:
        """The part of the pairs, and what changes the numbers."""
        named = [("", "All"), *((name, name) for name in table.parts(self.found))] if self.found else []
        options = tuple(
            Option(text, _ending(self.setting, name) or "?", name == self.part, None, name)
            for name, text in named
        )
        kept = tuple(self.setting.parts().items())
        shown = [Switch("subset", "Pairs of", options, field="subset", kept=kept)] if len(options) > 1 else []
        sources = replace(self._rare("gold", "Right answers", "", self._sources), group="main")
        return [*([sources] if len(sources.options) > 1 else []), *shown, *self.rare_switches]

    @cached_property
    def rare_switches(self) -> list[Switch]:
        found = [self._rare(name, *declared) for name, declared in _SWITCHES.items()]
        bases = {"": "Vanilla or base", **judges_of(self.snapshot.counts)}
        found.append(self._rare("base", "Base judge", "What others are compared with below.", bases))
        found.append(self._rare("without", "Average", "Which subsets it is made of.", self._without))
        levels = {each.value: each.text for each in level_choices(self.setting.level)}
        found.append(self._rare("level", DECLARED["level"].label, DECLARED["level"].meaning, levels))
        return [switch for switch in found if len(switch.options) > 1]

    @property
    def _without(self) -> dict[str, str]:
        """What can be left out of averages: each subset, each group, and what is left out now."""
        known = subsets_of(self.snapshot.counts, sealed=bool(self.setting.sealed))
        if len(known) < 2:
            return {}
        groups = (self.found or {"parameters": {"groups": {}}})["parameters"]["groups"]
        named = {",".join(own): name for name, own in groups.items() if set(own) < set(known)}
        now = self.setting.without
        asked = {now: enumerated(subsets_in(now))} if now else {}
        left_out = asked | named | {name: name for name in known}
        return {"": "All subsets"} | {value: f"Without {name}" for value, name in left_out.items()}

    def _rare(self, name: str, label: str, meaning: str, values: Mapping[str, str]) -> Switch:
        now = getattr(self.setting, name)
        options = tuple(
            Option(text, self._changed(name, value), value == now, None, value)
            for value, text in values.items()
        )
        kept = {key: value for key, value in self._kept.items() if key != name}
        return Switch(name, label, options, "more", name, tuple(kept.items()), meaning)

    @property
    def _kept(self) -> dict[str, str]:
        return _parts(self.setting, self.part)

    def _changed(self, name: str, value: str) -> str:
        return _ending(replace(self.setting, **{name: value}), self.part) or "?"

    @cached_property
    def view(self) -> SortedTable[Row]:
        """Judges and baselines, in the order and with the columns asked for."""
        found: list[Row] = []
        columns = [*USUAL]
        if self.found is not None:
            prices, seconds = self._costs() if self.asked.columns else ({}, {})
            found = table.rows(self.found, self.part, prices, seconds)
            if self.asked.columns:
                columns += table.further(found, list(self.found["parameters"]["subsets"]))
        return SortedTable(found, self.asked, self.query, (NAME, RIGHT), columns, _USUAL, RIGHT)

    def _costs(self) -> tuple[dict[str, Price], dict[str, float]]:
        """Price and seconds of a thousand pairs by slug: as a file says, or, for operators, of calls."""
        slugs = {f"judge:{each['judge']}": each for each in (self.found or {})["judges"]}
        prices: dict[str, Price] = {}
        seconds: dict[str, float] = {}
        for selector, facts in facts_of_judges(self.study, slugs, timezone.now()).items():
            slug = slugs[selector]["judge"]
            if "thousand_pairs" in facts.prices:
                currency = facts.prices.get("currency", "")
                prices[slug] = float(facts.prices["thousand_pairs"]), str(currency)
            if facts.seconds is not None:
                own = table.figures_of(slugs[selector])
                seconds[slug] = _PER * facts.seconds * (2 if own.get("both") else 1)
        if self.operator:
            # Operators alone see what calls cost: the estimates load SciPy, which no other page needs.
            from leaderboard.pages.rater_kinds.spending import spending_of

            raters = {"raters": [{"selector": selector} for selector in slugs]}
            for selector, spent in spending_of(self.study, raters, self.level).items():
                slug = slugs[selector]["judge"]
                if spent and spent["cost"] is not None:
                    prices[slug] = spent["cost"], spent["currency"] or ""
                if spent and spent["seconds"] is not None:
                    seconds[slug] = spent["seconds"]
        return prices, seconds

    @property
    def chance(self) -> float | None:
        """How often a random answer is right in the part shown, in percent; None if that is hidden."""
        share = table.chance(self.found, self.part) if self.found else None
        return None if share is None else 100 * share

    @property
    def _ends(self) -> list[dict[str, float | None]]:
        """Of the judges: a random answer has an interval that is no matter of prompts."""
        return [{"low": RIGHT.estimate(row).low} for row in self.view.rows if row.slug]

    @property
    def has_intervals(self) -> bool:
        return gives_interval(self._ends)

    @cached_property
    def axis(self) -> Axis | None:
        """Percent, from chance on; a rule that is worse does not push the judges together."""
        shares = (share for row in self.view.rows if row.slug for share in RIGHT.estimate(row).times(100))
        known = [share for share in shares if share is not None]
        return Axis.around(known, chance=self.chance) if known else None

    @property
    def axis_drawing(self) -> SafeString:
        return mark_safe(self.axis.heading()) if self.axis else mark_safe("")  # noqa: S308 - numbers alone

    def _panels(self) -> Iterator[Panel]:
        content = self.found
        if content is None:
            return
        yield from self._matrix(content)
        found = content["matrix"]["difficulty"]
        judges = sum(not each.get("panel") for each in content["judges"])
        if judges > 1 and any(own["n"] for own in found.values()):
            yield self.make_panel(
                "difficulty",
                "How hard the pairs are",
                "Pairs by the share of all judges’ ratings that get them right.",
                table.difficulty_table(content),
                draw=lambda: figure.difficulty(content),
                height=20,
            )
        if confidence := self.confidence:
            yield self.make_panel(
                "confidence",
                "Do judges know when they are right?",
                "Right by the probability that a judge gives its own verdict, in ten parts. On the dashed "
                "line it is right as often as it says. "
                f"Lines across points are {confidence['level']:g}% intervals.",
                lambda: table.reliability_table(confidence),
                draw=lambda: figure.reliability(confidence),
                height=25,
            )
            yield self.make_panel(
                "confidence-judges",
                "How sure judges are",
                "The calibration error is how far the dots above are from the line, on average. "
                + table.telling_apart(confidence),
                lambda: table.confidence_table(confidence),
            )
        if self.tags:
            yield self.make_panel(
                "tags",
                "Why judges are wrong",
                "Pairs by the tag that operators gave a judge’s error.",
                table.tags_table(content, self.tags),
            )
        yield self.make_panel(
            "judges",
            "How often each judge is right",
            on_intervals(f"Lines are {self.level:g}% intervals for other prompts of this kind.", self._ends)
            + ("" if self.chance is None else f" The dashed line is chance: {self.chance:.3g}%."),
            lambda: table.judges_table(content),
            draw=lambda: figure.accuracies(self.view.rows, self.chance),
            height=step(len(content["judges"] + content["baselines"]) * 1.4 + 4),
        )

    def _matrix(self, content: Content) -> Iterator[Panel]:
        yield from self._cells(content)
        yield from self._over_others(content)
        if len(content["matrix"]["best"]) > 1 and len(content["judges"]) > 1:
            base = content["matrix"]["base"]
            beside = f", beside its model asked by {base}" if base else ""
            yield self.make_panel(
                "best",
                "The best judge of each subset",
                f"Right most often{beside}. The best of several is partly luck, and so too high.",
                table.best_table(content),
            )
        if ranked := table.correlations_table(content):
            drawn = figure.rank_correlations(content)
            yield self.make_panel(
                "correlations",
                "Do judges rank alike on other subsets?",
                "Correlation of ranks: 1 is the same order, 0 none in common. Intervals are for other "
                f"prompts, with the same judges.{table.noise_of_ranks(content)}"
                + (" The figure shows Spearman’s between subsets, over judges." if drawn else ""),
                ranked,
                draw=(lambda: drawn) if drawn else None,
                height=step(len(table.parts(content)) * 2 + 9),
            )

    def _cells(self, content: Content) -> Iterator[Panel]:
        cells, base = table.cells(content, self.part), content["matrix"]["base"]
        names, protocols = content["matrix"]["models"], table.protocols(content)
        if len(cells) > 1:
            stars = (
                " A star marks a difference from the base that is more than noise (p < .05), corrected for "
                "the number of comparisons (Holm). In the table above, which judges cannot be told apart is "
                "not corrected."
            )
            yield self.make_panel(
                "matrix",
                "Models and protocols",
                f"Right, in percent{f', {self.part}' if self.part else ''}."
                + (stars if any(cell.difference for cell in cells) else ""),
                table.matrix_table(cells),
                draw=lambda: figure.matrix(names, protocols, base, cells),
                height=step(len(names) * 2 + 9),
                width="large" if len(protocols) > MOST_ON_A_PHONE else "",
            )

    def _ranks(self, over: str, *pairs: tuple[str, str]) -> str:
        """Rank correlations, which are of the average alone."""
        return table.ranks(self.found, over, *pairs) if self.found and not self.part else ""

    def _over_others(self, content: Content) -> Iterator[Panel]:
        """Protocols over models and models over protocols: averages, bests and self-agreement."""
        protocols = table.known_lines(table.protocol_lines(content, self.part), MEAN_OF_MODELS)
        models = table.known_lines(table.model_lines(content, self.part), MEAN_OF_PROTOCOLS)
        yield from self._averages(content, protocols, models)
        yield from self._gains(content, protocols, models)
        yield from self._self_agreement(content, protocols, models)

    @property
    def _of_part(self) -> str:
        return f" {self.part}." if self.part else ""

    def _prompts(self, lines: Sequence[table.Line], *shown: Measure) -> str:
        said = f"Lines are {self.level:g}% intervals for other prompts, with the same judges."
        return on_intervals(
            said, [{"low": each.estimate(one.figures).low} for one in lines for each in shown]
        )

    def _averages(
        self, content: Content, protocols: Sequence[table.Line], models: Sequence[table.Line]
    ) -> Iterator[Panel]:
        base = content["matrix"]["base"]
        best = f"{self._of_part} The best of several is partly luck, and so too high. "
        fewer = " In brackets: those asked of fewer, whose averages do not compare."
        if any(line.others > 1 for line in protocols):
            tested = any(line.figures["p_adjusted"] is not None for line in protocols)
            yield self.make_panel(
                "protocols",
                "Protocols over models",
                f"Right on average over models, and by the best model.{best}"
                + self._prompts(protocols, MEAN_OF_MODELS, BEST_MODEL)
                + (_TESTED if tested else "")
                + (fewer if len({line.others for line in protocols}) > 1 else "")
                + self._ranks("protocols", ("average", "optimum")),
                lambda: table.protocols_table(content),
                draw=lambda: figure.by_measure(protocols, (MEAN_OF_MODELS, BEST_MODEL), base, "Right (%)"),
                height=step(len(protocols) * 1.8 + 6),
            )
        if any(line.others > 1 for line in models):
            others = "other protocol" if base else "protocol"
            yield self.make_panel(
                "models",
                "Models over protocols",
                f"Right on average over protocols, and by the best {others}.{best}"
                + self._prompts(models, MEAN_OF_PROTOCOLS, BEST_PROTOCOL)
                + (fewer if len({line.others for line in models}) > 1 else ""),
                lambda: table.models_table(content),
                draw=lambda: figure.by_measure(models, (MEAN_OF_PROTOCOLS, BEST_PROTOCOL), None, "Right (%)"),
                height=step(len(models) * 1.8 + 6),
            )

    def _gains(
        self, content: Content, protocols: Sequence[table.Line], models: Sequence[table.Line]
    ) -> Iterator[Panel]:
        base = content["matrix"]["base"]
        based = table.known_lines(models, BASE, BEST_PROTOCOL)
        if len(based) > 1:
            yield self.make_panel(
                "base",
                "Does the base predict the others?",
                f"Each model has two dots: its average over protocols and its best other protocol, by how "
                f"often it is right by {base}.{self._of_part} Above the dashed line it gains."
                + self._ranks("models", *(("base", other) for other in ("average", "optimum", "gain"))),
                lambda: table.models_table(content),
                draw=lambda: figure.base_and_others(based),
                height=25,
            )
        halved = table.known_lines(protocols, STRONG, WEAK)
        if len(halved) > 1:
            yield self.make_panel(
                "halves",
                "Do protocols help strong and weak models alike?",
                "Averages over the stronger and the weaker half of models, by their average over protocols; "
                f"the middle one of an odd number is in neither.{self._of_part} "
                + self._prompts(halved, STRONG, WEAK)
                + self._ranks("protocols", ("stronger models", "weaker models")),
                lambda: table.protocols_table(content),
                draw=lambda: figure.by_measure(halved, (STRONG, WEAK), base, "Right (%)"),
                height=step(len(halved) * 1.8 + 6),
            )

    def _self_agreement(
        self, content: Content, protocols: Sequence[table.Line], models: Sequence[table.Line]
    ) -> Iterator[Panel]:
        base = content["matrix"]["base"]
        for slug, title, lines, make, starred in (
            ("self-protocols", "Self-agreement of protocols", protocols, table.protocols_table, base),
            ("self-models", "Self-agreement of models", models, table.models_table, None),
        ):
            agreed = table.known_lines(lines, SELF_AGREEMENT)
            if any(line.others > 1 for line in agreed):
                yield self.make_panel(
                    slug,
                    title,
                    "Krippendorff’s alpha between the orders, on average: 1 is the same verdict every time, "
                    f"0 is chance.{self._of_part} {self._prompts(agreed, SELF_AGREEMENT)}",
                    partial(make, content),
                    draw=partial(
                        figure.by_measure, agreed, (SELF_AGREEMENT,), starred, "Alpha between orders"
                    ),
                    height=step(len(agreed) * 1.4 + 4),
                )


_TESTED: Final = (
    " In the table, differences from the base are for other models on the same pairs: Student’s paired t "
    "test over models, corrected for the number of protocols (Holm)."
)


def _parts(setting: TrustSetting, part: str) -> dict[str, str]:
    """What of a setting an address says."""
    return {
        name: value
        for name, value in (setting.parts() | {"subset": part}).items()
        if value and name not in ("sealed", "raters")
    }


def _ending(setting: TrustSetting, part: str) -> str:
    found = urlencode(_parts(setting, part))
    return f"?{found}" if found else ""


def _content(snapshot: Snapshot, setting: TrustSetting) -> tuple[Content | None, Any]:
    """What a setting shows, and whether it is still to be computed."""
    if not judges_of(snapshot.counts):
        return {"nothing": "no judge has rated in this study"}, None
    if setting.gold == LABELS and not snapshot.counts.get("labelled"):
        return {"nothing": "no pair of this study has a right answer"}, None
    if setting.is_stored(()):
        stored = Stored.read(snapshot, Q(kind="trust", method=setting.sealed))
        if content := stored.get("trust", "", method=setting.sealed):
            return content, None
    found = find(snapshot, setting, Scope.TRUST)
    return found.stored.get("trust", "", method=setting.sealed), found.pending


def read(request: HttpRequest, study: Study, snapshot: Snapshot, **place: Any) -> TrustPage:
    operator = can_operate(request.user, study)
    return TrustPage.read(study, snapshot, request.GET, operator=operator)
