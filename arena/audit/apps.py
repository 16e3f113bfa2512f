from django.contrib.admin.apps import AdminConfig


class RecordedAdminConfig(AdminConfig):
    default_site = "arena.audit.admin.RecordedSite"
