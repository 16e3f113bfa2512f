"""Celery tasks. Calls need none: what is due stands in the database (judging.worker)."""

from celery import shared_task

from judging.panels import services as panels_services
from judging.runs.lifecycle import plan_run as services_plan_run


@shared_task  # type: ignore[untyped-decorator]
def plan_run(run_id: int) -> None:
    services_plan_run(run_id)


@shared_task  # type: ignore[untyped-decorator]
def convene_panel(panel_id: int) -> None:
    panels_services.convene(panel_id)
