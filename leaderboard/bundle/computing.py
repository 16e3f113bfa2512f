"""Computing the tables of a board from the inputs of a bundle. No database here."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from leaderboard.bundle.arrays import opinions_from
from leaderboard.bundle.comparing import Place, Verdict
from leaderboard.bundle.contents import (
    COMPARISONS,
    OPINIONS,
    PARAMETERS,
    RESULTS,
    SIZES,
    BundleError,
    sha256,
)
from leaderboard.bundle.sizes import sizes_from

if TYPE_CHECKING:
    from leaderboard.bundle.archive import Reader
    from leaderboard.reading.games import Opinions
    from leaderboard.reading.measures import Texts
    from leaderboard.slices import Table
    from leaderboard.stats import Method

MOST_ROUNDS: Final = 100_000


@dataclass(frozen=True)
class Report:
    """What a bundle is about and how its tables came out; ``digest`` is that of the computed tables."""

    study: str
    methodology: str
    made_with: Mapping[str, Any]
    verdict: Verdict
    published_digest: str
    digest: str


def recompute(bundle: Reader, threads: int | None = None) -> Report:
    """Compute every table again and compare it with what was published. Raises BundleError."""
    parameters = bundle.json(PARAMETERS)
    method = method_of(parameters, threads)
    published = _published(bundle.read(RESULTS))
    opinions = opinions_from(bundle.read(OPINIONS), bundle.read(COMPARISONS))
    verdict, lines = Verdict(), []
    left = dict(published)
    texts = sizes_from(bundle.read(SIZES)) if SIZES in bundle else None
    for table in tables(opinions, method, texts):
        place = place_of(table)
        lines.append(line_of(place, table.payload))
        if place not in left:
            verdict.missing(place, "was not published")
            continue
        payload = left.pop(place)
        same = payload == table.payload
        given = {} if same else json.loads(payload)
        verdict.add(place, given, {} if same else json.loads(table.payload), same_text=same)
    for place in sorted(left):
        verdict.missing(place, "was published, and did not come out")
    return Report(
        str(parameters.get("study", "")),
        str(parameters["methodology"]),
        parameters.get("versions", {}),
        verdict,
        digest_of([line_of(place, payload) for place, payload in published.items()]),
        digest_of(lines),
    )


def tables(opinions: Opinions, method: Method, texts: Texts | None) -> Iterator[Table]:
    """Every table of a snapshot."""
    from leaderboard import slices
    from leaderboard.stats import StatsError

    try:
        yield from slices.tables(opinions, method, {}, texts)
    except StatsError as error:
        raise BundleError(f"The comparisons in the bundle cannot be ranked: {error}.") from error


def method_of(parameters: Any, threads: int | None = None) -> Method:
    """The method of a board from what its bundle says. Raises BundleError."""
    from leaderboard.stats import METHODOLOGY, EloParameters, Method, StatsError

    try:
        made_by = str(parameters["methodology"])
        if made_by != METHODOLOGY:
            raise BundleError(
                f"The bundle was made by version {made_by[:20]} of the methodology; this program computes by "
                f"version {METHODOLOGY}. Take the program of the release or commit that the bundle names."
            )
        rounds = int(parameters["rounds"])
        if not 1 <= rounds <= MOST_ROUNDS:
            raise BundleError(f"The bundle asks for {rounds} rounds; there may be 1 to {MOST_ROUNDS:,}.")
        elo = EloParameters(**{name: _number(parameters[name]) for name in ("k", "scale", "base", "init")})
        return Method(
            rounds=rounds,
            interval=_number(parameters["interval"]),
            seed=int(parameters["seed"]),
            elo=elo,
            threads=threads,
        )
    except (KeyError, TypeError, ValueError, OverflowError, StatsError) as error:
        raise BundleError(f"The parameters in the bundle make no sense: {error}.") from error


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{str(value)[:50]!r} is no number")
    return value


def place_of(table: Any) -> Place:
    """Which table it is; of a computed one or of a stored one."""
    return table.kind, table.raters, table.ties, table.category, table.method


def line_of(place: Place, payload: str) -> str:
    """One table as a line of the results: its place, and its content as it was published."""
    names = ("kind", "raters", "ties", "category", "method")
    where = json.dumps(dict(zip(names, place, strict=True)), sort_keys=True, ensure_ascii=False)
    return f'{{"table":{where},"content":{payload}}}\n'


def digest_of(lines: list[str]) -> str:
    """One digest of all tables, whatever order they came in."""
    return sha256("".join(sorted(lines)).encode("utf-8", "surrogatepass"))


def _published(content: bytes) -> dict[Place, str]:
    """The published tables by their place, each as the text it was published as."""
    from leaderboard.slices import canonical

    found: dict[Place, str] = {}
    try:
        for line in content.splitlines():
            one = json.loads(line)
            where = one["table"]
            place = (where["kind"], where["raters"], where["ties"], where["category"], where["method"])
            if place in found or not all(isinstance(part, str) for part in place):
                raise ValueError("a table stands there twice")
            found[place] = canonical(one["content"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BundleError("The results in the bundle cannot be read.") from error
    return found
