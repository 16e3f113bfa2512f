"""API v1: its NinjaAPI, error replies and routes. Routers of other apps are named as strings."""

from functools import cached_property, partial
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path, re_path
from django.views.decorators.csrf import csrf_exempt
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.openapi.docs import Swagger
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation

from arena.api.auth import BearerAuth, OpenAuth, Scope
from arena.api.http import JSONParser, UnreadableBodyError, without_others
from arena.api.idempotency import METHODS, PARAMETER, SCOPES, idempotent
from arena.api.schemas import first_wrong


class API(NinjaAPI):
    def get_openapi_operation_id(self, operation: Operation) -> str:
        """The view's name, so that clients made from the document survive when a view's module moves."""
        return operation.view_func.__name__

    def get_openapi_schema(self, **given: Any) -> OpenAPISchema:
        """Made once: it takes a quarter of a second, and anybody may ask for it."""
        return self._document

    @cached_property
    def _document(self) -> OpenAPISchema:
        made = super().get_openapi_schema()
        keeps = {
            operation.view_func.__name__
            for router in self._get_bound_routers()
            for view in router.path_operations.values()
            for operation in view.operations
            for auth in operation.auth_callbacks
            if getattr(auth, "scope", "") in SCOPES and METHODS & {*operation.methods}
        }
        for methods in made["paths"].values():
            for operation in methods.values():
                if operation["operationId"] in keeps:
                    operation.setdefault("parameters", []).append(PARAMETER)
        return made


api = API(
    title="Likert Arena",
    version="1",
    description=(
        "Compare, score and check answers as a person or a judge, set up and publish studies, start and "
        "watch runs of judges and of models that write as an operator, and read published numbers. Reading "
        "public studies needs no token. Every other request needs a bearer token with the scope of its "
        "operation: rate, operate, runs or read."
    ),
    docs=Swagger({"defaultModelsExpandDepth": -1}),
    parser=JSONParser(),
    urls_namespace="api-v1",
)
api.add_decorator(partial(idempotent, api))
api.add_decorator(without_others)
RATE, RUNS, READ = BearerAuth(Scope.RATE), BearerAuth(Scope.RUNS), OpenAuth(Scope.READ)
OPERATE = BearerAuth(Scope.OPERATE)
api.add_router("/assignments", "judging.remote.api.router", auth=RATE)
api.add_router("/comparisons", "arena.api.views.comparisons", auth=RATE)
api.add_router("/scores", "arena.api.views.scores", auth=RATE)
api.add_router("/answers", "arena.api.views.answers", auth=RATE)
api.add_router("/judges", "judging.remote.api.judges", auth=RATE)
api.add_router("/judges", "judging.runs.judges_api.router", auth=OPERATE)
api.add_router("/judge-runs", "judging.runs.api.router", auth=RUNS)
api.add_router("/writing-runs", "judging.writing.api.router", auth=RUNS)
api.add_router("/submissions", "judging.submissions.api.router", auth=RUNS)
api.add_router("/adversarial", "leaderboard.adversarial.api.router", auth=RUNS)
api.add_router("/studies", "arena.studies.api.router", auth=OPERATE)
api.add_router("/studies", "arena.studies.imports_api.router", auth=OPERATE)
api.add_router("/studies", "arena.studies.people_api.router", auth=OPERATE)
api.add_router("/studies", "judging.writing.models_api.router", auth=OPERATE)
api.add_router("/studies", "leaderboard.standings.api.studies", auth=READ)
api.add_router("/studies", "leaderboard.anchoring.api.studies", auth=READ)
api.add_router("/studies", "leaderboard.planning.api.studies", auth=READ)
api.add_router("/studies", "leaderboard.head_to_head.api.studies", auth=READ)
api.add_router("/studies", "leaderboard.trust.api.studies", auth=READ)
api.add_router("/studies", "leaderboard.answers.requirements.api.studies", auth=READ)
api.add_router("/studies", "leaderboard.answers.scores.api.studies", auth=READ)
api.add_router("/studies", "leaderboard.answers.features.api.studies", auth=READ)
api.add_router("/studies", "leaderboard.results.api.studies", auth=READ)
api.add_router("/studies", "leaderboard.releases.api.studies", auth=READ)
api.add_router("/studies", "leaderboard.battles.api.studies", auth=READ)
api.add_router("/snapshots", "leaderboard.standings.api.snapshots", auth=READ)
api.add_router("/snapshots", "leaderboard.results.api.snapshots", auth=READ)


@api.exception_handler(ValidationError)
def invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    return api.create_response(request, first_wrong(error.errors), status=422)


@api.exception_handler(AuthenticationError)
def unknown(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    detail = "Send the header Authorization: Bearer TOKEN, with a token that is in use."
    response = api.create_response(request, {"detail": detail, "field": None}, status=401)
    response["WWW-Authenticate"] = "Bearer"
    return response


@api.exception_handler(HttpError)
def refused(request: HttpRequest, error: HttpError) -> HttpResponse:
    unreadable = error.__cause__
    status = unreadable.status if isinstance(unreadable, UnreadableBodyError) else error.status_code
    detail = str(unreadable if isinstance(unreadable, UnreadableBodyError) else error)
    return api.create_response(request, {"detail": detail, "field": None}, status=status)


@api.exception_handler(Http404)
def missing(request: HttpRequest, error: Http404) -> HttpResponse:
    return api.create_response(request, {"detail": "Nothing is here.", "field": None}, status=404)


@api.exception_handler(RequestDataTooBig)
def too_big(request: HttpRequest, error: RequestDataTooBig) -> HttpResponse:
    limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    detail = f"The body of a request may have at most {limit} bytes."
    return api.create_response(request, {"detail": detail, "field": None}, status=413)


@csrf_exempt
def nowhere(request: HttpRequest) -> HttpResponse:
    """404 for addresses that the API does not have."""
    slash = "" if request.path.endswith("/") else "; mind the slash at its end"
    detail = f"The API has no address {request.path[:200]}{slash}."
    return api.create_response(request, {"detail": detail, "field": None}, status=404)


urlpatterns = [path("", api.urls), re_path("", nowhere)]
