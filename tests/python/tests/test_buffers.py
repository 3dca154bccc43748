# SPDX-License-Identifier: Apache-2.0
"""Buffers: memory of the host and of devices, sent to other processes; who keeps it, and what is refused."""

import copy
import ctypes
import fcntl
import gc
import multiprocessing
import os
import pickle
import socket
import struct
import tempfile
import unittest
import weakref
from typing import Any

import numpy

import sycld
from sycld import _cuda
from support import BUILD, WithService, descriptors, fork, mapped

PAGE = 4096
DRIVER = os.path.join(BUILD, "tests/fake_cuda/libcuda.so.1")


def passed(export: sycld.Export) -> sycld.Export:
    """The export, after it went over a Unix socket."""
    here, there = socket.socketpair()
    with here, there, export:
        export.send(here)
        return sycld.Export.receive(there)


def double(endpoint: str, address: str, on_device: bool) -> None:
    """A process of its own: opens the buffer that comes over the socket, and doubles its numbers."""
    with socket.socket(socket.AF_UNIX) as connection, sycld.Session(endpoint) as session:
        connection.connect(address)
        with sycld.Export.receive(connection) as export, sycld.open_export(export, session) as buffer:
            if on_device:
                numbers = numpy.frombuffer(buffer.read(), "uint32") * 2
                buffer.write(numbers)
            else:
                numpy.asarray(buffer.array("uint32"))[:] *= 2
        connection.sendall(b"done")


def doubled_elsewhere(endpoint: str, buffer: sycld.Buffer) -> None:
    """Let another process, which was not forked of this one, double the buffer's numbers."""
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.join(folder, "s"))
        listener.listen(1)
        listener.settimeout(60)
        other = multiprocessing.get_context("spawn").Process(
            target=double, args=(endpoint, os.path.join(folder, "s"), buffer.kind != "host")
        )
        other.start()
        connection, _ = listener.accept()
        with connection, buffer.export() as export:
            export.send(connection)
            said = connection.recv(4)
        other.join()
        if said != b"done" or other.exitcode != 0:
            raise AssertionError(f"the other process said {said!r}, and ended with {other.exitcode}")


class Host(WithService):
    def test_another_process_maps_the_same_memory(self) -> None:
        with sycld.create(PAGE) as buffer:
            mine = numpy.asarray(buffer.array("uint32"))
            mine[:] = numpy.arange(PAGE // 4)
            doubled_elsewhere(self.service.endpoint, buffer)
            self.assertTrue((mine == 2 * numpy.arange(PAGE // 4)).all())

    def test_send_fds_and_bytes_are_enough(self) -> None:
        here, there = socket.socketpair()
        with here, there, sycld.create(100) as buffer, buffer.export() as export:
            socket.send_fds(here, [export.to_bytes()], [export.fileno()])
            data, (descriptor,), _, _ = socket.recv_fds(there, 96, 1)
            with sycld.Export.from_bytes(data, descriptor) as came, sycld.open_export(came) as other:
                other.write(b"seven", 90)
            self.assertEqual(buffer.read(88), b"\0\0seven\0\0\0\0\0")

    def test_numpy_takes_it_without_a_copy(self) -> None:
        with sycld.create(PAGE) as buffer:
            view = buffer.array("float32", (4, 8), 64)
            ways = (numpy.asarray(view), numpy.from_dlpack(view), numpy.frombuffer(view.memoryview(), "float32").reshape(4, 8))
            for number, way in enumerate(ways):
                self.assertEqual((way.shape, way.dtype, way.ctypes.data), ((4, 8), numpy.float32, view.pointer))
                if number != 1:  # NumPy 1 makes read-only arrays of DLPack's
                    way[1, 2] = number + 1.5
                    self.assertEqual(struct.unpack("f", buffer.read(64 + 4 * 10, 4)), (number + 1.5,))
            self.assertEqual(view.__dlpack_device__(), (1, 0))
            self.assertFalse(hasattr(view, "__cuda_array_interface__"))
            for name in ("bool", "int8", "uint16", "int64", "float16", "float64", "complex64", "complex128"):
                with self.subTest(name):
                    self.assertEqual(numpy.asarray(buffer.array(name)).dtype, numpy.dtype(name))
                    self.assertEqual(buffer.array(numpy.dtype(name)).dtype, name)
                    self.assertEqual(buffer.array(getattr(numpy, name if name != "bool" else "bool_")).nbytes, PAGE)
            self.assertEqual(buffer.array("<u4").dtype, "uint32")
            self.assertEqual(numpy.asarray(buffer.array("int32", ())).shape, ())
            self.assertEqual(len(buffer.array("int32", 0)), 0)

    def test_arrays_keep_the_memory_and_nothing_else_does(self) -> None:
        before, files = mapped("sycld-buffer"), descriptors()
        for way in (numpy.asarray, numpy.from_dlpack, lambda view: numpy.frombuffer(view.memoryview(), "uint8")):
            buffer = sycld.create(PAGE)
            kept = way(buffer.array())
            buffer.write(b"\x09" * PAGE)
            buffer.close()
            buffer.close()
            del buffer
            gc.collect()
            self.assertEqual((int(kept.sum()), mapped("sycld-buffer")), (9 * PAGE, before + 1))
            del kept
            gc.collect()
            self.assertEqual(mapped("sycld-buffer"), before)
            self.assertEqual(descriptors(), files)

    def test_a_capsule_that_nobody_takes_keeps_nothing(self) -> None:
        before = mapped("sycld-buffer")
        buffer = sycld.create(PAGE)
        watched = weakref.ref(buffer._held)
        capsule = buffer.array().__dlpack__()
        del buffer
        gc.collect()
        self.assertIsNotNone(watched())
        try:
            int(capsule)  # the capsule must not lose an exception that is raised when it ends
        except TypeError:
            del capsule
        gc.collect()
        self.assertEqual((watched(), mapped("sycld-buffer")), (None, before))
        with self.assertRaises(TypeError):
            int(sycld.create(PAGE).array().__dlpack__())

    def test_dlpack_refuses_what_would_be_a_copy(self) -> None:
        view = sycld.create(64).array("int32")
        for wrong in ({"copy": True}, {"dl_device": (2, 0)}):
            with self.subTest(wrong), self.assertRaises(BufferError):
                view.__dlpack__(**wrong)
        for right in ({"copy": False}, {"dl_device": (1, 0)}, {"max_version": (1, 0)}, {"stream": None}):
            with self.subTest(right):
                self.assertIn("dltensor", repr(view.__dlpack__(**right)))

    def test_wrong_sizes_and_shapes_are_refused(self) -> None:
        for size in (0, -1, 1.5, "8", None, True, 1 << 63):
            with self.subTest(size), self.assertRaises(ValueError):
                sycld.create(size)
        with self.assertRaises((OSError, MemoryError)):
            sycld.create(1 << 61)
        buffer = sycld.create(100)
        for dtype in ("float31", "object", "str", object, None, 5, ">f4"):
            with self.subTest(dtype), self.assertRaises(TypeError):
                buffer.array(dtype)
        for shape, offset in (
            (26, 0),
            ((5, 6), 0),
            (25, 4),
            (-1, 0),
            ((2, -3), 0),
            (1.0, 0),
            ("ab", 0),
            (True, 0),
            (1, 1),
            (1, -4),
            (0, 104),
            ((1,) * 33, 0),
            (1 << 70, 0),
            (None, 2),
            (1, "0"),
        ):
            with self.subTest((shape, offset)), self.assertRaises((ValueError, TypeError)):
                buffer.array("float32", shape, offset)
        for offset, size in ((0, 101), (100, 1), (-1, 1), (0, -1), (1 << 70, 0)):
            with self.subTest((offset, size)), self.assertRaises(ValueError):
                buffer.read(offset, size)
        for data, offset in ((b"x", 100), (bytes(101), 0), (b"x", -1)):
            with self.subTest(offset), self.assertRaises(ValueError):
                buffer.write(data, offset)
        with self.assertRaises(TypeError):
            buffer.write("text")
        with self.assertRaises(TypeError):
            buffer.read(1.0)
        self.assertEqual(buffer.read(100), b"")
        buffer.write(b"", 100)
        buffer.close()
        for use in (buffer.array, buffer.read, buffer.export, lambda: buffer.write(b"1")):
            with self.assertRaisesRegex(sycld.ClosedError, "the buffer is closed"):
                use()

    def test_a_forked_child_shares_it(self) -> None:
        buffer = sycld.create(PAGE)
        mine = numpy.asarray(buffer.array())

        def child() -> None:
            mine[0] = 41
            buffer.write(b"\x2a", 1)
            buffer.close()

        self.assertEqual(fork(child), 0)
        self.assertEqual(buffer.read(0, 2), b"\x29\x2a")

    def test_a_processor_s_buffer_is_the_host_s_and_outlives_the_session(self) -> None:
        with sycld.Session(self.service.endpoint) as session:
            buffer = sycld.create(PAGE, session)
            self.assertEqual((buffer.kind, buffer.device), ("host", None))
            for kind in ("vmm", "cuda-ipc"):
                with self.subTest(kind), self.assertRaises(sycld.NotSupportedError):
                    sycld.create(PAGE, session, kind)
        buffer.write(b"still")
        self.assertEqual(buffer.read(0, 5), b"still")
        for kind in ("disk", "", "vmm"):
            with self.subTest(kind), self.assertRaises(ValueError):
                sycld.create(PAGE, None, kind)


class Hostile(unittest.TestCase):
    """What another process may send instead of a buffer."""

    def refused(self, data: bytes, files: "list[int]", error: Any = sycld.ProtocolError) -> None:
        before = descriptors()
        here, there = socket.socketpair()
        with here, there:
            sent = [os.dup(file) for file in files]
            socket.send_fds(here, [data], sent)
            for file in sent:
                os.close(file)
            here.shutdown(socket.SHUT_WR)
            with self.assertRaises(error):
                with sycld.Export.receive(there) as export:
                    sycld.open_export(export)
        self.assertEqual(descriptors(), before)

    def test_what_is_no_export_is_refused_and_closed(self) -> None:
        with sycld.create(PAGE) as buffer, buffer.export() as export, tempfile.TemporaryFile() as plain:
            good, file = export.to_bytes(), export.fileno()
            plain.truncate(PAGE)
            form = "<8sIIQQ64s"
            fields = list(struct.unpack(form, good))
            for place, values in {
                0: [b"sycldbug"],
                1: [0, 2],
                2: [0, 1000],
                3: [0, PAGE + 1, 1 << 63],
                4: [0, PAGE - 1, (1 << 62) + 1],
            }.items():
                for value in values:
                    with self.subTest((place, value)):
                        self.refused(struct.pack(form, *fields[:place], value, *fields[place + 1 :]), [file])
            larger = struct.pack(form, *fields[:3], 2 * PAGE, 2 * PAGE, fields[5])
            pipe, other_end = os.pipe()
            unsealed = os.memfd_create("unsealed", os.MFD_ALLOW_SEALING)
            os.ftruncate(unsealed, PAGE)
            self.refused(larger, [file])  # more than the memory has
            self.refused(good, [plain.fileno()])  # could be shrunk
            self.refused(good, [unsealed])  # could be shrunk
            self.refused(good, [pipe])
            self.refused(good, [])
            self.refused(good, [file, file])
            self.refused(good, [file] * 5)
            self.refused(struct.pack(form, *fields[:2], 2, *fields[3:]), [file])  # an IPC handle has no descriptor
            self.refused(good[:50], [file], EOFError)
            self.refused(b"x", [], EOFError)
            for each in (pipe, other_end, unsealed):
                os.close(each)

    def test_a_part_at_a_time_is_put_together(self) -> None:
        with sycld.create(PAGE) as buffer, buffer.export() as export:
            here, there = socket.socketpair()
            with here, there:
                socket.send_fds(here, [export.to_bytes()[:10]], [export.fileno()])
                here.sendall(export.to_bytes()[10:])
                with sycld.Export.receive(there) as came:
                    self.assertEqual((came.nbytes, came.kind), (PAGE, "host"))
                    self.assertFalse(os.get_inheritable(came.fileno()))

    def test_a_second_descriptor_is_refused_before_the_rest_comes(self) -> None:
        before = descriptors()
        with sycld.create(PAGE) as buffer, buffer.export() as export:
            here, there = socket.socketpair()
            with here, there:
                there.settimeout(10)
                for part in (export.to_bytes()[:1], export.to_bytes()[1:2]):
                    socket.send_fds(here, [part], [export.fileno()])
                with self.assertRaisesRegex(sycld.ProtocolError, "2 descriptors"):
                    sycld.Export.receive(there)
        self.assertEqual(descriptors(), before)

    def test_what_owns_a_descriptor_cannot_be_copied(self) -> None:
        with sycld.create(PAGE) as buffer, buffer.export() as export:
            for owner in (export, buffer._held):
                for make in (copy.copy, copy.deepcopy, pickle.dumps):
                    with self.subTest((owner, make)), self.assertRaises(TypeError):
                        make(owner)

    def test_nobody_can_shrink_what_was_made(self) -> None:
        with sycld.create(PAGE) as buffer, buffer.export() as export:
            for size in (0, PAGE - 1, PAGE + 1):
                with self.assertRaises(PermissionError):
                    os.ftruncate(export.fileno(), size)
            with self.assertRaises(PermissionError):
                fcntl.fcntl(export.fileno(), 1033, 8)

    def test_memory_that_may_not_be_written_is_refused(self) -> None:
        with sycld.create(PAGE) as buffer, buffer.export() as export:
            only_read = os.open(f"/proc/self/fd/{export.fileno()}", os.O_RDONLY)
            with self.assertRaises(PermissionError):
                sycld.open_export(sycld.Export.from_bytes(export.to_bytes(), only_read))

    def test_an_export_that_is_closed_is_said(self) -> None:
        with sycld.create(PAGE) as buffer:
            export = buffer.export()
            export.close()
            export.close()
            with self.assertRaises(sycld.ClosedError):
                sycld.open_export(export)
            for wrong in (b"", bytes(96), bytes(95), export.to_bytes()):
                with self.assertRaises(sycld.ProtocolError):
                    sycld.Export.from_bytes(wrong)
            with self.assertRaises(ValueError):
                sycld.open_export(sycld.Export("vmm", 1, PAGE, os.dup(0)))
        gc.collect()


@unittest.skipUnless(os.path.exists(DRIVER), "the build has no double of NVIDIA's driver")
class OnGpus(WithService):
    """Buffers of the service on a GPU, which is a double of NVIDIA's: exported, imported by another process, mapped, and ended."""

    configuration = f"[cuda]\nlibrary = {DRIVER}\n"

    def gpu(self, session: sycld.Session) -> sycld.Device:
        return [device for device in session.devices() if device.backend == "cuda"][0]

    def test_another_connection_has_the_same_buffer(self) -> None:
        with sycld.Session(self.service.endpoint) as session, sycld.Session(self.service.endpoint) as second:
            for kind in ("vmm", "cuda-ipc"):
                with self.subTest(kind), sycld.create(PAGE, self.gpu(session), kind) as buffer:
                    buffer.write(numpy.arange(PAGE // 4, dtype="uint32"))
                    with passed(buffer.export(60)) as export, sycld.open_export(export, self.gpu(second)) as other:
                        self.assertEqual((export.kind, export.nbytes), (kind, PAGE))
                        self.assertEqual(other.read(), buffer.read())
                        other.write(b"\xff\xff", 6)
                        self.assertEqual(buffer.read(4, 8), b"\x01\0\xff\xff\x02\0\0\0")

    def test_another_process_has_the_same_buffer(self) -> None:
        with sycld.Session(self.service.endpoint) as session:
            self.assertEqual(session.device.backend, "cuda")
            with sycld.create(PAGE, session) as buffer:
                buffer.write(numpy.arange(PAGE // 4, dtype="uint32"))
                doubled_elsewhere(self.service.endpoint, buffer)
                self.assertTrue((numpy.frombuffer(buffer.read(), "uint32") == 2 * numpy.arange(PAGE // 4)).all())

    def test_a_buffer_says_that_its_session_is_closed(self) -> None:
        session = sycld.Session(self.service.endpoint)
        buffer = sycld.create(PAGE, self.gpu(session))
        self.assertEqual(buffer.kind, "vmm")
        export = buffer.export()
        session.close()
        with self.assertRaisesRegex(sycld.ClosedError, "the buffer's session is closed"):
            buffer.read()
        for use in (buffer.export, buffer.array, lambda: buffer.write(b"1")):
            self.assertRaises(sycld.ClosedError, use)
        buffer.close()
        # The descriptor has kept the memory.
        with sycld.Session(self.service.endpoint) as second, export, sycld.open_export(export, self.gpu(second)) as other:
            self.assertEqual(len(other.read()), PAGE)

    def test_a_buffer_keeps_its_session_and_both_end(self) -> None:
        files = descriptors()
        buffer = sycld.create(PAGE, self.gpu(sycld.Session(self.service.endpoint)))
        gc.collect()
        self.assertEqual(len(buffer.read()), PAGE)
        del buffer
        gc.collect()
        self.assertEqual(descriptors(), files)

    def test_a_forked_child_gets_an_error(self) -> None:
        with sycld.Session(self.service.endpoint) as session, sycld.create(PAGE, self.gpu(session)) as buffer:

            def child() -> int:
                for use in (buffer.read, buffer.export, buffer.array, lambda: buffer.write(b"1")):
                    try:
                        use()
                        return 2
                    except sycld.ForkedError:
                        pass
                buffer.close()
                return 0

            self.assertEqual(fork(child), 0)
            self.assertEqual(len(buffer.read()), PAGE)

    def test_wrong_exports_are_refused_by_the_service(self) -> None:
        with sycld.Session(self.service.endpoint) as session, sycld.create(PAGE, self.gpu(session)) as buffer, buffer.export() as export:
            with self.assertRaises(ValueError):
                sycld.open_export(export)
            with open("/dev/null", "rb") as null:
                wrong = sycld.Export.from_bytes(export.to_bytes(), os.dup(null.fileno()))
            with wrong, self.assertRaises(sycld.InvalidError) as caught:
                sycld.open_export(wrong, self.gpu(session)).read()
            self.assertGreater(len(str(caught.exception)), len("SYCL_ERROR_INVALID"))
            with self.assertRaises(sycld.NotSupportedError):
                sycld.create(PAGE, self.gpu(session), "host")
            for timeout in (-1, float("nan"), float("inf")):
                with self.assertRaises(ValueError):
                    buffer.export(timeout)

    def test_what_a_device_cannot_hold_is_said(self) -> None:
        with sycld.Session(self.service.endpoint) as session, self.assertRaises(sycld.SyclError):
            sycld.create(1 << 61, self.gpu(session)).read(0, 1)

    def test_an_array_is_the_buffer_s_memory_in_this_process(self) -> None:
        with sycld.Session(self.service.endpoint) as session:
            for kind in ("vmm", "cuda-ipc"):
                with self.subTest(kind), sycld.create(PAGE, self.gpu(session), kind) as buffer:
                    buffer.write(numpy.arange(PAGE // 4, dtype="uint32"))
                    view = buffer.array("uint32", (2, 8), 64)
                    face = view.__cuda_array_interface__
                    self.assertEqual(
                        {**face, "data": None},
                        {"shape": (2, 8), "typestr": "<u4", "data": None, "strides": None, "stream": None, "version": 3},
                    )
                    self.assertEqual(face["data"], (view.pointer, False))
                    self.assertEqual(on_gpu(view.pointer, 64), bytes(numpy.arange(16, 32, dtype="uint32")))
                    self.assertFalse(hasattr(view, "__array_interface__"))
                    self.assertEqual(view.__dlpack_device__(), (2, 0))
                    self.assertRaises(BufferError, view.memoryview)
                    other = buffer.array("uint8")
                    self.assertEqual(other.pointer + 64, view.pointer, "the memory is mapped once")

    def test_a_capsule_has_the_gpu_s_number_and_pointer(self) -> None:
        with sycld.Session(self.service.endpoint) as session, sycld.create(PAGE, self.gpu(session)) as buffer:
            view = buffer.array("float32", (3, 4), 16)
            capsule = view.__dlpack__()
            get = ctypes.pythonapi.PyCapsule_GetPointer
            get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
            tensor = get(capsule, b"dltensor")
            self.assertEqual(ctypes.c_void_p.from_address(tensor).value, view.pointer)
            # The device's type and number, dimensions, and the type of elements: float of 32 bits.
            self.assertEqual(struct.unpack("iiiBBH", ctypes.string_at(tensor + 8, 16)), (2, 0, 2, 2, 32, 1))
            with self.assertRaises(BufferError):
                view.__dlpack__(dl_device=(1, 0))

    def test_a_mapping_ends_with_its_last_array(self) -> None:
        with sycld.Session(self.service.endpoint) as session:
            buffer = sycld.create(PAGE, self.gpu(session))
            buffer.write(b"\x05" * PAGE)
            view, capsule = buffer.array(), buffer.array().__dlpack__()
            mapping = weakref.ref(view._memory)
            buffer.close()
        self.assertEqual(on_gpu(view.pointer, 8), b"\x05" * 8, "it outlives the buffer and the session")
        pointer = view.pointer
        del buffer, view
        gc.collect()
        self.assertIsNotNone(mapping())
        del capsule
        gc.collect()
        self.assertIsNone(mapping())
        with self.assertRaises(sycld.DriverError):
            on_gpu(pointer, 8)

    def test_a_forked_child_gets_no_pointer(self) -> None:
        with sycld.Session(self.service.endpoint) as session, sycld.create(PAGE, self.gpu(session)) as buffer:
            view = buffer.array()

            def child() -> int:
                for use in (lambda: view.pointer, lambda: view.__cuda_array_interface__, view.__dlpack__):
                    try:
                        use()
                        return 2
                    except sycld.ForkedError:
                        pass
                return 0

            self.assertEqual(fork(child), 0)
            self.assertEqual(len(on_gpu(view.pointer, 8)), 8)

    def test_a_gpu_that_the_process_does_not_see_is_said(self) -> None:
        with sycld.Session(self.service.endpoint) as session, sycld.create(PAGE, self.gpu(session)) as buffer:
            buffer.device.uuid = bytes(16)
            with self.assertRaisesRegex(sycld.LibraryError, "not visible in this process"):
                buffer.array()


def on_gpu(pointer: int, size: int) -> bytes:
    """Bytes of the GPU's memory, copied by its driver in this process."""
    context = ctypes.c_void_p()
    data = ctypes.create_string_buffer(size)
    _cuda._call("DevicePrimaryCtxRetain", ctypes.byref(context), 0)
    try:
        with _cuda._current(context):
            code = _cuda._driver().cuMemcpyDtoH_v2(data, ctypes.c_uint64(pointer), ctypes.c_size_t(size))
    finally:
        _cuda._call("DevicePrimaryCtxRelease_v2", 0)
    if code != 0:
        raise sycld.DriverError("a copy failed", code)
    return data.raw


if __name__ == "__main__":
    unittest.main()
