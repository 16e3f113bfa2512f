"""A language model whose distributions are known: each word's depends on the one before it alone."""

import json
import re
from typing import Any

import numpy as np

PIECES = re.compile(r"\s*\S+")


class WordModel:
    """Tokens are words with the blanks before them; others share the places of known ones."""

    def __init__(self, seed: int, vocabulary: int, sharpness: float = 1.5) -> None:
        self.vocabulary = vocabulary
        self.words = [f"w{number}" for number in range(vocabulary)]
        logits = np.random.default_rng(seed).normal(0.0, sharpness, (vocabulary, vocabulary))
        self.table = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))

    def cut(self, text: str) -> list[str]:
        return PIECES.findall(text)

    def number(self, token: str) -> int:
        word = token.strip()
        if word in self.words:
            return self.words.index(word)
        return sum(word.encode()) % self.vocabulary

    def distributions(self, tokens: list[str]) -> np.ndarray:
        """Log-probabilities (steps, vocabulary) of each token but the first."""
        return self.table[[self.number(token) for token in tokens[:-1]]]

    def log_p(self, tokens: list[str]) -> list[float]:
        """Of each token; nothing is said of the first."""
        rows = self.distributions(tokens)
        own = [float(row[self.number(token)]) for row, token in zip(rows, tokens[1:], strict=True)]
        return [float("nan"), *own]

    def reply(self, body: dict[str, Any]) -> bytes:
        """What a server says to a request of any kind."""
        if "prompt" in body:
            return json.dumps(self.echo(body["prompt"])).encode()
        text = "\n\n".join(message["content"] for message in body["messages"])
        if "prompt_logprobs" in body:
            return json.dumps(self.prompt_logprobs(text)).encode()
        return json.dumps(self.chat(body)).encode()

    def echo(self, text: str) -> dict[str, Any]:
        tokens = self.cut(text)
        offsets = np.cumsum([0, *map(len, tokens)]).tolist()
        logs = [None, *self.log_p(tokens)[1:], -0.5]
        tops = [None, *(self._top(row, token) for row, token in self._steps(tokens)), {" more": -0.5}]
        said = {
            "tokens": [*tokens, " more"],
            "token_logprobs": logs,
            "top_logprobs": tops,
            "text_offset": offsets,
        }
        return {"choices": [{"text": text + " more", "logprobs": said}], "usage": self._usage(len(tokens), 1)}

    def prompt_logprobs(self, text: str) -> dict[str, Any]:
        tokens = self.cut(text)
        ids = [self.number(token) for token in tokens]
        steps: list[Any] = [None]
        for row, token in self._steps(tokens):
            order = np.argsort(-row)
            ranks = {int(one): rank for rank, one in enumerate(order, start=1)}
            shown = dict.fromkeys([self.number(token), *order[:20].tolist()])
            steps.append(
                {
                    str(one): {
                        "logprob": float(row[one]),
                        "rank": ranks[one],
                        "decoded_token": token if one == self.number(token) else self.words[one],
                    }
                    for one in shown
                }
            )
        return {
            "choices": [{"message": {"content": "more"}, "finish_reason": "length"}],
            "prompt_logprobs": steps,
            "prompt_token_ids": ids,
            "usage": self._usage(len(tokens), 1),
        }

    def chat(self, body: dict[str, Any], length: int = 30) -> dict[str, Any]:
        """Writes the likeliest words after the last one of the prompt, without a blank before the first."""
        last = self.cut(body["messages"][-1]["content"])[-1]
        number, tokens, content = self.number(last), [], []
        for place in range(min(length, body.get("max_tokens", length))):
            row = self.table[number]
            number = int(np.argsort(-row)[place % 3])
            text = self.words[number] if not place else f" {self.words[number]}"
            tokens.append(text)
            tops = [
                {"token": text if one == number else self.words[one], "logprob": float(row[one])}
                for one in np.argsort(-row)[:20].tolist()
            ]
            content.append({"token": text, "logprob": float(row[number]), "top_logprobs": tops})
        choice: dict[str, Any] = {
            "message": {"role": "assistant", "content": "".join(tokens)},
            "finish_reason": "stop" if len(tokens) == length else "length",
        }
        if body.get("logprobs"):
            choice["logprobs"] = {"content": content}
        return {"model": "words", "choices": [choice], "usage": self._usage(10, len(tokens))}

    def _steps(self, tokens: list[str]) -> Any:
        return zip(self.distributions(tokens), tokens[1:], strict=True)

    def _top(self, row: np.ndarray, token: str) -> dict[str, float]:
        return {
            token if one == self.number(token) else self.words[one]: float(row[one])
            for one in np.argsort(-row)[:20].tolist()
        }

    def _usage(self, prompt: int, completion: int) -> dict[str, int]:
        return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
