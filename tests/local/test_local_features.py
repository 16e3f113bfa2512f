"""Features of a model on this machine, against a Llama in NumPy and the formulas on whole distributions."""

import numpy as np
import pytest
import torch
from django.core.management import CommandError, call_command

from arena.models import CompletionFeature, Reference
from arena.texts.dialogue import dialogue
from leaderboard.answers.local_features.model import (
    Dropout,
    LocalModel,
    LocalModelError,
    TooLongError,
    Wanted,
)
from leaderboard.stats import token_features
from tests import factories as make
from tests.leaderboard.stats import distribution_features
from tests.local.llama import log_softmax

BEFORE = dialogue(["Name a river in France."], "", [])
ANSWER = "The Loire is the longest river in France."


def ids_of(model, messages, answer):
    """The tokens, and how many of them come before the answer."""
    start = model._tokens(messages)
    return np.array([*start, *model._encoded(answer)]), len(start)


def values(completion, turn=0):
    rows = CompletionFeature.objects.filter(completion=completion, turn=turn)
    return {(row.name, row.variant): row.value for row in rows}


@pytest.fixture(scope="module")
def model(folder):
    return LocalModel(folder)


@pytest.fixture
def contestant(db):
    study = make.make_study(slug="own-words")
    contestant = make.make_contestant(study=study, name="Tiny", slug="tiny")
    for number, (turn, answer) in enumerate(
        [("Name a river in France.", ANSWER), ("How many legs has a spider?", "A spider has eight legs.")]
    ):
        prompt = make.make_prompt(study=study, turns=[turn], external_id=str(number))
        make.make_completion(prompt=prompt, contestant=contestant, turns=[answer])
    Reference.objects.create(prompt=prompt, author="people", turns=["It has eight."])
    return contestant


def test_every_number_of_a_reading_is_that_of_a_slow_reference(model, slow):
    dropout = Dropout(share=0.25, passes=3, seed=11)
    found = model.read(BEFORE, ANSWER, Wanted(dropout, attention=True))
    ids, start = ids_of(model, BEFORE, ANSWER)
    logits, attention = slow(ids)
    steps, chosen = logits[:-1], ids[1:]
    log_p = log_softmax(steps)
    assert found.before == start - 1
    np.testing.assert_allclose(found.log_p, log_p[np.arange(len(chosen)), chosen], atol=1e-4)
    np.testing.assert_allclose(found.entropy, distribution_features.token_entropies(log_p), atol=1e-4)
    np.testing.assert_allclose(
        found.released_entropy.mean(), distribution_features.released_entropy(steps), rtol=1e-4
    )
    np.testing.assert_allclose(
        found.released_variance.mean(), distribution_features.released_variance(steps), rtol=1e-4
    )
    paid = attention[:, :, start:, :start].transpose(0, 1, 3, 2)  # rows: tokens before, columns: the answer's
    np.testing.assert_allclose(found.attention, distribution_features.attention_entropies(paid), atol=1e-4)
    for number, row in enumerate(found.passes):
        torch.manual_seed(dropout.seed + number)
        kept = torch.nn.functional.dropout(torch.ones(1, len(ids), 32), dropout.share)[0].numpy()
        again = log_softmax(slow(ids, kept)[0])[start - 1 : -1]
        np.testing.assert_allclose(row, again[np.arange(len(row)), ids[start:]], atol=1e-4)
    assert len({row.tobytes() for row in found.passes}) == 3


def test_what_is_computed_in_parts_is_what_is_computed_at_once(model, monkeypatch):
    whole = model.read(BEFORE, ANSWER, Wanted())
    monkeypatch.setattr("leaderboard.answers.local_features.model.AT_ONCE", 2 * 300)
    parts = model.read(BEFORE, ANSWER, Wanted())
    np.testing.assert_allclose(parts.entropy, whole.entropy, rtol=1e-6)
    np.testing.assert_array_equal(parts.log_p, whole.log_p)


def test_the_command_stores_what_the_formulas_give(contestant, model, slow, folder, capsys):
    arguments = ("local_features", "own-words", "--contestant", "tiny", "--model", str(folder))
    call_command(*arguments, "--passes", "2", "--seed", "5")
    assert "2 answers measured" in capsys.readouterr().out
    one, other = contestant.completions.order_by("pk")
    found = values(one)
    ids, start = ids_of(model, BEFORE, ANSWER)
    log_p = log_softmax(slow(ids)[0][:-1])
    chosen = log_p[np.arange(len(ids) - 1), ids[1:]]
    own = chosen[start - 1 :]
    expected = {
        ("mean_logprob", "paper"): token_features.mean_logprob(own),
        ("sentence_logprob", "paper"): token_features.sentence_logprob(own),
        ("logprob_variance", "paper"): token_features.logprob_variance(own),
        ("logprob_variance.full", "paper"): token_features.logprob_variance(chosen),
        ("entropy", "paper"): distribution_features.mean_entropy(log_p[start - 1 :]),
        ("entropy.full", "paper"): distribution_features.mean_entropy(log_p),
        ("entropy", "released"): distribution_features.released_entropy(slow(ids)[0][start - 1 : -1]),
        ("logprob_variance", "released"): distribution_features.released_variance(
            slow(ids)[0][start - 1 : -1]
        ),
    }
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=1e-3), name
    assert {"dropout_mean", "dropout_variance", "attention_entropy_mean", "attention_entropy_min"} <= {
        name for name, _ in found
    }
    assert "reference_surprise" not in {name for name, _ in found}

    reference = values(other)
    turns = ["How many legs has a spider?"]
    ids, start = ids_of(model, dialogue(turns, "", []), "It has eight.")
    told = log_softmax(slow(ids)[0][:-1])[np.arange(start - 1, len(ids) - 1), ids[start:]]
    surprise = token_features.reference_surprise(told)
    assert reference["reference_surprise", "paper"] == pytest.approx(surprise, rel=1e-3)
    for name in ("entropy", "entropy.full", "logprob_variance"):
        less = reference[name, "paper"] - reference[f"{name}.calibrated", "paper"]
        assert less == pytest.approx(surprise, rel=1e-3)
    shown = [*dialogue(turns, "", ["It has eight."]), *dialogue(turns, "", [])]
    ids, start = ids_of(model, shown, "A spider has eight legs.")
    after = log_softmax(slow(ids)[0][:-1])[np.arange(start - 1, len(ids) - 1), ids[start:]]
    assert reference["mean_logprob.illustrated", "paper"] == pytest.approx(after.mean(), rel=1e-3)

    before = CompletionFeature.objects.count()
    call_command(*arguments, "--passes", "2", "--seed", "5")
    assert "0 answers measured" in capsys.readouterr().out
    assert CompletionFeature.objects.count() == before
    call_command(*arguments, "--passes", "2", "--seed", "6")
    assert CompletionFeature.objects.count() == before + 4  # two of dropout, of each answer


def test_turns_are_read_one_after_the_other(db, model, slow, folder):
    study = make.make_study(slug="own-words")
    contestant = make.make_contestant(study=study, name="Tiny", slug="tiny")
    turns, answers = ["Name a river.", "Another one?"], ["The Loire.", "The Rhine is one."]
    completion = make.make_completion(
        prompt=make.make_prompt(study=study, turns=turns), contestant=contestant, turns=answers
    )
    call_command(
        *("local_features", "own-words", "--contestant", "tiny", "--model", str(folder)),
        *("--dropout", "0", "--no-attention"),
    )
    parts = []
    for number, answer in enumerate(answers):
        ids, start = ids_of(model, dialogue(turns, "", answers[:number]), answer)
        log_p = log_softmax(slow(ids)[0][:-1])[np.arange(start - 1, len(ids) - 1), ids[start:]]
        assert values(completion, number + 1)["mean_logprob", "paper"] == pytest.approx(
            log_p.mean(), rel=1e-3
        )
        parts.append(log_p)
    whole = np.concatenate(parts)
    assert values(completion)["mean_logprob", "paper"] == pytest.approx(whole.mean(), rel=1e-3)
    assert values(completion)["logprob_variance", "paper"] == pytest.approx(whole.var(), rel=1e-3)


def test_what_cannot_be_done_is_one_sentence(contestant, model, folder, tmp_path, capsys):
    with pytest.raises(TooLongError, match="the model reads 256 at most"):
        model.read(BEFORE, "word " * 300, Wanted())
    assert model.read(BEFORE, "", Wanted()) is None
    with pytest.raises(LocalModelError, match="No model can be loaded from"):
        LocalModel(tmp_path)
    arguments = ("local_features", "own-words", "--contestant", "tiny", "--model")
    for given, said in (
        ((str(tmp_path / "none"),), "There is no folder"),
        ((str(folder), "--dropout", "1"), "--dropout must be"),
        ((str(folder), "--passes", "x"), "must be a whole number"),
    ):
        with pytest.raises(CommandError, match=said):
            call_command(*arguments, *given)
    completion = contestant.completions.first()
    completion.turns = ["word " * 300]
    completion.save()
    call_command(*arguments, str(folder), "--dropout", "0", "--no-attention", "--limit", "1")
    assert "1 are too long" in capsys.readouterr().out
