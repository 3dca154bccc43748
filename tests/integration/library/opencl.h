/* Common parts of the files of client_opencl: a connection with the engine in this process, and
 * objects of OpenCL that the test itself makes. */
#ifndef SYCL_TESTS_CLIENT_OPENCL_H
#define SYCL_TESTS_CLIENT_OPENCL_H

#include "syclclient.h"
#include "syclclient/opencl.h"

#include <sched.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

enum { N = 1024, BYTES = N * (int)sizeof(uint32_t) };

#define MUST(call)                                                                                 \
	do {                                                                                       \
		sycl_result must_ = (call);                                                        \
		cr_assert(eq(int, must_, 0), "%s: %s: %s\n%s", #call, sycl_result_name(must_),     \
			  sycl_get_last_error_text(), sycl_get_build_log());                       \
	} while (0)

#define CL(call)                                                                                   \
	do {                                                                                       \
		cl_int cl_ = (call);                                                               \
		cr_assert(eq(int, cl_, CL_SUCCESS), "%s", #call);                                  \
	} while (0)

#define FAILS(call, code)                                                                          \
	cr_assert(eq(int, (call), (code)), "%s: %s", #call, sycl_get_last_error_text())

/* The library's objects, of the device that opencl_device chooses. */
extern sycl_platform platform;
extern sycl_device device;
/* OpenCL's objects, of the same device. The test makes them. */
extern cl_platform_id cl_platform_of_test;
extern cl_device_id cl_device_of_test;
extern cl_context cl_context_of_test;
extern cl_command_queue cl_queue_of_test;

/* For .init and .fini. At the end only the test may have references to OpenCL's context and
 * queue. */
void with_opencl(void);
void without_opencl(void);

/* Another connection's device: the GPU's if NVIDIA's driver is tested, otherwise the processor's,
 * which every machine has. */
sycl_device opencl_device(sycl_platform of);

/* A context of the library over OpenCL's, and an in-order queue in it. */
sycl_context native_context(void);
sycl_queue queue_in(sycl_context context);

cl_mem memory_of(const uint32_t *words, uint32_t count);
/* Reads all words of a memory object by OpenCL itself. */
void read_memory(cl_mem memory, uint32_t *words, uint32_t count);
cl_program program_of(const char *source, const char *options);
cl_event user_event(void);

/* The kernel adds 1 to each of N words. */
sycl_kernel opencl_increment_kernel(sycl_queue queue);
/* A buffer of N words without host memory, filled with 0. */
sycl_buffer opencl_zeros(sycl_queue queue);
/* Expects that each word of the buffer has this value. */
void opencl_expect_words(sycl_buffer buffer, uint32_t value);

/* A released object is freed when its device's thread and the driver's threads have released it.
 * Makes round trips until then, within ten seconds. */
#define LET_GO(query, object, wanted) LET_GO_BY(round_trip, query, object, wanted)
/* The same if there is no connection any more. */
#define LET_GO_ALONE(query, object, wanted) LET_GO_BY(sched_yield, query, object, wanted)
#define LET_GO_BY(passes, query, object, wanted)                                                   \
	do {                                                                                       \
		uint64_t end_ns_ = now_ns() + 10000000000u;                                        \
		while (query(object) != (wanted) && now_ns() < end_ns_)                            \
			(void)passes();                                                            \
		cr_assert(eq(u32, query(object), (wanted)), "%s", #object);                        \
	} while (0)
uint64_t now_ns(void);
void round_trip(void);

#endif
