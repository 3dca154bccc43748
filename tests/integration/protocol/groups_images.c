/* Images in the bare protocol: the engine makes its own checks, whatever a library has checked. */
#include "protocol/groups_fixture.h"

#include "image_format.h"

#include <string.h>

enum { IMAGE = 50, TWIN, INTEGERS, WIDE, IMAGE_BUNDLE = 6 };
enum { FILL_IMAGE = 30, COPY_IMAGE, SAMPLER_OF_IMAGE, SAMPLER };
enum { IMAGE_BYTES = 8 * 4 * 4, ARENA_OFFSET = 16384 };
enum { UNORM = BACKEND_IMAGE_R8G8B8A8_UNORM };

static void send_any_image(uint32_t arena, uint32_t index, uint32_t format, bool layered,
			   uint32_t dimensions, const uint64_t *size, uint64_t offset,
			   uint64_t bytes)
{
	Sycl__V1__ImageCreate create = SYCL__V1__IMAGE_CREATE__INIT;
	Sycl__V1__ArenaRange range = SYCL__V1__ARENA_RANGE__INIT;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	range.arena = arena;
	range.offset_bytes = offset;
	range.size_bytes = bytes;
	create.image = raw_id(OBJECT_BUFFER, index);
	create.format = format;
	create.n_size = dimensions;
	create.size = (uint64_t *)(uintptr_t)size;
	create.range = &range;
	create.initialised = true;
	create.layered = layered;
	command.body_case = SYCL__V1__COMMAND__BODY_IMAGE_CREATE;
	command.image_create = &create;
	(void)raw_send(client, &command);
}

static void send_image_in(uint32_t arena, uint32_t index, uint32_t format, uint32_t dimensions,
			  const uint64_t *size, uint64_t offset, uint64_t bytes)
{
	send_any_image(arena, index, format, false, dimensions, size, offset, bytes);
}

static void send_image(uint32_t index, uint32_t format, uint32_t dimensions, const uint64_t *size,
		       uint64_t offset, uint64_t bytes)
{
	send_image_in(0, index, format, dimensions, size, offset, bytes);
}

/* Images of 8 x 4 pixels on a device that supports them; kernels for them. */
static void start_with_images(void)
{
	static const char *const names[] = {"fill_image", "copy_image", "sampler_of_image",
					    "sampler_u32"};
	static const uint64_t size[] = {4, 8};
	for (uint32_t i = 0; i < 3; i++)
		fake_device_options(
			i, (struct fake_device_options){.features = BACKEND_FEATURE_IMAGE});
	groups_start();
	(void)groups_bundle(IMAGE_BUNDLE,
			    "fill_image\ncopy_image\nsampler_of_image\nsampler_u32\n");
	for (uint32_t i = 0; i < 4; i++)
		(void)groups_kernel(FILL_IMAGE + i, IMAGE_BUNDLE, names[i]);
	send_image(IMAGE, UNORM, 2, size, ARENA_OFFSET, IMAGE_BYTES);
	send_image(TWIN, UNORM, 2, size, ARENA_OFFSET + 4096, IMAGE_BYTES);
	send_image(INTEGERS, BACKEND_IMAGE_R8G8B8A8_UINT, 2, size, ARENA_OFFSET + 8192,
		   IMAGE_BYTES);
}

static const uint8_t *image_bytes_of(uint32_t index)
{
	return (const uint8_t *)client->arenas[0]->address + ARENA_OFFSET +
	       (size_t)(index - IMAGE) * 4096;
}

static void launch_image_kernel(struct build *build, uint32_t kernel)
{
	build_launch(build, FILL, 1);
	build->launch.kernel = raw_id(OBJECT_KERNEL, kernel);
}

/* One image in a group, with its argument. */
struct image_build {
	struct build build;
	Sycl__V1__ImageArgument image;
	Sycl__V1__SamplerArgument sampler;
	Sycl__V1__Argument *argument;
};

static void groups_images_add_use(struct image_build *b, uint32_t requirement, bool sampled)
{
	sycl__v1__image_argument__init(&b->image);
	sycl__v1__sampler_argument__init(&b->sampler);
	b->image.requirement = requirement;
	b->image.sampled = sampled;
	b->sampler.addressing = BACKEND_ADDRESSING_CLAMP;
	b->argument = build_argument(&b->build, SYCL__V1__ARGUMENT__VALUE_IMAGE);
	b->argument->image = &b->image;
	if (sampled)
		b->argument->sampler = &b->sampler;
}

static void begin_fill(struct image_build *b, uint32_t index, uint32_t mode)
{
	build_begin(&b->build);
	build_require(&b->build, index, mode);
	groups_images_add_use(b, 0, false);
	build_value(&b->build, 9);
	launch_image_kernel(&b->build, FILL_IMAGE);
}

static void begin_sampled(struct image_build *b, uint32_t index, uint32_t mode)
{
	build_begin(&b->build);
	build_require(&b->build, BUFFER, ACCESS_MODE_WRITE);
	build_require(&b->build, index, mode);
	build_accessor(&b->build, 0);
	groups_images_add_use(b, 1, true);
	launch_image_kernel(&b->build, SAMPLER_OF_IMAGE);
}

static void expect_image(uint32_t index, uint8_t value, uint32_t once)
{
	groups_access(once, index, ACCESS_MODE_READ, once);
	cr_assert(eq(u32, raw_wait_slot(client, once, 1), 0));
	for (int i = 0; i < IMAGE_BYTES; i++)
		cr_assert(eq(u8, image_bytes_of(index)[i], value), "byte %d", i);
	(void)raw_release(client, raw_id(OBJECT_HOST_ACCESSOR, once));
}

Test(groups, C20_images_are_filled_copied_and_sampled)
{
	struct image_build b;
	start_with_images();
	begin_fill(&b, IMAGE, ACCESS_MODE_WRITE_NO_INIT);
	(void)build_submit(&b.build, false);
	build_begin(&b.build);
	build_require(&b.build, IMAGE, ACCESS_MODE_READ);
	build_require(&b.build, TWIN, ACCESS_MODE_WRITE_NO_INIT);
	b.build.group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_COPY;
	b.build.group.copy = &b.build.copy;
	b.build.source.place_case = b.build.destination.place_case =
		SYCL__V1__MEMORY_END__PLACE_REQUIREMENT;
	b.build.destination.requirement = 1;
	b.build.copy.size_bytes = IMAGE_BYTES;
	(void)build_submit(&b.build, false);
	begin_sampled(&b, TWIN, ACCESS_MODE_READ);
	b.sampler.linear = true;
	(void)build_submit(&b.build, false);
	cr_assert(eq(u32, groups_wait(false), 0));
	expect_image(IMAGE, 9, 40);
	expect_image(TWIN, 9, 41);
	groups_access(42, BUFFER, ACCESS_MODE_READ, 42);
	cr_assert(eq(u32, raw_wait_slot(client, 42, 1), 0));
	cr_assert(eq(u32, groups_words(BUFFER)[0], BACKEND_ADDRESSING_CLAMP | 1u << 9));
	groups_stop();
}

Test(groups, C16_C20_an_image_that_cannot_be_fails_what_uses_it)
{
	static const struct {
		uint32_t format, dimensions;
		uint64_t size[4], bytes;
		const char *text;
	} cases[] = {
		{0, 2, {4, 8}, IMAGE_BYTES, "no image format 0"},
		{BACKEND_IMAGE_B8G8R8A8_UNORM + 1, 2, {4, 8}, IMAGE_BYTES, "no image format"},
		{UINT32_MAX, 2, {4, 8}, IMAGE_BYTES, "no image format"},
		{UNORM, 0, {0}, IMAGE_BYTES, "1 to 3 dimensions"},
		{UNORM, 4, {1, 1, 1, 1}, IMAGE_BYTES, "1 to 3 dimensions"},
		{UNORM, 2, {0, 8}, IMAGE_BYTES, "has 1 to"},
		{UNORM, 2, {4, UINT64_MAX}, IMAGE_BYTES, "has 1 to"},
		{UNORM, 3, {1u << 31, 1u << 31, 1u << 31}, IMAGE_BYTES, "has 1 to"},
		{UNORM, 2, {4, 9}, IMAGE_BYTES, "144"},
		{UNORM, 2, {4, 8}, 65536, "not inside arena 0"},
	};
	start_with_images();
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct image_build b;
		send_image(60 + i, cases[i].format, cases[i].dimensions, cases[i].size,
			   ARENA_OFFSET, cases[i].bytes);
		begin_fill(&b, 60 + i, ACCESS_MODE_WRITE);
		expect_refused(&b.build, STATUS_INVALID, cases[i].text);
		(void)raw_release(client, raw_id(OBJECT_BUFFER, 60 + i));
	}
	groups_stop();
}

Test(groups, C20_an_image_is_used_as_a_whole)
{
	struct image_build b;
	start_with_images();
	for (uint32_t i = 0; i < 3; i++) {
		begin_fill(&b, IMAGE, ACCESS_MODE_WRITE);
		b.build.requirements[0].offset_bytes = i == 0 ? 4 : 0;
		b.build.requirements[0].size_bytes = i == 2 ? IMAGE_BYTES : IMAGE_BYTES - 4;
		b.build.requirements[0].order_size_bytes = i == 2 ? IMAGE_BYTES : 0;
		expect_refused(&b.build, STATUS_ACCESSOR, "as a whole");
	}
	/* A pattern and bytes of its storage, as for a buffer. */
	build_begin(&b.build);
	build_require(&b.build, IMAGE, ACCESS_MODE_WRITE);
	b.build.group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_FILL;
	b.build.group.fill = &b.build.fill;
	b.build.fill.pattern = (ProtobufCBinaryData){4, (uint8_t *)b.build.values};
	b.build.fill.size_bytes = IMAGE_BYTES;
	expect_refused(&b.build, STATUS_INVALID, "opaque");
	build_begin(&b.build);
	build_require(&b.build, IMAGE, ACCESS_MODE_WRITE);
	build_accessor(&b.build, 0);
	build_value(&b.build, 1);
	build_launch(&b.build, FILL, 32);
	expect_refused(&b.build, STATUS_KERNEL_ARGUMENT, "an image was given");
	groups_stop();
}

static void groups_images_begin_copy(struct build *build, uint32_t from, uint32_t to)
{
	build_begin(build);
	build_require(build, from, ACCESS_MODE_READ);
	build_require(build, to, ACCESS_MODE_WRITE);
	build->group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_COPY;
	build->group.copy = &build->copy;
	build->source.place_case = build->destination.place_case =
		SYCL__V1__MEMORY_END__PLACE_REQUIREMENT;
	build->destination.requirement = 1;
	build->copy.size_bytes = IMAGE_BYTES;
}

Test(groups, C20_only_images_that_are_alike_are_copied)
{
	static const uint64_t turned[] = {8, 4};
	struct build b;
	Sycl__V1__Box box = SYCL__V1__BOX__INIT;
	Sycl__V1__ArenaRange arena = SYCL__V1__ARENA_RANGE__INIT;
	start_with_images();
	send_image(WIDE, UNORM, 2, turned, ARENA_OFFSET + 12288, IMAGE_BYTES);
	const uint32_t others[] = {BUFFER, INTEGERS, WIDE};
	for (uint32_t i = 0; i < 3; i++) {
		groups_images_begin_copy(&b, IMAGE, others[i]);
		expect_refused(&b, STATUS_INVALID, "alike");
		groups_images_begin_copy(&b, others[i], IMAGE);
		expect_refused(&b, STATUS_INVALID, "alike");
	}
	groups_images_begin_copy(&b, IMAGE, TWIN);
	b.copy.size_bytes = IMAGE_BYTES - 4;
	expect_refused(&b, STATUS_INVALID, "alike");
	groups_images_begin_copy(&b, IMAGE, TWIN);
	b.source.offset_bytes = 4;
	expect_refused(&b, STATUS_INVALID, "alike");
	groups_images_begin_copy(&b, IMAGE, TWIN);
	b.copy.size_bytes = 0;
	b.copy.box = &box;
	box.width_bytes = box.source_row_pitch = box.destination_row_pitch = IMAGE_BYTES;
	box.rows = box.slices = 1;
	expect_refused(&b, STATUS_INVALID, "alike");
	groups_images_begin_copy(&b, IMAGE, TWIN);
	b.source.place_case = SYCL__V1__MEMORY_END__PLACE_ARENA;
	b.source.arena = &arena;
	arena.size_bytes = IMAGE_BYTES;
	expect_refused(&b, STATUS_INVALID, "alike");
	groups_images_begin_copy(&b, IMAGE, TWIN);
	b.requirements[1].mode = ACCESS_MODE_READ;
	expect_refused(&b, STATUS_ACCESSOR, "do not allow");
	groups_stop();
}

Test(groups, E14_image_arguments_are_checked)
{
	struct image_build b;
	start_with_images();
	begin_fill(&b, IMAGE, ACCESS_MODE_READ);
	expect_refused(&b.build, STATUS_KERNEL_ARGUMENT, "accessor for reading");
	begin_fill(&b, BUFFER, ACCESS_MODE_WRITE);
	expect_refused(&b.build, STATUS_KERNEL_ARGUMENT, "a buffer was given");
	begin_fill(&b, IMAGE, ACCESS_MODE_WRITE);
	b.image.requirement = 1;
	expect_refused(&b.build, STATUS_KERNEL_ARGUMENT, "requirement 1 of 1");
	begin_fill(&b, IMAGE, ACCESS_MODE_WRITE);
	b.build.launch.n_arguments = 1;
	expect_refused(&b.build, STATUS_KERNEL_ARGUMENT, "argument");
	/* Another object in the place of an image, and an image in the place of another object. */
	build_begin(&b.build);
	build_value(&b.build, 1);
	build_value(&b.build, 1);
	launch_image_kernel(&b.build, FILL_IMAGE);
	expect_refused(&b.build, STATUS_KERNEL_ARGUMENT, "argument 0");
	build_begin(&b.build);
	build_require(&b.build, IMAGE, ACCESS_MODE_WRITE);
	groups_images_add_use(&b, 0, false);
	build_value(&b.build, 1);
	build_launch(&b.build, FILL, 8);
	expect_refused(&b.build, STATUS_KERNEL_ARGUMENT, "argument 0");
	expect_poisoned(IMAGE, 40);
	groups_stop();
}

Test(groups, E14_G5_S1_samplers_are_checked)
{
	struct image_build b;
	start_with_images();
	begin_sampled(&b, IMAGE, ACCESS_MODE_READ_WRITE);
	expect_refused(&b.build, STATUS_ACCESSOR, "read only");
	begin_sampled(&b, IMAGE, ACCESS_MODE_READ);
	b.argument->sampler = NULL;
	expect_refused(&b.build, STATUS_INVALID, "sampler");
	static const uint32_t unknown[] = {0, BACKEND_ADDRESSING_NONE + 1, UINT32_MAX};
	for (uint32_t i = 0; i < 3; i++) {
		begin_sampled(&b, IMAGE, ACCESS_MODE_READ);
		b.sampler.addressing = unknown[i];
		expect_refused(&b.build, STATUS_INVALID, "sampler");
	}
	begin_sampled(&b, INTEGERS, ACCESS_MODE_READ);
	b.sampler.linear = true;
	expect_refused(&b.build, STATUS_KERNEL_ARGUMENT, "integers");
	/* Images outside of groups. */
	for (uint32_t i = 0; i < 2; i++) {
		build_begin(&b.build);
		build_require(&b.build, BUFFER, ACCESS_MODE_WRITE);
		build_accessor(&b.build, 0);
		sycl__v1__sampler_argument__init(&b.sampler);
		b.argument = build_argument(&b.build, SYCL__V1__ARGUMENT__VALUE_IS_SAMPLER);
		b.argument->is_sampler = i == 1;
		b.argument->sampler = i == 0 ? &b.sampler : NULL;
		launch_image_kernel(&b.build, SAMPLER);
		expect_refused(&b.build, i == 0 ? STATUS_KERNEL_ARGUMENT : STATUS_INVALID,
			       "argument 1");
	}
	groups_stop();
}

Test(groups, an_image_larger_than_the_device_takes_is_refused)
{
	static const uint64_t row[] = {16385};
	struct image_build b;
	start_with_images();
	raw_arena(client, 1, 131072);
	send_image_in(1, WIDE, UNORM, 1, row, 0, sizeof(uint32_t) * 16385);
	begin_fill(&b, WIDE, ACCESS_MODE_WRITE);
	expect_refused(&b.build, STATUS_INVALID, "allows 16384");
	groups_stop();
}

/* Layers as a hostile client may describe them. All layers count: 144 bytes and 2^62 exceed the
 * arena. */
Test(groups, R8_layers_that_cannot_be_fail_what_uses_them)
{
	static const struct {
		uint32_t dimensions;
		uint64_t size[4], bytes;
		const char *text;
	} cases[] = {
		{1, {4}, IMAGE_BYTES, "2 or 3 dimensions"},
		{0, {4}, IMAGE_BYTES, "1 to 3 dimensions"},
		{4, {1, 1, 1, 1}, IMAGE_BYTES, "1 to 3 dimensions"},
		{3, {0, 4, 8}, IMAGE_BYTES, "has 1 to"},
		{3, {UINT64_MAX, 4, 8}, IMAGE_BYTES, "has 1 to"},
		{3, {1u << 20, 1u << 20, 1u << 20}, IMAGE_BYTES, "buffers may have"},
		{3, {9, 2, 2}, IMAGE_BYTES, "144"},
		{3, {2, 2, 8}, 65536, "not inside arena 0"},
		{3, {257, 1, 1}, 257 * 4, "allows 256"},
		{2, {257, 1}, 257 * 4, "allows 256"},
	};
	start_with_images();
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct image_build b;
		send_any_image(0, 60 + i, UNORM, true, cases[i].dimensions, cases[i].size,
			       ARENA_OFFSET, cases[i].bytes);
		begin_fill(&b, 60 + i, ACCESS_MODE_WRITE);
		expect_refused(&b.build,
			       strstr(cases[i].text, "may have") ? STATUS_QUOTA : STATUS_INVALID,
			       cases[i].text);
		(void)raw_release(client, raw_id(OBJECT_BUFFER, 60 + i));
	}
	groups_stop();
}

Test(groups, R8_layers_are_copied_to_layers_only)
{
	static const uint64_t size[] = {4, 8};
	struct build b;
	start_with_images();
	raw_arena(client, 1, 131072);
	for (uint32_t i = 0; i < 3; i++)
		send_any_image(1, WIDE + i, UNORM, true, 2, size, 4096 * i, IMAGE_BYTES);
	groups_images_begin_copy(&b, IMAGE, WIDE);
	expect_refused(&b, STATUS_INVALID, "alike");
	groups_images_begin_copy(&b, WIDE + 1, IMAGE);
	expect_refused(&b, STATUS_INVALID, "alike");
	groups_images_begin_copy(&b, WIDE + 1, WIDE + 2);
	(void)build_submit(&b, false);
	groups_access(40, WIDE + 2, ACCESS_MODE_READ, 40);
	cr_assert(eq(u32, raw_wait_slot(client, 40, 1), 0));
	groups_stop();
}

Test(groups, G4_C20_an_image_on_a_device_without_any_is_refused)
{
	static const uint64_t size[] = {4, 8};
	struct image_build b;
	groups_start();
	(void)groups_bundle(IMAGE_BUNDLE, "fill_image\n");
	(void)groups_kernel(FILL_IMAGE, IMAGE_BUNDLE, "fill_image");
	send_image(IMAGE, UNORM, 2, size, ARENA_OFFSET, IMAGE_BYTES);
	begin_fill(&b, IMAGE, ACCESS_MODE_WRITE);
	expect_refused(&b.build, STATUS_FEATURE_NOT_SUPPORTED, "r8g8b8a8_unorm");
	expect_poisoned(IMAGE, 40);
	groups_stop();
}

/* A part of an image, and the buffer or the arena at the other end. */
struct part_build {
	struct build build;
	Sycl__V1__ImageBox box;
	uint64_t from[3], to[3], size[3];
};

static void begin_part(struct part_build *p, uint32_t from, uint32_t to)
{
	groups_images_begin_copy(&p->build, from, to);
	sycl__v1__image_box__init(&p->box);
	p->build.copy.size_bytes = 0;
	p->build.copy.image = &p->box;
	for (int i = 0; i < 3; i++) {
		p->from[i] = p->to[i] = 0;
		p->size[i] = 1;
	}
	p->box.n_source_origin = p->box.n_destination_origin = p->box.n_size = 3;
	p->box.source_origin = p->from;
	p->box.destination_origin = p->to;
	p->box.size = p->size;
}

Test(groups, R10_parts_of_images_are_copied)
{
	struct image_build b;
	struct part_build p;
	start_with_images();
	begin_fill(&b, IMAGE, ACCESS_MODE_WRITE_NO_INIT);
	(void)build_submit(&b.build, false);
	begin_fill(&b, TWIN, ACCESS_MODE_WRITE_NO_INIT);
	for (int i = 0; i < 4; i++)
		b.build.values[i] = 7;
	(void)build_submit(&b.build, false);
	begin_part(&p, IMAGE, TWIN);
	p.size[0] = 3;
	p.size[1] = 2;
	p.to[0] = 5;
	p.to[1] = 2;
	(void)build_submit(&p.build, false);
	cr_assert(eq(u32, groups_wait(false), 0));
	groups_access(40, TWIN, ACCESS_MODE_READ, 40);
	cr_assert(eq(u32, raw_wait_slot(client, 40, 1), 0));
	for (int i = 0; i < IMAGE_BYTES; i++) {
		int column = i / 4 % 8, row = i / 32;
		uint8_t wanted = column >= 5 && row >= 2 ? 9 : 7;
		cr_assert(eq(u8, image_bytes_of(TWIN)[i], wanted), "byte %d", i);
	}
	groups_stop();
}

/* The numbers are the client's: none of them may lead outside of an image or of 64 bits. */
Test(groups, R10_parts_that_cannot_be_are_refused)
{
	static const struct {
		uint64_t from[3], to[3], size[3];
		const char *text;
	} cases[] = {
		{{0, 0, 0}, {6, 0, 0}, {3, 1, 1}, "outside of an image"},
		{{6, 0, 0}, {0, 0, 0}, {3, 1, 1}, "outside of an image"},
		{{0, 0, 0}, {0, 4, 0}, {1, 1, 1}, "outside of an image"},
		{{0, 0, 1}, {0, 0, 0}, {1, 1, 1}, "outside of an image"},
		{{0, 0, 0}, {0, 0, 0}, {0, 1, 1}, "outside of an image"},
		{{0, 0, 0}, {0, 0, 0}, {1, 1, 0}, "outside of an image"},
		{{0, 0, 0}, {0, 0, 0}, {UINT64_MAX, 1, 1}, "outside of an image"},
		{{UINT64_MAX, 0, 0}, {0, 0, 0}, {2, 1, 1}, "outside of an image"},
		{{0, 0, 0}, {0, UINT64_MAX, 0}, {1, 2, 1}, "outside of an image"},
	};
	struct part_build p;
	Sycl__V1__ArenaRange arena = SYCL__V1__ARENA_RANGE__INIT;
	Sycl__V1__Box bytes = SYCL__V1__BOX__INIT;
	start_with_images();
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin_part(&p, IMAGE, TWIN);
		memcpy(p.from, cases[i].from, sizeof(p.from));
		memcpy(p.to, cases[i].to, sizeof(p.to));
		memcpy(p.size, cases[i].size, sizeof(p.size));
		expect_refused(&p.build, STATUS_INVALID, cases[i].text);
	}
	begin_part(&p, IMAGE, INTEGERS);
	expect_refused(&p.build, STATUS_INVALID, "one format");
	begin_part(&p, IMAGE, TWIN);
	p.box.n_size = 2;
	expect_refused(&p.build, STATUS_INVALID, "3 numbers, not 2");
	begin_part(&p, IMAGE, TWIN);
	p.box.n_destination_origin = 0;
	expect_refused(&p.build, STATUS_INVALID, "3 numbers, not 0");
	begin_part(&p, IMAGE, TWIN);
	p.build.copy.size_bytes = 4;
	expect_refused(&p.build, STATUS_INVALID, "a size, a box or a part");
	begin_part(&p, IMAGE, TWIN);
	p.build.copy.box = &bytes;
	expect_refused(&p.build, STATUS_INVALID, "a size, a box or a part");
	begin_part(&p, IMAGE, TWIN);
	p.build.destination.offset_bytes = 4;
	expect_refused(&p.build, STATUS_INVALID, "no offset in bytes");
	begin_part(&p, IMAGE, TWIN);
	p.build.requirements[1].mode = ACCESS_MODE_READ;
	expect_refused(&p.build, STATUS_ACCESSOR, "do not allow");
	begin_part(&p, BUFFER, BUFFER);
	expect_refused(&p.build, STATUS_INVALID, "neither end");
	/* The other end: a buffer without pitches, memory of the host that is too small. */
	begin_part(&p, IMAGE, BUFFER);
	p.box.row_pitch = 32;
	expect_refused(&p.build, STATUS_INVALID, "tightly packed");
	begin_part(&p, BUFFER, IMAGE);
	p.build.source.offset_bytes = UINT64_MAX - 2;
	expect_refused(&p.build, STATUS_INVALID, "not inside requirement");
	static const uint64_t pitches[][2] = {
		{31, 0}, {UINT64_MAX, 0}, {UINT64_MAX / 2, UINT64_MAX}, {64, 0}};
	for (uint32_t i = 0; i < 4; i++) {
		begin_part(&p, BUFFER, IMAGE);
		p.build.source.place_case = SYCL__V1__MEMORY_END__PLACE_ARENA;
		p.build.source.arena = &arena;
		arena.size_bytes = IMAGE_BYTES;
		p.size[0] = 8;
		p.size[1] = 4;
		p.box.row_pitch = pitches[i][0];
		p.box.slice_pitch = pitches[i][1];
		expect_refused(&p.build, STATUS_INVALID, "");
	}
	groups_stop();
}

Test(groups, R10_wrong_fills_and_views_are_refused)
{
	static uint8_t pattern[16];
	Sycl__V1__ImageView view = SYCL__V1__IMAGE_VIEW__INIT;
	uint64_t sizes[3] = {4, 4, 4};
	struct part_build p;
	struct image_build b;
	start_with_images();
	for (int i = 0; i < 4; i++) {
		begin_part(&p, IMAGE, i == 3 ? BUFFER : TWIN);
		p.build.group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_FILL;
		p.build.group.fill = &p.build.fill;
		p.build.fill.requirement = i == 1 ? 7 : i == 2 ? 0 : 1;
		p.build.fill.image = &p.box;
		p.build.fill.pattern = (ProtobufCBinaryData){i == 0 ? 15 : 16, pattern};
		expect_refused(&p.build, i == 2 ? STATUS_ACCESSOR : STATUS_INVALID,
			       i == 1   ? "no requirement 7"
			       : i == 2 ? "does not allow"
					: "16 bytes");
	}
	for (int i = 0; i < 5; i++) {
		build_begin(&b.build);
		build_require(&b.build, i == 0 ? IMAGE : BUFFER, ACCESS_MODE_WRITE);
		groups_images_add_use(&b, 0, false);
		build_value(&b.build, 9);
		launch_image_kernel(&b.build, FILL_IMAGE);
		view.format = i == 1 ? 77 : UNORM;
		view.n_size = i == 2 ? 3 : 1;
		view.size = sizes;
		sizes[0] = i == 3 ? UINT64_MAX : 4;
		view.offset_bytes = i == 4 ? UINT64_MAX : 0;
		b.image.view = &view;
		expect_refused(&b.build, STATUS_KERNEL_ARGUMENT, "argument 0");
	}
	/* The fake device lists no format for views. */
	build_begin(&b.build);
	build_require(&b.build, BUFFER, ACCESS_MODE_WRITE);
	groups_images_add_use(&b, 0, false);
	build_value(&b.build, 9);
	launch_image_kernel(&b.build, FILL_IMAGE);
	view = (Sycl__V1__ImageView)SYCL__V1__IMAGE_VIEW__INIT;
	sizes[0] = 4;
	view.format = UNORM;
	view.n_size = 1;
	view.size = sizes;
	b.image.view = &view;
	expect_refused(&b.build, STATUS_FEATURE_NOT_SUPPORTED, "no such images");
	groups_stop();
}
