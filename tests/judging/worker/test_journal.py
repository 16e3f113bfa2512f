"""The journal of a judge worker: what it keeps, for whom, and what it says when it cannot."""

from dataclasses import replace
from pathlib import Path

import pytest

from judging.endpoints.client import NoReplyError, Reply, Token
from judging.worker.journal import CUT_OFF, Entry, Failure, Journal, JournalError

ENTRY = Entry("Tf0vEjYz3sOeVQwK", 1, "rate", "likert", "0" * 64, "likert", 8, "far-1")
REPLY = Reply("6\nB – schöner.", "stop", "far-1-0613", prompt_tokens=100, completion_tokens=7)


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "far")


def test_an_entry_is_one_file_that_holds_the_newest_of_its_call(journal: Journal) -> None:
    journal.write(ENTRY)
    assert list(journal.entries()) == [ENTRY]
    assert ENTRY.failure == CUT_OFF
    answered = ENTRY.replied(REPLY, 1.5)
    journal.write(answered)
    assert list(journal.entries()) == [answered]
    journal.write(replace(ENTRY, key="next.2"))  # another question about the same answer
    assert len(list(journal.entries())) == 2
    journal.remove(replace(ENTRY, key="next.2"))
    journal.remove(answered)
    journal.remove(answered)
    assert list(journal.entries()) == []


def test_a_reply_keeps_its_tokens_and_their_alternatives(journal: Journal) -> None:
    tokens = (Token("6", -0.2, (("6", -0.2), (" 7", -1.8))), Token("\udce2", -0.1))
    answered = ENTRY.replied(replace(REPLY, tokens=tokens, reasoning_tokens=3), 1.5)
    journal.write(answered)
    assert list(journal.entries()) == [answered]


def test_a_failure_is_kept_as_it_was(journal: Journal) -> None:
    error = NoReplyError("rate_limited", "slow down" * 100, retry_after="60")
    failed = ENTRY.failed(Failure.of(error), 0.25)
    journal.write(failed)
    kept = next(journal.entries())
    assert kept == failed
    assert kept.failure == Failure("rate_limited", ("slow down" * 100)[:600], True, "60")


def test_the_next_process_finds_it_and_two_at_a_time_do_not(tmp_path: Path) -> None:
    first = Journal(tmp_path)
    first.write(ENTRY)
    with pytest.raises(JournalError, match=f"Another judge worker uses {tmp_path}. Raise its --concurrency"):
        Journal(tmp_path)
    first.close()
    assert list(Journal(tmp_path).entries()) == [ENTRY]


def test_a_write_that_was_cut_off_leaves_the_earlier_entry_which_is_nobody_elses(journal: Journal) -> None:
    journal.write(ENTRY)
    assert journal.folder.stat().st_mode & 0o077 == 0
    assert next(journal.folder.glob("*.json")).stat().st_mode & 0o077 == 0
    (journal.folder / "Tf0vEjYz3sOeVQwK.1.draft").write_text('{"assignment": "Tf0')
    assert list(journal.entries()) == [ENTRY]


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b", "", "x" * 25, "a\0b"])
def test_what_is_no_id_names_no_file(name: str, journal: Journal) -> None:
    with pytest.raises(JournalError, match="is not an assignment id"):
        journal.write(replace(ENTRY, assignment=name))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"assignment": "a", "reply": null}', "3", "nonsense"])
def test_a_file_of_somebody_else_is_named(text: str, journal: Journal) -> None:
    (journal.folder / "notes.json").write_text(text)
    with pytest.raises(JournalError, match=r"notes.json is no entry of a judge worker .*. Move it away"):
        list(journal.entries())


def test_a_refused_reply_is_set_aside(journal: Journal) -> None:
    journal.write(ENTRY.replied(REPLY, 1))
    [path] = journal.folder.glob("*.json")
    kept = journal.refuse(ENTRY)
    assert kept == journal.folder / "refused" / path.name
    assert REPLY.text == Entry.from_json(kept.read_text()).reply.text  # type: ignore[union-attr]
    assert list(journal.entries()) == []
    with pytest.raises(JournalError, match="Cannot move"):
        journal.refuse(ENTRY)


def test_a_folder_that_cannot_be_and_a_full_disk_are_told(
    tmp_path: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalError, match=r"Cannot write to .*file/far \(Not a directory\)"):
        Journal(tmp_path / "file" / "far")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(JournalError, match=r"Cannot write to .* \(No space left on device\)"):
        journal.write(ENTRY)
