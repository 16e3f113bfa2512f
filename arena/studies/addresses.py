"""The address of a study: the last part of that of its pages, made of its name where nobody chooses one."""

from itertools import count
from typing import Any, Final

from django import forms
from django.utils.text import slugify

from arena.models import Study

TAKEN: Final = {"new"}
"""Addresses of pages about no study."""

UNNAMED: Final = "study"
"""The address of a study whose name has no letter or digit that an address can hold."""

ROOM: Final = 10
"""Characters that the number of an address may take."""


def free_address(name: str) -> str:
    """An address made of the name that no study has: with a number at its end where there is one already."""
    longest = Study._meta.get_field("slug").max_length or 0
    base = slugify(name)[:longest].strip("-_") or UNNAMED
    short = base[: longest - ROOM].rstrip("-_")
    alike = Study.objects.filter(slug__startswith=short).values_list("slug", flat=True)
    taken = TAKEN | set(alike)
    numbered = (f"{short}-{number}" for number in count(2))
    return base if base not in taken else next(address for address in numbered if address not in taken)


class AddressedForm(forms.ModelForm):  # type: ignore[type-arg]
    """A study's name, and after it the address. Left empty, it is made of the name, or stays as it is."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if {"name", "slug"} <= self.fields.keys():
            self.fields["slug"].required = False
            self.fields["slug"].widget.attrs["data-made-of"] = self["name"].auto_id

    def clean_slug(self) -> str:
        slug = str(self.cleaned_data["slug"]) or self.instance.slug or self._made_of_name()
        if slug in TAKEN and slug != self.instance.slug:
            raise forms.ValidationError("This address is taken by the page that makes studies.")
        if Study.objects.filter(slug=slug).exclude(pk=self.instance.pk).exists():
            raise forms.ValidationError("Another study has this address.")
        return slug

    def _made_of_name(self) -> str:
        name = self.cleaned_data.get("name", "")  # not there where it is wrong, which is said
        return free_address(name) if name else ""
