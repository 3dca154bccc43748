/* Random command groups against a serial model. */
#include "scheduler/model.h"

#include <criterion/criterion.h>

TestSuite(property, .timeout = 60);

/* Sums over all runs of the latest check. */
static uint64_t spills, stretches, kept, kept_reads;

static void check_seeds(uint64_t first, uint64_t last, uint32_t tasks, struct model_options options)
{
	spills = stretches = kept = kept_reads = 0;
	for (uint64_t seed = first; seed <= last; seed++) {
		const char *wrong = model_run(seed, tasks, &options);
		cr_assert(wrong == NULL, "%s", wrong);
		spills += model_spills();
		stretches += model_stretches();
		kept += model_kept_launches();
		kept_reads += model_kept_reads();
	}
}

Test(property, B4_B6_B25_C12_D7_M9_random_groups_equal_a_serial_model)
{
	check_seeds(1, 40, 200, (struct model_options){.features = false});
}

Test(property, B25_M9_a_few_thousand_groups)
{
	check_seeds(101, 106, 4000, (struct model_options){.features = false});
}

Test(property, B25_M9_some_launches_of_several_kernels_are_one_task)
{
	for (uint32_t features = 0; features < 2; features++) {
		check_seeds(951 + 50 * features, 1000 + 50 * features, 250,
			    (struct model_options){.features = features, .one_device = true});
		cr_assert(stretches > 10, "%llu", (unsigned long long)stretches);
		cr_assert(kept > 20, "%llu", (unsigned long long)kept);
	}
}

/* A kept task that does its read itself has the results and failures of one that does not. */
Test(property, B25_M9_C12_reads_behind_kept_tasks)
{
	struct model_options options = {.features = true, .one_device = true, .reads_itself = true};
	check_seeds(1051, 1090, 400, options);
	cr_assert(kept_reads > 20, "%llu", (unsigned long long)kept_reads);
	options.never_keep_reads = true;
	check_seeds(1051, 1090, 400, options);
	cr_assert(kept_reads == 0);
}

Test(property, B25_M9_devices_with_all_features)
{
	check_seeds(201, 260, 200, (struct model_options){.features = true});
}

Test(property, B25_M9_a_few_thousand_groups_with_all_features)
{
	check_seeds(301, 303, 4000, (struct model_options){.features = true});
}

Test(property, C7_C8_C10_C11_C12_D3_M9_parts_of_buffers)
{
	check_seeds(501, 560, 250, (struct model_options){.parts = true});
}

Test(property, C7_C8_C12_B25_M9_parts_of_buffers_with_all_features)
{
	check_seeds(601, 660, 250, (struct model_options){.features = true, .parts = true});
}

Test(property, C10_C12_M9_a_few_thousand_groups_on_parts)
{
	check_seeds(701, 704, 4000, (struct model_options){.parts = true});
	check_seeds(705, 708, 4000, (struct model_options){.features = true, .parts = true});
}

Test(property, TG15_B25_M9_devices_that_are_full)
{
	check_seeds(801, 840, 250, (struct model_options){.tight = true});
	check_seeds(841, 880, 250, (struct model_options){.tight = true, .features = true});
	check_seeds(881, 920, 250,
		    (struct model_options){.tight = true, .features = true, .parts = true});
	check_seeds(921, 922, 4000,
		    (struct model_options){.tight = true, .features = true, .parts = true});
	cr_assert(spills > 1000, "%llu", (unsigned long long)spills);
}

Test(property, TG15_F5_devices_that_are_full_with_any_choice_of_lanes)
{
	static const enum scheduler_lane_choice choices[] = {
		SCHEDULER_LANES_RANDOM, SCHEDULER_LANES_SAME, SCHEDULER_LANES_DIFFERENT};
	for (uint32_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++)
		check_seeds(931, 940, 250,
			    (struct model_options){
				    .lanes = choices[i], .tight = true, .features = true});
}

Test(property, F5_any_choice_of_lanes_gives_the_same_results)
{
	static const enum scheduler_lane_choice choices[] = {
		SCHEDULER_LANES_RANDOM, SCHEDULER_LANES_SAME, SCHEDULER_LANES_DIFFERENT};
	for (uint32_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++)
		for (uint32_t bits = 0; bits < 4; bits++)
			check_seeds(401, 410, 250,
				    (struct model_options){.lanes = choices[i],
							   .features = (bits & 1) != 0,
							   .parts = (bits & 2) != 0});
}

Test(property, B25_C12_F5_M9_without_the_short_way_for_whole_buffers)
{
	for (uint32_t bits = 0; bits < 4; bits++)
		check_seeds(601, 615, 250,
			    (struct model_options){.features = (bits & 1) != 0,
						   .parts = (bits & 2) != 0,
						   .never_whole = true});
	check_seeds(616, 616, 4000, (struct model_options){.never_whole = true});
}
