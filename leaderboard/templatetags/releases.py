"""What other pages say of a study's releases."""

from typing import Any

from django import template

from arena.models import Study
from leaderboard.models import Release, Snapshot

register = template.Library()


@register.inclusion_tag("leaderboard/_newest_release.html")
def newest_release(study: Study, snapshot: Snapshot) -> dict[str, Any]:
    """The newest release beside a snapshot that a page shows."""
    release = Release.objects.listed().filter(study=study).first()
    if release:
        release.study = study  # which its address would read again
    return {"study": study, "release": release, "is_behind": release and release.is_behind(snapshot)}


@register.inclusion_tag("leaderboard/_deleted_releases.html")
def releases_go(study: Study) -> dict[str, Any]:
    """What the deletion of a study does to its releases."""
    return {"releases": study.releases.listed()}
