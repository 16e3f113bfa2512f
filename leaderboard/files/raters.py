"""What raters are called in files that leave the arena: judges by their names, people by pseudonyms."""

from dataclasses import dataclass

from arena.data import export
from arena.models import Rater, Study
from arena.people.rater_data import pseudonym
from judging.models import Judge


@dataclass(frozen=True)
class Called:
    """A rater as files know it; ``protocol`` and ``version``: how a judge was asked, where that is known."""

    name: str
    kind: str
    simulated: bool
    protocol: str | None = None
    version: str | None = None


def called(study: Study) -> dict[int, Called]:
    """Every rater that has said something in a study, by id."""
    slugs = export.rater_slugs(study)
    asked = {
        rater: (protocol, prompt_hash or None)
        for rater, protocol, prompt_hash in Judge.objects.filter(rater__in=list(slugs)).values_list(
            "rater", "protocol", "prompt_hash"
        )
    }
    return {
        rater.pk: Called(
            pseudonym(study, rater.pk) if rater.kind == Rater.Kind.PERSON else slugs[rater.pk],
            rater.kind,
            rater.simulated,
            *asked.get(rater.pk, (None, None)),
        )
        for rater in Rater.objects.filter(pk__in=list(slugs)).order_by("pk")
    }
