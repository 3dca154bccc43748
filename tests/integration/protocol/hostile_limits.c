/* Requests beyond a limit, outside of an arena or on a failed object: the answer reports that and
 * the session continues. */
#include "access_mode.h"
#include "protocol/hostile_fixture.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>

static void hostile_limits_expect_object_failed(uint64_t object, int32_t code)
{
	const Sycl__V1__Reply *reply = raw_reply_to(hostile, 0);
	cr_assert(eq(int, (int)reply->body_case, SYCL__V1__REPLY__BODY_OBJECT_FAILED));
	cr_assert(eq(u64, reply->object_failed->object, object));
	cr_assert(eq(i32, reply->status->code, code), "%s", reply->status->text);
	cr_assert(gt(sz, strlen(reply->status->text), 10));
}

static void hostile_limits_expect_group_failed(uint64_t group, int32_t code)
{
	const Sycl__V1__Reply *reply = raw_reply_to(hostile, 0);
	cr_assert(eq(int, (int)reply->body_case, SYCL__V1__REPLY__BODY_GROUP_FAILED));
	cr_assert(eq(u64, reply->group_failed->group, group));
	cr_assert(eq(i32, reply->status->code, code), "%s", reply->status->text);
}

Test(hostile, arena_limits_are_in_the_grant)
{
	struct engine_options options;
	fixture_options(&options);
	options.limits.arenas = 2;
	options.limits.arena_bytes = 1u << 20;
	hostile_start_open(&options);
	raw_arena(hostile, 2, 4096);
	cr_assert(eq(i32, hostile->grant_code, STATUS_QUOTA));
	raw_arena(hostile, UINT32_MAX, 4096);
	cr_assert(eq(i32, hostile->grant_code, STATUS_QUOTA));
	raw_arena(hostile, 0, 4097);
	cr_assert(eq(i32, hostile->grant_code, STATUS_INVALID));
	raw_arena(hostile, 0, 0);
	cr_assert(eq(i32, hostile->grant_code, STATUS_INVALID));
	raw_arena(hostile, 0, (1u << 20) + 4096);
	cr_assert(eq(i32, hostile->grant_code, STATUS_QUOTA));
	raw_arena(hostile, 0, UINT64_MAX - 4095);
	cr_assert(eq(i32, hostile->grant_code, STATUS_QUOTA));
	raw_arena(hostile, 0, 4096);
	cr_assert(eq(i32, hostile->grant_code, STATUS_SUCCESS));
	raw_arena(hostile, 0, 4096);
	cr_assert(eq(i32, hostile->grant_code, STATUS_INVALID), "in use");
	raw_arena(hostile, 1, (1u << 20) - 4096);
	cr_assert(eq(i32, hostile->grant_code, STATUS_SUCCESS));
	hostile_expect_alive();
}

static const Sycl__V1__Reply *hostile_limits_destroy_arena(uint32_t arena)
{
	Sycl__V1__ArenaDestroy destroy = SYCL__V1__ARENA_DESTROY__INIT;
	destroy.arena = arena;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_ARENA_DESTROY;
	command.arena_destroy = &destroy;
	uint64_t number = raw_send(hostile, &command), ping = raw_ping(hostile);
	const Sycl__V1__Reply *reply;
	do {
		reply = raw_next_reply(hostile);
	} while (reply->number != number && reply->number != ping);
	return reply;
}

Test(hostile, an_arena_in_use_is_not_destroyed)
{
	hostile_start_with_objects(NULL);
	const Sycl__V1__Reply *reply = hostile_limits_destroy_arena(0);
	cr_assert(eq(i32, reply->status->code, STATUS_INVALID));
	(void)raw_release(hostile, hostile_buffer());
	cr_assert(eq(u64, raw_reply_to(hostile, 0)->released->object, hostile_buffer()));
	cr_assert(eq(int, (int)hostile_limits_destroy_arena(0)->body_case,
		     SYCL__V1__REPLY__BODY_PONG));
	cr_assert(eq(i32, hostile_limits_destroy_arena(0)->status->code, STATUS_INVALID),
		  "there is none any more");
	cr_assert(eq(i32, hostile_limits_destroy_arena(UINT32_MAX)->status->code, STATUS_INVALID));
	hostile_expect_alive();
}

/* Returns the bytes of a memfd that are in memory. */
static uint64_t held_bytes(int fd)
{
	struct stat facts;
	cr_assert(eq(int, fstat(fd, &facts), 0));
	return (uint64_t)facts.st_blocks * 512;
}

static int hostile_limits_duplicate_region(const struct memory_region *region)
{
	int fd = fcntl(region->fd, F_DUPFD_CLOEXEC, 0);
	cr_assert(ge(int, fd, 0));
	return fd;
}

/* The memory is given back when the client was answered, or when the session has ended. In these
 * tests no device has registered host memory, which would delay that. */
static void expect_given_back(int fd, const char *what)
{
	cr_assert(eq(u64, held_bytes(fd), 0), "the %s is gone, and its memory is not", what);
	close_fd(&fd);
}

Test(hostile, an_arena_that_is_destroyed_has_no_memory_though_its_client_keeps_it)
{
	hostile_start_with_objects(NULL);
	int kept = hostile_limits_duplicate_region(hostile->arenas[0]);
	(void)hostile_fill(1);
	cr_assert(eq(u32, raw_wait_slot(hostile, 0, 1), 0));
	memset(hostile->arenas[0]->address, 1, 65536);
	cr_assert(eq(u64, held_bytes(kept), 65536));
	(void)raw_release(hostile, hostile_buffer());
	(void)raw_reply_to(hostile, 0);
	cr_assert(eq(int, (int)hostile_limits_destroy_arena(0)->body_case,
		     SYCL__V1__REPLY__BODY_PONG));
	expect_given_back(kept, "arena");
	/* Memory that is still mapped can be used, at the client's own risk. */
	cr_assert(eq(u8, *(const uint8_t *)hostile->arenas[0]->address, 0));
	hostile_expect_alive();
}

Test(hostile, a_session_that_has_ended_has_no_memory_though_its_client_keeps_it)
{
	hostile_start_with_objects(NULL);
	int arena = hostile_limits_duplicate_region(hostile->arenas[0]),
	    ring = hostile_limits_duplicate_region(hostile->ring);
	memset(hostile->arenas[0]->address, 1, 65536);
	close_fd(&hostile->socket);
	fixture_wait_gone(&fixture);
	expect_given_back(arena, "session with its arena");
	expect_given_back(ring, "session with its ring");
	hostile_stop();
}

/* The program may be about to read its results. */
Test(hostile, an_engine_that_stops_leaves_its_clients_what_they_share_with_it)
{
	hostile_start_with_objects(NULL);
	int arena = hostile_limits_duplicate_region(hostile->arenas[0]),
	    ring = hostile_limits_duplicate_region(hostile->ring);
	memset(hostile->arenas[0]->address, 1, 65536);
	hostile_stop();
	cr_assert(eq(u64, held_bytes(arena), 65536));
	cr_assert(gt(u64, held_bytes(ring), 0));
	close_fd(&arena);
	close_fd(&ring);
}

Test(hostile, ranges_outside_an_arena_make_no_buffer)
{
	hostile_start_with_objects(NULL);
	static const struct {
		uint32_t arena;
		uint64_t offset, size;
	} wrong[] = {
		{0, 65536, 1},
		{0, 0, 65537},
		{0, 4096, UINT64_MAX - 4095},
		{0, UINT64_MAX - 4095, 4096},
		{0, 1, 100},
		{1, 0, 100},
		{UINT32_MAX, 0, 100},
	};
	for (uint32_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		(void)raw_buffer(hostile, raw_id(OBJECT_BUFFER, 10 + i), wrong[i].arena,
				 wrong[i].offset, wrong[i].size);
		const Sycl__V1__Reply *reply = raw_reply_to(hostile, 0);
		cr_assert(eq(int, (int)reply->body_case, SYCL__V1__REPLY__BODY_OBJECT_FAILED),
			  "row %u", i);
		cr_assert(reply->status->code == STATUS_INVALID ||
				  reply->status->code == STATUS_QUOTA,
			  "row %u", i);
	}
	hostile_expect_alive();
}

Test(hostile, requests_that_name_a_failed_object_fail_with_its_cause)
{
	hostile_start_with_objects(NULL);
	uint64_t broken = raw_id(OBJECT_BUFFER, 10);
	(void)raw_buffer(hostile, broken, 3, 0, 4096);
	Sycl__V1__Requirement requirement = SYCL__V1__REQUIREMENT__INIT;
	Sycl__V1__Requirement *list[] = {&requirement};
	requirement.buffer = broken;
	requirement.mode = ACCESS_MODE_READ;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.n_requirements = 1;
	group.requirements = list;
	group.wants_slot = true;
	group.slot = 3;
	group.slot_value = 9;
	(void)hostile_group(&group, 1);
	hostile_limits_expect_object_failed(broken, STATUS_INVALID);
	hostile_limits_expect_group_failed(1, STATUS_INVALID);
	cr_assert(eq(u32, raw_wait_slot(hostile, 3, 9), 1));
	cr_assert(eq(u32, raw_wait_slot(hostile, 0, 1), 1));
	(void)raw_release(hostile, broken);
	cr_assert(eq(u64, raw_reply_to(hostile, 0)->released->object, broken));
	hostile_expect_alive();
}

Test(hostile, object_limits_are_reported_and_the_session_continues)
{
	struct engine_options options;
	fixture_options(&options);
	options.limits.objects = 16;
	hostile_start_with_objects(&options);
	uint64_t beyond = raw_id(OBJECT_BUFFER, 16), far = raw_id(OBJECT_QUEUE, UINT32_MAX);
	(void)raw_buffer(hostile, beyond, 0, 4096, 4096);
	hostile_limits_expect_object_failed(beyond, STATUS_QUOTA);
	(void)raw_queue(hostile, far, raw_id(OBJECT_CONTEXT, CONTEXT), device, 5, true);
	hostile_limits_expect_object_failed(far, STATUS_QUOTA);
	(void)raw_release(hostile, beyond);
	cr_assert(eq(u64, raw_reply_to(hostile, 0)->released->object, beyond));
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.queue = far;
	group.wants_slot = true;
	group.slot = 4;
	group.slot_value = 1;
	(void)hostile_group(&group, 1);
	hostile_limits_expect_group_failed(1, STATUS_QUOTA);
	cr_assert(eq(u32, raw_wait_slot(hostile, 4, 1), 1));
	(void)raw_buffer(hostile, raw_id(OBJECT_BUFFER, 15), 0, 4096, 4096);
	hostile_expect_alive();
}

Test(hostile, B16_past_the_limit_of_groups_in_flight_the_answer_is_quota)
{
	struct engine_options options;
	fixture_options(&options);
	options.limits.groups_in_flight = 4;
	hostile_start_with_objects(&options);
	uint64_t accessor = raw_id(OBJECT_HOST_ACCESSOR, 3);
	(void)hostile_access(accessor, hostile_buffer(), 7, 1);
	cr_assert(eq(u32, raw_wait_slot(hostile, 7, 1), 0));
	for (uint64_t number = 1; number <= 6; number++)
		(void)hostile_fill(number);
	hostile_limits_expect_group_failed(5, STATUS_QUOTA);
	hostile_limits_expect_group_failed(6, STATUS_QUOTA);
	cr_assert(eq(u32, atomic_load(&hostile->slots[0].sequence), 0), "held by the accessor");
	(void)raw_release(hostile, accessor);
	cr_assert(eq(u32, raw_wait_slot(hostile, 0, 6), 1));
	(void)hostile_fill(7);
	(void)raw_wait_slot(hostile, 0, 7);
	hostile_expect_alive();
}

static const Sycl__V1__Reply *build_bundle(uint32_t index, Sycl__V1__BundleBuild *message)
{
	message->bundle = raw_id(OBJECT_BUNDLE, index);
	message->context = raw_id(OBJECT_CONTEXT, CONTEXT);
	message->device = device;
	message->kind = SYCL__V1__SOURCE_KIND__SOURCE_KIND_OPENCL_C;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_BUNDLE_BUILD;
	command.bundle_build = message;
	return raw_reply_to(hostile, raw_send(hostile, &command));
}

Test(hostile, an_oversized_source_is_refused)
{
	struct engine_options options;
	fixture_options(&options);
	options.limits.source_bytes = 8192;
	hostile_start_with_objects(&options);
	Sycl__V1__ArenaRange range = SYCL__V1__ARENA_RANGE__INIT;
	range.size_bytes = 8193;
	Sycl__V1__BundleBuild in_arena = SYCL__V1__BUNDLE_BUILD__INIT;
	in_arena.source_case = SYCL__V1__BUNDLE_BUILD__SOURCE_ARENA_SOURCE;
	in_arena.arena_source = &range;
	cr_assert(eq(i32, build_bundle(20, &in_arena)->status->code, STATUS_QUOTA));
	range.offset_bytes = 65536;
	cr_assert(eq(i32, build_bundle(21, &in_arena)->status->code, STATUS_INVALID),
		  "outside the arena");

	static uint8_t text[INLINE_SOURCE_BYTES_MAX + 1];
	Sycl__V1__BundleBuild in_line = SYCL__V1__BUNDLE_BUILD__INIT;
	in_line.source_case = SYCL__V1__BUNDLE_BUILD__SOURCE_INLINE_SOURCE;
	in_line.inline_source = (ProtobufCBinaryData){sizeof(text), text};
	cr_assert(eq(i32, build_bundle(22, &in_line)->status->code, STATUS_INVALID));
	in_line.inline_source.len = 8193;
	cr_assert(eq(i32, build_bundle(23, &in_line)->status->code, STATUS_QUOTA));

	Sycl__V1__BundleBuild nothing = SYCL__V1__BUNDLE_BUILD__INIT;
	cr_assert(eq(i32, build_bundle(24, &nothing)->status->code, STATUS_INVALID));
	hostile_expect_alive();
}
