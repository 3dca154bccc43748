/*
 * The calling thread's last failure. Functions of the library that fail record the reason if there
 * is one, and return the code: `return error_set(SYCL_ERROR_INVALID, ...)`. These functions do not
 * block, print or fail.
 */
#ifndef SYCL_CLIENT_ERROR_H
#define SYCL_CLIENT_ERROR_H

#include "syclclient/result.h"

#include <stdint.h>

#define FAILURE_TEXT_BYTES 320

/* The service's report of a failure. code 0: no failure. */
struct failure {
	sycl_result code;
	int32_t native_code;
	uint32_t backend;
	uint64_t object;
	char text[FAILURE_TEXT_BYTES];
};

/* Marked cold, so that the compiler puts paths to it apart from those of successful commands. */
void error_note(sycl_result code, uint64_t object, const char *format, ...)
	__attribute__((cold, format(printf, 3, 4)));
__attribute__((cold)) void error_note_failure(const struct failure *failure);
__attribute__((cold)) sycl_result error_note_errno(int negative_errno, const char *what);

/*
 * error_set(code, format, ...) and error_set_object(code, object, format, ...) record the failure
 * and evaluate to the code. The object's id is 0 if there is none. They are macros, so that readers
 * and analysers find the resulting code.
 */
#define error_set(code, ...) error_set_object((code), 0, __VA_ARGS__)
#define error_set_object(code, object, ...)                                                        \
	__extension__({                                                                            \
		const sycl_result code_ = (code);                                                  \
		error_note(code_, (object), __VA_ARGS__);                                          \
		code_;                                                                             \
	})

/* Reports that an allocation in this process failed. */
static inline sycl_result error_no_memory(void)
{
	return error_set(SYCL_ERROR_MEMORY_ALLOCATION, "no memory in this process");
}

/* Records the service's failure and returns its code, which is never a success. */
static inline sycl_result error_set_failure(const struct failure *failure)
{
	error_note_failure(failure);
	return failure->code ? failure->code : SYCL_ERROR_RUNTIME;
}

/* Copies the calling thread's last failure. */
void error_get(struct failure *failure_out);

/* Turns a negative errno into a result, with "what: strerror". */
static inline sycl_result error_set_errno(int negative_errno, const char *what)
{
	sycl_result code = error_note_errno(negative_errno, what);
	return code ? code : SYCL_ERROR_RUNTIME;
}

/* Copies the compiler's output of the thread's last build. Without memory the log is "". */
void error_set_build_log(const char *log);

#endif
