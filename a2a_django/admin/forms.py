"""What operators write."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy


class OptionalJSONField(forms.JSONField):
    """JSON that may be left out: its field is empty then, and does not say ``null``."""

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
