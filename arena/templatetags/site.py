from collections.abc import Iterable, Sequence

from django import template
from django.conf import settings
from django.template.defaultfilters import stringfilter
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from arena.models import Study
from arena.pages import permissions
from arena.pages.scripts import imported_by
from arena.people import second_factor
from arena.texts.visible import visible

register = template.Library()
register.filter("visible", stringfilter(visible), is_safe=True)


@register.simple_tag
def arena_version() -> str:
    return str(settings.VERSION)


@register.simple_tag
def command() -> str:
    """How a command of this arena begins."""
    return str(settings.COMMAND)


@register.filter
def in_bold(names: Sequence[str], most: int) -> SafeString:
    """The first names, "a, b and c"; without "and" where there are more."""
    shown = [format_html("<strong>{}</strong>", visible(name)) for name in names[:most]]
    last = shown.pop() if 1 < len(names) <= most else None
    return format_html("{}{}", _commas(shown), format_html(" and {}", last) if last else "")


def _commas(names: Iterable[str]) -> SafeString:
    return format_html_join(", ", "{}", ((name,) for name in names))


@register.simple_tag
def script(name: str) -> SafeString:
    """A script of a page, and links to all that it imports, so that browsers fetch these at once."""
    imported = ((static(each),) for each in imported_by(name))
    links = format_html_join("", '<link rel="modulepreload" href="{}">', imported)
    return format_html('{}<script type="module" src="{}"></script>', links, static(name))


@register.simple_tag
def footer_links() -> dict[str, str]:
    return dict(settings.FOOTER_LINKS)


@register.simple_tag
def sends_mail() -> bool:
    return bool(settings.SENDS_MAIL)


@register.simple_tag
def needs_second_factor(user: permissions.Visitor) -> bool:
    return second_factor.is_required(user)


@register.simple_tag
def may_operate(user: permissions.Visitor) -> bool:
    return permissions.is_staff(user) or permissions.operable(user).exists()


@register.simple_tag
def may_operate_study(user: permissions.Visitor, study: Study) -> bool:
    return permissions.can_operate(user, study)
