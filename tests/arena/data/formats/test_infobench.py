import json
from pathlib import Path
from typing import Any

import pytest

from arena.data.formats.catalogue import gather
from arena.data.formats.files import About, InputFile
from arena.data.formats.records import (
    AnswerRecord,
    CompletionRecord,
    Note,
    PromptRecord,
    QuestionRecord,
    RaterRecord,
)
from arena.data.importing.import_report import ImportReport
from arena.data.importing.imports import import_files
from arena.models import Answer, Study
from tests.arena.data.formats.reading import problems, read, write_lines
from tests.arena.data.importing.records import added


def make_item(**overrides: Any) -> dict[str, Any]:
    return {
        "id": "task-1",
        "instruction": "Choose a title.",
        "input": "A text about herons.",
        "category": "Reports",
        "subset": "Easy_set",
        "decomposed_questions": ["Is it a title?"],
        "question_label": [["Format"]],
        "output": "Herons at dawn",
        "eval": [True],
        **overrides,
    }


def test_a_line_is_a_prompt_with_its_questions_and_an_output_by_nobody(tmp_path: Path) -> None:
    note, prompt, question, completion = read(write_lines(tmp_path, "easy.jsonl", json.dumps(make_item())))
    assert isinstance(note, Note)
    assert (prompt.id, prompt.subset, prompt.category) == ("task-1", "Easy_set", "Reports")
    assert (prompt.turns, prompt.input) == (("Choose a title.",), "A text about herons.")
    assert prompt.extra == {}
    assert (question.prompt, question.subset, question.position) == ("task-1", "Easy_set", 1)
    assert (question.text, question.labels) == ("Is it a title?", ("Format",))
    assert (completion.prompt, completion.subset) == ("task-1", "Easy_set")
    assert (completion.contestant, completion.turns) == (None, ("Herons at dawn",))


def test_labels_that_differ_from_the_questions_in_number_are_kept_beside_and_counted(tmp_path: Path) -> None:
    """Three rows of a published file are so."""
    rows = [make_item(), make_item(id="task-2", question_label=[["Format"], ["Style"]])]
    rows.append(make_item(id="task-3", question_label=[]))
    items = read(write_lines(tmp_path, "easy.jsonl", *rows))
    questions = [item for item in items if isinstance(item, QuestionRecord)]
    assert [question.labels for question in questions] == [("Format",), None, None]
    prompts = [item for item in items if isinstance(item, PromptRecord)]
    assert [prompt.extra.get("question_label") for prompt in prompts] == [None, [["Format"], ["Style"]], []]
    assert str(items[-1]).endswith(
        "2 rows have another number of lists of labels than of questions; these questions get none"
    )


def test_a_named_judge_has_an_answer_for_what_was_asked_and_a_reason_for_what_could_not_be_read(
    tmp_path: Path,
) -> None:
    questions = ["Is it a title?", "Is it short?", "Does it rhyme?", "Is it new?"]
    item = make_item(decomposed_questions=questions, question_label=[[]] * 4, eval=[True, False, None])
    file = InputFile(write_lines(tmp_path, "easy.jsonl", item))
    about = About(judge="gpt-4", contestant="Alder", facts={"model": "gpt-4-0314"})
    items = list(gather([file], about=about).items())
    (judge,) = (item for item in items if isinstance(item, RaterRecord))
    assert (judge.slug, judge.kind, judge.facts) == ("gpt-4", "judge", {"model": "gpt-4-0314"})
    answers = [item for item in items if isinstance(item, AnswerRecord)]
    assert [(one.question, one.answer, one.reason) for one in answers] == [
        *((1, "yes", ""), (2, "no", ""), (3, None, "unparsable"))
    ]
    assert {(one.rater, one.contestant, one.completion) for one in answers} == {("gpt-4", "Alder", "")}


def test_the_same_output_judged_twice_is_one_completion_and_a_line_may_have_none(tmp_path: Path) -> None:
    lines = [json.dumps(make_item(eval=answers)) for answers in ([True], [None])]
    items = read(write_lines(tmp_path, "a.jsonl", *lines))
    first, second = (item.id for item in items if isinstance(item, CompletionRecord))
    assert first == second
    item = make_item()
    del item["output"], item["eval"]
    kinds = [type(record) for record in read(write_lines(tmp_path, "b.jsonl", json.dumps(item)))]
    assert kinds == [PromptRecord, QuestionRecord]


@pytest.mark.parametrize(
    ("wrong", "field", "reason"),
    [
        ({"output": ["no"], "eval": []}, "output", "expected a text, found a list"),
        ({"instruction": ""}, "instruction", "missing"),
        ({"eval": [True, None]}, "eval", "2 answers to 1 questions"),
        ({"eval": ["YES"]}, "eval[1]", "expected true, false or null, found a text"),
        ({"eval": {}}, "eval", "expected a list, found an object"),
        ({"output": None}, "eval", "answers to questions about an output, which is missing"),
        ({"decomposed_questions": [" "]}, "decomposed_questions[1]", "empty"),
        ({"decomposed_questions": "?"}, "decomposed_questions", "expected a list of texts"),
        ({"question_label": ["Style"]}, "question_label", "expected a list of texts for each question"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, wrong: dict[str, Any], field: str, reason: str) -> None:
    assert (1, field, reason) in problems(write_lines(tmp_path, "a.jsonl", make_item(**wrong)))


@pytest.mark.django_db
def test_a_second_model_reuses_prompts_and_questions_and_another_wording_is_refused(tmp_path: Path) -> None:
    def bring(contestant: str, **overrides: Any) -> ImportReport:
        path = write_lines(tmp_path, "easy.jsonl", make_item(**overrides))
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


@pytest.mark.parametrize(
    ("about", "reason"),
    [
        (About(contestant="Alder"), "no file here holds answers whose model can be named"),
        (About(judge="gpt-4"), "no file here holds replies whose judge can be named"),
    ],
)
def test_nothing_is_named_in_vain(tmp_path: Path, about: About, reason: str) -> None:
    path = write_lines(tmp_path, "a.jsonl", {"id": "p1", "instruction": "Say hello."})
    assert [problem.reason for problem in gather([path], about=about).problems] == [reason]
