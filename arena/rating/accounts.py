"""The rater that an account rates as."""

import secrets

from django.db import IntegrityError, transaction

from arena.models import Rater
from arena.pages.permissions import Visitor
from arena.texts.slugs import slug_from


def rater_of(user: Visitor) -> Rater:
    """The rater of an account, made if need be."""
    found = Rater.objects.filter(user=user).first()
    return found or _new_rater(user)


def _new_rater(user: Visitor) -> Rater:
    name = user.get_username()
    base = slug_from(name, "rater", 100)
    # "ann-7" may itself be somebody's name; a random suffix then decides.
    for slug in (base, f"{base}-{user.pk}", f"{base}-{secrets.token_hex(6)}"):
        try:
            with transaction.atomic():
                return Rater.objects.create(kind=Rater.Kind.PERSON, slug=slug, name=name[:200], user=user)
        except IntegrityError:
            twin = Rater.objects.filter(user=user).first()
            if twin:  # made by another request of the same person
                return twin
    raise IntegrityError(f"no short name is free for the account {user.pk}")
