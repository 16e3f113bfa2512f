"""The outcome of computing a bundle again, in sentences. Pure."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from leaderboard.bundle.comparing import MOST_SHOWN
from leaderboard.presentation import printable

if TYPE_CHECKING:
    from leaderboard.bundle.computing import Report


def sentences(report: "Report") -> Iterator[str]:
    """What came out, the most important first, then where it did not, then the digests.

    Each is one line: whoever made the bundle named the study and its raters, and must not write the outcome.
    """
    yield from map(printable, _sentences(report))


def _sentences(report: "Report") -> Iterator[str]:
    verdict = report.verdict
    number = verdict.same + verdict.rounded_otherwise + verdict.different
    yield f"{report.study}, methodology {report.methodology}: {number} tables computed again."
    yield f"{verdict.same} are equal to the published ones, to the last character."
    if verdict.rounded_otherwise:
        numbers = f"{verdict.numbers} number{'' if verdict.numbers == 1 else 's'}"
        yield (
            f"{verdict.rounded_otherwise} more are equal, with {numbers} whose sixth decimal was rounded the "
            "other way, as can happen between processors."
        )
    if verdict.different:
        yield f"{verdict.different} DIFFER from the published ones:"
        yield from (f"  {sentence}" for sentence in verdict.differences)
        if len(verdict.differences) >= MOST_SHOWN:
            yield "  ... and more."
    yield f"SHA-256 of all published tables: {report.published_digest}"
    yield f"SHA-256 of all computed tables:  {report.digest}"
    yield "EQUAL" if verdict.is_equal else "NOT EQUAL"
