"""The list of pairs that a judge gets wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from django.core.paginator import Page as Leaf
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse

from arena.data.export import pair_sides
from arena.models import Pair, Study
from leaderboard.models import Snapshot
from leaderboard.pages.format import counted
from leaderboard.pages.rater_kinds.choices import choices
from leaderboard.pages.shell import Published, page_or_404
from leaderboard.pages.switches import Switch
from leaderboard.pages.table import DataTable
from leaderboard.trust import tags
from leaderboard.trust.errors import ORDERS
from leaderboard.trust.judge_page import (
    AT_ONCE,
    VALUES,
    JudgePage,
    Other,
    Said,
    check_open_to,
    parts_of,
)


@dataclass(frozen=True)
class Line:
    """A pair in the list."""

    place: int
    pair: Pair
    address: str
    gold: str
    subset: str
    verdicts: list[Said]
    others: list[Other]
    tag: str

    @property
    def right(self) -> int:
        return sum(other.state == "right" for other in self.others)

    @property
    def known(self) -> int:
        """Others with a verdict."""
        return sum(other.state != "none" for other in self.others)

    def named(self) -> Iterator[tuple[str, str]]:
        """Other judges by how they did, in words."""
        words = {"right": "right", "half": "wrong in one order", "wrong": "wrong", "none": "no verdict"}
        for state, text in words.items():
            names = [other.name for other in self.others if other.state == state]
            if names:
                yield text, ", ".join(names)


@dataclass(frozen=True, kw_only=True)
class WrongPage(JudgePage):
    page_number: str

    template: ClassVar[str] = "leaderboard/wrong_pairs.html"

    @property
    def sentence(self) -> str:
        asked = int((self.within & self.errors.asked[self.number]).sum())
        one, both, _ = (int(self.mask(orders, "").sum()) for orders in ORDERS)
        wrong = int(self.mask("", "").sum())
        parts = [(one, "in one order"), (both, "in both orders"), (wrong - one - both, "without a verdict")]
        if not asked:
            return f"{self.judge} was not asked about these pairs."
        if not wrong:
            return f"{self.judge} is right on all of the {counted(asked, 'pair')} it was asked about."
        told = ", ".join(f"{n:,} {words}" for n, words in parts if n)
        said = f"{self.judge} is not right on {wrong:,} of {counted(asked, 'pair')}"
        if one == wrong and not (self.within & self.errors.in_both_orders[self.number]).any():
            return f"{said}. It saw each of them in one order only."
        return f"{said}: {told}."

    @property
    def choices(self) -> list[Switch]:
        view, own = self.view, self.errors
        judges = [(slug, each.label) for slug, each in zip(own.slugs, own.choices, strict=True)]
        names = own.instances.subsets
        subsets = [("", "All"), *zip(names, names, strict=True)]
        words = {"": "Any", "one": "One order", "both": "Both orders", "unscored": "Not rated"}
        orders = self._counted("orders", words, lambda value: (value, ""))
        named = {"": "Any", tags.UNTAGGED: "No tag", **{name: name for name in tags.known(self.study)}}
        tagged = self._counted("tag", named, lambda value: (view.orders, value))
        sorts = [("", "Most first"), ("hard", "Fewest first")]
        found = [
            choices("judge", "Judge", judges, view.judge, view.query),
            choices("subset", "Subset", subsets if len(names) > 1 else [], view.subset, view.query),
            choices("orders", "Wrong in", orders, view.orders, view.query),
            choices("tag", "Tag", tagged, view.tag, view.query),
            choices("sort", "Others right", sorts, view.sort, view.query),
        ]
        return [switch for switch in found if len(switch.options) > 1]

    def _counted(
        self, name: str, labels: Mapping[str, str], mask: Callable[[str], tuple[str, str]]
    ) -> list[tuple[str, str]]:
        """Values with the number of pairs; those without any are left out, save what is chosen."""
        numbers = {value: int(self.mask(*mask(value)).sum()) for value in labels}
        shown = [value for value, n in numbers.items() if n or value in ("", getattr(self.view, name))]
        return [(value, f"{labels[value]} ({numbers[value]:,})") for value in shown]

    @cached_property
    def leaf(self) -> Leaf[int]:
        return Paginator(self.found, AT_ONCE).get_page(self.page_number)

    @cached_property
    def lines(self) -> list[Line]:
        places, ids = list(self.leaf.object_list), self.errors.instances.pair
        pairs = (
            Pair.objects.published().select_related("prompt").in_bulk([int(ids[place]) for place in places])
        )
        return [
            Line(
                place,
                pairs[int(ids[place])],
                self.pair_url(place),
                self.gold(place),
                self.errors.subset(place),
                self.verdicts(self.number, place),
                self.others(place),
                self.tag(place),
            )
            for place in places
            if int(ids[place]) in pairs
        ]

    @property
    def more(self) -> str:
        """What follows the number of a page in its address."""
        return self.view.query().replace("?", "&", 1)

    def file_url(self, form: str) -> str:
        return reverse("study-wrong-file", args=[self.study.slug, form]) + self.view.query()

    @property
    def files(self) -> list[tuple[str, str]]:
        return [("CSV", self.file_url("csv")), ("JSON", self.file_url("json"))]

    @property
    def rows(self) -> Iterator[dict[str, Any]]:
        """The list for files: a verdict is about the stored order, ``judge`` where B was shown first."""
        own = self.errors.instances
        sides = pair_sides(own.pair[self.found].tolist())
        sources = dict(Pair.objects.filter(pk__in=list(sides)).values_list("pk", "gold_source"))
        for place in self.found:
            pair = int(own.pair[place])
            about = sides.get(pair, {})
            verdicts = {
                f"{slug} {name}": VALUES[int(self.errors.said[judge, order, place])]
                for judge, slug in enumerate(self.errors.slugs)
                for order, name in enumerate(("straight", "swapped"))
            }
            yield {
                "pair": pair,
                "prompt": about.get("prompt"),
                "subset": own.subsets[own.subset[place]],
                "first": about.get("first") or about.get("first_id"),
                "second": about.get("second") or about.get("second_id"),
                "gold": VALUES[int(own.gold[place])],
                "gold_source": self.view.gold or sources.get(pair),
                "judge": self.view.judge,
                "tag": self.tag(place) or None,
                "judges_right": int(self.errors.right[:, place].sum()),
                **verdicts,
            }


def read(request: HttpRequest, study: Study, snapshot: Snapshot, **place: Any) -> WrongPage:
    return WrongPage(**parts_of(request, study, snapshot), page_number=request.GET.get("page", "1"))


def file(request: HttpRequest, now: Published, form: str) -> HttpResponse:
    """The list for other programs."""
    if form not in ("csv", "json"):
        raise Http404
    check_open_to(request, now.study)
    page = page_or_404(read, request, now)
    rows = list(page.rows)
    if form == "json":
        about = {"study": now.study.slug, "judge": page.view.judge, "instances": rows}
        response: HttpResponse = JsonResponse(about)
    else:
        # The byte order mark makes spreadsheets read the names as UTF-8.
        written = (
            "\ufeff"
            + DataTable.plain("Pairs", rows[0] if rows else (), [tuple(row.values()) for row in rows]).csv()
        )
        response = HttpResponse(written, content_type="text/csv; charset=utf-8")
    name = f"{now.study.slug}-{page.view.judge}-wrong.{form}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
