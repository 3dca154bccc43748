# SPDX-License-Identifier: Apache-2.0
"""Buffers that several processes use, and what is sent for that."""

from __future__ import annotations

import array as _array
import contextlib
import ctypes
import os
import socket
import struct
import threading
from ctypes import byref, c_uint8, c_void_p, sizeof
from typing import Any, Iterator, Optional, Sequence, Union

from . import array as arrays
from ._cuda import CudaMapping
from ._host import HostMemory
from ._library import FOREVER_NS, HANDLE_BYTES, SharedMemory, call, made
from .errors import ClosedError, NotSupportedError, ProtocolError
from .session import Device, Owned, Session

#: Ways to share. "host" is memory of the host, and the package's own; the others are those of share.h.
KINDS = {"vmm": 1, "cuda-ipc": 2, "host": 256}
_KIND_NAMES = {number: name for name, number in KINDS.items()}

_MAGIC = b"sycldbuf"
_FORM = struct.Struct(f"<8sIIQQ{HANDLE_BYTES}s")
_VERSION = 1
_BYTES_MOST = 1 << 62
_DESCRIPTORS_MOST = 4
_READ, _WRITE = 5, 6


def nanoseconds(timeout: Optional[float]) -> int:
    """A limit in seconds for the library; None: for ever."""
    if timeout is None:
        return FOREVER_NS
    if not 0 <= timeout < 1 << 32:
        raise ValueError(f"a limit of {timeout} s")
    return int(timeout * 1e9)


class Export:
    """The name by which another process opens a buffer: some bytes and, unless its kind is "cuda-ipc", a descriptor.

    It owns the descriptor, which is closed with :meth:`close`, at the end of a ``with`` block, or with the last reference. The memory lives
    while any process has a descriptor, a buffer or an array of it. A process that gets the descriptor can read and write the memory, and
    nothing else; that cannot be taken back. An export cannot be copied or pickled.
    """

    def __init__(self, kind: str, nbytes: int, mapped_bytes: int, descriptor: int = -1, handle: bytes = bytes(HANDLE_BYTES)) -> None:
        self.kind = kind
        self.nbytes = nbytes
        self.mapped_bytes = mapped_bytes
        self.handle = handle
        self._descriptor = descriptor

    def __repr__(self) -> str:
        return f"<sycld.Export of {self.nbytes} bytes ({self.kind})>"

    def __enter__(self) -> Export:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        # A copy would have the same descriptor's number, and close whatever has it then.
        raise TypeError("an export owns a descriptor, so it is sent, and neither copied nor pickled")

    def __del__(self) -> None:
        if getattr(self, "_descriptor", -1) >= 0:
            self.close()

    def close(self) -> None:
        """Close the descriptor. May be called again."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def fileno(self) -> int:
        """The descriptor, which stays this object's: for ``socket.send_fds``, ``multiprocessing`` and the like.

        :raises ClosedError: it is closed, or the kind has none.
        """
        if self._descriptor < 0:
            raise ClosedError(f"this export of the kind {self.kind} has no descriptor, or it is closed")
        return self._descriptor

    def to_bytes(self) -> bytes:
        """All but the descriptor: 96 bytes."""
        return _FORM.pack(_MAGIC, _VERSION, KINDS[self.kind], self.nbytes, self.mapped_bytes, self.handle)

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview, descriptor: int = -1) -> Export:
        """What :meth:`to_bytes` gave in another process. The descriptor becomes the object's if this succeeds.

        :raises ProtocolError: other bytes; a descriptor that the kind does not have, or a missing one.
        """
        if len(data) != _FORM.size:
            raise ProtocolError(f"an exported buffer is described by {_FORM.size} bytes, and not by {len(data)}")
        magic, version, kind, nbytes, mapped_bytes, handle = _FORM.unpack(data)
        if magic != _MAGIC or version != _VERSION or kind not in _KIND_NAMES:
            raise ProtocolError("the bytes describe no exported buffer")
        if not 0 < nbytes <= mapped_bytes <= _BYTES_MOST:
            raise ProtocolError(f"an exported buffer has {nbytes} bytes in {mapped_bytes}")
        if (descriptor >= 0) != (_KIND_NAMES[kind] != "cuda-ipc"):
            raise ProtocolError(f"a buffer of the kind {_KIND_NAMES[kind]} came {'with' if descriptor >= 0 else 'without'} a descriptor")
        return cls(_KIND_NAMES[kind], nbytes, mapped_bytes, descriptor, handle)

    def send(self, connection: socket.socket) -> None:
        """Send it over a Unix socket. Blocks as the socket does. It stays this process', too."""
        descriptors = [self.fileno()] if self.kind != "cuda-ipc" else []
        data = self.to_bytes()
        sent = socket.send_fds(connection, [data], descriptors)
        connection.sendall(data[sent:])

    @classmethod
    def receive(cls, connection: socket.socket) -> Export:
        """Receive what another process sends with :meth:`send`. Blocks as the socket does.

        :raises ProtocolError: something else came. Descriptors that came with it are closed.
        :raises EOFError: the other side has closed the connection.
        """
        descriptors: list[int] = []
        try:
            data = _receive(connection, descriptors)
            export = cls.from_bytes(data, descriptors[0] if descriptors else -1)
        except BaseException:
            for descriptor in descriptors:
                os.close(descriptor)
            raise
        return export


def _receive(connection: socket.socket, descriptors: list[int]) -> bytes:
    """Receive the bytes of an export. Descriptors are added to the list as they come."""
    data = b""
    room = socket.CMSG_SPACE(_DESCRIPTORS_MOST * _array.array("i").itemsize)
    while len(data) < _FORM.size:
        part, messages, flags, _ = connection.recvmsg(_FORM.size - len(data), room, socket.MSG_CMSG_CLOEXEC)
        for level, kind, content in messages:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                came = _array.array("i")
                came.frombytes(content[: len(content) - len(content) % came.itemsize])
                descriptors += came
        if flags & (socket.MSG_CTRUNC | socket.MSG_TRUNC):
            raise ProtocolError("more came than an exported buffer has")
        if len(descriptors) > 1:  # each part could bring more
            raise ProtocolError(f"an exported buffer came with {len(descriptors)} descriptors")
        if not part:
            raise EOFError("the connection was closed before an exported buffer had come")
        data += part
    return data


class _OnDevice(Owned):
    """A buffer of the library's."""

    _what = "the buffer's session"

    def __init__(self, session: Session, handle: c_void_p) -> None:
        super().__init__(handle, "buffer_release")
        session._add(self)


class Buffer:
    """Memory that several processes use at once, made by :func:`create` or :func:`open_export`.

    * On a GPU (``kind`` "vmm" or "cuda-ipc") it is a buffer of the service. Command groups of all connections of the
      user that import it are ordered as those of one program (share.h); other programs map it and order themselves.
      After its session is closed it raises
      :class:`ClosedError`.
    * On the host (``kind`` "host") it is memory that the processes map, and no object of the service: a program copies it into memory of a
      device, such as USM, and back. It belongs to no session. Nothing orders its users.

    Arrays (:meth:`array`) keep the memory, whatever is closed. ``close``, the end of a ``with`` block or the last
    reference end this process' use of the buffer. Any thread may use it. A forked child may go on using memory of the
    host.
    """

    def __init__(self, kind: str, nbytes: int, device: Optional[Device], held: Union[_OnDevice, HostMemory]) -> None:
        self.kind = kind
        self.nbytes = nbytes
        #: The device that it lives on; None on the host.
        self.device = device
        self._held: Union[_OnDevice, HostMemory, None] = held
        self._mapping: Optional[CudaMapping] = None
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<sycld.Buffer of {self.nbytes} bytes ({self.kind}{', closed' if self._held is None else ''})>"

    def __enter__(self) -> Buffer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return self.nbytes

    def close(self) -> None:
        """End this process' use of the buffer. Never waits. May be called again."""
        held, self._held, self._mapping = self._held, None, None
        if isinstance(held, HostMemory):
            held.close()
        elif held is not None:
            held._end()

    def _open(self) -> Union[_OnDevice, HostMemory]:
        if self._held is None:
            raise ClosedError("the buffer is closed")
        return self._held

    def export(self, timeout: Optional[float] = None) -> Export:
        """Get what another process needs to open it. May be called several times.

        On a GPU it blocks until earlier command groups have written the buffer, at most ``timeout`` seconds.

        :raises DeadlineError: not in time. :raises ClosedError: the buffer, or its session, is closed. :raises
        ForkedError: on a GPU, in a child.
        """
        limit, held = nanoseconds(timeout), self._open()
        if isinstance(held, HostMemory):
            return Export("host", self.nbytes, self.nbytes, os.dup(held.descriptor))
        shared = SharedMemory(struct_bytes=sizeof(SharedMemory), descriptor=-1)
        call("buffer_export_for", held._handle(), limit, byref(shared))
        return Export(_KIND_NAMES[shared.kind], shared.size_bytes, shared.mapped_bytes, shared.descriptor, bytes(shared.handle))

    def array(self, dtype: Any = "uint8", shape: Union[int, Sequence[int], None] = None, offset: int = 0) -> arrays.Array:
        """The memory as an array, for NumPy, PyTorch, CuPy and others.

        On a GPU the first array maps the memory into this process, by NVIDIA's driver; it blocks as :meth:`export`.

        :param dtype: a name such as "float32", or a type of NumPy or PyTorch.
        :param shape: its sizes; None: all elements from ``offset`` on, in one dimension.
        :param offset: of the first element, in bytes; a multiple of an element's size.
        :raises ValueError: it does not fit. :raises LibraryError: this process has no driver of NVIDIA's, or does not see the GPU.
        """
        held = self._open()
        if isinstance(held, HostMemory):
            return arrays.make(self, held, dtype, shape, offset)
        arrays.type_name(dtype)
        held._handle()
        with self._lock:
            if self._mapping is None:
                assert self.device is not None
                with self.export() as export:
                    self._mapping = CudaMapping(self.device.uuid, export.mapped_bytes, descriptor=export._descriptor, handle=export.handle)
            mapping = self._mapping
        return arrays.make(self, mapping, dtype, shape, offset)

    @contextlib.contextmanager
    def _bytes(self, mode: int, offset: int, size: int) -> Iterator[int]:
        """The address of a part of it, on the host, until the block ends."""
        held = self._open()
        if isinstance(held, HostMemory):
            yield held.address + offset
            return
        accessor, pointer = made("host_accessor_create_ranged", held._handle(), mode, offset, size, FOREVER_NS), c_void_p()
        try:
            call("host_accessor_get_pointer", accessor, byref(pointer))
            yield pointer.value or 0
        finally:
            call("host_accessor_release", accessor)

    def read(self, offset: int = 0, nbytes: Optional[int] = None) -> bytes:
        """A copy of its bytes. On a GPU it blocks until what the service has been sent before is complete."""
        size = self._check(offset, self.nbytes - offset if nbytes is None else nbytes)
        with self._bytes(_READ, offset, size) if size else contextlib.nullcontext(0) as address:
            return ctypes.string_at(address, size) if size else b""

    def write(self, data: Any, offset: int = 0) -> None:
        """Copy bytes into it, of anything with Python's protocol of buffers. Blocks as :meth:`read`."""
        source = memoryview(data).tobytes()
        size = self._check(offset, len(source))
        with self._bytes(_WRITE, offset, size) if size else contextlib.nullcontext(0) as address:
            ctypes.memmove(address, source, size)

    def _check(self, offset: int, size: int) -> int:
        """The size, if the part is in the buffer."""
        if isinstance(offset, bool) or not isinstance(offset, int) or not isinstance(size, int):
            raise TypeError("an offset and a size are whole numbers")
        if offset < 0 or size < 0 or size > self.nbytes - offset:
            raise ValueError(f"{size} bytes from byte {offset} on are not in a buffer of {self.nbytes}")
        self._open()
        return size


def create(nbytes: int, device: Union[Device, Session, None] = None, kind: Optional[str] = None) -> Buffer:
    """Make a buffer.

    :param nbytes: at least 1.
    :param device: where it lives; a session stands for its default device. None: on the host, without a session.
    :param kind: "vmm", "cuda-ipc" or "host"; None: "vmm" on devices with memory of their own, and "host" on others.
    :raises ValueError: no such kind or size, or a kind without a device.
    :raises NotSupportedError: the device cannot share memory in this way.
    :raises QuotaError: more than the session may have.
    :raises OSError: the host has no memory.

    The contents are 0 on the host, and undefined on a GPU. On a GPU it blocks for a round trip at most, and the memory
    is allocated when it is first used.
    """
    if isinstance(nbytes, bool) or not isinstance(nbytes, int) or not 0 < nbytes <= _BYTES_MOST:
        raise ValueError(f"a buffer of {nbytes!r} bytes")
    if kind is not None and kind not in KINDS:
        raise ValueError(f"{kind!r} is no way to share; there are {', '.join(KINDS)}")
    if isinstance(device, Session):
        device = device.device
    if device is None and kind not in (None, "host"):
        raise ValueError(f"a buffer of the kind {kind} needs a device")
    if kind is None:
        kind = "host" if device is None or device.is_on_host else "vmm"
    if kind == "host":
        if device is not None and not device.is_on_host:
            raise NotSupportedError(
                f"{device.name} has memory of its own, and does not share the host's", -12, "SYCL_ERROR_FEATURE_NOT_SUPPORTED"
            )
        return Buffer(kind, nbytes, None, HostMemory.make(nbytes))
    assert device is not None
    handle = made("buffer_create_exportable", device._handle(), None, nbytes, 0, KINDS[kind])
    return Buffer(kind, nbytes, device, _OnDevice(device.session, handle))


def open_export(export: Export, device: Union[Device, Session, None] = None) -> Buffer:
    """Open a buffer that another process, or this one, has exported: the same memory, without a copy.

    :param export: stays the caller's, and may be closed afterwards.
    :param device: the device that the memory is on; a session stands for its default device. Not needed for memory of the host.
    :raises ProtocolError: a descriptor of the host's that is no sealed memory of that size.
    :raises InvalidError: a descriptor or handle that is no memory of this device, or another size.

    On a GPU it blocks for a round trip.
    """
    if export.kind == "host":
        return Buffer("host", export.nbytes, None, HostMemory.of_descriptor(export.fileno(), export.nbytes))
    if isinstance(device, Session):
        device = device.device
    if device is None:
        raise ValueError(f"a buffer of the kind {export.kind} needs the device that it is on")
    shared = SharedMemory(
        struct_bytes=sizeof(SharedMemory),
        kind=KINDS[export.kind],
        descriptor=export.fileno() if export.kind != "cuda-ipc" else -1,
        size_bytes=export.nbytes,
        mapped_bytes=export.mapped_bytes,
        handle=(c_uint8 * HANDLE_BYTES).from_buffer_copy(export.handle),
    )
    handle = made("buffer_import", device._handle(), byref(shared))
    return Buffer(export.kind, export.nbytes, device, _OnDevice(device.session, handle))
