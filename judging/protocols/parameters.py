"""Checking what an operator sets of a protocol's parameters. Pure."""

from collections.abc import Mapping
from typing import Any

from judging.protocols.protocol import Protocol, Value

LONGEST_TEXT = 20_000
"""Characters of a parameter that is a text."""

MOST_SAMPLES = 99


def check_parameters(protocol: Protocol, given: Mapping[str, Any]) -> None:
    """Raise ValueError, with a sentence, for what is no parameter of the protocol or no value it can have."""
    for name, value in given.items():
        parameter = protocol.parameters.get(name)
        if parameter is None:
            known = ", ".join(protocol.parameters) or "none"
            raise ValueError(
                f'Protocol {protocol.name} has no parameter "{name}"; its parameters are: {known}.'
            )
        _check_type(name, value, parameter.default)
        if parameter.choices and value not in parameter.choices:
            choices = ", ".join(map(str, parameter.choices))
            raise ValueError(f"{name} must be one of {choices}.")


def _check_type(name: str, value: Any, default: Value) -> None:
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise ValueError(f"{name} must be true or false.")
    elif isinstance(default, int):
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_SAMPLES:
            raise ValueError(f"{name} must be a whole number from 0 to {MOST_SAMPLES}.")
    elif isinstance(default, str):
        if not isinstance(value, str) or len(value) > LONGEST_TEXT:
            raise ValueError(f"{name} must be a text of at most {LONGEST_TEXT:,} characters.")
    elif (
        not isinstance(value, list | tuple)
        or not 1 <= len(value) <= MOST_SAMPLES
        or not all(isinstance(item, str) and item.strip() and len(item) <= LONGEST_TEXT for item in value)
    ):
        raise ValueError(f"{name} must be a list of 1 to {MOST_SAMPLES} texts, none of them empty.")
