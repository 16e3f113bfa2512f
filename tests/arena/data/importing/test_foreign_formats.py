"""Files of other projects, from the file to the tables: what names what must find it."""

from pathlib import Path
from typing import Any

import pytest

from arena.data.formats.files import About
from arena.data.formats.reading import digest
from arena.data.importing.import_report import ImportReport
from arena.data.importing.imports import import_files
from arena.models import Answer, Comparison, Completion, Contestant, Pair, Prompt, Rater, Reference, Study
from leaderboard.snapshots.reading import opinions
from tests.arena.data.formats.reading import ROWS, write_lines
from tests.arena.data.importing.records import added, reasons

pytestmark = pytest.mark.django_db

OUTPUT, ANNOTATION, BATTLE = ROWS["output"], ROWS["annotation"], ROWS["battle"]
QUESTION, CHOICES, REVIEW, JUDGMENT = (ROWS[name] for name in ("question", "choices", "review", "judgment"))


def make_item(**overrides: Any) -> dict[str, Any]:
    """A pair of LLMBar; with ``results``, what a judge replied about it."""
    return {**ROWS["labelled"], **overrides}


def make_results(first: str, second: str) -> list[Any]:
    """The results of one item: the winner said in the given and in the swapped order."""
    winners = {"swap = False": first, "swap = True": second}
    return [{order: {"completion": ["x", "stop"], "winner": winner} for order, winner in winners.items()}]


def write(folder: Path, *items: dict[str, Any], into: str = "Natural", name: str = "dataset.jsonl") -> Path:
    (folder / into).mkdir(parents=True, exist_ok=True)
    return write_lines(folder / into, name, *items)


def rows() -> list[tuple[str, int | None, str, str]]:
    """Rater, rating and who was shown first and second, of every comparison."""
    found = []
    for row in Comparison.objects.order_by("pk").select_related("pair", "rater"):
        first, second = row.pair.shown(row.swapped)
        found.append((row.rater.name, row.rating, first.contestant.name, second.contestant.name))
    return found


@pytest.mark.parametrize(
    ("slug", "name", "is_described"),
    [
        ("llmbar", "LLMBar", True),
        ("llmbar-natural", "LLMBar natural", True),
        ("own-pairs", "Own pairs", False),
    ],
)
def test_a_study_named_after_a_data_set_gets_its_name_and_description(
    tmp_path: Path, slug: str, name: str, is_described: bool
) -> None:
    dataset = write(tmp_path, make_item())
    told = make_item(results=make_results("1", "1"))
    replies = write(tmp_path, told, into="Natural/gpt-4", name="CoT.jsonl")
    import_files(slug, [dataset, replies])
    study = Study.objects.get()
    assert (study.name, "arxiv.org/abs/2310.07641" in study.description) == (name, is_described)
    assert study.licence == ("MIT" if is_described else "")


def test_files_of_several_formats_are_no_data_set(tmp_path: Path) -> None:
    dataset = write(tmp_path, make_item())
    outputs = write_lines(tmp_path, "lark.jsonl", OUTPUT)
    report = import_files("llmbar", [dataset, outputs])
    assert reasons(report) == []
    assert (Study.objects.get().name, Study.objects.get().description) == ("Llmbar", "")


def test_alpaca_eval(tmp_path: Path) -> None:
    outputs = write_lines(tmp_path, "lark.jsonl", OUTPUT)
    fresh = {"instruction": "Another.", "output_1": "One.", "output_2": "Two.", "preference": 1.9876543210987}
    annotations = write_lines(tmp_path, "annotations.jsonl", ANNOTATION, {**ANNOTATION, **fresh})
    report = import_files("s", [annotations, outputs])
    assert reasons(report) == []
    assert rows() == [
        ("alpaca_eval_gpt4", 1, "lark-7b", "wren-13b"),
        ("alpaca_eval_gpt4", 3, "lark-7b", "wren-13b"),
    ]
    assert (Prompt.objects.count(), Completion.objects.count(), Pair.objects.count()) == (2, 4, 2)
    assert set(Prompt.objects.values_list("category", flat=True)) == {"koala", ""}
    scores = Comparison.objects.values_list("second_score", flat=True)
    assert list(scores) == [None, 0.9876543210987]
    assert list(Comparison.objects.values_list("expected", flat=True)) == pytest.approx([1, 2.9753086421974])
    assert import_files("s", [annotations, outputs]).written == 0


def test_an_annotation_of_another_text_is_refused(tmp_path: Path) -> None:
    outputs = write_lines(tmp_path, "lark.jsonl", {**OUTPUT, "output": "An owl."})
    report = import_files("s", [outputs, write_lines(tmp_path, "annotations.jsonl", ANNOTATION)])
    (reason,) = reasons(report)
    prompt = digest(ANNOTATION["instruction"])
    assert reason.endswith(
        f'contestant: the study or these files have another text of "lark-7b" to prompt "{prompt}"'
    )
    assert not Study.objects.exists()


ANSWERS = [
    CHOICES | {"answer_id": f"a{number}", "model_id": name}
    for number, name in ((1, "lark-7b"), (2, "wren-13b"))
]


def asked(folder: Path, name: str, *rows: dict[str, Any]) -> list[Path]:
    """The rows as a file, with files of the answers and questions that they name."""
    answers = write_lines(folder, "answer.jsonl", *ANSWERS)
    return [write_lines(folder, name, *rows), answers, write_lines(folder, "question.jsonl", QUESTION)]


def test_reviews_find_the_answers_they_name(tmp_path: Path) -> None:
    unread = {**REVIEW, "review_id": "r2", "score": [-1, -1]}
    files = asked(tmp_path, "review.jsonl", REVIEW, unread)
    assert reasons(import_files("s", files)) == []
    assert rows() == [("gpt-4", 1, "lark-7b", "wren-13b"), ("gpt-4", None, "lark-7b", "wren-13b")]
    assert import_files("s", files).written == 0


def test_two_files_that_name_a_judge_alike_say_the_same_or_are_two_judges(tmp_path: Path) -> None:
    def results(folder: str, winner: str, **changes: Any) -> Path:
        item = make_item(results=make_results(winner, "1"), **changes)
        return write(tmp_path, item, into=f"{folder}/Natural/gpt-4", name="CoT.json")

    one, copy = results("a", "1"), results("copy", "1")
    other_items = results("b", "2", input="Name a duck.")
    together = [one, copy, other_items]
    assert reasons(import_files("s", together)) == []
    assert list(Rater.objects.values_list("slug", flat=True)) == ["gpt-4-cot"]
    assert (Comparison.objects.count(), import_files("s", together).written) == (4, 0)
    other = results("c", "2")
    assert reasons(import_files("t", [one, other])) == [
        f'{other}, line 1: rater: "gpt-4-cot" takes its name from the path, but has another rating in {one}, '
        "line 1; these are two raters: rename a folder or file"
    ]


@pytest.mark.parametrize("text", ["", "\u200b", "\u2800\ufeff\n"])
def test_an_empty_output_is_a_completion(tmp_path: Path, text: str) -> None:
    labels = write(tmp_path, make_item(output_2=text), make_item(input="Name a duck."))
    item = make_item(output_2=text, results=make_results("1", "1"))
    results = write(tmp_path, item, into="Natural/gpt-4")
    report = import_files("s", [labels, results])
    assert (reasons(report), report.counts["completions"].empty) == ([], 1)
    assert [one.turns for one in Completion.objects.filter(is_empty=True)] == [[text]]
    assert (Comparison.objects.count(), Pair.objects.exclude(gold="").count()) == (2, 2)


def test_an_item_in_two_subsets_is_two_prompts(tmp_path: Path) -> None:
    for subset in ("Natural", "Neighbor"):
        write(tmp_path, make_item(), into=subset)
        item = make_item(results=make_results("1", "1"))
        write(tmp_path, item, into=f"{subset}/evaluators/GPT-4/CoT", name="result.json")
    assert reasons(import_files("s", [tmp_path])) == []
    assert list(Prompt.objects.values_list("subset", flat=True)) == ["Natural", "Neighbor"]
    assert set(Comparison.objects.values_list("rater__slug", "pair__prompt__subset")) == {
        ("GPT-4-cot", "Natural"),
        ("GPT-4-cot", "Neighbor"),
    }
    assert Rater.objects.get().facts == {"model": "GPT-4", "protocol": "CoT"}


def test_reviews_of_two_folders_are_not_repeats_of_one_judge(tmp_path: Path) -> None:
    (tmp_path / "claude").mkdir()
    files = asked(tmp_path, "review.jsonl", REVIEW)
    other = write_lines(tmp_path / "claude", "review.jsonl", {**REVIEW, "review_id": "r2"})
    (reason,) = reasons(import_files("s", [*files, other]))
    assert f'{other}, line 1: rater: "gpt-4" takes its name from the path' in reason


@pytest.mark.parametrize("together", [True, False])
def test_reference_answers_are_no_completions(tmp_path: Path, together: bool) -> None:
    questions = write_lines(tmp_path, "question.jsonl", {**QUESTION, "reference": ["Ours.", ""]})
    references = write_lines(tmp_path, "reference.jsonl", {**CHOICES, "model_id": "gpt-4"})
    for files in [[references, questions]] if together else [[questions], [references]]:
        assert reasons(import_files("s", files)) == []
    assert import_files("s", [references, questions]).written == 0
    assert set(Reference.objects.values_list("author", "prompt__turns__0")) == {
        ("gpt-4", "Write a post."),
        ("reference", "Write a post."),
    }
    assert Reference.objects.get(author="gpt-4").turns == ["A post.", "Another."]
    assert not Completion.objects.exists()


def test_judgments_are_of_both_orders(tmp_path: Path) -> None:
    files = asked(tmp_path, "gpt-4_pair.jsonl", JUDGMENT, {**JUDGMENT, "turn": 2})
    assert reasons(import_files("s", files)) == []
    assert rows() == [
        ("gpt-4", 1, "lark-7b", "wren-13b"),
        ("gpt-4", 2, "wren-13b", "lark-7b"),
        ("gpt-4", 1, "lark-7b", "wren-13b"),
        ("gpt-4", 2, "wren-13b", "lark-7b"),
    ]
    assert list(Comparison.objects.order_by("pk").values_list("turn", "repeat")) == [
        *[(1, 0), (1, 0)],
        *[(2, 0), (2, 0)],
    ]
    assert len(opinions(Study.objects.get())) == 4


def test_judgments_do_not_make_models(tmp_path: Path) -> None:
    files = asked(tmp_path, "gpt-4_pair.jsonl", {**JUDGMENT, "model_2": "stork"})
    assert [reason.partition("line ")[2] for reason in reasons(import_files("s", files))] == [
        '1: second: unknown model "stork"; add it or correct its name',
        '1: first: unknown model "stork"; add it or correct its name',
    ]


def test_people_and_models_answer_the_same_instructions(tmp_path: Path) -> None:
    files = [
        write_lines(tmp_path, "lark_predictions.jsonl", ROWS["prediction"]),
        write_lines(tmp_path, "instructions.jsonl", ROWS["instruction"]),
    ]
    report = import_files("s", files)
    assert reasons(report) == []
    assert set(Contestant.objects.values_list("name", "kind")) == {
        ("Human demonstrations", "people"),
        ("lark", "model"),
    }
    assert (Prompt.objects.get().input, Completion.objects.count()) == ("It is what it is.", 2)
    assert report.missing.count == 0


def test_conversations_make_texts_that_can_be_rated(tmp_path: Path) -> None:
    plain = {name: BATTLE[name] for name in ("question_id", "model_a", "model_b", "winner")}
    assert import_files("s", [write_lines(tmp_path, "plain.jsonl", plain)]).applied
    assert not Completion.objects.rateable().exists()
    report = import_files("s", [write_lines(tmp_path, "battles.jsonl", {**BATTLE, "judge": "bo"})])
    assert reasons(report) == []
    assert Completion.objects.rateable().count() == 2
    assert Prompt.objects.get().turns == ["Hi.", "Bye."]
    assert rows() == [("anonymous", 1, "lark", "wren"), ("bo", 1, "lark", "wren")]


@pytest.mark.parametrize(
    ("name", "golds", "rated", "models"),
    [
        ("chosen", 1, 0, []),
        ("conversations", 1, 0, []),
        ("chosen by models", 1, 0, ["heron", "stork"]),
        ("steered", 0, 3, []),
        ("vote", 0, 1, ["heron", "stork"]),
        ("turn", 0, 1, ["heron", "stork"]),
        ("argilla", 0, 2, []),
        ("studio", 0, 1, []),
        ("graded", 0, 1, ["heron", "stork"]),
        ("games", 0, 2, ["heron", "stork"]),
    ],
)
def test_pairs_of_others_are_imported_once(
    tmp_path: Path, name: str, golds: int, rated: int, models: list[str]
) -> None:
    folder = tmp_path / "eval=gpt-4o"
    folder.mkdir()
    path = write_lines(folder, "file.jsonl", ROWS[name])
    report = import_files("pairs", [path])
    assert reasons(report) == []
    assert Pair.objects.exclude(gold="").count() == golds
    assert Comparison.objects.count() == rated
    assert sorted(Contestant.objects.values_list("name", flat=True)) == models
    assert Pair.objects.get().prompt == Prompt.objects.get()
    assert import_files("pairs", [path]).written == 0


def test_a_pair_that_is_repeated_with_another_label_is_a_pair_of_its_own(tmp_path: Path) -> None:
    """As the published file has one; a judge's verdicts count as often as its authors count them."""
    rows = [{**ROWS["pair"], "label": label} for label in (0, 1, 0)]
    pairs = write_lines(tmp_path, "test.jsonl", *rows)
    judged = write_lines(
        tmp_path, "pairwise_wren_output.jsonl", *[{"output": output} for output in (0, 0, 2)]
    )
    report = import_files("s", [pairs, judged])
    assert report.applied
    assert "1 pair is repeated with another label; each is a pair of its own" in {
        note.text for note in report.notes
    }
    said = Comparison.objects.order_by("pk").values_list("pair__gold", "rating", "repeat")
    assert list(said) == [("first", 1, 0), ("second", 1, 0), ("first", 2, 1)]


def test_a_second_model_reuses_prompts_and_questions_and_another_wording_is_refused(tmp_path: Path) -> None:
    def bring(contestant: str, **overrides: Any) -> ImportReport:
        path = write_lines(tmp_path, "easy.jsonl", {**ROWS["checked"], **overrides})
        return import_files("study", [path], about=About(judge="gpt-4", contestant=contestant))

    assert added(bring("Alder")) == {
        **dict.fromkeys(("contestants", "prompts", "questions", "completions", "raters", "answers"), 1)
    }
    assert Study.objects.get().tasks == ["check"]
    assert bring("Alder").written == 0
    second = bring("Birch", output="Dawn of the heron", eval=[None])
    assert added(second) == {"contestants": 1, "completions": 1, "answers": 1}
    (problem,) = bring("Cedar", decomposed_questions=["Is it long?"]).errors
    assert (problem.place.line, problem.field) == (1, "question")
    wording = 'another wording in the study or these files: "Is it a title?"'
    assert problem.reason == f'question 1 of prompt "task-1" has {wording}'
    (problem,) = bring("Alder", eval=[False]).errors
    stored = "no contradicts yes, stored already for the same requirement of the same answer"
    assert problem.reason.startswith(f'{stored} by rater "gpt-4"')
    assert not Study.objects.get().contestants.filter(name="Cedar")
    assert Answer.objects.order_by("pk").values_list("value", "reason").last() == (None, "unparsable")
