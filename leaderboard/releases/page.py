"""The pages of releases: all of a study's, one of them, and its files."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from typing import Any, ClassVar, Final

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from arena.models import Study
from leaderboard.models import Release, ReleaseBundle, Snapshot
from leaderboard.pages.cards import comparisons
from leaderboard.pages.citation import Author, Citation
from leaderboard.pages.columns import Column
from leaderboard.pages.page import DOWNLOADS_WAIT, Page, Panel
from leaderboard.pages.shell import Published, published
from leaderboard.pages.standings.sentences import leading_sentence, ratings_given, ties_phrase
from leaderboard.pages.standings.table import CONTESTANT, raters_table, standing_rows, standings_table
from leaderboard.pages.table import DataTable
from leaderboard.releases.content import USUAL, Board, boards
from leaderboard.releases.provenance import Part, parts
from leaderboard.snapshots.method_names import METHOD_NAMES

CITATIONS: Final[Mapping[str, str]] = {"cff": "application/yaml", "bib": "application/x-bibtex"}
"""Content types by the ending of the file."""


def numbered(study: Study, number: int) -> Release:
    found: Release | None = study.releases.select_related("snapshot").filter(number=number).first()
    if found is None:
        raise Http404("This study has no such release.")
    found.study = study
    return found


def authors_of(release: Release) -> list[Author]:
    return [Author(**author) for author in release.authors]


def citation_of(release: Release, request: HttpRequest) -> Citation:
    return Citation(
        name=release.name,
        slug=release.slug,
        made_at=release.created_at,
        snapshot_at=release.snapshot.created_at,
        methodology=release.snapshot.methodology,
        address=request.build_absolute_uri(release.get_absolute_url()),
        simulated=release.simulated,
        licence=release.licence,
        authors=authors_of(release),
        version=release.version,
        doi=release.doi,
    )


@dataclass(frozen=True, kw_only=True)
class ReleasePage(Page):
    """``snapshot`` is the release's own."""

    release: Release
    citation: Citation

    template: ClassVar[str] = "leaderboard/release.html"
    tab: ClassVar[str] = "study-release"

    @property
    def simulated(self) -> bool:
        return self.release.simulated

    @cached_property
    def boards(self) -> list[Board]:
        return boards(self.release)

    @property
    def by_people(self) -> int:
        return comparisons(self.snapshot, "people")

    @property
    def by_judges(self) -> int:
        return comparisons(self.snapshot, "judge")

    @property
    def by_panels(self) -> int:
        return comparisons(self.snapshot, "panel")

    @property
    def leading(self) -> str:
        return leading_sentence(self.boards[0].content) if self.boards else ""

    @property
    def authors(self) -> list[Author]:
        return authors_of(self.release)

    @property
    def others(self) -> list[Release]:
        """The study's other releases, the newest first."""
        return [each for each in self._all if each.number != self.release.number]

    @property
    def newest(self) -> Release:
        return self._all[0]

    @cached_property
    def _all(self) -> list[Release]:
        return list(Release.objects.listed().filter(study=self.study))

    @property
    def provenance(self) -> list[Part]:
        return [part for part in parts(self.release.provenance) if part.people or part.judges]

    @property
    def notices(self) -> list[str]:
        """What must be said before the standings."""
        return [*self.release.flags, *(self.boards[0].content["warnings"] if self.boards else ())]

    @property
    def open_sentence(self) -> str:
        """Why the bundle cannot be downloaded yet; empty where it can."""
        return "" if self.study.is_closed else DOWNLOADS_WAIT

    def _panels(self) -> Iterator[Panel]:
        if self.boards:
            yield self._standings(self.boards[0])
        if len(self.boards) > 1:
            order = [row["contestant"] for row in self.boards[0].content["standings"]]
            yield self.make_panel(
                "raters",
                "People and judges side by side",
                "Rank and score of each model by people and by each judge.",
                lambda: raters_table(order, [(board.label, board.content) for board in self.boards]),
            )
        if self.release.judges:
            yield self.make_panel(
                "judges",
                "Judges",
                "As set up when the release was made. The rest is in judges.json in the bundle.",
                lambda: DataTable.of("Judges", _JUDGES, self.release.judges),
            )

    def _standings(self, board: Board) -> Panel:
        used = board.content["parameters"]
        how = f"{METHOD_NAMES[USUAL.method]}, {ties_phrase(USUAL.method, used)}"
        rows = standing_rows(board.content, board.beside)
        return self.make_panel(
            "standings",
            f"Leaderboard by {board.label}",
            f"{how}.",
            lambda: _by_name(standings_table(rows, USUAL.method, used)),
        )


def _by_name(found: DataTable) -> DataTable:
    """The table with contestants in its first column, which names the rows."""
    others = [column for column in found.declared if column is not CONTESTANT]
    return replace(found, declared=(CONTESTANT, *others))


_JUDGES: Final[Sequence[Column[Mapping[str, Any]]]] = (
    Column("Judge", "name"),
    Column("Kind", lambda judge: f"simulated {judge['kind']}" if judge["simulated"] else judge["kind"]),
    Column("Model", lambda judge: judge.get("model", "")),
    Column("Protocol", lambda judge: judge.get("protocol", "")),
    Column("Answer scale", lambda judge: judge.get("answer_scale", "")),
    Column("Sampling", lambda judge: _sampling(judge) if "temperature" in judge else ""),
    Column("Wording (SHA-256 begins)", lambda judge: judge.get("prompt_hash", "")[:12]),
)


def _sampling(judge: Mapping[str, Any]) -> str:
    options = {"temperature": judge.get("temperature"), **judge.get("options", {})}
    return ", ".join(f"{name} {json.dumps(value)}" for name, value in options.items())


def read(request: HttpRequest, study: Study, snapshot: Snapshot, **place: Any) -> ReleasePage:
    release = numbered(study, place["number"])
    return ReleasePage(
        study=study,
        snapshot=release.snapshot,
        address=release.get_absolute_url(),
        release=release,
        citation=citation_of(release, request),
    )


def _listed(request: HttpRequest, now: Published) -> HttpResponse:
    releases = list(Release.objects.listed().filter(study=now.study))
    given = (ratings_given(release.snapshot.counts) for release in releases)
    rows = zip_longest(releases, map(authors_of, releases), releases[1:], given)
    context = {"study": now.study, "releases": list(rows)}
    return render(request, "leaderboard/releases.html", context)


def _citation(request: HttpRequest, now: Published, number: int, form: str) -> HttpResponse:
    if form not in CITATIONS:
        raise Http404("No such file.")
    citation = citation_of(numbered(now.study, number), request)
    content = citation.cff if form == "cff" else f"{citation.bibtex}\n"
    response = HttpResponse(content, content_type=f"{CITATIONS[form]}; charset=utf-8")
    name = "CITATION.cff" if form == "cff" else f"{now.study.slug}-{citation.version}.bib"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _bundle(request: HttpRequest, now: Published, number: int) -> HttpResponse:
    release = numbered(now.study, number)
    if not now.study.is_closed:
        page = read(request, now.study, release.snapshot, number=number)
        return render(
            request, page.template, {"study": now.study, "page": page, "error": DOWNLOADS_WAIT}, status=403
        )
    content = ReleaseBundle.objects.values_list("content", flat=True).get(release=release)
    response = HttpResponse(bytes(content), content_type="application/zip")
    name = f"{release.slug}-{release.version}-bundle.zip"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


listed = published(_listed)
citation = published(_citation)
bundle = published(_bundle)
