"""For together.sh: starts COUNT programs of dpnp at once, and prints what they took: as JSON, in seconds and bytes.

together.py COUNT [PROCESS]   PROCESS: the service, whose memory and processor time are counted with its engines'

Each program imports dpnp and computes a sum of a million squares; that is its first result. When all have theirs, their memory is read, and they
end. Memory is PSS: pages that several processes map are divided among these. Processor time is that of all processes until then.
"""

import json
import os
import subprocess
import sys
import time

PROGRAM = """
import sys, time
import dpnp
imported = time.monotonic()
numbers = dpnp.arange(1000000, dtype="float32") / 1000000
result = float((numbers * numbers).sum())
first = time.monotonic()
print(imported, first, result, numbers.sycl_device.sycl_platform.name.startswith("sycld: "), flush=True)
sys.stdin.read()
"""
TICKS = os.sysconf("SC_CLK_TCK")


def pss(process):
    with open(f"/proc/{process}/smaps_rollup", encoding="ascii") as file:
        return 1024 * next(int(line.split()[1]) for line in file if line.startswith("Pss:"))


def seconds(process):
    with open(f"/proc/{process}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def family(process):
    """A process and all below it."""
    found = [process]
    for each in found:
        for task in os.listdir(f"/proc/{each}/task"):
            with open(f"/proc/{each}/task/{task}/children", encoding="ascii") as file:
                found += [int(child) for child in file.read().split()]
    return found


def total(function, processes):
    """The sum over processes; one that has ended meanwhile, such as a build, counts nothing."""
    values = []
    for process in processes:
        try:
            values.append(function(process))
        except (FileNotFoundError, ProcessLookupError):
            pass
    return sum(values)


def main(count, service):
    before = total(seconds, family(service)) if service else 0
    started = time.monotonic()
    programs = [subprocess.Popen([sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(count)]
    said = [program.stdout.readline().split() for program in programs]
    if any(len(words) != 4 or abs(float(words[2]) - 333333) > 50 or (words[3] == "True") != bool(service) for words in said):
        raise SystemExit(f"wrong results: {said}")
    own = [program.pid for program in programs]
    of_service = family(service) if service else []
    found = {
        "import": max(float(words[0]) for words in said) - started,
        "first": min(float(words[1]) for words in said) - started,
        "last": max(float(words[1]) for words in said) - started,
        "processor": total(seconds, own) + total(seconds, of_service) - before,
        "programs_pss": total(pss, own),
        "service_pss": total(pss, of_service),
    }
    for program in programs:
        program.stdin.close()
    if any(program.wait() != 0 for program in programs):
        raise SystemExit("a program failed at its end")
    print(json.dumps(found))


main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
