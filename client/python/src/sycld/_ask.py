# SPDX-License-Identifier: Apache-2.0
"""Sends a request to the service and receives its answer: REQ/REP over a Unix socket, as nng speaks it.

nng itself is not used: it starts threads, and ends a forked child that calls it.
"""

from __future__ import annotations

import errno
import os
import socket
import stat
import struct
import time
from typing import Any

from ._protobuf import pack, unpack
from ._schema import PROTOCOL
from .errors import NoServiceError, ProtocolError, RequestError

ANSWER_BYTES_MOST = 64 << 20
_SHARED = "/tmp"
_REQ, _REP = 0x30, 0x31
_MESSAGE = 1
_NUMBER = 0x80000001  # of the request; the highest bit ends the list of numbers that a device would add


def _own_folder(path: str) -> bool:
    """Whether a folder belongs to this user."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()


def _home_folder() -> str | None:
    state, home = os.environ.get("XDG_STATE_HOME", ""), os.environ.get("HOME", "")
    if state.startswith("/"):
        return os.path.join(state, "sycld")
    return os.path.join(home, ".local/state/sycld") if home.startswith("/") else None


def user_runtime_path() -> str:
    """The folder of this user's own service, by the rules of the library (shared/user_runtime.h)."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime.startswith("/") and os.path.exists(runtime):
        return os.path.join(runtime, "sycld")
    path = f"{_SHARED}/sycld-{os.geteuid()}"
    home = _home_folder()
    if _own_folder(path) or home is None:
        return path
    return home if _own_folder(home) or os.path.lexists(path) else path


class _Deadline:
    """What is left of a limit of seconds."""

    def __init__(self, seconds: float) -> None:
        self.end = time.monotonic() + seconds

    def left(self) -> float:
        left = self.end - time.monotonic()
        if left <= 0:
            raise socket.timeout("timed out")
        return left


def _receive(connection: socket.socket, size: int, deadline: _Deadline) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        connection.settimeout(deadline.left())
        part = connection.recv(min(size - len(parts), 1 << 20))
        if not part:
            raise ConnectionError(errno.EPIPE, "it closed the connection")
        parts += part
    return bytes(parts)


def _check_peer(connection: socket.socket, path: str) -> None:
    """A service is trusted if it is root's or this user's. Checked before anything is sent."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    uid = struct.unpack("iII", credentials)[1]
    if uid not in (0, os.geteuid()):
        raise NoServiceError(f"the service at {path} runs as uid {uid}, which is neither root nor you")


def _exchange(path: str, request: bytes, deadline: _Deadline) -> bytes:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC) as connection:
        connection.settimeout(deadline.left())
        connection.connect(path)
        _check_peer(connection, path)
        body = struct.pack(">I", _NUMBER) + request
        connection.sendall(struct.pack(">4sHH", b"\0SP\0", _REQ, 0) + struct.pack(">BQ", _MESSAGE, len(body)) + body)
        magic, protocol, _ = struct.unpack(">4sHH", _receive(connection, 8, deadline))
        if magic != b"\0SP\0" or protocol != _REP:
            raise ProtocolError(f"what listens at {path} is no service")
        kind, size = struct.unpack(">BQ", _receive(connection, 9, deadline))
        if kind != _MESSAGE or not 4 <= size <= ANSWER_BYTES_MOST:
            raise ProtocolError(f"the service at {path} sent a message of {size} bytes")
        answer = _receive(connection, size, deadline)
    if struct.unpack(">I", answer[:4])[0] != _NUMBER:
        raise ProtocolError(f"the service at {path} answered another request")
    return answer[4:]


def _ask_folder(folder: str, request: bytes, deadline: _Deadline) -> bytes | None:
    """Asks the service of a folder. None: there is none. admin.sock answers more, to users who may open it."""
    for name in ("admin.sock", "status.sock"):
        path = os.path.join(folder, name)
        if not os.access(path, os.W_OK):
            continue
        try:
            return _exchange(path, request, deadline)
        except (FileNotFoundError, ConnectionRefusedError):
            continue
        except socket.timeout:
            raise NoServiceError(f"the service at {path} does not answer") from None
        except OSError as error:
            if isinstance(error, NoServiceError):
                raise
            raise NoServiceError(f"the query to the service at {path} failed: {error}") from error
    return None


def _folders(runtime_dir: str | os.PathLike[str] | None) -> list[str]:
    """Where to look: the given folder, that of the socket which sessions use, or the system's and the user's own."""
    scheme, _, path = os.environ.get("SYCLD_ENDPOINT", "").partition(":")
    if runtime_dir is not None:
        return [os.fspath(runtime_dir)]
    return [os.path.dirname(path)] if scheme == "unix" and path else ["/run/sycld", user_runtime_path()]


def ask(body: str, values: dict[str, Any], runtime_dir: str | os.PathLike[str] | None, timeout: float) -> dict[str, Any]:
    """Send a request, and return the unpacked ``AdminReply``.

    :param body: the member of ``AdminRequest`` that ``values`` are for.
    """
    if not timeout > 0:
        raise ValueError(f"a limit of {timeout} s")
    request, deadline = pack("AdminRequest", {"protocol": PROTOCOL, body: values}), _Deadline(timeout)
    folders = _folders(runtime_dir)
    for folder in folders:
        answer = _ask_folder(folder, request, deadline)
        if answer is None:
            continue
        reply = unpack("AdminReply", answer)
        if reply["error"] is not None:
            raise RequestError(f"the service says: {reply['error']['text']}")
        return reply
    raise NoServiceError(f"no service runs (looked in {' and '.join(folders)})")
