#include "base/session_rank.h"

#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const class_names[] = {
	[SYCL_SESSION_CLASS_LATENCY] = "latency",
	[SYCL_SESSION_CLASS_NORMAL] = "normal",
	[SYCL_SESSION_CLASS_BEST_EFFORT] = "best-effort",
};

sycl_result session_class_wanted(uint32_t given, uint32_t *class_out)
{
	const char *text = secure_getenv("SYCLD_CLASS");
	if (given > SYCL_SESSION_CLASS_BEST_EFFORT)
		return error_set(SYCL_ERROR_INVALID, "there is no session class %u", given);
	*class_out = given;
	if (given != SYCL_SESSION_CLASS_DEFAULT || !text || !*text)
		return SYCL_SUCCESS;
	for (uint32_t i = SYCL_SESSION_CLASS_LATENCY; i <= SYCL_SESSION_CLASS_BEST_EFFORT; i++)
		if (strcmp(text, class_names[i]) == 0)
			*class_out = i;
	if (*class_out == SYCL_SESSION_CLASS_DEFAULT)
		return error_set(
			SYCL_ERROR_INVALID,
			"SYCLD_CLASS in the environment is none of latency, normal and best-effort");
	return SYCL_SUCCESS;
}

sycl_result session_weight_wanted(uint32_t given, uint32_t *weight_out)
{
	const char *text = secure_getenv("SYCLD_WEIGHT");
	if (given > SESSION_WEIGHT_MAX)
		return error_set(SYCL_ERROR_INVALID, "a weight of %u; at most %u is allowed", given,
				 SESSION_WEIGHT_MAX);
	*weight_out = given;
	if (given != 0 || !text || !*text)
		return SYCL_SUCCESS;
	char *end;
	errno = 0;
	unsigned long value = strtoul(text, &end, 10);
	if (errno || *end || *text < '0' || *text > '9' || value < 1 || value > SESSION_WEIGHT_MAX)
		return error_set(SYCL_ERROR_INVALID,
				 "SYCLD_WEIGHT in the environment is no number from 1 to %u",
				 SESSION_WEIGHT_MAX);
	*weight_out = (uint32_t)value;
	return SYCL_SUCCESS;
}
