"""What the address of the page on agreement asks for."""

from collections.abc import Mapping
from dataclasses import dataclass

from leaderboard.models import Snapshot
from leaderboard.pages.kinds import PEOPLE, one_of
from leaderboard.pages.reading import Reading
from leaderboard.tables import COEFFICIENTS


@dataclass(frozen=True, kw_only=True)
class View(Reading):
    """What an address asks for: two kinds of raters to look at closely, and a coefficient."""

    raters: str
    against: str
    usual: tuple[str, str]
    coefficient: str = "pearson"

    @classmethod
    def of(cls, wanted: Mapping[str, str], snapshot: Snapshot) -> "View":
        """The first judge against people where nothing else is asked for. Raises UnknownSettingError."""
        known = [entry["selector"] for entry in snapshot.counts["raters"]]
        judges = [one for one in known if one.startswith("judge:")]
        against = one_of(wanted, "against", known, PEOPLE if PEOPLE in known else known[0])
        usual = next((one for one in (*judges, *known) if one != against), known[0])
        raters = one_of(wanted, "raters", known, usual)
        return cls(
            raters=usual if raters == against else raters,
            against=against,
            usual=(usual, PEOPLE if PEOPLE in known else known[0]),
            coefficient=one_of(wanted, "coefficient", tuple(COEFFICIENTS), "pearson"),
            **cls.asked(wanted, snapshot),
        )

    def parts(self) -> list[tuple[str, str]]:
        raters, against = self.usual
        return [
            ("raters", "" if self.raters == raters else self.raters),
            ("against", "" if self.against == against else self.against),
            *super().parts(),
            ("coefficient", "" if self.coefficient == "pearson" else self.coefficient),
        ]
