"""Features of what an endpoint said about tokens, against the distributions it has."""

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from arena.models import Completion, CompletionFeature
from arena.texts.dialogue import dialogue
from judging.endpoints.scoring import Read, ToRead, Way, plain, read_from
from judging.endpoints.traces import pack
from judging.models import Trace
from leaderboard.answers.features.from_traces import measure_missing, tokens_of
from leaderboard.stats import token_features
from tests import factories as make
from tests.judging.endpoints.worded import WordModel
from tests.leaderboard.stats.distribution_features import token_entropies

WORDS = WordModel(seed=5, vocabulary=80)
ANSWER, REFERENCE = "w1 w7 w30 w2 w79", "w4 w4 w12"


def read(words: WordModel, messages: Any) -> Read:
    asked = ToRead("m", messages, 1.0)
    return read_from(Way.ECHO, asked, words.echo(plain(messages)))


def trace(
    completion: Completion, messages: Any, text: str = "answer", turn: int = 1, **overrides: Any
) -> Trace:
    found = read(WORDS, messages)
    kept = {"source": "m", "vocabulary": 80, "tokens": len(found.tokens), "before": found.before}
    return Trace.objects.create(
        completion=completion, turn=turn, text=text, packed=pack(found.tokens), **{**kept, **overrides}
    )


def values(completion: Completion, turn: int = 0) -> dict[str, float]:
    rows = CompletionFeature.objects.filter(completion=completion, turn=turn)
    return {row.name: row.value for row in rows}


def steps(messages: Any) -> tuple[np.ndarray, np.ndarray]:
    """Log-probabilities of the tokens after the first, and entropies of their distributions."""
    tokens = WORDS.cut(plain(messages))
    return np.array(WORDS.log_p(tokens)[1:]), token_entropies(WORDS.distributions(tokens))


@pytest.fixture
def completion(db: None) -> Completion:
    return make.make_completion(prompt=make.make_prompt(turns=["w3 w5"]), turns=[ANSWER])


def test_features_are_those_of_the_distributions_and_bounds_hold_the_entropy(completion: Completion) -> None:
    messages = dialogue(["w3 w5"], "", [ANSWER])
    trace(completion, messages)
    study = completion.prompt.study
    assert measure_missing(study) == len(values(completion)) == 10
    log_p, entropy = steps(messages)
    own, found = slice(1, None), values(completion)  # one step before: that of w5
    assert found["mean_logprob"] == pytest.approx(log_p[own].mean(), rel=1e-6)
    assert found["logprob_variance"] == pytest.approx(log_p[own].var(), rel=1e-6)
    assert found["sentence_logprob.full"] == pytest.approx(log_p.sum(), rel=1e-6)
    for way, part in (("", own), (".full", slice(None))):
        assert found[f"entropy_low{way}"] < entropy[part].mean() < found[f"entropy_high{way}"]
    assert "entropy" not in found
    assert measure_missing(study) == 0


def test_a_reference_that_is_read_later_adds_what_it_says(completion: Completion) -> None:
    study, turns = completion.prompt.study, ["w3 w5"]
    trace(completion, dialogue(turns, "", [ANSWER]))
    measure_missing(study)
    before = values(completion)
    trace(completion, dialogue(turns, "", [REFERENCE]), "reference")
    shown = [*dialogue(turns, "", [REFERENCE]), *dialogue(turns, "", [ANSWER])]
    trace(completion, shown, "illustrated")
    measure_missing(study)
    found = values(completion)
    assert before.items() <= found.items()
    surprise = token_features.reference_surprise(steps(dialogue(turns, "", [REFERENCE]))[0][1:])
    assert found["reference_surprise"] == pytest.approx(surprise, rel=1e-6)
    less = found["logprob_variance"] - found["logprob_variance.calibrated"]
    assert less == pytest.approx(surprise, rel=1e-6)
    assert found["mean_logprob.illustrated"] == pytest.approx(steps(shown)[0][-5:].mean(), rel=1e-6)
    assert found["entropy_low.illustrated"] < found["entropy_high.illustrated"]


def test_turns_have_their_own_and_together_those_of_the_whole_answer(db: None) -> None:
    turns, answers = ["w3 w5", "w9"], ["w1 w2", "w7 w8 w9"]
    completion = make.make_completion(prompt=make.make_prompt(turns=turns), turns=answers)
    trace(completion, dialogue(turns[:1], "", answers[:1]), vocabulary=None)
    measure_missing(completion.prompt.study)
    assert not values(completion)
    assert {"mean_logprob", "entropy_low"} <= values(completion, 1).keys()
    assert "entropy_high" not in values(completion, 1)
    trace(completion, dialogue(turns, "", answers), turn=2, vocabulary=None)
    measure_missing(completion.prompt.study)
    log_p, _ = steps(dialogue(turns, "", answers))
    assert values(completion)["sentence_logprob"] == pytest.approx(
        log_p[1:3].sum() + log_p[4:].sum(), rel=1e-6
    )
    assert values(completion, 2)["mean_logprob"] == pytest.approx(log_p[4:].mean(), rel=1e-6)


def test_bounds_hold_the_entropy_of_a_thousand_random_steps() -> None:
    def cases() -> Iterator[tuple[float, float, float]]:
        for seed in range(50):
            words = WordModel(seed, vocabulary=25 + 5 * seed, sharpness=0.2 + seed / 10)
            rng = random.Random(seed)
            text = " ".join(rng.choice(words.words) for _ in range(20))
            messages = [{"role": "user", "content": "w0"}, {"role": "assistant", "content": text}]
            found = read(words, messages)
            truth = token_entropies(words.distributions(words.cut(plain(messages))))
            row = Trace(packed=pack(found.tokens), before=0, vocabulary=words.vocabulary)
            tokens = tokens_of(row, 0)
            yield from zip(tokens.low, truth, tokens.high, strict=True)

    low, truth, high = np.array(list(cases())).T
    assert len(truth) == 1000
    assert (low <= truth + 1e-5).all()
    assert (truth <= high + 1e-5).all()
    assert (high - low).max() > 0.1
