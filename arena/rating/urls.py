from django.urls import path

from arena.rating import pages, training_pages, trying

urlpatterns = [
    path("account/token/", pages.token, name="token"),
    path("try/", trying.start, name="try"),
    path("try/<int:pair>/<str:order>/", trying.pair, name="try-pair"),
    path("rate/", pages.studies, name="rate"),
    path("rate/<slug:slug>/", pages.rate, name="rate-study"),
    path("rate/<slug:slug>/guidelines/", pages.guidelines, name="guidelines"),
    path("rate/<slug:slug>/training/", training_pages.overview, name="training"),
    path("rate/<slug:slug>/training/try/<int:number>/", training_pages.attempt, name="training-try"),
    path("rate/<slug:slug>/training/<int:attempt>/<int:number>/", training_pages.pair, name="training-pair"),
    path("rate/<slug:slug>/next/", pages.ahead, name="ahead"),
    path("rate/<slug:slug>/skip/", pages.skip, name="skip"),
    path("rate/<slug:slug>/flag/", pages.flag, name="flag"),
    path("rate/<slug:slug>/undo/", pages.undo, name="undo"),
]
