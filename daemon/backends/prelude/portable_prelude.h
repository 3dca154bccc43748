/* The preludes that go before a portable source: one per language that it is compiled as. */
#ifndef SYCL_BACKENDS_PORTABLE_PRELUDE_H
#define SYCL_BACKENDS_PORTABLE_PRELUDE_H

/* portable_opencl.cl, made a string by the build. */
extern const char portable_prelude_opencl[];

#endif
