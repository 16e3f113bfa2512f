"""Requirements, scores of single answers, and checks."""

from pathlib import Path

import pytest
from django.utils import timezone

from arena.data.formats.records import Item, PromptRecord, RaterRecord
from arena.data.importing.import_report import ImportReport
from arena.data.importing.imports import import_files, import_records
from arena.models import Answer, Assignment, Completion, Question, Score, Study
from tests import factories as make
from tests.arena.data.formats.reading import write_lines
from tests.arena.data.importing.records import (
    added,
    answer,
    completion,
    question,
    reasons,
    stock,
    text_score,
)

pytestmark = pytest.mark.django_db


def bring(*items: Item) -> ImportReport:
    report = import_records("s", items)
    assert reasons(report) == []
    return report


def asked() -> list[tuple[int, str, list[str], bool]]:
    found = Question.objects.asked().order_by("prompt", "position")
    return list(found.values_list("position", "text", "labels", "required"))


class TestARequirement:
    def test_nobody_answered_is_changed_in_place(self) -> None:
        bring(*stock(), question("Old?", labels=("Style",)))
        report = bring(question("New?", required=False))
        assert report.counts["questions"].updated == 1
        assert asked() == [(1, "New?", ["Style"], False)]
        assert Question.objects.count() == 1
        assert bring(question("New?")).counts["questions"].unchanged == 1

    def test_somebody_answered_keeps_its_answers_and_gets_a_new_wording(self) -> None:
        bring(*stock(), question("Old?", labels=("Style",), required=False), answer("no"))
        report = bring(question("New?"), answer("yes"))
        assert report.counts["questions"].versions == report.counts["answers"].added == 1
        assert asked() == [(1, "New?", ["Style"], False)]
        found = Answer.objects.order_by("pk").values_list("question__text", "value", "question__is_current")
        assert list(found) == [("Old?", "no", False), ("New?", "yes", True)]
        assert bring(question("New?"), answer("yes")).written == 0

    def test_waits_for_somebody_who_is_checking(self) -> None:
        bring(*stock(), question("Old?"))
        check = make.make_assignment(kind="check", completion=Completion.objects.first())
        why = 'somebody is checking an answer to "p1"; import its requirements later, or pause the study'
        for changed in (question("New?"), question("Another?", 2)):
            assert reasons(import_records("s", [changed])) == [f"records: prompt: {why} and wait"]
        assert bring(question("Old?", labels=("Style",))).counts["questions"].updated == 1
        Assignment.objects.filter(pk=check.pk).update(leased_until=timezone.now())
        bring(question("New?"), question("Another?", 2))
        assert [text for _, text, _, _ in asked()] == ["New?", "Another?"]

    def test_without_a_position_has_no_place_after_the_last(self) -> None:
        report = import_records("s", [*stock(), *(question(f"{number}?", None) for number in range(1001))])
        assert [problem.reason for problem in report.errors] == ["more than 1,000 for one prompt"]
        assert not Question.objects.exists()

    def test_without_a_position_has_that_of_the_file(self) -> None:
        other = PromptRecord("p2", ("Say bye.",))
        rows = [question(f"{number}?", None, prompt=f"p{1 + number % 2}") for number in range(4)]
        bring(*stock(), other, *rows)
        assert [(position, text) for position, text, _, _ in asked()] == [
            *((1, "0?"), (2, "2?"), (1, "1?"), (2, "3?"))
        ]
        assert bring(*rows).written == 0

    @pytest.mark.parametrize(
        ("labels", "reason"),
        [
            (("",), "a label has 1 to 100 visible characters"),
            (("\x1b[2J",), "a label has 1 to 100 visible characters"),
            (("x" * 101,), "a label has 1 to 100 visible characters"),
            (("x",) * 21, "more than 20 labels"),
        ],
    )
    def test_has_few_and_short_labels(self, labels: tuple[str, ...], reason: str) -> None:
        report = import_records("s", [*stock(), question(labels=labels)])
        assert reasons(report) == [f"records: labels: {reason}"]

    def test_in_passing_adds_labels_and_contradicts_none(self) -> None:
        bring(*stock(), question())
        assert bring(question(labels=("Style",), implied=True)).counts["questions"].updated == 1
        report = import_records("s", [question(labels=("Format",), implied=True)])
        assert reasons(report) == ['records: labels: the labels of question 1 of prompt "p1" differ: Style']


class TestAScore:
    def test_is_on_the_scale_of_the_study_or_its_own_which_a_new_study_takes(self) -> None:
        bring(*stock(), text_score(7, lowest=1, highest=10), text_score(3, rater="j", rater_kind="judge"))
        assert list(Score.objects.values_list("lowest", "highest")) == [(1, 10), (1, 5)]
        import_records("t", [*stock(), text_score(7, lowest=1, highest=10)])
        study = Study.objects.get(slug="t")
        assert (study.tasks, study.score_lowest, study.score_highest) == (["score"], 1, 10)
        import_records("u", [*stock(), text_score(-0.5, lowest=-1, highest=1.5)])
        study = Study.objects.get(slug="u")
        assert (study.score_lowest, study.score_highest) == (1, 5)

    def test_of_another_turn_is_another_and_the_same_line_again_a_repeat(self) -> None:
        rows = [text_score(4), text_score(2, turn=1), text_score(5), text_score(1, turn=1, id="x")]
        assert added(bring(*stock(), *rows))["scores"] == 4
        assert list(Score.objects.order_by("pk").values_list("turn", "repeat")) == [
            *((0, 0), (1, 0), (0, 1), (1, 1))
        ]
        assert bring(*rows).counts["scores"].unchanged == 4

    def test_of_an_id_is_about_one_answer(self) -> None:
        bring(*stock(), text_score(4, id="x"))
        report = import_records("s", [text_score(4, id="x", turn=1), text_score(3, id="x", file="b")])
        assert [reason.partition(": ")[2] for reason in reasons(report)] == [
            'id: "x" already exists for rater "ann" with another answer or turn',
            "score: 3 of 1 to 5 contradicts 4 of 1 to 5, stored already for the score with id "
            '"x" by rater "ann"; correct it, or give a second score another id or a repeat',
        ]

    def test_of_a_text_without_an_author(self) -> None:
        bring(*stock(), completion(None, "By nobody.", id="x"), text_score(2, contestant="", completion="x"))
        assert Score.objects.get().completion.external_id == "x"

    def test_keeps_the_text_it_is_about(self) -> None:
        bring(*stock(), text_score(), question(), answer(contestant="B"))
        report = bring(completion("A", "Changed."), completion("B", "Changed, too."))
        assert report.counts["completions"].versions == 2
        old = Completion.objects.filter(is_current=False)
        assert old.exclude(scores=None).count() == old.exclude(answers=None).count() == 1
        assert Score.objects.get().completion.turns == ["Answer of A."]
        refused = import_records("s", [PromptRecord("p1", ("Say goodbye.",))])
        assert "was rated with another text" in reasons(refused)[0]

    def test_by_two_files_of_one_name_that_differ_is_by_two_judges(self, tmp_path: Path) -> None:
        import_records("s", stock())
        paths = []
        for folder, score in (("one", 3), ("two", 4)):
            (tmp_path / folder).mkdir()
            row = {"prompt": "p1", "contestant": "A", "score": score}
            paths.append(write_lines(tmp_path / folder, "jay.jsonl", row))
        (problem,) = import_files("s", paths).errors
        assert problem.field == "rater"
        assert '"jay" takes its name from the path, but has another score in' in problem.reason
        assert import_files("s", paths[:1]).applied
        assert Score.objects.get().rater.kind == "judge"


def test_a_file_of_scores_adds_what_it_names_unless_models_are_listed(tmp_path: Path) -> None:
    path = write_lines(tmp_path, "s.csv", "prompt,contestant,rater,score", "q1,A,ann,5", "q1,B,ann,4")
    report = import_files("s", [path])
    assert added(report) == {"contestants": 2, "prompts": 1, "completions": 2, "raters": 1, "scores": 2}
    assert report.missing.count == 0
    assert not Completion.objects.rateable().exists()
    models = write_lines(tmp_path, "m.csv", "name", "A")
    report = import_files("t", [path, models])
    assert 'unknown model "B"; add it or correct its name' in report.errors[0].reason


def test_a_hostile_text_is_kept_as_it_is() -> None:
    hostile = "<script>alert(1)</script>\u202e=cmd|' /C calc'!A0"
    bring(
        *stock(),
        RaterRecord("j", "judge"),
        question(hostile, labels=("<b>",)),
        text_score(
            None, reason="refused", raw_reply=hostile, rationale=hostile, rater="j", rater_kind="judge"
        ),
        answer(None, reason="unparsable", raw_reply=hostile, rater="j", rater_kind="judge"),
    )
    assert Question.objects.get().text == Score.objects.get().rationale == hostile
    assert Answer.objects.get().raw_reply == hostile
