"""The program ``likert-arena``."""

import sys

from likert_arena.commands import overview, prepare_environment, run


def main() -> None:
    """Run the command that the arguments name; without one say which there are."""
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help") or arguments == ["help"]:
        sys.stdout.write(f"{overview()}\n")
        return
    if arguments[0] == "--version":
        from arena import __version__

        sys.stdout.write(f"{__version__}\n")
        return
    prepare_environment(arguments)
    if arguments[0] == "run":
        run(arguments[1:])
        return
    from arena.management.command_line import run_command

    run_command()


if __name__ == "__main__":
    main()
