"""What the playground's script says: the words go to it with the page, in the language of the operator."""

from __future__ import annotations

from django.utils.translation import gettext as _


def playground_words() -> dict[str, str]:
    """Return the words by the names that the script has for them; ``%s`` stands for what it puts in."""
    return {
        "you": _("You"),
        "agent": _("Agent"),
        "artifact": _("Artifact"),
        "request": _("Request"),
        "response": _("Answer"),
        "frame": _("Event"),
        "keepAlive": _("Keep-alive"),
        "ended": _("The stream has ended."),
        "left": _("You left the stream; the task goes on."),
        "failed": _("The call failed: %s"),
        "lost": _("The connection was lost: %s"),
        "signIn": _("Your session has ended. Sign in again and reload this page."),
        "tooLarge": _("That is more than the site takes in one request (%s bytes)."),
        "noJSON": _("This is no JSON: %s"),
        "download": _("Download"),
        "data": _("Data"),
        "file": _("File"),
        "link": _("Link"),
        "send": _("Send"),
        "answer": _("Answer"),
        "asks": _("The agent waits for your answer."),
        "asksAuth": _("The agent waits for an authorization. Answer when it has been given."),
        "working": _("The agent is at work."),
        "idle": _("Nothing is under way."),
        "cut": _("%s more characters"),
        "dropped": _("%s older entries are not shown"),
        "off": _("This agent is off: callers do not know it."),
        "task": _("Task"),
        "context": _("Context"),
        "copied": _("Copied."),
        "TASK_STATE_SUBMITTED": _("submitted"),
        "TASK_STATE_WORKING": _("working"),
        "TASK_STATE_COMPLETED": _("completed"),
        "TASK_STATE_FAILED": _("failed"),
        "TASK_STATE_CANCELED": _("canceled"),
        "TASK_STATE_INPUT_REQUIRED": _("input required"),
        "TASK_STATE_REJECTED": _("rejected"),
        "TASK_STATE_AUTH_REQUIRED": _("authorization required"),
    }
