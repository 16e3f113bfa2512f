"""Studies with requirements and answers."""

from io import StringIO

from django.core.management import call_command

from arena.models import Rater, Study
from tests import factories


def infobench(path):
    """A study with one model, and the answers of a judge ``checker`` in an InFoBench file."""
    how = ("--format=infobench", "--contestant=Model", "--answers-by=checker")
    call_command("import_data", "infobench", str(path), *how, stdout=StringIO())
    return Study.objects.get(slug="infobench")


class Checking:
    """A study of few models, prompts and requirements, answered by letters.

    y: met, n: not met, u: cannot tell, ?: no answer could be read, a space: not asked.
    """

    LETTERS = {"y": "yes", "n": "no", "u": "unknown", "?": None}

    def __init__(self, models=("Ada", "Bob"), **study):
        self.study = factories.make_study(**{"tasks": ["check"], **study})
        self.models = [factories.make_contestant(study=self.study, name=name) for name in models]
        self.prompts = []

    def prompt(self, *labels, **fields):
        """A prompt with a requirement for each list of labels, which all models answer."""
        prompt = factories.make_prompt(study=self.study, **fields)
        for own in labels:
            factories.make_question(prompt=prompt, labels=list(own))
        texts = [factories.make_completion(prompt=prompt, contestant=model) for model in self.models]
        self.prompts.append((prompt, texts))
        return prompt

    def rater(self, name, *said, seconds=None, **fields):
        """A rater, with the letters for each model's text about each prompt."""
        rater = factories.make_rater(slug=name, name=name, **fields)
        for (prompt, texts), of_prompt in zip(self.prompts, said, strict=True):
            for text, letters in zip(texts, of_prompt, strict=True):
                for question, letter in zip(prompt.questions.order_by("position"), letters, strict=True):
                    if letter != " ":
                        value = self.LETTERS[letter]
                        reason = {} if value else {"reason": "unparsable"}
                        factories.make_answer(
                            completion=text,
                            question=question,
                            rater=rater,
                            value=value,
                            seconds=seconds,
                            **reason,
                        )
        return rater

    def judge(self, name, *said, **more):
        return self.rater(name, *said, kind=Rater.Kind.JUDGE, **more)
