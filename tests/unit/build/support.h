/* A build service on a loop of its own, with a folder that goes with it. */
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

/* Makes the folder; a forked service with a cache. */
void bench_open(struct build_bench *bench);
/* A service that was made otherwise, takes it. */
void bench_open_with(struct build_bench *bench, struct build_service *service, bool with_cache);
/* Ends the service and starts another on the same cache. */
void bench_reopen(struct build_bench *bench);
void bench_close(struct build_bench *bench);

/*
 * Submit for the backend's first device; `built` is filled by the callback. Limits as in
 * build_request, 0: the default.
 */
void bench_submit_to(struct build_bench *bench, const struct backend_ops *ops,
		     enum backend_source_kind kind, const char *source, uint64_t time_limit_ns,
		     uint64_t memory_limit_bytes, struct built *built);
/* To the fake backend. */
void bench_submit(struct build_bench *bench, const char *source, uint64_t time_limit_ns,
		  uint64_t memory_limit_bytes, struct built *built);
/* Run the loop until the callback has been called. */
void bench_wait(struct build_bench *bench, const struct built *built);
/* Both. */
void bench_build(struct build_bench *bench, const char *source, struct built *built);
void built_free(struct built *built);

/* A FIFO in the bench's folder; `path_out` is used in sources. Returns its reading end if `reader`,
 * else -1. */
int bench_fifo(struct build_bench *bench, const char *name, bool reader, char *path_out,
	       size_t capacity);
/* Until every process that held the writing end has closed it. */
void bench_wait_hangup(int fifo);
/* The size of a file in the bench's folder; 0: it is not there. */
size_t bench_file_bytes(const struct build_bench *bench, const char *name);
/* Until it has some. */
void bench_wait_file(const struct build_bench *bench, const char *name);

#endif
