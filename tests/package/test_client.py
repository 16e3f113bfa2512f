"""The client against a running arena: from a spreadsheet to a published board, and what goes wrong."""

import io
import json
import os
import urllib.request
from contextlib import suppress

import pandas as pd
import pytest

from likert_arena import Arena, ArenaError
from likert_arena.transport import Transport
from tests.arena.process.processes import ROOT
from tests.judging.endpoints.server import Answer, ChatServer, text_of
from tests.judging.processes import Arena as Processes
from tests.waiting import eventually

TOKEN = """
from arena.api.auth import issue_token
from tests.factories import make_rater, make_user
print(issue_token(make_rater(user=make_user(is_staff=True)), scopes=["operate", "runs", "read"]))
"""
PROMPTS, MODELS = 6, ("Heron", "Stork", "Crane")


def sheet():
    """Answers to some prompts, one a row; those of Heron are the longest."""
    return pd.DataFrame(
        [
            {"prompt": f"What is {number}?", "contestant": name, "answer": name * (5 - at) + str(number)}
            for number in range(PROMPTS)
            for at, name in enumerate(MODELS)
        ]
    )


def read(address):
    with urllib.request.urlopen(address, timeout=60) as answer:  # noqa: S310 - our own
        return answer.read()


def board(study):
    """Its standings by the judge, once all ratings are counted."""
    with suppress(ArenaError):
        frame = study.standings(raters="judge:loop")
        return frame if frame["games"].sum() == 2 * 3 * PROMPTS else None


def longer_is_better(body):
    """Rates by the lengths of both answers, as JSON."""
    first, second = (text_of(body).count(name) for name in MODELS[:2])
    return Answer(json.dumps({"rating": 2 if first >= second else 7}), tokens=(100, 10))


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    arena = Processes(tmp_path_factory.mktemp("arena"))
    token = arena.run(TOKEN).split()[-1]
    arena.start()
    with ChatServer(longer_is_better) as model:
        try:
            yield arena, Arena(arena.url, token), model, token
        finally:
            arena.kill()


@pytest.mark.processes
def test_a_spreadsheet_becomes_a_published_board(running, tmp_path):
    arena, client, model, _ = running
    study = client.create_study("From a spreadsheet", slug="notebook", goal=20)
    file = tmp_path / "answers.xlsx"
    sheet().to_excel(file, index=False)
    checked = study.upload(file)
    assert checked.found["state"] == "checked", checked.report
    assert study.contestants().empty, "a check stores nothing"
    checked.apply()
    assert set(study.contestants()["name"]) == set(MODELS)
    judge = client.add_judge("Loop", model="loopback", base_url=model.url, replies="json")
    assert judge["slug"] in set(client.judges()["slug"])
    assert study.estimate("loop")["assignments"] == 3 * PROMPTS
    assert study.change(points=8)["goal"] == 20
    study.publish(visibility="public", licence="CC-BY-4.0")
    run = study.judge("loop").follow()
    assert (run["state"], run["scored"]) == ("finished", 3 * PROMPTS)
    assert len(model.requests) == 3 * PROMPTS

    study.close()
    eventually(lambda: board(study) is not None, every=0.5)
    frame = board(study)
    assert set(frame["contestant"]) == set(MODELS)
    address = f"{arena.url}/studies/notebook/tables/standings.csv?raters=judge:loop"
    table = pd.read_csv(io.BytesIO(read(address)))
    assert list(frame["contestant"]) == list(table["Contestant"])
    assert list(frame["rating"].round(4)) == list(table["Rating"].round(4))
    figure = study.standings_figure(raters="judge:loop")
    assert list(figure.data[0].x) == list(frame["rating"])
    votes = study.comparisons()
    assert (len(votes), set(votes["rater"])) == (3 * PROMPTS, {"loop"})
    assert study.release("1.0", ["Ada Lovelace"])["version"] == "1.0"


@pytest.mark.processes
def test_refusals_are_the_arenas_own_sentences(running, tmp_path):
    arena, client, *_ = running
    with pytest.raises(ArenaError) as refused:
        client.create_study("Wrong", goal=0)
    assert (refused.value.status, refused.value.field) == (422, "goal")
    with pytest.raises(ArenaError, match="Unknown study"):
        client.study("nowhere").standings()
    with pytest.raises(ArenaError) as unknown:
        Arena(arena.url, "arena_wrong").judges()
    assert unknown.value.status == 401
    with pytest.raises(ArenaError, match="No such file"):
        client.create_study("Files").upload(tmp_path / "none.csv")
    study = client.create_study("Empty file")
    broken = tmp_path / "broken.csv"
    broken.write_text("prompt,contestant,answer\nWhy?,,Because.\n")
    with pytest.raises(ArenaError) as told:
        study.import_data(broken)
    assert "broken.csv, line 2" in str(told.value)
    assert study.contestants().empty


def test_writes_are_repeated_under_one_key_and_reads_until_they_are_there():
    seen = []

    def script(body):
        seen.append(body)
        return Answer(status=503, raw=b"{}") if len(seen) < 3 else Answer(raw=b'{"slug": "x"}')

    with ChatServer(script) as server:
        url = server.url.removesuffix("/v1")
        transport = Transport(url, "arena_x")
        assert transport.post("studies/", {"name": "X"}) == {"slug": "x"}
        keys = {headers["Idempotency-Key"] for headers in server.headers}
        assert (len(server.headers), len(keys)) == (3, 1)
        assert {headers["Authorization"] for headers in server.headers} == {"Bearer arena_x"}
        transport.post("studies/", {"name": "X"})
        assert server.headers[-1]["Idempotency-Key"] not in keys


def test_where_no_arena_answers_it_is_said():
    os.environ.pop("ARENA_TOKEN", None)
    with pytest.raises(ArenaError, match="No arena answers at http"):
        Arena("http://127.0.0.1:9").studies()
    page = Answer(status=400, raw=b"<html>")
    with ChatServer(lambda body: page) as server, pytest.raises(ArenaError, match="is no arena"):
        Transport(server.url, "").post("studies/", {})


NOTEBOOK = ROOT / "docs" / "notebook.ipynb"


def cells():
    return [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"]


def test_the_notebook_holds_no_output():
    assert cells()
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells())


@pytest.mark.processes
def test_the_notebook_runs_from_top_to_bottom(running, monkeypatch):
    arena, token = running[0], running[3]
    monkeypatch.setenv("ARENA_URL", arena.url)
    monkeypatch.setenv("ARENA_TOKEN", token)
    names = {}
    for cell in cells():
        exec("".join(cell["source"]), names)  # noqa: S102 - our own
    assert set(names["board"]["contestant"]) == {"Heron", "Stork", "Crane"}
