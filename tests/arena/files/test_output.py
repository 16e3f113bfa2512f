"""What a command writes is complete under its name or not there; what is no file is never replaced."""

import errno
import gzip
import os
import stat
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.files import output


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def broken(error: Exception) -> Iterator[bytes]:
    yield b"half"
    raise error


class TestFiles:
    def test_a_name_ending_in_gz_is_compressed(self, tmp_path: Path) -> None:
        output.save(tmp_path / "a.csv.gz", [b"one", b"two"])
        assert gzip.decompress((tmp_path / "a.csv.gz").read_bytes()) == b"onetwo"

    @pytest.mark.parametrize(
        "error", [RuntimeError("gone"), OSError(errno.ENOSPC, "No space left on device")]
    )
    def test_an_existing_file_is_replaced_as_a_whole_or_not_at_all(
        self, error: Exception, tmp_path: Path
    ) -> None:
        path = tmp_path / "a.csv"
        path.write_text("old and longer")
        with pytest.raises(type(error)):
            output.save(path, broken(error))
        assert path.read_text() == "old and longer"
        output.save(path, [b"new"])
        assert path.read_text() == "new"
        assert names(tmp_path) == ["a.csv"]

    def test_a_zip_that_is_given_up_says_nothing_more(self, tmp_path: Path) -> None:
        giving_up = "from pathlib import Path; from arena.files import output; import sys\n"
        giving_up += "with output.opened(Path(sys.argv[1])) as file:\n"
        giving_up += "    archive = output.NewZip(file)\n    archive.writestr('a', 'b')\n    sys.exit(3)"
        command = [sys.executable, "-c", giving_up, str(tmp_path / "a.zip")]
        done = subprocess.run(command, capture_output=True, text=True)
        assert (done.returncode, done.stderr, names(tmp_path)) == (3, "", [])

    def test_an_existing_file_keeps_its_mode_and_is_never_readable_by_others_on_its_way(
        self, tmp_path: Path
    ) -> None:
        path = tmp_path / "a.csv"
        path.touch()
        for mode in (0o600, 0o664):
            path.chmod(mode)
            with output.opened(path):
                (part,) = tmp_path.glob("a.csv.*.part")
                assert stat.S_IMODE(part.stat().st_mode) == 0o600
            assert stat.S_IMODE(path.stat().st_mode) == mode

    def test_a_link_stays_and_what_it_points_to_is_replaced(self, tmp_path: Path) -> None:
        (tmp_path / "data").mkdir()
        (tmp_path / "data" / "real.csv").write_text("old")
        (tmp_path / "near.csv").symlink_to("data/real.csv")
        (tmp_path / "far.csv").symlink_to(tmp_path / "near.csv")
        (tmp_path / "dangling.csv").symlink_to("data/new.csv")
        output.save(tmp_path / "far.csv", [b"new"])
        output.save(tmp_path / "dangling.csv", [b"first"])
        assert names(tmp_path / "data") == ["new.csv", "real.csv"]
        assert (tmp_path / "data" / "real.csv").read_text() == "new"
        assert (tmp_path / "data" / "new.csv").read_text() == "first"
        assert all((tmp_path / name).is_symlink() for name in ("near.csv", "far.csv", "dangling.csv"))

    def test_what_a_killed_process_leaves_is_the_old_file_and_a_part_file(self, tmp_path: Path) -> None:
        path = tmp_path / "a.csv"
        path.write_text("old")
        writing = "import os, sys; from pathlib import Path; from arena.files import output\n"
        writing += "def pieces():\n    yield b'new'\n    os.kill(os.getpid(), 9)\n"
        writing += "output.save(Path(sys.argv[1]), pieces())"
        assert subprocess.run([sys.executable, "-c", writing, str(path)], check=False).returncode == -9
        assert path.read_text() == "old"
        kept, part = names(tmp_path)
        assert kept == "a.csv"
        assert part.startswith("a.csv.")
        assert part.endswith(".part")

    def test_why_not_is_one_sentence(self, tmp_path: Path) -> None:
        missing = tmp_path / "none" / "a.csv"
        (tmp_path / "turning").symlink_to("turning")
        for path, sentence in {
            tmp_path: f"{tmp_path} is a folder. Name a file.",
            missing: f"{missing} cannot be written: there is no folder {missing.parent}.",
            tmp_path / "turning": f"{tmp_path}/turning cannot be written (too many symbolic links).",
            Path("/dev/full"): "/dev/full cannot be written (No space left on device).",
        }.items():
            with pytest.raises(OSError) as error:  # noqa: PT011 - its sentence follows
                output.save(path, [b"new"])
            assert output.refusal(path, error.value) == sentence
        assert names(tmp_path) == ["turning"]

    def test_a_file_marked_read_only_is_not_replaced(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "a.csv"
        path.write_text("old")
        monkeypatch.setattr(os, "access", lambda *_: False)  # root, who runs this too, may write any file
        with pytest.raises(PermissionError, match="read-only"):
            output.save(path, [b"new"])
        assert path.read_text() == "old"


class TestStreams:
    def test_a_device_stays_a_device(self, tmp_path: Path) -> None:
        link = tmp_path / "link"
        link.symlink_to("/dev/null")
        for path in (Path("/dev/null"), link):
            output.save(path, [b"x"])
            with output.opened(path) as file, zipfile.ZipFile(file, "w") as archive:
                archive.writestr("a", "content")
            assert output.streams(path)
            assert path.is_char_device()
        assert link.is_symlink()

    def test_a_pipe_stays_a_pipe_and_its_reader_gets_all(self, tmp_path: Path) -> None:
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        read: list[bytes] = []
        reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
        reader.start()
        output.save(pipe, [b"one", b"two"])
        reader.join(10)
        assert read == [b"onetwo"]
        assert pipe.is_fifo()
        assert names(tmp_path) == ["pipe"]

    @pytest.mark.parametrize("path", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
    def test_standard_output_is_appended_to_where_the_shell_appends(self, path: str, tmp_path: Path) -> None:
        target = tmp_path / "log"
        target.write_text("old ")
        command = "from pathlib import Path; from arena.files import output; import sys\n"
        command += "output.save(Path(sys.argv[1]), [b'new '])\nassert output.streams(Path(sys.argv[1]))\n"
        command += "print('end', end='')"
        with target.open("a") as file:
            subprocess.run([sys.executable, "-c", command, path], stdout=file, check=True)
        assert target.read_text() == "old new end"
        assert names(tmp_path) == ["log"]
