"""Examples that a judge reads as turns before its question. Pure."""

import tomllib
from dataclasses import dataclass, fields
from typing import Final, Self

REPLIES: Final = ("YES", "NO")


@dataclass(frozen=True)
class Example:
    """An answer that somebody wrote, a question about one requirement, and the right reply."""

    instruction: str
    answer: str
    question: str
    reply: str
    input: str = ""

    @classmethod
    def read(cls, text: str) -> Self:
        """Read it from TOML. Raises ValueError, with a sentence."""
        try:
            found = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"it is not TOML. {str(error).rstrip('.')}.") from error
        named = [field.name for field in fields(cls)]
        if unknown := sorted(set(found) - set(named)):
            raise ValueError(f'it has no place for "{unknown[0]}". Use {", ".join(named)}.')
        for name in named:
            value = found.get(name, "" if name == "input" else None)
            if value is None:
                raise ValueError(f'"{name}" is missing.')
            if not isinstance(value, str) or not (value.strip() or name == "input"):
                raise ValueError(f'"{name}" must be a text.')
        if found["reply"] not in REPLIES:
            raise ValueError(f'"reply" must be {" or ".join(REPLIES)}.')
        return cls(**{name: value.strip() for name, value in found.items()})
