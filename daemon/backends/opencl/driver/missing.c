#include "opencl/driver/missing.h"

#include <stddef.h>
#include <string.h>

const char *opencl_missing(const char *log)
{
	/* Names of the prelude (portable_opencl.cl), and clang's messages about OpenCL C. */
	static const struct {
		const char *sign, *words;
	} all[] = {
		{"sycl_the_device_has_no_fp16_", "half precision"},
		{"sycl_the_device_has_no_fp64_", "double precision"},
		{"sycl_the_device_has_no_atomic64_", "atomics of 64 bits"},
		{"sycl_the_device_has_no_sub_groups_", "sub-groups"},
		{"requires cl_khr_fp16", "half precision"},
		{"requires cl_khr_fp64", "double precision"},
		{"declaring variable of type 'half' is not allowed", "half precision"},
		{"declaring variable of type '__private half' is not allowed", "half precision"},
	};

	for (size_t i = 0; log && i < sizeof(all) / sizeof(*all); i++)
		if (strstr(log, all[i].sign))
			return all[i].words;
	return NULL;
}
