# SPDX-License-Identifier: Apache-2.0
"""libsyclclient, by ctypes: the functions that the package calls, and their structures. Loaded at the first use."""

from __future__ import annotations

import ctypes
import functools
from ctypes import POINTER, Structure, byref, c_char_p, c_int32, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p
from typing import Any, Optional

from .errors import BY_RESULT, LibraryError, SyclError

NAME = "libsyclclient.so.0"
FOREVER_NS = (1 << 64) - 1
HANDLE_BYTES = 64
COPY_THREADS_NONE = 0xFFFFFFFF


class OpenOptions(Structure):
    """struct sycl_open_options"""

    _fields_ = [
        ("struct_bytes", c_uint32),
        ("helper_threads", c_uint32),
        ("timeout_ns", c_uint64),
        ("name", c_char_p),
        ("session_class", c_uint32),
        ("weight", c_uint32),
        ("copy_threads", c_uint32),
        ("check", c_uint32),
    ]


class Usage(Structure):
    """struct sycl_usage"""

    _fields_ = [("struct_bytes", c_uint32), ("reserved", c_uint32)] + [
        (name, c_uint64)
        for name in (
            "groups_submitted",
            "groups_completed",
            "groups_failed",
            "device_ns",
            "bytes_to_device",
            "bytes_to_host",
            "buffer_bytes",
            "arena_bytes",
            "groups_resubmitted",
        )
    ]


class SharedMemory(Structure):
    """struct sycl_shared_memory"""

    _fields_ = [
        ("struct_bytes", c_uint32),
        ("kind", c_uint32),
        ("descriptor", c_int32),
        ("reserved", c_uint32),
        ("size_bytes", c_uint64),
        ("mapped_bytes", c_uint64),
        ("handle", c_uint8 * HANDLE_BYTES),
    ]


class ErrorDetail(Structure):
    """struct sycl_error_detail"""

    _fields_ = [
        ("struct_bytes", c_uint32),
        ("result", c_int32),
        ("object", c_uint64),
        ("backend", c_uint32),
        ("native_code", c_int32),
        ("text", c_char_p),
    ]


_OUT = POINTER(c_void_p)

#: Arguments of each function. All return a sycl_result but those of _TEXTS.
_FUNCTIONS: dict[str, list[Any]] = {
    "platform_open_with": [c_char_p, POINTER(OpenOptions), _OUT],
    "platform_release": [c_void_p],
    "platform_get_info": [c_void_p, c_int32, c_size_t, c_void_p, POINTER(c_size_t)],
    "platform_get_usage": [c_void_p, POINTER(Usage)],
    "device_get_devices": [c_void_p, c_uint32, c_uint32, _OUT, POINTER(c_uint32)],
    "device_select": [c_void_p, c_void_p, c_void_p, _OUT],
    "device_get_info": [c_void_p, c_int32, c_size_t, c_void_p, POINTER(c_size_t)],
    "device_release": [c_void_p],
    "buffer_create_exportable": [c_void_p, c_void_p, c_uint64, c_int32, c_int32, _OUT],
    "buffer_export_for": [c_void_p, c_uint64, POINTER(SharedMemory)],
    "buffer_import": [c_void_p, POINTER(SharedMemory), _OUT],
    "buffer_release": [c_void_p],
    "host_accessor_create_ranged": [c_void_p, c_int32, c_uint64, c_uint64, c_uint64, _OUT],
    "host_accessor_get_pointer": [c_void_p, _OUT],
    "host_accessor_release": [c_void_p],
    "get_last_error": [POINTER(ErrorDetail)],
}
_TEXTS: dict[str, list[Any]] = {"result_name": [c_int32], "get_version": []}


@functools.lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    """The library. Calls of it release the interpreter's lock.

    :raises LibraryError: it is not where the system looks for libraries.
    """
    try:
        loaded = ctypes.CDLL(NAME)
        for name, arguments in _FUNCTIONS.items():
            function = getattr(loaded, "sycl_" + name)
            function.argtypes, function.restype = arguments, c_int32
        for name, arguments in _TEXTS.items():
            function = getattr(loaded, "sycl_" + name)
            function.argtypes, function.restype = arguments, c_char_p
    except (OSError, AttributeError) as error:
        raise LibraryError(f"{NAME} cannot be used: {error}; it is in the package libsyclclient0") from error
    return loaded


def version() -> str:
    """The version of the library that is loaded."""
    text: bytes = library().sycl_get_version()
    return text.decode()


def error_of(result: int) -> SyclError:
    """The exception for a result, with the sentence of this thread's last failure."""
    detail = ErrorDetail(struct_bytes=ctypes.sizeof(ErrorDetail))
    library().sycl_get_last_error(byref(detail))
    name = library().sycl_result_name(result).decode()
    of_this = detail.result == result
    text = (detail.text or b"").decode("utf-8", "replace") if of_this else ""
    return BY_RESULT.get(result, SyclError)(text, result, name, detail.native_code if of_this else 0)


def call(name: str, *arguments: Any) -> None:
    """Call ``sycl_NAME``. A result other than 0 is raised as an exception."""
    result = getattr(library(), "sycl_" + name)(*arguments)
    if result != 0:
        raise error_of(result)


def made(name: str, *arguments: Any) -> c_void_p:
    """Call ``sycl_NAME``, whose last parameter is a new handle, and return that."""
    handle = c_void_p()
    call(name, *arguments, byref(handle))
    return handle


def info_text(name: str, handle: Optional[c_void_p], query: int) -> str:
    """The answer of a query for a text."""
    size = c_size_t()
    call(name, handle, query, 0, None, byref(size))
    text = ctypes.create_string_buffer(max(size.value, 1))
    call(name, handle, query, len(text), text, byref(size))
    return text.value.decode("utf-8", "replace")


def info_number(name: str, handle: Optional[c_void_p], query: int, kind: Any = c_uint32) -> int:
    """The answer of a query for a number."""
    number = kind()
    call(name, handle, query, ctypes.sizeof(number), byref(number), byref(c_size_t()))
    return int(number.value)


def info_bytes(name: str, handle: Optional[c_void_p], query: int, size: int) -> bytes:
    """The answer of a query for so many bytes."""
    data = ctypes.create_string_buffer(size)
    call(name, handle, query, size, data, byref(c_size_t()))
    return data.raw
