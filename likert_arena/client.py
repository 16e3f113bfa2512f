"""A client of a running arena: studies, imports, judges, runs and their numbers, as DataFrames and figures.

    from likert_arena import Arena
    study = Arena("http://127.0.0.1:8000", "arena_...").study("demo")
    study.standings()

Every method is a door to one or two operations of the API; docs/api.md describes what they take and give.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import pandas as pd
import plotly.graph_objects as go
from tqdm import tqdm

from likert_arena.results import drawn_standings, flat
from likert_arena.transport import ArenaError as ArenaError
from likert_arena.transport import Transport

MOST_AT_ONCE: Final = 500
"""Ratings of a page, as many as the API gives."""

LOOKS: Final = 0.5
"""Seconds between two looks at what goes on."""

Settings = Mapping[str, Any]


class Arena:
    """An arena at an address. The token is by default that in ARENA_TOKEN; public studies need none."""

    def __init__(self, url: str = "http://127.0.0.1:8000", token: str | None = None) -> None:
        self._transport = Transport(url, os.environ.get("ARENA_TOKEN", "") if token is None else token)

    def studies(self) -> pd.DataFrame:
        """The studies that the token may see."""
        return pd.DataFrame(self._transport.pages("studies/"))

    def study(self, slug: str) -> "Study":
        """A study by its short name, which is not looked up yet."""
        return Study(self._transport, slug)

    def create_study(self, name: str, *, slug: str | None = None, **settings: Any) -> "Study":
        """A new study, a draft until it is published. Raises ArenaError."""
        given = {"name": name, **settings} | ({} if slug is None else {"slug": slug})
        return Study(self._transport, self._transport.post("studies/", given)["slug"])

    def judges(self) -> pd.DataFrame:
        """The judges that are there."""
        return pd.DataFrame(self._transport.get("judges/"))

    def add_judge(self, name: str, **settings: Any) -> Settings:
        """A new judge; its settings as they are stored. Raises ArenaError."""
        stored: Settings = self._transport.post("judges/", {"name": name, **settings})
        return stored

    def change_judge(self, slug: str, **settings: Any) -> Settings:
        """The settings of a judge after these changes. Raises ArenaError."""
        stored: Settings = self._transport.patch(f"judges/{slug}/settings/", settings)
        return stored

    def test_judge(self, slug: str) -> Mapping[str, Any]:
        """What came of one question to a judge, which costs a call. Raises ArenaError."""
        found: Mapping[str, Any] = self._transport.post(f"judges/{slug}/test/")
        return found


@dataclass(frozen=True)
class Study:
    """A study of an arena. Methods raise ArenaError for what the arena refuses."""

    _transport: Transport
    slug: str

    # --- Setting up

    def settings(self) -> Settings:
        found: Settings = self._transport.get(self._path("settings/"))
        return found

    def change(self, **settings: Any) -> Settings:
        """The settings after these changes."""
        found: Settings = self._transport.patch(self._path("settings/"), settings)
        return found

    def publish(self, **settings: Any) -> Self:
        """Publish the study, with settings such as ``visibility`` and ``licence``."""
        self._transport.post(self._path("publish/"), settings)
        return self

    def pause(self, note: str = "") -> Self:
        return self._decide("paused", note)

    def resume(self, note: str = "") -> Self:
        return self._decide("resumed", note)

    def close(self, note: str = "") -> Self:
        return self._decide("closed", note)

    def reopen(self, note: str = "") -> Self:
        return self._decide("reopened", note)

    def _decide(self, kind: str, note: str) -> Self:
        self._transport.post(self._path("state/"), {"kind": kind, "note": note})
        return self

    def upload(self, *files: str | Path | pd.DataFrame, rows: str = "") -> "Import":
        """Upload files and have them checked; nothing is imported before ``apply``.

        A DataFrame is sent as CSV. ``rows`` says what the rows of a table are, such as "comparisons".
        """
        sent = [("files", _file(number, each)) for number, each in enumerate(files, 1)]
        data = {"rows": rows} if rows else {}
        job = self._transport.post(self._path("imports/"), files=sent, data=data)
        return Import(self._transport, self.slug, job["id"]).wait()

    def import_data(self, *files: str | Path | pd.DataFrame, rows: str = "") -> Mapping[str, Any]:
        """Import files: the report. Raises ArenaError with the first errors where nothing can be imported."""
        return self.upload(*files, rows=rows).apply()

    # --- Models, judges, people

    def models(self) -> pd.DataFrame:
        return pd.DataFrame(self._transport.get(self._path("models/")))

    def add_model(self, name: str, **settings: Any) -> Settings:
        """A model that can be asked at an endpoint; its settings as they are stored."""
        stored: Settings = self._transport.post(self._path("models/"), {"name": name, **settings})
        return stored

    def estimate(self, judge: str, **wanted: Any) -> Mapping[str, Any]:
        """What a run of a judge would take and cost."""
        body = {"study": self.slug, "judge": judge, **wanted}
        found: Mapping[str, Any] = self._transport.post("judge-runs/estimate/", body)
        return found

    def judge(self, judge: str, **wanted: Any) -> "Run":
        """Start a run of a judge, with ``limit``, ``budget`` and so on; ``Run.follow`` waits for its end."""
        run = self._transport.post("judge-runs/", {"study": self.slug, "judge": judge, **wanted})
        return Run(self._transport, "judge-runs", run["id"])

    def generate(self, model: str, **wanted: Any) -> "Run":
        """Let a model write the answers that it lacks."""
        body = {"study": self.slug, "contestant": model, **wanted}
        return Run(self._transport, "writing-runs", self._transport.post("writing-runs/", body)["id"])

    def invite(self, **invitation: Any) -> Mapping[str, Any]:
        """A link with which people join."""
        found: Mapping[str, Any] = self._transport.post(self._path("invitations/"), invitation)
        return found

    def raters(self) -> pd.DataFrame:
        return pd.DataFrame(self._transport.get(self._path("raters/")))

    # --- Numbers

    def standings(self, **setting: Any) -> pd.DataFrame:
        """The leaderboard: a row for each model. ``setting`` is as in the address of its page."""
        return pd.DataFrame([flat(row) for row in self._standings(setting)["standings"]])

    def standings_figure(self, **setting: Any) -> go.Figure:
        """The leaderboard's figure, as on its page."""
        return drawn_standings([("Score", self._standings(setting))])

    def compare(self, first: str, second: str, **setting: Any) -> Mapping[str, Any]:
        """Two models head to head, by their short names."""
        found: Mapping[str, Any] = self._transport.get(self._path(f"compare/{first}/{second}/"), **setting)
        return found

    def anchored(self, **setting: Any) -> pd.DataFrame:
        """People's ranking with the help of a judge: a row for each model."""
        found = self._transport.get(self._path("anchored/"), **setting)
        return pd.json_normalize(found["standings"])

    def trust(self, **setting: Any) -> Mapping[str, Any]:
        """How often judges are right."""
        found: Mapping[str, Any] = self._transport.get(self._path("trust/"), **setting)
        return found

    def contestants(self) -> pd.DataFrame:
        return pd.DataFrame(self._transport.pages(self._path("contestants/")))

    def comparisons(self, **chosen: Any) -> pd.DataFrame:
        """Every rating of a closed study, a row each."""
        return pd.DataFrame(self._votes(chosen))

    def release(self, version: str, authors: Sequence[str], **more: Any) -> Mapping[str, Any]:
        """A release, which keeps the numbers forever."""
        body = {"version": version, "authors": list(authors), **more}
        found: Mapping[str, Any] = self._transport.post(self._path("releases/"), body)
        return found

    def _standings(self, setting: Settings) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._transport.get(self._path("standings/"), **setting)
        return found

    def _votes(self, chosen: Settings) -> Iterator[Mapping[str, Any]]:
        after: int | None = 0
        while after is not None:
            page = self._transport.get(self._path("comparisons/"), after=after, limit=MOST_AT_ONCE, **chosen)
            yield from page["items"]
            after = page["next"]

    def _path(self, rest: str) -> str:
        return f"studies/{self.slug}/{rest}"


@dataclass
class Import:
    """Files on their way into a study. ``found`` is what the arena last said of them."""

    _transport: Transport
    study: str
    number: int
    found: Mapping[str, Any] | None = None

    @property
    def report(self) -> Mapping[str, Any]:
        """What would be imported, with errors and notes; empty while nothing was checked."""
        return (self.found or {}).get("report") or {}

    def check(self, files: Sequence[Mapping[str, Any]] = ()) -> Self:
        """Check again with choices for files by name: ``format``, ``columns``, ``values`` and so on."""
        self._transport.post(self._path("check/"), {"files": list(files)})
        return self.wait()

    def apply(self, *, leave_out: bool = False) -> Mapping[str, Any]:
        """Import what the check found: the report. ``leave_out``: without the rows that have errors."""
        if (self.found or {}).get("state") != "checked" or (self.report.get("errors") and not leave_out):
            raise ArenaError(f"Nothing can be imported: {self._why()}")
        seen = (self.found or {}).get("seen")
        self._transport.post(self._path("apply/"), {"leave_out": leave_out, "seen": seen})
        if self.wait().found and self.found["state"] != "applied":  # type: ignore[index]
            raise ArenaError(f"Nothing was imported: {self._why()}")
        return self.report

    def cancel(self) -> None:
        self._transport.post(self._path("cancel/"))

    def wait(self) -> Self:
        """Wait until the arena has checked or imported the files."""
        followed = _followed(lambda: self._transport.get(self._path("")), "import", _share_of_import)
        self.found = followed
        return self

    def _why(self) -> str:
        errors = self.report.get("errors") or ()
        told = [f"{each['file']}, line {each['line']}: {each['reason']}" for each in errors[:5]]
        return "; ".join(told) or str((self.found or {}).get("error") or "the check was not passed")

    def _path(self, rest: str) -> str:
        return f"studies/{self.study}/imports/{self.number}/{rest}"


@dataclass(frozen=True)
class Run:
    """A run of a judge or of a model that writes."""

    _transport: Transport
    kind: str
    number: int

    def status(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._transport.get(f"{self.kind}/{self.number}")
        return found

    def follow(self) -> Mapping[str, Any]:
        """Wait for the end, with a progress bar: the run as it is then. Raises ArenaError where it pauses."""
        found = _followed(self.status, self.kind.replace("-", " ").removesuffix("s"), _share_of_run)
        if found["state"] not in _DONE:
            raise ArenaError(f"The run is {found['state']}: {found.get('error') or 'no reason is given'}")
        return found

    def pause(self) -> Mapping[str, Any]:
        return self._do("pause")

    def resume(self) -> Mapping[str, Any]:
        return self._do("resume")

    def cancel(self) -> Mapping[str, Any]:
        return self._do("cancel")

    def _do(self, what: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._transport.post(f"{self.kind}/{self.number}/{what}/")
        return found


_DONE: Final = frozenset({"finished", "cancelled"})
_UNDER_WAY: Final = frozenset({"uploading", "checking", "applying", "queued", "running"})
"""States of imports and runs in which somebody works on them."""


def _followed(
    look: Callable[[], Mapping[str, Any]], name: str, share: Callable[[Mapping[str, Any]], float]
) -> Mapping[str, Any]:
    with tqdm(total=100, desc=name, unit="%", leave=False, delay=1) as bar:
        while (found := look())["state"] in _UNDER_WAY:
            bar.update(max(0.0, 100 * share(found) - bar.n))
            time.sleep(LOOKS)
        bar.update(max(0.0, 100 - bar.n))
    return found


def _share_of_import(found: Mapping[str, Any]) -> float:
    return float(found["progress"] or 0.0)


def _share_of_run(found: Mapping[str, Any]) -> float:
    whole = found.get("assigned") or found.get("planned") or 0
    return 1 - found.get("waiting", whole) / whole if whole else 0.0


def _file(number: int, given: str | Path | pd.DataFrame) -> tuple[str, bytes]:
    """Name and content of a file, whole: a try that failed half-way can be repeated."""
    if isinstance(given, pd.DataFrame):
        return f"table-{number}.csv", given.to_csv(index=False).encode()
    path = Path(given)
    try:
        return path.name, path.read_bytes()
    except OSError as error:
        raise ArenaError(f"{path}: cannot be read ({error.strerror or error})") from error
