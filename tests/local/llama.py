"""A Llama in NumPy, slow and plain: what torch computes, computed another way."""

import json

import numpy as np
from safetensors.numpy import load_file


class Llama:
    """Reads a folder that transformers wrote."""

    def __init__(self, folder):
        self.config = json.loads((folder / "config.json").read_text())
        self.weights = {
            name: w.astype(np.float64) for name, w in load_file(folder / "model.safetensors").items()
        }
        self.heads = self.config["num_attention_heads"]
        self.shared = self.heads // self.config["num_key_value_heads"]
        self.size = self.config["hidden_size"] // self.heads

    def __call__(self, ids, mask=None):
        """Logits (tokens, vocabulary) and attention (layers, heads, tokens, tokens). ``mask`` multiplies what
        the tokens are embedded as."""
        x = self.weights["model.embed_tokens.weight"][ids]
        x = x if mask is None else x * mask
        attention = []
        for number in range(self.config["num_hidden_layers"]):
            layer = f"model.layers.{number}."
            seen, paid = self._attend(layer, self._norm(x, f"{layer}input_layernorm.weight"))
            attention.append(paid)
            x = x + seen
            y = self._norm(x, f"{layer}post_attention_layernorm.weight")
            gate = y @ self.weights[f"{layer}mlp.gate_proj.weight"].T
            up = y @ self.weights[f"{layer}mlp.up_proj.weight"].T
            x = x + (gate / (1 + np.exp(-gate)) * up) @ self.weights[f"{layer}mlp.down_proj.weight"].T
        return self._norm(x, "model.norm.weight") @ self.weights["lm_head.weight"].T, np.array(attention)

    def _norm(self, x, name):
        scale = np.sqrt((x**2).mean(axis=-1, keepdims=True) + self.config["rms_norm_eps"])
        return x / scale * self.weights[name]

    def _attend(self, layer, x):
        q, k, v = (self._split(x @ self.weights[f"{layer}self_attn.{one}_proj.weight"].T) for one in "qkv")
        q, k = self._turn(q), self._turn(k)
        k, v = (np.repeat(each, self.shared, axis=0) for each in (k, v))
        scores = q @ k.transpose(0, 2, 1) / np.sqrt(self.size)
        scores[:, np.triu(np.ones(scores.shape[1:], bool), 1)] = -np.inf
        paid = np.exp(scores - scores.max(axis=-1, keepdims=True))
        paid /= paid.sum(axis=-1, keepdims=True)
        seen = (paid @ v).transpose(1, 0, 2).reshape(len(x), -1)
        return seen @ self.weights[f"{layer}self_attn.o_proj.weight"].T, paid

    def _split(self, x):
        return x.reshape(len(x), -1, self.size).transpose(1, 0, 2)

    def _turn(self, x):
        """Rotary positions."""
        theta = self.config.get("rope_theta") or self.config["rope_parameters"]["rope_theta"]
        angles = np.outer(np.arange(x.shape[1]), theta ** -(np.arange(0, self.size, 2) / self.size))
        cos, sin = (np.concatenate([f(angles)] * 2, axis=1) for f in (np.cos, np.sin))
        half = self.size // 2
        return x * cos + np.concatenate([-x[..., half:], x[..., :half]], axis=-1) * sin


def log_softmax(logits):
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
