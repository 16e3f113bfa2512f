"""Fields of forms that name a model to ask: its endpoint and its prices."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, ClassVar, Final, Generic, TypeVar

from django import forms
from django.conf import settings
from django.db import transaction
from django.forms import BoundField

from arena.data.json_input import JSONInput
from arena.pages.counts import up_to
from arena.pages.operating import refuse
from arena.pages.permissions import Visitor
from judging.endpoints.costs import Prices
from judging.judges.rights import check_may_bind, check_may_change_what_is_asked
from judging.judges.services import (
    LARGEST,
    MOST_TOKENS,
    OF_ENDPOINT,
    JudgeError,
    enter_price,
    known_endpoint,
    price_of,
)
from judging.models import Author, Endpoint, Judge

OF_PRICES: Final = "Per million tokens. Leave empty if unknown, or to keep the price that the model has here."
PRICES: Final = {"prompt_price", "reply_price", "currency"}


class AmountField(forms.DecimalField):
    """An amount of money, or nothing."""

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, max_digits=12, decimal_places=6, min_value=0, **options)

    def prepare_value(self, value: Any) -> Any:
        """Without the zeros that its column adds."""
        return format(value.normalize(), "f") if isinstance(value, Decimal) else value


class CurrencyField(forms.RegexField):
    """The three letters of a currency."""

    def __init__(self, **options: Any) -> None:
        invalid = {"invalid": "Enter three capital letters, such as USD."}
        super().__init__(r"^[A-Z]{3}$", initial="USD", error_messages=invalid, **options)


class ObjectField(JSONInput):
    """A JSON object; an empty one where nothing is entered."""

    widget = forms.Textarea(attrs={"rows": 3, "class": "mono"})

    def clean(self, value: Any) -> dict[str, Any]:
        found = super().clean(value) or {}
        if not isinstance(found, dict):
            raise forms.ValidationError('Enter a JSON object such as {"top_p": 0.9}.')
        return found


Asks = TypeVar("Asks", Judge, Author)


class AskedForm(forms.ModelForm, Generic[Asks]):  # type: ignore[type-arg]
    """A judge or contestant whose model is asked. Rules live in judging.judges; this only shows them."""

    MAIN: ClassVar[tuple[str, ...]]
    """Fields that it needs; all else has a default."""

    ADVANCED: ClassVar[Mapping[str, tuple[str, ...]]]
    SAMPLING: ClassVar[dict[str, Any]] = {"options": ObjectField, "max_tokens": up_to(MOST_TOKENS)}

    prompt_price = AmountField(label="Input price", help_text=OF_PRICES)
    reply_price = AmountField(label="Output price", help_text=OF_PRICES)
    currency = CurrencyField(required=False, help_text="Of the prices, such as USD or EUR.")
    api_key_env = forms.RegexField(
        r"^[A-Za-z_][A-Za-z0-9_]*$",
        label="Key variable",
        max_length=100,
        required=False,
        help_text="The environment variable that holds the key, never the key itself. Set it when you start "
        f"the arena: OPENAI_API_KEY=… {settings.MAKE} run. Leave empty if the endpoint needs no key.",
        error_messages={
            "invalid": "Enter the name of an environment variable (letters, digits, underscores)."
        },
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        limits = {name: up_to(largest) for name, largest in LARGEST.items()}
        self.fields |= forms.fields_for_model(Endpoint, [*OF_ENDPOINT], field_classes=limits) | self.fields

    @property
    def main(self) -> list[BoundField]:
        return [self[name] for name in self.MAIN]

    @property
    def groups(self) -> Iterator[tuple[str, list[BoundField]]]:
        for title, names in self.ADVANCED.items():
            yield title, [self[name] for name in names if name in self.fields]

    @property
    def has_advanced_errors(self) -> bool:
        return any(name not in self.MAIN for name in self.errors)

    def _post_clean(self) -> None:
        """Nothing: the service checks the whole row, and a form must not change it before it has."""

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        given = [name for name in ("prompt_price", "reply_price") if cleaned.get(name) is not None]
        if len(given) == 1 and not self.errors.keys() & {"prompt_price", "reply_price"}:
            self.add_error("reply_price", "Enter both prices, or none.")
        return cleaned

    @property
    def prices(self) -> Prices | None:
        """Prices that were typed; None leaves those of the model as they are."""
        given = self.cleaned_data
        is_untouched = not PRICES & {*self.changed_data}
        if given["prompt_price"] is None or (is_untouched and price_of(given["model"], given["base_url"])):
            return None
        return Prices(given["prompt_price"], given["reply_price"], given["currency"] or "USD")

    def endpoint(self) -> Endpoint | None:
        """The endpoint that was asked for; what nobody changed is as for others who share it."""
        wanted = Endpoint(**{name: self.cleaned_data[name] for name in OF_ENDPOINT if name in self.fields})
        known = known_endpoint(wanted)
        for name in Endpoint.SHARED if known else ():
            if name not in self.changed_data:
                setattr(wanted, name, getattr(known, name))
        return wanted

    def is_stored(self) -> bool:
        """Tell whether the form changes what a run may be asking."""
        return bool(self.instance.pk)

    def stored(self, by: Visitor) -> Asks:
        """Store what the valid form describes; raises JudgeError."""
        raise NotImplementedError

    @transaction.atomic
    def keep(self, by: Visitor) -> Asks:
        """Store what the valid form describes, and its price; raises JudgeError."""
        self._check_rights(by)
        stored = self.stored(by)
        if stored.endpoint:
            enter_price(stored.endpoint, self.prices, by)
        return stored

    def store(self, by: Visitor) -> Asks | None:
        """The stored row; None, with an error of the form, if that cannot be."""
        try:
            return self.keep(by)
        except JudgeError as error:
            refuse(self, error.field, str(error))
            return None

    def _check_rights(self, by: Visitor) -> None:
        """Raise NotAllowedError unless this account may have the endpoint of the valid form asked so."""
        wanted = self.endpoint()
        if wanted is None:
            if self.is_stored():
                check_may_change_what_is_asked(by)
            return
        known, price = known_endpoint(wanted), price_of(wanted.model, wanted.base_url)
        changes_others = known is not None and any(
            getattr(known, name) != getattr(wanted, name) for name in Endpoint.SHARED
        )
        if self.is_stored() or changes_others or (price and self.prices not in (None, price.prices)):
            check_may_change_what_is_asked(by)
        check_may_bind(wanted, by)


def values_of(endpoint: Endpoint) -> dict[str, Any]:
    """The fields of such a form for an endpoint and its prices."""
    found = {name: getattr(endpoint, name) for name in OF_ENDPOINT}
    price = price_of(endpoint.model, endpoint.base_url)
    if price is None:
        return found
    return found | {"prompt_price": price.prompt, "reply_price": price.completion, "currency": price.currency}
