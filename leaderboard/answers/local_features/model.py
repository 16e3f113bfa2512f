"""A language model on this machine, and what it computes while it reads an answer.

Needs torch and transformers, which `make local` installs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from arena.texts.dialogue import Message
from leaderboard.stats.checks import FloatArray

MISSING: Final = (
    "Features of a local model need torch and transformers. Install them with make local, or with "
    "pip install likert-arena[local]."
)
AT_ONCE: Final = 2**25
"""Logits of which distributions are computed at once: 128 MB of each of a few arrays."""


class LocalModelError(Exception):
    """The message is a sentence for the operator."""


class TooLongError(LocalModelError):
    """The model cannot read so many tokens."""


@dataclass(frozen=True)
class Dropout:
    """Passes with a share of the embeddings' numbers set to 0, drawn from seed, seed + 1 and so on."""

    share: float = 0.2
    passes: int = 10
    seed: int = 0


@dataclass(frozen=True)
class Wanted:
    """What to compute beside the distributions, which cost one pass."""

    dropout: Dropout | None = None
    attention: bool = False


@dataclass(frozen=True)
class Reading:
    """A number for each token but the very first: of those before the answer, then of the answer.

    ``log_p`` and ``entropy`` are natural; ``released_*`` are mean and variance over the vocabulary at each
    step, as the released code has them. ``passes``: a row for each pass with dropout, of the answer's tokens
    alone. ``attention``: by layer and head, the entropy of what the answer's tokens pay to each token before
    it, on average over these.
    """

    before: int  # numbers of tokens before the answer
    log_p: FloatArray
    entropy: FloatArray
    released_entropy: FloatArray
    released_variance: FloatArray
    passes: FloatArray | None = None
    attention: FloatArray | None = None


class LocalModel:
    """A causal model in a folder as transformers saves it; no code of the folder is run, nothing is loaded
    from elsewhere. Raises LocalModelError."""

    def __init__(self, folder: Path, device: str = "cpu") -> None:
        try:
            import torch
            import transformers
        except ImportError as error:
            raise LocalModelError(MISSING) from error
        if not folder.is_dir():
            raise LocalModelError(f"There is no folder {folder}.")
        try:
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
            # Only this implementation hands out attention.
            model = transformers.AutoModelForCausalLM.from_pretrained(
                folder, local_files_only=True, use_safetensors=True, attn_implementation="eager"
            )
            self._model = model.to(device).eval()
        except (OSError, ValueError, RuntimeError, KeyError) as error:
            raise LocalModelError(f"No model can be loaded from {folder}: {_first_line(error)}") from error
        self._torch = torch
        self.longest: int | None = getattr(model.config, "max_position_embeddings", None)

    def read(self, before: Sequence[Message], answer: str, wanted: Wanted) -> Reading | None:
        """What the model computes while it reads the answer after these messages; None without tokens.

        The answer is cut into tokens by itself, as if it were written after the messages. Raises
        TooLongError.
        """
        start, own = self._tokens(before), self._encoded(answer)
        if not own:
            return None
        ids = [*start, *own]
        if self.longest is not None and len(ids) > self.longest:
            raise TooLongError(f"{len(ids):,} tokens, and the model reads {self.longest:,} at most")
        torch = self._torch
        with torch.inference_mode():
            there = torch.tensor([ids], device=self._model.device)
            found = self._model(there, output_attentions=wanted.attention)
            steps = _steps(torch, found.logits[0, :-1], there[0, 1:])
            attention = _attention(torch, found.attentions, len(start)) if wanted.attention else None
            passes = self._passes(there, len(start), wanted.dropout) if wanted.dropout else None
        return Reading(len(start) - 1, *steps, passes=passes, attention=attention)

    def _tokens(self, messages: Sequence[Message]) -> list[int]:
        """At least one: the first token of a text has no probability."""
        if self._tokenizer.chat_template:
            chat = self._tokenizer.apply_chat_template(
                list(messages), add_generation_prompt=True, tokenize=False
            )
            found = self._encoded(chat)
        else:
            found = self._encoded("".join(f"{message['content']}\n\n" for message in messages))
            start = self._tokenizer.bos_token_id
            found = found if start is None else [start, *found]
        if not found:
            raise LocalModelError("The model's tokenizer makes no tokens of a prompt.")
        return found

    def _encoded(self, text: str) -> list[int]:
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    def _passes(self, there: Any, start: int, dropout: Dropout) -> FloatArray:
        rows = []
        with self._dropping(dropout.share):
            for number in range(dropout.passes):
                self._torch.manual_seed(dropout.seed + number)
                logits = self._model(there).logits[0, start - 1 : -1]
                rows.append(_chosen(self._torch.log_softmax(logits.float(), dim=-1), there[0, start:]))
        return np.array(rows)

    @contextmanager
    def _dropping(self, share: float) -> Iterator[None]:
        """Dropout on the embeddings alone, as models are trained without any (section 2.2 of the paper)."""
        drop = self._torch.nn.functional.dropout
        hook = self._model.get_input_embeddings().register_forward_hook(
            lambda module, given, embedded: drop(embedded, share, training=True)
        )
        try:
            yield
        finally:
            hook.remove()


def _steps(torch: Any, logits: Any, chosen: Any) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    size = max(1, AT_ONCE // logits.shape[1])
    parts: list[tuple[FloatArray, ...]] = []
    for raw, ids in zip(logits.split(size), chosen.split(size), strict=True):
        raw = raw.float()
        log_p = torch.log_softmax(raw, dim=-1)
        entropy = torch.special.entr(log_p.exp()).sum(dim=-1)
        entropy_as_released, variance = (log_p * raw).mean(dim=-1), log_p.var(dim=-1)
        parts.append((_chosen(log_p, ids), *map(_array, (entropy, entropy_as_released, variance))))
    one, two, three, four = (np.concatenate(each) for each in zip(*parts, strict=True))
    return one, two, three, four


def _chosen(log_p: Any, ids: Any) -> FloatArray:
    return _array(log_p.gather(-1, ids[:, None])[:, 0])


def _attention(torch: Any, layers: Sequence[Any], start: int) -> FloatArray:
    """The sum over the answer's tokens j of -a log a, and its mean over the tokens i before (section 2.3)."""
    heads = [
        torch.special.entr(layer[0, :, start:, :start].float()).sum(dim=1).mean(dim=1) for layer in layers
    ]
    return np.array([_array(each) for each in heads])


def _array(values: Any) -> FloatArray:
    return np.asarray(values.double().cpu().numpy())


def _first_line(error: Exception) -> str:
    first, *_ = str(error).strip().splitlines() or [type(error).__name__]
    return first[:300]
