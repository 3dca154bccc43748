/* The state of a run of the model, for the files that choose its groups. */
#ifndef TESTS_UNIT_SCHED_MODEL_STATE_H
#define TESTS_UNIT_SCHED_MODEL_STATE_H

#include "scheduler/harness.h"

#include <stdbool.h>
#include <stdint.h>

#define BUFFERS  7u
#define WORDS    24u
#define DEVICES  3u
#define PARTS    12u /* of one task */
#define SESSIONS 3u  /* the sessions that own the groups, in turn */

enum expected { EXPECT_GOOD, EXPECT_FAILURE, EXPECT_DEPENDENCY, EXPECT_REFUSED };

/* A requirement: the accessed words of a buffer, and the range around them that orders. */
struct part {
	uint32_t buffer, mode;
	uint32_t first, count;
	uint32_t order_first, order_count; /* 0: the whole */
};

struct model_kept; /* model_stretch.c */

#define MODEL_KEPT 3u

struct record {
	struct probe probe;
	struct task *task;
	enum expected expected;
	bool host_access, writes, handled, released, cancelled;
	uint32_t first, count; /* of a host access */
	uint32_t release_at, add;
	struct words *words; /* of a host access */
	uint32_t
		snapshot[WORDS]; /* of a host access at its grant; source of a copy from the host */
	struct part parts[PARTS]; /* what it requires, for the order */
	uint32_t part_count;
	uint32_t launches; /* of a burst; 0: it is none */
	enum expected launch[SCHED_BURST_MAX];
};

struct model {
	struct harness harness;
	struct sched_account *sessions[SESSIONS];
	struct words words[BUFFERS];
	struct words again[BUFFERS]; /* of a shared one: another buffer with the same contents */
	bool shared[BUFFERS];
	bool home_lanes, parts, one_device;
	uint32_t contents[BUFFERS][WORDS];
	bool poisoned[BUFFERS][WORDS];
	struct record *records;
	struct model_kept *kept[MODEL_KEPT];
	uint32_t count, first_held, step, kept_in_a_row;
	uint64_t random;
	char wrong[256];
};

uint32_t model_draw(struct model *model, uint32_t below);
uint32_t model_draw_device(struct model *model);
struct record *model_new_record(struct model *model);
/* Returns another buffer, or sometimes another part of the same one. */
uint32_t model_other_buffer(struct model *model, uint32_t buffer);
/* Returns the outcome of a task with these parts, and sets the state of the words that it
 * writes. */
enum expected model_judge(struct model *model, const struct part *parts, uint32_t part_count,
			  bool runs, bool fails, bool after_failed);
/* Chooses up to two recent tasks. Those whose failure was reported are given as a fault. */
uint32_t model_choose_after(struct model *model, struct task **after, uint32_t *launches,
			    const struct backend_fault **past, bool *failed);
/* Submits it on a random device, behind some tasks, and predicts its outcome. */
void model_submit(struct model *model, struct record *record, struct task_request *request,
		  const struct part *parts, uint32_t part_count, bool runs, bool fails);
/* Waits until everything is done, so that later groups meet past failures and free lanes. */
void model_catch_up(struct model *model);

/* model_groups.c */
#define MODEL_HOLD_STEPS 12u /* a host access is released after at most this many steps */
/* Returns one of the buffers with these contents. */
struct words *model_words_of(struct model *model, uint32_t buffer);
void model_launch_mix(struct model *model);
void model_launch_fill(struct model *model);
void model_launch_burst(struct model *model);
void model_launch_fail(struct model *model);
void model_only_order(struct model *model);
void model_submit_copy(struct model *model);
void model_submit_fill(struct model *model);
void model_host_update(struct model *model);
void model_host_access(struct model *model);
/* The host reads all of the buffer. */
void model_host_read(struct model *model, uint32_t buffer);

/* model_stretch.c: launches of several kernels, as one task if the scheduler accepts that. Some of
 * these tasks are kept; model_launch_kept submits one again, with other values. */
void model_launch_stretch(struct model *model);
void model_launch_kept(struct model *model);
void model_drop_kept(struct model *model);

#endif
