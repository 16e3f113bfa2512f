"""Configuring and testing judges over the API: the rules of the operators' pages."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Annotated, Any

from django.core.files.base import ContentFile
from django.http import HttpRequest
from django.utils.datastructures import MultiValueDict
from ninja import Field, Router, Schema, Status

from arena.api.auth import account_of, require_operator
from arena.api.columns import body_of, columns_of, given_by, reply_of
from arena.api.idempotency import Keeping, keeping
from arena.api.schemas import ERRORS, ErrorOut, Money, Name
from arena.models import Rater
from arena.pages.filled import FormError, filled, valid
from judging.judges.rights import NotAllowedError
from judging.judges.services import OF_ENDPOINT, SETTINGS, JudgeError, MissingError, missing_key, price_of
from judging.judges.views import UNCHOSEN, JudgeForm
from judging.models import Endpoint, Judge, Price
from judging.protocols.catalogue import PROTOCOLS
from judging.protocols.protocol import Task
from judging.runs.api import REFUSALS, answer
from judging.runs.trial import Trial, tested

router = Router(tags=["judges"])
Slug = Annotated[Name, Field(max_length=120)]
Amount = Annotated[Decimal, Field(max_digits=12, decimal_places=6, ge=0, allow_inf_nan=False)]
ASKED = [name for name in OF_ENDPOINT if name != "vocabulary"]
COLUMNS = [
    *columns_of(Judge, SETTINGS),
    *columns_of(Endpoint, ASKED),
]
PRICES: Mapping[str, Any] = {
    "prompt_price": (
        Amount | None,
        Field(None, description="Of a million tokens; null keeps the known one."),
    ),
    "reply_price": (Amount | None, Field(None, description="Of a million tokens.")),
    "currency": (Annotated[Name, Field(pattern="^[A-Z]{3}$")], Field("USD", description="Of the prices.")),
}
OF_JUDGE = {**PRICES, "name": (Annotated[Name, Field(max_length=200)], ...)}
JudgeIn = body_of(
    "JudgeIn",
    "A judge. api_key_env names the environment variable with the key, never the key.",
    COLUMNS,
    **OF_JUDGE,
    slug=(Annotated[Name, Field(max_length=120)], Field("", description="Without it, made of the name.")),
)
JudgeChangesIn = body_of(
    "JudgeChangesIn",
    "What to change of a judge; the rest stays.",
    COLUMNS,
    **OF_JUDGE
    | {"name": (Annotated[Name, Field(max_length=200)], Field(None, description="On leaderboards."))},
)
example = {"name": "My judge", "model": "gpt-4o", "base_url": "https://api.example.com/v1"}
JudgeIn.model_config["json_schema_extra"] = {"examples": [{**example, "api_key_env": "OPENAI_API_KEY"}]}
JudgeChangesIn.model_config["json_schema_extra"] = {"examples": [{"max_tokens": 2048}]}
for body in (JudgeIn, JudgeChangesIn):
    body.model_rebuild(force=True)


class ModelPriceOut(Schema):
    """What a million tokens of a model cost at its address."""

    prompt: Money
    completion: Money
    currency: str

    @classmethod
    def of(cls, price: Price | None) -> "ModelPriceOut | None":
        if price is None:
            return None
        return cls(prompt=price.prompt, completion=price.completion, currency=price.currency)


_JudgeOut = reply_of(
    "JudgeSettingsOut",
    "A judge as it is configured.",
    COLUMNS,
    slug=(str, ...),
    name=(str, ...),
    task=(str, Field(..., description="compare, score or check.")),
    price=(ModelPriceOut | None, ...),
    problem=(str, Field(..., description="Why its key cannot be read here; empty if it can.")),
)


class TrialOut(Schema):
    """What came of one call about built-in texts."""

    problem: str = Field(description="Why there is no reply; empty if there is one.")
    reply: str
    verdict: int | None
    read: str = Field(description="The verdict in words.")
    remedy: str = Field(description="What helps where no verdict could be read.")
    logprobs: str = Field(description="What is wrong with the log-probabilities that were asked for.")
    odd: bool = Field(description="It prefers the bad answer, or thinks badly of the good one.")
    calls: int = Field(description="That the protocol makes about a pair or answer, at most.")
    seconds: float
    cost: Money | None

    @classmethod
    def of(cls, trial: Trial) -> "TrialOut":
        same = ("problem", "read", "remedy", "logprobs", "calls", "seconds", "cost")
        return cls(
            **{name: getattr(trial, name) for name in same},
            reply=trial.reply.text if trial.reply else "",
            verdict=trial.verdict.rating if trial.verdict else None,
            odd=trial.is_odd,
        )


def told(judge: Judge) -> Any:
    asked = {name: getattr(judge.asks, name) for name in OF_ENDPOINT}
    return _JudgeOut(
        **{name: getattr(judge, name) for name in (*SETTINGS, "slug", "name", "task")} | asked,
        price=ModelPriceOut.of(price_of(judge.model, judge.base_url)) if judge.endpoint else None,
        problem=missing_key(judge.endpoint),
    )


def _judge(slug: str) -> Judge:
    found = Judge.objects.whole().filter(rater__slug=slug, rater__kind=Rater.Kind.JUDGE).first()
    if found is None:
        raise MissingError(f'No judge has the short name "{slug}".', "slug")
    return found


def form_of(given: Mapping[str, Any], judge: Judge | None = None) -> JudgeForm:
    """The form of the page, filled in and valid. Raises FormError."""
    plain = {name: value for name, value in given.items() if name != "wording"}
    protocol = PROTOCOLS.get(given.get("protocol", ""))
    if protocol and "form" not in given and protocol.task is Task.COMPARE:
        plain["form"] = UNCHOSEN if UNCHOSEN in protocol.forms else protocol.forms[0]
    blank = JudgeForm(instance=judge)
    if "wording" in given and "own_wording" in blank.fields:
        plain["own_wording"] = []
    texts = [
        ContentFile(text.encode(), f"{name.replace('/', '__')}.txt")
        for name, text in given.get("wording", {}).items()
    ]
    return valid(JudgeForm(filled(blank, plain), MultiValueDict({"wording_files": texts}), instance=judge))


def configured(make: Callable[[], object], status: int = 200) -> Status[object]:
    """The reply with what ``make`` returns, or 422 with the field that is refused."""

    def made() -> object:
        try:
            return make()
        except (NotAllowedError, MissingError):
            raise
        except JudgeError as error:
            if error.field:
                raise FormError(error.field, str(error)) from error
            raise

    try:
        return answer(made, "", status)
    except FormError as error:
        return Status(422, ErrorOut(detail=str(error), field=error.field or None))


@router.get("/", response={200: list[_JudgeOut], **ERRORS}, summary="List judges")  # type: ignore[valid-type]
def list_judges(request: HttpRequest) -> Any:
    """All judges that are configured here, by name."""
    require_operator(request)
    return [told(judge) for judge in Judge.objects.whole().order_by("rater__name")]


@router.post("/", response={201: _JudgeOut, **REFUSALS}, summary="Configure a new judge")
def create_judge(request: HttpRequest, given: JudgeIn) -> Status[object]:  # type: ignore[valid-type]
    """Add a judge. Nothing is asked yet. 422 names what no judge can have, 409 says what cannot be here."""
    require_operator(request)
    return configured(lambda: told(form_of(given_by(given)).keep(account_of(request))), 201)


@router.get("/{slug}/settings/", response={200: _JudgeOut, **REFUSALS}, summary="Read a judge's settings")
def show_judge_settings(request: HttpRequest, slug: Slug) -> Status[object]:
    """How a judge is asked, what its model costs, and whether its key is there."""
    require_operator(request)
    return configured(lambda: told(_judge(slug)))


@router.patch("/{slug}/settings/", response={200: _JudgeOut, **REFUSALS}, summary="Change a judge")
def change_judge_settings(request: HttpRequest, slug: Slug, given: JudgeChangesIn) -> Status[object]:  # type: ignore[valid-type]
    """Change these settings. 409 for those that are fixed since the judge has replied."""
    require_operator(request)
    by = account_of(request)
    return configured(lambda: told(form_of(given_by(given), _judge(slug)).keep(by)))


@router.post("/{slug}/test/", response={200: TrialOut, **REFUSALS}, summary="Test a judge")
@keeping(Keeping.CLAIMED)
def test_judge(request: HttpRequest, slug: Slug) -> Status[object]:
    """Ask one question about built-in texts, which costs one call. 409 if it cannot be asked now."""
    require_operator(request)

    def tried() -> TrialOut:
        judge = _judge(slug)
        price = price_of(judge.model, judge.base_url)
        return TrialOut.of(tested(judge, price.prices if price else None, account_of(request)))

    return configured(tried)
