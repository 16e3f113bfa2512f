"""The example of docs/api.md, run as it stands there by a shell against an arena."""

import json
import re
import shutil
import subprocess
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from arena.models import Comparison
from leaderboard.refreshing import services
from tests import factories

PAGE = (Path(__file__).parents[3] / "docs" / "api.md").read_text()


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(not shutil.which("curl"), reason="needs curl")
def test_the_documented_example_runs_to_its_end(live_server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    block = PAGE.split("```console\n")[1].split("```")[0]
    commands = re.findall(r"^\$ ((?:.*\\\n)*.*)$", block, re.MULTILINE)
    replies = re.findall(r'^\{"(\w+)": ', block, re.MULTILINE)
    manage, setting, *asked = commands
    study = factories.make_small_study(prompts=5, slug="demo", visibility="public")
    factories.make_rater(kind="judge", slug="my-program")
    monkeypatch.setattr(services, "ROUNDS", 20)
    out = StringIO()
    call_command(*manage.removeprefix("python manage.py ").split(), stdout=out)
    token = out.getvalue().split()[-1]
    assert set(re.findall(r"(\w+)=", setting)) == {"TOKEN", "ARENA"}
    begun = f"TOKEN={token} ARENA={live_server.url}/api/v1"

    def run(script: str) -> list[str]:
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=100, check=True)
        return re.findall(r"^\{.*?\}$", done.stdout.replace("}{", "}\n{"), re.MULTILINE)

    *before, last = asked
    opened, claimed, rated, loop = before
    pair = json.loads(run("\n".join([begun, opened, claimed]))[0])["assignment"]
    shown = re.search(r'"assignment": "(\w+)"', rated)
    assert shown
    told = run("\n".join([begun, opened, rated.replace(shown[1], pair)]))
    assert json.loads(told[0])["status"] == "scored"
    run("\n".join([begun, opened, loop]))
    assert Comparison.objects.filter(study=study, rater__slug="my-program").count() == 15
    services.refresh(study)
    ranking = json.loads(run("\n".join([begun, last]))[0])
    assert ranking["games"] == 15
    assert replies == ["assignment", "assignment", "study"]
