"""Names of prompts in files of games, which hold their numbers."""

from typing import Final

_DIGITS: Final = 12


def prompt_label(number: int) -> str:
    """The name of a prompt in files of games; ``labelled_number`` reads the number again."""
    return f"{number:0{_DIGITS}d}"


def labelled_number(text: str) -> int | None:
    """The number in a label, for the board's own bootstrap draws; None for other texts."""
    return int(text) if len(text) == _DIGITS and text.isascii() and text.isdigit() else None
