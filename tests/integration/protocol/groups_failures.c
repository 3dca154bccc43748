/* Command groups that fail or lose their objects, and their effect on dependent and independent
 * groups. */
#include "protocol/groups_fixture.h"

#include <stdatomic.h>

Test(groups, M9_what_depends_on_a_failed_group_fails_with_its_cause)
{
	groups_start();
	struct build build;
	build_begin(&build);
	build_launch(&build, BROKEN, 1);
	build_require(&build, BUFFER, ACCESS_MODE_READ_WRITE);
	uint64_t first = build_submit(&build, false);
	build_fill(&build, OTHER, 1);
	build_depend(&build, groups_queue(false), first);
	build.group.wants_slot = true;
	build.group.slot = EVENT_SLOT;
	build.group.slot_value = 1;
	uint64_t second = build_submit(&build, false);
	build_fill(&build, OTHER, 2);
	build_depend(&build, groups_queue(false), second);
	uint64_t third = build_submit(&build, false);
	expect_failed(groups_queue(false), first, STATUS_KERNEL, "");
	expect_failed(groups_queue(false), second, STATUS_DEPENDENCY_FAILED, "");
	cr_assert(eq(u32, atomic_load(&client->slots[EVENT_SLOT].status), 1));
	expect_failed(groups_queue(false), third, STATUS_DEPENDENCY_FAILED, "");
	cr_assert(eq(u32, groups_wait(false), 1));
	/* Its failure is still kept long after. */
	build_fill(&build, OTHER, 3);
	build_depend(&build, groups_queue(false), first);
	uint64_t fourth = build_submit(&build, true);
	expect_failed(groups_queue(true), fourth, STATUS_DEPENDENCY_FAILED, "");
	/* A write of the whole buffer does not need the lost contents. */
	build_fill(&build, OTHER, 4);
	build.requirements[0].mode = ACCESS_MODE_WRITE_NO_INIT;
	(void)build_submit(&build, false);
	(void)groups_wait(false);
	expect_words(OTHER, 4, 40);
	groups_stop();
}

/* The failure had not been reported when the group was sent. A group behind it must not use the old
 * contents for the new ones. */
Test(groups, M9_what_needs_what_a_refused_group_would_have_written_fails_with_its_cause)
{
	groups_start();
	struct build build;
	build_fill(&build, OTHER, 1);
	(void)build_submit(&build, false);
	expect_words(OTHER, 1, 40);
	build_fill(&build, BUFFER, 2);
	build.requirements[0].offset_bytes = 0;
	build.requirements[0].size_bytes = 400;
	build.launch.n_local = 1;
	build.local[0] = 3;
	expect_refused(&build, STATUS_ND_RANGE, "");
	/* The contents of a part are lost; the other parts are valid. */
	build_fill(&build, BUFFER, 3);
	build.requirements[0].offset_bytes = 400;
	build.requirements[0].size_bytes = 400;
	build.arguments[0].offset_bytes = 400;
	build.global[0] = 100;
	(void)build_submit(&build, false);
	(void)groups_wait(false);
	expect_poisoned(BUFFER, 41);
	build_fill(&build, BUFFER, 4);
	uint64_t behind = build_submit(&build, false);
	expect_failed(groups_queue(false), behind, STATUS_DEPENDENCY_FAILED, "");
	/* A write of the whole part does not need the lost contents. */
	build_fill(&build, BUFFER, 5);
	build.requirements[0].mode = ACCESS_MODE_WRITE_NO_INIT;
	(void)build_submit(&build, false);
	expect_words(BUFFER, 5, 42);
	expect_words(OTHER, 1, 43);
	groups_stop();
}

Test(groups, M9_M12_a_refused_group_may_name_what_is_gone)
{
	groups_start();
	struct build build;
	build_fill(&build, BUFFER, 2);
	build.launch.n_local = 1;
	build.local[0] = 3;
	expect_refused(&build, STATUS_ND_RANGE, "");
	/* A failed accessor keeps the buffer's place in the table when the buffer has no other
	 * references. */
	groups_access(40, BUFFER, ACCESS_MODE_READ, 40);
	cr_assert(eq(u32, raw_wait_slot(client, 40, 1), 1));
	(void)raw_release(client, raw_id(OBJECT_BUFFER, BUFFER));
	for (int i = 0; i < 20; i++) {
		build_begin(&build);
		build_require(&build, OTHER, 999);
		build_require(&build, BUFFER, ACCESS_MODE_WRITE);
		build.requirements[1].offset_bytes = 400;
		build.requirements[1].size_bytes = 400;
		build_accessor(&build, 0);
		build_value(&build, 1);
		build_launch(&build, FILL, 1);
		expect_refused(&build, STATUS_ACCESSOR, "no access mode");
	}
	expect_words(OTHER, 0, 41);
	groups_stop();
}

Test(groups, B28_the_order_of_a_queue_passes_no_failure_on)
{
	groups_start();
	struct build build;
	(void)groups_submit_hold(9, true);
	build_begin(&build);
	build_launch(&build, BROKEN, 1);
	uint64_t broken = build_submit(&build, true);
	build_fill(&build, BUFFER, 5);
	(void)build_submit(&build, true);
	(void)groups_submit_hold(9, false);
	(void)groups_submit_empty(true, 30);
	fake_gate_open(9);
	expect_failed(groups_queue(true), broken, STATUS_KERNEL, "");
	cr_assert(eq(u32, groups_wait(true), 1), "one group of it failed");
	cr_assert(eq(u32, raw_wait_slot(client, 30, 1), 0));
	expect_words(BUFFER, 5, 40);
	groups_stop();
}

Test(groups, M9_B32_a_failed_group_is_known_after_its_queue_is_gone)
{
	groups_start();
	struct build build;
	build_begin(&build);
	build_launch(&build, BROKEN, 1);
	uint64_t first = build_submit(&build, false);
	(void)groups_wait(false);
	(void)raw_release(client, groups_queue(false));
	const Sycl__V1__Reply *reply;
	do {
		reply = raw_reply_to(client, 0);
	} while (reply->body_case != SYCL__V1__REPLY__BODY_RELEASED);
	cr_assert(eq(u64, reply->released->object, groups_queue(false)));
	build_fill(&build, OTHER, 3);
	build_depend(&build, groups_queue(false), first);
	uint64_t second = build_submit(&build, true);
	expect_failed(groups_queue(true), second, STATUS_DEPENDENCY_FAILED, "");
	groups_stop();
}

Test(groups, D15_D16_pending_work_goes_on_when_its_objects_are_released)
{
	groups_start();
	struct build build;
	build_hold(&build, 7);
	build_require(&build, BUFFER, ACCESS_MODE_READ_WRITE);
	build.group.wants_slot = true;
	build.group.slot = EVENT_SLOT;
	build.group.slot_value = 1;
	(void)build_submit(&build, false);
	for (uint32_t i = 0; i < KERNELS; i++)
		(void)raw_release(client, raw_id(OBJECT_KERNEL, FIRST_KERNEL + i));
	(void)raw_release(client, raw_id(OBJECT_BUNDLE, BUNDLE));
	(void)raw_release(client, raw_id(OBJECT_BUFFER, BUFFER));
	(void)raw_release(client, groups_queue(false));
	(void)raw_release(client, groups_queue(true));
	(void)raw_release(client, raw_id(OBJECT_CONTEXT, CONTEXT));
	raw_round_trip(client);
	cr_assert(eq(u32, atomic_load(&client->slots[EVENT_SLOT].sequence), 0));
	fake_gate_open(7);
	cr_assert(eq(u32, raw_wait_slot(client, EVENT_SLOT, 1), 0));
	bool buffer = false, context = false, queue = false;
	while (!buffer || !context || !queue) {
		const Sycl__V1__Reply *reply = raw_reply_to(client, 0);
		cr_assert(eq(int, (int)reply->body_case, SYCL__V1__REPLY__BODY_RELEASED));
		buffer |= reply->released->object == raw_id(OBJECT_BUFFER, BUFFER);
		context |= reply->released->object == raw_id(OBJECT_CONTEXT, CONTEXT);
		queue |= reply->released->object == groups_queue(false);
	}
	groups_stop();
}
