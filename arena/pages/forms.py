"""How pages write forms: ``{{ form }}`` and ``{{ field.as_field_group }}`` take the arena's own templates."""

from django.forms.renderers import TemplatesSetting


class FormRenderer(TemplatesSetting):
    form_template_name = "_form.html"
    field_template_name = "_field.html"
