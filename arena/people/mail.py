"""Mails that cannot be sent: why, and to which addresses."""

from smtplib import SMTPException
from typing import Final

from django.core.exceptions import ValidationError
from django.core.mail.message import sanitize_address

NOT_SENT: Final = (OSError, SMTPException, UnicodeError)
"""What sending raises where a server is away or refuses, or an address cannot stand in a mail."""


def check_mailable(address: str) -> None:
    """Raise ValidationError for an address that looks like one, but cannot stand in a mail."""
    try:
        sanitize_address(address, "utf-8")
    except ValueError as error:
        raise ValidationError("Enter a valid email address.") from error
