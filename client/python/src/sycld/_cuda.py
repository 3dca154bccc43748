# SPDX-License-Identifier: Apache-2.0
"""Maps exported GPU memory in this process, in the primary context of its device, which CUDA's runtime, PyTorch and CuPy use."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import weakref
from ctypes import POINTER, Structure, byref, c_char, c_char_p, c_int, c_int32, c_size_t, c_uint32, c_uint64, c_ulonglong, c_void_p
from typing import Any, Iterator

from .errors import DriverError, LibraryError, forked

NAME = "libcuda.so.1"
_DESCRIPTOR = 1  # CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
_PEER_ACCESS = 1  # CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS


class IpcHandle(Structure):
    """CUipcMemHandle, which is passed by value."""

    _fields_ = [("reserved", c_char * 64)]


class AccessDescription(Structure):
    """CUmemAccessDesc"""

    _fields_ = [("location_type", c_int32), ("location", c_int32), ("flags", c_int32)]


_FUNCTIONS: dict[str, list[Any]] = {
    "Init": [c_uint32],
    "DeviceGetCount": [POINTER(c_int)],
    "DeviceGet": [POINTER(c_int), c_int],
    "DeviceGetUuid_v2": [c_void_p, c_int],
    "DevicePrimaryCtxRetain": [POINTER(c_void_p), c_int],
    "DevicePrimaryCtxRelease_v2": [c_int],
    "CtxPushCurrent_v2": [c_void_p],
    "CtxPopCurrent_v2": [POINTER(c_void_p)],
    "MemImportFromShareableHandle": [POINTER(c_ulonglong), c_void_p, c_int32],
    "MemAddressReserve": [POINTER(c_uint64), c_size_t, c_size_t, c_uint64, c_ulonglong],
    "MemAddressFree": [c_uint64, c_size_t],
    "MemMap": [c_uint64, c_size_t, c_size_t, c_ulonglong, c_ulonglong],
    "MemSetAccess": [c_uint64, c_size_t, POINTER(AccessDescription), c_size_t],
    "MemUnmap": [c_uint64, c_size_t],
    "MemRelease": [c_ulonglong],
    "IpcOpenMemHandle_v2": [POINTER(c_uint64), IpcHandle, c_uint32],
    "IpcCloseMemHandle": [c_uint64],
    "GetErrorString": [c_int32, POINTER(c_char_p)],
}


@functools.lru_cache(maxsize=None)
def _driver() -> ctypes.CDLL:
    try:
        loaded = ctypes.CDLL(NAME)
        for name, arguments in _FUNCTIONS.items():
            function = getattr(loaded, "cu" + name)
            function.argtypes, function.restype = arguments, c_int32
    except (OSError, AttributeError) as error:
        raise LibraryError(f"NVIDIA's driver cannot be used in this process: {error}") from error
    return loaded


def _call(name: str, *arguments: Any) -> None:
    code = getattr(_driver(), "cu" + name)(*arguments)
    if code != 0:
        text = c_char_p()
        _driver().cuGetErrorString(code, byref(text))
        raise DriverError(f"cu{name}: {(text.value or b'unknown').decode()} ({code})", code)


def _device_with(uuid: bytes) -> int:
    """The number of a device in this process, which CUDA_VISIBLE_DEVICES may change."""
    count, device, found = c_int(), c_int(), ctypes.create_string_buffer(16)
    _call("Init", 0)
    _call("DeviceGetCount", byref(count))
    for number in range(count.value):
        _call("DeviceGet", byref(device), number)
        _call("DeviceGetUuid_v2", found, device)
        if found.raw == uuid:
            return number
    raise LibraryError("the buffer's device is not visible in this process (CUDA_VISIBLE_DEVICES)")


@contextlib.contextmanager
def _current(context: c_void_p) -> Iterator[None]:
    _call("CtxPushCurrent_v2", context)
    try:
        yield
    finally:
        _call("CtxPopCurrent_v2", byref(c_void_p()))


def _map_descriptor(descriptor: int, nbytes: int, device: int, undo: contextlib.ExitStack) -> int:
    allocation, address = c_ulonglong(), c_uint64()
    _call("MemImportFromShareableHandle", byref(allocation), c_void_p(descriptor), _DESCRIPTOR)
    undo.callback(_call, "MemRelease", allocation)
    _call("MemAddressReserve", byref(address), nbytes, 0, 0, 0)
    undo.callback(_call, "MemAddressFree", address, nbytes)
    _call("MemMap", address, nbytes, 0, allocation, 0)
    undo.callback(_call, "MemUnmap", address, nbytes)
    access = AccessDescription(1, device, 3)  # this device may read and write
    _call("MemSetAccess", address, nbytes, byref(access), 1)
    return address.value


def _open_handle(handle: bytes, undo: contextlib.ExitStack) -> int:
    address = c_uint64()
    name = IpcHandle()
    ctypes.memmove(byref(name), handle, ctypes.sizeof(name))
    _call("IpcOpenMemHandle_v2", byref(address), name, _PEER_ACCESS)
    undo.callback(_call, "IpcCloseMemHandle", address)
    return address.value


def _end(undo: contextlib.ExitStack, context: c_void_p, device: int, process: int) -> None:
    """A forked child has no context, and nothing to undo."""
    if os.getpid() == process:
        with contextlib.suppress(DriverError):
            with _current(context):
                undo.close()
        with contextlib.suppress(DriverError):
            _call("DevicePrimaryCtxRelease_v2", device)


class CudaMapping:
    """GPU memory at an address of this process. It is unmapped with the last reference to this object; at the end of the process the driver
    does that."""

    def __init__(self, uuid: bytes, mapped_bytes: int, *, descriptor: int = -1, handle: bytes = b"") -> None:
        self.process = os.getpid()
        self.device = _device_with(uuid)
        context, undo = c_void_p(), contextlib.ExitStack()
        _call("DevicePrimaryCtxRetain", byref(context), self.device)
        try:
            with _current(context):
                if descriptor >= 0:
                    self._address = _map_descriptor(descriptor, mapped_bytes, self.device, undo)
                else:
                    self._address = _open_handle(handle, undo)
        except BaseException:
            _end(undo, context, self.device, self.process)
            raise
        weakref.finalize(self, _end, undo, context, self.device, self.process).atexit = False

    @property
    def address(self) -> int:
        """:raises ForkedError: in a child of the process that has mapped it."""
        if os.getpid() != self.process:
            raise forked("GPU memory")
        return self._address
