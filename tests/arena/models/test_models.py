"""Every constraint and every trigger of the tables refuses what it is there to refuse."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from arena.models import (
    Assignment,
    Comparison,
    Completion,
    Contestant,
    CriterionRating,
    Flag,
    ImportChunk,
    ImportFile,
    ImportJob,
    Invitation,
    KeptReply,
    LeftOutRows,
    Membership,
    Pair,
    Prompt,
    Rater,
    Reference,
    Rendering,
    Study,
    TrainingAnswer,
    invariants,
)
from tests import factories as make

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def refused(write: Callable[[], Any], rule: str) -> None:
    """The write fails by the named constraint. SQLite names unique constraints by their columns only."""
    with pytest.raises(IntegrityError) as error, transaction.atomic():
        write()
    text = str(error.value)
    unique = connection.vendor == "sqlite" and text.startswith("UNIQUE constraint failed")
    assert rule in text or unique, text


STUDY_BREAKS = [
    ({"points": 4}, "study_points_is_a_scale"),
    ({"is_draft": True, "visibility": "public"}, "study_draft_is_private"),
    ({"ratings_per_pair_people": 0}, "study_wants_at_least_one_rating"),
    ({"ratings_per_pair_judges": 0}, "study_wants_at_least_one_rating"),
    ({"control_share": 1.1}, "study_shares_within_bounds"),
    ({"repeat_share": 0.6}, "study_shares_within_bounds"),
    ({"gold_share": -0.1}, "study_shares_within_bounds"),
    ({"score_lowest": 5, "score_highest": 5}, "study_score_has_two_ends"),
    ({"stop_margin": -1.0}, "study_stop_margin_within_bounds"),
    ({"rater_limit": 0}, "study_limits_at_least_one"),
    ({"daily_limit": 0}, "study_limits_at_least_one"),
    ({"training_threshold": 1.01}, "study_threshold_is_a_share"),
    ({"pairing": "lucky"}, "study_choices_known"),
    ({"reveal_names": True, "rated_turns": "each"}, "study_turns_stay_blind"),
    ({"naming": "burn"}, "study_choices_known"),
    ({"show_references": "sometimes"}, "study_choices_known"),
]


@pytest.mark.parametrize(("change", "rule"), STUDY_BREAKS)
def test_studies(change: dict[str, Any], rule: str) -> None:
    refused(lambda: make.make_study(**change), rule)


def test_names_are_unique_where_they_must_be() -> None:
    prompt, contestant = make.make_prompt(), make.make_contestant()
    same_prompt = {"study": prompt.study, "external_id": prompt.external_id}
    refused(lambda: make.make_prompt(**same_prompt), "prompt_external_id_unique")
    make.make_prompt(**same_prompt, subset="other")
    refused(
        lambda: make.make_contestant(study=contestant.study, name=contestant.name), "contestant_name_unique"
    )
    refused(
        lambda: make.make_contestant(study=contestant.study, slug=contestant.slug), "contestant_slug_unique"
    )
    make.make_contestant(name=contestant.name, slug=contestant.slug)
    refused(lambda: make.make_contestant(kind="robot"), "contestant_kind_known")


def test_what_stands_once() -> None:
    reference = {"prompt": make.make_prompt(), "author": "ann", "turns": ["a"]}
    criterion = {"comparison": make.make_comparison(), "criterion": "truth", "points": 8, "rating": 1}
    rendering = {"digest": "d", "renderer": 1, "html": ""}
    for model, columns, rule in (
        (Reference, reference, "reference_author_unique"),
        (CriterionRating, criterion, "criterion_rated_once"),
        (Rendering, rendering, "rendering_unique"),
    ):
        model.objects.create(**columns)
        refused(partial(model.objects.create, **columns), rule)
    Rendering.objects.create(digest="d", renderer=2, html="")
    first = make.make_comparison(is_current=False)
    make.make_comparison(revises=first)
    refused(lambda: make.make_comparison(revises=first), "arena_comparison_revises_id")
    job = make.make_import_job(("prompts.jsonl", "{}"))
    file = job.files.get()
    refused(lambda: ImportFile.objects.create(job=job, number=file.number), "import_file_number_unique")
    again = {"file": file, "position": 0, "data": b""}
    refused(lambda: ImportChunk.objects.create(**again), "import_chunk_position_unique")
    rows = {"study": job.study, "file": "votes.csv", "digest": "d", "reason": "NaN", "rows": 1}
    LeftOutRows.objects.create(**rows)
    refused(lambda: LeftOutRows.objects.create(**rows), "left_out_rows_counted_once")


def test_a_contestant_has_one_current_completion_of_a_prompt() -> None:
    first = make.make_completion()
    again = {"prompt": first.prompt, "contestant": first.contestant}
    refused(
        lambda: make.make_completion(**again, version=2), "completion_one_current_per_contestant_and_prompt"
    )
    refused(lambda: make.make_completion(**again, is_current=False), "completion_version_unique")
    make.make_completion(**again, version=2, is_current=False)
    refused(lambda: make.make_completion(version=0), "completion_version_from_one")
    for _ in range(2):
        make.make_completion(prompt=first.prompt, contestant=None)


def test_pairs_are_unordered_and_made_once() -> None:
    pair = make.make_pair()
    refused(lambda: make.make_pair(prompt=pair.prompt, first=pair.first, second=pair.second), "pair_unique")
    refused(
        lambda: make.make_pair(prompt=pair.prompt, first=pair.second, second=pair.first),
        "pair_first_before_second",
    )
    refused(lambda: make.make_pair(prompt=pair.prompt, first=pair.first, second=pair.first), "same prompt")


@pytest.mark.parametrize("change", [{"gold": "first"}, {"gold_source": "experts"}])
def test_gold_has_a_source(change: dict[str, Any]) -> None:
    refused(lambda: make.make_pair(**change), "pair_gold_has_a_source")


def test_both_completions_of_a_pair_answer_its_prompt() -> None:
    pair, stranger = make.make_pair(), make.make_completion()
    refused(lambda: make.make_pair(prompt=pair.prompt, first=pair.first, second=stranger), "same prompt")
    refused(lambda: Pair.objects.filter(pk=pair.pk).update(second=stranger), "same prompt")
    refused(lambda: Pair.objects.filter(pk=pair.pk).update(prompt=make.make_prompt()), "same prompt")


def test_rows_stay_in_one_study() -> None:
    stranger, other = make.make_contestant(), make.make_study()
    refused(lambda: make.make_completion(contestant=stranger), "same study")
    completion = make.make_completion()
    refused(lambda: Completion.objects.filter(pk=completion.pk).update(contestant=stranger), "same study")
    refused(lambda: make.make_comparison(study=other), "study of its pair")
    comparison = make.make_comparison()
    refused(lambda: Comparison.objects.filter(pk=comparison.pk).update(study=other), "study of its pair")


def test_migrations_make_what_the_models_say() -> None:
    call_command("makemigrations", check_changes=True, dry_run=True)


def test_the_triggers_are_put_back_after_a_migration() -> None:
    pair, stranger = make.make_pair(), make.make_completion()
    rule = "pair_answers_one_prompt"
    dropped = (
        [f"{rule}_insert", f"{rule}_update"] if connection.vendor == "sqlite" else [f"{rule} ON arena_pair"]
    )
    with connection.cursor() as cursor:
        for trigger in dropped:
            cursor.execute(f"DROP TRIGGER {trigger}")
    invariants.install()
    refused(lambda: Pair.objects.filter(pk=pair.pk).update(second=stranger), "same prompt")


def test_raters() -> None:
    refused(lambda: make.make_rater(kind="bot"), "rater_kind_known")
    rater = make.make_rater()
    refused(lambda: make.make_rater(slug=rater.slug), "rater_slug_unique")
    make.make_rater(slug=rater.slug, kind=Rater.Kind.JUDGE)
    study = make.make_study()
    make.make_rater(slug=rater.slug, study=study)
    refused(lambda: make.make_rater(slug=rater.slug, study=study), "rater_slug_unique_in_study")


def test_memberships_invitations_leases_and_import_jobs() -> None:
    study = make.make_study()
    rater = make.make_member(study)
    refused(lambda: Membership.objects.create(study=study, rater=rater), "membership_unique")
    refused(lambda: Invitation.objects.create(study=study, max_uses=1, uses=2), "invitation_uses_limited")
    refused(lambda: make.make_assignment(state="lost"), "assignment_state_known")
    refused(lambda: make.make_assignment(leased_until=None), "assignment_claim_has_a_lease")
    make.make_assignment(state="open", leased_until=None)
    job = make.make_import_job()
    rows = ImportJob.objects.filter(pk=job.pk)
    refused(lambda: rows.update(state="applied"), "import_job_ends_with_its_state")
    refused(lambda: rows.update(ended_at=timezone.now()), "import_job_ends_with_its_state")


def test_an_assignment_has_the_target_of_its_kind() -> None:
    completion = make.make_completion()
    name = "assignment_kind_has_its_target"
    refused(lambda: make.make_assignment(kind="score"), name)
    refused(lambda: make.make_assignment(completion=completion), name)
    base = {"study": completion.prompt.study, "rater": make.make_rater(), "leased_until": timezone.now()}
    refused(lambda: Assignment.objects.create(**base, kind="compare", completion=completion), name)
    refused(lambda: Assignment.objects.create(**base, kind="compare"), name)
    for kind in ("score", "check"):
        Assignment.objects.create(**base, kind=kind, completion=completion)


def test_an_assignment_is_offered_once_in_each_order_and_repeat() -> None:
    first = make.make_assignment()
    same = {"pair": first.pair, "rater": first.rater}
    refused(lambda: make.make_assignment(**same), "assignment_offered_once")
    make.make_assignment(**same, swapped=True)
    make.make_assignment(**same, repeat=1)
    make.make_assignment(**same, state="expired")
    refused(lambda: make.make_assignment(public_id=first.public_id), "arena_assignment_public_id")


COMPARISON_BREAKS = [
    ({"points": 7, "rating": 3}, "comparison_points_is_a_scale"),
    ({"rating": 0}, "comparison_rating_within_scale_or_reason"),
    ({"rating": 9}, "comparison_rating_within_scale_or_reason"),
    ({"points": 3, "rating": 4}, "comparison_rating_within_scale_or_reason"),
    ({"rating": None}, "comparison_rating_within_scale_or_reason"),
    ({"status": "unscored", "rating": None}, "comparison_rating_within_scale_or_reason"),
    ({"reason": "empty", "rating": 3}, "comparison_rating_within_scale_or_reason"),
    ({"status": "scored", "rating": 3, "reason": "empty"}, "comparison_rating_within_scale_or_reason"),
    ({"status": "failed"}, "comparison_rating_within_scale_or_reason"),
    ({"first_score": 1}, "comparison_both_scores_or_none"),
    ({"second_score": 1}, "comparison_both_scores_or_none"),
    ({"reason": "neither"}, "comparison_neither_is_said"),
    ({"seconds": -0.1}, "comparison_seconds_not_negative"),
]


@pytest.mark.parametrize(("change", "rule"), COMPARISON_BREAKS)
def test_comparisons(change: dict[str, Any], rule: str) -> None:
    pair, rater = make.make_pair(), make.make_rater()
    refused(lambda: make.make_comparison(pair=pair, rater=rater, **change), rule)


def test_both_ends_of_every_scale_are_accepted() -> None:
    for points in (2, 3, 5, 8):
        for rating in (1, points):
            assert make.make_comparison(points=points, rating=rating).pk


def test_one_comparison_is_current() -> None:
    first = make.make_comparison()
    same = {"pair": first.pair, "rater": first.rater}
    refused(lambda: make.make_comparison(**same), "comparison_one_current")
    make.make_comparison(**same, is_current=False)
    make.make_comparison(**same, swapped=True)
    make.make_comparison(**same, repeat=1)


def test_an_assignment_has_one_current_comparison() -> None:
    assignment = make.make_assignment()
    same = {"pair": assignment.pair, "assignment": assignment}
    make.make_comparison(**same)
    refused(lambda: make.make_comparison(**same), "comparison_one_per_assignment")
    make.make_comparison(**same, is_current=False)


def test_a_comparison_of_a_file_is_stored_once() -> None:
    first = make.make_comparison(external_id="vote-1")
    other = make.make_pair(prompt=make.make_prompt(study=first.study))
    same = {"pair": other, "rater": first.rater, "external_id": "vote-1"}
    refused(lambda: make.make_comparison(**same), "comparison_external_id_unique")
    make.make_comparison(**{**same, "external_id": ""})


@pytest.mark.parametrize(
    ("points", "rating", "reason"),
    [(8, 0, ""), (8, 9, ""), (3, 4, ""), (4, 2, ""), (8, None, ""), (8, 2, "empty"), (4, None, "empty")],
)
def test_criterion_ratings_lie_on_their_scale_or_have_a_reason(
    points: int, rating: int | None, reason: str
) -> None:
    said = {"comparison": make.make_comparison(), "criterion": "truth", "points": points}
    refused(
        lambda: CriterionRating.objects.create(**said, rating=rating, reason=reason),
        "criterion_rating_within_scale_or_reason",
    )


def test_what_a_pair_is_for_and_who_somebody_is() -> None:
    refused(lambda: make.make_pair(use="train"), "pair_to_check_by_has_gold")
    refused(lambda: make.make_pair(use="fun", gold="tie", gold_source="experts"), "pair_to_check_by_has_gold")
    make.make_pair(use="check", gold="tie", gold_source="experts")
    refused(lambda: make.make_assignment(purpose="fun"), "assignment_purpose_known")
    refused(lambda: make.make_comparison(purpose="fun"), "comparison_purpose_known")
    assignment = make.make_assignment()
    refused(lambda: Flag.objects.create(assignment=assignment, reason="dull"), "flag_reason_known")
    Flag.objects.create(assignment=assignment, reason="other")
    study, rater = make.make_study(), make.make_rater()
    refused(lambda: Membership.objects.create(study=study, rater=rater, role="king"), "membership_role_known")


def test_training_answers_stand_once_for_each_attempt() -> None:
    pair = make.make_pair(use="train", gold="first", gold_source="experts")
    make.make_member(pair.prompt.study)
    membership = Membership.objects.get()
    answer = {"membership": membership, "pair": pair, "swapped": False, "is_right": True, "points": 8}
    refused(lambda: TrainingAnswer.objects.create(**answer, rating=9), "training_rating_within_scale")
    TrainingAnswer.objects.create(**answer, rating=1)
    refused(lambda: TrainingAnswer.objects.create(**answer, rating=2), "training_answered_once")
    TrainingAnswer.objects.create(**answer, rating=2, attempt=2)


def test_every_constraint_is_named_here() -> None:
    """A new constraint or trigger needs a test in this folder."""

    text = "".join(each.read_text() for each in Path(__file__).parent.glob("test_*.py"))
    names = [
        each.name for model in apps.get_app_config("arena").get_models() for each in model._meta.constraints
    ]
    assert [name for name in names if f'"{name}"' not in text] == []
    expected = ["answer_stays_in_study", "comparison_stays_in_study", "completion_stays_in_study"]
    expected += ["event_append_only"]  # tests/arena/audit/test_recording.py
    expected += ["assignment_has_its_turn", "comparison_has_its_turn"]
    expected += ["pair_answers_one_prompt", "score_stays_in_study"]
    assert sorted(invariants.RULES) == sorted(expected)


def test_a_turn_is_one_of_its_prompt() -> None:
    pair = make.make_pair(prompt=make.make_prompt(turns=["One", "Two"]))
    make.make_assignment(pair=pair, turn=2)
    refused(lambda: make.make_assignment(pair=pair, turn=3), "the turn of an assignment is one of its prompt")
    make.make_comparison(pair=pair, turn=2)
    refused(lambda: make.make_comparison(pair=pair, turn=3), "the turn of a comparison is one of its prompt")


def test_what_the_models_say_about_themselves() -> None:
    study = make.make_study(name="Mine", slug="mine")
    prompt: Prompt = make.make_prompt(study=study, external_id="p1", turns=["one", "two"])
    assert (str(study), prompt.instruction, Prompt(turns=[]).instruction) == ("Mine", "one", "")
    assert study.get_absolute_url() == "/studies/mine/"
    assert (study.is_closed, study.is_public) == (False, False)
    completion = make.make_completion(prompt=prompt, turns=["a", "b"])
    assert completion.text == "a\n\nb"
    before = Study.objects.get(pk=study.pk).revision
    study.touch()
    assert Study.objects.get(pk=study.pk).revision == before + 1


def test_a_pair_is_shown_in_the_order_asked_for_and_retired_contestants_keep_their_rows() -> None:
    pair = make.make_pair()
    assert pair.shown(swapped=False) == (pair.first, pair.second)
    assert pair.shown(swapped=True) == (pair.second, pair.first)
    Contestant.objects.update(retired_at=timezone.now())
    assert Contestant.objects.count() == 2
    assert not Contestant.objects.active().exists()


def test_a_reply_is_kept_once() -> None:
    KeptReply.objects.create(caller="user 1", key="k", digest="a" * 64)
    again = {"caller": "user 1", "key": "k", "digest": "b" * 64}
    refused(lambda: KeptReply.objects.create(**again), "kept_reply_once")
