# SPDX-License-Identifier: Apache-2.0
"""Sessions: classes, weights, devices, ends."""

import gc
import os
import threading
import unittest

import sycld
from support import Service, WithService, descriptors, fork


class Sessions(WithService):
    def test_a_class_and_a_weight_are_given(self) -> None:
        with sycld.Session(self.service.endpoint, name="ranked", session_class="best-effort", weight=7) as session:
            self.assertEqual((session.session_class, session.weight), ("best-effort", 7))
            shown = [each for each in sycld.sessions(session.runtime_dir) if each["id"] == session.number]
            self.assertEqual([(each["class"], each["weight"], each["command"]) for each in shown], [("best-effort", 7, "ranked")])
            self.assertEqual(session.endpoint, self.service.endpoint)
        with sycld.Session(self.service.endpoint) as session:
            self.assertEqual((session.session_class, session.weight), ("normal", 100))

    def test_devices_and_usage_are_told(self) -> None:
        with sycld.Session(self.service.endpoint) as session:
            devices = session.devices()
            self.assertEqual([device.name for device in devices], [each["name"] for each in sycld.devices(session.runtime_dir)])
            self.assertIn(session.device.name, [device.name for device in devices])
            self.assertTrue(devices[0].is_on_host)
            self.assertGreater(devices[0].memory_bytes, 0)
            self.assertEqual(len(devices[0].uuid), 16)
            self.assertEqual(session.usage()["groups_submitted"], 0)

    def test_wrong_arguments_are_refused(self) -> None:
        for wrong in (
            {"session_class": "first"},
            {"session_class": ""},
            {"weight": 0},
            {"weight": 1001},
            {"timeout": 0},
            {"timeout": float("inf")},
            {"timeout": float("nan")},
            {"name": "a\0b"},
            {"name": b"bytes"},
        ):
            with self.subTest(wrong), self.assertRaises(ValueError):
                sycld.Session(self.service.endpoint, **wrong)
        for endpoint, kind in (("tcp:1", sycld.InvalidError), ("unix:/nowhere/socket", sycld.ConnectionLostError), (5, ValueError)):
            with self.subTest(endpoint), self.assertRaises(kind) as caught:
                sycld.Session(endpoint)
            if isinstance(caught.exception, sycld.SyclError):
                self.assertLess(caught.exception.result, 0)
                self.assertIn(caught.exception.name, str(caught.exception))

    def test_a_session_ends_once_and_with_all_of_it(self) -> None:
        before = descriptors()
        session = sycld.Session(self.service.endpoint)
        device = session.device
        session.close()
        session.close()
        for use in (session.usage, session.devices, lambda: session.number, lambda: session.device, lambda: sycld.create(1, session)):
            with self.assertRaisesRegex(sycld.ClosedError, "the session is closed"):
                use()
        with self.assertRaises(sycld.ClosedError):
            device._handle()
        self.assertIn("closed", repr(session))
        self.assertEqual(descriptors(), before)

    def test_the_last_reference_ends_a_session(self) -> None:
        before = descriptors()
        session = sycld.Session(self.service.endpoint)
        session.devices()
        del session
        gc.collect()
        self.assertEqual(descriptors(), before)

    def test_a_forked_child_gets_an_error_and_may_open_its_own(self) -> None:
        with sycld.Session(self.service.endpoint) as session:
            device = session.device

            def child() -> int:
                for use in (session.usage, device._handle, lambda: session.number):
                    try:
                        use()
                        return 2
                    except sycld.ForkedError as error:
                        if "parent" not in str(error) or error.name != "SYCL_ERROR_FORKED":
                            return 3
                session.close()
                with sycld.Session(self.service.endpoint) as own:
                    return 0 if own.number != 0 else 4

            self.assertEqual(fork(child), 0)
            self.assertGreaterEqual(session.number, 1)
            session.usage()

    def test_threads_may_use_and_close_it(self) -> None:
        session = sycld.Session(self.service.endpoint)
        wrong = []

        def work() -> None:
            try:
                while True:
                    session.usage()
            except sycld.ClosedError:
                return
            except sycld.InvalidError as error:  # the handle was released between the check and the call
                wrong.extend([] if error.result == -37 else [error])
            except Exception as error:  # noqa: BLE001
                wrong.append(error)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(100):
            session.usage()
        session.close()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class Ends(unittest.TestCase):
    def test_a_service_that_ends_is_said(self) -> None:
        service = Service()
        try:
            session = sycld.Session(service.endpoint)
            session.devices()
            engine = [each["engine_pid"] for each in sycld.sessions(service.runtime_dir)][0]
            os.kill(engine, 9)
            with self.assertRaises((sycld.DeviceLostError, sycld.ConnectionLostError)) as caught:
                while True:
                    session.usage()
            self.assertIsInstance(caught.exception, sycld.SyclError)
            session.close()
            service.kill()
            with self.assertRaises(sycld.NoServiceError):
                sycld.status(service.runtime_dir)
            with self.assertRaises(ConnectionError):
                sycld.Session(service.endpoint)
        finally:
            service.end()


if __name__ == "__main__":
    unittest.main()
