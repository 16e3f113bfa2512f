"""Models of a study that can be asked, over the API: the rules of the page of models that write."""

from collections.abc import Mapping
from typing import Annotated, Any

from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest
from ninja import Field, Router, Status

from arena.api.auth import account_of, require_staff_of
from arena.api.columns import body_of, columns_of, given_by, reply_of
from arena.api.schemas import Name
from arena.models import Contestant, Study
from arena.pages.filled import filled, valid
from arena.studies.api import Slug
from judging.judges.services import OF_ENDPOINT, MissingError, missing_key, price_of
from judging.models import Author, Endpoint
from judging.runs.api import REFUSALS
from judging.runs.judges_api import PRICES, ModelPriceOut, configured
from judging.writing.views import AuthorForm

router = Router(tags=["models"])
COLUMNS = [*columns_of(Author, AuthorForm.Meta.fields), *columns_of(Endpoint, OF_ENDPOINT)]
ModelIn = body_of(
    "ModelIn",
    "A model and the endpoint it is asked at. api_key_env names a variable with the key, never the key.",
    COLUMNS,
    **PRICES,
    name=(Annotated[Name, Field(max_length=200)], Field(..., description="A new one is added to the study.")),
)
ModelChangesIn = body_of("ModelChangesIn", "What to change; the rest stays.", COLUMNS, **PRICES)
EXAMPLE = {"name": "My model", "model": "gpt-4o", "base_url": "https://api.example.com/v1"}
ModelIn.model_config["json_schema_extra"] = {"examples": [{**EXAMPLE, "api_key_env": "OPENAI_API_KEY"}]}
ModelChangesIn.model_config["json_schema_extra"] = {"examples": [{"max_tokens": 2048}]}
for body in (ModelIn, ModelChangesIn):
    body.model_rebuild(force=True)
EndpointOut = reply_of(
    "EndpointOut",
    "How a model is asked.",
    COLUMNS,
    price=(ModelPriceOut | None, ...),
    problem=(str, Field(..., description="Why its key cannot be read here; empty if it can.")),
)
StudyModelOut = reply_of(
    "StudyModelOut",
    "A model of a study, or people.",
    columns_of(Contestant, ("slug", "name", "kind", "family", "organisation", "licence")),
    retired=(bool, ...),
    answers=(int, ...),
    endpoint=(EndpointOut | None, Field(..., description="null: it cannot be asked.")),
)


def told(contestant: Contestant) -> Any:
    return _told(_counted(Contestant.objects.filter(pk=contestant.pk)).get())


def _counted(found: QuerySet[Contestant]) -> QuerySet[Contestant]:
    """With their answers counted, and what asks them."""
    current = Count("completions", filter=Q(completions__is_current=True))
    return found.select_related("author__endpoint").annotate(answers=current)


def _told(contestant: Any) -> Any:
    author = getattr(contestant, "author", None)
    own = ("slug", "name", "kind", "family", "organisation", "licence")
    return StudyModelOut(
        **{name: getattr(contestant, name) for name in own},
        retired=contestant.retired_at is not None,
        answers=contestant.answers,
        endpoint=author and _endpoint(author),
    )


def _endpoint(author: Author) -> Any:
    asked = author.endpoint
    return EndpointOut(
        **{name: getattr(author, name) for name in AuthorForm.Meta.fields},
        **{name: getattr(asked, name) for name in OF_ENDPOINT},
        price=ModelPriceOut.of(price_of(asked.model, asked.base_url)),
        problem=missing_key(asked),
    )


def form_of(study: Study, given: Mapping[str, Any], author: Author | None = None) -> AuthorForm:
    """The form of the page, filled in and valid. Raises FormError."""
    blank = AuthorForm(study=study, instance=author)
    return valid(AuthorForm(filled(blank, given), study=study, instance=author))


@router.get("/{slug}/models/", response={200: list[StudyModelOut], **REFUSALS}, summary="List models")  # type: ignore[valid-type]
def list_models(request: HttpRequest, slug: Slug) -> Any:
    """The models of a study, with the endpoints they are asked at."""
    study = require_staff_of(request, slug)
    return [_told(contestant) for contestant in _counted(study.contestants.all()).order_by("name")]


@router.post(
    "/{slug}/models/", response={201: StudyModelOut, **REFUSALS}, summary="Add a model that can be asked"
)
def create_model_endpoint(request: HttpRequest, slug: Slug, given: ModelIn) -> Status[object]:  # type: ignore[valid-type]
    """Say how a model of the study is asked; it is added if its name is new. Nothing is asked yet."""
    study, by = require_staff_of(request, slug), account_of(request)
    return configured(lambda: told(form_of(study, given_by(given)).keep(by).contestant), 201)


@router.patch(
    "/{slug}/models/{contestant}/", response={200: StudyModelOut, **REFUSALS}, summary="Change a model"
)
def change_model_endpoint(
    request: HttpRequest,
    slug: Slug,
    contestant: Annotated[Name, Field(max_length=120)],
    given: ModelChangesIn,  # type: ignore[valid-type]
) -> Status[object]:
    """Change how a model is asked."""
    study, by = require_staff_of(request, slug), account_of(request)

    def changed() -> Any:
        known = Author.objects.select_related("contestant__study", "endpoint")
        author = known.filter(contestant__study=study, contestant__slug=contestant).first()
        if author is None:
            raise MissingError(f'No model "{contestant}" of the study can be asked.', "contestant")
        return told(form_of(study, given_by(given), author).keep(by).contestant)

    return configured(changed)
