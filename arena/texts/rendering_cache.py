"""Rendered texts, stored by digest and version of the renderer."""

from collections.abc import Iterable
from hashlib import sha256

from django.utils.safestring import SafeString, mark_safe

from arena.models import Rendering
from arena.texts import markdown


def rendered(texts: Iterable[str]) -> dict[str, SafeString]:
    """The sanitised HTML of each Markdown text, by text; renders and stores what is new."""
    by_digest = {sha256(text.encode("utf-8", "replace")).hexdigest(): text for text in texts}
    stored = Rendering.objects.filter(digest__in=by_digest, renderer=markdown.RENDERER)
    html = dict(stored.values_list("digest", "html"))
    missing = {
        digest: markdown.render(text) for digest, text in sorted(by_digest.items()) if digest not in html
    }
    if missing:
        # Sorted by digest, so that two pages storing the same texts lock them in the same order.
        Rendering.objects.bulk_create(
            [
                Rendering(digest=digest, renderer=markdown.RENDERER, html=new)
                for digest, new in missing.items()
            ],
            ignore_conflicts=True,
        )
    html |= missing
    return {text: mark_safe(html[digest]) for digest, text in by_digest.items()}  # noqa: S308 - sanitised
