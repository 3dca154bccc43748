/*
 * A scheduler on fake devices for tests: objects are made in one line, and waits have a deadline.
 * It contains no part of Criterion, so that race tests can use it, too. An error ends the program
 * with a sentence.
 */
#ifndef TESTS_UNIT_SCHED_HARNESS_H
#define TESTS_UNIT_SCHED_HARNESS_H

#include "base/room.h"
#include "fake_control.h"
#include "scheduler/public/scheduler.h"

#include <stdatomic.h>

#define HARNESS_DEVICES    4u
#define HARNESS_TIMEOUT_NS 60000000000ull
#define HARNESS_GATE       0u

/* One task, buffer, program or kernel, as reported by the callbacks. */
/* The outcome of each launch of a burst. */
struct harness_burst {
	struct harness_burst *next;
	struct backend_fault faults[SCHED_BURST_MAX];
};

/* Tests have static arrays of these, and the leak checker scans all of them at the end of each
 * test. */
struct probe {
	bool done; /* task done, host access granted, buffer freed, program loaded, kernel made */
	uint32_t calls;
	uint32_t early; /* on_task_early */
	uint64_t order; /* 1 for the first callback of all */
	struct task *task;
	struct task_outcome outcome;
	struct backend_fault fault;
	uint32_t argument_count;
	char names[256];                     /* of a program's kernels, joined by spaces */
	struct backend_shared_memory shared; /* exported; the descriptor is the test's */
	uint8_t handle[64];                  /* of an event that was created */
	struct backend_occupancy occupancy;
	void *address;     /* of USM */
	uint32_t launches; /* of a burst, and the outcome of each; 0: it is none */
	const struct backend_fault *launch_faults; /* freed by the harness when it stops */
};

struct harness {
	struct scheduler *scheduler;
	struct scheduler_device *devices[HARNESS_DEVICES];
	struct sched_program *programs[HARNESS_DEVICES];
	struct {
		char name[32];
		struct sched_kernel *kernel;
	} kernels[HARNESS_DEVICES][16];
	struct sched_account
		*account; /* of everything that is submitted; owned by the test; NULL: none */
	int bell;
	_Atomic uint32_t wakes; /* how often wake_front was called; by any thread */
	struct probe process_lost, imported;
	uint32_t rooms_wanted;    /* how often a device needed room from other engines */
	uint64_t room_request;    /* the latest scheduler_room_request that has ended, */
	struct room_figures room; /* and its result */
	/* The latest report about spills, and how many there were. */
	struct scheduler_spilled spilled;
	uint32_t spilled_reports;
	uint64_t order;
	struct harness_burst *bursts;
	void *flight;
	struct probe scratch[64]; /* of objects that no test uses */
	uint32_t scratch_used;
	bool polls; /* it polls repeatedly before it sleeps: scheduler_config.front_polls */
};

struct words {
	struct sched_buffer *buffer;
	uint32_t *host;
	uint32_t count;
	struct probe freed;
};

struct use {
	struct words *words;
	uint32_t mode;
	uint32_t first, count; /* range in words; count 0: all */
	bool unused;           /* a requirement that is no argument */
	bool sub_buffer;       /* the range orders, too: it belongs to a sub-buffer */
};

struct launch {
	uint32_t device;
	const char *kernel;
	const struct use *uses;
	uint32_t use_count;
	bool has_value;
	uint32_t value;
	uint32_t items;         /* 0: the number of words of the first use, or 1 */
	const uint64_t *global; /* 3 values, instead of items */
	struct task **after;
	uint32_t after_count;
	bool after_only_orders; /* it does not fail with them */
	const uint32_t *after_launches;
	uint64_t session, group;
	uint32_t home_lane;
	bool shares_home; /* goes to another lane instead of behind others there */
	bool timed;
	bool splittable;
	const struct backend_launch_properties *properties;
	uint32_t burst;         /* number of launches in one task; 0: one */
	const uint32_t *values; /* of the launches behind the first */
};

void harness_start(struct harness *harness, uint32_t devices);
/* `config`: backends and flight page are the harness's. */
void harness_start_with(struct harness *harness, uint32_t devices,
			const struct scheduler_config *config);
/* Frees everything. Returns which objects the fake backend still has; NULL: none. */
const char *harness_stop(struct harness *harness);

struct sched_kernel *harness_kernel(struct harness *harness, uint32_t device, const char *name);
/* A buffer of `count` words; `initialised`: filled with `first`, first + 1 ... */
void harness_words(struct harness *harness, struct words *words, uint32_t count, bool initialised,
		   uint32_t first);
/* The same for a buffer that always stays on a device. */
void harness_words_shared(struct harness *harness, struct words *words, uint32_t count,
			  bool initialised, uint32_t first, uint32_t home,
			  enum backend_export_kind kind);
/* Another buffer with the same contents and its own host memory. */
void harness_words_again(struct words *words, const struct words *of);
void harness_words_free(struct harness *harness, struct words *words);

struct task *harness_launch(struct harness *harness, const struct launch *launch,
			    struct probe *probe);
/* A kernel that ends when the gate is opened; uses are only requirements. */
struct task *harness_hold(struct harness *harness, uint32_t device, uint32_t gate,
			  const struct use *uses, uint32_t use_count, struct probe *probe);
struct task *harness_submit(struct harness *harness, struct task_request *request,
			    struct probe *probe);
struct task *harness_host(struct harness *harness, struct words *words, uint32_t mode,
			  struct probe *probe);
/* The same for some words; count 0: all. */
struct task *harness_host_part(struct harness *harness, struct words *words, uint32_t mode,
			       uint32_t first, uint32_t count, struct probe *probe);

/* Runs turns until the probe is done. False: not in time. */
bool harness_wait(struct harness *harness, const struct probe *probe);
/* Runs turns until no task is open. False: not in time. */
bool harness_settle(struct harness *harness);
/* Returns how many tasks are on devices, by the front thread's count. */
uint32_t harness_count_sent(struct harness *harness);
/* The scheduler's counters so far. */
struct scheduler_counters harness_counters(struct harness *harness);
/* Runs one turn without waiting. */
void harness_turn(struct harness *harness);

/* Returns the number of the task that was submitted last, moves counted. */
unsigned harness_number(struct harness *harness);
/* Returns true if the present dump has an edge between the tasks. They are named by their numbers
 * (order of submission, moves counted). */
bool harness_edge(struct harness *harness, unsigned from, unsigned to);

#endif
