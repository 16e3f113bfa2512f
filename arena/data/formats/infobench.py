"""InFoBench: instructions with questions about the output, an output, and answers. Pure.

The author is unknown, so a completion is named by its text. Answers are left out.
"""

from collections.abc import Iterator

from arena.data.formats.files import InputFile
from arena.data.formats.reading import Companions, Fields, Format, Head, Kind, digest, read_rows
from arena.data.formats.records import CompletionRecord, Item, Note, PromptRecord


def recognise(head: Head) -> Kind | None:
    wanted = {"id", "instruction", "decomposed_questions"}
    return Kind.COMPLETIONS if head.is_typed and wanted <= head.fields else None


def read(file: InputFile, kind: Kind, companions: Companions) -> Iterator[Item]:
    yield Note(file.place(), "answers to the questions (eval) are left out: they are about one text, not two")
    yield from read_rows(file, _records)


def _records(fields: Fields) -> Iterator[Item]:
    prompt, subset = fields.required_text("id"), fields.text("subset")
    output = fields.optional_text("output")
    fields.take("eval")
    instruction = fields.required_text("instruction")
    yield PromptRecord(
        id=prompt,
        turns=(instruction,),
        subset=subset,
        category=fields.optional_text("category"),
        input=fields.optional_text("input"),
        extra=fields.rest(),
        implied=True,
        place=fields.place,
    )
    if output is not None:
        yield CompletionRecord(
            prompt=prompt, subset=subset, id=digest(output), turns=(output,), implied=True, place=fields.place
        )


FORMAT = Format("infobench", "InFoBench", "id, instruction and decomposed_questions", recognise, read)
