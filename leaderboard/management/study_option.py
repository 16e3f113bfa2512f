"""The study a command is about, by its slug."""

from django.core.management.base import CommandError

from arena.models import Study


def study_named(slug: str) -> Study:
    """The study with this slug; raise CommandError naming the ones there are."""
    study = Study.objects.filter(slug=slug).first()
    if study is None:
        known = ", ".join(Study.objects.order_by("slug").values_list("slug", flat=True)[:20])
        hint = f"there are: {known}" if known else "there is none yet"
        raise CommandError(f'There is no study "{slug}"; {hint}.')
    return study
