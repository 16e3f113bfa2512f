"""Judges that are asked for JSON: every reply that follows its schema is read, and paid once."""

import json
from decimal import Decimal
from typing import Any

import pytest

from arena.models import Comparison
from judging.models import JudgeCall
from judging.runs.trial import try_out
from tests.factories import make_judge, make_price, make_small_study, make_user
from tests.judging.elsewhere import planned
from tests.judging.endpoints.server import Answer
from tests.judging.endpoints.test_adapting import refusal

FORMS = {
    "likert": (8, {"rating": 7}, 7),
    "binary": (2, {"verdict": "B"}, 2),
    "scores": (3, {"A": 4, "B": 9}, 3),
    "grades": (5, {"verdict": "A>B"}, 2),
    "letters": (3, {"verdict": "C"}, 2),
}


def follows(body: dict[str, Any], said: dict[str, Any]) -> Answer:
    """An endpoint that takes schemas, and fills in what this one requires."""
    schema = body["response_format"]["json_schema"]["schema"]
    explained = {"explanation": "Because."} if "explanation" in schema["required"] else {}
    assert set(schema["required"]) == {*explained, *said}
    return Answer(json.dumps({**explained, **said}), tokens=(10, 5))


@pytest.mark.parametrize("form", FORMS)
def test_every_reply_in_json_is_a_rating(arena: Any, model: Any, drain: Any, form: str) -> None:
    points, said, rating = FORMS[form]
    model.script = lambda body: follows(body, said)
    make_price()
    protocol = "published" if form == "letters" else "likert"
    judge = make_judge(base_url=model.url, replies="json", form=form, points=points, protocol=protocol)
    run = planned(judge, make_small_study(prompts=3, contestants=2), budget=Decimal(1))
    drain()
    run.refresh_from_db()
    assert run.state == "finished"
    assert [row.rating for row in Comparison.objects.all()] == [rating] * 3
    assert JudgeCall.objects.count() == len(model.requests) == 3
    assert run.purse.spent == 3 * Decimal(10 * 2 + 5 * 8) / 1_000_000
    assert all("JSON" in call.messages[-1]["content"] for call in JudgeCall.objects.all())


def test_a_test_of_the_connection_finds_out_how_to_ask(arena: Any, model: Any) -> None:
    def script(body: dict[str, Any]) -> Answer:
        if body.get("response_format", {}).get("type") == "json_schema":
            return refusal("json_schema is not supported")
        return Answer(json.dumps({"rating": 1}), tokens=(10, 5))

    model.script = script
    judge = make_judge(base_url=model.url, replies="json")
    trial = try_out(judge, None, make_user(is_staff=True, is_superuser=True))
    assert trial.verdict
    assert trial.verdict.rating == 1
    assert any("JSON mode" in habit for habit in trial.habits)
