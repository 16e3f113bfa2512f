from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from arena.data.importing.texts import digest_of
from arena.models import Completion, Reference, Study
from leaderboard.models import TextMeasure
from leaderboard.snapshots import text_sizes
from leaderboard.snapshots.text_sizes import measure_missing, texts
from tests import factories
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db


def complete(made, name, prompt, *turns, **overrides):
    return factories.make_completion(
        prompt=made.prompts[prompt],
        contestant=made.contestants[name],
        turns=list(turns),
        digest=digest_of(turns),
        **overrides,
    )


@pytest.fixture
def made():
    made = HandMade("alpha", "beta", categories=("coding", "poems"))
    for prompt, turns in zip(
        made.prompts, (["Sort a list."], ["Write a poem", "shorter please"]), strict=True
    ):
        prompt.turns = turns
        prompt.subset = "first half" if prompt is made.prompts[0] else ""
        prompt.save()
    made.texts = [
        complete(made, "alpha", 0, "one two two"),
        complete(made, "beta", 0, "one two"),
        complete(made, "alpha", 1, "roses are red", "violets are blue"),
        complete(made, "beta", 1),
    ]
    return made


def test_every_text_is_measured_once_and_those_of_other_versions_again(made, monkeypatch):
    assert measure_missing(made.study) == 3
    rows = {row.digest: row for row in TextMeasure.objects.all()}
    assert len(rows) == 3
    row = rows[digest_of(["one two two"])]
    assert (row.words, row.unique_words, row.tokens, row.characters) == (3, 2, 3, 11)
    monkeypatch.setattr(text_sizes, "_store", None)
    assert measure_missing(made.study) == 0
    monkeypatch.undo()
    monkeypatch.setattr("leaderboard.snapshots.text_sizes.VERSION", 999)
    assert measure_missing(made.study) == 3
    assert TextMeasure.objects.count() == 6
    assert Completion.objects.count() == 4


def test_sizes_by_id_and_what_is_not_known(made):
    found = texts(made.study)
    alpha, beta, poem, unknown = (completion.pk for completion in made.texts)
    places = found.places(np.array([poem, alpha, unknown, 10**9, beta, 0]))
    assert (places >= 0).tolist() == [True, True, False, False, True, False]
    assert found.completions[places[[0, 1, 4]], 0].tolist() == [6, 3, 2]
    assert found.completions[places[1]].tolist() == [3, 2, 3, 11]
    assert [name for name, _, _ in found.contestants] == ["alpha", "beta"]
    assert found.category == ("coding", "poems")
    assert found.prompts[:, 0].tolist() == [3, 5]
    assert found.prompt.tolist() == [0, 0, 1, 1]


def test_material_belongs_to_the_prompt_and_references_are_read(made):
    made.prompts[0].input = "3 1 2"
    made.prompts[0].save()
    Reference.objects.create(prompt=made.prompts[1], author="Ada", turns=["a poem by hand"])
    found = texts(made.study)
    assert found.prompts[:, 0].tolist() == [6, 5]
    assert (found.references[:, 0].tolist(), found.reference_prompt.tolist()) == ([4], [1])
    half = "\ud800" if connection.vendor == "sqlite" else "?"  # PostgreSQL refuses half a pair
    made.prompts[0].turns = [f"half a pair: {half}", "<|endoftext|>"]
    made.prompts[0].save()
    made.prompts[0].input = ""
    made.prompts[0].save()
    assert texts(made.study).prompts[0, 3] == 27


def test_an_empty_completion_is_known_and_has_no_words(made):
    empty = factories.make_completion(prompt=made.prompts[0], turns=[], is_empty=True, digest=digest_of([]))
    spaces = factories.make_completion(
        prompt=made.prompts[1], turns=[" \n"], is_empty=True, digest=digest_of([" \n"])
    )
    found = texts(made.study)
    sizes = found.completions[found.places(np.array([empty.pk, spaces.pk]))]
    assert sizes[:, 0].tolist() == [0, 0]
    assert sizes[:, 3].tolist() == [0, 2]
    assert found.places(np.array([made.texts[3].pk])).tolist() == [-1]


def test_a_study_without_anything():
    found = texts(factories.make_study())
    assert len(found.prompts) == len(found.completions) == len(found.references) == found.pairs == 0
    assert found.places(np.array([1, 2])).tolist() == [-1, -1]


def test_queries_do_not_grow_with_the_texts(made, django_assert_num_queries):
    texts(made.study)
    with django_assert_num_queries(14):
        texts(made.study)
    for number in range(30):
        prompt = factories.make_prompt(study=made.study, turns=[f"Question {number}"])
        factories.make_completion(prompt=prompt, contestant=made.contestants["alpha"])
    texts(made.study)
    with django_assert_num_queries(14):
        texts(made.study)


def test_more_texts_than_are_read_at_a_time(made, monkeypatch):
    monkeypatch.setattr(text_sizes, "AT_ONCE", 2)
    for number in range(5):
        complete(made, "alpha", 0, f"answer {number}", is_current=False, version=number + 2)
    assert measure_missing(made.study) == 8
    assert len(texts(made.study).completion) == 9


def test_what_is_missing_is_looked_for_once_for_all_batches(made, monkeypatch):
    """SQLite would go through the study for each of them."""
    monkeypatch.setattr(text_sizes, "AT_ONCE", 1)
    with CaptureQueriesContext(connection) as asked:
        assert measure_missing(made.study) == 3
    assert len([query for query in asked if "EXISTS" in query["sql"]]) == 1


@pytest.mark.django_db(transaction=True)
def test_others_may_write_while_texts_are_measured(made, monkeypatch):
    monkeypatch.setattr(text_sizes, "AT_ONCE", 1)
    for number in range(5):
        prompt = factories.make_prompt(study=made.study, turns=[f"Question {number}"])
        Reference.objects.create(prompt=prompt, turns=[f"Answer {number}"])
    store = text_sizes._store

    def write_elsewhere(something_new):
        Study.objects.filter(pk=made.study.pk).update(description=something_new)
        connection.close()

    def meanwhile(missing):
        with ThreadPoolExecutor(1) as pool:
            pool.submit(write_elsewhere, str(missing)).result()
        return store(missing)

    monkeypatch.setattr(text_sizes, "_store", meanwhile)
    found = texts(made.study)
    assert np.isfinite(found.prompts).all()
    assert len(found.references) == 5


def test_an_answer_that_comes_with_its_prompt_while_texts_are_read_waits_for_the_next_time(made, monkeypatch):
    read = text_sizes._prompts
    before = len(texts(made.study).completion)

    def meanwhile(study):
        found = read(study)
        factories.make_completion(prompt=factories.make_prompt(study=study), contestant=None)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(text_sizes, "_prompts", meanwhile)
        assert len(texts(made.study).completion) == before
    assert len(texts(made.study).completion) == before + 1


def test_kept_sizes_are_read_again_and_a_change_is_seen(made, monkeypatch, settings, tmp_path):
    settings.VAR_DIR = tmp_path
    monkeypatch.setattr(text_sizes, "WORTH_KEEPING", 1)
    before = texts(made.study)
    monkeypatch.setattr(text_sizes, "_arrays", None)
    assert [str(value) for value in vars(texts(made.study)).values()] == [
        str(value) for value in vars(before).values()
    ]
    monkeypatch.undo()
    Completion.objects.filter(pk=made.texts[0].pk).update(is_current=False)
    made.study.touch()
    complete(made, "alpha", 0, "three three three", version=2)
    after = texts(made.study)
    assert (after.current.tolist(), len(after.completion)) == ([False, True, True, True, True], 5)
