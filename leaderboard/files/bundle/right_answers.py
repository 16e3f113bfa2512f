"""Right answers of a bundle, and what its tables say of judges and people beside their ratings."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from leaderboard.files.bundle.archive import valid
from leaderboard.files.bundle.arrays import Numbered
from leaderboard.pages.rater_kinds.judge_facts import JudgeFacts
from leaderboard.snapshots.canonical import canonical
from leaderboard.stats.sides import FIRST, NOT_ASKED, SECOND, TIE
from leaderboard.trust.reading import Instances
from leaderboard.trust.trial import Known


def right_answers_json(known: Known, inputs: Numbered) -> str:
    """Pairs and people numbered as in the other files; pairs that nobody rated come after those."""
    numbers, people = inputs.numbers("pair"), inputs.numbers("rater")
    own = known.instances
    unrated = (pk for pk in own.pair.tolist() if pk not in numbers)
    numbers |= {pk: number for number, pk in enumerate(unrated, start=len(numbers))}
    facts = known.facts.items()
    return canonical(
        {
            "study": known.study,
            "subsets": own.subsets,
            "pair": [numbers[pk] for pk in own.pair.tolist()],
            **{name: getattr(own, name).tolist() for name in ("gold", "subset", "prompt", "longer")},
            "judges": {one: [each.model, each.protocol_name, each.order_free] for one, each in facts},
            "people": {str(people[pk]): name for pk, name in known.names.items()},
        }
    )


def right_answers_from(content: bytes) -> Known:
    """Raises BundleError for a file that holds none."""
    with valid("right answers"):
        found = json.loads(content)
        found.setdefault("prompt", list(range(len(found["pair"]))))  # bundles had none
        own = Instances(
            **{name: _numbers(found, name) for name in ("pair", "gold", "subset", "prompt", "longer")},
            subsets=tuple(map(str, found["subsets"])),
            comparable=(),
        )
        sides = (FIRST, TIE, SECOND)
        lengths = {len(own.pair), len(own.gold), len(own.subset), len(own.prompt), len(own.longer)}
        subsets = set(own.subset.tolist())
        if lengths != {len(set(own.pair.tolist()))} or subsets != set(range(len(own.subsets))):
            raise ValueError("columns differ in length, or a pair or a subset is missing")
        if not np.isin(own.gold, sides).all() or not np.isin(own.longer, (*sides, NOT_ASKED)).all():
            raise ValueError("a side does not exist")
        facts = {
            str(one): JudgeFacts(str(model), "", protocol_name=str(protocol), order_free=bool(free))
            for one, (model, protocol, free) in found["judges"].items()
        }
        names = {int(number): str(name) for number, name in found["people"].items()}
        return Known(str(found["study"]), own.all_comparable(), facts, names)


def _numbers(found: Any, name: str) -> Any:
    if not all(type(each) is int for each in found[name]):
        raise ValueError(f"the column {name} holds something that is no whole number")
    return np.array(found[name], dtype=np.int64)
