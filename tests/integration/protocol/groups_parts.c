/* Requirements and host accesses of parts of a buffer, in the bare protocol: which are refused, and
 * their effects. */
#include "protocol/groups_fixture.h"

static void require_part(struct build *build, uint32_t mode, uint64_t first, uint64_t count)
{
	build_require(build, BUFFER, mode);
	Sycl__V1__Requirement *made = &build->requirements[build->group.n_requirements - 1];
	made->offset_bytes = made->order_offset_bytes = first * sizeof(uint32_t);
	made->size_bytes = made->order_size_bytes = count * sizeof(uint32_t);
}

static void refuse_part(uint64_t order_offset, uint64_t order_size, uint64_t offset, uint64_t size,
			const char *words)
{
	struct build build;
	build_fill(&build, BUFFER, 1);
	build.requirements[0].order_offset_bytes = order_offset;
	build.requirements[0].order_size_bytes = order_size;
	build.requirements[0].offset_bytes = offset;
	build.requirements[0].size_bytes = size;
	expect_refused(&build, STATUS_ACCESSOR, words);
}

Test(groups, C13_parts_of_requirements_are_checked)
{
	groups_start();
	refuse_part(4000, 97, 4000, 97, "is not inside a buffer of 4096");
	refuse_part(UINT64_MAX, 2, 0, 0, "is not inside a buffer of 4096");
	refuse_part(1, UINT64_MAX, 1, 1, "is not inside a buffer of 4096");
	refuse_part(64, 0, 64, 0, "a sub-buffer of no bytes");
	refuse_part(64, 64, 60, 8, "not inside the sub-buffer of 64 at 64");
	refuse_part(64, 64, 64, 65, "not inside the sub-buffer of 64 at 64");
	refuse_part(64, 64, 0, 0, "not inside the sub-buffer of 64 at 64");
	refuse_part(64, 64, UINT64_MAX, 2, "not inside");
	refuse_part(64, 64, 128, UINT64_MAX, "not inside");
	/* A valid range does not make another one valid. */
	struct build build;
	build_begin(&build);
	require_part(&build, ACCESS_MODE_WRITE, 0, 16);
	require_part(&build, ACCESS_MODE_READ, 1020, 5);
	build_accessor(&build, 0);
	build_value(&build, 1);
	build_launch(&build, FILL, 16);
	expect_refused(&build, STATUS_ACCESSOR, "not inside");
	groups_stop();
}

/* Copies the lowest words to the words from `to` on; both are parts of one buffer. */
static void groups_parts_begin_copy(struct build *build, uint64_t to, uint64_t count)
{
	build_begin(build);
	require_part(build, ACCESS_MODE_READ, 0, count);
	require_part(build, ACCESS_MODE_WRITE_NO_INIT, to, count);
	build->group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_COPY;
	build->group.copy = &build->copy;
	build->source.place_case = build->destination.place_case =
		SYCL__V1__MEMORY_END__PLACE_REQUIREMENT;
	build->destination.requirement = 1;
	build->destination.offset_bytes = to * sizeof(uint32_t);
	build->copy.size_bytes = count * sizeof(uint32_t);
}

Test(groups, C1_C8_D20_a_group_names_several_parts_of_one_buffer)
{
	groups_start();
	struct build build;
	build_fill(&build, BUFFER, 5);
	(void)build_submit(&build, false);
	build_begin(&build);
	require_part(&build, ACCESS_MODE_WRITE_NO_INIT, 0, 16);
	build_accessor(&build, 0);
	build_value(&build, 9);
	build_launch(&build, FILL, 16);
	(void)build_submit(&build, false);
	groups_parts_begin_copy(&build, 100, 16);
	(void)build_submit(&build, false);
	groups_access(40, BUFFER, ACCESS_MODE_READ, 40);
	cr_assert(eq(u32, raw_wait_slot(client, 40, 1), 0));
	for (uint32_t i = 0; i < 1024; i++)
		cr_assert(eq(u32, groups_words(BUFFER)[i], i < 16 || (i >= 100 && i < 116) ? 9 : 5),
			  "word %u", i);
	groups_parts_begin_copy(&build, 8, 16);
	expect_refused(&build, STATUS_INVALID, "overlap");
	groups_stop();
}

static void groups_parts_access_part(uint32_t once, uint32_t mode, uint64_t offset, uint64_t size)
{
	Sycl__V1__HostAccess access = SYCL__V1__HOST_ACCESS__INIT;
	access.accessor = raw_id(OBJECT_HOST_ACCESSOR, once);
	access.buffer = raw_id(OBJECT_BUFFER, BUFFER);
	access.mode = mode;
	access.slot = once;
	access.slot_value = 1;
	access.offset_bytes = access.order_offset_bytes = offset;
	access.size_bytes = access.order_size_bytes = size;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_HOST_ACCESS;
	command.host_access = &access;
	(void)raw_send(client, &command);
}

static void refuse_access(uint32_t once, uint64_t offset, uint64_t size)
{
	groups_parts_access_part(once, ACCESS_MODE_READ, offset, size);
	const Sycl__V1__Reply *reply;
	do
		reply = raw_reply_to(client, 0); /* the one before was released, too */
	while (reply->body_case != SYCL__V1__REPLY__BODY_OBJECT_FAILED);
	cr_assert(eq(i32, reply->status->code, STATUS_ACCESSOR), "%s", reply->status->text);
	cr_assert(eq(u32, raw_wait_slot(client, once, 1), 1));
	(void)raw_release(client, raw_id(OBJECT_HOST_ACCESSOR, once));
}

Test(groups, C13_D3_D6_host_accesses_of_parts)
{
	groups_start();
	refuse_access(40, 4000, 97);
	refuse_access(41, UINT64_MAX, 1);
	refuse_access(42, 8, UINT64_MAX);
	refuse_access(43, 8, 0);
	/* While one part is held, a group on another part runs, and one on the whole buffer does
	 * not. */
	groups_parts_access_part(44, ACCESS_MODE_READ_WRITE, 0, 64);
	cr_assert(eq(u32, raw_wait_slot(client, 44, 1), 0));
	struct build build;
	build_begin(&build);
	require_part(&build, ACCESS_MODE_WRITE_NO_INIT, 16, 16);
	build_accessor(&build, 0);
	build.arguments[0].offset_bytes = 64;
	build_value(&build, 3);
	build_launch(&build, FILL, 16);
	build.group.wants_slot = true;
	build.group.slot = 50;
	build.group.slot_value = 1;
	(void)build_submit(&build, false);
	cr_assert(eq(u32, raw_wait_slot(client, 50, 1), 0));
	build_begin(&build);
	build_require(&build, BUFFER, ACCESS_MODE_READ_WRITE);
	build_accessor(&build, 0);
	build_launch(&build, INCREMENT, 1024);
	(void)build_submit(&build, false);
	((uint32_t *)(uintptr_t)groups_words(BUFFER))[2] = 70;
	(void)raw_release(client, raw_id(OBJECT_HOST_ACCESSOR, 44));
	groups_parts_access_part(45, ACCESS_MODE_READ, 0, 0);
	cr_assert(eq(u32, raw_wait_slot(client, 45, 1), 0));
	cr_assert(eq(u32, groups_words(BUFFER)[2], 71));
	cr_assert(eq(u32, groups_words(BUFFER)[20], 4));
	cr_assert(eq(u32, groups_words(BUFFER)[40], 1));
	groups_stop();
}
