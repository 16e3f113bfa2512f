"""The page to download and cite a study's results."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from django.http import (
    FileResponse,
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
)
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from arena.files import writing
from arena.models import Study
from leaderboard.files import exports, interchange, selection
from leaderboard.files import published as files_published
from leaderboard.files.bundle import cache
from leaderboard.files.bundle.archive import BundleError
from leaderboard.files.interchange import FORM_NAMES
from leaderboard.files.views import attachment
from leaderboard.models import Release, Snapshot, SnapshotSlice
from leaderboard.pages.cards import rater_sets
from leaderboard.pages.citation import Author, Citation
from leaderboard.pages.format import counted
from leaderboard.pages.page import DOWNLOADS_WAIT, NotReadyError, Page
from leaderboard.pages.shell import Published, described, not_ready, page_or_404, published, visible
from leaderboard.pages.tabs import OF_TEXTS, TABS
from leaderboard.snapshots.method_names import METHOD_NAMES, STORED_METHODS


@dataclass(frozen=True)
class File:
    form: str
    address: str
    size: int | None = None


@dataclass(frozen=True)
class Offer:
    title: str
    meaning: str
    rows: str
    files: tuple[File, ...]


@dataclass(frozen=True, kw_only=True)
class ResultsPage(Page):
    site: str

    template: ClassVar[str] = "leaderboard/results.html"
    tab: ClassVar[str] = "study-results"

    @property
    def open_sentence(self) -> str:
        return "" if self.study.is_closed else DOWNLOADS_WAIT

    @cached_property
    def raters(self) -> dict[str, str]:
        """Labels of those by whom somebody is ranked."""
        stored = SnapshotSlice.objects.filter(snapshot=self.snapshot, kind="standings")
        ranked = set(stored.order_by().values_list("raters", flat=True).distinct())
        return {
            choice["selector"]: choice["label"]
            for choice in self.snapshot.counts["raters"]
            if choice["same_as"] is None and choice["selector"] in ranked
        }

    @cached_property
    def of_texts(self) -> list[tuple[str, str]]:
        """Labels and addresses of the pages about single answers, whose figures have files."""
        return [
            (TABS[name], reverse(name, args=[self.study.slug]))
            for name, kind in OF_TEXTS.items()
            if self.snapshot.counts.get(kind)
        ]

    @property
    def leaderboard_files(self) -> list[File]:
        """The files of all raters, of whom the reader chooses."""
        slug = self.study.slug
        return [
            File(FORM_NAMES[form], reverse("study-leaderboard-file", args=[slug, form]))
            for form in ("csv", "json")
        ]

    @cached_property
    def votes(self) -> tuple[Offer, ...]:
        return tuple(self._votes()) if self.study.is_closed else ()

    @cached_property
    def bundle(self) -> File:
        kept = cache.kept(self.study, self.snapshot)
        address = reverse("study-bundle", args=[self.study.slug])
        return File("zip", address, kept.stat().st_size if kept else None)

    @property
    def methods(self) -> Mapping[str, str]:
        return {name: METHOD_NAMES[name] for name in STORED_METHODS}

    @cached_property
    def citation(self) -> Citation:
        """Its authors are those of the newest release."""
        newest = Release.objects.listed().filter(study=self.study).first()
        return Citation(
            name=self.study.name,
            slug=self.study.slug,
            made_at=self.snapshot.created_at,
            snapshot_at=self.snapshot.created_at,
            methodology=self.snapshot.methodology,
            address=f"{self.site}{self.study.get_absolute_url()}",
            simulated=self.simulated,
            licence=self.study.licence,
            authors=[Author(**author) for author in newest.authors] if newest else (),
        )

    def _votes(self) -> Iterator[Offer]:
        counts = self.snapshot.counts
        scored = counts["comparisons"] - counts["unscored"] - counts.get("identical", 0)
        yield Offer(
            "Ratings in the columns of Chatbot Arena",
            "Every rating of two models, with the order shown, category and protocol."
            f"{' Those of panels name their judges.' if rater_sets(self.snapshot, 'panel') else ''}",
            "up to " * bool(counts.get("not_ranked")) + counted(scored, "rating"),
            (*self._files("arena"), self._note("arena")),
        )
        yield Offer(
            "Preference pairs for reward models",
            "Prompt, chosen and rejected answer, margin, number of raters and agreement. Without ties.",
            f"up to {counted(counts['pairs'], 'pair')}, {self._usual} only",
            (
                *self._files("preferences"),
                *(
                    File(f"{file.form}, messages", f"{file.address}?conversational=1")
                    for file in self._files("preferences", ("jsonl",))
                ),
                self._note("preferences"),
            ),
        )
        yield Offer(
            "Consensus labels",
            "One verdict per pair: the adjudicated one, else that of more than half of the people.",
            "people only",
            (*self._files("consensus"), self._note("consensus")),
        )
        yield Offer(
            "Ratings for evalica",
            "Left, right and winner.",
            f"{self._usual} only",
            (*self._files("evalica", ("csv",)), self._note("evalica")),
        )

    @property
    def _usual(self) -> str:
        return selection.usual_raters(self.snapshot)[1]

    def _files(self, what: str, forms: tuple[str, ...] = ("jsonl", "csv", "parquet")) -> tuple[File, ...]:
        there = [form for form in forms if form != "parquet" or writing.has_parquet()]
        slug = self.study.slug
        return tuple(
            File(FORM_NAMES[form], reverse("study-votes", args=[slug, what, form])) for form in there
        )

    def _note(self, what: str) -> File:
        return File("note", reverse("study-votes", args=[self.study.slug, what, "note"]))


def read(request: HttpRequest, study: Study, snapshot: Snapshot, **place: Any) -> ResultsPage:
    return ResultsPage(
        study=study,
        snapshot=snapshot,
        address=reverse("study-results", args=[study.slug]),
        site=request.build_absolute_uri("/").rstrip("/"),
    )


@published
def leaderboard(request: HttpRequest, now: Published, form: str) -> HttpResponse:
    if form not in ("json", "csv"):
        raise Http404("No such file.")
    try:
        content = b"".join(interchange.leaderboard_pieces(now.study, form, request.GET.dict()))
    except NotReadyError as error:
        return not_ready(error)
    except selection.ExportError as error:
        raise Http404(str(error)) from error
    response = HttpResponse(content, content_type=interchange.TYPES[form])
    kind = "inline" if form == "json" else "attachment"
    name = exports.file_name(now.study, files_published.LEADERBOARD.name, form)
    response["Content-Disposition"] = f'{kind}; filename="{name}"'
    return response


@require_safe
def votes(request: HttpRequest, slug: str, what: str, form: str) -> HttpResponseBase:
    study = visible(request, slug)
    if what not in interchange.VOTES:
        raise Http404("No such file.")
    if not study.is_closed:
        return _refused(request, study, DOWNLOADS_WAIT)
    asked = request.GET.dict()
    try:
        if form == "note":
            note = interchange.vote_file(study, what, "jsonl", asked).note()
            return HttpResponse(note, content_type="application/json")
        return attachment(study, what, form, asked)
    except selection.ExportError as error:
        raise Http404(str(error)) from error


@require_safe
def bundle(request: HttpRequest, slug: str) -> HttpResponseBase:
    study = visible(request, slug)
    if not study.is_closed:
        return _refused(request, study, DOWNLOADS_WAIT)
    page = _page(request, study)
    try:
        path = cache.packed(study, page.snapshot)
        file = path.open("rb")
    except cache.BusyError as error:
        response = _refused(request, study, str(error), 503)
        response["Retry-After"] = "60"
        return response
    except BundleError as error:
        return _refused(request, study, str(error), 409)
    name = f"{study.slug}-bundle.zip"
    return FileResponse(file, as_attachment=True, filename=name, content_type="application/zip")


def _refused(request: HttpRequest, study: Study, sentence: str, status: int = 403) -> HttpResponse:
    page = _page(request, study)
    shown = {"study": study, "description": described(study), "error": sentence}
    shown |= {"page": page, "snapshot": page.snapshot, "behind": 0}
    return render(request, page.template, shown, status=status)


def _page(request: HttpRequest, study: Study) -> Page:
    """Raises Http404."""
    return page_or_404(read, request, Published.of(study, request.user))
