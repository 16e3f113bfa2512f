"""The rater's pages: getting in, and rating."""

from django.contrib.auth import views as auth
from django.urls import path

from arena.people import joining
from arena.rating import studies_views, training_views, views

urlpatterns = [
    path("account/sign-in/", auth.LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("account/sign-out/", auth.LogoutView.as_view(), name="logout"),
    path("account/password/", auth.PasswordChangeView.as_view(), name="password_change"),
    path("account/password/changed/", auth.PasswordChangeDoneView.as_view(), name="password_change_done"),
    path("join/<str:token>/", joining.join, name="join"),
    path("studies/<slug:slug>/sign-up/", joining.sign_up, name="sign-up"),
    path("account/token/", views.token, name="token"),
    path("rate/", studies_views.studies, name="rate"),
    path("rate/<slug:slug>/", views.rate, name="rate-study"),
    path("rate/<slug:slug>/guidelines/", views.guidelines, name="guidelines"),
    path("rate/<slug:slug>/training/", training_views.overview, name="training"),
    path("rate/<slug:slug>/training/try/<int:number>/", training_views.attempt, name="training-try"),
    path("rate/<slug:slug>/training/<int:attempt>/<int:number>/", training_views.pair, name="training-pair"),
    path("rate/<slug:slug>/next/", views.ahead, name="ahead"),
    path("rate/<slug:slug>/skip/", views.skip, name="skip"),
    path("rate/<slug:slug>/flag/", views.flag, name="flag"),
    path("rate/<slug:slug>/undo/", views.undo, name="undo"),
]
