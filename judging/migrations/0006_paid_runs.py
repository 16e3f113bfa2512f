from django.db import migrations


def give_to_staff(apps, schema_editor):
    """Staff accounts could start runs before there was a right to."""
    database = schema_editor.connection.alias
    staff = apps.get_model('auth', 'User').objects.using(database).filter(is_staff=True)
    if not staff.exists():
        return  # the permission itself is made after all migrations
    kinds = apps.get_model('contenttypes', 'ContentType').objects.using(database)
    kind, _ = kinds.get_or_create(app_label='judging', model='judgerun')
    right, _ = apps.get_model('auth', 'Permission').objects.using(database).get_or_create(
        content_type=kind,
        codename='start_paid_run',
        defaults={'name': 'Can have models asked, which costs money'},
    )
    right.user_set.add(*staff)


class Migration(migrations.Migration):

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        ('contenttypes', '0002_remove_content_type_name'),
        ('judging', '0005_judges_of_texts'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='judgerun',
            options={'ordering': ['-pk'], 'permissions': [('start_paid_run', 'Can have models asked, which costs money')]},
        ),
        migrations.RunPython(give_to_staff, migrations.RunPython.noop),
    ]
