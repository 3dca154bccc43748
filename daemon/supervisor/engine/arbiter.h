/*
 * Memory of a device that several engines use. An engine that finds no room requests some. The
 * supervisor requests the others' figures and decides how much each must free (division/memory.h).
 * It sends them requests, and reports the freed bytes to the requester.
 *
 *   WAITS --no other case of this device--> COUNTS --all figures, or FIGURES_NS--> SPILLS
 *   SPILLS --all replies, or a bound--> answered, and freed
 *   COUNTS --no engine has to free memory--> answered, and freed
 *
 * Each step has a bound, including the wait, so no engine waits for one that is dead, stopped or
 * silent. An engine with an open request gets no other one. If an engine did not free what was
 * requested, nothing is requested from it for a while. An engine has one case at a time, and a
 * limited number of requests in a second. Further requests get 0 bytes. Cases of one device follow
 * each other, those of different users in turn.
 */
#ifndef SYCLD_SUPERVISOR_ENGINE_ARBITER_H
#define SYCLD_SUPERVISOR_ENGINE_ARBITER_H

#include "control.pb-c.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>
#include <uv.h>

enum {
	ARBITER_UUID_BYTES = 16,
	ARBITER_ASKS_MOST = 64,   /* cases of an engine in a second; further requests get 0 bytes */
	ARBITER_ASKS_WRONG = 256, /* requests above this number count as invalid messages */
};

/* Longest time that a case waits for other cases of the device. */
#define ARBITER_WAIT_NS       1000000000ull
#define ARBITER_FIGURES_NS    100000000ull
#define ARBITER_SPILL_NS      1000000000ull /* plus the time of the copies at 4 GB/s */
#define ARBITER_SPILL_MOST_NS 10000000000ull
/* Time in which an engine that freed memory gets none back. */
#define ARBITER_HOLD_NS     200000000ull
#define ARBITER_DISTRUST_NS 10000000000ull

struct engine;
struct memory_case;
struct supervisor;

TAILQ_HEAD(memory_case_list, memory_case);

/* The supervisor's part. */
struct arbiter {
	struct memory_case_list cases; /* oldest first */
	uv_timer_t timer;
	uint64_t last_case, last_request;
	uid_t last_user; /* user of the case that was begun last */
};

void arbiter_init(struct supervisor *supervisor);
/* Frees the remaining cases. */
void arbiter_fini(struct supervisor *supervisor);
/* False: the message is invalid, or not due. */
bool arbiter_memory_wanted(struct engine *engine, const Sycl__V1__MemoryWanted *wanted);
bool arbiter_memory_state(struct engine *engine, const Sycl__V1__MemoryState *state);

#endif
