from django.db import models


class KeptReply(models.Model):
    """What the API replied to a request with an Idempotency-Key, to be given again for the same request."""

    caller = models.CharField(max_length=40)
    key = models.CharField(max_length=200)
    digest = models.CharField(max_length=64)
    """SHA-256 of method, address and body of the request."""
    status = models.PositiveSmallIntegerField(null=True)
    """None: no reply yet, or none for good, because the process ended."""
    body = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["caller", "key"], name="kept_reply_once")]
        indexes = [models.Index(fields=["created_at"], name="kept_reply_age")]

    def __str__(self) -> str:
        return f"reply to {self.key}"
