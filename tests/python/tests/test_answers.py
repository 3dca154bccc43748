# SPDX-License-Identifier: Apache-2.0
"""The questions: the package and syclctl say the same, and no answer of another process is trusted."""

import contextlib
import json
import os
import socket
import struct
import subprocess
import tempfile
import threading
import unittest
from typing import Any, Optional

import sycld
from sycld import _ask, _protobuf
from support import BUILD, WithService, fork

#: What changes from one question to the next.
MOVES = ("uptime_seconds", "age_seconds", "window_seconds", "running_seconds", "resident_bytes", "descriptors", "mappings", "wakes_sent")


def still(answer: Any) -> Any:
    """The answer, with what moves only named."""
    if isinstance(answer, dict):
        return {key: type(value).__name__ if key in MOVES else still(value) for key, value in answer.items()}
    return [still(each) for each in answer] if isinstance(answer, list) else answer


class Answers(WithService):
    def syclctl(self, *words: str) -> Any:
        command = [os.path.join(BUILD, "bin/syclctl"), "--json", "--runtime-dir", self.service.runtime_dir, *words]
        return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)

    def test_all_say_what_syclctl_says(self) -> None:
        folder = self.service.runtime_dir
        with sycld.Session(self.service.endpoint, name="the test") as session:
            session.devices()
            pairs = (
                (sycld.devices(folder), self.syclctl("devices")["devices"]),
                (sycld.status(folder), self.syclctl("status")),
                (sycld.sessions(folder), self.syclctl("sessions")["sessions"]),
                (sycld.limits(folder), self.syclctl("limits")["limits"]),
                (sycld.jobs(folder), self.syclctl("jobs")["jobs"]),
                (sycld.accounts(runtime_dir=folder), self.syclctl("accounts")["accounts"]),
                (
                    sycld.accounts(("uid", "device", "session"), runtime_dir=folder),
                    self.syclctl("accounts", "--by", "uid,device,session")["accounts"],
                ),
            )
            for ours, theirs in pairs:
                self.assertEqual(still(ours), still(theirs))
                self.assertEqual(json.dumps(still(ours)), json.dumps(still(theirs)), "the order of the keys")
            mine = [each for each in sycld.sessions(folder) if each["id"] == session.number]
            self.assertEqual([(each["pid"], each["command"]) for each in mine], [(os.getpid(), "the test")])

    def test_accounts_can_be_chosen(self) -> None:
        folder = self.service.runtime_dir
        self.assertEqual(sycld.accounts(uid=12345, runtime_dir=folder), [])
        self.assertEqual(sycld.accounts("device", device="opencl:7", runtime_dir=folder), [])
        for wrong in (
            {"by": "user"},
            {"by": ("uid", "colour")},
            {"device": "opencl"},
            {"device": "opencl:-1"},
            {"device": "disk:0"},
            {"device": "cuda:4294967296"},
            {"device": "cuda:\u0663"},
            {"uid": -1},
            {"job": 1 << 64},
        ):
            with self.subTest(wrong), self.assertRaises(ValueError):
                sycld.accounts(runtime_dir=folder, **wrong)

    def test_a_forked_child_may_ask(self) -> None:
        sycld.status(self.service.runtime_dir)
        self.assertEqual(fork(lambda: 0 if sycld.status(self.service.runtime_dir)["service"]["pid"] == self.service.process.pid else 2), 0)

    def test_the_service_of_the_sessions_is_asked(self) -> None:
        os.environ["SYCLD_ENDPOINT"] = self.service.endpoint
        try:
            self.assertEqual(sycld.status()["service"]["pid"], self.service.process.pid)
            with sycld.Session() as session:
                self.assertEqual(session.endpoint, self.service.endpoint)
        finally:
            del os.environ["SYCLD_ENDPOINT"]

    def test_no_service_and_a_wrong_limit_are_said(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(sycld.NoServiceError, f"no service runs .looked in {folder}"):
                sycld.status(folder)
        for timeout in (0, -1.0, float("nan")):
            with self.subTest(timeout), self.assertRaises(ValueError):
                sycld.status(self.service.runtime_dir, timeout=timeout)


class Impostor:
    """A socket that is called as the service's, with the answer to every request. None: never answers."""

    def __init__(self, answer: Optional[bytes]) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(os.path.join(self.folder.name, "status.sock"))
        self.socket.listen(1)
        self.answer = answer
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self) -> None:
        connection, _ = self.socket.accept()
        with connection, contextlib.suppress(ConnectionError):
            connection.recv(4096)
            if self.answer is not None:
                connection.sendall(self.answer)
            while connection.recv(4096):
                pass

    def __enter__(self) -> str:
        return self.folder.name

    def __exit__(self, *_: object) -> None:
        self.socket.close()
        self.thread.join()
        self.folder.cleanup()


GREETING = struct.pack(">4sHH", b"\0SP\0", 0x31, 0)


def framed(body: bytes, number: int = 0x80000001) -> bytes:
    return GREETING + struct.pack(">BQI", 1, len(body) + 4, number) + body


class Impostors(unittest.TestCase):
    def test_what_is_no_service_is_refused(self) -> None:
        for name, answer in {
            "another protocol": struct.pack(">4sHH", b"\0SP\0", 0x30, 0),
            "no greeting": b"HTTP/1.1 200 OK\r\n",
            "a message of 2^60 bytes": GREETING + struct.pack(">BQ", 1, 1 << 60),
            "a message without a number": GREETING + struct.pack(">BQ", 1, 3) + b"abc",
            "an answer to another request": framed(b"", 0x80000002),
            "a field beyond the end": framed(b"\x12\x7f"),
            "a number without an end": framed(b"\x12" + b"\xff" * 11),
            "a field of an unknown type": framed(b"\x13"),
            "a number for a message": framed(b"\x10\x01"),
            "bytes for a number": framed(b"\x12\x03\x0a\x01x"),
            "bytes for a word": framed(b"\x12\x03\x3a\x01x"),
            "bytes for a yes or no": framed(b"\x12\x02\x52\x00"),
            "four bytes for a number": framed(b"\x12\x05\x0d1234"),
            "a time beyond the calendar": framed(_protobuf.pack("AdminReply", {"service": {"since_unix_seconds": (1 << 64) - 1}})),
        }.items():
            with self.subTest(name), Impostor(answer) as folder, self.assertRaises(sycld.ProtocolError):
                sycld.status(folder, timeout=20)
        for name, answer in {"silence": None, "half an answer": framed(b"x" * 100)[:40]}.items():
            with self.subTest(name), Impostor(answer) as folder, self.assertRaisesRegex(sycld.NoServiceError, "does not answer"):
                sycld.status(folder, timeout=0.3)

    def test_an_error_is_the_service_s(self) -> None:
        status = _protobuf.pack("AdminReply", {"error": {"code": 7, "text": "not today"}})
        with Impostor(framed(status)) as folder, self.assertRaisesRegex(sycld.RequestError, "the service says: not today"):
            sycld.sessions(folder)

    def test_unknown_fields_and_values_of_a_later_service_are_passed_over(self) -> None:
        session = _protobuf.pack("SessionFacts", {"session": 9, "phase": 77}) + b"\xfa\x7f\x03abc" + b"\xf5\x7f1234"
        body = _protobuf.pack_number(5 << 3 | 2) + _protobuf.pack_number(len(session)) + session
        with Impostor(framed(body + _protobuf.pack("AdminReply", {"service": {"pid": 1}}))) as folder:
            found = sycld.sessions(folder)
        self.assertEqual([(each["id"], each["state"]) for each in found], [(9, "unknown")])

    def test_numbers_are_cut_to_their_type(self) -> None:
        facts = _protobuf.unpack("Status", _protobuf.pack("Status", {"code": (1 << 64) - 5}))
        self.assertEqual(facts["code"], -5)
        with self.assertRaises(sycld.ProtocolError):
            _protobuf.unpack("AdminReply", b"", 17)

    def test_the_folder_of_a_user_is_the_library_s(self) -> None:
        keep = dict(os.environ)
        try:
            os.environ["XDG_RUNTIME_DIR"] = "/tmp"
            self.assertEqual(_ask.user_runtime_path(), "/tmp/sycld")
            os.environ["XDG_RUNTIME_DIR"] = "relative"
            self.assertIn(_ask.user_runtime_path(), (f"/tmp/sycld-{os.geteuid()}", os.path.expanduser("~/.local/state/sycld")))
        finally:
            os.environ.clear()
            os.environ.update(keep)


if __name__ == "__main__":
    unittest.main()
