/* A build service on its own loop, with a folder that is removed with it. */
#ifndef SYCL_TESTS_BUILD_SUPPORT_H
#define SYCL_TESTS_BUILD_SUPPORT_H

#include "build/service.h"
#include "fake_control.h"

/* The values of one callback. */
struct built {
	unsigned calls;
	int32_t status;
	char text[BACKEND_TEXT_BYTES];
	char *log, *binary;
	size_t binary_bytes;
	bool from_cache;
	struct build_job *job;
};

struct build_bench {
	char directory[64]; /* for FIFOs and files */
	char cache[80];
	uv_loop_t loop;
	struct build_service *service;
};

/* Makes the folder and a forked service with a cache. */
void bench_open(struct build_bench *bench);
/* Takes a service that was made otherwise. */
void bench_open_with(struct build_bench *bench, struct build_service *service, bool with_cache);
/* Ends the service and starts another on the same cache. */
void bench_reopen(struct build_bench *bench);
void bench_close(struct build_bench *bench);

/*
 * Submits a build for the backend's first device; the callback fills `built`. Limits are as in
 * build_request, 0: the default.
 */
void bench_submit_to(struct build_bench *bench, const struct backend_ops *ops,
		     enum backend_source_kind kind, const char *source, uint64_t time_limit_ns,
		     uint64_t memory_limit_bytes, struct built *built);
/* To the fake backend. */
void bench_submit(struct build_bench *bench, const char *source, uint64_t time_limit_ns,
		  uint64_t memory_limit_bytes, struct built *built);
/* Runs the loop until the callback has been called. */
void bench_wait(struct build_bench *bench, const struct built *built);
/* Submits and waits. */
void bench_build(struct build_bench *bench, const char *source, struct built *built);
void built_free(struct built *built);

/* A FIFO in the bench's folder; `path_out` is used in sources. Returns its reading end if `reader`,
 * else -1. */
int bench_fifo(struct build_bench *bench, const char *name, bool reader, char *path_out,
	       size_t capacity);
/* Waits until every process that had the writing end has closed it. */
void bench_wait_hangup(int fifo);
/* Returns the size of a file in the bench's folder; 0: it does not exist. */
size_t bench_file_bytes(const struct build_bench *bench, const char *name);
/* Waits until it has some bytes. */
void bench_wait_file(const struct build_bench *bench, const char *name);

#endif
