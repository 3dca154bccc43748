#include "session/limits.h"
#include "protocol_limits.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>

TestSuite(engine_limits, .timeout = 10);

Test(engine_limits, defaults_are_those_of_the_protocol)
{
	struct session_limits limits;
	session_limits_init(&limits);
	cr_assert(eq(u64, limits.objects, LIMIT_OBJECTS));
	cr_assert(eq(u64, limits.groups_in_flight, LIMIT_GROUPS_IN_FLIGHT));
	cr_assert(eq(u64, limits.source_bytes, LIMIT_SOURCE_BYTES));
}

/* A command does not outlive its client for ever where nothing is configured. */
Test(engine_limits, N4_what_runs_without_its_client_has_a_deadline_by_default)
{
	struct session_limits limits;
	session_limits_init(&limits);
	cr_assert(eq(u64, limits.orphan_seconds, 30), "as sycld.conf(5) says");
	cr_assert(eq(u64, limits.group_seconds, 0), "what its client waits for has none");
}

Test(engine_limits, assignments_set_one_and_only_one)
{
	struct session_limits limits, before;
	session_limits_init(&limits);
	before = limits;
	cr_assert(eq(int, session_limits_set(&limits, "arena_bytes=1048576"), 0));
	cr_assert(eq(u64, limits.arena_bytes, 1048576));
	limits.arena_bytes = before.arena_bytes;
	cr_assert(eq(int, session_limits_set(&limits, "builds=1"), 0));
	cr_assert(eq(u64, limits.builds, 1));
	limits.builds = before.builds;
	cr_assert(eq(u64, limits.objects, before.objects));
	cr_assert(eq(u64, limits.arenas, before.arenas));
}

Test(engine_limits, what_is_no_assignment_is_refused)
{
	static const char *const wrong[] = {
		"",
		"=",
		"objects",
		"objects=",
		"objects=0",
		"objects=-1",
		"objects= 5",
		"objects=5x",
		"object=5",
		"objectss=5",
		"builds=99999999999999999999",
		"objects=16777217",
		"=5",
	};
	struct session_limits limits;
	session_limits_init(&limits);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		cr_assert(eq(int, session_limits_set(&limits, wrong[i]), -EINVAL), "%s", wrong[i]);
	cr_assert(eq(u64, limits.objects, LIMIT_OBJECTS));
}
