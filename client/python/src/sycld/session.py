# SPDX-License-Identifier: Apache-2.0
"""A connection to the service, and the devices behind it."""

from __future__ import annotations

import os
import threading
import weakref
from ctypes import byref, c_uint32, c_uint64, c_void_p, sizeof
from typing import Any, Optional

from ._library import COPY_THREADS_NONE, OpenOptions, Usage, call, info_bytes, info_number, info_text, made
from ._schema import ENUMS
from .errors import ClosedError, SyclError, forked

CLASSES = {"latency": 1, "normal": 2, "best-effort": 3}
_CLASS_NAMES = {number: name for name, number in CLASSES.items()}
_BACKENDS = {number: name for number, name in enumerate(ENUMS["Backend"]) if name is not None}
_TYPE_ALL = 0

_PLATFORM_SESSION, _PLATFORM_ENDPOINT, _PLATFORM_CLASS, _PLATFORM_WEIGHT = 9, 10, 11, 12
_DEVICE_NAME, _DEVICE_BACKEND, _DEVICE_UUID, _DEVICE_MEMORY, _DEVICE_UNIFIED = 18, 34, 41, 10, 24


class Owned:
    """Something of the library's: a handle, which is released once, and by the process that made it."""

    _what = "the object"

    def __init__(self, handle: c_void_p, release: str) -> None:
        self._process = os.getpid()
        self._made = handle
        self._ended = False
        self._finalizer = weakref.finalize(self, _release, handle.value, release, self._process)

    def _handle(self) -> c_void_p:
        """The handle, for a call.

        :raises ClosedError: it was released; :raises ForkedError: it is the parent's.
        """
        if os.getpid() != self._process:
            raise forked(self._what)
        if self._ended:
            raise ClosedError(f"{self._what} is closed")
        return self._made

    def _end(self) -> None:
        self._ended = True
        self._finalizer()


def _release(handle: Optional[int], function: str, process: int) -> None:
    if os.getpid() == process:
        try:
            call(function, c_void_p(handle))
        except SyclError:
            pass  # the service has ended the session, and the handle with it


class Device(Owned):
    """A device of a session. It ends with the session."""

    _what = "the device's session"

    def __init__(self, session: Session, handle: c_void_p) -> None:
        super().__init__(handle, "device_release")
        self.session = session
        self.name: str = info_text("device_get_info", handle, _DEVICE_NAME)
        #: "cuda" or "opencl".
        self.backend: str = _BACKENDS.get(info_number("device_get_info", handle, _DEVICE_BACKEND), "unknown")
        self.memory_bytes: int = info_number("device_get_info", handle, _DEVICE_MEMORY, c_uint64)
        #: Whether it uses the host's memory, as a processor does.
        self.is_on_host: bool = info_number("device_get_info", handle, _DEVICE_UNIFIED) != 0
        #: 16 bytes of the driver's; all 0 if it is not known.
        self.uuid: bytes = info_bytes("device_get_info", handle, _DEVICE_UUID, 16)
        session._add(self)

    def __repr__(self) -> str:
        return f"<sycld.Device {self.name!r} ({self.backend})>"


class Session(Owned):
    """A connection to the service. syclctl shows it as a session with this process' number.

    :param endpoint: "unix:PATH" of a service's socket; None: ``SYCLD_ENDPOINT``, else the system's service, else this
        user's, which is started if it does not run.
    :param name: what syclctl shows; None: the program's name.
    :param session_class: "latency", "normal" or "best-effort"; None: ``SYCLD_CLASS``, else normal. The service may give less.
    :param weight: 1 to 1000, its part beside others of its class; None: ``SYCLD_WEIGHT``, else 100. The service may give less.
    :param timeout: longest wait for the service, in seconds.

    Blocks for a round trip, or until a service has started. Any thread may use it, and its calls let other threads run.
    A forked child cannot (:class:`ForkedError`), and may open one of its own. The library starts no thread for it.

    It ends with :meth:`close`, at the end of a ``with`` block, or with its last reference. Its devices end with it;
    buffers of GPUs cannot be used any more (:class:`ClosedError`), and arrays over buffers keep their memory.

    :raises ConnectionLostError: no service answers, and none could be started.
    """

    _what = "the session"

    def __init__(
        self,
        endpoint: Optional[str] = None,
        *,
        name: Optional[str] = None,
        session_class: Optional[str] = None,
        weight: Optional[int] = None,
        timeout: float = 10.0,
    ) -> None:
        if session_class is not None and session_class not in CLASSES:
            raise ValueError(f"{session_class!r} is no class; there are {', '.join(CLASSES)}")
        if weight is not None and not 1 <= weight <= 1000:
            raise ValueError(f"a weight is 1 to 1000, and not {weight}")
        if not 0 < timeout < 1 << 32:
            raise ValueError(f"a limit of {timeout} s")
        options = OpenOptions(
            struct_bytes=sizeof(OpenOptions),
            timeout_ns=max(int(timeout * 1e9), 1),
            name=_text(name, "a name"),
            session_class=CLASSES.get(session_class or "", 0),
            weight=weight or 0,
            copy_threads=COPY_THREADS_NONE,
        )
        super().__init__(made("platform_open_with", _text(endpoint, "an endpoint"), byref(options)), "platform_release")
        self._parts: weakref.WeakSet[Any] = weakref.WeakSet()
        self._lock = threading.Lock()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<sycld.Session {'closed' if self._ended else self.number}>"

    def _add(self, part: Any) -> None:
        with self._lock:
            if self._ended:
                part._end()
                raise ClosedError("the session is closed")
            self._parts.add(part)

    def close(self) -> None:
        """End the session. Never waits: submitted work goes on. May be called again; does nothing in a forked child."""
        with self._lock:
            parts, self._parts = list(self._parts), weakref.WeakSet()
            if not self._ended:
                self._end()
        for part in parts:
            part._end()

    @property
    def number(self) -> int:
        """Its number in syclctl. Never blocks."""
        return info_number("platform_get_info", self._handle(), _PLATFORM_SESSION, c_uint64)

    @property
    def endpoint(self) -> str:
        """The service's socket, such as "unix:/run/sycld/session.sock". Never blocks."""
        return info_text("platform_get_info", self._handle(), _PLATFORM_ENDPOINT)

    @property
    def runtime_dir(self) -> str:
        """The folder of its service, for the questions of :mod:`sycld.admin`. Never blocks."""
        return os.path.dirname(self.endpoint.partition(":")[2])

    @property
    def session_class(self) -> str:
        """The class that the service gave. Never blocks."""
        return _CLASS_NAMES[info_number("platform_get_info", self._handle(), _PLATFORM_CLASS)]

    @property
    def weight(self) -> int:
        """The weight that the service gave. Never blocks."""
        return info_number("platform_get_info", self._handle(), _PLATFORM_WEIGHT)

    def usage(self) -> dict[str, int]:
        """What the session has used so far: numbers of command groups, device time in ns, bytes. Blocks for a round trip."""
        used = Usage(struct_bytes=sizeof(Usage))
        call("platform_get_usage", self._handle(), byref(used))
        return {field[0]: int(getattr(used, field[0])) for field in Usage._fields_[2:]}

    def devices(self) -> list[Device]:
        """The devices. The first time it blocks for a round trip, which may take seconds while vendors' libraries load."""
        count = c_uint32()
        call("device_get_devices", self._handle(), _TYPE_ALL, 0, None, byref(count))
        found = (c_void_p * max(count.value, 1))()
        call("device_get_devices", self._handle(), _TYPE_ALL, count.value, found, byref(count))
        return [Device(self, c_void_p(device)) for device in found[: count.value]]

    @property
    def device(self) -> Device:
        """The default device. Blocks as :meth:`devices`.

        :raises SyclError: there is none.
        """
        return Device(self, made("device_select", self._handle(), None, None))


def _text(text: Optional[str], what: str) -> Optional[bytes]:
    if text is None:
        return None
    if not isinstance(text, str) or "\0" in text:
        raise ValueError(f"{what} is a text without the character 0, and not {text!r}")
    return text.encode()


__all__ = ["CLASSES", "Device", "Session"]
