from django.urls import path

from judging.battles import categories_page, operating, publishing

urlpatterns = [
    path("operate/<slug:slug>/battles/", operating.settings, name="operate-battles"),
    path("operate/<slug:slug>/battles/prompts/", publishing.prompts, name="operate-battles-prompts"),
    path("operate/<slug:slug>/battles/categories/", categories_page.page, name="operate-battles-categories"),
    path("operate/<slug:slug>/battles/<int:battle>/remove/", operating.remove, name="operate-battle-remove"),
]
