/* Tests of CUDA alone: native kernels that take texture and surface objects, and how images are
 * freed. */
#include "images/support.h"

#include "cuda/double.h"
#include "status.h"

TestSuite(image_cuda, .timeout = 120);

/* Four floats of a pixel become its four bytes, in %r5. */
#define TO_BYTES                                                                                   \
	"  mul.f32 %f3, %f3, 0f437F0000;\n  cvt.rni.u32.f32 %r5, %f3;\n"                           \
	"  mul.f32 %f4, %f4, 0f437F0000;\n  cvt.rni.u32.f32 %r6, %f4;\n  shl.b32 %r6, %r6, 8;\n"   \
	"  mul.f32 %f5, %f5, 0f437F0000;\n  cvt.rni.u32.f32 %r7, %f5;\n  shl.b32 %r7, %r7, 16;\n"  \
	"  mul.f32 %f6, %f6, 0f437F0000;\n  cvt.rni.u32.f32 %r8, %f6;\n  shl.b32 %r8, %r8, 24;\n"  \
	"  or.b32 %r5, %r5, %r6;\n  or.b32 %r7, %r7, %r8;\n  or.b32 %r5, %r5, %r7;\n"

/* Reads a row from its end on by a texture, and writes by a surface, whose x counts bytes; the same
 * for layers. */
static const char source[] =
	".version 8.1\n.target sm_80\n.address_size 64\n"
	".visible .entry turn(.param .u64 from, .param .u64 to, .param .u32 width) {\n"
	"  .reg .b32 %r<10>;\n  .reg .f32 %f<7>;\n  .reg .b64 %rd<3>;\n"
	"  ld.param.u64 %rd1, [from];\n  ld.param.u64 %rd2, [to];\n  ld.param.u32 %r1, [width];\n"
	"  mov.u32 %r2, %tid.x;\n  mov.u32 %r3, %tid.y;\n  sub.s32 %r4, %r1, %r2;\n"
	"  cvt.rn.f32.s32 %f1, %r4;\n  add.f32 %f1, %f1, 0fBF000000;\n"
	"  cvt.rn.f32.s32 %f2, %r3;\n  add.f32 %f2, %f2, 0f3F000000;\n"
	"  tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd1, {%f1, %f2}];\n" TO_BYTES
	"  shl.b32 %r9, %r2, 2;\n"
	"  sust.b.2d.b32.zero [%rd2, {%r9, %r3}], {%r5};\n  ret;\n}\n"
	".visible .entry turn_layers(.param .u64 from, .param .u64 to, .param .u32 last) {\n"
	"  .reg .b32 %r<11>;\n  .reg .f32 %f<7>;\n  .reg .b64 %rd<3>;\n"
	"  ld.param.u64 %rd1, [from];\n  ld.param.u64 %rd2, [to];\n  ld.param.u32 %r1, [last];\n"
	"  mov.u32 %r2, %tid.x;\n  mov.u32 %r3, %tid.y;\n  mov.u32 %r10, %tid.z;\n"
	"  cvt.rn.f32.s32 %f1, %r2;\n  add.f32 %f1, %f1, 0f3F000000;\n"
	"  cvt.rn.f32.s32 %f2, %r3;\n  add.f32 %f2, %f2, 0f3F000000;\n"
	"  sub.s32 %r4, %r1, %r10;\n"
	"  tex.a2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd1, {%r4, %f1, %f2, %f2}];\n" TO_BYTES
	"  shl.b32 %r9, %r2, 2;\n"
	"  sust.b.a2d.b32.zero [%rd2, {%r10, %r9, %r3, %r3}], {%r5};\n  ret;\n}\n";

static void open_native(struct images *images)
{
	images_open(images, NULL, NULL);
	images->program = fixture_build(&images->fixture, BACKEND_SOURCE_PTX, source, "");
	images_use(images, "turn");
}

static bool images_cuda_is_real(void)
{
	const char *which = getenv("SYCLD_TEST_CUDA");

	return which && strcmp(which, "real") == 0;
}

/* Channels of such a kernel are in the order of the storage, and its words are the objects
 * themselves. */
Test(image_cuda, E14_S1_a_kernel_of_cudas_own_takes_textures_and_surfaces)
{
	const uint64_t size[] = {2, 3};
	const int32_t width = 3;
	struct images images;
	struct backend_image image = images_describe(BACKEND_IMAGE_B8G8R8A8_UNORM, 2, size);
	uint8_t *pixels = images_noise(24, 3), got[24] = {0};

	open_native(&images);
	struct backend_memory *from = images_make(&images, &image),
			      *to = images_make(&images, &image);
	images_write(&images, from, &image, pixels);
	const struct backend_sampler sampler = {.addressing = BACKEND_ADDRESSING_CLAMP};
	const struct backend_argument arguments[] = {images_sampled(from, sampler),
						     images_argument(to, true),
						     value_argument(&width, sizeof(width))};
	struct backend_command command = launch_command(images.kernel, 2, size, arguments, 3);
	memcpy(command.launch.local, size, sizeof(size));
	fixture_wait(&images.fixture, 0, fixture_submit(&images.fixture, 0, &command));
	images_read(&images, to, &image, got);
	for (int y = 0; y < 2; y++)
		for (int x = 0; x < 3; x++)
			cr_assert_arr_eq(got + 4 * (3 * y + x), pixels + 4 * (3 * y + 2 - x), 4);
	/* The backend cannot determine how a kernel uses a surface, so it passes none that may only
	 * be read. */
	const struct backend_argument reads[] = {arguments[0], images_argument(to, false),
						 arguments[2]};
	images_launch_fails(&images, reads, 3, STATUS_KERNEL_ARGUMENT);
	const struct backend_argument alone[] = {
		arguments[0], {.kind = BACKEND_ARGUMENT_SAMPLER}, arguments[2]};
	images_launch_fails(&images, alone, 3, STATUS_KERNEL_ARGUMENT);
	const struct backend_argument narrow[] = {arguments[0], arguments[1],
						  images_argument(to, true)};
	images_launch_fails(&images, narrow, 3, STATUS_KERNEL_ARGUMENT);
	images.fixture.ops->memory_free(from);
	images.fixture.ops->memory_free(to);
	images_close(&images);
	free(pixels);
}

Test(image_cuda, R8_a_kernel_of_cudas_own_takes_layers)
{
	enum { LAYERS = 3, LAYER_BYTES = 2 * 4 * 4 };
	const uint64_t size[] = {LAYERS, 2, 4};
	const int32_t last = LAYERS - 1;
	struct images images;
	struct backend_image image = images_describe(BACKEND_IMAGE_R8G8B8A8_UNORM, 3, size);
	uint8_t *pixels = images_noise(LAYERS * LAYER_BYTES, 4), got[LAYERS * LAYER_BYTES] = {0};

	image.is_layered = true;
	open_native(&images);
	images_use(&images, "turn_layers");
	struct backend_memory *from = images_make(&images, &image),
			      *to = images_make(&images, &image);
	images_write(&images, from, &image, pixels);
	const struct backend_sampler sampler = {.addressing = BACKEND_ADDRESSING_CLAMP};
	const struct backend_argument arguments[] = {images_sampled(from, sampler),
						     images_argument(to, true),
						     value_argument(&last, sizeof(last))};
	struct backend_command command = launch_command(images.kernel, 3, size, arguments, 3);
	memcpy(command.launch.local, size, sizeof(size));
	fixture_wait(&images.fixture, 0, fixture_submit(&images.fixture, 0, &command));
	images_read(&images, to, &image, got);
	for (int i = 0; i < LAYERS; i++)
		cr_assert_arr_eq(got + i * LAYER_BYTES, pixels + (LAYERS - 1 - i) * LAYER_BYTES,
				 LAYER_BYTES, "layer %d", i);
	images.fixture.ops->memory_free(from);
	images.fixture.ops->memory_free(to);
	images_close(&images);
	free(pixels);
}

Test(image_cuda, R8_a_device_without_layers_has_other_images)
{
	const uint64_t size[] = {2, 3};
	struct images images;
	struct backend_image image = images_describe(BACKEND_IMAGE_B8G8R8A8_UNORM, 2, size);
	struct backend_memory *memory = NULL;
	struct backend_fault fault = {0};

	if (images_cuda_is_real())
		cr_skip_test("only the double has such a device");
	double_command("attribute 29 0"); /* layers of a texture of two dimensions */
	images_open(&images, NULL, NULL);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(images.fixture.facts->image_layered_sizes[i], 0);
	images.fixture.ops->memory_free(images_make(&images, &image));
	image.is_layered = true;
	cr_assert_lt(
		images.fixture.ops->image_create(images.fixture.device, &image, &memory, &fault),
		0);
	cr_assert_eq(fault.status, STATUS_FEATURE_NOT_SUPPORTED);
	cr_assert_null(memory);
	images_close(&images);
}

Test(image_cuda, F8_images_are_freed_in_a_quiet_moment)
{
	const uint64_t size[] = {2, 3};
	const int32_t width = 3;
	struct images images;
	struct backend_image image = images_describe(BACKEND_IMAGE_B8G8R8A8_UNORM, 2, size);

	if (images_cuda_is_real())
		cr_skip_test("only the double counts the driver's calls");
	open_native(&images);
	const struct backend_ops *ops = images.fixture.ops;
	struct backend_memory *from = images_make(&images, &image),
			      *to = images_make(&images, &image);
	struct backend_memory *unused = images_make(&images, &image);
	cr_assert_eq(double_count("arrays"), 3);
	const struct backend_sampler sampler = {.addressing = BACKEND_ADDRESSING_CLAMP};
	const struct backend_argument arguments[] = {images_sampled(from, sampler),
						     images_argument(to, true),
						     value_argument(&width, sizeof(width))};
	struct backend_command command = launch_command(images.kernel, 2, size, arguments, 3);
	memcpy(command.launch.local, size, sizeof(size));
	double_command("gate close turn");
	uint64_t sequence = fixture_submit(&images.fixture, 0, &command);
	ops->flush(images.fixture.device);
	double_wait("held turn", 1);
	/* The next launch uses the same objects. */
	uint64_t again = fixture_submit(&images.fixture, 0, &command);
	cr_assert_eq(double_count("call cuTexObjectCreate"), 2);
	cr_assert_eq(double_count("call cuSurfObjectCreate"), 1);
	ops->memory_free(unused);
	cr_assert_eq(double_count("call cuArrayDestroy"), 0);
	cr_assert(ops->quiet_wanted(images.fixture.device));
	double_command("gate open turn");
	fixture_wait(&images.fixture, 0, sequence);
	fixture_wait(&images.fixture, 0, again);
	ops->memory_free(from);
	ops->memory_free(to);
	ops->quiet(images.fixture.device);
	cr_assert_eq(double_count("arrays"), 0);
	cr_assert_eq(double_count("textures"), 0);
	cr_assert_eq(double_count("surfaces"), 0);
	images_close(&images);
	double_check(true);
}

Test(image_cuda, A15_a_driver_without_the_functions_has_no_images)
{
	const uint64_t size[] = {2, 3};
	struct fixture fixture = {.wake_fd = -1};
	struct backend_image image = images_describe(BACKEND_IMAGE_B8G8R8A8_UNORM, 2, size);
	struct backend_memory *memory = NULL;
	struct backend_fault fault = {0};

	if (images_cuda_is_real())
		cr_skip_test("only the double can miss functions");
	double_command("missing cuSurfObjectCreate");
	fixture_open(&fixture, 0);
	cr_assert_not(fixture.facts->features & BACKEND_FEATURE_IMAGE);
	cr_assert_not(fixture.facts->image_support);
	cr_assert_eq(fixture.facts->image_formats, 0);
	cr_assert_lt(fixture.ops->image_create(fixture.device, &image, &memory, &fault), 0);
	cr_assert_eq(fault.status, STATUS_FEATURE_NOT_SUPPORTED);
	fixture_close(&fixture);
}

Test(image_cuda, M6_what_the_driver_refuses_is_told_with_its_code)
{
	const uint64_t size[] = {64, 64};
	struct images images;
	struct backend_image image = images_describe(BACKEND_IMAGE_R32G32B32A32_SFLOAT, 2, size);
	struct backend_memory *memory = NULL;
	struct backend_fault fault = {0};

	if (images_cuda_is_real())
		cr_skip_test("only the double fails on demand");
	images_open(&images, NULL, NULL);
	double_command("fail cuArray3DCreate 1 2");
	cr_assert_lt(
		images.fixture.ops->image_create(images.fixture.device, &image, &memory, &fault),
		0);
	cr_assert_eq(fault.status, STATUS_MEMORY_ALLOCATION);
	cr_assert_eq(fault.native_code, 2);
	cr_assert_null(memory);
	images_close(&images);
	double_check(true);
}
