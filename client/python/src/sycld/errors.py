# SPDX-License-Identifier: Apache-2.0
"""What can go wrong. Every exception of the package is an :class:`Error`."""

from __future__ import annotations


class Error(Exception):
    """Base of the package's exceptions."""


class LibraryError(Error, OSError):
    """libsyclclient cannot be loaded, or a function of NVIDIA's driver is missing."""


class ClosedError(Error, ValueError):
    """The object, or the session that it belongs to, was closed by this program."""


class NoServiceError(Error, ConnectionError):
    """No service runs where one was looked for, or it does not answer."""


class RequestError(Error):
    """The service refused a request; the text is the service's."""


class ProtocolError(Error):
    """A message that does not follow its format: of the service, or of a process that sent a buffer."""


class DriverError(Error):
    """A call of NVIDIA's driver in this process failed.

    ``code`` is its ``CUresult``.
    """

    def __init__(self, text: str, code: int) -> None:
        super().__init__(text)
        self.code = code


class SyclError(Error):
    """A call of libsyclclient failed.

    ``result`` is its code (result.h), ``name`` the code's name, ``native_code`` the vendor's code, or 0. The text is
    the library's sentence.
    """

    def __init__(self, text: str, result: int, name: str, native_code: int = 0) -> None:
        super().__init__(f"{text} ({name})" if text else name)
        self.result = result
        self.name = name
        self.native_code = native_code


class InvalidError(SyclError, ValueError):
    """An argument, or the state of an object, that the call does not allow."""


class NotSupportedError(SyclError):
    """The device or the system cannot do it."""


class OutOfMemoryError(SyclError, MemoryError):
    """No memory in this process, the service or the device."""


class QuotaError(SyclError):
    """A limit of the session or the user is reached."""


class ConnectionLostError(SyclError, ConnectionError):
    """No service, or it ended the session. A new session may work."""


class DeviceLostError(SyclError):
    """A device failed, or the engine ended. A new session works at once."""


class DeadlineError(SyclError, TimeoutError):
    """Not in time. Nothing has changed."""


class ForkedError(SyclError):
    """The object belongs to the parent of this process."""


#: The exception of each code of result.h that has one of its own.
BY_RESULT = {
    -8: InvalidError,
    -9: OutOfMemoryError,
    -12: NotSupportedError,
    -32: ConnectionLostError,
    -33: DeviceLostError,
    -34: QuotaError,
    -35: DeadlineError,
    -37: InvalidError,
    -39: ForkedError,
}

FORKED = -39


def forked(what: str) -> ForkedError:
    """The exception for an object that the process has inherited."""
    return ForkedError(f"{what} belongs to the parent of this process; open a session of its own", FORKED, "SYCL_ERROR_FORKED")
