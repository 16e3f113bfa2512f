"""/metrics: who may read them, and that each figure is what the rows say."""

import re
import shutil
import subprocess
from collections import Counter
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from arena.models import ImportJob
from judging.models import ProposalCall
from leaderboard.models import Refresh
from leaderboard.refreshing import services
from tests.arena.process.processes import ROOT
from tests.factories import make_comparison, make_judge, make_prompt, make_run, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

TOKEN = "only-for-this-test-and-nobody-else"


def read(client: Any, **headers: str) -> dict[str, float]:
    """The value of each series by name with labels."""
    text = client.get("/metrics", headers=headers).content.decode()
    return {
        name: float(value) for name, value in re.findall(r"^([^#\s].*?) ([\d.e+-]+)$", text, re.MULTILINE)
    }


def test_they_are_what_the_rows_say(client: Any) -> None:
    comparison = make_comparison()
    study = comparison.study
    services.refresh_if_stale(study)
    amounts = {"currency": "USD", "spent": Decimal("1.25"), "reserved": Decimal(2)}
    run = make_run(study=study, judge=make_judge(), state="queued", **amounts)
    since = timezone.now() - timedelta(minutes=10)
    asked = {"judge": run.judge, "batch": uuid4(), "due_at": since}
    ProposalCall.objects.create(prompt=comparison.pair.prompt, **asked)
    ProposalCall.objects.create(
        prompt=make_prompt(study=study), state="replied", cost=Decimal("0.5"), currency="USD", **asked
    )
    Refresh.objects.filter(study=study).update(wanted_at=since, error="It did not converge.")
    ImportJob.objects.create(study=study, state="checking")
    client.get("/studies/none-has-this-name/")

    found = read(client)
    recorded = {name: value for name, value in found.items() if name.startswith("arena_ratings_recorded")}
    assert {name: value for name, value in recorded.items() if value} == {
        f'arena_ratings_recorded{{source="{comparison.source}",task="compare"}}': 1
    }
    assert found['arena_money_spent{currency="USD"}'] == 1.75
    assert found['arena_money_reserved{currency="USD"}'] == 2
    assert found['arena_judge_runs{state="queued"}'] == 1
    assert found['arena_judge_runs{state="failed"}'] == 0
    assert found['arena_judge_calls{outcome="replied"}'] == 0
    assert found['arena_proposal_calls{outcome="replied"}'] == 1
    assert found['arena_queue_depth{queue="proposals"}'] == 1
    assert 600 <= found['arena_queue_oldest_seconds{queue="proposals"}'] < 660
    assert found['arena_queue_depth{queue="judging"}'] == 1
    assert found['arena_queue_depth{queue="imports"}'] == 1
    assert found['arena_queue_depth{queue="statistics"}'] == 1
    assert 600 <= found['arena_queue_oldest_seconds{queue="statistics"}'] < 660
    assert found["arena_refresh_failing"] == 1
    assert found["arena_refresh_seconds"] > 0
    assert found["arena_database_up"] == 1
    missed = [value for name, value in found.items() if 'status="404"' in name and "GET" in name]
    assert sum(missed) >= 1


def wrong_in(text: str) -> list[Any]:
    """Families and series that are told twice, and samples apart from their family."""
    families = list(text_string_to_metric_families(text))
    told: list[Any] = re.findall(r"^# TYPE (\S+)", text, re.MULTILINE)
    told += [(each.name, *sorted(each.labels.items())) for one in families for each in one.samples]
    apart = [one.name for one in families if one.type == "unknown"]
    return apart + [each for each, number in Counter(told).items() if number > 1]


@pytest.mark.both_databases(False)
def test_they_are_what_prometheus_reads(client: Any) -> None:
    services.refresh_if_stale(make_comparison().study)
    client.get("/")
    text = client.get("/metrics").content.decode()
    assert text.count('arena_queue_depth{queue="') == 7
    assert wrong_in(text) == []
    twice = "# HELP a_b Some.\n# TYPE a_b gauge\na_b 1\n"
    assert (wrong_in(twice), wrong_in(twice * 2)) == ([], ["a_b", ("a_b",)])
    if promtool := shutil.which("promtool"):
        checked = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, text=True)
        assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")


def test_no_label_holds_what_people_wrote(client: Any) -> None:
    study = make_study(slug="secret-study", name="A name nobody may read")
    client.get(f"/studies/{study.slug}/")
    client.get("/join/an-invitation-nobody-may-read/")
    text = client.get("/metrics").content.decode()
    for hidden in ("secret-study", "nobody may read", "nobody-may-read"):
        assert hidden not in text


def test_they_take_few_queries(client: Any) -> None:
    make_comparison()
    client.get("/metrics")
    with CaptureQueriesContext(connection) as queries:
        client.get("/metrics")
    # PostgreSQL is asked whether it answers on a connection of its own.
    assert len([query for query in queries if query["sql"] != "SELECT 1"]) == 24


def test_without_a_token_only_this_machine_reads_them(client: Any) -> None:
    assert client.get("/metrics").status_code == 200
    assert client.get("/metrics", REMOTE_ADDR="192.0.2.1").status_code == 404
    assert client.get("/metrics", REMOTE_ADDR="").status_code == 404
    # A proxy on this machine passes on what others ask.
    assert client.get("/metrics", headers={"X-Forwarded-For": "127.0.0.1"}).status_code == 404
    assert client.get("/metrics", headers={"X-Forwarded-Proto": "https"}).status_code == 404


def test_with_a_token_whoever_has_it(client: Any, settings: Any) -> None:
    settings.METRICS_TOKEN = TOKEN
    assert client.get("/metrics").status_code == 404
    assert client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}x"}).status_code == 404
    given = client.get(
        "/metrics", headers={"Authorization": f"Bearer {TOKEN}", "X-Forwarded-For": "192.0.2.1"}
    )
    assert given.status_code == 200
    assert client.post("/metrics").status_code == 405


def test_a_database_that_is_away_is_told(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> Any:
        raise DatabaseError("away")

    monkeypatch.setattr("arena.monitoring.recorded.metrics", away)
    found = read(client)
    assert found["arena_database_up"] == 0
    assert any(name.startswith("arena_http_requests_total") for name in found)


@pytest.mark.both_databases(False)
def test_documents_and_alerts_name_what_is_there(client: Any) -> None:
    services.refresh_if_stale(make_comparison().study)
    there = set(re.findall(r"^# TYPE (\w+)", client.get("/metrics").content.decode(), re.MULTILINE))
    there = {name for name in there if not name.endswith("_created")}
    documented = re.findall(
        r"^\| `(arena_\w+)` \|", (ROOT / "docs" / "monitoring.md").read_text(), re.MULTILINE
    )
    assert set(documented) == there
    rules = (ROOT / "deploy" / "prometheus" / "arena.rules.yml").read_text()
    assert set(re.findall(r"arena_\w+", rules)) <= there
    alerts = set(re.findall(r"alert: (\w+)", rules))
    assert alerts == set(
        re.findall(r"^\| (Arena\w+) \|", (ROOT / "docs" / "monitoring.md").read_text(), re.M)
    )
