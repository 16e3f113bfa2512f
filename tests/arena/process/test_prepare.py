import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from arena.process.prepare import refuse_unfinished_tables

pytestmark = pytest.mark.django_db

REPLACED = {
    key: migration.replaces
    for key, migration in MigrationLoader(None).disk_migrations.items()
    if migration.replaces
}


def record_replaced_migrations() -> MigrationRecorder:
    """Make the database one of the time before the initial migrations were squashed."""
    recorder = MigrationRecorder(connection)
    for (app, name), replaced in REPLACED.items():
        recorder.record_unapplied(app, name)
        for earlier in replaced:
            recorder.record_applied(*earlier)
    return recorder


def test_a_complete_database_of_earlier_migrations_is_taken_as_it_is() -> None:
    recorder = record_replaced_migrations()

    refuse_unfinished_tables()
    call_command("migrate", verbosity=0)

    assert REPLACED.keys() <= recorder.applied_migrations().keys()


@pytest.mark.parametrize("key", REPLACED)
def test_an_incomplete_database_of_earlier_migrations_is_refused(key: tuple[str, str]) -> None:
    record_replaced_migrations().record_unapplied(*REPLACED[key][-1])

    with pytest.raises(CommandError, match="cannot be brought up to date"):
        refuse_unfinished_tables()
