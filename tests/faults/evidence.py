"""What two witnesses say after a drill: the database, read with SQL, and the log of the model server."""

import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.faults.drill import Course
from tests.faults.places import Place

RESULTS = """
SELECT (SELECT count(*) FROM judging_runassignment),
       (SELECT count(*) FROM arena_comparison WHERE status = 'scored'),
       (SELECT count(*) FROM arena_assignment WHERE state = 'failed'),
       (SELECT count(*) FROM arena_comparison),
       (SELECT count(DISTINCT assignment_id) FROM arena_comparison),
       (SELECT count(*) FROM arena_assignment WHERE state = 'claimed')
"""
REASONS = "SELECT reason, count(*) FROM arena_comparison WHERE status = 'unscored' GROUP BY reason"
CALLS = """
SELECT state, finished_at, messages, raw_reply = '' AND key LIKE '%/%'
FROM judging_judgecall WHERE cached_from_id IS NULL
"""
"""Last, whether it is an empty reply to a voter: of no use to others, who may ask the same again."""

REUSED = "SELECT count(*) FROM judging_judgecall WHERE cached_from_id IS NOT NULL"


@dataclass(frozen=True)
class Line:
    """One line of the report; holds says whether it is as promised, None where nothing was promised."""

    what: str
    value: str
    holds: bool | None = None


@dataclass(frozen=True)
class Calls:
    """The call records against the requests that the model server saw."""

    states: Counter[str]
    requests: int
    unrecorded: int
    unsent: int
    replied: int
    asked_again: int


def compare(rows: list[tuple[Any, ...]], log: list[tuple[float, str]]) -> Calls:
    """Both witnesses together; rows as CALLS gives them. The text sent says which question it was."""
    recorded: Counter[str] = Counter()
    committed: dict[str, float] = {}
    replies: Counter[str] = Counter()
    replied = 0
    for state, finished_at, messages, is_of_no_use in rows:
        text = (json.loads(messages) if isinstance(messages, str) else messages)[-1]["content"]
        recorded[text] += 1
        replied += state == "replied"
        if state == "replied" and not is_of_no_use:
            replies[text] += 1
            committed[text] = moment(finished_at).timestamp()
    asked = Counter(text for _, text in log)
    doubled = (replies - Counter(committed.keys())).total()
    late = sum(at > committed[text] for at, text in log if text in committed)
    return Calls(
        states=Counter(row[0] for row in rows),
        requests=len(log),
        unrecorded=(asked - recorded).total(),
        unsent=(recorded - asked).total(),
        replied=replied,
        asked_again=doubled + late,
    )


def moment(value: Any) -> datetime:
    """A point in time as either database gives it."""
    return value if isinstance(value, datetime) else datetime.fromisoformat(value).replace(tzinfo=UTC)


def in_a_folder(name: str, drill: Callable[[Path], list[Line]]) -> list[Line]:
    """What a drill finds in a folder of its own, which stays with logs and database where a check fails."""
    folder = Path(tempfile.mkdtemp(prefix=f"arena-faults-{name}-"))
    report = drill(folder)
    if all(line.holds is not False for line in report):
        shutil.rmtree(folder)
    return report


def lines(place: Place, log: list[tuple[float, str]], course: Course, pairs: int) -> list[Line]:
    """The report on one drill."""
    assigned, scored, failed, comparisons, distinct, claimed = place.query(RESULTS)[0]
    reasons = {str(reason): int(count) for reason, count in place.query(REASONS)}
    unscored = sum(reasons.values())
    seen = compare(place.query(CALLS), log)
    without_reply = seen.requests - seen.replied
    behind = place.board_behind()
    failures, abandoned = seen.states["failed"], seen.states["abandoned"]
    ended = sum(course.ended)
    named = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
    return [
        *(Line(name, str(count)) for name, count in sorted(course.faults.items())),
        Line("state of the run", place.run_state(), place.run_state() == "finished"),
        Line("assigned", str(assigned), assigned == pairs),
        Line("scored", str(scored)),
        Line("unscored", f"{unscored} ({named})"),
        Line("failed", str(failed)),
        Line(
            "scored + unscored + failed",
            str(scored + unscored + failed),
            scored + unscored + failed == assigned,
        ),
        Line("comparisons", str(comparisons), comparisons == scored + unscored),
        Line("assignments compared twice", str(comparisons - distinct), comparisons == distinct),
        Line("committed replies", str(seen.replied), seen.replied >= comparisons),
        Line("replies used again", str(place.query(REUSED)[0][0])),
        Line("committed replies asked for again", str(seen.asked_again), seen.asked_again == 0),
        Line("assignments still claimed", str(claimed), claimed == 0),
        Line("requests the model server saw", str(seen.requests)),
        Line("requests without a record", str(seen.unrecorded), seen.unrecorded == 0),
        Line(
            "requests without a committed reply",
            str(without_reply),
            without_reply == failures + abandoned - seen.unsent,
        ),
        Line("failed calls", str(failures)),
        Line("abandoned calls", str(abandoned)),
        # A record whose commit PostgreSQL could not confirm any more is given up unsent, and costs nothing.
        Line(
            "abandoned calls that were asked", str(abandoned - seen.unsent), abandoned - seen.unsent <= ended
        ),
        Line("calls in flight where their process ended", str(ended)),
        Line("calls in flight where PostgreSQL restarted", str(sum(course.kept))),
        Line(
            "records of requests that were never sent", str(seen.unsent), seen.unsent <= failures + abandoned
        ),
        Line("comparisons the newest board lacks", str(behind), behind == 0),
    ]
