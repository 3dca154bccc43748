# SPDX-License-Identifier: Apache-2.0
"""Packs requests and unpacks answers. Only what the service's messages use; the tables are in _schema.py."""

from __future__ import annotations

from typing import Any

from ._schema import ENUMS, MESSAGES
from .errors import ProtocolError

#: An unpacked message: all of its fields, and its name under the key "".
Message = "dict[str, Any]"

DEPTH_MOST = 16
_DEFAULTS: dict[str, Any] = {"uint32": 0, "uint64": 0, "int32": 0, "bool": False, "string": "", "bytes": b"", "float": 0.0}
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5


def pack_number(number: int) -> bytes:
    """A number in groups of seven bits."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def pack(name: str, values: dict[str, Any]) -> bytes:
    """Pack the message ``name``. A value is a number, a text, or the values of an inner message."""
    out = bytearray()
    for field, (key, kind, _) in MESSAGES.get(name, {}).items():
        value = values.get(key)
        if value is None or value == "" or (value == 0 and not isinstance(value, dict)):
            continue
        if isinstance(value, (dict, str)):
            body = pack(kind, value) if isinstance(value, dict) else value.encode()
            out += pack_number(field << 3 | _LENGTH) + pack_number(len(body)) + body
        else:
            out += pack_number(field << 3 | _VARINT) + pack_number(int(value))
    return bytes(out)


def _number(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise ProtocolError("the answer has a number without an end")
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if not byte & 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at
        shift += 7


def _field(data: memoryview, at: int, wire: int) -> tuple[Any, int]:
    """The raw value of a field: a number, or a part of the data."""
    if wire == _VARINT:
        return _number(data, at)
    if wire == _LENGTH:
        size, at = _number(data, at)
    elif wire in (_FIXED32, _FIXED64):
        size = 4 if wire == _FIXED32 else 8
    else:
        raise ProtocolError(f"the answer has a field of the unknown type {wire}")
    if size > len(data) - at:
        raise ProtocolError(f"the answer has a field of {size} bytes, and {len(data) - at} are left")
    return data[at : at + size], at + size


def _scalar(kind: str, raw: int) -> Any:
    if kind == "bool":
        return raw != 0
    if kind == "int32":
        raw &= 0xFFFFFFFF
        return raw - (1 << 32) if raw & 0x80000000 else raw
    return raw if kind == "uint64" else raw & 0xFFFFFFFF


def _value(kind: str, raw: Any, depth: int) -> Any:
    """A field's value by its kind. An enumeration's is a number; None for a message without fields."""
    if isinstance(raw, int):
        if kind in MESSAGES or kind in ("string", "bytes"):
            raise ProtocolError(f"the answer has a number for a {kind}")
        return _scalar(kind, raw)
    if kind in MESSAGES:
        return unpack(kind, raw, depth + 1)
    if kind == "string":
        return bytes(raw).decode("utf-8", "replace")
    if kind in ENUMS or kind in _DEFAULTS and kind != "bytes":
        raise ProtocolError(f"the answer has {len(raw)} bytes for a {kind}")
    return bytes(raw) if kind == "bytes" else None


def _packed(kind: str, raw: memoryview) -> list[Any]:
    """The values of a repeated field of numbers that lie behind each other."""
    values, at = [], 0
    while at < len(raw):
        number, at = _number(raw, at)
        values.append(_scalar(kind, number))
    return values


def unpack(name: str, data: bytes | memoryview, depth: int = 0) -> dict[str, Any]:
    """Unpack the message ``name``.

    :raises ProtocolError: the bytes are no such message. Unknown fields are passed over.
    """
    if depth > DEPTH_MOST:
        raise ProtocolError("the answer has messages inside each other without an end")
    fields = MESSAGES[name]
    values: dict[str, Any] = {
        key: [] if repeated else _DEFAULTS.get(kind, None if kind in MESSAGES else 0) for key, kind, repeated in fields.values()
    }
    values[""] = name
    view, at = memoryview(data), 0
    while at < len(view):
        tag, at = _number(view, at)
        raw, at = _field(view, at, tag & 7)
        if tag >> 3 not in fields:
            continue
        key, kind, repeated = fields[tag >> 3]
        if not repeated:
            values[key] = _value(kind, raw, depth)
        elif isinstance(raw, memoryview) and kind not in MESSAGES and kind not in ("string", "bytes"):
            values[key] += _packed(kind, raw)
        else:
            values[key].append(_value(kind, raw, depth))
    return values
