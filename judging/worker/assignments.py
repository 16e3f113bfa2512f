"""What the arena tells a judge worker, checked before it is believed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_origin, get_type_hints

from judging.endpoints.client import Request
from judging.endpoints.keys import KeyVariableError, read_key
from judging.protocols.answer_scales import answer_scale
from judging.protocols.catalogue import PROTOCOLS
from judging.protocols.protocol import Manner
from judging.worker.journal import Entry


class WorkerError(Exception):
    """The worker cannot go on; the message is a sentence for who started it."""


@dataclass(frozen=True)
class JudgeInfo:
    """How the judge is to be asked, and what is left to do."""

    slug: str
    name: str
    model: str
    base_url: str
    key_variable: str
    protocol: str
    prompt_hash: str
    form: str
    points: int
    parameters: dict[str, Any]
    wording: dict[str, str]
    runs: int
    waiting: int

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> "JudgeInfo":
        """From GET /judges/SLUG/; raises WorkerError."""
        kinds = {name: get_origin(kind) or kind for name, kind in get_type_hints(cls).items()}
        odd = [name for name, kind in kinds.items() if not isinstance(body.get(name), kind)]
        if odd:
            raise WorkerError(f"The arena describes the judge in a way unknown here: {', '.join(odd)}.")
        if not body["base_url"]:
            raise WorkerError(f"The judge {body['slug']} has no endpoint that could be asked.")
        return cls(**{name: body[name] for name in cls.__annotations__})


@dataclass(frozen=True)
class Task:
    """A claimed assignment: what to ask, the journal entry it begins with, and its lease in seconds."""

    entry: Entry
    request: Request
    lease: float

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> "Task":
        """From POST /assignments/; raises WorkerError."""
        try:
            asked = body["request"]
            entry = Entry(
                assignment=str(body["assignment"]),
                attempt=int(asked["attempt"]),
                key=str(asked["key"]),
                protocol=str(asked["protocol"]),
                prompt_hash=str(asked["prompt_hash"]),
                form=str(asked["form"]),
                points=int(body["points"]),
                model=str(asked["model"]),
            )
            request = Request(
                model=entry.model,
                messages=asked["messages"],
                timeout=float(asked["timeout"]),
                max_tokens=asked["max_tokens"],
                temperature=asked["temperature"],
                options=dict(asked["options"]),
                logprobs=bool(asked.get("logprobs", False)),
            )
            return cls(entry, request, float(body["lease_seconds"]))
        except (KeyError, TypeError, ValueError, OverflowError) as error:  # int(Infinity) overflows
            raise WorkerError(f"The arena offers work in a way unknown here ({error!r}).") from error


def check_wording(judge: JudgeInfo) -> None:
    """Raise WorkerError unless this worker would ask the judge in the very wording of the arena."""
    if judge.protocol not in PROTOCOLS:
        raise WorkerError(
            f'This worker knows no protocol "{judge.protocol}"; install the version of the arena here.'
        )
    parameters = {
        name: tuple(value) if isinstance(value, list) else value for name, value in judge.parameters.items()
    }
    try:
        scale = answer_scale(judge.form, judge.points)
        manner = Manner(PROTOCOLS.named(judge.protocol), scale, parameters, judge.wording)
        same = manner.prompt_hash == judge.prompt_hash
    except (ValueError, KeyError) as error:
        raise WorkerError(f"The arena describes the judge in a way unknown here ({error}).") from error
    if not same:
        raise WorkerError(
            f"The arena words protocol {judge.protocol} differently than this worker, so their answers "
            "cannot be compared; install the version of the arena here."
        )


def check_unchanged(entry: Entry, prompt_hash: str) -> None:
    """Raise WorkerError where a call is worded differently than the judge was when this worker began."""
    if entry.prompt_hash != prompt_hash:
        raise WorkerError("The arena words the judge differently now; start the worker again.")


def key_of(judge: JudgeInfo, environment: Mapping[str, str], override: str = "") -> tuple[str, str]:
    """The variable that holds the judge's key on this machine, "" where none is needed, and the key.

    Raises WorkerError where the variable is one of our own secrets, is not set, or holds what cannot be sent.
    """
    variable = override or judge.key_variable
    try:
        key = read_key(variable, environment)
    except KeyVariableError as error:
        raise WorkerError(str(error)) from error
    if not key:
        raise WorkerError(
            f"The environment variable {variable}, which holds the key of {judge.name}, is not set on this "
            "machine; --key-variable names another."
        )
    return variable, key
