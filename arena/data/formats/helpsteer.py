"""HelpSteer3: two responses to a conversation, and what up to three people prefer. Pure."""

from collections.abc import Iterator
from typing import Any, Final

from arena.data.formats.messages import dialogue, listed
from arena.data.formats.pairs import Pair, beside
from arena.data.formats.reading import Fields, Format, Kind, Shape, by_row
from arena.data.formats.records import Item

MOST: Final = 3
"""From -3, the first response is much better, to 3, the second is."""

RATINGS: Final = {-3: 1, -2: 1, -1: 2, 0: 3, 1: 4, 2: 5, 3: 5}
"""On five points; "better" and "much better" are its last ones."""

_ANNOTATORS: Final = "annotator-1 and so on are people of one row; the file does not say who they are"


def _row(fields: Fields) -> Iterator[Item]:
    asked = dialogue(fields, "context", listed(fields, "context", "a list of messages"))
    if len(asked.user) != len(asked.model) + 1 and not fields.problems:
        fields.problem("context", "does not end with the user")
    answers = [(*asked.model, fields.text(name)) for name in ("response1", "response2")]
    overall = fields.integer("overall_preference", least=-MOST, most=MOST)
    said = fields.json("individual_preference") or [{"score": overall}]
    domain, system = fields.optional_text("domain"), beside(asked.asked)
    extra = {**fields.rest(), **system}
    if not isinstance(said, list):
        fields.problem("individual_preference", "expected a list of preferences")
        return
    pair = Pair.alone(fields, asked.user, *answers, category=domain, extra=extra, implied=True)
    pair = pair.with_asides(asked.told, asked.told)
    yield from pair.records()
    for number, each in enumerate(said, start=1):
        score: Any = each.get("score") if isinstance(each, dict) else None
        if isinstance(score, bool) or score not in RATINGS:
            reason = f"expected a whole number from -{MOST} to {MOST}"
            fields.problem(f"individual_preference[{number}].score", reason)
            continue
        reasoning = each.get("reasoning")
        told: dict[str, Any] = {
            "rationale": reasoning if isinstance(reasoning, str) else "",
            "extra": {"preference": score},
        }
        yield pair.rated(f"annotator-{number}", "person", 5, RATINGS[int(score)], **told)


FORMAT: Final = Format(
    "helpsteer",
    "HelpSteer3 preferences",
    "context, response1, response2 and overall_preference (HelpSteer3)",
    (Shape(Kind.COMPARISONS, "context response1 response2 overall_preference", by_row(_row, _ANNOTATORS)),),
    is_typed=True,
)
