import pytest
from django.contrib.staticfiles.finders import get_finders
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

pytestmark = pytest.mark.django_db

REPLACED = {
    key: migration.replaces
    for key, migration in MigrationLoader(None).disk_migrations.items()
    if migration.replaces
}


def record_replaced_migrations() -> MigrationRecorder:
    """Make the database one of the time before its migrations became one of each app."""
    recorder = MigrationRecorder(connection)
    for (app, name), replaced in REPLACED.items():
        recorder.record_unapplied(app, name)
        for earlier in replaced:
            recorder.record_applied(*earlier)
    return recorder


def test_a_complete_database_of_earlier_migrations_is_taken_as_it_is() -> None:
    recorder = record_replaced_migrations()

    check_tables()
    call_command("migrate", verbosity=0)

    assert REPLACED.keys() <= recorder.applied_migrations().keys()


@pytest.mark.parametrize("key", REPLACED)
def test_an_incomplete_database_of_earlier_migrations_is_refused(key: tuple[str, str]) -> None:
    recorder = record_replaced_migrations()
    recorder.record_unapplied(*REPLACED[key][-1])
    with pytest.raises(CommandError, match="lacks some of the tables"):
        check_tables()
    for replaced in REPLACED[key]:
        recorder.record_unapplied(*replaced)
    recorder.record_applied(key[0], "0001_older")
    with pytest.raises(CommandError, match="lacks some of the tables"):
        check_tables()


def check_tables() -> None:
    call_command("check", tags=["database"], databases=["default"], verbosity=0)


def test_no_source_maps_are_collected() -> None:
    """They are large, and nobody but developers of the libraries asks for them; Ninja's name theirs."""
    paths = [path for finder in get_finders() for path, _ in finder.list([])]
    assert len(paths) > 50
    assert {path.partition("/")[0] for path in paths if path.endswith(".map")} == {"ninja"}
