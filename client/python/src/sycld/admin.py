# SPDX-License-Identifier: Apache-2.0
"""Questions to the service: what syclctl shows, as dictionaries.

All of them read only, and start no service. ``runtime_dir`` is the service's folder, such as ``/run/sycld``; without it that of the socket
in ``SYCLD_ENDPOINT`` is asked, else the system's service, else this user's. ``timeout`` is in seconds; each call blocks
for a round trip, at most that long. Root and the observers' group see everything, others what is their own. The keys
are those of ``syclctl --json`` with the same verb.

:raises NoServiceError: no service runs there, or it does not answer in time.
:raises RequestError: the service refuses.
:raises ProtocolError: what answers is no service of this protocol.
"""

from __future__ import annotations

import os
from typing import Any, Iterable, Union

from ._answers import show_object
from ._ask import ask
from ._schema import ENUMS, OBJECTS

Folder = Union[str, "os.PathLike[str]", None]

#: What accounts can be summed by, with the keys that each adds to a row.
_SUMMED_BY = {
    "job": (16, "job"),
    "uid": (1, "uid user"),
    "cgroup": (2, "cgroup?"),
    "device": (4, "backend backend_index=index"),
    "session": (8, "session pid command"),
}
_ROW = (
    "sessions_ended=sessions commands commands_failed=failed faults device_ns delays delay_p50_ns delay_p99_ns "
    "bytes_to_device bytes_to_host spills spilled_bytes memory_peak_bytes"
)


def _shown(verb: str, reply: dict[str, Any]) -> dict[str, Any]:
    return show_object(reply, *OBJECTS[f"answer:{verb}"])


def status(runtime_dir: Folder = None, timeout: float = 2.0) -> dict[str, Any]:
    """The service, its devices, users with their engines, and sessions."""
    return _shown("status", ask("status", {}, runtime_dir, timeout))


def devices(runtime_dir: Folder = None, timeout: float = 25.0) -> list[dict[str, Any]]:
    """The devices. Starts this user's engine to list them, which may take seconds while vendors' libraries load."""
    found: list[dict[str, Any]] = _shown("devices", ask("devices", {"discover": 1}, runtime_dir, timeout))["devices"]
    return found


def sessions(runtime_dir: Folder = None, timeout: float = 2.0) -> list[dict[str, Any]]:
    """The connected programs, what they run and what they have used."""
    found: list[dict[str, Any]] = _shown("sessions", ask("sessions", {}, runtime_dir, timeout))["sessions"]
    return found


def limits(runtime_dir: Folder = None, timeout: float = 2.0) -> list[dict[str, Any]]:
    """The limits in force, with their sources."""
    found: list[dict[str, Any]] = _shown("limits", ask("limits", {}, runtime_dir, timeout))["limits"]
    return found


def jobs(runtime_dir: Folder = None, timeout: float = 2.0) -> list[dict[str, Any]]:
    """The jobs of a cluster's manager."""
    found: list[dict[str, Any]] = _shown("jobs", ask("jobs", {}, runtime_dir, timeout))["jobs"]
    return found


def _device_number(device: str) -> tuple[int, int]:
    backend, colon, index = device.partition(":")
    if backend not in ENUMS["Backend"] or not colon or not index.isascii() or not index.isdigit() or int(index) >= 1 << 32:
        raise ValueError(f"{device!r} is no device; one is called cuda:0 or opencl:1")
    return ENUMS["Backend"].index(backend), int(index)


def accounts(
    by: Iterable[str] = ("uid",),
    *,
    uid: int | None = None,
    cgroup: str = "",
    device: str | None = None,
    job: int = 0,
    runtime_dir: Folder = None,
    timeout: float = 2.0,
) -> list[dict[str, Any]]:
    """What was used, also by sessions that have ended, and over restarts of the service.

    :param by: what rows are summed by: any of "uid", "cgroup", "device", "session", "job".
    :param uid: of this user only; ``cgroup``: of this control group and those inside it; ``device``, such as "cuda:0"; ``job``: its number.
    :raises ValueError: no such word, device or number.
    """
    words = [by] if isinstance(by, str) else list(by)
    unknown = [word for word in words if word not in _SUMMED_BY]
    if unknown:
        raise ValueError(f"accounts are not summed by {unknown[0]!r}, but by {', '.join(_SUMMED_BY)}")
    if uid is not None and not 0 <= uid < 1 << 32 or not 0 <= job < 1 << 64:
        raise ValueError("a uid has 32 bits, and a job's number 64")
    backend, index = _device_number(device) if device is not None else (0, 0)
    query = {
        "by": sum(_SUMMED_BY[word][0] for word in set(words)),
        "of_user": uid is not None,
        "uid": uid or 0,
        "cgroup": cgroup,
        "of_device": device is not None,
        "backend": backend,
        "index": index,
        "job": job,
    }
    reply = ask("accounts", query, runtime_dir, timeout)
    keys = " ".join([keys for bit, keys in _SUMMED_BY.values() if reply["accounts_by"] & bit] + [_ROW])
    return [show_object(row, keys, "used") for row in reply["account_rows"]]
