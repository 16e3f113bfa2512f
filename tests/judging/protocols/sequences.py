"""Every protocol's calls, written out: a row for each, in waves of what is asked at the same time.

The rows are those of a judge whose model contradicts itself in the other order, so that every step is needed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Final


@dataclass(frozen=True)
class Call:
    """One call: its key, what it is about, and where its verdict stands ("" where it gives none).

    shows: the labels of the earlier replies in it. turns: user messages, its own included. author and
    temperature are "" and None where they are the judge's.
    """

    key: str
    place: str = ""
    about: str = "pair"
    shows: tuple[str, ...] = ()
    swapped: bool = False
    turns: int = 1
    sample: int = 0
    author: str = ""
    temperature: float | None = None


Waves = Sequence[Sequence[Call]]

QUESTIONS = Call("metrics", about="prompt")
REFERENCE = Call("reference", about="prompt")
REFEREES = ("GENERAL PUBLIC", "SCIENTIST", "CRITIC")
SPOKEN = tuple(f"REFEREE {name}" for name in REFEREES)
VOTED = tuple(f"VOTE OF {name}" for name in REFEREES)
ASPECTS = tuple(
    f"COMPARISON IN {name}" for name in ("TEXT QUALITY", "RICHNESS", "INTENT", "ACCURACY", "COMPLETENESS")
)


def both(call: Call) -> tuple[Call, Call]:
    """The same about either answer."""
    return tuple(replace(call, key=f"{call.key}.{side}", about="completion") for side in ("first", "second"))  # type: ignore[return-value]


def swap(place: str) -> Waves:
    """Both orders at once, then a decision between the two."""
    shown = ("EVALUATION IN FAVOUR OF ANSWER A", "EVALUATION IN FAVOUR OF ANSWER B")
    passes = (Call("compare", "last_line"), Call("compare_swapped", "last_line", swapped=True))
    return (passes, (Call("synthesise", place, shows=shown),))


def together(*names: str) -> Waves:
    """Protocols as parts of another, asked at the same time."""
    rows = [
        [[replace(call, key=f"{name}/{call.key}") for call in wave] for wave in SINGLE[name]]
        for name in names
    ]
    return [[call for wave in waves for call in wave] for waves in zip_longest(*rows, fillvalue=[])]


SINGLE: Final[Mapping[str, Waves]] = {
    "likert": [(Call("rate", "first_line"),)],
    "likert-explanation-first": [(Call("rate", "last_line"),)],
    "likert-debias": [(Call("rate", "first_line"),)],
    "scores": [(Call("rate", "first_line"),)],
    "vanilla": [(Call("compare", "only_line"),)],
    "rules": [(Call("compare", "only_line"),)],
    "cot": [(Call("compare", "last_line"),)],
    "metrics": [(QUESTIONS,), (Call("compare", "only_line", shows=("QUESTIONS",)),)],
    "reference": [(REFERENCE,), (Call("compare", "only_line", shows=("REFERENCE",)),)],
    "metrics-reference": [
        (QUESTIONS, REFERENCE),
        (Call("compare", "only_line", shows=("QUESTIONS", "REFERENCE")),),
    ],
    "swap": swap("only_line"),
    "swap-cot": swap("last_line"),
    "chateval": [
        *([Call(f"discuss.{n + 1}", shows=SPOKEN[:n])] for n in range(3)),
        *([Call(f"vote.{n + 1}", "last_line", shows=SPOKEN + VOTED[:n])] for n in range(3)),
    ],
    "rating": [both(Call("rate", "only_line"))],
    "rubric": [both(Call("grade", "field"))],
    "fine-grained-diff": [(Call("compare", "field"),)],
    "multi-role": [[Call(f"debate.{n + 1}", "field", shows=SPOKEN[:n])] for n in range(3)],
    "multi-aspect-single": [(Call("compare", "field"),)],
    "multi-aspect-two": [
        [Call(f"analyse.{n + 1}") for n in range(5)],
        (Call("decide", "field", shows=ASPECTS),),
    ],
    "prepair": [
        both(Call("analyse")),
        (Call("compare", "field", shows=("ASSESSMENT OF ANSWER A", "ASSESSMENT OF ANSWER B")),),
    ],
    "arena-hard": [(Call("judge", "field"),)],
    "wildbench": [
        (Call("checklist", about="prompt", author="gpt-4o"),),
        (Call("judge", "field", shows=("CHECKLIST",)),),
    ],
    "alpaca-eval": [(Call("choose", "only_line"),)],
    "strong-reference": [
        (replace(REFERENCE, author="gpt-4o"),),
        (Call("compare", "only_line", shows=("REFERENCE",)),),
    ],
    "cot-self-consistency": [
        [
            Call(f"{n + 1}/compare" if n else "compare", "last_line", sample=n, temperature=0.7)
            for n in range(9)
        ]
    ],
}
"""By protocol, with its own parameters; those with steps of their own."""

SEQUENCES: Final[Mapping[str, Waves]] = {
    **SINGLE,
    "protocol-consistency": together("cot", "metrics", "reference", "metrics-reference", "swap"),
    "protocol-consistency-released": together("rules", "cot", "metrics", "reference", "metrics-reference"),
}
"""By protocol, with its own parameters."""

WITH_PARAMETERS: Final[Sequence[tuple[str, Mapping[str, object], Waves]]] = [
    ("vanilla", {"rules": True, "shots": 2}, [(Call("compare", "only_line"),)]),
    ("cot", {"rules": False}, [(Call("compare", "last_line"),)]),
    (
        "chateval",
        {"roles": ("Optimist: sees the good", "Sceptic: sees the bad"), "rounds": 2, "decision": "last"},
        [
            *(
                [
                    Call(
                        f"discuss.{n + 1}",
                        shows=("REFEREE OPTIMIST", "REFEREE SCEPTIC", "REFEREE OPTIMIST")[:n],
                    )
                ]
                for n in range(4)
            ),
            *(
                [
                    Call(
                        f"vote.{n + 1}",
                        "last_line",
                        shows=("REFEREE OPTIMIST", "REFEREE SCEPTIC") * 2 + ("VOTE OF OPTIMIST",)[:n],
                    )
                ]
                for n in range(2)
            ),
        ],
    ),
    (
        "rating",
        {"with_metrics": True, "with_reference": True, "rules": False},
        [
            (QUESTIONS, REFERENCE),
            both(Call("rate", "only_line", shows=("QUESTIONS", "REFERENCE"))),
        ],
    ),
    (
        "rubric",
        {"with_reference": True, "rules": True, "rubric": "Is it kind?\n\n1: no\n5: yes"},
        [(REFERENCE,), both(Call("grade", "field", shows=("REFERENCE",)))],
    ),
    (
        "multi-role",
        {"rounds": 2, "decision": "majority"},
        [[Call(f"debate.{n + 1}", "field", shows=(SPOKEN * 2)[:n])] for n in range(6)],
    ),
    (
        "multi-aspect-two",
        {"aspects": ("Tone: it is kind", "Truth: it is right"), "rules": False},
        [
            (Call("analyse.1"), Call("analyse.2")),
            (Call("decide", "field", shows=("COMPARISON IN TONE", "COMPARISON IN TRUTH")),),
        ],
    ),
    (
        "wildbench",
        {"author": "judge:other"},
        [
            (Call("checklist", about="prompt", author="judge:other"),),
            (Call("judge", "field", shows=("CHECKLIST",)),),
        ],
    ),
]
"""Protocols with other parameters than their own."""
