"""Contestants as models that can be asked: where, and how their answers are sampled."""

from django.core.exceptions import ValidationError

from arena.audit.recording import Kind, record
from arena.models import Contestant, Study
from arena.pages.names import check_name
from arena.pages.permissions import Visitor
from arena.texts.slugs import free_slug, slug_from
from judging.judges.services import JudgeError, check_sampling, drop_unused, store_endpoint, storing
from judging.models import Author

SAMPLING = ("temperature", "max_tokens", "options")


@storing()
def configure_author(study: Study, name: str, wanted: Author, by: Visitor | None = None) -> Author:
    """Have the contestant of this name, which is made if there is none, asked as ``wanted`` says.

    Raises JudgeError.
    """
    check_sampling(wanted)
    contestant = _contestant(study, name)
    author = Author.objects.filter(contestant=contestant).select_related("endpoint").first()
    before = author.endpoint if author else None
    author = author or Author(contestant=contestant)
    author.endpoint = store_endpoint(wanted.endpoint)
    for part in SAMPLING:
        setattr(author, part, getattr(wanted, part))
    author.save()
    if before:
        drop_unused(before)
    sampled = f"temperature {author.temperature}, max tokens {author.max_tokens}"
    record(Kind.JUDGE, by, f"{name} is asked as {author.endpoint}, {sampled}.", study=study)
    return author


def _contestant(study: Study, name: str) -> Contestant:
    found = study.contestants.filter(name=name).first()
    if found is None:
        taken = set(study.contestants.values_list("slug", flat=True))
        found = Contestant(study=study, name=name, slug=free_slug(slug_from(name, "contestant"), taken))
        try:
            check_name(name, study.contestants.all())
            found.full_clean()
        except ValidationError as error:
            raise JudgeError("; ".join(error.messages)) from error
        found.save()
    elif found.kind == Contestant.Kind.PEOPLE:
        raise JudgeError(f"{name} stands for people, who cannot be asked like a model.")
    return found
