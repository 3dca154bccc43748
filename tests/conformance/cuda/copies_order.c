/* Small copies among kernels: their order, their chains, their times and faults. */
#include "cuda/copies_support.h"

#include <sys/mman.h>

enum { COUNT = 1000 };

static uint32_t word_at(const unsigned char *place)
{
	uint32_t word;

	memcpy(&word, place, sizeof(word));
	return word;
}

static void set_word(unsigned char *place, uint32_t word)
{
	memcpy(place, &word, sizeof(word));
}

/* A write, kernels and a read, repeatedly, without waits; only the right order gives each value. */
static void keep_order(const char *option)
{
	enum { ROUNDS = 60 };
	struct copies_scene scene;
	const uint64_t count = COUNT;
	uint64_t sequence = 0;

	copies_open(&scene, option);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		unsigned char *in = scene.pages + i * 64ull, *out = in + COPIES_HALF;
		const struct backend_command write =
			copies_transfer(&scene, BACKEND_COMMAND_WRITE, 0, in, 4);
		const struct backend_command read =
			copies_transfer(&scene, BACKEND_COMMAND_READ, 0, out, 4);
		set_word(in, i * 1000);
		(void)fixture_submit(&scene.fixture, 1, &write);
		for (uint32_t k = 0; k < i % 5; k++) {
			const struct backend_command launch = copies_increment(&scene, &count);
			(void)fixture_submit(&scene.fixture, 1, &launch);
		}
		sequence = fixture_submit(&scene.fixture, 1, &read);
	}
	fixture_wait(&scene.fixture, 1, sequence);
	for (uint32_t i = 0; i < ROUNDS; i++)
		cr_assert_eq(word_at(scene.pages + COPIES_HALF + i * 64ull), i * 1000 + i % 5,
			     "round %u", i);
	copies_close(&scene, false);
}

Test(cuda_copies, B12_copies_keep_their_place_among_kernels_of_their_lane)
{
	keep_order(COPIES_ON);
}

Test(cuda_copies, B12_copies_keep_their_place_without_kernels_of_the_own)
{
	keep_order(COPIES_OFF);
}

Test(cuda_copies, B12_copies_keep_their_place_where_kernels_do_not_overlap)
{
	keep_order("overlap=no");
}

/* Read after write, write after read, write after write, each on another lane than the one
 * before. */
static void keep_order_between_lanes(const char *option)
{
	enum { ROUNDS = 60 };
	struct copies_scene scene;
	const uint64_t count = COUNT;
	uint64_t before = 0;

	copies_open(&scene, option);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		unsigned char *in = scene.pages + i * 64ull, *out = in + COPIES_HALF;
		const uint32_t lane = i % 2 * 2; /* 0 or 2; the kernel is on 1, the read on 3 */
		const struct backend_command write =
			copies_transfer(&scene, BACKEND_COMMAND_WRITE, 0, in, 4);
		const struct backend_command launch = copies_increment(&scene, &count);
		const struct backend_command read =
			copies_transfer(&scene, BACKEND_COMMAND_READ, 0, out, 4);
		set_word(in, i * 1000);
		before = before ? fixture_submit_after(&scene.fixture, lane, &write, 3, before)
				: fixture_submit(&scene.fixture, lane, &write);
		before = fixture_submit_after(&scene.fixture, 1, &launch, lane, before);
		before = fixture_submit_after(&scene.fixture, 3, &read, 1, before);
	}
	fixture_wait(&scene.fixture, 3, before);
	for (uint32_t i = 0; i < ROUNDS; i++)
		cr_assert_eq(word_at(scene.pages + COPIES_HALF + i * 64ull), i * 1000 + 1,
			     "round %u", i);
	copies_close(&scene, false);
}

Test(cuda_copies, B12_copies_by_kernels_wait_for_other_lanes_and_are_waited_for)
{
	keep_order_between_lanes(COPIES_ON);
}

Test(cuda_copies, B12_copies_without_kernels_wait_for_other_lanes_and_are_waited_for)
{
	keep_order_between_lanes(COPIES_OFF);
}

/* All are sent as one: the host sends one graph, whose end is that of the last command. */
Test(cuda_copies, TR2_TR4_a_write_kernels_and_a_read_are_one_launch)
{
	struct copies_scene scene;
	const uint64_t count = COUNT;

	copies_open(&scene, COPIES_ON);
	struct backend_sendings before, after;
	scene.fixture.ops->sendings(scene.fixture.device, &before);
	const uint64_t graphs = copies_are_real() ? 0 : double_count("graph_launches");
	const uint64_t writes = copies_are_real() ? 0 : double_count("call cuStreamWriteValue32");
	const struct backend_command write =
		copies_transfer(&scene, BACKEND_COMMAND_WRITE, 0, scene.pages, 4);
	const struct backend_command launch = copies_increment(&scene, &count);
	const struct backend_command read =
		copies_transfer(&scene, BACKEND_COMMAND_READ, 0, scene.pages + COPIES_HALF, 4);
	set_word(scene.pages, 40);
	(void)fixture_submit(&scene.fixture, 1, &write);
	(void)fixture_submit(&scene.fixture, 1, &launch);
	(void)fixture_submit(&scene.fixture, 1, &launch);
	fixture_wait(&scene.fixture, 1, fixture_submit(&scene.fixture, 1, &read));
	cr_assert_eq(word_at(scene.pages + COPIES_HALF), 42);
	scene.fixture.ops->sendings(scene.fixture.device, &after);
	cr_assert_eq(after.chains - before.chains, 1);
	cr_assert_eq(after.chain_launches - before.chain_launches, 4);
	if (!copies_are_real()) {
		cr_assert_eq(double_count("graph_launches") - graphs, 1);
		cr_assert_eq(double_count("call cuStreamWriteValue32"), writes);
	}
	copies_close(&scene, false);
}

/* A sequence between two waits, as in a solver. Returns in how many chains it was sent. */
static uint64_t send_stretch(struct copies_scene *scene, uint32_t kernels, uint32_t value)
{
	static const unsigned char pattern[3] = {7, 8, 9};
	const uint64_t count = COUNT;
	struct backend_sendings before, after;
	const struct backend_command write =
		copies_transfer(scene, BACKEND_COMMAND_WRITE, 0, scene->pages, 4);
	const struct backend_command fill = {.kind = BACKEND_COMMAND_FILL,
					     .fill = {.memory = scene->memory,
						      .offset_bytes = COPIES_HALF + 1,
						      .size_bytes = 50,
						      .pattern = pattern,
						      .pattern_bytes = 3}};
	const struct backend_command launch = copies_increment(scene, &count);
	const struct backend_command read =
		copies_transfer(scene, BACKEND_COMMAND_READ, 0, scene->pages + COPIES_HALF, 4);

	scene->fixture.ops->sendings(scene->fixture.device, &before);
	set_word(scene->pages, value);
	(void)fixture_submit(&scene->fixture, 1, &write);
	(void)fixture_submit(&scene->fixture, 1, &fill);
	for (uint32_t i = 0; i < kernels; i++)
		(void)fixture_submit(&scene->fixture, 1, &launch);
	fixture_wait(&scene->fixture, 1, fixture_submit(&scene->fixture, 1, &read));
	cr_assert_eq(word_at(scene->pages + COPIES_HALF), value + kernels);
	scene->fixture.ops->sendings(scene->fixture.device, &after);
	cr_assert_eq(after.chain_launches - before.chain_launches, kernels + 3);
	/* The engine does this when nothing is in flight. */
	if (scene->fixture.ops->quiet_wanted(scene->fixture.device))
		scene->fixture.ops->quiet(scene->fixture.device);
	return after.chains - before.chains;
}

static void expect_stretches(const char *option, bool has_exact)
{
	struct copies_scene scene;
	unsigned char filled[50];

	copies_open(&scene, option);
	for (uint32_t kernels = 1; kernels <= CUDA_CHAIN_LENGTH_MAX - 3; kernels++) {
		uint64_t chains = 0;
		for (uint32_t i = 0; i < 12; i++)
			chains = send_stretch(&scene, kernels, kernels * 100 + i);
		cr_assert_eq(chains, has_exact ? 1 : (uint64_t)__builtin_popcount(kernels + 3),
			     "%u kernels", kernels);
	}
	fixture_read(&scene.fixture, scene.memory, COPIES_HALF + 1, filled, sizeof(filled));
	for (uint32_t i = 0; i < sizeof(filled); i++)
		cr_assert_eq(filled[i], 7 + i % 3);
	copies_close(&scene, false);
}

Test(cuda_copies, TR1_a_write_a_fill_kernels_and_a_read_that_come_often_are_one_launch)
{
	expect_stretches("exact_chains=yes", true);
}

Test(cuda_copies, TR1_without_exact_chains_a_stretch_goes_as_powers_of_two)
{
	expect_stretches("exact_chains=no", false);
}

/*
 * A read is sent with a kernel that has no estimate, because the read is short and hardly delays
 * the kernel's report. A write before such a kernel is not.
 */
Test(cuda_copies, B18_a_read_goes_with_a_new_kernel_and_a_write_before_it_does_not)
{
	struct copies_scene scene;
	const uint64_t count = COUNT;

	copies_open(&scene, COPIES_ON);
	struct backend_sendings before, after;
	const struct backend_command write =
		copies_transfer(&scene, BACKEND_COMMAND_WRITE, 0, scene.pages, 4);
	const struct backend_command launch = copies_increment(&scene, &count);
	const struct backend_command read =
		copies_transfer(&scene, BACKEND_COMMAND_READ, 0, scene.pages + COPIES_HALF, 4);
	scene.fixture.ops->sendings(scene.fixture.device, &before);
	*cuda_kernel_pace(scene.increment) = (struct cuda_pace){.period_ns = 0};
	(void)fixture_submit(&scene.fixture, 1, &write);
	(void)fixture_submit(&scene.fixture, 1, &launch);
	fixture_wait(&scene.fixture, 1, fixture_submit(&scene.fixture, 1, &read));
	scene.fixture.ops->sendings(scene.fixture.device, &after);
	cr_assert_eq(after.chains - before.chains, 2);
	cr_assert_eq(after.chain_launches - before.chain_launches, 3);
	copies_close(&scene, false);
}

/* As increment_u32, in two kinds of PTX. One may be changed so that it waits for the kernels before
 * it. The other waits by itself, so it may begin early. */
#define INCREMENT(name, wait)                                                                                  \
	".visible .entry " name "(.param .u64 dst)\n{\n"                                                       \
	"\t.reg .b32 %r<6>; .reg .b64 %a<3>;\n"                                                                \
	"\tmov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;\n" \
	"\tld.param.u64 %a1, [dst]; mul.wide.u32 %a2, %r4, 4; add.u64 %a1, %a1, %a2;\n" wait                   \
	"\tld.global.u32 %r5, [%a1]; add.u32 %r5, %r5, 1; st.global.u32 [%a1], %r5;\n\tret;\n}\n"

static const char young[] =
	".version 8.1\n.target sm_80\n.address_size 64\n" INCREMENT("young", "");
static const char early[] = ".version 7.8\n.target sm_90\n.address_size 64\n" INCREMENT(
	"early", "\tgriddepcontrol.wait;\n");

/* It replaces the increment. */
static void take_kernel(struct copies_scene *scene, const char *source, const char *name)
{
	struct fixture *fixture = &scene->fixture;
	struct backend_fault fault = {0};
	struct backend_program *program = fixture_build(fixture, BACKEND_SOURCE_PTX, source, "");

	fixture->ops->kernel_free(scene->increment);
	cr_assert_eq(fixture->ops->kernel_create(program, name, &scene->increment, &fault), 0, "%s",
		     fault.text);
	fixture->ops->program_free(program);
}

/* Both wait for the kernels before them, so neither ends a chain of such kernels. */
Test(cuda_copies, a_copy_overlaps_with_the_kernels_around_it)
{
	struct copies_scene scene;
	const uint64_t count = COUNT;

	copies_open(&scene, COPIES_ON);
	take_kernel(&scene, young, "young");
	const uint64_t before[] = {copies_are_real() ? 0 : double_count("overlapped"),
				   copies_are_real() ? 0 : double_count("overlapped early")};
	for (uint32_t round = 1; round <= (copies_are_real() ? 2000u : 3u); round++) {
		uint64_t sequence = 0;
		for (uint32_t i = 0; i < 4; i++) {
			unsigned char *out = scene.pages + COPIES_HALF + i * 4ull;
			const struct backend_command launch = copies_increment(&scene, &count);
			const struct backend_command read = copies_transfer(
				&scene, BACKEND_COMMAND_READ, (COUNT - 1) * 4ull, out, 4);
			(void)fixture_submit(&scene.fixture, 1, &launch);
			sequence = fixture_submit(&scene.fixture, 1, &read);
		}
		fixture_wait(&scene.fixture, 1, sequence);
		const uint32_t first = word_at(scene.pages + COPIES_HALF);
		for (uint32_t i = 1; i < 4; i++)
			cr_assert_eq(word_at(scene.pages + COPIES_HALF + i * 4ull), first + i,
				     "round %u", round);
	}
	/* All but the first of each chain of 8. The copy computes its addresses before it waits. */
	if (!copies_are_real()) {
		cr_assert_eq(double_count("overlapped") - before[0], 3 * 3);
		cr_assert_eq(double_count("overlapped early") - before[1], 3 * 4);
	}
	copies_close(&scene, false);
}

/* Four launches while a command of another lane is held, then four without one. */
static void expect_overlaps(const char *option, uint64_t beside, uint64_t alone)
{
	struct copies_scene scene;
	const uint64_t count = COUNT;

	copies_open(&scene, option);
	take_kernel(&scene, young, "young");
	const struct backend_command launch = copies_increment(&scene, &count);
	const uint64_t before = double_count("overlapped");
	double_command("gate close young 1");
	const uint64_t held = fixture_submit(&scene.fixture, 2, &launch);
	scene.fixture.ops->flush(scene.fixture.device);
	double_wait("held young", 1);
	for (int i = 0; i < 4; i++)
		(void)fixture_submit(&scene.fixture, 1, &launch);
	scene.fixture.ops->flush(scene.fixture.device);
	double_command("gate open young");
	fixture_wait(&scene.fixture, 2, held);
	fixture_wait(&scene.fixture, 1, fixture_submit(&scene.fixture, 1, &launch));
	cr_expect_eq(double_count("overlapped") - before, beside, "%s", option);
	uint64_t last = 0;
	for (int i = 0; i < 4; i++) {
		const struct backend_command next = copies_increment(&scene, &count);
		last = fixture_submit(&scene.fixture, 1, &next);
	}
	fixture_wait(&scene.fixture, 1, last);
	cr_expect_eq(double_count("overlapped") - before, beside + alone, "%s", option);
	copies_close(&scene, false);
}

Test(cuda_copies, TR5_kernels_overlap_while_few_lanes_have_commands)
{
	if (copies_are_real())
		return;
	expect_overlaps("overlap_lanes=1024", 3, 3);
	expect_overlaps("overlap_lanes=1", 0, 3);
	expect_overlaps("overlap_lanes=0", 0, 0);
}

static void add_launch_after(struct copies_scene *scene, const uint64_t *count,
			     struct backend_launch_properties *properties)
{
	struct backend_command launch = copies_increment(scene, count);

	launch.launch.properties = properties;
	(void)fixture_submit(&scene->fixture, 1, &launch);
}

/* A launch may begin before a copy is complete only if it was permitted to. A copy behind such
 * launches begins when all are complete. */
Test(cuda_copies, R5_a_copy_behind_an_early_launch_waits_for_it)
{
	struct copies_scene scene;
	const uint64_t count = COUNT;

	copies_open(&scene, COPIES_ON);
	if (!(scene.fixture.facts->features & BACKEND_FEATURE_EARLY)) {
		copies_close(&scene, false);
		return;
	}
	take_kernel(&scene, early, "early");
	for (uint32_t round = 0; round < (copies_are_real() ? 500u : 5u); round++) {
		const struct backend_command launch = copies_increment(&scene, &count);
		struct backend_launch_properties properties = {.early = true};
		fixture_write(&scene.fixture, scene.memory, 0, "\0\0\0", 4);
		properties.early_after = fixture_submit(&scene.fixture, 1, &launch);
		add_launch_after(&scene, &count, &properties);
		const struct backend_command read =
			copies_transfer(&scene, BACKEND_COMMAND_READ, 0, scene.pages, 4);
		fixture_wait(&scene.fixture, 1, fixture_submit(&scene.fixture, 1, &read));
		cr_assert_eq(word_at(scene.pages), 2, "round %u", round);
	}
	if (!copies_are_real()) {
		cr_assert_eq(double_count("early"), 5);
		cr_assert_eq(double_count("early in vain"), 0);
	}
	copies_close(&scene, false);
}

/* Profiling: a timed transfer is between its own events. Transfers that are not timed get times
 * that are in order. */
Test(cuda_copies, H3_H4_times_of_copies_among_kernels)
{
	struct copies_scene scene;
	const uint64_t count = COUNT;

	copies_open(&scene, COPIES_ON);
	uint64_t sequences[4], ended_ns = 0;
	const struct backend_command launch = copies_increment(&scene, &count);
	struct backend_command read =
		copies_transfer(&scene, BACKEND_COMMAND_READ, 0, scene.pages + COPIES_HALF, 64);
	fixture_write(&scene.fixture, scene.memory, 0, "\0\0\0", 4);
	for (int i = 0; i < 4; i++) {
		read.timed = i == 3;
		sequences[i] = fixture_submit(&scene.fixture, 1, i % 2 ? &read : &launch);
	}
	for (int i = 0; i < 4; i++) {
		const struct backend_completion ended =
			fixture_finish(&scene.fixture, 1, sequences[i]);
		cr_assert_eq(ended.fault.status, STATUS_SUCCESS, "%s", ended.fault.text);
		cr_assert_eq(ended.estimated, i != 3, "command %d", i);
		cr_assert_leq(ended.start_ns, ended.end_ns);
		if (i != 3) { /* the device's own times are of another clock */
			cr_assert_geq(ended.start_ns, ended_ns);
			ended_ns = ended.end_ns;
		}
	}
	cr_assert_eq(word_at(scene.pages + COPIES_HALF), 2);
	copies_close(&scene, false);
}

/* A copy beside a kernel that faults is lost with it, but only the kernel may be at fault. */
Test(cuda_copies, M10_a_copy_beside_a_kernel_at_fault_is_no_suspect)
{
	struct copies_scene scene;
	const uint64_t far = COPIES_ROOM * 1000ull;

	if (copies_are_real())
		cr_skip_test("a context of this process would be lost");
	copies_open(&scene, COPIES_ON);
	const struct backend_command write =
		copies_transfer(&scene, BACKEND_COMMAND_WRITE, 0, scene.pages, 4);
	const struct backend_command bad = copies_increment(&scene, &far);
	const struct backend_command read =
		copies_transfer(&scene, BACKEND_COMMAND_READ, 0, scene.pages + COPIES_HALF, 4);
	uint64_t sequences[3];
	sequences[0] = fixture_submit(&scene.fixture, 1, &write);
	sequences[1] = fixture_submit(&scene.fixture, 1, &bad);
	sequences[2] = fixture_submit(&scene.fixture, 1, &read);
	for (int i = 0; i < 3; i++) {
		const struct backend_completion ended =
			fixture_finish(&scene.fixture, 1, sequences[i]);
		cr_assert_eq(ended.fault.status, STATUS_DEVICE_LOST, "%s", ended.fault.text);
		cr_assert_eq(ended.fault.not_begun, i != 1, "command %d", i);
	}
	copies_close(&scene, true);
}

/* A copy that the driver refuses is reported as failed, and the kernel before it is not. */
Test(cuda_copies, M9_a_copy_that_the_driver_refuses_is_named)
{
	struct copies_scene scene;
	const uint64_t count = COUNT;

	if (copies_are_real())
		cr_skip_test("only the driver's double can be set so");
	copies_open(&scene, COPIES_ON);
	const struct backend_command launch = copies_increment(&scene, &count);
	const struct backend_command read =
		copies_transfer(&scene, BACKEND_COMMAND_READ, 0, scene.pages + COPIES_HALF, 4);
	double_command("fail cuGraphLaunch 1 1"); /* so they are sent one by one */
	double_command("fail cuLaunchKernel 2 701");
	const uint64_t first = fixture_submit(&scene.fixture, 1, &launch);
	const uint64_t second = fixture_submit(&scene.fixture, 1, &read);
	fixture_wait(&scene.fixture, 1, first);
	const struct backend_completion ended = fixture_finish(&scene.fixture, 1, second);
	cr_assert_neq(ended.fault.status, STATUS_SUCCESS);
	cr_assert_not_null(strstr(ended.fault.text, "cannot copy"), "%s", ended.fault.text);
	cr_assert_not(ended.fault.device_lost);
	copies_close(&scene, false);
}

/* Lanes on a part of the device send no chains; their copies are single launches. */
Test(cuda_copies, B12_copies_of_a_lane_of_the_latency_class)
{
	static const char *const more[] = {"latency_multiprocessors=16", NULL};
	struct fixture fixture;
	struct backend_fault fault = {0};
	unsigned char *pages =
		mmap(NULL, COPIES_ROOM, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct backend_host *host = NULL;

	if (copies_are_real())
		cr_skip_test("not every GPU can be divided so");
	target_cuda_open_with(&fixture, more);
	const struct backend_ops *ops = fixture.ops;
	ops->lane_free(fixture.lanes[1].lane);
	cr_assert_eq(ops->lane_create(fixture.device, BACKEND_LANE_LATENCY, &fixture.lanes[1].lane,
				      &fault),
		     0, "%s", fault.text);
	ops->latency_wanted(fixture.device, BACKEND_APART_LATENCY);
	ops->quiet(fixture.device);
	cr_assert_eq(ops->host_register(fixture.device, pages, COPIES_ROOM, &host, &fault), 0, "%s",
		     fault.text);
	struct backend_memory *memory = fixture_memory(&fixture, COPIES_ROOM, NULL);
	struct copies_scene scene = {.memory = memory};
	const struct backend_command write =
		copies_transfer(&scene, BACKEND_COMMAND_WRITE, 3, pages, 1001);
	const struct backend_command read =
		copies_transfer(&scene, BACKEND_COMMAND_READ, 3, pages + COPIES_HALF, 1001);
	copies_fill_counting(pages, 1001, 9);
	const uint64_t copies = copies_not_by_kernels();
	(void)fixture_submit(&fixture, 1, &write);
	fixture_wait(&fixture, 1, fixture_submit(&fixture, 1, &read));
	cr_assert_arr_eq(pages, pages + COPIES_HALF, 1001);
	cr_assert_eq(copies_not_by_kernels(), copies);
	ops->memory_free(memory);
	ops->host_unregister(host);
	fixture_close(&fixture);
	(void)munmap(pages, COPIES_ROOM);
	double_check(true);
}
