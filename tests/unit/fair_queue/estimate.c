/* The estimated time of groups of a shape: the mean follows, the device's clock decides, old shapes
 * are replaced. */
#include "fair_queue/estimate.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(gate_estimate, .timeout = 10);

static struct fair_queue_estimates estimates;

Test(gate_estimate, nothing_is_known_of_what_has_no_shape)
{
	fair_queue_estimate_update(&estimates, 0, 1000, true);
	cr_expect(eq(u64, fair_queue_estimate_ns(&estimates, 0), 0));
	cr_expect(eq(u64, fair_queue_estimate_ns(&estimates, 7), 0));
	cr_expect(fair_queue_estimate_samples(&estimates, 0));
}

Test(gate_estimate, the_mean_follows_what_is_measured)
{
	fair_queue_estimate_update(&estimates, 7, 1000, true);
	cr_expect(eq(u64, fair_queue_estimate_ns(&estimates, 7), 1000));
	fair_queue_estimate_update(&estimates, 7, 1800, true);
	cr_expect(eq(u64, fair_queue_estimate_ns(&estimates, 7), 1100));
	for (int i = 0; i < 100; i++)
		fair_queue_estimate_update(&estimates, 7, 5000, true);
	cr_expect(eq(u64, fair_queue_estimate_ns(&estimates, 7), 5000), "also up, to the last");
	for (int i = 0; i < 200; i++)
		fair_queue_estimate_update(&estimates, 7, 100, true);
	cr_expect(lt(u64, fair_queue_estimate_ns(&estimates, 7), 110));
}

Test(gate_estimate, what_is_measured_replaces_what_was_seen_from_outside)
{
	fair_queue_estimate_update(&estimates, 7, 90000, false);
	cr_expect(eq(u64, fair_queue_estimate_ns(&estimates, 7), 90000));
	cr_expect(not(fair_queue_estimate_is_exact(&estimates, 7)));
	fair_queue_estimate_update(&estimates, 7, 1000, true);
	cr_expect(eq(u64, fair_queue_estimate_ns(&estimates, 7), 1000));
	fair_queue_estimate_update(&estimates, 7, 90000, false);
	cr_expect(eq(u64, fair_queue_estimate_ns(&estimates, 7), 1000));
	cr_expect(fair_queue_estimate_is_exact(&estimates, 7));
}

Test(gate_estimate, the_first_are_timed_and_then_a_few)
{
	uint32_t timed = 0;
	for (int i = 0; i < 320; i++) {
		bool wants = fair_queue_estimate_samples(&estimates, 9);
		timed += wants;
		if (wants)
			fair_queue_estimate_update(&estimates, 9, 100, true);
	}
	cr_expect(ge(u32, timed, FAIR_QUEUE_SAMPLE_FIRST + 320 / FAIR_QUEUE_SAMPLE_EVERY - 1));
	cr_expect(le(u32, timed, FAIR_QUEUE_SAMPLE_FIRST + 320 / FAIR_QUEUE_SAMPLE_EVERY));
}

Test(gate_estimate, a_flood_of_shapes_leaves_those_in_use)
{
	fair_queue_estimate_update(&estimates, 42, 1234, true);
	for (uint64_t key = 1000; key < 101000; key++) {
		fair_queue_estimate_update(&estimates, key, 5, true);
		if (key % 50 == 0)
			fair_queue_estimate_update(&estimates, 42, 1234, true);
	}
	cr_expect(eq(u64, fair_queue_estimate_ns(&estimates, 42), 1234));
	uint32_t known = 0;
	for (uint64_t key = 1000; key < 101000; key++)
		known += fair_queue_estimate_ns(&estimates, key) > 0;
	cr_expect(le(u32, known, FAIR_QUEUE_SHAPE_SETS * FAIR_QUEUE_SHAPE_WAYS));
	cr_expect(ge(u32, known, FAIR_QUEUE_SHAPE_SETS * FAIR_QUEUE_SHAPE_WAYS / 2));
}

Test(gate_estimate, what_had_the_device_to_itself_counts_more_than_what_had_company)
{
	fair_queue_estimate_update(&estimates, 7, 9000, FAIR_QUEUE_EXACT);
	fair_queue_estimate_note(&estimates, 7, 2000, FAIR_QUEUE_SEEN_ALONE, 1);
	cr_expect(eq(u64, fair_queue_estimate_ns(&estimates, 7), 2000));
	fair_queue_estimate_note(&estimates, 7, 1000, FAIR_QUEUE_EXACT_ALONE, 2);
	cr_expect(eq(u64, fair_queue_estimate_ns(&estimates, 7), 1000));
	fair_queue_estimate_update(&estimates, 7, 9000, FAIR_QUEUE_EXACT);
	fair_queue_estimate_update(&estimates, 7, 9000, FAIR_QUEUE_SEEN_ALONE);
	cr_expect(eq(u64, fair_queue_estimate_ns(&estimates, 7), 1000));
	/* While there are few, the mean is that of all. */
	fair_queue_estimate_note(&estimates, 7, 1200, FAIR_QUEUE_EXACT_ALONE, 3);
	fair_queue_estimate_note(&estimates, 7, 1400, FAIR_QUEUE_EXACT_ALONE, 4);
	cr_expect(eq(u64, fair_queue_estimate_ns(&estimates, 7), 1200));
	/* An estimate with a large error begins anew. */
	fair_queue_estimate_note(&estimates, 7, 11200, FAIR_QUEUE_EXACT_ALONE, 5);
	cr_expect(eq(u64, fair_queue_estimate_ns(&estimates, 7), 11200));
	cr_expect(fair_queue_estimate_is_alone(&estimates, 7));
}

Test(gate_estimate, the_next_one_alone_is_due_later_each_time_that_it_is_as_expected)
{
	uint64_t now_ns = 1, last_ns = 0;
	cr_expect(not(fair_queue_estimate_is_due(&estimates, 7, 100, 5000, now_ns)),
		  "nothing is known");
	fair_queue_estimate_update(&estimates, 7, 2000, FAIR_QUEUE_EXACT);
	cr_expect(fair_queue_estimate_is_due(&estimates, 7, 100, 5000, now_ns));
	cr_expect(not(fair_queue_estimate_is_due(&estimates, 7, 100, 1999, now_ns)),
		  "longer than may be");
	cr_expect(not(fair_queue_estimate_is_due(&estimates, 7, 2001, 5000, now_ns)),
		  "not worth it");
	for (int i = 0; i < 10; i++) {
		fair_queue_estimate_note(&estimates, 7, 1000, FAIR_QUEUE_EXACT_ALONE, now_ns);
		uint64_t step_ns = last_ns ? 2 * last_ns : FAIR_QUEUE_ALONE_SOON;
		step_ns = step_ns < FAIR_QUEUE_ALONE_LATE ? step_ns : FAIR_QUEUE_ALONE_LATE;
		cr_expect(not(fair_queue_estimate_is_due(&estimates, 7, 100, 5000,
							 now_ns + step_ns - 1)),
			  "%d", i);
		cr_expect(fair_queue_estimate_is_due(&estimates, 7, 100, 5000, now_ns + step_ns),
			  "%d", i);
		now_ns += last_ns = step_ns;
	}
	fair_queue_estimate_note(&estimates, 7, 1500, FAIR_QUEUE_EXACT_ALONE, now_ns);
	cr_expect(fair_queue_estimate_is_due(&estimates, 7, 100, 5000,
					     now_ns + FAIR_QUEUE_ALONE_SOON),
		  "it was not");
	fair_queue_estimate_raise(&estimates, 7, 1600, now_ns);
	cr_expect(fair_queue_estimate_is_due(&estimates, 7, 100, 5000, now_ns), "one took more");
	cr_expect(lt(u64, fair_queue_estimate_ns(&estimates, 7), 1200),
		  "how much more is not known");
	fair_queue_estimate_raise(&estimates, 7, 160000, now_ns);
	cr_expect(gt(u64, fair_queue_estimate_ns(&estimates, 7), 80000), "unless it is much");
}
