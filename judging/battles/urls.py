from django.urls import path

from judging.battles import views

urlpatterns = [
    path("<slug:slug>/", views.battle, name="battle"),
    path("<slug:slug>/state/", views.state, name="battle-state"),
    path("<slug:slug>/start/", views.start, name="battle-start"),
    path("<slug:slug>/more/", views.more, name="battle-more"),
    path("<slug:slug>/vote/", views.vote, name="battle-vote"),
    path("<slug:slug>/why/", views.why, name="battle-why"),
    path("<slug:slug>/end/", views.end, name="battle-end"),
    path("<slug:slug>/stop/", views.stop, name="battle-stop"),
    path("<slug:slug>/leave/", views.leave, name="battle-leave"),
    path("<slug:slug>/remove/", views.remove, name="battle-remove"),
]
