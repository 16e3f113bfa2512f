"""Ending all sessions of an account."""

from typing import Any, Final

from django.contrib.auth import get_user_model
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.db.models.signals import post_save

CHUNK: Final = 500


def connect() -> None:
    post_save.connect(_end_if_closed, sender=get_user_model(), dispatch_uid="arena.people.sessions")


def _end_if_closed(instance: Any, **_: Any) -> None:
    """Otherwise they would work again once the account is reopened."""
    if not instance.is_active:
        end_sessions(instance)


def end_sessions(user: Any) -> None:
    """Delete the account's sessions, which name it only inside their signed data."""
    store = SessionStore()
    own = [
        session.session_key
        for session in Session.objects.only("session_key", "session_data").iterator(CHUNK)
        if store.decode(session.session_data).get("_auth_user_id") == str(user.pk)
    ]
    for start in range(0, len(own), CHUNK):
        Session.objects.filter(session_key__in=own[start : start + CHUNK]).delete()
