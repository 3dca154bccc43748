/*
 * Small copies by a kernel of the backend's own (lane/copy.c). Every byte arrives and no other is
 * touched, also where the path is off. They keep their place in a lane and between lanes, and go
 * with the launches around them. On a GPU these run the kernel's PTX as the driver compiles it.
 */
#include "cuda/double.h"
#include "targets/cuda.h"

#include "cuda/device/device.h"
#include "cuda/lane/lane.h"
#include "cuda/program/pace.h"
#include "status.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* So that chains are long, however long this machine has taken for the launches before. */
static const struct cuda_pace short_and_known = {.period_ns = 1000, .items = UINT64_MAX};

enum { COUNT = 1000, ROOM = 1 << 18, LIMIT = 4096 };

static const char *const on = "copy_kernel_bytes=65536", *const off = "copy_kernel_bytes=0";

TestSuite(cuda_copies, .timeout = 120);

struct scene {
	struct fixture fixture;
	struct backend_memory *memory;
	struct backend_kernel *increment;
	struct backend_argument argument;
	struct backend_host *host;
	unsigned char *pages; /* registered */
};

static bool is_real(void)
{
	const char *which = getenv("SYCLD_TEST_CUDA");

	return which && strcmp(which, "real") == 0;
}

/* `more`: options besides those of every test. */
static void open_with(struct fixture *fixture, const char *const *more)
{
	const char *options[8] = {NULL};
	struct backend_fault fault = {0};
	size_t count = 0;

	target_cuda_prepare();
	for (size_t i = 0; target_cuda_options[i]; i++)
		options[count++] = target_cuda_options[i];
	for (size_t i = 0; more[i]; i++)
		options[count++] = more[i];
	*fixture = (struct fixture){.ops = conformance_target.ops, .wake_fd = -1};
	const struct backend_settings settings = {.options = options};
	cr_assert_eq(fixture->ops->open(&settings, &fixture->backend, &fault), 0, "%s", fault.text);
	cr_assert_eq(fixture->ops->enumerate(fixture->backend, &fixture->topology, &fault), 0, "%s",
		     fault.text);
	fixture_open(fixture, 0);
}

static void scene_open(struct scene *scene, const char *option)
{
	const char *const more[] = {option, NULL};
	struct backend_fault fault = {0};

	*scene = (struct scene){.host = NULL};
	open_with(&scene->fixture, more);
	scene->pages = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq((void *)scene->pages, MAP_FAILED);
	cr_assert_eq(scene->fixture.ops->host_register(scene->fixture.device, scene->pages, ROOM,
						       &scene->host, &fault),
		     0, "%s", fault.text);
	scene->memory = fixture_memory(&scene->fixture, ROOM, NULL);
	scene->increment = fixture_kernel(&scene->fixture, "increment_u32");
	scene->argument = global_argument(scene->memory);
}

static void scene_close(struct scene *scene, bool is_lost)
{
	const struct backend_ops *ops = scene->fixture.ops;

	ops->kernel_free(scene->increment);
	ops->memory_free(scene->memory);
	ops->host_unregister(scene->host);
	fixture_close(&scene->fixture);
	(void)munmap(scene->pages, ROOM);
	if (!is_real() && !is_lost)
		double_check(true);
}

/* Of the first words of the memory. */
static struct backend_command increment_words(struct scene *scene, const uint64_t *count)
{
	*cuda_kernel_pace(scene->increment) = short_and_known;
	return launch_command(scene->increment, 1, count, &scene->argument, 1);
}

static struct backend_command transfer(struct scene *scene, enum backend_command_kind kind,
				       uint64_t offset, void *host, uint64_t bytes)
{
	return (struct backend_command){.kind = kind,
					.transfer = {.memory = scene->memory,
						     .offset_bytes = offset,
						     .host = host,
						     .size_bytes = bytes}};
}

/* Transfers that are no kernels; on a GPU nothing counts them. */
static uint64_t other_copies(void)
{
	return is_real() ? 0 : double_count("copies") + double_count("box_copies");
}

static void fill_counting(unsigned char *bytes, size_t count, unsigned seed)
{
	for (size_t i = 0; i < count; i++)
		bytes[i] = (unsigned char)(i * 7 + i / 251 + seed);
}

/* Of a piece at `offset` that lies in a larger place of one value. */
static void expect_piece(const unsigned char *place, size_t offset, const unsigned char *piece,
			 size_t bytes, unsigned char around, const char *what)
{
	for (size_t i = 0; i < offset + bytes + 64; i++) {
		const bool is_inside = i >= offset && i < offset + bytes;
		const unsigned char expected = is_inside ? piece[i - offset] : around;
		cr_assert_eq(place[i], expected,
			     "%s of %zu bytes at %zu: byte %zu is %u instead of %u", what, bytes,
			     offset, i, place[i], expected);
	}
}

#define HALF ((size_t)ROOM / 2)

/* There, to another place of the device, and back, with an alignment of its own each. */
static void copy_around(struct scene *scene, size_t from, size_t to, size_t bytes)
{
	struct fixture *fixture = &scene->fixture;
	unsigned char *out = scene->pages, *in = scene->pages + HALF;
	static unsigned char zeros[HALF];

	fixture_write(fixture, scene->memory, 0, zeros, bytes + 128);
	fixture_write(fixture, scene->memory, HALF, zeros, bytes + 128);
	memset(in, 0x33, bytes + 128);
	fill_counting(out + from, bytes, (unsigned)(from * 16 + to));
	const struct backend_command commands[] = {
		transfer(scene, BACKEND_COMMAND_WRITE, to, out + from, bytes),
		{.kind = BACKEND_COMMAND_COPY,
		 .copy = {.source = scene->memory,
			  .destination = scene->memory,
			  .source_offset_bytes = to,
			  .destination_offset_bytes = HALF + from,
			  .size_bytes = bytes}},
		transfer(scene, BACKEND_COMMAND_READ, HALF + from, in + to, bytes),
	};
	uint64_t sequence = 0;
	for (size_t i = 0; i < 3; i++)
		sequence = fixture_submit(fixture, 1, &commands[i]);
	fixture_wait(fixture, 1, sequence);
	expect_piece(in, to, out + from, bytes, 0x33, "a read");
	static unsigned char there[HALF];
	fixture_read(fixture, scene->memory, 0, there, bytes + 128);
	expect_piece(there, to, out + from, bytes, 0, "a write");
	fixture_read(fixture, scene->memory, HALF, there, bytes + 128);
	expect_piece(there, from, out + from, bytes, 0, "a copy");
}

static void copy_every_way(const char *option)
{
	static const size_t places[] = {0, 1, 2, 4, 7, 12, 15};
	static const size_t sizes[] = {1, 2, 3, 4, 5, 15, 16, 17, 31, 33, 64, 255, 4099};
	struct scene scene;

	scene_open(&scene, option);
	for (size_t from = 0; from < sizeof(places) / sizeof(*places); from++)
		for (size_t to = 0; to < sizeof(places) / sizeof(*places); to++)
			for (size_t size = 0; size < sizeof(sizes) / sizeof(*sizes); size++)
				copy_around(&scene, places[from], places[to], sizes[size]);
	scene_close(&scene, false);
}

Test(cuda_copies, C19_D20_every_byte_of_every_alignment_by_kernels)
{
	copy_every_way(on);
}

Test(cuda_copies, C19_D20_every_byte_of_every_alignment_without_kernels)
{
	copy_every_way(off);
}

/* More bytes than work-items, and an own number of groups. */
Test(cuda_copies, C19_D20_the_largest_copies_by_kernels)
{
	static const size_t sizes[] = {65535, 65536, 100000};
	struct scene scene;

	scene_open(&scene, "copy_kernel_bytes=1048576");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		copy_around(&scene, 0, 0, sizes[i]);
		copy_around(&scene, 4, 8, sizes[i]);
		if (is_real() || i == 0) /* byte by byte, which takes the double long */
			copy_around(&scene, 1, 2, sizes[i]);
	}
	scene_close(&scene, false);
}

/* How many of a write, a copy and a read of so many bytes are kernels. */
static uint64_t kernels_of(struct scene *scene, size_t bytes)
{
	const struct backend_command commands[] = {
		transfer(scene, BACKEND_COMMAND_WRITE, 0, scene->pages, bytes),
		{.kind = BACKEND_COMMAND_COPY,
		 .copy = {.source = scene->memory,
			  .destination = scene->memory,
			  .destination_offset_bytes = HALF,
			  .size_bytes = bytes}},
		transfer(scene, BACKEND_COMMAND_READ, HALF, scene->pages + HALF, bytes),
	};
	struct backend_sendings before, after;
	const uint64_t others = other_copies();
	uint64_t sequence = 0;

	scene->fixture.ops->sendings(scene->fixture.device, &before);
	for (size_t i = 0; i < 3; i++)
		sequence = fixture_submit(&scene->fixture, 1, &commands[i]);
	fixture_wait(&scene->fixture, 1, sequence);
	scene->fixture.ops->sendings(scene->fixture.device, &after);
	const uint64_t kernels = after.chain_launches - before.chain_launches;
	cr_assert_eq(after.refused, before.refused);
	if (!is_real())
		cr_assert_eq(other_copies() - others, 3 - kernels);
	return kernels;
}

Test(cuda_copies, TR4_copies_up_to_the_limit_are_kernels)
{
	struct scene scene;

	scene_open(&scene, "copy_kernel_bytes=4096");
	cr_assert_eq(kernels_of(&scene, 1), 3);
	cr_assert_eq(kernels_of(&scene, LIMIT - 1), 3);
	cr_assert_eq(kernels_of(&scene, LIMIT), 3);
	cr_assert_eq(kernels_of(&scene, LIMIT + 1), 0);
	scene_close(&scene, false);
	scene_open(&scene, off);
	cr_assert_eq(kernels_of(&scene, 1), 0);
	scene_close(&scene, false);
	scene_open(&scene, "overlap=no"); /* the kernel's other form, and the limit by default */
	cr_assert_eq(kernels_of(&scene, CUDA_COPY_KERNEL_BYTES_DEFAULT), 3);
	cr_assert_eq(kernels_of(&scene, CUDA_COPY_KERNEL_BYTES_DEFAULT + 1), 0);
	scene_close(&scene, false);
}

static void write_from(struct scene *scene, unsigned char *from, size_t bytes)
{
	const struct backend_command write = transfer(scene, BACKEND_COMMAND_WRITE, 5, from, bytes);

	fixture_wait(&scene->fixture, 1, fixture_submit(&scene->fixture, 1, &write));
}

/* Pageable memory, a range that only begins in registered memory, and memory that was registered
 * once: a kernel must not touch it. */
Test(cuda_copies, only_registered_memory_is_reached_by_a_kernel)
{
	struct scene scene;
	unsigned char loose[64] = {1, 2, 3};
	struct backend_fault fault = {0};

	scene_open(&scene, on);
	const struct backend_ops *ops = scene.fixture.ops;
	struct backend_sendings before, after;
	ops->sendings(scene.fixture.device, &before);
	write_from(&scene, loose, sizeof(loose));
	ops->host_unregister(scene.host);
	write_from(&scene, scene.pages, sizeof(loose));
	cr_assert_eq(
		ops->host_register(scene.fixture.device, scene.pages, 4096, &scene.host, &fault), 0,
		"%s", fault.text);
	write_from(&scene, scene.pages + 4090, sizeof(loose));
	ops->sendings(scene.fixture.device, &after);
	cr_assert_eq(after.chain_launches, before.chain_launches);
	write_from(&scene, scene.pages + 4090, 6);
	ops->sendings(scene.fixture.device, &after);
	cr_assert_eq(after.chain_launches, before.chain_launches + 1);
	scene_close(&scene, false);
}

/* What is wrong is refused with the same words as without kernels. */
Test(cuda_copies, ranges_outside_and_copies_onto_themselves_are_refused)
{
	struct scene scene;
	const struct backend_command onto = {
		.kind = BACKEND_COMMAND_COPY,
		.copy = {.destination_offset_bytes = 3, .size_bytes = 4}};

	for (int i = 0; i < 2; i++) {
		scene_open(&scene, i == 0 ? on : off);
		const struct backend_command outside =
			transfer(&scene, BACKEND_COMMAND_READ, ROOM - 3, scene.pages, 4);
		struct backend_command itself = onto;
		itself.copy.source = itself.copy.destination = scene.memory;
		struct backend_fault fault = fixture_submit_fails(&scene.fixture, 1, &outside);
		cr_assert_str_eq(fault.text, "a range that is not inside of its memory");
		fault = fixture_submit_fails(&scene.fixture, 1, &itself);
		cr_assert_str_eq(fault.text, "a copy onto itself");
		scene_close(&scene, false);
	}
}

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

/* A write, kernels and a read again and again, with nothing waited for; each value is one that only
 * the right order gives. */
static void keep_order(const char *option)
{
	enum { ROUNDS = 60 };
	struct scene scene;
	const uint64_t count = COUNT;
	uint64_t sequence = 0;

	scene_open(&scene, option);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		unsigned char *in = scene.pages + i * 64ull, *out = in + HALF;
		const struct backend_command write =
			transfer(&scene, BACKEND_COMMAND_WRITE, 0, in, 4);
		const struct backend_command read =
			transfer(&scene, BACKEND_COMMAND_READ, 0, out, 4);
		set_word(in, i * 1000);
		(void)fixture_submit(&scene.fixture, 1, &write);
		for (uint32_t k = 0; k < i % 5; k++) {
			const struct backend_command launch = increment_words(&scene, &count);
			(void)fixture_submit(&scene.fixture, 1, &launch);
		}
		sequence = fixture_submit(&scene.fixture, 1, &read);
	}
	fixture_wait(&scene.fixture, 1, sequence);
	for (uint32_t i = 0; i < ROUNDS; i++)
		cr_assert_eq(word_at(scene.pages + HALF + i * 64ull), i * 1000 + i % 5, "round %u",
			     i);
	scene_close(&scene, false);
}

Test(cuda_copies, B12_copies_keep_their_place_among_kernels_of_their_lane)
{
	keep_order(on);
}

Test(cuda_copies, B12_copies_keep_their_place_without_kernels_of_the_own)
{
	keep_order(off);
}

Test(cuda_copies, B12_copies_keep_their_place_where_kernels_do_not_overlap)
{
	keep_order("overlap=no");
}

/* Read after write, write after read, write after write, each on another lane than the one before
 * it. */
static void keep_order_between_lanes(const char *option)
{
	enum { ROUNDS = 60 };
	struct scene scene;
	const uint64_t count = COUNT;
	uint64_t before = 0;

	scene_open(&scene, option);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		unsigned char *in = scene.pages + i * 64ull, *out = in + HALF;
		const uint32_t lane = i % 2 * 2; /* 0 or 2; the kernel is on 1, the read on 3 */
		const struct backend_command write =
			transfer(&scene, BACKEND_COMMAND_WRITE, 0, in, 4);
		const struct backend_command launch = increment_words(&scene, &count);
		const struct backend_command read =
			transfer(&scene, BACKEND_COMMAND_READ, 0, out, 4);
		set_word(in, i * 1000);
		before = before ? fixture_submit_after(&scene.fixture, lane, &write, 3, before)
				: fixture_submit(&scene.fixture, lane, &write);
		before = fixture_submit_after(&scene.fixture, 1, &launch, lane, before);
		before = fixture_submit_after(&scene.fixture, 3, &read, 1, before);
	}
	fixture_wait(&scene.fixture, 3, before);
	for (uint32_t i = 0; i < ROUNDS; i++)
		cr_assert_eq(word_at(scene.pages + HALF + i * 64ull), i * 1000 + 1, "round %u", i);
	scene_close(&scene, false);
}

Test(cuda_copies, B12_copies_by_kernels_wait_for_other_lanes_and_are_waited_for)
{
	keep_order_between_lanes(on);
}

Test(cuda_copies, B12_copies_without_kernels_wait_for_other_lanes_and_are_waited_for)
{
	keep_order_between_lanes(off);
}

/* All goes out as one: the host sends one graph, whose end is the last command's. */
Test(cuda_copies, TR2_TR4_a_write_kernels_and_a_read_are_one_launch)
{
	struct scene scene;
	const uint64_t count = COUNT;

	scene_open(&scene, on);
	struct backend_sendings before, after;
	scene.fixture.ops->sendings(scene.fixture.device, &before);
	const uint64_t graphs = is_real() ? 0 : double_count("graph_launches");
	const uint64_t writes = is_real() ? 0 : double_count("call cuStreamWriteValue32");
	const struct backend_command write =
		transfer(&scene, BACKEND_COMMAND_WRITE, 0, scene.pages, 4);
	const struct backend_command launch = increment_words(&scene, &count);
	const struct backend_command read =
		transfer(&scene, BACKEND_COMMAND_READ, 0, scene.pages + HALF, 4);
	set_word(scene.pages, 40);
	(void)fixture_submit(&scene.fixture, 1, &write);
	(void)fixture_submit(&scene.fixture, 1, &launch);
	(void)fixture_submit(&scene.fixture, 1, &launch);
	fixture_wait(&scene.fixture, 1, fixture_submit(&scene.fixture, 1, &read));
	cr_assert_eq(word_at(scene.pages + HALF), 42);
	scene.fixture.ops->sendings(scene.fixture.device, &after);
	cr_assert_eq(after.chains - before.chains, 1);
	cr_assert_eq(after.chain_launches - before.chain_launches, 4);
	if (!is_real()) {
		cr_assert_eq(double_count("graph_launches") - graphs, 1);
		cr_assert_eq(double_count("call cuStreamWriteValue32"), writes);
	}
	scene_close(&scene, false);
}

/* A stretch between two waits, as a solver has it; how many chains it went as. */
static uint64_t send_stretch(struct scene *scene, uint32_t kernels, uint32_t value)
{
	static const unsigned char pattern[3] = {7, 8, 9};
	const uint64_t count = COUNT;
	struct backend_sendings before, after;
	const struct backend_command write =
		transfer(scene, BACKEND_COMMAND_WRITE, 0, scene->pages, 4);
	const struct backend_command fill = {.kind = BACKEND_COMMAND_FILL,
					     .fill = {.memory = scene->memory,
						      .offset_bytes = HALF + 1,
						      .size_bytes = 50,
						      .pattern = pattern,
						      .pattern_bytes = 3}};
	const struct backend_command launch = increment_words(scene, &count);
	const struct backend_command read =
		transfer(scene, BACKEND_COMMAND_READ, 0, scene->pages + HALF, 4);

	scene->fixture.ops->sendings(scene->fixture.device, &before);
	set_word(scene->pages, value);
	(void)fixture_submit(&scene->fixture, 1, &write);
	(void)fixture_submit(&scene->fixture, 1, &fill);
	for (uint32_t i = 0; i < kernels; i++)
		(void)fixture_submit(&scene->fixture, 1, &launch);
	fixture_wait(&scene->fixture, 1, fixture_submit(&scene->fixture, 1, &read));
	cr_assert_eq(word_at(scene->pages + HALF), value + kernels);
	scene->fixture.ops->sendings(scene->fixture.device, &after);
	cr_assert_eq(after.chain_launches - before.chain_launches, kernels + 3);
	/* As the engine does when nothing is in flight. */
	if (scene->fixture.ops->quiet_wanted(scene->fixture.device))
		scene->fixture.ops->quiet(scene->fixture.device);
	return after.chains - before.chains;
}

static void expect_stretches(const char *option, bool has_exact)
{
	struct scene scene;
	unsigned char filled[50];

	scene_open(&scene, option);
	for (uint32_t kernels = 1; kernels <= CUDA_CHAIN_LENGTH_MAX - 3; kernels++) {
		uint64_t chains = 0;
		for (uint32_t i = 0; i < 12; i++)
			chains = send_stretch(&scene, kernels, kernels * 100 + i);
		cr_assert_eq(chains, has_exact ? 1 : (uint64_t)__builtin_popcount(kernels + 3),
			     "%u kernels", kernels);
	}
	fixture_read(&scene.fixture, scene.memory, HALF + 1, filled, sizeof(filled));
	for (uint32_t i = 0; i < sizeof(filled); i++)
		cr_assert_eq(filled[i], 7 + i % 3);
	scene_close(&scene, false);
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
 * A read goes with a kernel of which nothing is known, since it is short: the kernel is reported
 * hardly later. A write before such a kernel does not.
 */
Test(cuda_copies, B18_a_read_goes_with_a_new_kernel_and_a_write_before_it_does_not)
{
	struct scene scene;
	const uint64_t count = COUNT;

	scene_open(&scene, on);
	struct backend_sendings before, after;
	const struct backend_command write =
		transfer(&scene, BACKEND_COMMAND_WRITE, 0, scene.pages, 4);
	const struct backend_command launch = increment_words(&scene, &count);
	const struct backend_command read =
		transfer(&scene, BACKEND_COMMAND_READ, 0, scene.pages + HALF, 4);
	scene.fixture.ops->sendings(scene.fixture.device, &before);
	*cuda_kernel_pace(scene.increment) = (struct cuda_pace){.period_ns = 0};
	(void)fixture_submit(&scene.fixture, 1, &write);
	(void)fixture_submit(&scene.fixture, 1, &launch);
	fixture_wait(&scene.fixture, 1, fixture_submit(&scene.fixture, 1, &read));
	scene.fixture.ops->sendings(scene.fixture.device, &after);
	cr_assert_eq(after.chains - before.chains, 2);
	cr_assert_eq(after.chain_launches - before.chain_launches, 3);
	scene_close(&scene, false);
}

/* As increment_u32, in two kinds of PTX. One may be raised so that it waits for the kernels before
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

/* In place of the increment. */
static void take_kernel(struct scene *scene, const char *source, const char *name)
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
Test(cuda_copies, F1_a_copy_overlaps_with_the_kernels_around_it)
{
	struct scene scene;
	const uint64_t count = COUNT;

	scene_open(&scene, on);
	take_kernel(&scene, young, "young");
	const uint64_t before[] = {is_real() ? 0 : double_count("overlapped"),
				   is_real() ? 0 : double_count("overlapped early")};
	for (uint32_t round = 1; round <= (is_real() ? 2000u : 3u); round++) {
		uint64_t sequence = 0;
		for (uint32_t i = 0; i < 4; i++) {
			unsigned char *out = scene.pages + HALF + i * 4ull;
			const struct backend_command launch = increment_words(&scene, &count);
			const struct backend_command read =
				transfer(&scene, BACKEND_COMMAND_READ, (COUNT - 1) * 4ull, out, 4);
			(void)fixture_submit(&scene.fixture, 1, &launch);
			sequence = fixture_submit(&scene.fixture, 1, &read);
		}
		fixture_wait(&scene.fixture, 1, sequence);
		const uint32_t first = word_at(scene.pages + HALF);
		for (uint32_t i = 1; i < 4; i++)
			cr_assert_eq(word_at(scene.pages + HALF + i * 4ull), first + i, "round %u",
				     round);
	}
	/* All but the first of each chain of 8; the copy computes its addresses before it waits. */
	if (!is_real()) {
		cr_assert_eq(double_count("overlapped") - before[0], 3 * 3);
		cr_assert_eq(double_count("overlapped early") - before[1], 3 * 4);
	}
	scene_close(&scene, false);
}

static void add_launch_after(struct scene *scene, const uint64_t *count,
			     struct backend_launch_properties *properties)
{
	struct backend_command launch = increment_words(scene, count);

	launch.launch.properties = properties;
	(void)fixture_submit(&scene->fixture, 1, &launch);
}

/* A launch may begin before a copy is over only if it was to; a copy behind such launches begins
 * when all are over. */
Test(cuda_copies, R5_a_copy_behind_an_early_launch_waits_for_it)
{
	struct scene scene;
	const uint64_t count = COUNT;

	scene_open(&scene, on);
	if (!(scene.fixture.facts->features & BACKEND_FEATURE_EARLY)) {
		scene_close(&scene, false);
		return;
	}
	take_kernel(&scene, early, "early");
	for (uint32_t round = 0; round < (is_real() ? 500u : 5u); round++) {
		const struct backend_command launch = increment_words(&scene, &count);
		struct backend_launch_properties properties = {.early = true};
		fixture_write(&scene.fixture, scene.memory, 0, "\0\0\0", 4);
		properties.early_after = fixture_submit(&scene.fixture, 1, &launch);
		add_launch_after(&scene, &count, &properties);
		const struct backend_command read =
			transfer(&scene, BACKEND_COMMAND_READ, 0, scene.pages, 4);
		fixture_wait(&scene.fixture, 1, fixture_submit(&scene.fixture, 1, &read));
		cr_assert_eq(word_at(scene.pages), 2, "round %u", round);
	}
	if (!is_real()) {
		cr_assert_eq(double_count("early"), 5);
		cr_assert_eq(double_count("early in vain"), 0);
	}
	scene_close(&scene, false);
}

/* Profiling: a timed transfer lies between events of its own, and those that are not timed get
 * times that are in order. */
Test(cuda_copies, H3_H4_times_of_copies_among_kernels)
{
	struct scene scene;
	const uint64_t count = COUNT;

	scene_open(&scene, on);
	uint64_t sequences[4], ended_ns = 0;
	const struct backend_command launch = increment_words(&scene, &count);
	struct backend_command read =
		transfer(&scene, BACKEND_COMMAND_READ, 0, scene.pages + HALF, 64);
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
	cr_assert_eq(word_at(scene.pages + HALF), 2);
	scene_close(&scene, false);
}

/* What went with a kernel that faults is lost with it, but only the kernel may be at fault. */
Test(cuda_copies, M10_a_copy_beside_a_kernel_at_fault_is_no_suspect)
{
	struct scene scene;
	const uint64_t far = ROOM * 1000ull;

	if (is_real())
		cr_skip_test("a context of this process would be lost");
	scene_open(&scene, on);
	const struct backend_command write =
		transfer(&scene, BACKEND_COMMAND_WRITE, 0, scene.pages, 4);
	const struct backend_command bad = increment_words(&scene, &far);
	const struct backend_command read =
		transfer(&scene, BACKEND_COMMAND_READ, 0, scene.pages + HALF, 4);
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
	scene_close(&scene, true);
}

/* A copy that the driver refuses is reported as failed, and the kernel in front of it is not. */
Test(cuda_copies, M9_a_copy_that_the_driver_refuses_is_named)
{
	struct scene scene;
	const uint64_t count = COUNT;

	if (is_real())
		cr_skip_test("only the driver's double can be set so");
	scene_open(&scene, on);
	const struct backend_command launch = increment_words(&scene, &count);
	const struct backend_command read =
		transfer(&scene, BACKEND_COMMAND_READ, 0, scene.pages + HALF, 4);
	double_command("fail cuGraphLaunch 1 1"); /* so they go one by one */
	double_command("fail cuLaunchKernel 2 701");
	const uint64_t first = fixture_submit(&scene.fixture, 1, &launch);
	const uint64_t second = fixture_submit(&scene.fixture, 1, &read);
	fixture_wait(&scene.fixture, 1, first);
	const struct backend_completion ended = fixture_finish(&scene.fixture, 1, second);
	cr_assert_neq(ended.fault.status, STATUS_SUCCESS);
	cr_assert_not_null(strstr(ended.fault.text, "cannot copy"), "%s", ended.fault.text);
	cr_assert_not(ended.fault.device_lost);
	scene_close(&scene, false);
}

/* Lanes on a part of the device send no chains; their copies are plain launches. */
Test(cuda_copies, B12_copies_of_a_lane_of_the_latency_class)
{
	static const char *const more[] = {"latency_multiprocessors=16", NULL};
	struct fixture fixture;
	struct backend_fault fault = {0};
	unsigned char *pages =
		mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct backend_host *host = NULL;

	if (is_real())
		cr_skip_test("not every GPU can be divided so");
	open_with(&fixture, more);
	const struct backend_ops *ops = fixture.ops;
	ops->lane_free(fixture.lanes[1].lane);
	cr_assert_eq(ops->lane_create(fixture.device, BACKEND_LANE_LATENCY, &fixture.lanes[1].lane,
				      &fault),
		     0, "%s", fault.text);
	(void)ops->latency_wanted(fixture.device, true);
	ops->quiet(fixture.device);
	cr_assert_eq(ops->host_register(fixture.device, pages, ROOM, &host, &fault), 0, "%s",
		     fault.text);
	struct backend_memory *memory = fixture_memory(&fixture, ROOM, NULL);
	struct scene scene = {.memory = memory};
	const struct backend_command write =
		transfer(&scene, BACKEND_COMMAND_WRITE, 3, pages, 1001);
	const struct backend_command read =
		transfer(&scene, BACKEND_COMMAND_READ, 3, pages + HALF, 1001);
	fill_counting(pages, 1001, 9);
	const uint64_t copies = other_copies();
	(void)fixture_submit(&fixture, 1, &write);
	fixture_wait(&fixture, 1, fixture_submit(&fixture, 1, &read));
	cr_assert_arr_eq(pages, pages + HALF, 1001);
	cr_assert_eq(other_copies(), copies);
	ops->memory_free(memory);
	ops->host_unregister(host);
	fixture_close(&fixture);
	(void)munmap(pages, ROOM);
	double_check(true);
}
