"""The addresses. Other apps are named as strings only."""

from django.contrib import admin
from django.urls import include, path

from arena.monitoring.health import healthz, readyz
from arena.monitoring.metrics import metrics
from arena.people import joining
from arena.people.accounts import admin_sign_in

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("metrics", metrics, name="metrics"),
    path("join/<str:token>/", joining.join, name="join"),
    path("studies/<slug:slug>/sign-up/", joining.sign_up, name="sign-up"),
    path("", include("arena.rating.urls")),
    path("", include("leaderboard.urls")),
    path("account/", include("arena.people.urls")),
    path("operate/", include("arena.studies.urls")),
    path("", include("judging.submissions.urls")),
    path("battle/", include("judging.battles.urls")),
    path("", include("judging.battles.operating_urls")),
    path("judging/", include("judging.urls")),
    path("api/v1/", include("arena.api.urls")),
    path("admin/login/", admin_sign_in),
    path("admin/", admin.site.urls),
]
