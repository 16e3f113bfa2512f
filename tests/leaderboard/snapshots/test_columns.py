"""What was kept of earlier reads spares reading it, and never shows: every read equals one of everything."""

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from arena.models import Comparison, Study
from leaderboard.snapshots import columns, kept
from tests.leaderboard.rows import HandMade

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture(autouse=True)
def keep_everything(monkeypatch, settings, tmp_path):
    settings.VAR_DIR = tmp_path
    monkeypatch.setattr(columns, "WORTH_KEEPING", 1)


def revision(study):
    return Study.objects.get(pk=study.pk).revision


def read(study):
    return columns.comparisons(study, revision(study))


def anew(study):
    return columns._comparisons(study, after=0)


def same(one, other):
    """Equal in every field, missing scores included."""
    return one.dtype == other.dtype and all(
        np.array_equal(one[name], other[name], equal_nan=one[name].dtype.kind == "f")
        for name in one.dtype.names
    )


def stored(study):
    return kept.load(study, columns.KEPT)[0]["rows"]


@pytest.fixture
def made():
    made = HandMade("alpha", "beta", "gamma")
    for rating in (1, 8, 4):
        made.rate("alpha", "beta", rating)
    made.rate("beta", "gamma", None, reason="out_of_range")
    made.rate("gamma", "alpha", 3, rater=made.judge("scorer"), first_score="7.125", second_score="5")
    return made


def test_the_columns_by_hand(made):
    rows = read(made.study)
    assert rows["rating"].tolist() == [1, 8, 4, 0, 3]
    assert rows["reason"].tolist() == [b"", b"", b"", b"out_of_range", b""]
    assert rows["score_difference"].tolist() == pytest.approx([np.nan] * 4 + [2.125], nan_ok=True)
    assert rows["swapped"].tolist() == list(Comparison.objects.values_list("swapped", flat=True))
    assert rows["id"].tolist() == list(Comparison.objects.values_list("pk", flat=True))
    assert rows["current"].all()


def test_only_what_is_new_is_read_again(made, monkeypatch):
    read(made.study)
    assert same(stored(made.study), anew(made.study))
    made.rate("alpha", "gamma", 2)
    asked = []
    some = columns._comparisons
    monkeypatch.setattr(
        columns, "_comparisons", lambda study, after: asked.append(after) or some(study, after=after)
    )
    found = read(made.study)
    assert len(asked) == 1
    assert asked[0] > 0
    assert same(found, some(made.study, after=0))


def test_a_revision_of_a_kept_comparison_is_seen(made):
    read(made.study)
    old = Comparison.objects.first()
    Comparison.objects.filter(pk=old.pk).update(is_current=False)
    made.rate("alpha", "beta", 6, revises=old, swapped=old.swapped)
    found = read(made.study)
    assert found["current"].tolist() == [False, True, True, True, True, True]
    assert same(found, anew(made.study))


def _delete_and_add(made):
    Comparison.objects.order_by("pk")[1].delete()
    made.rate("beta", "gamma", 2)


def _late_commit(made):
    gap = Comparison.objects.order_by("pk")[2]
    kept.path_of(made.study, columns.KEPT).unlink()
    row = {field.attname: getattr(gap, field.attname) for field in gap._meta.concrete_fields}
    gap.delete()
    read(made.study)
    Comparison.objects.create(**row)


def _not_current(made):
    Comparison.objects.filter(pk=Comparison.objects.order_by("pk")[0].pk).update(is_current=False)


def _loaded_anew(made):
    """Other rows with the ids of the kept ones: a database that was put in place of the first."""
    Comparison.objects.update(created_at=timezone.now(), rating=None, status="unscored", reason="refused")


def _operator_edit(made):
    Comparison.objects.filter(rating=1).update(rating=2)
    made.study.touch()


@pytest.mark.parametrize(
    "change", [_delete_and_add, _late_commit, _not_current, _loaded_anew, _operator_edit]
)
def test_changes_that_no_part_of_the_arena_makes_are_seen(made, change):
    read(made.study)
    change(made)
    assert same(read(made.study), anew(made.study))


def test_everything_deleted(made):
    read(made.study)
    Comparison.objects.all().delete()
    assert len(read(made.study)) == 0


@pytest.mark.both_databases(False)
@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 cut off", None])
def test_a_damaged_file_is_read_over_and_replaced(made, damage):
    expected = read(made.study)
    path = kept.path_of(made.study, columns.KEPT)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] if damage is None else damage)
    assert same(read(made.study), expected)
    assert path.read_bytes()[:2] == b"PK"
    assert same(stored(made.study), expected)


@pytest.mark.both_databases(False)
def test_a_file_with_pickled_objects_or_a_folder_that_cannot_be_written(made, tmp_path, settings, caplog):
    (tmp_path / "columns").write_text("in the way")
    assert same(read(made.study), anew(made.study))
    assert "could not be kept" in caplog.text
    (tmp_path / "columns").unlink()
    expected = read(made.study)
    path = kept.path_of(made.study, columns.KEPT)
    np.savez(path, rows=np.array([object()], dtype=object), origin=np.array("x"))
    assert same(read(made.study), expected)


def test_small_studies_leave_no_file(made, monkeypatch, tmp_path):
    monkeypatch.setattr(columns, "WORTH_KEEPING", 6)
    read(made.study)
    assert not (tmp_path / "columns").exists()
    made.rate("alpha", "gamma", 2)
    read(made.study)
    assert (tmp_path / "columns").exists()


def test_a_little_growth_is_not_worth_writing(made, monkeypatch):
    read(made.study)
    monkeypatch.setattr(columns, "GROWTH", 0.2)
    made.rate("alpha", "gamma", 2)
    assert same(read(made.study), anew(made.study))
    assert len(stored(made.study)) == 5
    made.rate("alpha", "gamma", 5)
    assert same(read(made.study), anew(made.study))
    assert len(stored(made.study)) == 7


def test_studies_do_not_mix(made):
    other = HandMade("alpha", "beta")
    other.rate("alpha", "beta", 5)
    made.rate("alpha", "beta", 7)
    assert read(other.study)["rating"].tolist() == [5]
    assert read(made.study)["rating"].tolist() == [1, 8, 4, 0, 3, 7]


def test_pairs_and_completions_by_id(made):
    pairs, completions = columns.pairs(made.study), columns.completions(made.study)
    alpha, beta = (made.completion(name, made.prompts[0]) for name in ("alpha", "beta"))
    assert (pairs["id"][1:] > pairs["id"][:-1]).all()
    assert (alpha.pk, alpha.contestant_id) in completions.tolist()
    pair = made.pair("alpha", "beta")
    assert (pair.pk, made.prompts[0].pk, *sorted((alpha.pk, beta.pk))) in pairs.tolist()


@pytest.mark.both_databases(False)
def test_the_number_of_queries_does_not_depend_on_the_data(made):
    def queries():
        with CaptureQueriesContext(connection) as captured:
            read(made.study)
        return len(captured)

    read(made.study)
    made.rate("alpha", "gamma", 1)
    before = queries()
    for rating in range(2, 9):
        made.rate("alpha", "gamma", rating)
    assert queries() == before
