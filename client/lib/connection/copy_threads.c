#include "connection/copy_threads.h"

#include "base/error.h"
#include "connection/copiers.h"

#include <errno.h>
#include <stdlib.h>

/* With fewer processors, copy threads would take time from the engine, and from a CPU device. */
#define PROCESSORS_MIN 4u
#define THREADS_MOST   4u

sycl_result copy_threads_wanted(uint32_t given, uint32_t *wanted_out)
{
	const char *text = secure_getenv("SYCLD_COPY_THREADS");
	if (given != SYCL_COPY_THREADS_NONE && given > COPIERS_MAX)
		return error_set(SYCL_ERROR_INVALID, "%u copy threads; at most %u are allowed",
				 given, COPIERS_MAX);
	*wanted_out = given == SYCL_COPY_THREADS_NONE ? 0
		      : given                         ? given
						      : COPY_THREADS_BY_PROCESSORS;
	if (given != 0 || !text || !*text)
		return SYCL_SUCCESS;
	char *end;
	errno = 0;
	unsigned long value = strtoul(text, &end, 10);
	if (errno || *end || *text < '0' || *text > '9' || value > COPIERS_MAX)
		return error_set(SYCL_ERROR_INVALID,
				 "SYCLD_COPY_THREADS in the environment is no number from 0 to %u",
				 COPIERS_MAX);
	*wanted_out = (uint32_t)value;
	return SYCL_SUCCESS;
}

uint32_t copy_threads_for(uint32_t processors)
{
	if (processors < PROCESSORS_MIN)
		return 0;
	return processors / 2 < THREADS_MOST ? processors / 2 : THREADS_MOST;
}
