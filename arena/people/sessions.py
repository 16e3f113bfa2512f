"""Reading sessions, which every page of a signed-in person does, and ending all of an account."""

from typing import Any, Final

from django.contrib.auth import get_user_model
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.db.models.signals import post_save
from django.utils import timezone

from arena.models.compiled import Compiled, given

CHUNK: Final = 500

_SESSION: Final = Compiled(
    lambda: Session.objects.filter(session_key=given("key"), expire_date__gt=given("now"))
)


class SessionStore(db.SessionStore):
    def _get_session_from_db(self) -> Session | None:
        for found in _SESSION(key=self.session_key, now=timezone.now()):
            return found
        self._session_key = None
        return None


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
