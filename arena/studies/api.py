"""Setting up a study over the API: the rules of the operators' pages."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from ninja import Field, Router, Schema, Status

from arena.api.auth import account_of, operated_study, require_operator
from arena.api.columns import body_of, columns_of, given_by, reply_of
from arena.api.schemas import ERRORS, ErrorOut, Name, written_out
from arena.audit.recording import Kind
from arena.models import Study
from arena.models.settings import FORMS
from arena.rating.progress import why_nothing
from arena.studies import lifecycle, services
from arena.studies.changes import SettingError

router = Router(tags=["setting up studies"])
Slug = Annotated[Name, Field(max_length=80)]
TASKS = {"tasks": (list[Literal["compare", "score", "check"]], Field(None, min_length=1))}
REFUSALS: dict[int, type] = {404: ErrorOut, 409: ErrorOut, **ERRORS}
MISSING: dict[int, type] = {404: ErrorOut, **ERRORS}


class SetUpOut(Schema):
    """A study as its operators see it."""

    slug: str
    name: str
    state: Literal["draft", "open", "paused", "closed"]
    visibility: Annotated[Study.Visibility, written_out(Study.Visibility)]
    nothing: str = Field(description="Why people get nothing to rate; empty if they do.")
    created_at: datetime
    paused_at: datetime | None
    closed_at: datetime | None

    @classmethod
    def of(cls, study: Study) -> "SetUpOut":
        study = Study.objects.get(pk=study.pk)
        states = {"draft": study.is_draft, "closed": study.closed_at, "paused": study.paused_at}
        state: Any = next((name for name, is_so in states.items() if is_so), "open")
        columns = ("slug", "name", "visibility", "created_at", "paused_at", "closed_at")
        return cls(
            **{name: getattr(study, name) for name in columns},
            state=state,
            nothing=why_nothing(study),
        )


SettingsOut = reply_of(
    "SettingsOut", "Every setting of a study.", columns_of(Study, services.OF_OPERATORS), is_draft=(bool, ...)
)
SettingsIn = body_of(
    "SettingsIn", "Settings to change; the rest stays.", columns_of(Study, services.OF_OPERATORS), **TASKS
)
NewStudyIn = body_of(
    "NewStudyIn",
    "A name and any settings; without slug the address is made of the name.",
    columns_of(Study, services.OF_OPERATORS),
    **TASKS,
    name=(Annotated[Name, Field(max_length=200)], ...),
)
PublishIn = body_of("PublishIn", "Settings of the last step, if any.", columns_of(Study, FORMS["publish"]))
EXAMPLES: Mapping[type[Schema], Any] = {
    SettingsIn: {"goal": 50, "points": 8},
    NewStudyIn: {"name": "Summer 2026", "slug": "summer-2026", "guidelines": "Which answer is better?"},
    PublishIn: {"visibility": "public", "sign_up_open": True},
}
for body, example in EXAMPLES.items():
    body.model_config["json_schema_extra"] = {"examples": [example]}
    body.model_rebuild(force=True)


class StateIn(Schema):
    """A decision about a study."""

    model_config = {"extra": "forbid", "json_schema_extra": {"examples": [{"kind": "paused"}]}}

    kind: Literal["paused", "resumed", "closed", "reopened"]
    note: Name = Field("", max_length=1000, description="Why, for the history.")


def settled(make: Callable[[], Any], status: int = 200) -> Status[Any]:
    """The reply with what ``make`` returns, or which setting is refused and why."""
    try:
        return Status(status, make())
    except SettingError as error:
        return Status(422, ErrorOut(detail=str(error), field=error.field or None))
    except PermissionDenied:
        return Status(403, ErrorOut(detail="Only staff accounts may do this."))


def create_study(request: HttpRequest, given: NewStudyIn) -> Status[Any]:  # type: ignore[valid-type]
    """Make a draft, which only operators see. Only staff accounts may."""
    require_operator(request)
    made = lambda: SetUpOut.of(services.create_with(given_by(given), account_of(request)))  # noqa: E731
    return settled(made, 201)


def _settings(study: Study) -> Any:
    stored = Study.objects.get(pk=study.pk)
    return SettingsOut(**{name: getattr(stored, name) for name in SettingsOut.model_fields})


@router.get("/{slug}/settings/", response={200: SettingsOut, **MISSING}, summary="Read the settings")
def show_settings(request: HttpRequest, slug: Slug) -> Any:
    """All settings of a study that you operate."""
    return _settings(operated_study(request, slug))


@router.patch("/{slug}/settings/", response={200: SettingsOut, **REFUSALS}, summary="Change settings")
def change_settings(request: HttpRequest, slug: Slug, given: SettingsIn) -> Status[Any]:  # type: ignore[valid-type]
    """Change these, each on record. 422 names the setting that cannot be so, and nothing is changed."""
    study, by = operated_study(request, slug), account_of(request)
    return settled(lambda: (services.configure(study, given_by(given), by), _settings(study))[1])


@router.post("/{slug}/publish/", response={200: SetUpOut, **REFUSALS}, summary="Publish a draft")
def publish_study(request: HttpRequest, slug: Slug, given: PublishIn) -> Status[Any]:  # type: ignore[valid-type]
    """People can rate from now on. 409 if it is published already."""
    study, by = operated_study(request, slug), account_of(request)
    if not study.is_draft:
        return Status(409, ErrorOut(detail="The study is published already. Change its settings."))
    return settled(lambda: (services.publish(study, given_by(given), by), SetUpOut.of(study))[1])


@router.post("/{slug}/state/", response={200: SetUpOut, **REFUSALS}, summary="Pause, close and reopen")
def decide_state(request: HttpRequest, slug: Slug, given: StateIn) -> Status[Any]:
    """Pause, resume, close or reopen a study. 409 for a draft, or if it is so already."""
    study = operated_study(request, slug)
    if study.is_draft:
        return Status(409, ErrorOut(detail="The study is a draft. Publish it first.", field="kind"))
    if not lifecycle.decide(study, Kind(given.kind), account_of(request), given.note):
        return Status(409, ErrorOut(detail=f"{Kind(given.kind).label} already.", field="kind"))
    return Status(200, SetUpOut.of(study))
