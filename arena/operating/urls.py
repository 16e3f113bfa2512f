"""The operators' pages: the studies one runs, and the pages of each."""

from django.urls import path

from arena.operating import views

urlpatterns = [
    path("", views.studies, name="operate"),
]
