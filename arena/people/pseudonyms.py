"""What people are called in files that leave the arena."""

import hashlib
import hmac

from django.conf import settings

from arena.models import Study


def pseudonym(study: Study, rater: int) -> str:
    """A name for a person: the same in every export of this study, another one in other studies.

    Made with the arena's secret key, so that nobody else can find the person by trying.
    """
    text = f"rater {rater} of study {study.pk}".encode()
    return f"person-{hmac.new(settings.SECRET_KEY.encode(), text, hashlib.sha256).hexdigest()[:12]}"
