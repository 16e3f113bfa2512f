"""The study a command is about, by its slug, and whose comparisons of it."""

from django.core.management.base import CommandError

from arena.models import Rater, Study
from arena.models.querysets import SelectorError
from leaderboard.snapshots.opinions import Opinions, opinions
from leaderboard.terminal.standings_text import About


def study_named(slug: str) -> Study:
    """The study with this slug; raise CommandError naming the ones there are."""
    study = Study.objects.filter(slug=slug).first()
    if study is None:
        known = ", ".join(Study.objects.order_by("slug").values_list("slug", flat=True)[:20])
        hint = f"there are: {known}" if known else "there is none yet"
        raise CommandError(f'There is no study "{slug}"; {hint}.')
    return study


def opinions_chosen(study: Study, raters: str, category: str) -> "tuple[Opinions, About]":
    """The comparisons asked for, and what they are; raise CommandError naming what does not exist."""
    try:
        ids = list(Rater.objects.selected(study, raters).values_list("pk", flat=True))
    except SelectorError as error:
        known = ", ".join(choice.selector for choice in opinions(study).raters)
        hint = f"; there are: {known}" if known else ""
        raise CommandError(f"{str(error)[0].upper()}{str(error)[1:]}{hint}.") from error
    read = opinions(study)
    if category and category not in read.categories:
        named = ", ".join(name for name in read.categories if name)
        hint = f"there are: {named}" if named else "this study has none"
        raise CommandError(f'There is no category "{category}" in "{study.slug}"; {hint}.')
    choice = next((choice for choice in read.raters if choice.selector == raters), None)
    label, simulated = (choice.label, choice.simulated) if choice else (raters, False)
    return read.by(ids).about(category), About(study.slug, raters, label, category, simulated)
