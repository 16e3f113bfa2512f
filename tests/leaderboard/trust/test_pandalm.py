"""PandaLM's rows by three people, and GPT-3.5's verdicts, beside the files counted in plain Python."""

import json
from collections import Counter
from io import StringIO
from itertools import combinations

import numpy as np
import pytest
from django.core.management import call_command
from statsmodels.stats.inter_rater import cohens_kappa

from arena.data.importing.imports import import_files

SIDES = {"0": 0, "Tie": 0, "1": 1, "2": 2}


@pytest.mark.django_db
def test_people_and_their_majority(judge_data):
    paths = [judge_data / "pandalm" / f"{name}testset-v1.rows-0-499.json" for name in ("", "gpt-3.5-turbo-")]
    assert import_files("pandalm", paths).ok

    def evaluated(*options):
        out = StringIO()
        command = "meta_evaluate", "pandalm", "--gold=people", "--format=json", "--rounds=20"
        call_command(*command, *options, stdout=out)
        return json.loads(out.getvalue())

    content = evaluated()

    rows, replies = (json.loads(path.read_text()) for path in paths)
    said = [[row[f"annotator{number}"] for row in rows] for number in (1, 2, 3)]
    wanted, alike = [], 0
    for mine, theirs in combinations(said, 2):
        table = np.zeros((3, 3))
        for pair in zip(mine, theirs, strict=True):
            table[pair] += 1
        alike += np.trace(table)
        wanted.append(cohens_kappa(table, return_results=False))
    people = content["baselines"][-1]["subsets"]["all"]
    assert sorted(each["kappa"] for each in people["kappas"]) == pytest.approx(sorted(wanted), abs=1e-6)
    assert (people["n"], people["agreement"]) == (500, pytest.approx(alike / 1500, abs=1e-6))

    majority = [Counter(each).most_common(1)[0] for each in zip(*said, strict=True)]
    sided = [number for number, (side, times) in enumerate(majority) if side and times > 1]
    own = content["judges"][0]["subsets"]["all"]
    used = content["parameters"]
    assert (used["instances"], used["ties_left_out"], own["n"]) == (len(sided), 500 - len(sided), len(sided))
    read = [(SIDES.get(str(replies[number]["gpt_result"])), majority[number][0]) for number in sided]
    points = [
        0.5 if verdict == 0 else float(verdict == gold) for verdict, gold in read if verdict is not None
    ]
    assert own["scored"] == len(points)
    assert own["accuracy"] == pytest.approx(sum(points) / len(points), abs=1e-6)

    # As PandaLM counts: the commonest of three classes is right, and an unreadable reply is a tie.
    right = [side for side, _ in majority]
    verdicts = [SIDES.get(str(reply["gpt_result"]), 0) for reply in replies]
    content = evaluated("--ties=class", "--unscored=tie")
    assert (content["parameters"]["instances"], content["parameters"]["ties_left_out"]) == (500, 0)
    own = content["judges"][0]["subsets"]["all"]
    assert own["accuracy"] == np.mean(np.equal(right, verdicts)) == 0.684
    table = np.zeros((3, 3))
    np.add.at(table, (right, verdicts), 1)
    hit, found, said = np.diag(table), table.sum(axis=1), table.sum(axis=0)
    macro = {"precision": hit / said, "recall": hit / found, "f1": 2 * hit / (found + said)}
    for name, shares in macro.items():
        assert own[name] == pytest.approx(shares.mean(), abs=1e-6)
        assert own[f"{name}_low"] < own[name] < own[f"{name}_high"]
    left_out = [
        verdict == side
        for reply, verdict, side in zip(replies, verdicts, right, strict=True)
        if str(reply["gpt_result"]) in SIDES
    ]
    own = evaluated("--ties=class")["judges"][0]["subsets"]["all"]
    assert own["accuracy"] == pytest.approx(np.mean(left_out), abs=1e-6)
