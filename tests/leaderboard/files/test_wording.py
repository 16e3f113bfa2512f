"""The outcome of computing a bundle again, in sentences."""

from leaderboard.files.bundle.recomputing import Report, Verdict, sentences


def said(verdict: Verdict) -> str:
    return "\n".join(sentences(Report("demo", "3", {}, verdict, "aa", "bb")))


def test_a_number_rounded_the_other_way_is_told_and_is_no_difference() -> None:
    text = said(Verdict(same=193, rounded_otherwise=1, numbers=1))
    assert "194 tables computed again." in text
    assert "1 more are equal, with 1 number whose sixth decimal was rounded the other way" in text
    assert text.endswith("\nEQUAL")


def test_differences_are_listed() -> None:
    verdict = Verdict(same=2)
    verdict.missing(("standings", "people", "on", "", "elo"), "was not published")
    text = said(verdict)
    assert "1 DIFFER from the published ones:\n  standings people on elo: was not published" in text
    assert text.endswith("\nNOT EQUAL")


def test_names_in_a_bundle_do_not_write_the_outcome() -> None:
    verdict = Verdict()
    verdict.missing(("standings", "group:\x1b[2J\nEQUAL"), "was not published")
    lines = list(sentences(Report("demo\nEQUAL\x1b[2J\ud800", "3", {}, verdict, "aa", "bb")))
    assert all(line.isprintable() for line in lines)
    assert lines[-1] == "NOT EQUAL"
    assert "EQUAL" not in lines
