/* Command groups that are refused: impossible ranges, arguments, requirements, copies and fills. */
#include "protocol/groups_fixture.h"

#include <string.h>

Test(groups, E4_a_range_that_its_local_range_does_not_divide_is_refused)
{
	groups_start();
	static const struct {
		uint64_t global[3], local[3];
		size_t globals, locals;
	} wrong[] = {
		{{10}, {3}, 1, 1},      {{10}, {0}, 1, 1},
		{{8, 9}, {4, 2}, 2, 2}, {{8, 8, 7}, {1, 1, 2}, 3, 3},
		{{8, 8}, {4}, 2, 1},    {{8}, {4, 1}, 1, 2},
		{{8}, {8}, 0, 0},       {{UINT64_MAX, 2}, {0}, 2, 0},
	};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct build build;
		build_fill(&build, BUFFER, 9);
		memcpy(build.global, wrong[i].global, sizeof(build.global));
		memcpy(build.local, wrong[i].local, sizeof(build.local));
		build.launch.n_global = wrong[i].globals;
		build.launch.n_local = wrong[i].locals;
		expect_refused(&build, STATUS_ND_RANGE, "");
	}
	expect_poisoned(BUFFER, 40); /* M9 */
	groups_stop();
}

Test(groups, E8_a_work_group_larger_than_kernel_or_device_is_refused)
{
	groups_start();
	struct build build;
	build_fill(&build, BUFFER, 9);
	build.launch.n_local = 1;
	build.global[0] = build.local[0] = 2048;
	expect_refused(&build, STATUS_ND_RANGE, "more than the device's 1024");
	build_fill(&build, BUFFER, 9);
	build.launch.n_global = build.launch.n_local = 2;
	build.global[0] = build.global[1] = build.local[0] = build.local[1] = 64;
	expect_refused(&build, STATUS_ND_RANGE, "larger than the device's");
	build_fill(&build, BUFFER, 7);
	build.requirements[0].mode = ACCESS_MODE_WRITE_NO_INIT;
	build.launch.n_local = 1;
	build.local[0] = 1024;
	(void)build_submit(&build, false);
	expect_words(BUFFER, 7, 40);
	groups_stop();
}

Test(groups, E14_E22_arguments_are_checked_against_the_kernel)
{
	groups_start();
	struct build build;
	build_begin(&build);
	build_launch(&build, INCREMENT, 8);
	expect_refused(&build, STATUS_KERNEL_ARGUMENT, "has 1 arguments, not 0");

	build_begin(&build);
	build_value(&build, 1);
	build_launch(&build, INCREMENT, 8);
	expect_refused(&build, STATUS_KERNEL_ARGUMENT, "not of the kind");

	build_begin(&build);
	build_accessor(&build, 0);
	build_launch(&build, INCREMENT, 8);
	expect_refused(&build, STATUS_KERNEL_ARGUMENT, "requirement 0 of 0");

	build_fill(&build, BUFFER, 1);
	build.arguments[1].bytes.len = 3;
	expect_refused(&build, STATUS_KERNEL_ARGUMENT, "has 4 bytes, not 3");

	build_fill(&build, BUFFER, 1);
	build.arguments[0].offset_bytes = 4097;
	expect_refused(&build, STATUS_KERNEL_ARGUMENT, "behind the end");

	build_begin(&build);
	build_require(&build, BUFFER, ACCESS_MODE_WRITE);
	(void)build_argument(&build, SYCL__V1__ARGUMENT__VALUE__NOT_SET);
	build_launch(&build, INCREMENT, 8);
	expect_refused(&build, STATUS_KERNEL_ARGUMENT, "is not set");
	groups_stop();
}

Test(groups, E7_local_memory_needs_an_nd_range)
{
	groups_start();
	struct build build;
	build_begin(&build);
	build_argument(&build, SYCL__V1__ARGUMENT__VALUE_LOCAL_BYTES)->local_bytes = 64;
	build_launch(&build, INCREMENT, 8);
	expect_refused(&build, STATUS_KERNEL_ARGUMENT, "basic range");
	groups_stop();
}

Test(groups, C1_C4_requirements_are_checked)
{
	groups_start();
	struct build build;
	build_fill(&build, BUFFER, 1);
	build.requirements[0].mode = 5 + 8;
	expect_refused(&build, STATUS_ACCESSOR, "no access mode");
	build_fill(&build, BUFFER, 1);
	build.requirements[0].mode = ACCESS_KEEP_BIT;
	expect_refused(&build, STATUS_ACCESSOR, "no access mode");
	build_fill(&build, BUFFER, 1);
	build.requirements[0].offset_bytes = 4000;
	build.requirements[0].size_bytes = 97;
	expect_refused(&build, STATUS_ACCESSOR, "not inside a buffer of 4096");
	build_fill(&build, BUFFER, 1);
	build.requirements[0].offset_bytes = UINT64_MAX;
	build.requirements[0].size_bytes = 2;
	expect_refused(&build, STATUS_ACCESSOR, "not inside");
	groups_stop();
}

Test(groups, D20_copies_and_fills_are_checked)
{
	groups_start();
	struct build build;
	build_begin(&build);
	build_require(&build, BUFFER, ACCESS_MODE_READ_WRITE);
	build.group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_COPY;
	build.group.copy = &build.copy;
	build.source.place_case = build.destination.place_case =
		SYCL__V1__MEMORY_END__PLACE_REQUIREMENT;
	build.destination.offset_bytes = 100;
	build.copy.size_bytes = 101;
	expect_refused(&build, STATUS_INVALID, "overlap");
	build.copy.size_bytes = 4096;
	expect_refused(&build, STATUS_INVALID, "not inside");
	build.requirements[0].mode = ACCESS_MODE_READ;
	build.copy.size_bytes = 100;
	expect_refused(&build, STATUS_ACCESSOR, "does not allow it to be written");
	build.destination.requirement = 1;
	expect_refused(&build, STATUS_INVALID, "no requirement 1");
	build.copy.destination = NULL;
	expect_refused(&build, STATUS_INVALID, "missing");

	uint8_t pattern[FILL_PATTERN_BYTES_MAX + 1] = {1};
	build_begin(&build);
	build_require(&build, BUFFER, ACCESS_MODE_WRITE);
	build.group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_FILL;
	build.group.fill = &build.fill;
	build.fill.size_bytes = 100;
	expect_refused(&build, STATUS_INVALID, "1 to 128 bytes, not 0");
	build.fill.pattern = (ProtobufCBinaryData){sizeof(pattern), pattern};
	expect_refused(&build, STATUS_INVALID, "1 to 128 bytes, not 129");
	build.fill.pattern.len = 3;
	expect_refused(&build, STATUS_INVALID, "no multiple");
	build.fill.pattern.len = 4;
	build.fill.offset_bytes = 3997;
	expect_refused(&build, STATUS_INVALID, "not inside");
	expect_poisoned(BUFFER, 40); /* M9 */
	groups_stop();
}

static void in_clusters(struct build *build, uint32_t *cluster, size_t dimensions)
{
	build_fill(build, BUFFER, 9);
	build->launch.n_local = 1;
	build->global[0] = 48;
	build->local[0] = 8;
	build->launch.cluster = cluster;
	build->launch.n_cluster = dimensions;
}

Test(groups, launch_properties_are_checked)
{
	fake_reset();
	for (uint32_t i = 0; i < 3; i++)
		fake_device_options(i, (struct fake_device_options){.features = FAKE_FEATURES_ALL});
	groups_start();
	struct build build;
	uint32_t cluster[3] = {4, 1, 1};
	in_clusters(&build, cluster, 1);
	expect_refused(&build, STATUS_ND_RANGE, "6 work-groups are not divisible");
	in_clusters(&build, cluster, 2);
	expect_refused(&build, STATUS_ND_RANGE, "2 dimensions, the global range 1");
	cluster[0] = 0;
	in_clusters(&build, cluster, 1);
	expect_refused(&build, STATUS_ND_RANGE, "1 to 8");
	cluster[0] = 12;
	in_clusters(&build, cluster, 1);
	expect_refused(&build, STATUS_ND_RANGE, "1 to 8");
	cluster[0] = cluster[1] = cluster[2] = UINT32_MAX;
	in_clusters(&build, cluster, 1);
	expect_refused(&build, STATUS_ND_RANGE, "1 to 8");
	in_clusters(&build, cluster, 3);
	build.launch.n_global = build.launch.n_local = 3;
	build.global[1] = build.global[2] = build.local[1] = build.local[2] = 1;
	expect_refused(&build, STATUS_ND_RANGE, "1 to 8");
	build_fill(&build, BUFFER, 9);
	build.launch.cooperative = true;
	expect_refused(&build, STATUS_ND_RANGE, "work-groups of a size given");
	expect_poisoned(BUFFER, 40); /* M9 */
	cluster[0] = 2;
	in_clusters(&build, cluster, 1);
	build.global[0] = 1024;
	build.launch.cooperative = true;
	build.requirements[0].mode = ACCESS_MODE_WRITE_NO_INIT;
	(void)build_submit(&build, false);
	expect_words(BUFFER, 9, 41);
	groups_stop();
}

/* A cooperative launch cannot run in parts. The library never sends that. */
Test(groups, a_cooperative_launch_cannot_be_split)
{
	fake_reset();
	for (uint32_t i = 0; i < 3; i++)
		fake_device_options(i, (struct fake_device_options){.features = FAKE_FEATURES_ALL});
	groups_start();
	struct build build;
	uint32_t cluster[3] = {2, 1, 1};
	in_clusters(&build, cluster, 0);
	build.launch.cooperative = build.launch.splittable = true;
	expect_refused(&build, STATUS_INVALID, "cannot be split");
	/* For a launch in clusters, and for a range without work-items, the permission is allowed
	 * and has no effect. */
	in_clusters(&build, cluster, 1);
	build.launch.splittable = true;
	build.global[0] = 1024;
	build.requirements[0].mode = ACCESS_MODE_WRITE_NO_INIT;
	(void)build_submit(&build, false);
	expect_words(BUFFER, 9, 40);
	build_fill(&build, BUFFER, 10);
	build.launch.splittable = true;
	build.global[0] = 0;
	(void)build_submit(&build, false);
	expect_words(BUFFER, 9, 41);
	groups_stop();
}

/* Without the wait it would run beside its predecessors. All other properties of it are
 * permissions. */
Test(groups, R5_a_kernel_that_never_waits_cannot_begin_early)
{
	for (uint32_t has = 0; has < 2; has++) {
		fake_reset();
		for (uint32_t i = 0; i < 3; i++)
			fake_device_options(
				i,
				(struct fake_device_options){
					.features =
						has ? FAKE_FEATURES_ALL
						    : FAKE_FEATURES_ALL &
								~(uint32_t)BACKEND_FEATURE_EARLY});
		groups_start();
		struct build build;
		uint32_t cluster[3] = {2, 1, 1};
		build_fill(&build, BUFFER, 9);
		build.launch.early = true;
		(void)build_submit(&build, false);
		expect_words(BUFFER, 9, 40);
		in_clusters(&build, cluster, 1);
		build.launch.early = build.launch.splittable = true;
		build.global[0] = 1024;
		(void)build_submit(&build, false);
		expect_words(BUFFER, 9, 41);
		build_fill(&build, BUFFER, 10);
		build.launch.early = true;
		build.global[0] = 0;
		(void)build_submit(&build, false);
		expect_words(BUFFER, 9, 42);
		build_launch(&build, NOOP, 1);
		build.launch.n_arguments = 0;
		build.launch.early = true;
		if (has)
			expect_refused(&build, STATUS_INVALID,
				       "never waits for the launch before it");
		else
			(void)build_submit(&build, false);
		groups_stop();
	}
}

Test(groups, launch_properties_need_a_device_that_has_them)
{
	fake_reset();
	for (uint32_t i = 0; i < 3; i++)
		fake_device_options(i, (struct fake_device_options){.features = 0});
	groups_start();
	struct build build;
	uint32_t cluster[3] = {2, 1, 1};
	in_clusters(&build, cluster, 1);
	expect_refused(&build, STATUS_FEATURE_NOT_SUPPORTED, "no clusters");
	in_clusters(&build, cluster, 0);
	build.launch.cooperative = true;
	expect_refused(&build, STATUS_FEATURE_NOT_SUPPORTED, "no cooperative launches");
	groups_stop();
}
