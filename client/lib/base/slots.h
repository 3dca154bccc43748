/*
 * Completion slots and their use. A slot is used again with the next value, but never while a group
 * may still write it. If its event was released early, the slot stays unused until its value has
 * arrived. Called with the connection's state lock held.
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
	uint32_t *next;   /* links of the lists below: index + 1; 0 ends a list */
	uint32_t free_first;
	uint32_t resting_first, resting_last;
};

int slots_init(struct slots *slots, struct completion_slot *memory, uint32_t count);
void slots_fini(struct slots *slots);

/* Takes a slot for one group, which is complete when the sequence has reached the value. -EDQUOT:
 * all slots are in use. */
int slots_take(struct slots *slots, uint32_t *index_out, uint32_t *value_out);

/* Takes a slot for a queue. Its sequence starts at 0 and counts the queue's groups. */
int slots_take_counter(struct slots *slots, uint32_t *index_out);

/* Gives back a slot that the library no longer reads. The engine may still write its value. */
void slots_give(struct slots *slots, uint32_t index);

/* Gives back a slot that neither the library reads nor the engine writes any more. */
void slots_give_settled(struct slots *slots, uint32_t index);

#endif
