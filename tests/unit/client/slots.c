/* Completion slots: a value of an earlier use is not mistaken for one of a later use. */
#include "base/slots.h"

#include <errno.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(client_slots, .timeout = 10);

enum { COUNT = 8 };

static struct completion_slot memory[COUNT];
static struct slots slots;

static void complete(uint32_t index, uint32_t value)
{
	atomic_store(&memory[index].sequence, value);
}

static int reached(uint32_t index, uint32_t value)
{
	return sequence_reached(atomic_load(&memory[index].sequence), value);
}

static void setup_slots(void)
{
	cr_assert(eq(int, slots_init(&slots, memory, COUNT), 0));
}

static void teardown_slots(void)
{
	slots_fini(&slots);
}

Test(client_slots, B17_each_use_has_a_value_of_its_own, .init = setup_slots, .fini = teardown_slots)
{
	uint32_t index = 0, value = 0, before = 0;
	for (int i = 0; i < 1000; i++) {
		cr_assert(eq(int, slots_take(&slots, &index, &value), 0));
		cr_assert(not(reached(index, value)), "not complete before it is");
		if (i > 0)
			cr_assert(ne(u32, value, before));
		before = value;
		complete(index, value);
		cr_assert(reached(index, value));
		slots_give(&slots, index);
	}
	cr_assert(eq(u32, slots.used, 1), "one slot served all");
}

Test(client_slots, a_slot_rests_while_its_group_may_still_write_it, .init = setup_slots,
     .fini = teardown_slots)
{
	uint32_t index[COUNT], value[COUNT], more = 0, more_value = 0;
	for (int i = 0; i < COUNT; i++)
		cr_assert(eq(int, slots_take(&slots, &index[i], &value[i]), 0));
	for (int i = 0; i < COUNT; i++)
		slots_give(&slots, index[i]); /* released early: the groups still run */
	cr_assert(eq(int, slots_take(&slots, &more, &more_value), -EDQUOT));
	complete(index[5], value[5]); /* not the oldest */
	cr_assert(eq(int, slots_take(&slots, &more, &more_value), 0));
	cr_assert(eq(u32, more, index[5]));
	cr_assert(not(reached(more, more_value)));
	cr_assert(eq(int, slots_take(&slots, &more, &more_value), -EDQUOT));
	for (int i = 0; i < COUNT; i++)
		complete(index[i], value[i]);
	for (int i = 0; i < COUNT - 1; i++)
		cr_assert(eq(int, slots_take(&slots, &more, &more_value), 0), "slot %d", i);
	cr_assert(eq(int, slots_take(&slots, &more, &more_value), -EDQUOT));
}

Test(client_slots, a_late_write_of_a_failed_status_is_cleared, .init = setup_slots,
     .fini = teardown_slots)
{
	uint32_t index = 0, value = 0;
	(void)slots_take(&slots, &index, &value);
	atomic_store(&memory[index].status, 1);
	complete(index, value);
	slots_give(&slots, index);
	(void)slots_take(&slots, &index, &value);
	cr_assert(eq(u32, atomic_load(&memory[index].status), 0));
}

Test(client_slots, a_queues_slot_counts_from_nothing, .init = setup_slots, .fini = teardown_slots)
{
	uint32_t index = 0, value = 0;
	(void)slots_take(&slots, &index, &value);
	complete(index, value);
	slots_give(&slots, index);
	cr_assert(eq(int, slots_take_counter(&slots, &index), 0));
	cr_assert(not(reached(index, 1)));
	complete(index, 77);
	slots_give_settled(&slots, index);
	(void)slots_take(&slots, &index, &value);
	cr_assert(not(reached(index, value)), "what the queue counted does not complete an event");
}

Test(client_slots, values_wrap, .init = setup_slots, .fini = teardown_slots)
{
	uint32_t index = 0, value = 0;
	(void)slots_take(&slots, &index, &value);
	complete(index, value);
	slots_give(&slots, index);
	slots.values[index] = UINT32_MAX - 1;
	complete(index, UINT32_MAX - 1);
	for (int i = 0; i < 4; i++) {
		(void)slots_take(&slots, &index, &value);
		cr_assert(not(reached(index, value)));
		complete(index, value);
		cr_assert(reached(index, value));
		slots_give(&slots, index);
	}
}
