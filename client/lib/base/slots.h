/*
 * Which completion slots are in use. A slot is used again with the next value, but never while a
 * group may still write it. If its event was released early, it is unused until its value has come.
 * Called with the connection's state lock held.
 */
#ifndef SYCL_CLIENT_SLOTS_H
#define SYCL_CLIENT_SLOTS_H

#include "ring_layout.h"

#include <stdint.h>

struct slots {
	struct completion_slot *memory; /* shared with the engine */
	uint32_t count;
	uint32_t used;    /* slots 0 .. used - 1 were taken at least once */
	uint32_t *values; /* the value of each slot's last use */
	uint32_t *next;   /* lists below: index + 1, 0 ends */
	uint32_t free_first;
	uint32_t resting_first, resting_last;
};

int slots_init(struct slots *slots, struct completion_slot *memory, uint32_t count);
void slots_fini(struct slots *slots);

/* A slot for one group: complete when its sequence has reached the value. -EDQUOT: all are in use.
 */
int slots_take(struct slots *slots, uint32_t *index_out, uint32_t *value_out);

/* A slot for a queue: sequence 0 now, it counts the queue's groups. */
int slots_take_counter(struct slots *slots, uint32_t *index_out);

/* The library reads it no more; the engine may still write its value. */
void slots_give(struct slots *slots, uint32_t index);

/* The library reads it no more, and the engine never writes it again. */
void slots_give_settled(struct slots *slots, uint32_t index);

#endif
