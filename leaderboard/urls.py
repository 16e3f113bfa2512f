"""Addresses of the public pages. ``name`` is a panel of the board, see leaderboard.board."""

from django.urls import path

from leaderboard import downloads, views

urlpatterns = [
    path("", views.home, name="home"),
    path("methodology/", views.methodology, name="methodology"),
    path("studies/<slug:slug>/", views.study, name="study"),
    path("studies/<slug:slug>/status/", views.status, name="study-status"),
    path("studies/<slug:slug>/export/", downloads.page, name="study-export"),
    path("studies/<slug:slug>/export/file/", downloads.download, name="study-export-file"),
    path("studies/<slug:slug>/standings.json", views.standings_json, name="board-json"),
    path("studies/<slug:slug>/tables/<slug:name>.csv", views.table_csv, name="board-csv"),
    path("studies/<slug:slug>/tables/<slug:name>/", views.table, name="board-table"),
]
