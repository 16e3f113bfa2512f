"""Links that let people into a study, and its raters, over the API."""

from datetime import datetime
from typing import Annotated, Any

from django.db.models import Count
from django.http import HttpRequest
from django.urls import reverse
from ninja import Field, Router, Schema, Status

from arena.api.auth import account_of, caller_of, operated_study
from arena.api.columns import body_of, columns_of, given_by
from arena.api.schemas import ErrorOut, Name, written_out
from arena.models import Invitation, Membership, Role
from arena.pages.filled import FormError, filled, valid
from arena.people import joining
from arena.people.members import InvitationForm, invite
from arena.studies.api import MISSING, REFUSALS, Slug

router = Router(tags=["people"])
InvitationIn = body_of(
    "InvitationIn",
    "A link by which people join.",
    columns_of(Invitation, ("role", "note")),
    max_uses=(Annotated[int, Field(ge=1, le=10_000, strict=True)], Field(1, description="How many people.")),
    group=(
        Annotated[Name, Field(max_length=80)],
        Field(None, description="Short name of a group of raters."),
    ),
    last_day=(
        Annotated[Name, Field(max_length=20)],
        Field(None, description="Such as 2030-12-31: it works until the end of this day (UTC)."),
    ),
)
InvitationIn.model_config["json_schema_extra"] = {"examples": [{"role": "rater", "max_uses": 20}]}
InvitationIn.model_rebuild(force=True)


class InvitationOut(Schema):
    """A link by which people join."""

    id: int
    link: str = Field(description="Send it to those who shall join.")
    role: Annotated[Role, written_out(Role)]
    note: str
    group: str | None
    max_uses: int
    uses: int
    expires_at: datetime | None
    problem: str = Field(description="Why nobody can join by it now; empty if people can.")

    @classmethod
    def of(cls, row: Invitation, request: HttpRequest) -> "InvitationOut":
        same = ("id", "role", "note", "max_uses", "uses", "expires_at")
        return cls(
            **{name: getattr(row, name) for name in same},
            link=request.build_absolute_uri(reverse("join", args=[row.token])),
            group=row.group.slug if row.group else None,
            problem=joining.why_not(row),
        )


class MemberOut(Schema):
    """A member of a study."""

    rater: str
    name: str
    role: Annotated[Role, written_out(Role)]
    joined_at: datetime
    trained_at: datetime | None
    paused: bool
    left_out: bool = Field(description="Their ratings are kept but not counted.")
    ratings: int = Field(description="Pairs rated here.")

    @classmethod
    def of(cls, row: Membership, ratings: int) -> "MemberOut":
        same = ("role", "joined_at", "trained_at")
        return cls(
            **{name: getattr(row, name) for name in same},
            rater=row.rater.slug,
            name=row.rater.name,
            paused=bool(row.paused_at or row.rater.paused_at),
            left_out=row.left_out_at is not None,
            ratings=ratings,
        )


@router.post("/{slug}/invitations/", response={201: InvitationOut, **REFUSALS}, summary="Make a link")
def create_invitation(request: HttpRequest, slug: Slug, given: InvitationIn) -> Status[Any]:  # type: ignore[valid-type]
    """Make a link by which people get a role in the study."""
    study, by = operated_study(request, slug), account_of(request)
    blank = Invitation(study=study)
    shown = InvitationForm(instance=blank, may_group=caller_of(request).is_operator)
    try:
        said = dict(given_by(given))
        if "group" in said and "group" in shown.fields:
            said["group"] = shown.fields["group"].queryset.filter(slug=said["group"]).first() or 0  # type: ignore[attr-defined]
        form = InvitationForm(filled(shown, said), instance=blank, may_group=caller_of(request).is_operator)
        link = invite(valid(form), by)
    except FormError as error:
        return Status(422, ErrorOut(detail=str(error), field=error.field or None))
    return Status(201, InvitationOut.of(link, request))


@router.get("/{slug}/invitations/", response={200: list[InvitationOut], **MISSING}, summary="List links")
def list_invitations(request: HttpRequest, slug: Slug) -> Any:
    """The links of a study, the newest first."""
    found = operated_study(request, slug).invitations.select_related("group", "study").order_by("-pk")
    return [InvitationOut.of(row, request) for row in found]


@router.get("/{slug}/raters/", response={200: list[MemberOut], **MISSING}, summary="List members")
def list_members(request: HttpRequest, slug: Slug) -> Any:
    """Everybody with a role in the study, by name."""
    study = operated_study(request, slug)
    rated = study.comparisons.filter(is_current=True).order_by().values_list("rater")
    ratings = dict(rated.annotate(ratings=Count("pk")))
    found = study.memberships.select_related("rater").order_by("rater__name", "pk")
    return [MemberOut.of(row, ratings.get(row.rater_id, 0)) for row in found]
