/* Each thread's last failure is thread-local, so reading it needs no lock and no connection. */
#include "base/error.h"

#include "status.h"
#include "syclclient/kernel.h"

#include <assert.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The protocol's codes equal the public ones, so no translation is needed. */
#define SAME_CODE(name)                                                                            \
	static_assert((int)STATUS_##name == (int)SYCL_ERROR_##name,                                \
		      "shared/status.h and result.h differ")
static_assert((int)STATUS_SUCCESS == (int)SYCL_SUCCESS, "shared/status.h and result.h differ");
SAME_CODE(RUNTIME);
SAME_CODE(KERNEL);
SAME_CODE(ACCESSOR);
SAME_CODE(ND_RANGE);
SAME_CODE(EVENT);
SAME_CODE(KERNEL_ARGUMENT);
SAME_CODE(BUILD);
SAME_CODE(INVALID);
SAME_CODE(MEMORY_ALLOCATION);
SAME_CODE(PLATFORM);
SAME_CODE(PROFILING);
SAME_CODE(FEATURE_NOT_SUPPORTED);
SAME_CODE(KERNEL_NOT_SUPPORTED);
SAME_CODE(BACKEND_MISMATCH);
SAME_CODE(CONNECTION_LOST);
SAME_CODE(DEVICE_LOST);
SAME_CODE(QUOTA);
SAME_CODE(TIMEOUT);
SAME_CODE(VERSION);
SAME_CODE(INVALID_HANDLE);
SAME_CODE(DEPENDENCY_FAILED);
SAME_CODE(FORKED);

static _Thread_local struct failure last;

/* A log takes up to 48 KiB, too much for every thread of the program. It is freed when its thread
 * ends. */
static pthread_key_t log_key;
static int log_key_made;

__attribute__((constructor)) static void log_key_make(void)
{
	log_key_made = pthread_key_create(&log_key, free) == 0;
}

__attribute__((destructor)) static void log_key_delete(void)
{
	if (!log_key_made)
		return;
	free(pthread_getspecific(log_key));
	(void)pthread_key_delete(log_key);
	log_key_made = 0;
}

void error_note(sycl_result code, uint64_t object, const char *format, ...)
{
	last = (struct failure){.code = code, .object = object};
	va_list arguments;
	va_start(arguments, format);
	(void)vsnprintf(last.text, sizeof(last.text), format, arguments);
	va_end(arguments);
}

void error_note_failure(const struct failure *failure)
{
	last = *failure;
}

void error_get(struct failure *failure_out)
{
	*failure_out = last;
}

sycl_result error_note_errno(int negative_errno, const char *what)
{
	char buffer[128];
	const char *words = strerror_r(-negative_errno, buffer, sizeof(buffer));
	return error_set((sycl_result)status_from_errno(negative_errno), "%s: %s", what, words);
}

void error_set_build_log(const char *log)
{
	if (!log_key_made)
		return;
	char *copy = log && *log ? strdup(log) : NULL;
	char *before = pthread_getspecific(log_key);
	if (pthread_setspecific(log_key, copy) != 0) {
		free(copy);
		return;
	}
	free(before);
}

SYCL_API const char *sycl_get_build_log(void)
{
	const char *log = log_key_made ? pthread_getspecific(log_key) : NULL;
	return log ? log : "";
}

SYCL_API sycl_result sycl_get_last_error(struct sycl_error_detail *detail)
{
	/* The detail must stay unchanged: a call that requests it does not replace it. */
	if (!detail || detail->struct_bytes != sizeof(*detail))
		return SYCL_ERROR_INVALID;
	detail->result = last.code;
	detail->object = last.object;
	detail->backend = last.backend;
	detail->native_code = last.native_code;
	detail->text = last.text;
	return SYCL_SUCCESS;
}

SYCL_API const char *sycl_get_last_error_text(void)
{
	return last.text;
}

SYCL_API const char *sycl_result_name(sycl_result result)
{
	switch (result) {
#define NAME(code)                                                                                 \
	case SYCL_ERROR_##code:                                                                    \
		return "SYCL_ERROR_" #code
	case SYCL_SUCCESS:
		return "SYCL_SUCCESS";
		NAME(RUNTIME);
		NAME(KERNEL);
		NAME(ACCESSOR);
		NAME(ND_RANGE);
		NAME(EVENT);
		NAME(KERNEL_ARGUMENT);
		NAME(BUILD);
		NAME(INVALID);
		NAME(MEMORY_ALLOCATION);
		NAME(PLATFORM);
		NAME(PROFILING);
		NAME(FEATURE_NOT_SUPPORTED);
		NAME(KERNEL_NOT_SUPPORTED);
		NAME(BACKEND_MISMATCH);
		NAME(CONNECTION_LOST);
		NAME(DEVICE_LOST);
		NAME(QUOTA);
		NAME(TIMEOUT);
		NAME(VERSION);
		NAME(INVALID_HANDLE);
		NAME(DEPENDENCY_FAILED);
		NAME(FORKED);
#undef NAME
	default:
		return "SYCL_ERROR_UNKNOWN";
	}
}
