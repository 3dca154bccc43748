/*
 * Memory of a device that several engines use. An engine that finds no room asks for some. The
 * supervisor asks the others what they hold, decides who gives how much (division/memory.h), sends
 * them requests, and reports to the one that asked what was freed.
 *
 *   WAITS --no other case of this device--> COUNTS --all figures, or FIGURES_NS--> SPILLS
 *   SPILLS --all replies, or a bound--> answered, and freed
 *   COUNTS --no engine has to give anything--> answered, and freed
 *
 * Each step has a bound, the wait included, so nobody waits for an engine that is dead, stopped or
 * silent. An engine with a request that it has not replied to gets no other one. If an engine did
 * not free what was requested, nothing is expected of it for a while. An engine has one case at a
 * time, and asks a limited number of times in a second. What it asks beside its case is answered
 * with nothing. Cases of one device follow each other, those of different users in turn.
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
	ARBITER_ASKS_MOST = 64, /* cases of an engine in a second; more are answered with nothing */
	ARBITER_ASKS_WRONG = 256, /* more than these are counted as invalid messages */
};

/* How long a case waits for other cases of the device. */
#define ARBITER_WAIT_NS       1000000000ull
#define ARBITER_FIGURES_NS    100000000ull
#define ARBITER_SPILL_NS      1000000000ull /* longer by the time of the copies at 4 GB/s */
#define ARBITER_SPILL_MOST_NS 10000000000ull
/* An engine that gave memory takes none back for so long. */
#define ARBITER_HOLD_NS     200000000ull
#define ARBITER_DISTRUST_NS 10000000000ull

struct engine;
struct memory_case;
struct supervisor;

TAILQ_HEAD(memory_case_list, memory_case);

/* The supervisor's part. */
struct arbiter {
	struct memory_case_list cases; /* the oldest first */
	uv_timer_t timer;
	uint64_t last_case, last_request;
	uid_t last_user; /* whose case was begun last */
};

void arbiter_init(struct supervisor *supervisor);
/* Frees what is left. */
void arbiter_fini(struct supervisor *supervisor);
/* False: the message is not valid, or not due. */
bool arbiter_memory_wanted(struct engine *engine, const Sycl__V1__MemoryWanted *wanted);
bool arbiter_memory_state(struct engine *engine, const Sycl__V1__MemoryState *state);

#endif
