"""Commands that make what the API makes, by the same services."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from arena.models import Study
from judging.models import Author, Judge

pytestmark = pytest.mark.django_db
ENDPOINT = ("--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--api-key-env", "SOME_API_KEY")


def run(*words: str) -> Any:
    told = StringIO()
    call_command(*words, "--json", stdout=told)
    return json.loads(told.getvalue())


def test_a_study_with_a_model_and_a_judge() -> None:
    made = run("create_study", "Summer", "--goal", "20", "--tasks", "score", "check", "--reveal-names")
    assert (made["slug"], made["state"]) == ("summer", "draft")
    study = Study.objects.get()
    assert (study.goal, study.tasks, study.reveal_names) == (20, ["score", "check"], True)
    model = run("add_model", "summer", "Alpha", *ENDPOINT, "--max-tokens", "9", "--temperature", "none")
    assert (model["slug"], model["endpoint"]["max_tokens"]) == ("alpha", 9)
    assert Author.objects.get().temperature is None
    judge = run(
        "add_judge",
        "Judy",
        *ENDPOINT,
        "--options",
        '{"top_p": 0.5}',
        "--prompt-price",
        "1",
        "--reply-price",
        "2",
    )
    assert (judge["slug"], judge["options"], judge["price"]["completion"]) == (
        "judy",
        {"top_p": 0.5},
        "2.000000",
    )
    assert Judge.objects.get().endpoint == Author.objects.get().endpoint


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("create_study", "S", "--goal", "0"), "--goal: Input should be greater than or equal to 1"),
        (("create_study", "S", "--goal", "many"), "--goal: “many” is no JSON integer."),
        (("create_study", "S", "--slug", "-"), "--slug: "),
        (("create_study", "S", "--visibility", "public"), "--visibility: The study is a draft"),
        (("add_model", "nowhere", "S", *ENDPOINT), 'Unknown study "nowhere".'),
        (("add_judge", "J", "--model", "m", "--base-url", "nowhere"), "Enter an address like"),
        (("add_judge", "J", *ENDPOINT[:4], "--api-key-env", "sk-1"), "--api-key-env: Enter the name of an"),
    ],
)
def test_what_is_refused(words: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(CommandError, match=sentence.replace("(", "\\(")):
        run(*words)
    assert not Study.objects.exists()
    assert not Judge.objects.exists()
