/* A session leaves nothing in the engine when its peer ends in the middle of work. */
#include "cleanup.h"
#include "process/process.h"
#include "protocol/hostile_fixture.h"

#include <stdio.h>
#include <string.h>

Test(hostile, D8_N4_a_peer_that_leaves_with_a_held_accessor_and_waiting_groups_is_gone)
{
	hostile_start_with_objects(NULL);
	uint64_t accessor = raw_id(OBJECT_HOST_ACCESSOR, 3);
	(void)hostile_access(accessor, hostile_buffer(), 7, 1);
	cr_assert(eq(u32, raw_wait_slot(hostile, 7, 1), 0));
	for (uint64_t number = 1; number <= 100; number++)
		(void)hostile_fill(number);
	raw_round_trip(hostile);
	close_fd(&hostile->socket);
	fixture_wait_gone(&fixture);
	cr_assert(eq(u64, fixture.last_usage.buffer_bytes, 0));
	cr_assert(eq(u64, fixture.last_usage.groups_submitted, 100));
	cr_assert(eq(u64, fixture.last_usage.groups_completed + fixture.last_usage.groups_failed,
		     100));
	hostile_stop();
}

/* Counts mappings of rings and arenas only: other mappings change with threads and the
 * allocator. */
static int session_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	cr_assert(ne(ptr, maps, NULL));
	int count = 0;
	char line[512];
	while (fgets(line, sizeof(line), maps))
		count += strstr(line, "memfd:sycl-ring") || strstr(line, "memfd:sycl-arena");
	(void)fclose(maps);
	return count;
}

Test(hostile, N6_descriptors_and_mappings_are_back_at_the_base)
{
	hostile_start(NULL);
	struct process_facts before, after;
	process_facts_read(&before);
	int mappings = session_mappings();
	cr_assert(gt(int, mappings, 0), "the neighbour's");
	raw_open(hostile);
	device = raw_fake_device(hostile);
	for (uint32_t i = 0; i < RAW_ARENAS; i++)
		raw_arena(hostile, i, 1u << 20);
	(void)raw_context(hostile, raw_id(OBJECT_CONTEXT, CONTEXT), device);
	(void)raw_queue(hostile, hostile_queue(), raw_id(OBJECT_CONTEXT, CONTEXT), device, 0, true);
	(void)raw_buffer(hostile, hostile_buffer(), 0, 0, 4096);
	(void)hostile_fill(1);
	cr_assert(eq(u32, raw_wait_slot(hostile, 0, 1), 0));
	cr_assert(gt(int, session_mappings(), mappings));
	raw_fini(hostile);
	fixture_wait_gone(&fixture);
	process_facts_read(&after);
	raw_init(hostile, -1);
	cr_assert(eq(u32, after.descriptors, before.descriptors - 2),
		  "both ends of its socket are closed");
	cr_assert(eq(int, session_mappings(), mappings));
	hostile_stop();
}
