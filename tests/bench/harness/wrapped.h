/*
 * A private service whose engines have variables in their environment that a service never passes
 * on: it is given a script as the engine's program. With a file beside it that all measured
 * processes may map.
 */
#ifndef SYCL_BENCH_BENCH_WRAPPED_H
#define SYCL_BENCH_BENCH_WRAPPED_H

#include "harness/bench.h"

#include <linux/limits.h>

struct bench_wrapped {
	char folder[32];
	char script[PATH_MAX], file[PATH_MAX];
	void *mapping; /* of the file, which is zeroes at first */
	size_t mapping_bytes;
	struct private_service *service;
};

/*
 * The file's name is the value of `file_variable` in every engine's environment; `variable` is
 * "NAME=VALUE", or NULL. `fake`: the engines also offer the fake devices. 0 or a negative errno,
 * having said why.
 */
int bench_wrapped_start(size_t file_bytes, const char *file_variable, const char *variable,
			bool fake, struct bench_wrapped **wrapped_out);
/* Ends the service and removes the folder. Accepts NULL; returns it. */
struct bench_wrapped *bench_wrapped_free(struct bench_wrapped *wrapped);
static inline void bench_wrapped_cleanup(struct bench_wrapped **wrapped)
{
	*wrapped = bench_wrapped_free(*wrapped);
}

#endif
