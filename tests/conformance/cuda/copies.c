/*
 * Small copies by a kernel of the backend (lane/copy.c). Every byte arrives and no other changes,
 * also if this path is off. They keep their place in a lane and between lanes, and are sent with
 * the launches around them. On a GPU the kernel's PTX runs as the driver compiles it.
 */
#include "cuda/copies_support.h"

enum { LIMIT = 4096 };

TestSuite(cuda_copies, .timeout = 120);

/* Checks a piece at `offset` inside of a larger place that contains one value. */
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

/* Copies to the device, to another place there, and back; each has another alignment. */
static void copy_around(struct copies_scene *scene, size_t from, size_t to, size_t bytes)
{
	struct fixture *fixture = &scene->fixture;
	unsigned char *out = scene->pages, *in = scene->pages + COPIES_HALF;
	static unsigned char zeros[COPIES_HALF];

	fixture_write(fixture, scene->memory, 0, zeros, bytes + 128);
	fixture_write(fixture, scene->memory, COPIES_HALF, zeros, bytes + 128);
	memset(in, 0x33, bytes + 128);
	copies_fill_counting(out + from, bytes, (unsigned)(from * 16 + to));
	const struct backend_command commands[] = {
		copies_transfer(scene, BACKEND_COMMAND_WRITE, to, out + from, bytes),
		{.kind = BACKEND_COMMAND_COPY,
		 .copy = {.source = scene->memory,
			  .destination = scene->memory,
			  .source_offset_bytes = to,
			  .destination_offset_bytes = COPIES_HALF + from,
			  .size_bytes = bytes}},
		copies_transfer(scene, BACKEND_COMMAND_READ, COPIES_HALF + from, in + to, bytes),
	};
	uint64_t sequence = 0;
	for (size_t i = 0; i < 3; i++)
		sequence = fixture_submit(fixture, 1, &commands[i]);
	fixture_wait(fixture, 1, sequence);
	expect_piece(in, to, out + from, bytes, 0x33, "a read");
	static unsigned char there[COPIES_HALF];
	fixture_read(fixture, scene->memory, 0, there, bytes + 128);
	expect_piece(there, to, out + from, bytes, 0, "a write");
	fixture_read(fixture, scene->memory, COPIES_HALF, there, bytes + 128);
	expect_piece(there, from, out + from, bytes, 0, "a copy");
}

static void copy_every_way(const char *option)
{
	static const size_t places[] = {0, 1, 2, 4, 7, 12, 15};
	static const size_t sizes[] = {1, 2, 3, 4, 5, 15, 16, 17, 31, 33, 64, 255, 4099};
	struct copies_scene scene;

	copies_open(&scene, option);
	for (size_t from = 0; from < sizeof(places) / sizeof(*places); from++)
		for (size_t to = 0; to < sizeof(places) / sizeof(*places); to++)
			for (size_t size = 0; size < sizeof(sizes) / sizeof(*sizes); size++)
				copy_around(&scene, places[from], places[to], sizes[size]);
	copies_close(&scene, false);
}

Test(cuda_copies, C19_D20_every_byte_of_every_alignment_by_kernels)
{
	copy_every_way(COPIES_ON);
}

Test(cuda_copies, C19_D20_every_byte_of_every_alignment_without_kernels)
{
	copy_every_way(COPIES_OFF);
}

/* More bytes than work-items, and a special number of groups. */
Test(cuda_copies, C19_D20_the_largest_copies_by_kernels)
{
	static const size_t sizes[] = {65535, 65536, 100000};
	struct copies_scene scene;

	copies_open(&scene, "copy_kernel_bytes=1048576");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		copy_around(&scene, 0, 0, sizes[i]);
		copy_around(&scene, 4, 8, sizes[i]);
		if (copies_are_real() ||
		    i == 0) /* byte by byte, which takes long with the double */
			copy_around(&scene, 1, 2, sizes[i]);
	}
	copies_close(&scene, false);
}

/* Returns how many of a write, a copy and a read of that size are kernels. */
static uint64_t kernels_of(struct copies_scene *scene, size_t bytes)
{
	const struct backend_command commands[] = {
		copies_transfer(scene, BACKEND_COMMAND_WRITE, 0, scene->pages, bytes),
		{.kind = BACKEND_COMMAND_COPY,
		 .copy = {.source = scene->memory,
			  .destination = scene->memory,
			  .destination_offset_bytes = COPIES_HALF,
			  .size_bytes = bytes}},
		copies_transfer(scene, BACKEND_COMMAND_READ, COPIES_HALF,
				scene->pages + COPIES_HALF, bytes),
	};
	struct backend_sendings before, after;
	const uint64_t others = copies_not_by_kernels();
	uint64_t sequence = 0;

	scene->fixture.ops->sendings(scene->fixture.device, &before);
	for (size_t i = 0; i < 3; i++)
		sequence = fixture_submit(&scene->fixture, 1, &commands[i]);
	fixture_wait(&scene->fixture, 1, sequence);
	scene->fixture.ops->sendings(scene->fixture.device, &after);
	const uint64_t kernels = after.chain_launches - before.chain_launches;
	cr_assert_eq(after.refused, before.refused);
	if (!copies_are_real())
		cr_assert_eq(copies_not_by_kernels() - others, 3 - kernels);
	return kernels;
}

Test(cuda_copies, TR4_copies_up_to_the_limit_are_kernels)
{
	struct copies_scene scene;

	copies_open(&scene, "copy_kernel_bytes=4096");
	cr_assert_eq(kernels_of(&scene, 1), 3);
	cr_assert_eq(kernels_of(&scene, LIMIT - 1), 3);
	cr_assert_eq(kernels_of(&scene, LIMIT), 3);
	cr_assert_eq(kernels_of(&scene, LIMIT + 1), 0);
	copies_close(&scene, false);
	copies_open(&scene, COPIES_OFF);
	cr_assert_eq(kernels_of(&scene, 1), 0);
	copies_close(&scene, false);
	copies_open(&scene, "overlap=no"); /* the kernel's other form, and the default limit */
	cr_assert_eq(kernels_of(&scene, CUDA_COPY_KERNEL_BYTES_DEFAULT), 3);
	cr_assert_eq(kernels_of(&scene, CUDA_COPY_KERNEL_BYTES_DEFAULT + 1), 0);
	copies_close(&scene, false);
}

static void write_from(struct copies_scene *scene, unsigned char *from, size_t bytes)
{
	const struct backend_command write =
		copies_transfer(scene, BACKEND_COMMAND_WRITE, 5, from, bytes);

	fixture_wait(&scene->fixture, 1, fixture_submit(&scene->fixture, 1, &write));
}

/* Pageable memory, a range that only begins in registered memory, and memory that was registered
 * before: a kernel must not access any of them. */
Test(cuda_copies, only_registered_memory_is_reached_by_a_kernel)
{
	struct copies_scene scene;
	unsigned char loose[64] = {1, 2, 3};
	struct backend_fault fault = {0};

	copies_open(&scene, COPIES_ON);
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
	copies_close(&scene, false);
}

/* Errors are refused with the same messages as without kernels. */
Test(cuda_copies, ranges_outside_and_copies_onto_themselves_are_refused)
{
	struct copies_scene scene;
	const struct backend_command onto = {
		.kind = BACKEND_COMMAND_COPY,
		.copy = {.destination_offset_bytes = 3, .size_bytes = 4}};

	for (int i = 0; i < 2; i++) {
		copies_open(&scene, i == 0 ? COPIES_ON : COPIES_OFF);
		const struct backend_command outside = copies_transfer(
			&scene, BACKEND_COMMAND_READ, COPIES_ROOM - 3, scene.pages, 4);
		struct backend_command itself = onto;
		itself.copy.source = itself.copy.destination = scene.memory;
		struct backend_fault fault = fixture_submit_fails(&scene.fixture, 1, &outside);
		cr_assert_str_eq(fault.text, "the range is not inside of its memory");
		fault = fixture_submit_fails(&scene.fixture, 1, &itself);
		cr_assert_str_eq(fault.text, "the source and the destination of the copy overlap");
		copies_close(&scene, false);
	}
}
