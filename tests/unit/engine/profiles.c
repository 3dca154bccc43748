#include "base/profile_ring.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(profiles, .timeout = 20);

static void put_profile(struct profile_ring *ring, uint64_t group, uint64_t *budget)
{
	struct profile_times times = {group, group * 10, group * 10 + 1, group * 10 + 2};
	profile_ring_put(ring, &times, budget);
}

Test(profiles, H13_keeps_the_latest_and_no_more)
{
	struct profile_ring ring = {.capacity = 0};
	uint64_t budget = 1u << 20;
	struct profile_times times;
	cr_assert(not(profile_ring_get(&ring, 1, &times)));
	uint64_t last = PROFILE_GROUPS_KEPT * 2ull + 17;
	for (uint64_t group = 1; group <= last; group++)
		put_profile(&ring, group, &budget);
	cr_assert(eq(u32, ring.capacity, PROFILE_GROUPS_KEPT));
	for (uint64_t group = 1; group <= last; group++) {
		bool kept = profile_ring_get(&ring, group, &times);
		cr_assert(eq(int, kept, group > last - PROFILE_GROUPS_KEPT), "group %lu", group);
		if (kept)
			cr_assert(eq(u64, times.end_ns, group * 10 + 2));
	}
	cr_assert(not(profile_ring_get(&ring, last + 1, &times)));
	cr_assert(not(profile_ring_get(&ring, 0, &times)));
	profile_ring_fini(&ring, &budget);
	cr_assert(eq(u64, budget, 1u << 20), "given back");
}

Test(profiles, groups_that_end_out_of_order_are_kept_too)
{
	struct profile_ring ring = {.capacity = 0};
	uint64_t budget = 1u << 20;
	for (uint64_t group = 1000; group >= 1; group--)
		put_profile(&ring, group, &budget);
	struct profile_times times;
	for (uint64_t group = 1; group <= 1000; group++)
		cr_assert(profile_ring_get(&ring, group, &times), "group %lu", group);
	profile_ring_fini(&ring, &budget);
}

Test(profiles, a_session_that_has_used_its_budget_keeps_fewer)
{
	struct profile_ring ring = {.capacity = 0}, none = {.capacity = 0};
	uint64_t budget = 100;
	for (uint64_t group = 1; group <= 200; group++)
		put_profile(&ring, group, &budget);
	cr_assert(eq(u32, ring.capacity, PROFILE_GROUPS_FIRST));
	cr_assert(eq(u64, budget, 100 - PROFILE_GROUPS_FIRST));
	struct profile_times times;
	cr_assert(profile_ring_get(&ring, 200, &times));
	cr_assert(not(profile_ring_get(&ring, 200 - PROFILE_GROUPS_FIRST, &times)));
	put_profile(&none, 1, &budget);
	cr_assert(not(profile_ring_get(&none, 1, &times)));
	profile_ring_fini(&ring, &budget);
	profile_ring_fini(&none, &budget);
	cr_assert(eq(u64, budget, 100));
}
