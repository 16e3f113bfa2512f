"""What other pages say of a study's releases."""

from typing import Any, Final

from django import template

from arena.models import Study
from arena.models.compiled import Compiled, given
from leaderboard.models import Release, Snapshot

register = template.Library()


_NEWEST: Final = Compiled(lambda: Release.objects.listed().filter(study=given("study"))[:1])


@register.inclusion_tag("leaderboard/_newest_release.html")
def newest_release(study: Study, snapshot: Snapshot) -> dict[str, Any]:
    """The newest release beside a snapshot that a page shows."""
    release = next(iter(_NEWEST(study=study.pk)), None)
    if release:
        release.study = study  # which its address would read again
    return {"study": study, "release": release, "is_behind": release and release.is_behind(snapshot)}


@register.inclusion_tag("leaderboard/_releases_go.html")
def releases_go(study: Study) -> dict[str, Any]:
    """What the deletion of a study does to its releases."""
    return {"releases": study.releases.listed()}
