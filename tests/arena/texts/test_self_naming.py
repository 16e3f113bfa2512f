"""Texts that tell who wrote them, and texts that only talk about models, makers and animals."""

from pathlib import Path

import pytest

from arena.texts.author_names import Named, NameFinder
from tests.arena.texts import names

CLAUDE = ("Claude v2", "", "Anthropic")
KOALA = ("Koala (13B)", "", "LM Sys")
COMMAND = ("command", "", "Cohere")
GPT = ("GPT 3.5 Turbo", "", "OpenAI")
PALM = ("PaLM 2 Bison", "", "Google")


@pytest.mark.parametrize(
    ("author", "text", "phrase"),
    [
        (CLAUDE, "Sorry, Anthropic does not allow that.", "Anthropic"),
        (CLAUDE, "With claude-2 you can do it.", "claude-2"),
        (CLAUDE, "Hello! My name is Claude. How can I help?", "My name is Claude"),
        (KOALA, "Hi, I'm Koala, happy to help.", "I'm Koala"),
        (KOALA, "Hi, I’m an assistant called Koala.", "I’m an assistant called Koala"),
        (COMMAND, "Well, I am a chatbot built by Cohere.", "I am a chatbot built by Cohere"),
        (GPT, "I am ChatGPT, and I can help.", "I am ChatGPT"),
        (GPT, "I was trained by a team at OpenAI.", "OpenAI"),
        (PALM, "I am a large language model, trained by Google.", None),
        (PALM, "As an AI assistant made by Google, I cannot.", None),
        (("vicuna-13b:20230322-clean-lang", "", ""), "ASSISTANT: I am VICUNA.", "VICUNA"),
        (("Falcon Instruct (40B)", "", "TII UAE"), "As a model named Falcon, I fly.", None),
        (("Open-Assistant Pythia SFT-4", "", "LAION"), "I am Open Assistant.", "I am Open Assistant"),
        (("Model 1", "Llama", "Meta"), "My creators at Meta told me so.", "My creators at Meta"),
        (("RedPajama-INCITE Chat (3B)", "", "Together"), "Ask redpajama.", "redpajama"),
        (("Rook 7B", "", ""), "The İ becomes two in small letters, said rook 7b.", "rook 7b"),
        (("Rook v1", "", ""), "So says Rook, or **Rook** (version 1.2).", "Rook** (version 1.2)"),
        (("claude-3-5-sonnet-20241022", "", ""), "by Claude Sonnet", "Claude Sonnet"),
        (("o1-mini", "", ""), "Ask o1-mini.", "o1-mini"),
        (("o1", "", ""), "I am o1.", "I am o1"),
        (("Heath Labs Dolly hf", "", ""), "Dolly hf says no.", "Dolly hf"),
    ],
)
def test_finds_who_wrote_it(author: tuple[str, str, str], text: str, phrase: str | None) -> None:
    found = NameFinder(*author).find(text)
    assert found.own
    assert found.phrase in text or found.phrase in text.lower()
    assert phrase is None or found.phrase == phrase


@pytest.mark.parametrize(
    ("author", "text", "phrase"),
    [
        (KOALA, "As an AI developed by OpenAI, I cannot.", "As an AI developed by OpenAI"),
        (CLAUDE, "I am ChatGPT.", "I am ChatGPT"),
        (KOALA, "I am Stork, a model made by Meta.", "I am Stork, a model made by Meta"),
        (("Rook 7B", "", ""), "I was created by researchers at Meta.", None),
    ],
)
def test_a_text_may_call_itself_anothers(author: tuple[str, str, str], text: str, phrase: str | None) -> None:
    found = NameFinder(*author).find(text)
    assert not found.own
    assert phrase is None or found == Named(phrase.split()[-1], phrase, own=False)


@pytest.mark.parametrize(
    ("author", "text"),
    [
        (CLAUDE, "Claude Monet painted water lilies. Is that Claude?"),
        (KOALA, "I am sure, a model was trained by Meta."),
        (KOALA, "I'm going to take a kangaroo. I'm going to take a koala."),
        (COMMAND, "Run the command ls."),
        (("Rook 7B", "", ""), "Take the knight with the rook."),
        (PALM, "Works with phones by Samsung, Apple and Google. Palm oil."),
        (PALM, "I am writing to you from the desk next to the man from Google."),
        (PALM, "Hi, my name is Mark and I am a software engineer."),
        (GPT, "ChatGPT is a chatbot. GPT stands for generative pre-trained transformer."),
        (GPT, "As an AI language model, I cannot say."),
        (("text-davinci-001", "", ""), "Copy the text into the text box."),
        (("davinci-self-instruct", "", ""), "class A:\n    def f(self): pass"),
        (("vicuna-13b:20230322-clean-lang", "", ""), "A source of clean, safe energy."),
        (("Human demonstrations", "", ""), "Human beings and their demonstrations."),
        (("Vicuna v1.3 (13B)", "", "LM Sys"), "Model 13B, version 1.3."),
        (("Rook v1", "", ""), "Rook 10 takes. Then the rook.\n1. Rook 1st"),
        (("Claude Instant v1", "", ""), "For an instant 1 of 2 lamps went out."),
        (("Model 1", "", ""), "In model 1 the price is fixed."),
        (("A", "", ""), "A text without any name."),
        (("()", "", ""), "Nothing in the name can be found."),
    ],
)
def test_leaves_other_texts_alone(author: tuple[str, str, str], text: str) -> None:
    assert NameFinder(*author).find(text) is None


def test_names_of_every_shape_are_found_in_every_phrasing() -> None:
    assert list(names.missed()) == []


def test_published_answers_raise_no_false_alarm(reference_data: Path) -> None:
    texts = list(names.completions(reference_data))
    assert len(texts) == 3045
    assert names.alarms(texts) == []
