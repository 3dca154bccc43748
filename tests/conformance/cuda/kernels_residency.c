/* Launches that the device runs at one time, and the queries about them. */
#include "cuda/double.h"
#include "cuda/kernels_run.h"
#include "status.h"

TestSuite(cuda_residency, .timeout = 120);

/*
 * A hand-written barrier of the whole grid: each group increments the count, and waits until all
 * have. It ends only if all groups are resident at one time. words: the count, and the count that
 * every group read.
 */
static const char barrier_source[] = PTX_HEAD
	".visible .entry meet(.param .u64 words, .param .u32 groups)\n{\n"
	"\t.reg .b32 %r<8>;\n\t.reg .b64 %p<4>;\n\t.reg .pred %q;\n"
	"\tld.param.u64 %p1, [words]; cvta.to.global.u64 %p1, %p1; ld.param.u32 %r1, [groups];\n"
	"\tmov.u32 %r2, %tid.x; setp.ne.u32 %q, %r2, 0; @%q bra done;\n"
	"\tatom.global.add.u32 %r3, [%p1], 1;\n"
	"wait:\n\tld.volatile.global.u32 %r4, [%p1]; setp.lt.u32 %q, %r4, %r1; @%q bra wait;\n"
	"\tatom.global.add.u32 %r3, [%p1+4], %r4;\n"
	"done:\n\tret;\n}\n";

static struct backend_command coop_command(struct run *run, uint64_t groups, uint64_t threads,
					   const struct backend_argument *arguments,
					   const struct backend_launch_properties *properties)
{
	const uint64_t global = groups * threads;
	struct backend_command command = launch_command(run->kernel, 1, &global, arguments, 2);

	command.launch.local[0] = threads;
	command.launch.properties = properties;
	return command;
}

static void residency_launch_meeting_groups(struct run *run, uint32_t groups, uint64_t threads)
{
	static const struct backend_launch_properties cooperative = {.cooperative = true};
	uint32_t words[2];
	struct backend_memory *memory = run_memory(run, NULL, sizeof(words));
	const struct backend_argument arguments[] = {global_argument(memory),
						     value_argument(&groups, 4)};
	const struct backend_command command =
		coop_command(run, groups, threads, arguments, &cooperative);

	run_command(run, &command);
	fixture_read(&run->fixture, memory, 0, words, sizeof(words));
	cr_assert_eq(words[0], groups);
	cr_assert_eq(words[1], groups * groups, "a group went on before all had come");
	run->fixture.ops->memory_free(memory);
}

/* As many groups as the device runs at once meet. One more is refused before the driver gets it,
 * with the driver's code. */
Test(cuda_residency, E8_cooperative_launches_up_to_what_the_device_holds)
{
	static const struct backend_launch_properties cooperative = {.cooperative = true};
	const uint64_t local[] = {1, 1, 256};
	struct backend_occupancy occupancy = {0};
	struct backend_fault fault = {0};
	uint32_t groups = 2;
	struct run run;

	run_open(&run, BACKEND_SOURCE_PTX, barrier_source, "", "meet");
	cr_assert(run.fixture.facts->features & BACKEND_FEATURE_COOPERATIVE);
	cr_assert_eq(run.fixture.ops->kernel_occupancy(run.kernel, local, 0, &occupancy, &fault), 0,
		     "%s", fault.text);
	cr_assert_gt(occupancy.groups_per_compute_unit, 0);
	cr_assert_eq(occupancy.max_cooperative_groups,
		     occupancy.groups_per_compute_unit * run.fixture.facts->max_compute_units);
	residency_launch_meeting_groups(&run, 1, 256);
	/* The double runs one group after the other. */
	if (run_is_real())
		residency_launch_meeting_groups(&run, occupancy.max_cooperative_groups, 256);
	struct backend_memory *memory = run_memory(&run, NULL, 64);
	const struct backend_argument arguments[] = {global_argument(memory),
						     value_argument(&groups, 4)};
	struct backend_command command = coop_command(&run, occupancy.max_cooperative_groups + 1,
						      256, arguments, &cooperative);
	fault = fixture_submit_fails(&run.fixture, 0, &command);
	cr_assert_eq(fault.status, STATUS_ND_RANGE);
	cr_assert_eq(fault.native_code, 720, "cooperative launch too large");
	/* The same launch without the property is an ordinary one. */
	groups = 0;
	command.launch.properties = NULL;
	run_command(&run, &command);
	run.fixture.ops->memory_free(memory);
	run_close(&run);
}

/* out[group] = groups of the cluster and this one's place in it. */
static const char cluster_source[] =
	".version 8.0\n.target sm_90\n.address_size 64\n"
	".visible .entry places(.param .u64 out, .param .u32 unused)\n{\n"
	"\t.reg .b32 %r<6>;\n\t.reg .b64 %p<4>;\n\t.reg .pred %q;\n"
	"\tmov.u32 %r1, %tid.x; setp.ne.u32 %q, %r1, 0; @%q bra done;\n"
	"\tmov.u32 %r2, %cluster_nctarank; mov.u32 %r3, %cluster_ctarank; shl.b32 %r2, %r2, 8; or.b32 %r2, %r2, %r3;\n"
	"\tmov.u32 %r4, %ctaid.x; mul.wide.u32 %p2, %r4, 4;\n"
	"\tld.param.u64 %p1, [out]; cvta.to.global.u64 %p1, %p1; add.u64 %p1, %p1, %p2;\n"
	"\tst.global.u32 [%p1], %r2;\n"
	"done:\n\tret;\n}\n";

/* The double's interpreter has no clusters. So this checks the clusters of the calls to its
 * driver. */
static void places_by_the_double(const struct fake_cuda_launch *launch)
{
	uint64_t out = 0;

	memcpy(&out, launch->parameters[0], sizeof(out));
	for (uint32_t group = 0; group < launch->grid[0]; group++) {
		uint32_t word = launch->cluster[0] * launch->cluster[1] * launch->cluster[2] << 8 |
				(launch->cluster[0] ? group % launch->cluster[0] : 0);
		memcpy(cuda_double()->memory(launch, out + 4 * group, 4), &word, 4);
	}
}

Test(cuda_residency, E8_clusters_of_work_groups)
{
	enum { GROUPS = 16, THREADS = 64 };
	static const uint32_t sizes[] = {1, 2, 4, 8};
	struct backend_launch_properties properties = {0};
	const uint64_t local[] = {1, 1, THREADS};
	struct backend_occupancy occupancy = {0};
	struct backend_fault fault = {0};
	uint32_t got[GROUPS], zero = 0;
	struct run run;

	if (!run_is_real())
		cr_assert_eq(cuda_double()->kernel("places", places_by_the_double), 0);
	run_open(&run, BACKEND_SOURCE_PTX, cluster_source, "", "places");
	cr_assert(run.fixture.facts->features & BACKEND_FEATURE_CLUSTER);
	cr_assert_eq(run.fixture.ops->kernel_occupancy(run.kernel, local, 0, &occupancy, &fault), 0,
		     "%s", fault.text);
	cr_assert_geq(occupancy.max_cluster_groups, 8);
	struct backend_memory *memory = run_memory(&run, NULL, sizeof(got));
	const struct backend_argument arguments[] = {global_argument(memory),
						     value_argument(&zero, 4)};
	struct backend_command command =
		coop_command(&run, GROUPS, THREADS, arguments, &properties);
	for (size_t s = 0; s < 4; s++) {
		properties.cluster[0] = sizes[s];
		run_command(&run, &command);
		fixture_read(&run.fixture, memory, 0, got, sizeof(got));
		for (uint32_t i = 0; i < GROUPS; i++)
			cr_assert_eq(got[i], sizes[s] << 8 | i % sizes[s],
				     "cluster of %u, group %u: %x", sizes[s], i, got[i]);
	}
	properties.cluster[0] = 3; /* does not divide 16 */
	cr_assert_eq(fixture_submit_fails(&run.fixture, 0, &command).status, STATUS_ND_RANGE);
	command = coop_command(&run, 512, THREADS, arguments, &properties);
	properties.cluster[0] = 512;
	cr_assert_eq(fixture_submit_fails(&run.fixture, 0, &command).status, STATUS_ND_RANGE);
	run.fixture.ops->memory_free(memory);
	run_close(&run);
}

Test(cuda_residency, occupancy_falls_with_what_a_group_needs)
{
	const uint64_t none[3] = {0}, small[] = {1, 1, 64}, large[] = {1, 2, 512},
		       too_large[] = {2, 64, 1024};
	struct backend_occupancy a = {0}, b = {0}, c = {0}, d = {0};
	struct backend_kernel_facts facts;
	struct backend_fault fault = {0};
	struct run run;

	run_open(&run, BACKEND_SOURCE_PTX, barrier_source, "", "meet");
	const struct backend_ops *ops = run.fixture.ops;
	ops->kernel_facts(run.kernel, &facts);
	cr_assert_eq(ops->kernel_occupancy(run.kernel, none, 0, &a, &fault), 0, "%s", fault.text);
	cr_assert_eq(a.groups_per_compute_unit, 0, "no size was given");
	cr_assert_gt(a.suggested_group_size, 0);
	cr_assert_leq(a.suggested_group_size, facts.max_work_group_size);
	cr_assert_eq(ops->kernel_occupancy(run.kernel, small, 0, &b, &fault), 0, "%s", fault.text);
	cr_assert_eq(ops->kernel_occupancy(run.kernel, large, 0, &c, &fault), 0, "%s", fault.text);
	cr_assert_eq(ops->kernel_occupancy(run.kernel, small, 200 << 10, &d, &fault), 0, "%s",
		     fault.text);
	cr_assert_gt(b.groups_per_compute_unit, c.groups_per_compute_unit);
	cr_assert_eq(d.groups_per_compute_unit, 1, "200 KiB for a group: one of them fits");
	cr_assert_lt(ops->kernel_occupancy(run.kernel, too_large, 0, &d, &fault), 0);
	cr_assert_eq(fault.status, STATUS_ND_RANGE);
	cr_assert_lt(
		ops->kernel_occupancy(run.kernel, small, facts.max_local_mem_bytes + 1, &d, &fault),
		0);
	cr_assert_eq(fault.status, STATUS_MEMORY_ALLOCATION);
	cr_assert_eq(d.groups_per_compute_unit, 1, "the output was touched");
	run_close(&run);
}

/* A launch with the suggested size works. */
Test(cuda_residency, E8_the_suggested_size_launches)
{
	const uint64_t none[3] = {0};
	struct backend_occupancy occupancy = {0};
	struct backend_fault fault = {0};
	uint32_t groups = 0;
	struct run run;

	run_open(&run, BACKEND_SOURCE_PTX, barrier_source, "", "meet");
	cr_assert_eq(run.fixture.ops->kernel_occupancy(run.kernel, none, 0, &occupancy, &fault), 0,
		     "%s", fault.text);
	struct backend_memory *memory = run_memory(&run, NULL, 64);
	const struct backend_argument arguments[] = {global_argument(memory),
						     value_argument(&groups, 4)};
	const struct backend_command command =
		coop_command(&run, 4, occupancy.suggested_group_size, arguments, NULL);
	uint32_t words[2];
	run_command(&run, &command);
	fixture_read(&run.fixture, memory, 0, words, sizeof(words));
	cr_assert_eq(words[0], 4);
	run.fixture.ops->memory_free(memory);
	run_close(&run);
}
