# SPDX-License-Identifier: Apache-2.0
"""A service for a test, in a folder of its own below /tmp. SYCLD_BUILD names the build."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from typing import Any, Callable, Optional

import sycld

BUILD = os.environ["SYCLD_BUILD"]
SOON = 60.0


def wait_until(what: str, condition: Callable[[], Any]) -> Any:
    """Wait for a condition, not for time to pass."""
    end = time.monotonic() + SOON
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"not in {SOON} s: {what}")
        time.sleep(0.01)


class Service:
    """sycld of this user, with PoCL, fake devices or the double of NVIDIA's driver."""

    def __init__(self, *options: str, configuration: str = "") -> None:
        self.folder = tempfile.mkdtemp(prefix="sycld-python.", dir="/tmp")
        self.runtime_dir = os.path.join(self.folder, "sycld")
        self.endpoint = f"unix:{self.runtime_dir}/session.sock"
        config = os.path.join(self.folder, "sycld.conf")
        with open(config, "w", encoding="utf-8") as file:
            file.write(configuration)
        self.log = open(os.path.join(self.folder, "log"), "w+", encoding="utf-8")
        words = [os.path.join(BUILD, "bin/sycld"), "--user", "--config", config, "--runtime-dir", self.runtime_dir]
        words += ["--cache-dir", os.path.join(self.folder, "cache"), *options]
        environment = {name: value for name, value in os.environ.items() if name not in ("SYCLD_ENDPOINT", "LD_LIBRARY_PATH")}
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env=environment)
        try:
            wait_until("the service answers", self._answers)
        except BaseException:
            self.end()
            raise

    def _answers(self) -> bool:
        if self.process.poll() is not None:
            self.log.seek(0)
            raise AssertionError(f"the service has ended: {self.log.read()}")
        try:
            return bool(sycld.status(self.runtime_dir))
        except sycld.NoServiceError:
            return False

    def kill(self) -> None:
        """End it as a crash would."""
        self.process.kill()
        self.process.wait()

    def end(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(SOON)
        except subprocess.TimeoutExpired:
            self.kill()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class WithService(unittest.TestCase):
    """Tests that share one service."""

    options: tuple[str, ...] = ()
    configuration = ""
    service: Service

    @classmethod
    def setUpClass(cls) -> None:
        cls.service = Service(*cls.options, configuration=cls.configuration)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.service.end()


def fork(function: Callable[[], Optional[int]]) -> int:
    """Run a function in a forked child, and return its exit status. 1: it raised something."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = function() or 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def descriptors() -> set[str]:
    """The open descriptors of this process, with what each is."""
    found = set()
    for name in os.listdir("/proc/self/fd"):
        try:
            found.add(f"{name} {os.readlink(f'/proc/self/fd/{name}')}")
        except OSError:
            pass  # the one of the listing
    return found


def mapped(name: str) -> int:
    """How many mappings of this process have this name."""
    with open("/proc/self/maps", encoding="utf-8") as file:
        return sum(name in line for line in file)
