"""Which tables are computed together when somebody asks for a setting. Pure."""

from enum import StrEnum


class Scope(StrEnum):
    """The tables that one page shows at a setting; other pages may show them too.

    The value is the page's address behind that of the study: tables are kept under it and their setting.
    """

    BOARD = ""
    """One category: standings of the chosen raters and of all others beside them, and the matrices."""

    CATEGORIES = "categories/"
    """Standings of the chosen raters over all categories together and in each of them."""

    RATERS = "raters/"
    """How all kinds of raters lean in every category, and how they agree; no standings."""

    JUDGES = "judges/"
    """Some kinds of raters side by side on the same pairs; the setting names them, with commas in between."""

    @property
    def has_every_category(self) -> bool:
        """Whether its tables are of all categories at once, whichever a page shows."""
        return self is not Scope.BOARD
