/*
 * CUPTI, NVIDIA's library for tools: it has the times of kernels by the device's own clock. It is
 * opened at run time, when a trace with exact times begins. The types here replace its headers, of
 * CUDA 12 and 13; tests/unit/cuda/activity.c compares them.
 */
#ifndef SYCL_BACKENDS_CUDA_CUPTI_H
#define SYCL_BACKENDS_CUDA_CUPTI_H

#include "backend.h"

/* Numbers of the library. */
enum {
	CUPTI_DONE = 0,
	CUPTI_ANOTHER_TOOL = 39,   /* the process has a tool already */
	CUPTI_KERNEL_RECORDS = 10, /* records of kernels, which may overlap */
	CUPTI_DRIVER_CALLS = 1,    /* the domain of the driver's functions */
	CUPTI_CALL_BEGINS = 0,
	CUPTI_LAUNCH_KERNEL = 307,
	CUPTI_LAUNCH_KERNEL_EX = 652,
	CUPTI_FLUSH_FORCED = 1,
};

/* What the library passes when a function of the driver is called. */
struct cuda_cupti_call {
	uint32_t site, unused;
	uint64_t unused_too[7];
	uint32_t correlation;
};

/* A record begins with its kind. The later members of a kernel's are not used. */
struct cuda_cupti_kernel {
	uint32_t kind, unused[3];
	uint64_t start_ns, end_ns; /* 0: not known */
	uint32_t unused_too[15];
	uint32_t correlation;
};

typedef void cuda_cupti_on_call(void *context, int domain, uint32_t function, const void *call);
typedef void cuda_cupti_on_request(uint8_t **buffer, size_t *bytes, size_t *records_most);
typedef void cuda_cupti_on_full(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
				size_t valid_bytes);
typedef uint64_t cuda_cupti_clock(void);

#define CUDA_CUPTI_FUNCTIONS(F)                                                                    \
	F(GetVersion, (uint32_t * version))                                                        \
	F(GetResultString, (int result, const char **text))                                        \
	F(Subscribe, (void **subscriber, cuda_cupti_on_call *on_call, void *context))              \
	F(Unsubscribe, (void *subscriber))                                                         \
	F(EnableCallback, (uint32_t enable, void *subscriber, int domain, uint32_t function))      \
	F(ActivityRegisterCallbacks,                                                               \
	  (cuda_cupti_on_request * on_request, cuda_cupti_on_full * on_full))                      \
	F(ActivityRegisterTimestampCallback, (cuda_cupti_clock * clock))                           \
	F(ActivityEnable, (int kind))                                                              \
	F(ActivityDisable, (int kind))                                                             \
	F(ActivityFlushAll, (uint32_t flag))                                                       \
	F(ActivityGetNextRecord, (uint8_t * buffer, size_t valid_bytes, void **record))

struct cuda_cupti {
	void *handle; /* never closed: the library starts threads */
	uint32_t version;
#define CUDA_CUPTI_MEMBER(name, parameters)                                                        \
	int(*name) parameters; /* NOLINT(bugprone-macro-parentheses) */
	CUDA_CUPTI_FUNCTIONS(CUDA_CUPTI_MEMBER)
#undef CUDA_CUPTI_MEMBER
};

/*
 * `name`: NULL for the usual names. -EOPNOTSUPP and a sentence: it is not installed, or lacks a
 * function. May take a tenth of a second.
 */
int cuda_cupti_open(const char *name, struct cuda_cupti *cupti_out,
		    struct backend_fault *fault_out);

#endif
