/* Common parts of `worker chaos` (chaos.c): the objects of a session, and work whose results are
 * known. */
#ifndef SYCL_TESTS_WORKER_CHAOS_H
#define SYCL_TESTS_WORKER_CHAOS_H

#include "processes/programs/worker.h"

/* All words are `rest` but the first. */
struct chaos_contents {
	uint32_t first, rest;
};

/*
 * Memory that the service may move off a device has more than 64 KiB each. One session's most, and
 * that of several together, exceed a device's room (processes/chaos.c).
 */
enum { CHAOS_PIECE_BYTES = 512 << 10, CHAOS_PIECES_WHEN_CALM = 1, CHAOS_PIECES_MAX = 40 };

struct chaos_piece {
	sycl_buffer buffer;
	bool written;
	struct chaos_contents contents;
};

/* A graph that is launched and changed: fill, sometimes with a temporary, kernel, sometimes a host
 * task, copy. */
struct chaos_graph {
	sycl_buffer from, temporary, to;
	sycl_graph graph;
	sycl_executable_graph executable;
	sycl_graph_node kernel_node;
	bool has_task;
	struct chaos_contents contents; /* expected after the launches so far */
	uint32_t fill, tasks;           /* tasks: how often the task has run */
	bool task_found_wrong;
};

/* The work since the last report. */
struct chaos_did {
	uint64_t rounds, graphs, launches, updates, pieces, usm, native;
};

struct chaos {
	struct worker *worker;
	bool wants_gpu; /* for the next session; otherwise any device */
	sycl_platform platform;
	sycl_device device;
	sycl_context context;
	sycl_queue queue;
	sycl_kernel kernel;
	sycl_buffer here, there, exported;
	struct chaos_piece pieces[CHAOS_PIECES_MAX];
	uint32_t piece_count;
	struct chaos_graph graph;
	struct chaos_did did;
	uint64_t sessions, errors;
};

/* Returns a handler, not submitted, that adds `n` to the first word. */
sycl_result chaos_add(struct chaos *chaos, sycl_buffer buffer, uint32_t n,
		      sycl_handler *handler_out);
/* Exits unless the buffer has these contents. */
sycl_result chaos_look(sycl_buffer buffer, uint64_t bytes, struct chaos_contents contents);
void chaos_compare(const uint32_t *words, uint64_t bytes, struct chaos_contents contents,
		   const char *whose);

/* One round of each kind. Each returns the first failure, which ends the session. */
sycl_result chaos_pieces_begin(struct chaos *chaos, uint32_t count);
sycl_result chaos_pieces_round(struct chaos *chaos);
void chaos_pieces_end(struct chaos *chaos);
sycl_result chaos_graph_round(struct chaos *chaos);
void chaos_graph_end(struct chaos *chaos);
sycl_result chaos_usm_round(struct chaos *chaos);
sycl_result chaos_native_round(struct chaos *chaos);
void chaos_native_end(struct chaos *chaos);

#endif
