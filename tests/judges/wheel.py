"""For loaders.sh: lists the platforms of the loader in pyopencl's wheel, and runs a kernel on the first one."""
import sys

import numpy
import pyopencl

platforms = [(p.name, len(p.get_devices())) for p in pyopencl.get_platforms()]
print(platforms)
if sys.argv[1] == "list":
    sys.exit(not platforms or min(count for _, count in platforms) == 0)
context = pyopencl.Context(pyopencl.get_platforms()[0].get_devices()[:1])
queue = pyopencl.CommandQueue(context)
words = numpy.arange(1000, dtype=numpy.uint32)
buffer = pyopencl.Buffer(context, pyopencl.mem_flags.COPY_HOST_PTR, hostbuf=words)
program = pyopencl.Program(context, "kernel void twice(global uint *x) { x[get_global_id(0)] *= 2; }").build()
program.twice(queue, words.shape, None, buffer)
result = numpy.empty_like(words)
pyopencl.enqueue_copy(queue, result, buffer)
sys.exit(not (result == 2 * words).all())
