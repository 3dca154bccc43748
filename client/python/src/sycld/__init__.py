# SPDX-License-Identifier: Apache-2.0
"""sycld, the service that shares a machine's devices, from Python: what OpenCL cannot say.

* :func:`status`, :func:`devices`, :func:`sessions`, :func:`limits`, :func:`accounts` and :func:`jobs` ask what ``syclctl`` shows.
* :class:`Session` is a connection with a class and a weight.
* :func:`create`, :class:`Export` and :func:`open_export` share memory between processes, by descriptors; :class:`Array` shows it to NumPy,
  PyTorch and CuPy without a copy.

Pure Python with ctypes: libsyclclient is loaded when a session is made. Every exception is an :class:`Error`, a ``ValueError`` or a
``TypeError``.
"""

from ._library import version
from .admin import accounts, devices, jobs, limits, sessions, status
from .array import Array
from .buffer import KINDS, Buffer, Export, create, open_export
from .errors import (
    ClosedError,
    ConnectionLostError,
    DeadlineError,
    DeviceLostError,
    DriverError,
    Error,
    ForkedError,
    InvalidError,
    LibraryError,
    NoServiceError,
    NotSupportedError,
    OutOfMemoryError,
    ProtocolError,
    QuotaError,
    RequestError,
    SyclError,
)
from .session import CLASSES, Device, Session

__version__ = "0.1.0"

__all__ = [
    "CLASSES",
    "KINDS",
    "Array",
    "Buffer",
    "ClosedError",
    "ConnectionLostError",
    "DeadlineError",
    "Device",
    "DeviceLostError",
    "DriverError",
    "Error",
    "Export",
    "ForkedError",
    "InvalidError",
    "LibraryError",
    "NoServiceError",
    "NotSupportedError",
    "OutOfMemoryError",
    "ProtocolError",
    "QuotaError",
    "RequestError",
    "Session",
    "SyclError",
    "accounts",
    "create",
    "devices",
    "jobs",
    "limits",
    "open_export",
    "sessions",
    "status",
    "version",
]
