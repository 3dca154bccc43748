/* What groups of a shape take: the mean moves, the device's clock has the last word, old shapes make room. */
#include "gate_estimate.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(gate_estimate, .timeout = 10);

static struct gate_estimates estimates;

Test(gate_estimate, nothing_is_known_of_what_has_no_shape)
{
	gate_estimate_learn(&estimates, 0, 1000, true);
	cr_expect(eq(u64, gate_estimate_ns(&estimates, 0), 0));
	cr_expect(eq(u64, gate_estimate_ns(&estimates, 7), 0));
	cr_expect(gate_estimate_wants(&estimates, 0));
}

Test(gate_estimate, the_mean_follows_what_is_measured)
{
	gate_estimate_learn(&estimates, 7, 1000, true);
	cr_expect(eq(u64, gate_estimate_ns(&estimates, 7), 1000));
	gate_estimate_learn(&estimates, 7, 1800, true);
	cr_expect(eq(u64, gate_estimate_ns(&estimates, 7), 1100));
	for (int i = 0; i < 100; i++)
		gate_estimate_learn(&estimates, 7, 5000, true);
	cr_expect(eq(u64, gate_estimate_ns(&estimates, 7), 5000), "also up, to the last");
	for (int i = 0; i < 200; i++)
		gate_estimate_learn(&estimates, 7, 100, true);
	cr_expect(lt(u64, gate_estimate_ns(&estimates, 7), 110));
}

Test(gate_estimate, what_is_measured_replaces_what_was_seen_from_outside)
{
	gate_estimate_learn(&estimates, 7, 90000, false);
	cr_expect(eq(u64, gate_estimate_ns(&estimates, 7), 90000));
	cr_expect(not(gate_estimate_is_exact(&estimates, 7)));
	gate_estimate_learn(&estimates, 7, 1000, true);
	cr_expect(eq(u64, gate_estimate_ns(&estimates, 7), 1000));
	gate_estimate_learn(&estimates, 7, 90000, false);
	cr_expect(eq(u64, gate_estimate_ns(&estimates, 7), 1000));
	cr_expect(gate_estimate_is_exact(&estimates, 7));
}

Test(gate_estimate, the_first_are_timed_and_then_a_few)
{
	uint32_t timed = 0;
	for (int i = 0; i < 320; i++) {
		bool wants = gate_estimate_wants(&estimates, 9);
		timed += wants;
		if (wants)
			gate_estimate_learn(&estimates, 9, 100, true);
	}
	cr_expect(ge(u32, timed, GATE_SAMPLE_FIRST + 320 / GATE_SAMPLE_EVERY - 1));
	cr_expect(le(u32, timed, GATE_SAMPLE_FIRST + 320 / GATE_SAMPLE_EVERY));
}

Test(gate_estimate, a_flood_of_shapes_leaves_those_in_use)
{
	gate_estimate_learn(&estimates, 42, 1234, true);
	for (uint64_t key = 1000; key < 101000; key++) {
		gate_estimate_learn(&estimates, key, 5, true);
		if (key % 50 == 0)
			gate_estimate_learn(&estimates, 42, 1234, true);
	}
	cr_expect(eq(u64, gate_estimate_ns(&estimates, 42), 1234));
	uint32_t known = 0;
	for (uint64_t key = 1000; key < 101000; key++)
		known += gate_estimate_ns(&estimates, key) > 0;
	cr_expect(le(u32, known, GATE_SHAPE_SETS * GATE_SHAPE_WAYS));
	cr_expect(ge(u32, known, GATE_SHAPE_SETS * GATE_SHAPE_WAYS / 2));
}
