/* The results of a session's work: bytes, build logs, times, usage. */
#include "protocol/groups_fixture.h"

#include <string.h>

Test(groups, D20_bytes_are_copied_between_buffers_and_arenas)
{
	groups_start();
	uint32_t *arena = client->arenas[0]->address;
	arena[4096] = 77; /* behind the buffers */
	struct build build;
	build_begin(&build);
	build_require(&build, BUFFER, ACCESS_MODE_WRITE);
	build.group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_COPY;
	build.group.copy = &build.copy;
	Sycl__V1__ArenaRange range = SYCL__V1__ARENA_RANGE__INIT;
	range.offset_bytes = 16384;
	range.size_bytes = 4;
	build.source.place_case = SYCL__V1__MEMORY_END__PLACE_ARENA;
	build.source.arena = &range;
	build.destination.place_case = SYCL__V1__MEMORY_END__PLACE_REQUIREMENT;
	build.destination.offset_bytes = 8;
	build.copy.size_bytes = 4;
	(void)build_submit(&build, false);
	groups_access(40, BUFFER, ACCESS_MODE_READ, 40);
	cr_assert(eq(u32, raw_wait_slot(client, 40, 1), 0));
	cr_assert(eq(u32, groups_words(BUFFER)[2], 77));
	cr_assert(eq(u32, groups_words(BUFFER)[3], 0));
	groups_stop();
}

Test(groups, a_source_that_does_not_compile_returns_its_log)
{
	groups_start();
	const Sycl__V1__Reply *reply = groups_bundle(30, "fill_u32\nno_such_thing\n");
	cr_assert(eq(i32, reply->status->code, STATUS_BUILD));
	cr_assert(eq(int, (int)reply->body_case, SYCL__V1__REPLY__BODY_BUILD));
	cr_assert(ne(ptr, strstr(reply->build->log, "no_such_thing"), NULL), "log: %s",
		  reply->build->log);
	/* Every object that uses it fails with its cause. */
	reply = groups_kernel(31, 30, "fill_u32");
	cr_assert(eq(i32, reply->status->code, STATUS_BUILD));
	reply = groups_kernel(32, BUNDLE, "not_there");
	cr_assert(ne(i32, reply->status->code, STATUS_SUCCESS));
	/* Its index is free again without a release. */
	Sycl__V1__BundleBuild build = SYCL__V1__BUNDLE_BUILD__INIT;
	build.bundle = object_id_make(OBJECT_BUNDLE, 2, 30);
	build.context = raw_id(OBJECT_CONTEXT, CONTEXT);
	build.device = device;
	build.kind = SYCL__V1__SOURCE_KIND__SOURCE_KIND_OPENCL_C;
	build.source_case = SYCL__V1__BUNDLE_BUILD__SOURCE_INLINE_SOURCE;
	build.inline_source = (ProtobufCBinaryData){4, (uint8_t *)(uintptr_t) "noop"};
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_BUNDLE_BUILD;
	command.bundle_build = &build;
	reply = raw_reply_to(client, raw_send(client, &command));
	cr_assert(eq(ptr, reply->status, NULL));
	groups_stop();
}

Test(groups, H4_times_are_of_the_session_and_in_order)
{
	groups_start();
	struct build build;
	uint64_t last_end = 0;
	for (int i = 0; i < 20; i++) {
		build_fill(&build, BUFFER, 1);
		uint64_t number = build_submit(&build, true);
		cr_assert(eq(u32, groups_wait(true), 0));
		Sycl__V1__Profile times = groups_profile(groups_queue(true), number);
		cr_assert(eq(u32, times.state, 2));
		cr_assert(gt(u64, times.submit_ns, last_end));
		cr_assert(le(u64, times.submit_ns, times.start_ns));
		cr_assert(le(u64, times.start_ns, times.end_ns));
		last_end = times.submit_ns;
	}
	groups_stop();
}

Test(groups, usage_counts_what_was_done)
{
	groups_start();
	struct build build;
	build_fill(&build, BUFFER, 1);
	(void)build_submit(&build, false);
	build_begin(&build);
	build_launch(&build, BROKEN, 1);
	(void)build_submit(&build, false);
	(void)groups_wait(false);
	Sycl__V1__UsageQuery query = SYCL__V1__USAGE_QUERY__INIT;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_USAGE_QUERY;
	command.usage_query = &query;
	const Sycl__V1__Usage *usage = raw_reply_to(client, raw_send(client, &command))->usage;
	cr_assert(eq(u64, usage->groups_submitted, 2));
	cr_assert(eq(u64, usage->groups_completed, 1));
	cr_assert(eq(u64, usage->groups_failed, 1));
	cr_assert(eq(u64, usage->buffer_bytes, 8192));
	cr_assert(eq(u64, usage->arena_bytes, 65536));
	groups_stop();
}
