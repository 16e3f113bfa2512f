"""The operators' page of exports."""

from typing import Any, Final, NamedTuple

from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from arena.audit.recording import Kind, record
from arena.data import export
from arena.files import writing
from arena.files.writing import WRITERS
from arena.models import Study
from arena.pages.permissions import staff_only
from leaderboard.files import exports, interchange, selection
from leaderboard.files.interchange import FORM_NAMES
from leaderboard.models import Snapshot
from leaderboard.pages.standings.table import STANDINGS

MEANINGS: Final = {
    exports.ALL: "Our own tables in one zip archive, with the leaderboard and error tags for the record. "
    "A new study imports it as it is, with the same numbers.",
    "study": "The study's texts and settings.",
    "contestants": "The models, with organisation, size and licence.",
    "raters": "People, judges and panels. Simulated raters are marked, and panels name their judges.",
    "prompts": "With category, subset and references.",
    "questions": "What an answer to a prompt has to meet, with labels.",
    "completions": "The current answers.",
    "pairs": "Pairs whose better answer is known.",
    "training": "With their texts, right answers and explanations.",
    "comparisons": "Every rating that counts, and pairs that judges did not rate. Panels are marked.",
    "scores": "Every score of one answer that counts, with its scale.",
    "answers": "Which requirements each answer meets, by rater.",
    "features": "What a model's own probabilities say about each answer.",
    "standings": "The leaderboard with the usual settings, with its method in every row.",
    "leaderboard": "Every category at once, as in Chatbot Arena's files.",
    "error_tags": "Why judges are wrong, as operators tagged it. Operators are not named.",
    "arena": "Every rating of people, judges and panels, in Chatbot Arena's columns and ours. "
    "People have pseudonyms.",
    "preferences": "Pairs with chosen and rejected answer, margin and agreement, to train reward models.",
    "consensus": "One verdict per pair: the adjudicated one, else that of more than half of the people. An "
    "import reads them as gold labels.",
    "evalica": "Left, right and winner of each rating.",
}
TITLES: Final = {
    exports.ALL: "Everything",
    "contestants": "Models",
    "completions": "Answers",
    "pairs": "Gold labels",
    "comparisons": "Ratings",
    "questions": "Requirements",
    "study": "Settings",
    "training": "Training pairs and hidden checks",
    "scores": "Text scores",
    "answers": "Checks",
    "standings": "Leaderboard",
    "leaderboard": "Leaderboard, every category",
    "error_tags": "Error tags",
    "arena": "Ratings for other programs",
    "preferences": "Preference pairs",
    "consensus": "Consensus labels",
    "evalica": "Games for evalica",
}

OF_USUAL_RATERS: Final = (STANDINGS.name, *interchange.OF_USUAL_RATERS)


class Offer(NamedTuple):
    title: str
    meaning: str
    rows: int | None
    links: dict[str, str]


@require_safe
@staff_only
def page(request: HttpRequest, slug: str) -> HttpResponse:
    return _page(request, get_object_or_404(Study, slug=slug))


@require_safe
@staff_only
def download(request: HttpRequest, slug: str) -> HttpResponseBase:
    study = get_object_or_404(Study, slug=slug)
    what, form = request.GET.get("what", ""), request.GET.get("format", "")
    private = _private(request)
    if what not in MEANINGS or form not in _forms(what):
        return _page(request, study, "No such download. Choose one below.")
    try:
        if what != exports.ALL:
            file = attachment(study, what, form, {}, private=private)
            return _recorded(request, study, what, form, file)
        name = exports.file_name(study, what, "zip")
        packed = exports.zipped(study, form, private=private)
        reply = FileResponse(packed, as_attachment=True, filename=name, content_type="application/zip")
        return _recorded(request, study, what, form, reply)
    except selection.ExportError as error:
        return _page(request, study, str(error))


def _private(request: HttpRequest) -> bool:
    """True where the texts of private prompts are asked for."""
    return request.GET.get("private") == "on"


def _recorded(
    request: HttpRequest, study: Study, what: str, form: str, reply: HttpResponseBase
) -> HttpResponseBase:
    """The file, once its download is in the log."""
    if request.method == "GET":
        named = " Names people." if exports.names_people(study, what) else ""
        named += " With private prompts." if _private(request) else ""
        record(Kind.EXPORTED, request.user, f"{title(what)} as {FORM_NAMES[form]}.{named}", study=study)
    return reply


def _page(request: HttpRequest, study: Study, error: str = "") -> HttpResponse:
    context: dict[str, Any] = {
        "study": study,
        "offers": _offers(study, private=_private(request)),
        "note": exports.note_on_old_texts(study),
        "on_private": exports.note_on_private(study),
        "private": _private(request),
        "naming": [title(what) for what in MEANINGS if exports.names_people(study, what)],
        "error": error,
    }
    return render(request, "leaderboard/export.html", context, status=404 if error else 200)


def _offers(study: Study, *, private: bool) -> list[Offer]:
    counts = {what: export.count(study, what) for what in export.TABLES}
    _, usual = selection.usual_raters(Snapshot.objects.newest(study))
    whose = dict.fromkeys(OF_USUAL_RATERS, f"Ratings by {usual} only.")
    return [
        Offer(
            title(what),
            " ".join([meaning, *filter(None, [whose.get(what)])]),
            counts.get(what),
            _links(what, private=private),
        )
        for what, meaning in MEANINGS.items()
    ]


def title(what: str) -> str:
    return TITLES.get(what, what.capitalize())


def _links(what: str, *, private: bool) -> dict[str, str]:
    more = {"private": "on"} if private else {}
    forms = [form for form in _forms(what) if form != "parquet" or writing.has_parquet()]
    return {FORM_NAMES[form]: "?" + urlencode({"what": what, "format": form, **more}) for form in forms}


def _forms(what: str) -> list[str]:
    there = interchange.OTHERS.get(what, tuple(WRITERS))
    return [form for form in FORM_NAMES if form in there]


def attachment(
    study: Study, what: str, form: str, asked: dict[str, str], *, private: bool = False
) -> StreamingHttpResponse:
    """A file written while it is sent. Raises ExportError."""
    pieces = exports.pieces(study, what, form, asked, private=private)
    response = StreamingHttpResponse(pieces, content_type=interchange.TYPES[form])
    response["Content-Disposition"] = f'attachment; filename="{exports.file_name(study, what, form)}"'
    return response
