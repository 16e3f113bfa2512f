"""Correcting contestants, prompts and known answers, on record."""

import pytest
from django.test import Client
from django.urls import reverse

from arena.models import Contestant, Pair, Prompt, Study
from tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def contestant(study: Study) -> Contestant:
    return make.make_contestant(study=study, name="Alpaca", slug="alpaca")


def page_of(contestant: Contestant) -> str:
    return reverse("operate-contestant", args=["rivers", contestant.pk])


FORM = {"name": "Alpaca", "kind": "model", "generation": "{}"}


def notes(study: Study) -> list[str]:
    return sorted(study.events.values_list("note", flat=True))


def test_a_contestant_is_corrected_on_record(study: Study, operator: Client, contestant: Contestant) -> None:
    before = study.revision
    said = {"family": "Llama", "benchmarks": "MMLU: 69.8\n\nARC (easy): 70", "generation": '{"top_p": 0.9}'}
    for _ in range(2):
        response = operator.post(page_of(contestant), {**FORM, **said})
        assert response["Location"] == "/operate/rivers/contestants/"
    contestant.refresh_from_db()
    assert contestant.benchmarks == {"MMLU": 69.8, "ARC (easy)": 70}
    assert contestant.generation == {"top_p": 0.9}
    assert notes(study) == [
        "Model Alpaca, External benchmark scores: MMLU 69.8, ARC (easy) 70. Before: none.",
        "Model Alpaca, Family: Llama. Before: none.",
        "Model Alpaca, Generation parameters: top_p 0.9. Before: none.",
    ]
    study.refresh_from_db()
    assert study.revision == before + 1
    assert "MMLU: 69.8\nARC (easy): 70</textarea>" in operator.get(page_of(contestant)).content.decode()
    assert operator.post(page_of(contestant), {**FORM, "benchmarks": ""}).status_code == 302
    contestant.refresh_from_db()
    assert contestant.benchmarks == {}


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("name", "Contestant", "This name is taken."),
        ("family", "LL\u202eaMA", "This text contains the invisible character U+202E"),
        ("benchmarks", "MMLU 69.8", "“MMLU 69.8” is not a name, a colon and a number."),
        ("benchmarks", "MMLU: many", "“MMLU: many” is not a name"),
        ("benchmarks", "MMLU: true", "expected a number"),
        ("benchmarks", "MMLU: 1e15", "a score lies between"),
        ("benchmarks", ": 1", "a benchmark needs a name"),
        ("benchmarks", "x" * 61 + ": 1", "a name of 61 characters; at most 60 fit"),
        ("benchmarks", "A: 1\nA: 2", "Name each benchmark once."),
        ("benchmarks", "\n".join(f"b{n}: 1" for n in range(21)), "21 benchmarks; at most 20 fit"),
        ("generation", "[1]", "Give names and values"),
        *(
            ("generation", f'{{"top_p": {value}}}', "")
            for value in ("NaN", "1e999", '"\\u0000"', '"\\ud83d"', "9" * 5_000, "[" * 100_000)
        ),
    ],
)
def test_what_cannot_be_is_refused_with_its_reason(
    study: Study, operator: Client, contestant: Contestant, field: str, value: str, reason: str
) -> None:
    make.make_contestant(study=study, name="Contestant")
    response = operator.post(page_of(contestant), {**FORM, field: value})
    assert response.status_code == 422
    assert list(response.context["form"].errors) == [field]
    assert reason in str(response.context["form"].errors)
    contestant.refresh_from_db()
    assert (contestant.name, contestant.benchmarks, contestant.generation) == ("Alpaca", {}, {})
    assert not study.events.exists()


def test_a_contestant_retires_and_comes_back(study: Study, operator: Client, contestant: Contestant) -> None:
    for word in ("retire", "retire", "reinstate", "reinstate"):
        operator.post(page_of(contestant), {word: "1"})
        contestant.refresh_from_db()
        assert bool(contestant.retired_at) == (word == "retire")
    assert [note.partition(":")[0] for note in notes(study)] == ["Model Alpaca, Retired"] * 2
    study.refresh_from_db()
    assert study.revision == 2


@pytest.mark.parametrize("kind", ["contestant", "prompt"])
def test_what_was_never_paired_is_removed_with_its_answers(study: Study, operator: Client, kind: str) -> None:
    prompt, contestant = make.make_prompt(study=study), make.make_contestant(study=study)
    answer = make.make_completion(prompt=prompt, contestant=contestant)
    row = prompt if kind == "prompt" else contestant
    page = reverse(f"operate-{kind}", args=["rivers", row.pk])
    assert "because nobody has been shown them" in operator.get(page).content.decode()
    operator.post(page, {"remove": "1"})
    assert not type(row).objects.filter(pk=row.pk).exists()
    assert not type(answer).objects.filter(pk=answer.pk).exists()
    assert notes(study) == [f"{'Prompt' if kind == 'prompt' else 'Model'} {row}, removed, with 1 answer."]


@pytest.mark.parametrize("kind", ["contestant", "prompt"])
@pytest.mark.parametrize("seen", ["compared", "scored", "offered"])
def test_what_raters_have_seen_stays(study: Study, operator: Client, kind: str, seen: str) -> None:
    pair = make.make_pair(prompt=make.make_prompt(study=study))
    if seen == "compared":
        make.make_comparison(pair=pair)
        completion = pair.first
    else:
        completion = make.make_completion(prompt=pair.prompt)
        Pair.objects.filter(pk=pair.pk).delete()
        if seen == "scored":
            make.make_score(completion=completion)
        else:
            make.make_assignment(kind="score", completion=completion)
    row = completion.prompt if kind == "prompt" else completion.contestant
    page = reverse(f"operate-{kind}", args=["rivers", row.pk])
    assert "You cannot remove it" in operator.get(page).content.decode()
    said = operator.post(page, {"remove": "1"}, follow=True).content.decode()
    assert "some of its answers have been shown to raters" in said
    row.refresh_from_db()
    assert not study.events.exists()


def test_a_prompt_gets_another_category(study: Study, operator: Client) -> None:
    prompt = Prompt.objects.filter(study=study).first()
    before = prompt.category or "none"
    page = reverse("operate-prompt", args=["rivers", prompt.pk])
    assert set(operator.post(page, {"category": "n\u202eew", "domain": ""}).context["form"].errors) == {
        "category"
    }
    operator.post(page, {"category": "new", "domain": ""})
    prompt.refresh_from_db()
    assert prompt.category == "new"
    assert notes(study) == [f"Prompt {prompt}, Category: new. Before: {before}."]


def test_a_known_answer_is_corrected_and_none_is_added(study: Study, operator: Client) -> None:
    unknown = make.make_pair(prompt=study.prompts.last())
    assert operator.get(reverse("operate-pair", args=["rivers", unknown.pk])).status_code == 404
    pair = make.make_pair(prompt=study.prompts.first(), gold="first", gold_source="a key", use="check")
    page = reverse("operate-pair", args=["rivers", pair.pk])
    assert page in operator.get(reverse("operate-pairs", args=["rivers"])).content.decode()
    for gold, source, wrong in (("", "", {"gold", "gold_source"}), ("first", "a\u202ekey", {"gold_source"})):
        refused = operator.post(page, {"gold": gold, "gold_source": source})
        assert set(refused.context["form"].errors) == wrong
    operator.post(page, {"gold": "second", "gold_source": "a key", "explanation": "B is right."})
    pair.refresh_from_db()
    assert (pair.gold, pair.explanation, pair.use) == ("second", "B is right.", "check")
    assert notes(study)[1].endswith("Right answer: The second is better. Before: The first is better.")
    assert Pair.objects.exclude(gold="").count() == 1


def test_a_study_goes_with_all_it_holds(study: Study, signed_in: object) -> None:
    comparison = make.make_comparison(pair=make.make_pair(prompt=study.prompts.first()))
    assignment = make.make_assignment(kind="check", completion=comparison.pair.first)
    make.make_answer(completion=comparison.pair.first, assignment=assignment)
    client: Client = signed_in("staff")  # type: ignore[operator]
    page = reverse("operate-delete", args=["rivers"])
    assert client.post(page, {"typed": "rivers"}).status_code == 422
    assert Study.objects.exists()
    assert client.post(page, {"typed": "Rivers"})["Location"] == "/operate/"
    assert not Study.objects.exists()
    assert not Contestant.objects.exists()
