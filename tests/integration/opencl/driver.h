/* Common parts of the tests of the OpenCL driver: a private service, OpenCL's loader with the
 * driver alone, and one device. */
#ifndef SYCL_TESTS_OPENCL_DRIVER_H
#define SYCL_TESTS_OPENCL_DRIVER_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdbool.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define CL(call)                                                                                   \
	do {                                                                                       \
		cl_int cl_ = (call);                                                               \
		cr_assert(eq(int, cl_, CL_SUCCESS), "%s", #call);                                  \
	} while (0)
#define REFUSES(call, code) cr_assert(eq(int, (call), (code)), "%s", #call)

enum { WORDS = 1024, WORD_BYTES = WORDS * (int)sizeof(cl_uint) };

extern cl_platform_id cl_platform;
extern cl_device_id cl_device;
extern cl_context cl_context_made;
extern cl_command_queue cl_queue; /* in order, with profiling */

/* For .init and .fini. */
void with_driver(void);
void without_driver(void);
/* The same, and the service's engine has a loader that finds PoCL and the driver. */
void with_driver_for_all(void);
/* The service that these started. */
struct private_service *driver_service(void);

/* True if the device is CUDA's: the double's, or a GPU. */
bool driver_is_cuda(void);
/* True if the service has no compiler, and only what was kept can be built. */
bool driver_has_kept_only(void);
#define SKIP_ON_CUDA(why)                                                                          \
	do {                                                                                       \
		if (driver_is_cuda())                                                              \
			cr_skip_test("a CUDA device %s", why);                                     \
	} while (0)

cl_command_queue out_of_order_queue(void);
cl_mem buffer_of(const cl_uint *words); /* NULL: without contents */
void read_words(cl_mem buffer, cl_uint *words);
cl_program built_program(const char *source);
cl_kernel kernel_of(const char *source, const char *name);

#endif
