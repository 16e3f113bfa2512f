"""Record everything the product answers as files, before a refactoring and after it, and compare.

    python -m tests.answers record FOLDER [--data DATA] [--studies demo ...] [--parts pages api commands]
    python -m tests.answers compare BEFORE AFTER [--only PATTERN]

The product is known by its commands and addresses alone, so this package records any checkout that it stands
in. DATA holds the public data sets (default: ARENA_REFERENCE_DATA, or ../shared/data beside the project).
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from tests.answers.arena import ROOT, Arena
from tests.answers.asked import STUDIES
from tests.answers.comparing import compare
from tests.answers.recorder import PARTS, Recorder
from tests.answers.recording import Recording


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.answers", description=(__doc__ or "").partition("\n")[0]
    )
    commands = parser.add_subparsers(dest="command", required=True)
    recorded = commands.add_parser("record", help="record what this checkout answers")
    recorded.add_argument("folder", type=Path)
    data = os.environ.get("ARENA_REFERENCE_DATA", ROOT.parent / "shared" / "data")
    recorded.add_argument("--data", type=Path, default=data, help="folder of the public data sets")
    recorded.add_argument("--studies", nargs="+", choices=STUDIES, default=STUDIES, help="default: all")
    recorded.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="default: all")
    compared = commands.add_parser("compare", help="print what differs; exit with 1 where something does")
    compared.add_argument("before", type=Path)
    compared.add_argument("after", type=Path)
    compared.add_argument("--only", default="", metavar="PATTERN", help="compare only files with such names")
    options = parser.parse_args()
    if options.command == "compare":
        return int(compare(options.before, options.after, options.only))
    return record(options.folder, options.data.resolve(), options.studies, options.parts)


def record(into: Path, data: Path, studies: list[str], parts: list[str]) -> int:
    """Record the answers about the studies; how many of them failed is printed."""
    into.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        places = {
            folder / "out": "OUT",
            folder: "FOLDER",
            data: "DATA",
            data.parent: "SHARED",
            ROOT: "CHECKOUT",
        }
        recorder = Recorder(Arena(folder), Recording(into, places), data, studies)
        recorder.record(parts)
    print("\n".join([*recorder.failed, f"{len(recorder.failed)} answers failed"]))
    return int(bool(recorder.failed))


if __name__ == "__main__":
    sys.exit(main())
