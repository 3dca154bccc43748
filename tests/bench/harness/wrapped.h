/*
 * A private service whose engines have environment variables that a service never passes on: the
 * engine's program is a script that sets them. Beside it is a file that all measured processes may
 * map.
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
 * In every engine's environment `file_variable` contains the file's name. `variable` is
 * "NAME=VALUE", or NULL. `fake`: the engines also have the fake devices. Returns 0, or a negative
 * errno after a message.
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
