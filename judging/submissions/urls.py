from django.urls import path

from judging.submissions import views

urlpatterns = [
    path("studies/<slug:slug>/evaluate/", views.propose, name="submit-model"),
    path("operate/<slug:slug>/proposals/", views.submissions, name="operate-submissions"),
    path("operate/<slug:slug>/proposals/<int:number>/", views.submission, name="operate-submission"),
]
