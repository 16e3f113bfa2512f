import json
import subprocess
import sys

# What only workers and commands load: big libraries, and all that computes with them. Of leaderboard.stats
# pages load what needs NumPy at most.
FOR_WORKERS = (
    "scipy",
    "pandas",
    "leaderboard.refreshing",
    "leaderboard.snapshots.reading",
    "leaderboard.snapshots.standings",
    "leaderboard.terminal.votes",
)

LOAD_EVERY_VIEW = """
import json, sys, django
django.setup()
from django.template.loader import get_template
from django.urls import get_resolver
get_template("base.html")  # loads the libraries of tags
def load(patterns):
    for each in patterns:
        load(getattr(each, "url_patterns", ()))
load(get_resolver().url_patterns)
print(json.dumps(list(sys.modules)))
"""


def test_the_web_process_loads_nothing_that_computes():
    # In a process of its own: the modules of this one were loaded by other tests.
    found = subprocess.run(
        [sys.executable, "-c", LOAD_EVERY_VIEW],
        env={"DJANGO_SETTINGS_MODULE": "tests.settings", "PYTHONPATH": "."},
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(json.loads(found.stdout.splitlines()[-1]))
    assert "leaderboard.standings.page" in loaded
    assert loaded.isdisjoint(FOR_WORKERS)
