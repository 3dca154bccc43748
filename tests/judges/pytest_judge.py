"""A plugin of pytest for pytest.sh. It adds a line for each test to the file JUDGE_RESULTS when it begins and when it ends, leaves out
tests that are in there, and lets a test that takes longer than JUDGE_LIMIT seconds end the process by SIGALRM. JUDGE_PART: regular
expression of the tests that are run."""
import os
import re
import signal

import pytest

RESULTS = os.environ["JUDGE_RESULTS"]
LIMIT = int(os.environ["JUDGE_LIMIT"])
PART = re.compile(os.environ.get("JUDGE_PART", ""))


def name_of(item):
    """The same on every device: without the names of device and platform."""
    name = re.sub(r"<context factory for <pyopencl\.Device '.*?' on '.*?'>>", "device", item.nodeid)
    name = re.sub(r"<pyopencl\.Platform '.*?'>", "platform", name)
    return re.sub(r"\s+", " ", name)


def add(item, result):
    with open(RESULTS, "a", encoding="utf-8") as file:
        file.write(f"{name_of(item)}\t{result}\n")


def pytest_collection_modifyitems(items):
    with open(RESULTS, "a+", encoding="utf-8") as file:
        file.seek(0)
        done = {line.split("\t")[0] for line in file}
    items[:] = [item for item in items if PART.search(name_of(item)) and name_of(item) not in done]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    add(item, "begins")
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(LIMIT)
    try:
        return (yield)
    finally:
        signal.alarm(0)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.when == "call" or report.outcome != "passed":
        add(item, {"passed": "pass", "failed": "fail", "skipped": "skip"}[report.outcome])
    return report
