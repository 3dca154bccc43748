# SPDX-License-Identifier: Apache-2.0
"""Shows an answer with the keys that ``syclctl --json`` prints; the tables are in _schema.py."""

from __future__ import annotations

import pwd
import time
from typing import Any, Callable

from ._schema import ENUMS, MESSAGES, OBJECTS
from .errors import ProtocolError

_INT64_MOST = (1 << 63) - 1
_UID_NOBODY = (1 << 32) - 1


def _user(message: dict[str, Any]) -> str | None:
    try:
        return None if message["uid"] == _UID_NOBODY else pwd.getpwuid(message["uid"]).pw_name
    except KeyError:
        return None


def value_name(kind: str, value: int) -> str:
    """The name of an enumeration's value; "unknown" for one without."""
    names = ENUMS[kind]
    return (names[value] if value < len(names) else None) or "unknown"


def _session_state(session: dict[str, Any]) -> str:
    phase = value_name("SessionPhase", session["phase"])
    if phase == "open" and session["ended"]:
        return "ended, still running"
    return "paused" if phase == "open" and session["paused"] else phase


def _null_unless(field: str) -> Callable[[dict[str, Any]], bool]:
    return lambda message: not message[field]


#: Keys whose value is null under a condition, by message and key.
_NULL: dict[tuple[str, str], Callable[[dict[str, Any]], bool]] = {
    ("ServiceFacts", "standby"): _null_unless("standby_pid"),
    ("EngineFacts", "since"): _null_unless("engine_pid"),
    ("EngineFacts", "retired"): _null_unless("retired"),
    ("JobFacts", "best_class"): _null_unless("best_class"),
    ("SessionFacts", "job"): _null_unless("job"),
    ("SessionPresent", "backend"): _null_unless("backend"),
    ("SessionPresent", "backend_index"): _null_unless("backend"),
    ("DeviceSensors", "utilisation_percent"): _null_unless("utilisation_known"),
    ("DeviceSensors", "sm_occupancy_permille"): _null_unless("sm_occupancy_known"),
    ("LimitFacts", "user"): _null_unless("of_user"),
    ("LimitFacts", "uid"): lambda limit: not limit["of_user"] or limit["owner"] != "",
    ("LimitFacts", "session"): _null_unless("session"),
}

#: Keys whose value is made of several fields, or in another form than its type's.
_MADE: dict[tuple[str, str], Callable[[dict[str, Any]], Any]] = {
    ("ServiceFacts", "protocol"): lambda facts: f"{facts['protocol'] >> 16}.{facts['protocol'] & 0xFFFF}",
    ("SessionFacts", "state"): _session_state,
}


def _uuid(data: bytes) -> str | None:
    text = data.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:])) if len(data) == 16 else None


def _time(seconds: int) -> str:
    try:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
    except (OverflowError, OSError, ValueError):
        raise ProtocolError(f"the answer has a time of {seconds} s") from None


def _show(kind: str, field: str, value: Any, key: str) -> Any:
    """A field's value by the field's type and name."""
    if kind in ENUMS:
        return value_name(kind, value)
    if kind in MESSAGES:
        return None if value is None else show_object(value, *OBJECTS[kind])
    if kind == "bytes":
        return _uuid(value)
    if kind == "uint64" and field.endswith("_unix_seconds"):
        return _time(value)
    if kind == "uint64" and key.endswith("_seconds"):
        return value / 1e9
    return min(value, _INT64_MOST) if kind == "uint64" else value


def _find(message: dict[str, Any], field: str, inside: str | None) -> tuple[str, bool, Any]:
    """The kind of a field of the message or of its inner one, whether it is a list, and its value."""
    for key, kind, repeated in MESSAGES[message[""]].values():
        if key == field:
            return kind, repeated, message[field]
    if inside is None:
        raise KeyError(field)
    inner_kind = next(kind for key, kind, _ in MESSAGES[message[""]].values() if key == inside)
    kind, repeated = next((kind, repeated) for key, kind, repeated in MESSAGES[inner_kind].values() if key == field)
    inner = message[inside]
    absent: Any = None if kind in MESSAGES else "" if kind == "string" else b"" if kind == "bytes" else kind == "" if kind == "bool" else 0
    return kind, repeated, absent if inner is None else inner[field]


def _show_word(message: dict[str, Any], word: str, inside: str | None) -> tuple[str, Any]:
    """The key and the value of a word: "key", "key=field", "key?" (null if empty) or "key:" (an object)."""
    key = word.rstrip("?:").split("=")[0]
    field = word.split("=")[1] if "=" in word else key
    name = message[""]
    if (name, key) in _NULL and _NULL[name, key](message):
        return key, None
    if (name, key) in _MADE:
        return key, _MADE[name, key](message)
    if key == "user":
        return key, _user(message)
    if word.endswith(":"):
        return key, show_object(message, *OBJECTS[key])
    kind, repeated, value = _find(message, field, inside)
    if repeated and isinstance(value, list):
        return key, [_show(kind, field, each, key) for each in value]
    if word.endswith("?") and not value:
        return key, None
    return key, _show(kind, field, value, key)


def show_object(message: dict[str, Any], keys: str, inside: str | None) -> dict[str, Any]:
    """The message as an object with these keys."""
    return dict(_show_word(message, word, inside) for word in keys.split())
