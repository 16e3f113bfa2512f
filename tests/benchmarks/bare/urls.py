"""The arena's own, and one that does nothing."""

from django.http import HttpRequest, HttpResponse
from django.urls import include, path


def bare(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok")


urlpatterns = [path("bare", bare), path("", include("arena.urls"))]
