/*
 * The state of random_groups.c: buffers, queues and events, with a model of their expected
 * contents.
 */
#ifndef TESTS_INTEGRATION_RANDOM_GROUPS_H
#define TESTS_INTEGRATION_RANDOM_GROUPS_H

#include "library/portable.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	BUFFERS = 6,
	CELLS = 16, /* of a buffer: parts begin and end at cells, and each cell has its own failures
		     */
	SPAN = 2048,
	SPAN_BYTES = SPAN * 4, /* of a buffer */
	CELL_WORDS = SPAN / CELLS,
	CELL_BYTES = CELL_WORDS * 4, /* 512: sub-buffers may begin there on every known device */
	SUBS = 4,                    /* sub-buffers of a buffer at one time */
	QUEUES = 4,
	EVENTS = 24, /* that later groups may depend on */
	USM = 3,
	TASK_SLOTS = 1024,
};

struct part {
	uint32_t buffer, first, count; /* cells */
	sycl_buffer handle;            /* the buffer, or a sub-buffer of exactly these cells */
	bool is_sub;
};

struct modelled {
	uint32_t words[SPAN];
	bool lost[2 * CELLS]; /* half cells that a failed group was to write */
};

struct known_event {
	sycl_event event; /* NULL: none */
	bool fails;
	const char *what;
};

struct shared_words {
	uint32_t *pointer; /* NULL: the device has no such memory */
	uint32_t words[SPAN];
	sycl_event last; /* the latest group that uses it: the next one depends on it */
	bool fails;      /* true if that one must fail */
};

struct sub {
	sycl_buffer handle;
	uint32_t first, count;
};

struct random_world {
	uint64_t random;
	bool tells;
	sycl_queue queues[QUEUES];
	sycl_kernel fill[QUEUES], increment[QUEUES], copy[QUEUES];
	sycl_buffer buffers[BUFFERS];
	struct sub subs[BUFFERS][SUBS];
	struct modelled model[BUFFERS];
	struct known_event events[EVENTS];
	struct shared_words usm[USM];
	uint32_t turn;
	uint64_t groups, failures, checks;
};

extern struct random_world random_world;

/* The state of the group that is being built. */
struct group {
	sycl_handler handler;
	uint32_t queue;
	bool fails;
	const char *what;
};

uint32_t random_below(uint32_t below);
/* Returns random cells of any buffer, by any of the three ways to name them. `count` 0: any
 * number. */
struct part random_part(uint32_t count);
uint32_t *random_words_of(const struct part *part);
size_t random_words_in(const struct part *part);
/* Checks the half cells of a part from `skip` on, but not the last `spare`. */
bool random_is_lost_within(const struct part *part, uint32_t skip, uint32_t spare);
bool random_is_lost(const struct part *part);
void random_set_lost_within(const struct part *part, uint32_t skip, bool lost);
/* Returns where a copy or a fill finds the part, from the beginning of the handle. */
uint64_t random_offset_of(const struct part *part);

struct group random_begin_on(uint32_t queue_index, const char *what);
struct group random_begin_group(const char *what);
void random_print_group(const struct group *group);
void random_submit_group(struct group *group);
/* Checks that the event has the outcome of the model. */
void random_check_event(const struct known_event *known);

/* random_groups_actions.c */
sycl_buffer random_buffer(uint32_t value);
/* The host reads, or also writes. It is refused if the contents are lost. */
void random_host_access(bool writes);
/* One action, drawn at random. */
void random_step(void);

#endif
