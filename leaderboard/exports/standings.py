"""The published ranking as a table, one row per contestant."""

from collections.abc import Iterator
from typing import Any, Final

from arena.formats.writing.schema import Row, Table, Type
from arena.models import Study
from leaderboard.board.board import Board
from leaderboard.board.setting import UnknownSettingError, parse
from leaderboard.exports.errors import ExportError
from leaderboard.models import Snapshot

_INTEGERS: Final = ("rank", "rank_ub", "games", "wins", "losses", "ties", "component")
_TEXTS: Final = ("contestant", "group", "unbounded")
_STANDING: Final = (
    *("rank", "rank_ub", "contestant", "rating", "low", "high", "p_first", "group", "unbounded"),
    *_INTEGERS[2:],
)
_PARAMETERS: Final = {
    "tie_band": Type.TEXT,
    "interval": Type.NUMBER,
    "intervals": Type.TEXT,
    "rounds": Type.INTEGER,
    "resample": Type.TEXT,
    "clusters": Type.INTEGER,
    "units": Type.INTEGER,
    "seed": Type.INTEGER,
    "k": Type.NUMBER,
    "scale": Type.NUMBER,
    "base": Type.NUMBER,
    "init": Type.NUMBER,
    "prior_games": Type.NUMBER,
    "prior_rounds": Type.INTEGER,
    "methodology": Type.TEXT,
}

STANDINGS: Final = Table(
    "standings",
    {
        **dict.fromkeys(_STANDING, Type.NUMBER),
        **dict.fromkeys(_INTEGERS, Type.INTEGER),
        **dict.fromkeys(_TEXTS, Type.TEXT),
        **dict.fromkeys(("study", "raters", "category", "method", "tie_rule"), Type.TEXT),
        "simulated": Type.FLAG,
        "all_games": Type.INTEGER,
        "left_out": Type.INTEGER,
        **_PARAMETERS,
        "snapshot_at": Type.MOMENT,
        "watermark": Type.TEXT,
    },
)
"""One row per contestant; every row carries the method its numbers were made by."""


def standings(study: Study, setting: dict[str, str]) -> list[Row]:
    """The published standings of one setting. Raises ExportError where there are none."""
    snapshot = Snapshot.objects.newest(study)
    if snapshot is None:
        raise ExportError(f'The study "{study.slug}" has no snapshot yet; make one: refresh {study.slug}.')
    try:
        chosen = parse(setting, snapshot.counts)
    except UnknownSettingError as error:
        raise ExportError(str(error)) from error
    board = Board.read(study, snapshot, chosen) if chosen else None
    if board is None or board.content is None:
        raise ExportError(f'The study "{study.slug}" has no games for this setting, so it has no standings.')
    return list(_standing_rows(board, board.content))


def _standing_rows(board: Board, content: Any) -> Iterator[Row]:
    parameters = content["parameters"]
    method = {
        "study": board.study.slug,
        "raters": board.setting.raters,
        "category": board.setting.category or None,
        "method": content["method"],
        "tie_rule": parameters["ties"],
        "simulated": board.simulated,
        "all_games": content["games"],
        "left_out": content["left_out"],
        **{name: parameters.get(name) for name in _PARAMETERS},
        "snapshot_at": board.snapshot.created_at,
        "watermark": board.snapshot.watermark,
    }
    for row in content["standings"]:
        yield {**{name: row.get(name) for name in _STANDING}, **method}
