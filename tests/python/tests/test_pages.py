# SPDX-License-Identifier: Apache-2.0
"""The page docs/python.md: each part that needs no download is run as it stands there. ../../judges/fresh.sh runs the others."""

import os
import re
import subprocess
import sys
import unittest

from support import BUILD, WithService

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
PAGE = os.path.join(TOP, "docs/python.md")


def block(heading: str, language: str) -> str:
    """The first block of a language under a heading."""
    with open(PAGE, encoding="utf-8") as file:
        part = re.split(r"^## ", file.read(), flags=re.MULTILINE)
    under = next(text for text in part if text.startswith(heading + "\n"))
    found = re.search(rf"^```{language}\n(.*?)^```$", under, re.MULTILINE | re.DOTALL)
    assert found is not None, f"no {language} under {heading}"
    return found[1]


class Page(WithService):
    def run_block(self, command: "list[str]") -> str:
        # The page's python3 is this one, and its service this test's, which is where a user's own would be.
        folder = os.path.dirname(sys.executable)
        environment = {**os.environ, "PATH": f"{folder}:{BUILD}/bin:{os.environ['PATH']}", "XDG_RUNTIME_DIR": self.service.folder}
        environment["SYCLD_ENDPOINT"] = self.service.endpoint
        done = subprocess.run(command, cwd=TOP, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def test_status_and_accounts(self) -> None:
        said = self.run_block([sys.executable, "-c", block("Status and accounts", "python")])
        self.assertIn("0.1.0\n", said)
        self.assertRegex(said, r"(?m)^share_max 100 default$|^objects \d+ default$")

    def test_a_session(self) -> None:
        self.assertRegex(self.run_block([sys.executable, "-c", block("A session", "python")]), r"^\d+ latency 300 \{'groups_submitted': 0")

    def test_shared_buffers(self) -> None:
        said = self.run_block(["sh", "-e", "-c", block("Shared buffers", "sh")])
        self.assertIn("1000 numbers doubled by another program, all as they should be\n", said)


if __name__ == "__main__":
    unittest.main()
