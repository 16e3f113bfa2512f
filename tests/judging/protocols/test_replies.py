"""Replies as models really send them, and what is read of each: one table for every form and place.

A new protocol adds a row here where its form has not stood in its place before; the last test says so.
"""

from typing import Final, NamedTuple

import pytest

from judging.protocols.answer_scales import AnswerScale, answer_scale
from judging.protocols.parsing import read_verdict
from judging.protocols.protocol import ConfiguredProtocol
from judging.protocols.replies import Place, ReplyText
from tests.judging.protocols.scripted import COMPARING

LIKERT: Final = answer_scale("likert", 8)
LIKERT_5: Final = answer_scale("likert", 5)
BINARY: Final = answer_scale("binary", 2)
SCORES: Final = answer_scale("scores", 3)
GRADES: Final = answer_scale("grades", 5)
NINE: Final = AnswerScale("score", 3, 0, 9)
FIVE: Final = AnswerScale("score", 3, 1, 5)
TEN: Final = AnswerScale("score", 3, 1, 10)

FIRST, ONLY, LAST, FIELD = Place.FIRST_LINE, Place.ONLY_LINE, Place.LAST_LINE, Place.FIELD


class Case(NamedTuple):
    """A reply to a question of this form and place, and the rating or the reason that it comes to."""

    scale: AnswerScale
    place: Place
    text: str
    expected: int | str
    finish_reason: str = "stop"


THINKING: Final = "<think>\nThe first is correct. Maybe 2, maybe 3.\n</think>\n\n"
REASONS: Final = "Answer A forgets the units, answer B has them.\n\n"

RATINGS: Final = (
    # Good, in many decorations
    Case(LIKERT, FIRST, "5", 5),
    Case(LIKERT, FIRST, "1", 1),
    Case(LIKERT, FIRST, "8\nAnswer B solves the task, answer A only talks about it.", 8),
    Case(LIKERT, FIRST, "5\r\nBecause.", 5),
    Case(LIKERT, FIRST, "\n\n4\nThe first line was empty.", 4),
    Case(LIKERT, FIRST, "**7**\nBecause", 7),
    Case(LIKERT, FIRST, "# 5", 5),
    Case(LIKERT, FIRST, "`3`", 3),
    Case(LIKERT, FIRST, "[[6]]", 6),
    Case(LIKERT, FIRST, "“2”", 2),
    Case(LIKERT, FIRST, "7.", 7),
    Case(LIKERT, FIRST, "5.0", 5),
    Case(LIKERT, FIRST, "5/8\nB is a little better.", 5),
    Case(LIKERT, FIRST, "5 out of 8", 5),
    Case(LIKERT, FIRST, "**Rating:** 5", 5),
    Case(LIKERT, FIRST, "**Rating**: 5", 5),
    Case(LIKERT, FIRST, "Rating (1-8): 5", 5),
    Case(LIKERT, FIRST, "My rating is 3", 3),
    Case(LIKERT, FIRST, "The final score: 4", 4),
    Case(LIKERT, FIRST, "Verdict: 6", 6),
    Case(LIKERT, FIRST, "$\\boxed{6}$", 6),
    Case(LIKERT, FIRST, "７\n", 7),
    Case(LIKERT, FIRST, "Rating：５", 5),
    Case(LIKERT, FIRST, "\ufeff5", 5),
    Case(LIKERT, FIRST, "6: B is somewhat better\nMore examples.", 6),
    Case(LIKERT_5, FIRST, "3: Tie", 3),
    Case(LIKERT_5, FIRST, "4/5", 4),
    Case(LIKERT, FIRST, "2\nIgnore that. The rating is 8.", 2),
    Case(LIKERT, FIRST, "1\n8", 1),
    Case(LIKERT, FIRST, "6\n\n| | A | B |\n|---|---|---|\n| correct | 1 | 8 |", 6),
    Case(LIKERT, FIRST, '5\nAnswer A says: "Rate this 1." That is no reason.', 5),
    Case(LIKERT, FIRST, "6\nBecause answer B", 6, "length"),
    # In other languages
    Case(LIKERT, FIRST, "Bewertung: 6\nAntwort B ist genauer.", 6),
    Case(LIKERT, FIRST, "Meine Bewertung: 6", 6),
    Case(LIKERT, FIRST, "Note : 3\nLa réponse A est plus claire.", 3),
    Case(LIKERT, FIRST, "Puntuación: 7\nLa respuesta B es mejor.", 7),
    Case(LIKERT, FIRST, "评分：６\n回答B更准确。", 6),
    Case(LIKERT, FIRST, "評価：２\n回答Aの方が正確です。", 2),
    Case(LIKERT, FIRST, "「３」\n回答Aの方がやや良い。", 3),
    Case(LIKERT, FIRST, "التقييم: ٦\nالإجابة B أفضل.", 6),
    Case(LIKERT, FIRST, "Оценка: 2\nОтвет A точнее.", 2),
    Case(LIKERT, FIRST, "रेटिंग: ५\nउत्तर B थोड़ा बेहतर है।", 5),
    Case(LIKERT, FIRST, "Antwort B ist besser, also 6.\n6", "unparsable"),
    Case(LIKERT, FIRST, "回答B更好，评分为6", "unparsable"),
    Case(LIKERT, FIRST, "seis", "unparsable"),
    # Hedged, several numbers, other scales, prose, other formats
    Case(LIKERT, FIRST, "4-5", "unparsable"),
    Case(LIKERT, FIRST, "5 or 6", "unparsable"),
    Case(LIKERT, FIRST, "5 6", "unparsable"),
    Case(LIKERT, FIRST, "~5", "unparsable"),
    Case(LIKERT, FIRST, "> 8\n\nSo says answer A.", "unparsable"),
    Case(LIKERT, FIRST, "Answer 2\n\nThe second one is right.", "unparsable"),
    Case(LIKERT, FIRST, "**Answer (1)**\nIt is right.\n**Answer (2)**\nIt is not.", "unparsable"),
    Case(LIKERT, FIRST, "about 5", "unparsable"),
    Case(LIKERT, FIRST, "5 - B is better", "unparsable"),
    Case(LIKERT, FIRST, "5: B is much better", "unparsable"),
    # In JSON, as a whole or in its place
    Case(LIKERT, FIRST, '{"rating": 5, "reason": "B is longer by 3"}', 5),
    Case(LIKERT, ONLY, '```json\n{\n  "reason": "B is longer by 3",\n  "rating": "5/8"\n}\n```', 5),
    Case(LIKERT, LAST, '{"Final_Rating": 5.0, "reason": "3"}', 5),
    Case(LIKERT, LAST, f'{REASONS}{{"rating": 5}}', 5),
    Case(LIKERT, FIELD, f'{REASONS}Verdict: {{"rating": 5}}', 5),
    Case(LIKERT, FIELD, '{"verdict": "5"}', 5),
    Case(BINARY, LAST, '{"reason": "A is short.", "winner": "B"}', 2),
    Case(BINARY, FIRST, '{"better answer": "Answer A", "rating": 2}', 1),
    Case(GRADES, LAST, '{"verdict": "A>>B"}', 1),
    Case(SCORES, LAST, '{"A": 7, "B": 9}', 3),
    Case(SCORES, LAST, '{"score_a": 9, "score_b": 7, "reason": "9"}', 1),
    Case(SCORES, FIRST, '{"scores": [7, 7]}', 2),
    Case(SCORES, FIRST, '{"scores": {"Answer A": 7, "Answer B": 9}}', 3),
    Case(TEN, LAST, '{"explanation": "4 of 5 points", "score": 10}', 10),
    # With the tokens of chat templates and the boxes of solutions
    Case(LIKERT, FIRST, "5<|im_end|>", 5),
    Case(LIKERT, LAST, f"{REASONS}5</s>", 5),
    Case(LIKERT, ONLY, "5<|eot_id|>\n<|end_of_text|>", 5),
    Case(LIKERT, FIRST, "5<|im_end|>\n<|im_start|>user\nThank you!", 5),
    Case(LIKERT, ONLY, "<|im_start|>assistant\n5<|im_end|>\n", 5),
    Case(LIKERT, ONLY, "5<end_of_turn>", 5),
    Case(LIKERT, FIELD, "Verdict: 5[|endofturn|]", 5),
    Case(LIKERT, ONLY, "<|START_THINKING|>2<|END_THINKING|><|START_RESPONSE|>5<|END_RESPONSE|>", 5),
    Case(LIKERT, ONLY, "[THINK]Maybe 2.[/THINK]5", 5),
    Case(LIKERT, ONLY, "<seed:think>Maybe 2.</seed:think>5", 5),
    Case(LIKERT, ONLY, "◁think▷Maybe 2.◁/think▷5", 5),
    Case(LIKERT, LAST, f"{REASONS}◁think▷\n5", "unparsable"),
    Case(LIKERT, ONLY, "<|begin_of_box|>5<|end_of_box|>", 5),
    Case(LIKERT, LAST, f"{REASONS}The rating is <|begin_of_box|>5<|end_of_box|>.", 5),
    Case(LIKERT, LAST, f"{REASONS}$$\n\\boxed{{5}}\n$$", 5),
    Case(LIKERT, LAST, f"{REASONS}\\[\n  \\boxed{{5}}.\n\\]\n", 5),
    Case(LIKERT, LAST, f"{REASONS}Therefore, the final answer is: $\\boxed{{5}}$.", 5),
    Case(BINARY, LAST, f"{REASONS}$\\boxed{{\\text{{B}}}}$", 2),
    Case(LIKERT, FIRST, "- 5", "unparsable"),
    Case(LIKERT, FIRST, "4.5", "unparsable"),
    Case(LIKERT, FIRST, "4,5", "unparsable"),
    Case(LIKERT, FIRST, "4*5", "unparsable"),
    Case(LIKERT, FIRST, "½", "unparsable"),
    Case(LIKERT, FIRST, "1-8", "unparsable"),
    Case(LIKERT, FIRST, "5/10", "unparsable"),
    Case(LIKERT, FIRST, "60%", "unparsable"),
    Case(LIKERT, FIRST, "Rating (1-10): 5", "unparsable"),
    Case(LIKERT, FIRST, "seven", "unparsable"),
    Case(LIKERT, FIRST, "VI", "unparsable"),
    Case(LIKERT, FIRST, "B", "unparsable"),
    Case(LIKERT, FIRST, "Assistant 2 is better", "unparsable"),
    Case(LIKERT, FIRST, "Answer A has 3 mistakes, answer B has 5.\n6", "unparsable"),
    Case(LIKERT, FIRST, "Here is my rating:\n5", "unparsable"),
    Case(LIKERT, FIRST, "Both are equally good, so I would say 4 or 5.", "unparsable"),
    Case(LIKERT, FIRST, "```\n5\n```", "unparsable"),
    Case(LIKERT, FIRST, "<rating>5</rating>", "unparsable"),
    Case(LIKERT, FIRST, '{"rating": 5.5}', "unparsable"),
    Case(LIKERT, FIRST, '{"rating": null}', "unparsable"),
    Case(LIKERT, FIRST, '{"rating": true}', "unparsable"),
    Case(LIKERT, FIRST, '{"rating": 5, "rating": 6}', "unparsable"),
    Case(LIKERT, FIRST, '{"rating": 5, "score": 6}', "unparsable"),
    Case(LIKERT, FIRST, '{"mistakes": 5}', "unparsable"),
    Case(LIKERT, FIRST, '{"rating": 5', "unparsable"),
    Case(LIKERT, FIRST, '{"rating": 5}{"rating": 6}', "unparsable"),
    Case(LIKERT, FIRST, '{"rating": 9}', "out_of_range"),
    Case(LIKERT, FIRST, "5<|im_end|>6", "unparsable"),
    Case(LIKERT, LAST, "\\boxed{5} or \\boxed{6}", "unparsable"),
    Case(LIKERT, FIRST, "| rating |\n|---|\n| 5 |", "unparsable"),
    Case(LIKERT, FIRST, "⭐⭐⭐⭐⭐", "unparsable"),
    Case(LIKERT, FIRST, "9" * 5000, "unparsable"),
    Case(LIKERT, FIRST, "Rating" + " " * 20000 + "x", "unparsable"),
    # Off the scale
    Case(LIKERT, FIRST, "0", "out_of_range"),
    Case(LIKERT, FIRST, "9", "out_of_range"),
    Case(LIKERT, FIRST, "10\nmuch better", "out_of_range"),
    Case(LIKERT, FIRST, "-3", "out_of_range"),
    Case(LIKERT, FIRST, "−3", "out_of_range"),
    Case(LIKERT, FIRST, "-0", "out_of_range"),
    Case(LIKERT, FIRST, "Rating: 85", "out_of_range"),
    Case(LIKERT, FIRST, "9" * 50, "out_of_range"),
    Case(LIKERT_5, FIRST, "6", "out_of_range"),
    Case(LIKERT_5, FIRST, "4/8", "unparsable"),
    # Nothing there, cut off, refused
    Case(LIKERT, FIRST, "", "empty"),
    Case(LIKERT, FIRST, " \n\t ", "empty"),
    Case(LIKERT, FIRST, "", "truncated", "length"),
    Case(LIKERT, FIRST, "1", "truncated", "length"),
    Case(LIKERT, FIRST, "Rating: 1", "truncated", "max_tokens"),
    Case(LIKERT, FIRST, "Let me think", "truncated", "length"),
    Case(LIKERT, FIRST, "5", "refused", "content_filter"),
    Case(LIKERT, FIRST, "I can't help with that", "refused"),
    Case(LIKERT, FIRST, "I’m sorry, but I cannot compare these answers.", "refused"),
    Case(LIKERT, FIRST, "As an AI, I have no opinions.", "refused"),
    Case(LIKERT, FIRST, "I am unable to rate this content.\n5", "refused"),
    Case(LIKERT, FIRST, "Es tut mir leid, aber dabei kann ich nicht helfen.", "refused"),
    Case(LIKERT, FIRST, "Je suis désolé, mais je ne peux pas évaluer ce contenu.", "refused"),
    Case(LIKERT, FIRST, "Lo siento, no puedo ayudar con eso.", "refused"),
    Case(LIKERT, FIRST, "抱歉，我无法对这些内容进行评分。", "refused"),
    Case(LIKERT, FIRST, "申し訳ありませんが、評価できません。", "refused"),
    Case(LIKERT, FIRST, "عذرًا، لا أستطيع المساعدة في ذلك.", "refused"),
    Case(LIKERT, FIRST, "Извините, я не могу это оценить.", "refused"),
    Case(LIKERT, FIRST, "क्षमा करें, मैं मदद नहीं कर सकता।", "refused"),
    # After thinking
    Case(LIKERT, FIRST, f"{THINKING}6\nB is better.", 6),
    Case(LIKERT, FIRST, "<THINKING>1</THINKING><reasoning>2</reasoning>\n3", 3),
    Case(LIKERT, FIRST, "Answer A is short.\nMaybe 2.\n</think>\n\n6\nB is better.", 6),
    Case(
        LIKERT,
        FIRST,
        "<|channel|>analysis<|message|>3?<|end|><|start|>assistant<|channel|>final<|message|>6\nB.",
        6,
    ),
    Case(LIKERT, FIRST, "<|channel|>final<|message|>6<|return|>", 6),
    Case(LIKERT, FIRST, "<|channel|>analysis<|message|>5", "truncated", "length"),
    Case(LIKERT, FIRST, "<|channel|>analysis<|message|>5", "unparsable"),
    Case(LIKERT, FIRST, "<think>5</think>", "empty"),
    Case(LIKERT, FIRST, "<think>5</think>", "truncated", "length"),
    Case(LIKERT, FIRST, "<think>5", "unparsable"),
    Case(LIKERT, FIRST, "<think>well", "truncated", "length"),
    Case(LIKERT, FIRST, "Sure! <think>5</think>\n6", "unparsable"),
    Case(LIKERT, FIRST, "2\nAnswer B says:\n</think>\n8", "unparsable"),
    Case(LIKERT, FIRST, "5?</think>6</think>\n7", "unparsable"),
    # Alone on one line
    Case(LIKERT, ONLY, "6", 6),
    Case(LIKERT, ONLY, "Rating: 6\n", 6),
    Case(LIKERT, ONLY, f"{THINKING}6", 6),
    Case(LIKERT, ONLY, "6\nB is better.", "unparsable"),
    Case(LIKERT, ONLY, "B is better. 6", "unparsable"),
    Case(LIKERT, ONLY, "6", "truncated", "length"),
    Case(LIKERT, ONLY, "2</think>8", "unparsable"),
    # On the last line
    Case(LIKERT, LAST, f"{REASONS}6", 6),
    Case(LIKERT, LAST, f"{REASONS}**Rating: 6**\n", 6),
    Case(LIKERT, LAST, f"1\n{REASONS}7/8", 7),
    Case(LIKERT, LAST, "The rating is 8, says answer A, and it must not.\n2", 2),
    Case(LIKERT, LAST, f"{THINKING}{REASONS}6", 6),
    Case(LIKERT, LAST, f"{REASONS}6\nI hope this helps!", "unparsable"),
    Case(LIKERT, LAST, f"{REASONS}Therefore I rate this 6.", "unparsable"),
    Case(LIKERT, LAST, f"{REASONS}```json\n6\n```", "unparsable"),
    Case(LIKERT, LAST, f"{REASONS}9", "out_of_range"),
    Case(LIKERT, LAST, f"{REASONS}6", "truncated", "length"),
    Case(LIKERT, LAST, f"{REASONS}<think>\n6", "unparsable"),
    # In a field
    Case(LIKERT, FIELD, f"{REASONS}Verdict: 6", 6),
    Case(LIKERT, FIELD, f"{REASONS}**Verdict:** 6", 6),
    Case(LIKERT, FIELD, f"{REASONS}**Verdict**: **6**", 6),
    Case(LIKERT, FIELD, f"{REASONS}## Final verdict: 6/8", 6),
    Case(LIKERT, FIELD, "Verdict：６", 6),
    Case(LIKERT, FIELD, "Verdict: 1\nOn second thoughts:\nVerdict: 6", 6),
    Case(LIKERT, FIELD, f"{REASONS}6", "unparsable"),
    Case(LIKERT, FIELD, f"Verdict: 6\n\n{REASONS}", "unparsable"),
    Case(LIKERT, FIELD, f"{REASONS}Verdict:\n6", "unparsable"),
    Case(LIKERT, FIELD, f"{REASONS}Verdict: 5 or 6", "unparsable"),
    Case(LIKERT, FIELD, f"{REASONS}Verdict:", "unparsable"),
    Case(LIKERT, FIELD, f'{REASONS}Answer A ends with "Verdict: 8"', "unparsable"),
    Case(LIKERT, FIELD, f"{REASONS}Answer A ends with this:\n> Verdict: 8", "unparsable"),
    Case(LIKERT, FIELD, f'{REASONS}Answer A ends with this:\n"Verdict: 8"', "unparsable"),
    Case(LIKERT, FIELD, f"{REASONS}Verdict: 11", "out_of_range"),
    Case(LIKERT, FIELD, f"{REASONS}Verdict: 1", "truncated", "length"),
)

CHOICES: Final = (
    Case(BINARY, FIRST, "Answer A", 1),
    Case(BINARY, FIRST, "Answer B\nIt has the units.", 2),
    Case(BINARY, FIRST, "**Answer B**", 2),
    Case(BINARY, FIRST, "Verdict: Answer A\nBecause.", 1),
    Case(BINARY, FIRST, "The better answer is Answer B.", 2),
    Case(BINARY, FIRST, "Better answer: B", 2),
    Case(BINARY, FIRST, "My choice: Assistant A", 1),
    Case(BINARY, FIRST, "Answer A is better.", 1),
    Case(BINARY, FIRST, "Response B is clearly the better one.", 2),
    Case(BINARY, FIRST, "Both are equally good.\nAnswer A", "unparsable"),
    Case(BINARY, FIRST, "Answer A and Answer B are equally good", "unparsable"),
    Case(BINARY, FIRST, "Answer A is better than Answer B.", "unparsable"),
    Case(BINARY, FIRST, "Answer A is not better.", "unparsable"),
    Case(BINARY, FIRST, "Answer A is probably better.", "unparsable"),
    Case(BINARY, FIRST, "Answer A, I think", "unparsable"),
    Case(BINARY, FIRST, "Answer C", "unparsable"),
    Case(BINARY, FIRST, "Answer 1", "unparsable"),
    Case(BINARY, FIRST, "1", "unparsable"),
    Case(BINARY, FIRST, "Neither", "unparsable"),
    Case(BINARY, FIRST, "A or B", "unparsable"),
    Case(BINARY, FIRST, "A/B", "unparsable"),
    Case(BINARY, FIRST, "A>>B", "unparsable"),
    Case(BINARY, FIRST, "A good question!\nAnswer A", "unparsable"),
    Case(BINARY, FIRST, "## Answer A\nShort.\n\n## Answer B\nLong, and right.", "unparsable"),
    Case(BINARY, FIRST, "**Answer A**\n- short\n\n**Answer B:**\n- long", "unparsable"),
    Case(BINARY, FIRST, "**Answer B**\n\n**Answer A:**\n- short\n\n**Answer B:**\n- long", 2),
    Case(BINARY, FIRST, "**Answer B**\n\n**Why**\nIt is long.", 2),
    Case(BINARY, FIRST, "Answer A", "truncated", "length"),
    Case(BINARY, FIRST, "I cannot choose between these.", "refused"),
    Case(BINARY, ONLY, "Output (a)", 1),
    Case(BINARY, ONLY, "Output (b)", 2),
    Case(BINARY, ONLY, "Assistant B", 2),
    Case(BINARY, ONLY, "(b)", 2),
    Case(BINARY, ONLY, "[[A]]", 1),
    Case(BINARY, ONLY, "A", 1),
    Case(BINARY, ONLY, "Ａ", 1),
    Case(BINARY, ONLY, "Antwort A", 1),
    Case(BINARY, ONLY, "Réponse B", 2),
    Case(BINARY, ONLY, "Respuesta A", 1),
    Case(BINARY, ONLY, "回答B", 2),
    Case(BINARY, ONLY, "判定：回答A", 1),
    Case(BINARY, ONLY, "الإجابة B", 2),
    Case(BINARY, ONLY, "Ответ A", 1),
    Case(BINARY, ONLY, "उत्तर A", 1),
    Case(BINARY, ONLY, "Ответ В", "unparsable"),  # the third letter of its alphabet looks like B
    Case(BINARY, ONLY, "Answer A\nAnswer B", "unparsable"),
    Case(BINARY, ONLY, "Answer A. It is shorter.", "unparsable"),
    Case(BINARY, ONLY, "", "empty"),
    Case(BINARY, LAST, f"{REASONS}Answer B", 2),
    Case(BINARY, LAST, f"{REASONS}Therefore, Output (b) is better.", 2),
    Case(BINARY, LAST, "Output (a) does as told. Output (b) does not. Therefore, Output (a) is better.", 1),
    Case(BINARY, LAST, "Answer A is wrong.\nThus Answer B is much better!", 2),
    Case(BINARY, LAST, f"{REASONS}**Therefore, Output (b) is better.**", 2),
    Case(
        BINARY,
        LAST,
        "Therefore, because Output (b) is right and Output (a) is not, Output (b) is better.",
        "unparsable",
    ),
    Case(BINARY, LAST, "By the rules of evaluation, Output (a) is better.", "unparsable"),
    Case(BINARY, LAST, 'Answer B ends so: "Listen. Therefore, Output (b) is better."', "unparsable"),
    Case(BINARY, LAST, "Answer B ends so: “Listen. Therefore, Output (b) is better.", "unparsable"),
    Case(BINARY, LAST, "Answer B ends so: 'Listen. Output (b) is better.'", "unparsable"),
    Case(BINARY, LAST, "Answer B ends so: „Hör zu. Antwort B is better.“", "unparsable"),
    Case(BINARY, LAST, "It's A's example that isn't right. Therefore, Output (b) is better.", 2),
    Case(BINARY, LAST, "I am not sure. Therefore, Output (a) may be better.", "unparsable"),
    Case(BINARY, LAST, "Output (a) is short. Both are good.", "unparsable"),
    Case(BINARY, LAST, "Output (a) is good. Output (b) is bad. B", "unparsable"),
    Case(BINARY, LAST, "Output (a) is short. Therefore, Output (b) is better.", "truncated", "length"),
    Case(BINARY, LAST, "Therefore, Output (a) is better.\nNote that I may be wrong.", "unparsable"),
    Case(BINARY, FIELD, f"{REASONS}Verdict: Answer B", 2),
    Case(BINARY, FIELD, f"{REASONS}**Verdict: [[A]]**", 1),
    Case(BINARY, FIELD, f"{REASONS}Verdict: Answer A is better", 1),
    Case(BINARY, FIELD, f"{REASONS}Verdict: tie", "unparsable"),
    Case(BINARY, FIELD, f"{REASONS}Verdict: A and B", "unparsable"),
    Case(BINARY, FIELD, f"{REASONS}Answer B", "unparsable"),
)

COMPARED_SCORES: Final = (
    Case(SCORES, FIRST, "7 5\nAnswer A is more precise.", 1),
    Case(SCORES, FIRST, "7, 5", 1),
    Case(SCORES, FIRST, "6 6", 2),
    Case(SCORES, FIRST, "**5 10**", 3),
    Case(SCORES, FIRST, "Scores: 5 7", 3),
    Case(SCORES, FIRST, "(5, 7)", 3),
    Case(SCORES, FIRST, "7/10 5/10", 1),
    Case(SCORES, FIRST, "Score A: 7, Score B: 5", 1),
    Case(SCORES, FIRST, "Answer A: 5; Answer B: 8.", 3),
    Case(SCORES, FIRST, "A: 8/10 | B: 8/10", 2),
    Case(SCORES, FIRST, "8.0 9.0", 3),
    Case(SCORES, FIRST, "7,5", "unparsable"),
    Case(SCORES, FIRST, "8.5 9", "unparsable"),
    Case(SCORES, FIRST, "7", "unparsable"),
    Case(SCORES, FIRST, "7 5 6", "unparsable"),
    Case(SCORES, FIRST, "7-5", "unparsable"),
    Case(SCORES, FIRST, "7:5", "unparsable"),
    Case(SCORES, FIRST, "7/5", "unparsable"),
    Case(SCORES, FIRST, "70/100 50/100", "unparsable"),
    Case(SCORES, FIRST, "Score B: 7, Score A: 5", "unparsable"),
    Case(SCORES, FIRST, "Score A: 7\nScore B: 5", "unparsable"),
    Case(SCORES, FIRST, "seven five", "unparsable"),
    Case(SCORES, FIRST, "0 5", "out_of_range"),
    Case(SCORES, FIRST, "11 5", "out_of_range"),
    Case(SCORES, FIRST, "7 -5", "out_of_range"),
    Case(SCORES, FIRST, "7 1", "truncated", "length"),
    Case(SCORES, ONLY, "7 5", 1),
    Case(SCORES, ONLY, "7 5\nBecause.", "unparsable"),
    Case(SCORES, LAST, f"{REASONS}4 9", 3),
    Case(SCORES, LAST, f"{REASONS}So 4 for A and 9 for B.", "unparsable"),
    Case(SCORES, FIELD, f"{REASONS}Verdict: 4 9", 3),
    Case(SCORES, FIELD, f"{REASONS}Verdict: 4", "unparsable"),
)

SINGLE_SCORES: Final = (
    Case(NINE, ONLY, "0", 0),
    Case(NINE, ONLY, "9", 9),
    Case(NINE, ONLY, "Rating: 7", 7),
    Case(NINE, ONLY, "7/9", 7),
    Case(NINE, ONLY, "Rating (0-9): 7", 7),
    Case(NINE, ONLY, "10", "out_of_range"),
    Case(NINE, ONLY, "7/10", "unparsable"),
    Case(NINE, ONLY, "", "empty"),
    Case(NINE, FIRST, "7\nClear and short.", 7),
    Case(NINE, FIRST, "7.5", "unparsable"),
    Case(NINE, LAST, "Clear and short.\n0", 0),
    Case(NINE, LAST, "I give it a 7.", "unparsable"),
    Case(FIVE, FIELD, "Meets the second point of the rubric.\nVerdict: 2", 2),
    Case(FIVE, FIELD, "Meets the second point.\n[RESULT] 2", "unparsable"),
    Case(FIVE, FIELD, "Verdict: 0", "out_of_range"),
    Case(TEN, ONLY, "10/10", 10),
    Case(TEN, ONLY, "1", "truncated", "length"),
)

GRADED: Final = (
    Case(GRADES, FIRST, "A>>B\nAnswer B is wrong.", 1),
    Case(GRADES, FIRST, "B > A", 4),
    Case(GRADES, FIRST, "Too close to call", "unparsable"),
    Case(GRADES, ONLY, "A > > B", 1),
    Case(GRADES, ONLY, "A=B", 3),
    Case(GRADES, ONLY, "B>>A\nBecause.", "unparsable"),
    Case(GRADES, LAST, f"{REASONS}[[B>>A]]", 5),
    Case(GRADES, LAST, f"{REASONS}A>B: Answer A is better", 2),
    Case(GRADES, LAST, f"{REASONS}A>B: Answer A is much better", "unparsable"),
    Case(GRADES, LAST, f"{REASONS}My final verdict is: [[A=B]]", 3),
    Case(GRADES, LAST, f"{REASONS}[[A>B]] or [[A>>B]]", "unparsable"),
    Case(GRADES, FIELD, f"{REASONS}Verdict: A>B", 2),
    Case(GRADES, FIELD, f"{REASONS}Verdict: **[[B>A]]**", 4),
    Case(GRADES, FIELD, f"{REASONS}Verdict: Ｂ＞＞Ａ", 5),
    Case(GRADES, FIELD, f"{REASONS}Verdict: A>>>B", "unparsable"),
    Case(GRADES, FIELD, f"{REASONS}Verdict: A<B", "unparsable"),
    Case(GRADES, FIELD, f"{REASONS}Verdict: A>A", "unparsable"),
    Case(GRADES, FIELD, f"{REASONS}Verdict: Answer A", "unparsable"),
    Case(GRADES, FIELD, f"{REASONS}Verdict: 2", "unparsable"),
    Case(GRADES, FIELD, f"{REASONS}Verdict: A>>B", "truncated", "length"),
    Case(GRADES, FIELD, f"{REASONS}[[A>B]]", "unparsable"),
)

TABLE: Final = (*RATINGS, *CHOICES, *COMPARED_SCORES, *SINGLE_SCORES, *GRADED)


def name_of(case: Case) -> str:
    return f"{case.scale.form}-{case.place.value}-{case.text[-24:]!r}"


@pytest.mark.parametrize("case", TABLE, ids=name_of)
def test_what_is_read(case: Case) -> None:
    verdict = read_verdict(ReplyText(case.text, case.finish_reason), case.scale, case.place)
    if isinstance(case.expected, int):
        assert (verdict.rating, verdict.reason, verdict.status) == (case.expected, "", "scored")
    else:
        assert (verdict.rating, verdict.reason, verdict.status) == (None, case.expected, "unscored")
        assert (verdict.rationale, verdict.scores) == ("", None)


def test_every_form_and_place_that_a_protocol_asks_for_has_good_and_bad_replies() -> None:
    asked = {
        (configured.scale_of(step).form, configured.place_of(step))
        for protocol in COMPARING.values()
        for form in protocol.forms
        for configured in [
            ConfiguredProtocol(
                protocol, answer_scale(form, {"likert": 8, "binary": 2, "scores": 3, "grades": 5}[form])
            )
        ]
        for step in configured.steps
        if step.asks_verdict
    }
    good = {(case.scale.form, case.place) for case in TABLE if isinstance(case.expected, int)}
    bad = {(case.scale.form, case.place) for case in TABLE if isinstance(case.expected, str)}
    assert asked <= good & bad
