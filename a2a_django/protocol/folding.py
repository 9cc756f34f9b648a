"""What an event makes of a task: the rules by which readers of a stream, and the journal in its rows, keep up.

(Spec 4.2, 3.7; D-22, R-027.) A status replaces the status, and the message of the one before it goes into the
history; metadata of status events are merged into the task's; a chunk is appended to its artifact or replaces it.
"""

from __future__ import annotations

from a2a_django.protocol.wire import Wire


def fold(task: Wire, event: Wire) -> None:
    """Apply a StreamResponse with a status or artifact update to ``task``, in place; both canonical ProtoJSON.

    The task's ``history`` has to be there, if only as an empty list.
    """
    if "statusUpdate" in event:
        _fold_status(task, event["statusUpdate"])
    else:
        _fold_artifact(task, event["artifactUpdate"])


def _fold_status(task: Wire, update: Wire) -> None:
    old = task["status"].get("message")
    if old is not None and all(message["messageId"] != old["messageId"] for message in task["history"]):
        task["history"].append(old)
    task["status"] = update["status"]
    if "metadata" in update:
        task["metadata"] = {**task.get("metadata", {}), **update["metadata"]}


def _fold_artifact(task: Wire, update: Wire) -> None:
    new = update["artifact"]
    artifacts = task.setdefault("artifacts", [])
    found = next((i for i, artifact in enumerate(artifacts) if artifact["artifactId"] == new["artifactId"]), None)
    if found is None:
        artifacts.append(new)
    elif update.get("append"):
        artifacts[found] = appended(artifacts[found], new)
    else:
        artifacts[found] = new


def appended(old: Wire, new: Wire) -> Wire:
    """Return an artifact, or the head of one, with a chunk added; nothing the artifact had is taken away."""
    result = {**old, **new}
    if "parts" in old:
        result["parts"] = old["parts"] + new["parts"]
    if "metadata" in old and "metadata" in new:
        result["metadata"] = {**old["metadata"], **new["metadata"]}
    if "extensions" in old and "extensions" in new:
        result["extensions"] = list(dict.fromkeys([*old["extensions"], *new["extensions"]]))
    return result
