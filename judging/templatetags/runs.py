from decimal import Decimal

from django import template
from django.forms import Form

from arena.models import Study
from judging.endpoints.costs import in_words
from judging.models import JudgeRun
from judging.runs.summary import REASONS, duration, kind_of_failure

register = template.Library()
register.filter("duration", duration)


@register.simple_tag
def runs_to_cancel(study: Study) -> int:
    """Number of runs that end when the study is closed."""
    return JudgeRun.objects.going_on().filter(study=study).count()


@register.filter
def outcome(reason: str) -> str:
    """Reason why there is no rating, in words."""
    return REASONS.get(reason, reason)


@register.filter
def failure(kind: str) -> str:
    """A kind of failure, in words."""
    return f"{kind_of_failure(kind)}:"


@register.filter
def money(amount: Decimal, currency: str) -> str:
    return in_words(amount, currency)


@register.filter
def field_label(name: str, form: Form) -> str:
    return str(form[name].label)
