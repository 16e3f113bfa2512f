"""Rendered texts, stored by digest and version of the renderer."""

from collections.abc import Iterable
from hashlib import sha256

from django.utils.safestring import SafeString, mark_safe

from arena.models import Rendering
from arena.texts import markdown


def rendered(texts: Iterable[str]) -> dict[str, SafeString]:
    """Return the sanitised HTML of each Markdown text, by text; render and store what is new."""
    by_digest = {sha256(text.encode("utf-8", "replace")).hexdigest(): text for text in texts}
    stored = Rendering.objects.filter(digest__in=by_digest, renderer=markdown.RENDERER)
    html = dict(stored.values_list("digest", "html"))
    # Sorted, so that two pages storing the same texts lock them in the same order.
    new = {digest: markdown.render(by_digest[digest]) for digest in sorted(by_digest.keys() - html.keys())}
    Rendering.objects.bulk_create(
        [Rendering(digest=digest, renderer=markdown.RENDERER, html=made) for digest, made in new.items()],
        ignore_conflicts=True,
    )
    html |= new
    return {text: mark_safe(html[digest]) for digest, text in by_digest.items()}  # noqa: S308 - sanitised
