# SPDX-License-Identifier: Apache-2.0
"""A buffer's memory as other packages take it, without a copy."""

from __future__ import annotations

import builtins
import ctypes
import math
from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

from ._cuda import CudaMapping
from ._host import HostMemory

if TYPE_CHECKING:
    from .buffer import Buffer

#: Of each type of elements: its name for __array_interface__, and its bytes.
_TYPES: dict[str, tuple[str, int]] = {
    "bool": ("|b1", 1),
    "int8": ("|i1", 1),
    "uint8": ("|u1", 1),
    **{f"{name}{8 * size}": (f"<{letter}{size}", size) for name, letter in (("int", "i"), ("uint", "u")) for size in (2, 4, 8)},
    **{f"float{8 * size}": (f"<f{size}", size) for size in (2, 4, 8)},
    **{f"complex{8 * size}": (f"<c{size}", size) for size in (8, 16)},
}
_NAMES = {typestr: name for name, (typestr, _) in _TYPES.items()}

_CPU, _CUDA = 1, 2  # DLDeviceType


def type_name(dtype: Any) -> str:
    """The name of a type, given as a name, as "<f4", or as a type or dtype of NumPy, PyTorch or CuPy.

    :raises TypeError: there is no such type.
    """
    text = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    text = _NAMES.get(text, text.replace("torch.", "", 1).rstrip("_"))
    if text not in _TYPES:
        raise TypeError(f"{dtype!r} is no type of elements; there are {', '.join(_TYPES)}")
    return text


class Array:
    """Memory of a :class:`Buffer` as an array. It keeps the memory, also when the buffer or its session is closed.

    * NumPy: ``numpy.asarray(array)`` (``__array_interface__``), on the host.
    * PyTorch: ``torch.from_dlpack(array)`` on the host, ``torch.as_tensor(array, device="cuda")`` on a GPU.
    * CuPy, Numba: ``cupy.asarray(array)`` (``__cuda_array_interface__``).
    * Anything else: :meth:`memoryview`, on the host.

    None of them waits for anything: on a GPU, wait for what writes the buffer before.
    """

    def __init__(self, buffer: Buffer, memory: Union[HostMemory, CudaMapping], name: str, shape: tuple[int, ...], offset: int) -> None:
        self._memory = memory
        self.dtype = name
        self.shape = shape
        self.nbytes = math.prod(shape) * _TYPES[name][1]
        self._offset = offset
        self._label = f"{shape} of {name} in {buffer!r}"

    def __repr__(self) -> str:
        return f"<sycld.Array {self._label}>"

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array without dimensions has no length")
        return self.shape[0]

    @property
    def pointer(self) -> int:
        """The address of the first byte, on the host or on the GPU.

        :raises ForkedError: GPU memory, in a child of the process that has mapped it.
        """
        return self._memory.address + self._offset

    @property
    def on_host(self) -> bool:
        """Whether it is memory of the host."""
        return isinstance(self._memory, HostMemory)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """NumPy's protocol, version 3. A missing attribute if the memory is on a GPU."""
        if not self.on_host:
            raise AttributeError("__array_interface__: the memory is on a GPU")
        return {"shape": self.shape, "typestr": _TYPES[self.dtype][0], "data": (self.pointer, False), "strides": None, "version": 3}

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """CUDA's protocol, version 3. A missing attribute if the memory is on the host."""
        if self.on_host:
            raise AttributeError("__cuda_array_interface__: the memory is on the host")
        typestr = _TYPES[self.dtype][0]
        return {"shape": self.shape, "typestr": typestr, "data": (self.pointer, False), "strides": None, "stream": None, "version": 3}

    def memoryview(self) -> builtins.memoryview:
        """The memory as a writable ``memoryview`` of bytes. It keeps the mapping.

        :raises BufferError: the memory is on a GPU.
        """
        if not isinstance(self._memory, HostMemory):
            raise BufferError("the memory is on a GPU")
        return builtins.memoryview(self._memory.map)[self._offset : self._offset + self.nbytes]

    def __dlpack_device__(self) -> tuple[int, int]:
        """DLPack's numbers for where the memory is: (1, 0) is the host, (2, n) the GPU with the number n in this process."""
        return (_CUDA, self._memory.device) if isinstance(self._memory, CudaMapping) else (_CPU, 0)

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Optional[bool] = None) -> Any:
        """A DLPack capsule of the memory. NumPy makes it, and with it the function that ends it: a deleter may be
        called while an exception is raised, and one in Python would lose that.

        :param stream: passed over. Nothing is waited for, so nothing may be about to write the memory.
        :raises BufferError: a copy, or another device, is asked for.
        :raises ImportError: there is no NumPy.
        :raises ForkedError: GPU memory, in a child of the process that has mapped it.
        """
        if copy:
            raise BufferError("the memory is shared, and not copied")
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"the memory is on the device {self.__dlpack_device__()}, and not on {tuple(dl_device)}")
        import numpy

        host = numpy.asarray(_AtAddress(self))
        try:
            capsule = host.__dlpack__() if max_version is None else host.__dlpack__(max_version=max_version)
        except TypeError:  # NumPy before 2.1 knows no versions
            capsule = host.__dlpack__()
        if not self.on_host:
            _set_device(capsule, self.__dlpack_device__())
        return capsule


class _AtAddress:
    """For NumPy: an array at any address, which keeps the memory. NumPy reads nothing there."""

    def __init__(self, array: Array) -> None:
        self._memory = array._memory
        self.__array_interface__ = {
            "shape": array.shape,
            "typestr": _TYPES[array.dtype][0],
            "data": (array.pointer, False),
            "strides": None,
            "version": 3,
        }


def _set_device(capsule: Any, device: tuple[int, int]) -> None:
    """Write the device into a new capsule: two numbers behind the pointer to the data (dlpack.h)."""
    python = ctypes.pythonapi
    python.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]
    python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    python.PyCapsule_GetPointer.restype = ctypes.c_void_p
    name, before = b"dltensor", 0
    if not python.PyCapsule_IsValid(capsule, name):
        name, before = b"dltensor_versioned", 32
    tensor = python.PyCapsule_GetPointer(capsule, name) + before
    (ctypes.c_int32 * 2).from_address(tensor + ctypes.sizeof(ctypes.c_void_p))[:] = list(device)


def make(buffer: Buffer, memory: Union[HostMemory, CudaMapping], dtype: Any, shape: Union[int, Sequence[int], None], offset: int) -> Array:
    """Check what was asked for, and make the array. The shape None: all that is left, in one dimension."""
    name = type_name(dtype)
    size = _TYPES[name][1]
    if isinstance(offset, bool) or not isinstance(offset, int) or not 0 <= offset <= buffer.nbytes or offset % size:
        raise ValueError(f"an array of {name} cannot begin at byte {offset!r} of {buffer.nbytes}")
    if shape is None:
        shape = ((buffer.nbytes - offset) // size,)
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    if any(isinstance(n, bool) or not isinstance(n, int) or n < 0 for n in sizes) or len(sizes) > 32:
        raise ValueError(f"{shape!r} is no shape")
    if math.prod(sizes) * size > buffer.nbytes - offset:
        raise ValueError(f"an array {sizes} of {name} from byte {offset} on does not fit into {buffer.nbytes} bytes")
    return Array(buffer, memory, name, sizes, offset)


__all__ = ["Array", "type_name"]
