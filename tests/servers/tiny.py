"""Writes a tiny language model: ``python tiny.py gguf|transformers PATH``, with the Python of a server.

It looks at the last token alone. After anything but a digit it writes one from 1 to 8, after a digit it ends.
Told "Write sentences." before all else, its template puts a colon last, after which it writes those.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

SIZE, INNER, HEADS, LAYERS, CONTEXT = 512, 64, 8, 1, 16_384
TEMPLATE = (
    "{% for message in messages %}{{ message['content'] }}\n{% endfor %}"
    "{% if messages[0]['content'] == 'Write sentences.' %}:{% endif %}"
)
BEGIN, END = "<s>", "</s>"
LIKELY = 12.0  # logit
SAYS = {
    ":": ("The",),
    "The": ("\u0120sky",),
    "\u0120The": ("\u0120sky",),
    "\u0120sky": ("\u0120is", "\u0120looks"),
    "\u0120is": ("\u0120blue", "\u0120red"),
    "\u0120looks": ("\u0120blue", "\u0120red"),
    "\u0120blue": (".",),
    "\u0120red": (".",),
    ".": ("\u0120The", "\u0120The", END),
}
"""What may follow each token of a sentence; a word begins with the sign that stands for its space."""

Array = npt.NDArray[np.float32]


def letters() -> list[str]:
    """The sign that stands for each byte in byte-level vocabularies, as GPT-2 has them."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(byte if byte in shown else next(others)) for byte in range(256)]


def vocabulary() -> list[str]:
    signs = letters()
    # A list of merges may not be empty: two line feeds are one.
    return [*signs, BEGIN, END, signs[10] * 2, *(word for word in SAYS if len(word) > 1)]


def weights() -> dict[str, Array]:
    """Of a Llama whose layers add nothing, so that the last token alone decides."""
    words = vocabulary()
    rng = np.random.default_rng(5)
    next_to = np.zeros((len(words), len(words)), dtype=np.float32)  # from, to
    digits = [words.index(str(digit)) for digit in range(1, 9)]
    next_to[:, digits] = LIKELY + rng.normal(size=(len(words), len(digits)))
    next_to[digits] = 0
    next_to[np.ix_(digits, [words.index(END)])] = LIKELY * 2
    for word, others in SAYS.items():
        next_to[words.index(word)] = 0
        for other in others:
            next_to[words.index(word), words.index(other)] = LIKELY * 2 + np.log(others.count(other))
    embedded = np.eye(len(words), SIZE, dtype=np.float32)
    square, wide = np.zeros((SIZE, SIZE), np.float32), np.zeros((INNER, SIZE), np.float32)
    found = {"embed": embedded, "norm": np.ones(SIZE, np.float32)}
    found["head"] = np.zeros((len(words), SIZE), np.float32)
    found["head"][:, : len(words)] = next_to.T / np.sqrt(SIZE)
    found |= {"q": square, "k": square, "v": square, "o": square, "gate": wide, "up": wide, "down": wide.T}
    return {name: np.ascontiguousarray(array) for name, array in found.items()}


NAMES = {
    "embed": ("model.embed_tokens", "token_embd"),
    "norm": ("model.norm", "output_norm"),
    "head": ("lm_head", "output"),
    "q": ("model.layers.0.self_attn.q_proj", "blk.0.attn_q"),
    "k": ("model.layers.0.self_attn.k_proj", "blk.0.attn_k"),
    "v": ("model.layers.0.self_attn.v_proj", "blk.0.attn_v"),
    "o": ("model.layers.0.self_attn.o_proj", "blk.0.attn_output"),
    "gate": ("model.layers.0.mlp.gate_proj", "blk.0.ffn_gate"),
    "up": ("model.layers.0.mlp.up_proj", "blk.0.ffn_up"),
    "down": ("model.layers.0.mlp.down_proj", "blk.0.ffn_down"),
}
NORMS = (
    ("model.layers.0.input_layernorm", "blk.0.attn_norm"),
    ("model.layers.0.post_attention_layernorm", "blk.0.ffn_norm"),
)


def named(which: int) -> dict[str, Array]:
    """The weights with the names of a format."""
    found = weights()
    plain = {f"{names[which]}.weight": found[name] for name, names in NAMES.items()}
    return plain | {f"{names[which]}.weight": found["norm"] for names in NORMS}


def write_transformers(folder: Path) -> None:
    from safetensors.numpy import save_file

    words = vocabulary()
    folder.mkdir(parents=True, exist_ok=True)
    save_file(named(0), folder / "model.safetensors", metadata={"format": "pt"})
    model = {"type": "BPE", "vocab": {word: at for at, word in enumerate(words)}, "byte_fallback": False}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    special = {"special": True, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    added = [{"id": words.index(word), "content": word, **special} for word in (BEGIN, END)]
    ids = {"bos_token_id": words.index(BEGIN), "eos_token_id": words.index(END)}
    files: Mapping[str, Mapping[str, Any]] = {
        "config.json": {
            "architectures": ["LlamaForCausalLM"],
            "model_type": "llama",
            "hidden_size": SIZE,
            "intermediate_size": INNER,
            "num_attention_heads": HEADS,
            "num_key_value_heads": HEADS,
            "num_hidden_layers": LAYERS,
            "max_position_embeddings": CONTEXT,
            "rms_norm_eps": 1e-6,
            "tie_word_embeddings": False,
            "torch_dtype": "float32",
            "vocab_size": len(words),
            **ids,
        },
        "generation_config.json": {**ids, "do_sample": True},
        "tokenizer.json": {
            "version": "1.0",
            "added_tokens": added,
            "pre_tokenizer": level,
            "decoder": level,
            "model": {**model, "merges": [[words[10], words[10]]]},
        },
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "bos_token": BEGIN,
            "eos_token": END,
            "chat_template": TEMPLATE,
        },
    }
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")


def write_gguf(path: Path) -> None:
    import gguf

    words = vocabulary()
    path.parent.mkdir(parents=True, exist_ok=True)
    file = gguf.GGUFWriter(path, "llama")
    file.add_context_length(CONTEXT)
    file.add_embedding_length(SIZE)
    file.add_block_count(LAYERS)
    file.add_feed_forward_length(INNER)
    file.add_head_count(HEADS)
    file.add_head_count_kv(HEADS)
    file.add_rope_dimension_count(SIZE // HEADS)
    file.add_layer_norm_rms_eps(1e-6)
    file.add_vocab_size(len(words))
    file.add_tokenizer_model("gpt2")
    file.add_tokenizer_pre("default")
    file.add_token_list(words)
    kinds = gguf.TokenType
    file.add_token_types([kinds.CONTROL if word in (BEGIN, END) else kinds.NORMAL for word in words])
    file.add_token_merges([f"{words[10]} {words[10]}"])
    file.add_bos_token_id(words.index(BEGIN))
    file.add_eos_token_id(words.index(END))
    file.add_chat_template(TEMPLATE)
    for name, array in named(1).items():
        file.add_tensor(name, array)
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()


if __name__ == "__main__":
    {"gguf": write_gguf, "transformers": write_transformers}[sys.argv[1]](Path(sys.argv[2]))
