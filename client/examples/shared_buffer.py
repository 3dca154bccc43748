#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Two programs work on one memory. The first one computes, writes the result into a buffer and sends the buffer's descriptor to the second one,
which doubles the numbers where they are.

shared_buffer.py WITH COMMAND...   the first one; WITH is dpnp or numpy. COMMAND is the second one, and gets a socket as its standard input
shared_buffer.py WITH              the second one; WITH is numpy, torch or cupy

On the host the buffer is memory that both map. On a GPU it is memory of the GPU, and both are programs of the same user.
"""

import socket
import subprocess
import sys

import sycld

N = 1000


def compute(name):
    """Square roots of 0 to N - 1, as bytes."""
    if name == "numpy":
        import numpy

        return numpy.sqrt(numpy.arange(N, dtype="float32"))
    import dpnp

    roots = dpnp.sqrt(dpnp.arange(N, dtype="float32"))
    print(f"computed on: {roots.sycl_device.sycl_platform.name}")
    return dpnp.asnumpy(roots)


def double(name, array):
    """Double the numbers in place, without a copy of them."""
    if name == "torch":
        import torch

        numbers = torch.from_dlpack(array) if array.on_host else torch.as_tensor(array, device="cuda")
        numbers.mul_(2)
        if not array.on_host:
            torch.cuda.synchronize()
    elif name == "cupy":
        import cupy

        cupy.asarray(array)[...] *= 2
        cupy.cuda.Device().synchronize()
    else:
        import numpy

        numpy.asarray(array)[...] *= 2


def first(name, command):
    roots = compute(name)
    here, there = socket.socketpair()
    with sycld.Session(name="first") as session, sycld.create(roots.nbytes, session) as buffer:
        print(f"a buffer of {buffer.nbytes} bytes on {session.device.name}: {buffer.kind}")
        buffer.write(roots)
        second = subprocess.Popen(command, stdin=there)
        there.close()
        with buffer.export() as export:
            export.send(here)
        if here.recv(4) != b"done" or second.wait() != 0:
            raise SystemExit("the second program failed")
        wrong = buffer.read() != (2 * roots).tobytes()
    print(f"{N} numbers doubled by another program, {'not' if wrong else 'all'} as they should be")
    return wrong


def second(name):
    connection = socket.socket(fileno=0)
    with sycld.Session(name="second") as session, sycld.Export.receive(connection) as export, sycld.open_export(export, session) as buffer:
        double(name, buffer.array("float32"))
    connection.sendall(b"done")
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    sys.exit(first(sys.argv[1], sys.argv[2:]) if len(sys.argv) > 2 else second(sys.argv[1]))
