# SPDX-License-Identifier: Apache-2.0
"""Memory of the host that processes share: a sealed memfd, mapped by each of them."""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import stat
from typing import Any

from .errors import ProtocolError

_F_ADD_SEALS, _F_GET_SEALS = 1033, 1034
_SEAL_SEAL, _SEAL_SHRINK, _SEAL_GROW = 1, 2, 4


def _check_file(descriptor: int, nbytes: int) -> None:
    """A file that its sender could shrink would end this process by a signal."""
    try:
        found = os.fstat(descriptor)
        seals = fcntl.fcntl(descriptor, _F_GET_SEALS)
    except OSError as error:
        raise ProtocolError(f"the descriptor is no shared memory: {error}") from error
    if not stat.S_ISREG(found.st_mode) or not seals & _SEAL_SHRINK:
        raise ProtocolError("the descriptor is no sealed memory: its sender could shrink it")
    if found.st_size < nbytes:
        raise ProtocolError(f"the descriptor has {found.st_size} bytes, and the buffer should have {nbytes}")


class HostMemory:
    """A mapping, and a descriptor of its memory. The pages live while any process has either.

    The mapping ends with the last reference to this object: arrays over it hold one. Usable in a forked child, which shares the pages.
    """

    def __init__(self, descriptor: int, nbytes: int) -> None:
        """Take the descriptor over: it is closed if this fails, and with :meth:`close`."""
        self.descriptor = descriptor
        self.nbytes = nbytes
        try:
            self.map = mmap.mmap(descriptor, nbytes)
        except BaseException:
            self.close()
            raise
        # From now on the mapping cannot be closed under an array, because something has its address.
        self._first = ctypes.c_char.from_buffer(self.map)
        self.address = ctypes.addressof(self._first)

    @classmethod
    def make(cls, nbytes: int) -> HostMemory:
        descriptor = os.memfd_create("sycld-buffer", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(descriptor, nbytes)
            fcntl.fcntl(descriptor, _F_ADD_SEALS, _SEAL_SHRINK | _SEAL_GROW | _SEAL_SEAL)
        except BaseException:
            os.close(descriptor)
            raise
        return cls(descriptor, nbytes)

    @classmethod
    def of_descriptor(cls, descriptor: int, nbytes: int) -> HostMemory:
        """Map what another process has made. The descriptor stays the caller's."""
        _check_file(descriptor, nbytes)
        return cls(fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 0), nbytes)

    def close(self) -> None:
        """Close the descriptor. The mapping stays."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
        self.descriptor = -1

    def __reduce__(self) -> Any:
        raise TypeError("memory of the host is exported, and neither copied nor pickled")

    def __del__(self) -> None:
        if getattr(self, "descriptor", -1) >= 0:
            self.close()
