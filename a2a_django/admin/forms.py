"""What operators write."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms.fields import InvalidJSONInput
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from a2a_django.protocol import codec
from a2a_django.protocol.errors import A2AError
from a2a_django.protocol.json_text import parse_json


class OptionalJSONField(forms.JSONField):
    """The value of a data part, read as what callers send is read: some of what Python takes for JSON must never reach
    a row. It may be left out: the field is empty then, and does not say ``null``."""

    def to_python(self, value: Any) -> Any:
        """Return the value, None for none. Raises ``ValidationError``."""
        try:
            found = parse_json(str(value).encode()) if value not in self.empty_values else None
            return None if found is None else codec.decode("Part", {"data": found})["data"]
        except A2AError:
            raise ValidationError(self.error_messages["invalid"], code="invalid") from None

    def bound_data(self, data: Any, initial: Any) -> Any:
        """Return what was written, as it was."""
        return None if data is None else InvalidJSONInput(data)

    def prepare_value(self, value: Any) -> Any:
        """Return what stands in the field."""
        return "" if value is None else super().prepare_value(value)


class AnswerForm(forms.Form):
    """An answer to a task that waits: text, data, or both; ``choice`` is a button in the place of the text."""

    text = forms.CharField(
        label=gettext_lazy("Your answer"),
        required=False,
        max_length=100_000,
        widget=forms.Textarea(attrs={"rows": 4, "dir": "auto"}),
    )
    choice = forms.CharField(required=False, max_length=200, widget=forms.HiddenInput)
    json = OptionalJSONField(
        label=gettext_lazy("Data"),
        required=False,
        help_text=gettext_lazy("JSON, for agents that ask for it."),
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
    )

    def clean(self) -> dict[str, Any]:
        """Take the button's text where nothing was written. There has to be something."""
        found = super().clean() or {}
        choice = found.get("choice", "")
        if choice:
            written = found.get("text", "")
            found["text"] = f"{choice}\n{written}" if written else choice
        if not found.get("text") and found.get("json") is None and not self.errors:
            raise ValidationError(_("Write something, or choose an answer."))
        return found
