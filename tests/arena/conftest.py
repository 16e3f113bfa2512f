"""A study with people in every role, and clients signed in as each."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from django.contrib.auth.models import AbstractBaseUser
from django.dispatch import Signal
from django.forms import MultiWidget
from django.test import Client

from arena.models import Membership, Role, Study
from arena.studies.forms import TickBox
from tests import factories as make

VISITORS = ("anonymous", "stranger", "viewer", "rater", "operator", "staff")


@pytest.fixture
def study(db: None) -> Study:
    return make.make_small_study(
        prompts=3, contestants=3, name="Rivers", slug="rivers", guidelines="# Be fair"
    )


@pytest.fixture
def users(study: Study) -> dict[str, AbstractBaseUser]:
    """Everybody who may come by, by what they are in the study."""
    found = {"stranger": make.make_user(username="stranger"), "staff": make.make_user(is_staff=True)}
    for role in Role:
        rater = make.make_member(study, user=make.make_user(username=f"the-{role}"), name=f"The {role}")
        Membership.objects.filter(rater=rater).update(role=role)
        found[role] = rater.user
    return found


@pytest.fixture
def signed_in(users: dict[str, AbstractBaseUser]) -> Callable[[str], Client]:
    """A browser of one of VISITORS."""

    def client_of(visitor: str) -> Client:
        client = Client()
        if visitor != "anonymous":
            client.force_login(users[visitor])  # type: ignore[arg-type]
        return client

    return client_of


@pytest.fixture
def operator(signed_in: Callable[[str], Client]) -> Client:
    return signed_in("operator")


@pytest.fixture
def hear() -> Iterator[Callable[[Signal], list[dict[str, Any]]]]:
    """Listen to a signal until the test ends: the list it fills, with the arguments of each time."""
    with ExitStack() as stack:

        def listen(signal: Signal) -> list[dict[str, Any]]:
            heard: list[dict[str, Any]] = []

            def listener(**told: Any) -> None:
                heard.append(told)

            signal.connect(listener, weak=False)
            stack.callback(signal.disconnect, listener)
            return heard

        yield listen


def filled(response: Any, **changed: Any) -> dict[str, Any]:
    """What a browser sends of the form that a page shows, with these fields typed or chosen anew."""
    form = response.context["form"]
    data = {"seen": form.seen} if getattr(form, "seen", "") else {}
    for bound in form:
        widget = bound.field.widget.get_context(bound.html_name, bound.value(), {})["widget"]
        several = isinstance(bound.field.widget, MultiWidget)
        for part in widget["subwidgets"] if several else [widget]:
            value = part["value"][0] if isinstance(part["value"], list) else part["value"]
            if part.get("type") != "checkbox":
                data[part["name"]] = "" if value is None else value
            elif part["attrs"].get("checked"):
                data[part["name"]] = value or "on"
            elif isinstance(bound.field.widget, TickBox):
                data[part["name"]] = ""
    return data | changed


def save(client: Client, page: str, **changed: Any) -> Any:
    """Open a page with a form, type or choose these fields anew, and send it."""
    return client.post(page, filled(client.get(page), **changed))


def sent(response: Any) -> str:
    """The text of a file that is written while it is sent."""
    return b"".join(response.streaming_content).decode("utf-8-sig")
