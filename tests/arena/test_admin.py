"""The admin: every list and page opens, and nothing of a study is changed there."""

import pytest
from django.apps import apps
from django.test import Client
from django.urls import reverse

from arena.api.auth import issue_token
from arena.models import Invitation, StudyEvent
from tests import factories

pytestmark = pytest.mark.django_db

MODELS = ["study", "prompt", "contestant", "completion", "pair", "rater", "ratergroup", "membership"]
MODELS += ["invitation", "assignment", "comparison", "apitoken", "studyevent", "question", "score", "answer"]
MODELS += ["completionfeature"]


def test_rows_are_looked_at_and_not_changed(admin_client: Client) -> None:
    comparison = factories.make_comparison(pair=factories.make_pair())
    factories.make_member(comparison.study)
    factories.make_assignment(pair=comparison.pair)
    factories.make_group()
    completion = comparison.pair.first
    factories.make_score(completion=completion)
    factories.make_answer(completion=completion)
    factories.make_feature(completion=completion)
    Invitation.objects.create(study=comparison.study)
    StudyEvent.objects.create(study=comparison.study, kind="paused")
    issue_token(comparison.rater, "cluster")
    for model in MODELS:
        check_it_is_not_changed(admin_client, model)


def check_it_is_not_changed(admin_client: Client, model: str) -> None:
    row = apps.get_model("arena", model).objects.first()
    change, delete = (reverse(f"admin:arena_{model}_{name}", args=[row.pk]) for name in ("change", "delete"))
    listed = admin_client.get(reverse(f"admin:arena_{model}_changelist") + "?q=x")
    page = admin_client.get(change)
    assert (listed.status_code, page.status_code) == (200, 200)
    if model == "apitoken":
        assert row.digest not in page.content.decode()
    assert admin_client.post(change, {}).status_code == 403
    assert admin_client.post(delete, {"post": "yes"}).status_code == 403
    assert admin_client.get(reverse(f"admin:arena_{model}_add")).status_code == 403
    chosen = {"action": "delete_selected", "_selected_action": [row.pk], "post": "yes"}
    admin_client.post(reverse(f"admin:arena_{model}_changelist"), chosen)
    assert type(row).objects.filter(pk=row.pk).exists()
