"""Rankings and plans of ratings at hand: the commands ``rank``, ``compare``, ``plan`` and ``anchor``."""

import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from arena.data.formats.files import InputFile
from leaderboard.stats.choices import RATER_EFFECTS
from leaderboard.stats.elo import EloParameters
from leaderboard.stats.planning import plan_from_assumptions, plan_from_data
from leaderboard.stats.ranking_method import Method
from leaderboard.stats.verdicts import TieBand
from leaderboard.terminal.anchoring import data_of_votes
from leaderboard.terminal.side_by_side import side_by_side
from leaderboard.terminal.votes import Votes, rank_votes, read_votes
from likert_arena.results import Anchoring, Comparison, PromptPlan, Ranking

Source: TypeAlias = str | Path | pd.DataFrame | Iterable[Mapping[str, Any]]
"""A file of ratings in any form that imports read, its rows as a DataFrame, or its rows as mappings."""

RECORDS = "records"
"""What errors call rows that are in no file."""


def rank(
    ratings: Source,
    *,
    method: str = "elo",
    ties: bool = True,
    tie_band: str | None = None,
    intervals: str | None = None,
    interval: float = 95.0,
    rounds: int | None = 1000,
    seed: int = 0,
    resample: str = "prompts",
    k: float = EloParameters().k,
    adjust: Sequence[str] = (),
    pairwise: bool = False,
    sheet: str = "",
    header: str = "",
) -> Ranking:
    """Rank the models of ``ratings`` with intervals at ``interval`` percent.

    Arguments mean what the options of the command ``rank`` mean; ``rounds=None`` gives no intervals.
    Raises ValueError: VoteFileError for ratings that cannot be read, with the row, StatsError for those that
    cannot be ranked in this way.
    """
    chosen = Method(
        name=method,
        ties=ties,
        tie_band=None if tie_band is None else TieBand.parse(tie_band),
        intervals=intervals or ("sandwich" if RATER_EFFECTS in adjust else "bootstrap"),
        interval=interval,
        rounds=rounds,
        seed=seed,
        resample=resample,
        elo=EloParameters(k=k),
        adjust=tuple(adjust),
        pairwise=pairwise,
    )
    votes = _votes(ratings, adjust=adjust, sheet=sheet, header=header)
    return Ranking(rank_votes(votes, chosen), votes.notes)


def compare(
    ratings: Source,
    *,
    interval: float = 95.0,
    rounds: int = 1000,
    seed: int = 0,
    resample: str = "prompts",
    k: float = EloParameters().k,
    sheet: str = "",
    header: str = "",
) -> Comparison:
    """Rank the models of ``ratings`` by every method, side by side. Raises as ``rank``."""
    votes = _votes(ratings, sheet=sheet, header=header)
    method = Method(interval=interval, rounds=rounds, seed=seed, resample=resample, elo=EloParameters(k=k))
    return Comparison(side_by_side(votes.ratings(), votes.names, method), votes.notes)


def plan(
    ratings: Source | None = None,
    *,
    between: tuple[str, str] | None = None,
    gap: float | None = None,
    raters_per_prompt: int | None = None,
    level: float = 95.0,
    power: float = 80.0,
    ties: bool = True,
    assumed: Mapping[str, float] | None = None,
    sheet: str = "",
    header: str = "",
) -> PromptPlan:
    """Estimate how many prompts tell two models apart, or show a gap in points.

    With ``ratings``, ``between`` names two of their models and ``gap`` replaces the measured one. Without,
    ``gap`` is needed, and ``assumed`` may hold ``ties``, ``correlation``, ``prompt_sd`` and ``contestants``.
    Raises as ``rank``.
    """
    if ratings is None:
        if gap is None:
            raise ValueError("a plan without ratings needs a gap in points")
        known: dict[str, Any] = dict(assumed or {})
        if raters_per_prompt is not None:
            known["raters"] = raters_per_prompt
        return PromptPlan(plan_from_assumptions(gap, level=level, power=power, **known), (), ())
    if assumed:
        raise ValueError(f"{', '.join(sorted(assumed))} cannot be assumed: with ratings it is measured")
    if between is None and gap is None:
        raise ValueError("name two models in between, or give a gap in points")
    votes = _votes(ratings, sheet=sheet, header=header)
    found = plan_from_data(
        votes.ratings(),
        between=None if between is None else (_number(votes, between[0]), _number(votes, between[1])),
        gap=gap,
        raters=raters_per_prompt,
        ties=ties,
        level=level,
        power=power,
    )
    return PromptPlan(found, votes.names, votes.notes)


def anchor(
    ratings: Source,
    judges: str | Sequence[str],
    *,
    without: Sequence[str] = (),
    ties: bool = True,
    interval: float = 95.0,
    sheet: str = "",
    header: str = "",
) -> Anchoring:
    """Rank models by people's ratings with the help of ``judges``, corrected for their bias.

    Raters are people but ``judges`` and those ``without`` whom the ranking is made. Raises as ``rank``.
    """
    named = [judges] if isinstance(judges, str) else list(judges)
    if not named:
        raise ValueError("judges needs a name")
    votes = _votes(ratings, sheet=sheet, header=header)
    source = str(ratings) if isinstance(ratings, str | Path) else RECORDS
    data = data_of_votes(source, votes, named, without=without, ties=ties)
    return Anchoring(data.ranking(interval), votes.notes)


def _number(votes: Votes, name: str) -> int:
    if name not in votes.names:
        raise ValueError(f"the ratings have no model {name!r}; they have {', '.join(votes.names[:20])}")
    return votes.names.index(name)


def _votes(ratings: Source, *, adjust: Sequence[str] = (), sheet: str, header: str) -> Votes:
    if isinstance(ratings, str | Path):
        return read_votes(ratings, adjust=adjust, sheet=sheet, header=header)
    with tempfile.TemporaryDirectory(prefix="likert-arena-") as folder:
        path = Path(folder) / "records.jsonl"
        with path.open("w", encoding="utf-8") as file:
            file.writelines(f"{json.dumps(_plain(row))}\n" for row in _rows(ratings))
        return read_votes(InputFile(path, RECORDS), adjust=adjust)


def _rows(ratings: pd.DataFrame | Iterable[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
    if isinstance(ratings, pd.DataFrame):
        rows: list[Mapping[str, Any]] = ratings.to_dict(orient="records")
        return rows
    return ratings


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row without what is missing, its numbers those of Python."""
    if not isinstance(row, Mapping):
        raise TypeError(f"a row of ratings is a mapping of columns to values, not {type(row).__name__}")
    return {str(name): _value(value) for name, value in row.items() if not _is_missing(value)}


def _value(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _is_missing(value: Any) -> bool:
    return (
        value is None or value is pd.NaT or value is pd.NA or (isinstance(value, float) and np.isnan(value))
    )
