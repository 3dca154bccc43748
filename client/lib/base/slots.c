#include "base/slots.h"

#include <errno.h>
#include <stdlib.h>

int slots_init(struct slots *slots, struct completion_slot *memory, uint32_t count)
{
	*slots = (struct slots){.memory = memory, .count = count};
	slots->values = calloc(count ? count : 1, sizeof(*slots->values));
	slots->next = calloc(count ? count : 1, sizeof(*slots->next));
	if (!slots->values || !slots->next) {
		slots_fini(slots);
		return -ENOMEM;
	}
	return 0;
}

void slots_fini(struct slots *slots)
{
	free(slots->values);
	free(slots->next);
	*slots = (struct slots){.count = 0};
}

static int slot_is_settled(const struct slots *slots, uint32_t index)
{
	uint32_t sequence =
		atomic_load_explicit(&slots->memory[index].sequence, memory_order_acquire);
	return sequence_reached(sequence, slots->values[index]);
}

static void push_free(struct slots *slots, uint32_t index)
{
	slots->next[index] = slots->free_first;
	slots->free_first = index + 1;
}

/* Moves slots whose value has arrived to the free list: the oldest one only, or all of them. */
static void slots_free_settled(struct slots *slots, int all)
{
	uint32_t *link = &slots->resting_first;
	uint32_t last = 0;
	while (*link) {
		uint32_t index = *link - 1;
		if (slot_is_settled(slots, index)) {
			*link = slots->next[index];
			push_free(slots, index);
		} else {
			last = index + 1;
			link = &slots->next[index];
			if (!all)
				break;
		}
	}
	if (!*link)
		slots->resting_last = last;
}

static int slots_take_index(struct slots *slots, uint32_t *index_out)
{
	slots_free_settled(slots, 0);
	if (!slots->free_first && slots->used == slots->count)
		slots_free_settled(slots, 1);
	if (slots->free_first) {
		*index_out = slots->free_first - 1;
		slots->free_first = slots->next[*index_out];
		return 0;
	}
	if (slots->used == slots->count)
		return -EDQUOT;
	*index_out = slots->used++;
	return 0;
}

int slots_take(struct slots *slots, uint32_t *index_out, uint32_t *value_out)
{
	uint32_t index = 0;
	int r = slots_take_index(slots, &index);
	if (r < 0)
		return r;
	uint32_t value = ++slots->values[index];
	/* The slot is idle, so only this thread writes it. Any old value is below the new one. */
	atomic_store_explicit(&slots->memory[index].status, 0, memory_order_relaxed);
	atomic_store_explicit(&slots->memory[index].sequence, value - 1, memory_order_relaxed);
	*index_out = index;
	*value_out = value;
	return 0;
}

int slots_take_counter(struct slots *slots, uint32_t *index_out)
{
	uint32_t index = 0;
	int r = slots_take_index(slots, &index);
	if (r < 0)
		return r;
	atomic_store_explicit(&slots->memory[index].status, 0, memory_order_relaxed);
	atomic_store_explicit(&slots->memory[index].sequence, 0, memory_order_relaxed);
	*index_out = index;
	return 0;
}

void slots_give(struct slots *slots, uint32_t index)
{
	if (slot_is_settled(slots, index)) {
		push_free(slots, index);
		return;
	}
	slots->next[index] = 0;
	if (slots->resting_last)
		slots->next[slots->resting_last - 1] = index + 1;
	else
		slots->resting_first = index + 1;
	slots->resting_last = index + 1;
}

void slots_give_settled(struct slots *slots, uint32_t index)
{
	push_free(slots, index);
}
