from django.db import models

from arena.models import Prompt
from judging.models.judges import Judge
from judging.models.purses import Payer
from judging.models.requests import LIVE, StandingRequest, constraints_of, indexes_of


class ProposalCall(StandingRequest):
    """A request to a judge's model for the requirements of a prompt, with its reply."""

    prompt = models.ForeignKey(Prompt, models.CASCADE, related_name="proposal_calls")
    judge = models.ForeignKey(Judge, models.PROTECT, related_name="proposal_calls")
    batch = models.UUIDField(help_text="Of the page on which it was asked for: sent twice, it is asked once.")
    is_stopped = models.BooleanField(
        default=False, help_text="It is not asked again, whatever comes of what is in flight."
    )
    proposed = models.PositiveSmallIntegerField(default=0, help_text="Requirements that are new.")

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["prompt", "batch"], name="proposal_call_once_in_batch"),
            models.UniqueConstraint(fields=["prompt"], condition=LIVE, name="proposal_call_one_live"),
            *constraints_of("proposal_call"),
        ]
        indexes = indexes_of("proposal_call")

    def __str__(self) -> str:
        return f"proposals for {self.prompt}"

    @property
    def payer(self) -> Payer:
        return "study", self.prompt.study_id
