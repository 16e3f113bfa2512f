import secrets

from django.conf import settings
from django.db import models
from django.db.models import Q

from arena.models.querysets import RaterQuerySet
from arena.models.studies import Study


class RaterGroup(models.Model):
    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=200)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Rater(models.Model):
    """A person, a judge, or a panel, which is of the judges' kind. Imported raters belong to their study."""

    class Kind(models.TextChoices):
        PERSON = "person", "Person"
        JUDGE = "judge", "Judge"

    kind = models.CharField(max_length=10, choices=Kind)
    slug = models.SlugField(max_length=120)
    name = models.CharField(max_length=200)
    study = models.ForeignKey(
        Study,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="imported_raters",
        help_text="Set for raters that came with an import; empty for those who rate here.",
    )
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, blank=True, related_name="rater"
    )
    groups = models.ManyToManyField(RaterGroup, blank=True, related_name="raters")
    simulated = models.BooleanField(default=False, help_text="A program with made-up opinions.")
    is_visitor = models.BooleanField(default=False, help_text="Votes on battles without an account.")
    facts = models.JSONField(
        default=dict, blank=True, help_text="Of an imported judge: model, protocol, source, prices and more."
    )
    derived_from = models.JSONField(
        default=list,
        blank=True,
        editable=False,
        help_text="Of a panel: the slugs of the judges from whose ratings its own follow.",
    )
    paused_at = models.DateTimeField(null=True, blank=True, help_text="A paused rater gets no new pairs.")
    anonymised_at = models.DateTimeField(
        null=True, blank=True, help_text="Personal details were removed; the ratings stay."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = RaterQuerySet.as_manager()

    class Meta:
        ordering = ["kind", "name"]
        constraints = [
            models.UniqueConstraint(fields=["study", "kind", "slug"], name="rater_slug_unique_in_study"),
            models.UniqueConstraint(
                fields=["kind", "slug"], condition=Q(study__isnull=True), name="rater_slug_unique"
            ),
            models.CheckConstraint(condition=Q(kind__in=["person", "judge"]), name="rater_kind_known"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def kind_in_words(self) -> str:
        return "Panel of judges" if self.is_panel else self.get_kind_display()

    @property
    def is_panel(self) -> bool:
        """True where its ratings follow from those of judges, so that it is no judge of its own.

        This is the one rule for own and imported panels. Count raters without them, and name them apart:
        in queries by ``Rater.objects.panels()`` and ``independent()``, of opinions by ``independent()``.
        """
        return bool(self.derived_from)


class Role(models.TextChoices):
    """What somebody may do in a study. Raters do not see a private board: it would sway them."""

    VIEWER = "viewer", "Viewer: sees the leaderboard, also of a private study"
    RATER = "rater", "Rater: rates pairs"
    OPERATOR = "operator", "Operator: sets up the study and looks after raters"


class Membership(models.Model):
    study = models.ForeignKey(Study, models.CASCADE, related_name="memberships")
    rater = models.ForeignKey(Rater, models.CASCADE, related_name="memberships")
    joined_at = models.DateTimeField(auto_now_add=True)
    guidelines_read_at = models.DateTimeField(null=True, blank=True)
    consented_at = models.DateTimeField(null=True, blank=True)
    consent = models.TextField(blank=True, help_text="The text they agreed to.")
    role = models.CharField(max_length=10, choices=Role, default=Role.RATER)
    trained_at = models.DateTimeField(null=True, blank=True, help_text="When the training was passed.")
    paused_at = models.DateTimeField(null=True, blank=True, help_text="Gets no new pairs in this study.")
    left_out_at = models.DateTimeField(
        null=True, blank=True, help_text="Their ratings are kept but not counted."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "rater"], name="membership_unique"),
            models.CheckConstraint(
                condition=Q(role__in=["viewer", "rater", "operator"]), name="membership_role_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.rater} in {self.study}"


def new_invitation_token() -> str:
    return secrets.token_urlsafe(18)


class Invitation(models.Model):
    study = models.ForeignKey(Study, models.CASCADE, related_name="invitations")
    token = models.CharField(max_length=40, unique=True, default=new_invitation_token, editable=False)
    note = models.CharField(max_length=200, blank=True, help_text="For the operator: who this link is for.")
    group = models.ForeignKey(RaterGroup, models.SET_NULL, null=True, blank=True)
    role = models.CharField(max_length=10, choices=Role, default=Role.RATER)
    max_uses = models.PositiveIntegerField(default=1)
    uses = models.PositiveIntegerField(default=0, editable=False)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(uses__lte=models.F("max_uses")), name="invitation_uses_limited"
            )
        ]

    def __str__(self) -> str:
        return self.note or f"invitation {self.pk}"


def every_scope() -> list[str]:
    return list(ApiToken.Scope.values)


class ApiToken(models.Model):
    """A rater's key to the API; only its SHA-256 is kept."""

    class Scope(models.TextChoices):
        RATE = "rate", "Take pairs and rate them"
        OPERATE = "operate", "Set up and publish studies"
        RUNS = "runs", "Start and watch runs of judges and of models that write"
        READ = "read", "Read leaderboards"

    rater = models.ForeignKey(Rater, models.CASCADE, related_name="api_tokens")
    digest = models.CharField(max_length=64, unique=True)
    label = models.CharField(max_length=100, blank=True)
    scopes = models.JSONField(default=every_scope, help_text="What it may be used for.")
    created_at = models.DateTimeField(auto_now_add=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.label or f"token {self.pk}"
