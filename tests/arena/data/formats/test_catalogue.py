from pathlib import Path
from typing import Final

import pytest

from arena.data.formats.catalogue import CATALOGUE, UnknownFormatError, gather
from arena.data.formats.files import Form, InputFile
from arena.data.formats.reading import Head, Kind


def test_an_unknown_format_names_those_there_are_and_each_has_a_head() -> None:
    with pytest.raises(UnknownFormatError, match='"xml" is no format; choose one of llmfao, '):
        gather([], "xml")
    assert list(CATALOGUE)[-4:] == list(GENERAL)
    assert {name for name, _, _ in HEADS} == (set(CATALOGUE) - set(GENERAL)) | {"jsonl"}


# Which format claims a file: one, and the general ones only where no particular one does.


HEADS: Final[list[tuple[str, Kind, str]]] = [
    ("llmfao", Kind.PAIRS, "id prompt text model_x result_x model_y result_y golden reason"),
    ("llmfao", Kind.PROMPTS, "id text type slug note"),
    ("llmfao", Kind.CONTESTANTS, "id api_id name org"),
    ("llmfao", Kind.COMPLETIONS, "id prompt model result name slug org api api_id type"),
    ("llmfao", Kind.COMPARISONS, "id prompt model_x model_y worker winner left right"),
    ("llmfao", Kind.COMPARISONS, "id prompt model_x model_y winner left right"),
    ("llmbar", Kind.PAIRS, "input output_1 output_2 label"),
    ("llmbar-replies", Kind.COMPARISONS, "input output_1 output_2 label results"),
    (
        "pandalm",
        Kind.PAIRS,
        "idx motivation_app cmp_key instruction input response1 response2 annotator1 annotator2 annotator3",
    ),
    ("pandalm", Kind.COMPARISONS, "idx gpt_result gpt_reason gpt_reference"),
    ("autoj", Kind.PAIRS, "scenario prompt response_1 response_2 label"),
    ("fair-eval", Kind.COMPARISONS, "question_id question review review_bpc score"),
    ("reife", Kind.PAIRS, "instruction output_1 output_2 winner"),
    ("reife", Kind.COMPARISONS, "prompt response output_1 output_2 instruction winner result"),
    ("wildbench", Kind.SCORES, "prompt model judge score output_characters prompt_tokens"),
    ("wildbench", Kind.SCORES, "session_id parsed_result meta_data model_test score model_output"),
    ("rewards", Kind.COMPARISONS, "prompt model judge score"),
    ("rewards", Kind.COMPARISONS, "prompt subset completion score"),
    ("rewards", Kind.COMPARISONS, "instruction output_1 output_2 score_1 score_2"),
    ("infobench", Kind.ANSWERS, "id input category instruction decomposed_questions subset output eval"),
    ("alpaca-eval", Kind.COMPLETIONS, "dataset instruction output generator"),
    ("alpaca-eval", Kind.COMPLETIONS, "instruction input output generator"),
    ("alpaca-eval", Kind.COMPLETIONS, "instruction output generator score"),
    ("alpaca-eval", Kind.SCORES, "instruction output generator annotator score"),
    (
        "alpaca-eval",
        Kind.COMPARISONS,
        "instruction output_1 generator_1 dataset output_2 generator_2 annotator preference raw_completion",
    ),
    ("fastchat", Kind.PROMPTS, "question_id category turns reference"),
    ("fastchat", Kind.PROMPTS, "question_id text category"),
    ("fastchat", Kind.COMPLETIONS, "question_id answer_id model_id choices tstamp"),
    ("fastchat", Kind.COMPLETIONS, "question_id text answer_id model_id metadata"),
    ("fastchat", Kind.CONTESTANTS, "model_id model_name model_version model_metadata"),
    ("fastchat", Kind.NOTHING, "reviewer_id prompt_id metadata description category"),
    ("fastchat", Kind.NOTHING, "name type system_prompt prompt_template description category output_format"),
    ("fastchat", Kind.SCORES, "question_id model judge user_prompt judgment score turn tstamp"),
    ("fastchat", Kind.COMPARISONS, "review_id question_id answer1_id answer2_id reviewer_id text score"),
    (
        "fastchat",
        Kind.COMPARISONS,
        "question_id model_1 model_2 g1_winner g2_winner judge g1_judgment g2_judgment turn tstamp",
    ),
    ("self-instruct", Kind.PROMPTS, "id motivation_app instruction instances"),
    ("self-instruct", Kind.PROMPTS, "id name instruction instances is_classification"),
    ("self-instruct", Kind.COMPLETIONS, "prompt instruction input response target"),
    ("arena-battles", Kind.COMPARISONS, "model_a model_b winner judge turn anony language tstamp"),
    (
        "arena-battles",
        Kind.COMPARISONS,
        "question_id model_a model_b winner judge conversation_a conversation_b turn language tstamp",
    ),
    (
        "arena-battles",
        Kind.COMPARISONS,
        "id model_a model_b prompt response_a response_b winner_model_a winner_model_b winner_tie",
    ),
    ("study", Kind.STUDY, "slug name guidelines tasks points gold_share"),
    ("arena-battles", Kind.COMPARISONS, "left right winner"),
    ("arena-battles", Kind.COMPARISONS, "left right winner prompt prompt_id"),
    ("arena-hard", Kind.PROMPTS, "uid category subcategory prompt"),
    ("arena-hard", Kind.COMPLETIONS, "uid ans_id model messages tstamp metadata"),
    ("arena-hard", Kind.COMPARISONS, "uid category judge model baseline games"),
    ("arena-hard", Kind.COMPARISONS, "question_id model judge games"),
    (
        "comparia",
        Kind.COMPARISONS,
        "id timestamp model_a_name model_b_name chosen_model_name both_equal conversation_a conversation_b",
    ),
    (
        "comparia",
        Kind.COMPARISONS,
        "comparison_id model_a model_b choice full_conversation_a full_conversation_b mode",
    ),
    ("preferences", Kind.PAIRS, "prompt chosen rejected"),
    ("preferences", Kind.PAIRS, "prompt prompt_id chosen rejected messages score_chosen score_rejected"),
    ("preferences", Kind.PAIRS, "prompt chosen chosen_model rejected rejected_model subset id"),
    ("preferences", Kind.PAIRS, "prompt chosen rejected margin n_raters agreement consensus category"),
    (
        "helpsteer",
        Kind.COMPARISONS,
        "domain language context response1 response2 overall_preference individual_preference",
    ),
    ("argilla", Kind.COMPARISONS, "id status fields metadata suggestions responses vectors _server_id"),
    ("label-studio", Kind.COMPARISONS, "id annotations data predictions meta project created_at"),
    ("wildbench", Kind.COMPARISONS, "session_id parsed_result meta_data model_A model_B winner extent"),
    (
        "wildbench",
        Kind.COMPARISONS,
        "session_id model_output generator ref_output ref_generator assignment prompt result parsed_result",
    ),
    ("training", Kind.PAIRS, "prompt first second gold explanation"),
    ("training", Kind.PAIRS, "id prompt first second gold use"),
    ("jsonl", Kind.PROMPTS, "id instruction category subset input references"),
    ("jsonl", Kind.PROMPTS, "id turns"),
    ("jsonl", Kind.CONTESTANTS, "name slug kind family organisation licence size generation"),
    ("jsonl", Kind.COMPLETIONS, "prompt contestant text"),
    ("jsonl", Kind.COMPLETIONS, "prompt subset id turns"),
    ("jsonl", Kind.QUESTIONS, "prompt position text labels required"),
    ("jsonl", Kind.QUESTIONS, "prompt text labels"),
    ("jsonl", Kind.SCORES, "prompt contestant score"),
    ("jsonl", Kind.SCORES, "prompt completion rater turn lowest highest score"),
    ("jsonl", Kind.ANSWERS, "prompt contestant question rater answer"),
    ("features", Kind.FEATURES, "prompt contestant turn name variant value"),
    ("features", Kind.FEATURES, "prompt subset completion name variant value source"),
    ("jsonl", Kind.RATERS, "rater rater_kind name simulated groups"),
    ("jsonl", Kind.COMPARISONS, "prompt first second rater rater_kind rating points id repeat"),
]
"""Format, kind and fields of the files there are."""

GENERAL: Final = ("jsonl", "csv", "parquet", "table")
"""Formats that keep fields they do not know, and so may fit a file of another format: they come last."""


@pytest.mark.parametrize(("name", "kind", "fields"), HEADS)
def test_one_format_claims_a_file(tmp_path: Path, name: str, kind: Kind, fields: str) -> None:
    path = tmp_path / "file.jsonl"
    path.write_text("{}\n")
    head = Head(InputFile(path), Form.JSON, frozenset(fields.split()))
    claims = {entry.name: claim for entry in CATALOGUE.values() if (claim := entry.shape(head))}
    particular = {claimant: claim.kind for claimant, claim in claims.items() if claimant not in GENERAL}
    assert particular == ({} if name == "jsonl" else {name: kind})
    assert next((claimant, claim.kind) for claimant, claim in claims.items()) == (name, kind)
