"""y <- a * x + y by OpenCL, in the service. Of sycld it knows nothing but the platform's name."""
import numpy
import pyopencl

SOURCE = """
kernel void saxpy(global const float *x, global float *y, float a)
{
    size_t i = get_global_id(0);
    y[i] += a * x[i];
}
"""

platform = next(p for p in pyopencl.get_platforms() if p.name.startswith("sycld: "))
context = pyopencl.Context(platform.get_devices()[:1])
queue = pyopencl.CommandQueue(context)
program = pyopencl.Program(context, SOURCE).build()

x = numpy.arange(1000, dtype=numpy.float32)
y = numpy.ones(1000, dtype=numpy.float32)
flags = pyopencl.mem_flags
x_buffer = pyopencl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=x)
y_buffer = pyopencl.Buffer(context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=y)
program.saxpy(queue, (1000,), None, x_buffer, y_buffer, numpy.float32(2))
pyopencl.enqueue_copy(queue, y, y_buffer)

print("y[999] =", y[999])
assert (y == 2 * x + 1).all()
