/* The order of a command group: it waits for its queue, events, barriers and host accessors, and
 * others wait for it. */
#include "protocol/groups_fixture.h"

#include <stdatomic.h>
#include <string.h>

Test(groups, B28_an_in_order_queue_runs_one_after_the_other)
{
	groups_start();
	uint64_t first = groups_submit_hold(1, true);
	struct build build;
	build_fill(&build, BUFFER, 3);
	uint64_t second = build_submit(&build, true);
	/* In an out-of-order queue an independent group overtakes. */
	build_fill(&build, OTHER, 4);
	(void)build_submit(&build, false);
	cr_assert(eq(u32, groups_wait(false), 0));
	cr_assert(lt(u32, groups_profile(groups_queue(true), first).state, 2));
	cr_assert(eq(u32, groups_profile(groups_queue(true), second).state, 0));
	fake_gate_open(1);
	cr_assert(eq(u32, groups_wait(true), 0));
	cr_assert(le(u64, groups_profile(groups_queue(true), first).end_ns,
		     groups_profile(groups_queue(true), second).end_ns));
	expect_words(BUFFER, 3, 40);
	groups_stop();
}

Test(groups, B19_B21_events_order_across_queues_and_the_mark_waits_for_the_oldest)
{
	groups_start();
	uint64_t held = groups_submit_hold(2, true);
	struct build build;
	build_fill(&build, BUFFER, 8);
	build_depend(&build, groups_queue(true), held);
	uint64_t waits = build_submit(&build, false);
	build_fill(&build, OTHER, 9);
	build.group.wants_slot = true;
	build.group.slot = EVENT_SLOT;
	build.group.slot_value = 5;
	(void)build_submit(&build, false);
	cr_assert(eq(u32, raw_wait_slot(client, EVENT_SLOT, 5), 0),
		  "its event does not wait for the other group");
	cr_assert(eq(u32, atomic_load(&client->slots[QUEUE_SLOT].sequence), waits - 1));
	fake_gate_open(2);
	cr_assert(eq(u32, groups_wait(false), 0));
	expect_words(BUFFER, 8, 40);
	groups_stop();
}

Test(groups, a_barrier_waits_for_every_earlier_group_of_its_queue)
{
	groups_start();
	(void)groups_submit_hold(3, false);
	(void)groups_submit_hold(4, false);
	uint64_t first = groups_submit_empty(true, 20);
	(void)groups_submit_hold(5, false);
	uint64_t second = groups_submit_empty(false, 21);
	fake_gate_open(4);
	fake_gate_open(5);
	cr_assert(eq(u32, groups_profile(groups_queue(false), first).state, 0));
	fake_gate_open(3);
	cr_assert(eq(u32, raw_wait_slot(client, 20, 1), 0));
	cr_assert(eq(u32, raw_wait_slot(client, 21, 1), 0));
	cr_assert(eq(u32, groups_wait(false), 0));
	cr_assert(eq(u32, groups_profile(groups_queue(false), second).state, 2));
	groups_stop();
}

Test(groups, B22_B23_E5_empty_ranges_run_nothing_and_release_what_depends_on_them)
{
	groups_start();
	static const uint64_t empty[][3] = {{0, 1, 1}, {4, 0, 1}, {0, 4, 4}, {8, 0, 8}, {4, 4, 0}};
	for (size_t i = 0; i < sizeof(empty) / sizeof(*empty); i++) {
		struct build build;
		build_fill(&build, BUFFER, 99);
		memcpy(build.global, empty[i], sizeof(build.global));
		build.launch.n_global = build.launch.n_local = 3;
		memcpy(build.local, (uint64_t[]){7, 0, 3}, sizeof(build.local));
		uint64_t number = build_submit(&build, false);
		cr_assert(eq(u32, groups_wait(false), 0));
		Sycl__V1__Profile times = groups_profile(groups_queue(false), number);
		cr_assert(eq(u32, times.state, 2));
		cr_assert(le(u64, times.submit_ns, times.start_ns));
		cr_assert(le(u64, times.start_ns, times.end_ns));
	}
	expect_words(BUFFER, 0, 40);
	/* The successor runs after the predecessor of the empty group. */
	uint64_t held = groups_submit_hold(1, false);
	struct build build;
	build_fill(&build, BUFFER, 99);
	build.global[0] = 0;
	build_depend(&build, groups_queue(false), held);
	uint64_t empty_group = build_submit(&build, false);
	build_fill(&build, BUFFER, 5);
	build_depend(&build, groups_queue(false), empty_group);
	uint64_t last = build_submit(&build, false);
	cr_assert(lt(u32, groups_profile(groups_queue(false), last).state, 2));
	fake_gate_open(1);
	cr_assert(eq(u32, groups_wait(false), 0));
	expect_words(BUFFER, 5, 41);
	/* Wrong arguments are also refused for an empty range. */
	build_fill(&build, BUFFER, 99);
	build.global[0] = 0;
	build.launch.n_arguments = 1;
	expect_refused(&build, STATUS_KERNEL_ARGUMENT, "has 2 arguments");
	groups_stop();
}

/* Host accessors */

Test(groups, D1_D3_D6_groups_wait_for_an_accessor_and_it_for_them)
{
	groups_start();
	struct build build;
	build_fill(&build, BUFFER, 6);
	uint64_t held = groups_submit_hold(6, false);
	build_depend(&build, groups_queue(false), held);
	(void)build_submit(&build, false);
	groups_access(40, BUFFER, ACCESS_MODE_READ, 40);
	groups_access(41, OTHER, ACCESS_MODE_READ, 41);
	cr_assert(eq(u32, raw_wait_slot(client, 41, 1), 0),
		  "an unrelated buffer is not waited for (D2)");
	cr_assert(eq(u32, atomic_load(&client->slots[40].sequence), 0));
	fake_gate_open(6);
	cr_assert(eq(u32, raw_wait_slot(client, 40, 1), 0));
	cr_assert(eq(u32, groups_words(BUFFER)[0], 6));
	build_fill(&build, BUFFER, 7);
	uint64_t after = build_submit(&build, false);
	cr_assert(eq(u32, groups_profile(groups_queue(false), after).state, 0),
		  "held by the accessor");
	cr_assert(eq(u32, groups_words(BUFFER)[0], 6));
	(void)raw_release(client, raw_id(OBJECT_HOST_ACCESSOR, 40));
	cr_assert(eq(u32, groups_wait(false), 0));
	expect_words(BUFFER, 7, 42);
	groups_stop();
}

Test(groups, an_accessor_released_before_it_was_granted_holds_nothing)
{
	groups_start();
	struct build build;
	uint64_t held = groups_submit_hold(6, false);
	build_fill(&build, BUFFER, 6);
	build_depend(&build, groups_queue(false), held);
	(void)build_submit(&build, false);
	groups_access(40, BUFFER, ACCESS_MODE_READ_WRITE, 40);
	(void)raw_release(client, raw_id(OBJECT_HOST_ACCESSOR, 40));
	build_fill(&build, BUFFER, 7);
	(void)build_submit(&build, false);
	fake_gate_open(6);
	cr_assert(eq(u32, groups_wait(false), 0));
	expect_words(BUFFER, 7, 42);
	groups_stop();
}
