"""MT-bench by turn, from files as FastChat and the arena write them: made-up scores and features."""

import json

import numpy as np
import pytest
from scipy import stats

from arena.data.importing.imports import import_files
from arena.models import CompletionFeature, Score, Study
from tests.leaderboard.reading import printed

pytestmark = pytest.mark.django_db

FEATURES = ("entropy", "logprob_variance", "entropy.full")
JUDGES = ("gpt-4", "gpt-3.5-turbo")


def written(folder, name, rows):
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def mt_bench(tmp_path, reference_data):
    """The study, scores by judge and values by feature, each of 80 prompts and 2 turns."""
    lines = (reference_data / "fastchat" / "mt_bench_question.jsonl").read_text().splitlines()
    questions = [json.loads(line) for line in lines]
    rng = np.random.default_rng(4)
    scores = dict(zip(JUDGES, rng.integers(1, 11, (2, 80, 2)), strict=True))
    values = {name: rng.normal(2, 0.5, (80, 2)).round(4) for name in FEATURES}
    answers = [
        {"question_id": each["question_id"], "answer_id": f"a{number}", "model_id": "llama"}
        | {"choices": [{"index": 0, "turns": [f"First {number}.", f"Second {number}."]}]}
        for number, each in enumerate(questions)
    ]
    cells = [(number, each["question_id"], at) for number, each in enumerate(questions) for at in (0, 1)]
    written(tmp_path, "question.jsonl", questions)
    written(tmp_path, "llama.jsonl", answers)
    graded = [
        {"question_id": prompt, "model": "llama", "judge": [judge, "single-v1"], "user_prompt": "?"}
        | {"judgment": "Rating", "score": int(own[number, at]), "turn": at + 1, "tstamp": 1.7e9}
        for judge, own in scores.items()
        for number, prompt, at in cells
    ]
    written(tmp_path, "gpt-4_single.jsonl", graded)
    measured = [
        {"prompt": str(prompt), "contestant": "llama", "turn": at + 1, "name": name, "variant": "paper"}
        | {"value": float(own[number, at])}
        for name, own in values.items()
        for number, prompt, at in cells
    ]
    written(tmp_path, "features.jsonl", measured)
    import_files("mt", sorted(tmp_path.iterdir()))
    return Study.objects.get(slug="mt"), scores, values


def coefficients(x, y):
    return [test(x, y).statistic for test in (stats.pearsonr, stats.spearmanr, stats.kendalltau)]


def told(own):
    return [own[name] for name in ("pearson", "spearman", "kendall")]


def test_every_feature_by_turn_and_over_all_turns(mt_bench):
    """The rows of Tables 1 and 3: 80 questions, 160 scores of a judge and 160 values of a feature."""
    study, scores, values = mt_bench
    assert (study.prompts.count(), Score.objects.filter(rater__name="gpt-4").count()) == (80, 160)
    assert CompletionFeature.objects.filter(name="entropy").count() == 160
    found = json.loads(printed("correlate", "mt", "--with=scores:gpt-4", "--format=json"))
    by_name = {(each["feature"]["name"], each["feature"]["turn"]): each for each in found["features"]}
    assert len(by_name) == 4 * 3  # with the sum of entropy and variance, each of all turns and of two
    for name, own in values.items():
        for turn, part in (("all", slice(None)), ("1", 0), ("2", 1)):
            x, y = own[:, part].ravel(), scores["gpt-4"][:, part].ravel()
            cell = by_name[name, turn]["contestants"][0]["correlation"]
            assert (cell["n"], cell["prompts"]) == (len(x), 80)
            assert told(cell) == pytest.approx(coefficients(x, y), abs=1e-6)
    entropy, variance = (values[name].ravel() for name in ("entropy", "logprob_variance"))
    both = sum((each - each.min()) / np.ptp(each) for each in (entropy, variance))
    cell = by_name["entropy_variance_sum", "all"]["correlation"]
    assert told(cell) == pytest.approx(coefficients(both, scores["gpt-4"].ravel()), abs=1e-6)
    lines = printed("correlate", "mt", "--with=scores:gpt-4").splitlines()
    assert lines[2].split() == ["feature", "model", "answers", "prompts", "Pearson", "Spearman", "Kendall"]
    assert len(lines[3:]) == 12
    assert [line.split()[:4] for line in lines if line.startswith("Entropy, turn 2")] == [
        ["Entropy,", "turn", "2", "llama"]
    ]


def test_another_judge_is_held_against_the_same_turns(mt_bench):
    """The rows of judges in Table 1: each turn of an answer counts by itself, 160 in all."""
    _, scores, _ = mt_bench
    for turn, part, count in ((None, slice(None), 160), (1, 0, 80), (2, 1, 80)):
        options = [] if turn is None else [f"--turn={turn}"]
        (own,) = json.loads(printed("scores", "mt", *options, "--format=json"))["agreement"]
        assert (own["texts"], own["prompts"]) == (count, 80)
        x, y = (each[:, part].ravel() for each in scores.values())
        assert told(own) == pytest.approx(coefficients(x, y), abs=1e-6)
