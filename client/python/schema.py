#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes src/sycld/_schema.py: what the package must know of the service's answers.

The messages come from proto/, the keys of JSON and the names of enumerations from client/ask/, so that the package and
syclctl say the same.

schema.py          writes the file
schema.py --check  exit status 1 if the file is not what would be written
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
TARGET = HERE / "src" / "sycld" / "_schema.py"
ROOTS = ("AdminRequest", "AdminReply")
FIELD = re.compile(r"(repeated\s+)?(\w+)\s+(\w+)\s*=\s*(\d+)\s*;")


def messages() -> dict[str, dict[int, tuple[str, str, bool]]]:
    """All messages of the protocol, and the names of its enumerations with an empty table."""
    found: dict[str, dict[int, tuple[str, str, bool]]] = {}
    for name in ("admin", "command", "session"):
        text = re.sub(r"//[^\n]*", "", (TOP / "proto" / f"{name}.proto").read_text())
        for kind, title, start in ((m[1], m[2], m.end()) for m in re.finditer(r"\b(message|enum)\s+(\w+)\s*\{", text)):
            body = text[start : end_of_block(text, start)]
            fields = FIELD.finditer(body) if kind == "message" else ()
            found[title] = {int(f[4]): (f[3], f[2], bool(f[1])) for f in fields}
    return found


def end_of_block(text: str, start: int) -> int:
    depth = 1
    for at in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return at
    raise SystemExit("a message has no end")


def reached(table: dict[str, dict[int, tuple[str, str, bool]]]) -> dict[str, dict[int, tuple[str, str, bool]]]:
    """The messages that requests and answers are made of."""
    wanted, chosen = list(ROOTS), {}
    while wanted:
        name = wanted.pop()
        if name in chosen or not table.get(name) and name not in ROOTS:
            continue
        chosen[name] = table[name]
        wanted += [kind for _, kind, _ in table[name].values()]
    return dict(sorted(chosen.items()))


def joined(text: str) -> str:
    """The C string that the literals of the text make."""
    return "".join(re.findall(r'"([^"]*)"', text))


def objects() -> dict[str, tuple[str, str | None]]:
    """The keys of each object, from the tables of json.c."""
    text = (TOP / "client" / "ask" / "json.c").read_text()
    table = text[text.index("objects[] = {") : text.index("/* clang-format on */")]
    rows = re.finditer(r'\{\s*"(\w+)",\s*((?:"[^"]*"\s*)+),\s*(NULL|"\w+")\s*\}', table)
    found: dict[str, tuple[str, str | None]] = {r[1]: (joined(r[2]), None if r[3] == "NULL" else r[3].strip('"')) for r in rows}
    for row in re.finditer(r'static const struct object (\w+) = \{\s*\.keys = ((?:"[^"]*"\s*)+)\}', text):
        found["answer:" + row[1]] = (joined(row[2]), None)
    return found


def enums() -> dict[str, tuple[str | None, ...]]:
    """The names of values, from the table of names.c."""
    text = (TOP / "client" / "ask" / "names.c").read_text()
    found = {}
    for row in re.finditer(r"\{&sycl__v1__(\w+)__descriptor,\s*\{([^}]*)\}\}", text):
        name = "".join(word.capitalize() for word in row[1].split("_"))
        found[name] = tuple(None if value == "NULL" else value.strip('"') for value in re.findall(r'NULL|"[^"]*"', row[2]))
    return found


def version() -> int:
    text = (TOP / "shared" / "protocol_limits.h").read_text()
    major, minor = (int(re.search(rf"#define PROTOCOL_{part}\s+(\d+)u", text)[1]) for part in ("MAJOR", "MINOR"))  # type: ignore[index]
    return major << 16 | minor


def written() -> str:
    lines = [
        "# SPDX-License-Identifier: Apache-2.0",
        '"""Made by client/python/schema.py from proto/ and client/ask/. Do not edit."""',
        "",
        "from __future__ import annotations",
        "",
        f"PROTOCOL = {version()}",
        "",
        "#: Of each message, its fields: name, type, repeated.",
        "MESSAGES: dict[str, dict[int, tuple[str, str, bool]]] = {",
    ]
    for name, fields in reached(messages()).items():
        lines.append(f'    "{name}": {{')
        lines += [f'        {number}: ("{field}", "{kind}", {repeated}),' for number, (field, kind, repeated) in sorted(fields.items())]
        lines.append("    },")
    lines += ["}", "", "#: Of each object, its keys as json.c writes them, and the message inside in which fields are looked for, too."]
    lines.append("OBJECTS: dict[str, tuple[str, str | None]] = {")
    for name, (keys, inside) in objects().items():
        lines.append(f'    "{name}": (')
        lines += [f'        "{part} "' for part in wrapped(keys)]
        lines[-1] = lines[-1][:-2] + '",'
        lines += [f"        {repr(inside) if inside is None else chr(34) + inside + chr(34)},", "    ),"]
    lines += ["}", "", "#: The names of the values of each enumeration."]
    lines.append("ENUMS: dict[str, tuple[str | None, ...]] = {")
    for name, values in enums().items():
        lines.append(f'    "{name}": ({", ".join("None" if v is None else chr(34) + v + chr(34) for v in values)}),')
    return "\n".join([*lines, "}", ""])


def wrapped(keys: str) -> list[str]:
    parts: list[str] = [""]
    for word in keys.split():
        if len(parts[-1]) + len(word) > 100:
            parts.append("")
        parts[-1] += (" " if parts[-1] else "") + word
    return parts


def main() -> int:
    text = written()
    if sys.argv[1:] == ["--check"]:
        if not TARGET.exists() or TARGET.read_text() != text:
            print(f"{TARGET.relative_to(TOP)} is older than proto/ or client/ask/: run client/python/schema.py", file=sys.stderr)
            return 1
        return 0
    TARGET.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
