/* The preludes that go before a portable source: one per language that it is compiled as. */
#ifndef SYCL_BACKENDS_PORTABLE_PRELUDE_H
#define SYCL_BACKENDS_PORTABLE_PRELUDE_H

/* portable_opencl.cl and portable_cuda.cu, made strings by the build; the second one where the CUDA
 * backend is built. */
extern const char portable_prelude_opencl[];
extern const char portable_prelude_cuda[];
/* The same way: cuda/translate/builtins.cl. */
extern const char cuda_translate_builtins[];

#endif
