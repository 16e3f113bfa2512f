"""What the address of the page on agreement asks for."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from leaderboard.models import Snapshot
from leaderboard.pages.kinds import PEOPLE, ending, one_of
from leaderboard.tables import COEFFICIENTS


@dataclass(frozen=True)
class View:
    """What an address asks for: two kinds of raters to look at closely, a category and a coefficient."""

    raters: str
    against: str
    usual: tuple[str, str]
    category: str = ""
    coefficient: str = "pearson"

    @classmethod
    def of(cls, wanted: Mapping[str, str], snapshot: Snapshot) -> "View":
        """The first judge against people where nothing else is asked for. Raises UnknownSettingError."""
        known = [entry["selector"] for entry in snapshot.counts["raters"]]
        judges = [one for one in known if one.startswith("judge:")]
        against = one_of(wanted, "against", known, PEOPLE if PEOPLE in known else known[0])
        usual = next((one for one in (*judges, *known) if one != against), known[0])
        raters = one_of(wanted, "raters", known, usual)
        named = snapshot.counts["categories"]
        return cls(
            usual if raters == against else raters,
            against,
            (usual, PEOPLE if PEOPLE in known else known[0]),
            one_of(wanted, "category", named, ""),
            one_of(wanted, "coefficient", tuple(COEFFICIENTS), "pearson"),
        )

    def query(self, **changes: Any) -> str:
        """The end of an address with some of it changed; what is usual is left out."""
        new = replace(self, **changes)
        raters, against = self.usual
        given = (
            ("raters", "" if new.raters == raters else new.raters),
            ("against", "" if new.against == against else new.against),
            ("category", new.category),
            ("coefficient", "" if new.coefficient == "pearson" else new.coefficient),
        )
        return ending(given)
