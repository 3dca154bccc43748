/*
 * Which command groups of a queue have failed, and why: exact, as runs of neighbouring numbers.
 * Past its bound the queue takes no further groups; from then on every number counts as failed. The
 * first few runs keep their sentence. Front thread.
 */
#ifndef SYCL_ENGINE_FAILURE_LIST_H
#define SYCL_ENGINE_FAILURE_LIST_H

#include "backend.h"

#define FAILURE_RUNS_MAX  4096u
#define FAILURE_TEXTS_MAX 64u

struct failure_run {
	uint64_t first, last; /* group numbers */
	int32_t status, native_code;
	char *text; /* NULL: not kept */
};

struct failure_list {
	struct failure_run *runs; /* by number; neighbours with the same status are one run */
	uint32_t count, capacity, texts;
	uint64_t closed_from; /* every number from here on was refused; 0: none */
};

void failure_list_fini(struct failure_list *list);
/* -ENOMEM. */
int failure_list_add(struct failure_list *list, uint64_t group, const struct backend_fault *fault);
/* True if this group has failed; then sets the cause. */
bool failure_list_find(const struct failure_list *list, uint64_t group,
		       struct backend_fault *fault_out);
/* True if the queue may take this group. Once false, the result stays false. */
bool failure_list_open(struct failure_list *list, uint64_t group);

#endif
