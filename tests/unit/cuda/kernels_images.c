/* Images and samplers as parameters of CUDA kernels: of the portable prelude's types, and as plain
 * 64-bit words. */
#include "cuda/program/arguments.h"
#include "cuda/memory/array.h"
#include "cuda/program/symbol.h"
#include "status.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

TestSuite(cuda_images, .timeout = 10);

enum { SURFACE = 0x5000, TEXTURE = 0x7000 };

static struct cuda_array array;
static struct backend_memory image, buffer = {.address = 0x10000, .size_bytes = 100};

/* An array of 5 x 7 pixels; each texture has its own number. */
static void setup_array(void)
{
	array = (struct cuda_array){
		.image = {.format = BACKEND_IMAGE_B8G8R8A8_UNORM, .dimensions = 2, .size = {7, 5}},
		.surface = SURFACE};
	for (uint32_t i = 0; i < CUDA_TEXTURES; i++)
		array.textures[i] = TEXTURE + i;
	image.array = &array;
}

static int put_image_argument(const struct cuda_parameter *parameter,
			      const struct backend_argument *argument,
			      struct cuda_image_argument *to)
{
	struct backend_fault fault = {.status = 0};
	memset(to, 0xee, sizeof(*to));
	int error = cuda_image_argument_put(parameter, 3, argument, to, &fault);
	cr_assert_eq(error == 0, fault.status == 0);
	if (error != 0) {
		cr_assert_eq(error, -EINVAL);
		cr_assert_eq(fault.status, STATUS_KERNEL_ARGUMENT, "%s", fault.text);
		cr_assert(strstr(fault.text, "argument 3") != NULL, "%s", fault.text);
	}
	return error;
}

static struct cuda_parameter parameter_of(const char *type)
{
	return (struct cuda_parameter){.size_bytes = sizeof(struct cuda_image_argument),
				       .kind = BACKEND_ARGUMENT_IMAGE,
				       .image = cuda_image_form(type)};
}

static struct backend_argument unsampled(bool writes)
{
	return (struct backend_argument){.kind = BACKEND_ARGUMENT_IMAGE,
					 .image = {.memory = &image, .writes = writes}};
}

static struct backend_argument sampled(enum backend_addressing addressing, bool normalised,
				       bool linear)
{
	return (struct backend_argument){.kind = BACKEND_ARGUMENT_IMAGE,
					 .image = {.memory = &image,
						   .sampled = true,
						   .sampler = {addressing, normalised, linear}}};
}

/* template <int n> struct sycl_image_read_ ..., as NVRTC writes them; the first argument again as a
 * substitution. */
Test(cuda_images, E14_the_preludes_types_are_known)
{
	struct cuda_symbol *symbol = NULL;
	cr_assert_eq(cuda_symbol_parse("_Z4mix_16sycl_image_read_ILi2EE17sycl_image_write_ILi3EE"
				       "19sycl_image_sampled_ILi1EES0_f",
				       &symbol),
		     0);
	cr_assert_eq(symbol->parameter_count, 5);
	static const char *const texts[] = {"SYCL_IMAGE_READ_2D", "SYCL_IMAGE_WRITE_3D",
					    "SYCL_IMAGE_SAMPLED_1D", "SYCL_IMAGE_READ_2D"};
	for (uint32_t i = 0; i < 4; i++) {
		cr_expect_eq(symbol->parameters[i].kind, CUDA_TYPE_IMAGE);
		cr_expect_str_eq(symbol->parameters[i].text, texts[i]);
		cr_expect_eq(symbol->parameters[i].points_to_const, i != 1);
	}
	cr_expect_neq(symbol->parameters[4].kind, CUDA_TYPE_IMAGE);
	cuda_symbol_free(symbol);
	cr_expect_eq(cuda_image_form("SYCL_IMAGE_WRITE_3D").use, CUDA_IMAGE_WRITE);
	cr_expect_eq(cuda_image_form("SYCL_IMAGE_WRITE_3D").dimensions, 3);
	cr_expect_eq(cuda_image_form("SYCL_IMAGE_WRITE_4D").use, CUDA_IMAGE_NONE);
	cr_expect_eq(cuda_image_form("SYCL_IMAGE_WRITE_3D_LAYERED").use, CUDA_IMAGE_NONE);
	cr_expect_eq(cuda_image_form("float*").use, CUDA_IMAGE_NONE);
}

Test(cuda_images, E14_a_kernel_of_the_preludes_gets_object_format_and_size, .init = setup_array)
{
	struct cuda_image_argument got;
	const struct backend_sampler pixels = {.addressing = BACKEND_ADDRESSING_NONE};
	struct cuda_parameter parameter = parameter_of("SYCL_IMAGE_WRITE_2D");
	struct backend_argument argument = unsampled(true);
	cr_assert_eq(put_image_argument(&parameter, &argument, &got), 0);
	cr_expect_eq(got.object, SURFACE);
	cr_expect_eq(got.format, BACKEND_IMAGE_B8G8R8A8_UNORM);
	cr_expect_eq(got.size[0], 7);
	cr_expect_eq(got.size[1], 5);
	cr_expect_eq(got.size[2], 1);
	parameter = parameter_of("SYCL_IMAGE_READ_2D");
	argument = unsampled(false);
	cr_assert_eq(put_image_argument(&parameter, &argument, &got), 0);
	cr_expect_eq(got.object, TEXTURE + cuda_texture_index(&pixels));
}

Test(cuda_images, R8_the_preludes_types_of_layers_are_known)
{
	struct cuda_symbol *symbol = NULL;
	cr_assert_eq(
		cuda_symbol_parse(
			"_Z4mix_24sycl_image_read_layered_ILi2EE25sycl_image_write_layered_ILi1EE"
			"27sycl_image_sampled_layered_ILi1EE",
			&symbol),
		0);
	cr_assert_eq(symbol->parameter_count, 3);
	static const char *const texts[] = {"SYCL_IMAGE_READ_2D_LAYERED",
					    "SYCL_IMAGE_WRITE_1D_LAYERED",
					    "SYCL_IMAGE_SAMPLED_1D_LAYERED"};
	for (uint32_t i = 0; i < 3; i++) {
		cr_expect_eq(symbol->parameters[i].kind, CUDA_TYPE_IMAGE);
		cr_expect_str_eq(symbol->parameters[i].text, texts[i]);
		cr_expect_eq(symbol->parameters[i].points_to_const, i != 1);
		const struct cuda_image_form form = cuda_image_form(texts[i]);
		cr_expect_eq(form.use, i == 0   ? CUDA_IMAGE_READ
				       : i == 1 ? CUDA_IMAGE_WRITE
						: CUDA_IMAGE_SAMPLED);
		cr_expect_eq(form.dimensions, i == 0 ? 3 : 2);
		cr_expect(form.is_layered);
	}
	cuda_symbol_free(symbol);
}

Test(cuda_images, R8_layers_go_to_a_parameter_of_layers_only, .init = setup_array)
{
	struct cuda_image_argument got;
	struct cuda_parameter planes = parameter_of("SYCL_IMAGE_READ_2D"),
			      rows = parameter_of("SYCL_IMAGE_READ_1D_LAYERED");
	const struct backend_argument argument = unsampled(false);
	cr_assert_eq(put_image_argument(&rows, &argument, &got), -EINVAL);
	array.image.is_layered = true; /* 7 layers of 5 pixels */
	cr_assert_eq(put_image_argument(&planes, &argument, &got), -EINVAL);
	cr_assert_eq(put_image_argument(&rows, &argument, &got), 0);
	cr_expect(got.size[0] == 7 && got.size[1] == 5 && got.size[2] == 1);
	rows = parameter_of("SYCL_IMAGE_READ_2D_LAYERED");
	cr_assert_eq(put_image_argument(&rows, &argument, &got), -EINVAL);
}

Test(cuda_images, S1_every_sampler_has_a_texture_of_its_own, .init = setup_array)
{
	struct cuda_parameter parameter = parameter_of("SYCL_IMAGE_SAMPLED_2D");
	bool seen[CUDA_TEXTURES] = {false};
	for (int i = 0; i < (int)CUDA_TEXTURES; i++) {
		struct cuda_image_argument got;
		struct backend_argument argument = sampled(
			(enum backend_addressing)(BACKEND_ADDRESSING_MIRRORED_REPEAT + i / 4),
			i & 2, i & 1);
		cr_assert_eq(put_image_argument(&parameter, &argument, &got), 0);
		cr_assert(got.object >= TEXTURE && got.object < TEXTURE + CUDA_TEXTURES);
		cr_expect_not(seen[got.object - TEXTURE]);
		seen[got.object - TEXTURE] = true;
	}
}

Test(cuda_images, E14_what_does_not_fit_the_preludes_type_is_refused, .init = setup_array)
{
	struct cuda_image_argument got;
	static const struct {
		const char *type;
		bool sampled, writes;
	} cases[] = {
		{"SYCL_IMAGE_READ_3D", false, false},    {"SYCL_IMAGE_SAMPLED_1D", true, false},
		{"SYCL_IMAGE_SAMPLED_2D", false, false}, {"SYCL_IMAGE_READ_2D", true, false},
		{"SYCL_IMAGE_WRITE_2D", true, false},    {"SYCL_IMAGE_WRITE_2D", false, false},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct cuda_parameter parameter = parameter_of(cases[i].type);
		struct backend_argument argument =
			cases[i].sampled ? sampled(BACKEND_ADDRESSING_CLAMP, false, false)
					 : unsampled(cases[i].writes);
		cr_expect_eq(put_image_argument(&parameter, &argument, &got), -EINVAL, "%s",
			     cases[i].type);
		cr_expect_eq(got.object, 0xeeeeeeeeeeeeeeee, "something was written");
	}
	struct cuda_parameter parameter = parameter_of("SYCL_IMAGE_READ_2D");
	struct backend_argument argument = unsampled(false);
	parameter.size_bytes -= 8; /* of an older prelude, from a cache */
	cr_expect_eq(put_image_argument(&parameter, &argument, &got), -EINVAL);
	parameter = parameter_of("SYCL_IMAGE_READ_2D");
	argument.image.memory = &buffer;
	cr_expect_eq(put_image_argument(&parameter, &argument, &got), -EINVAL);
}

Test(cuda_images, E14_E23_plain_words_take_textures_and_surfaces, .init = setup_array)
{
	struct cuda_image_argument got;
	struct cuda_parameter word = {.size_bytes = 8, .kind = BACKEND_ARGUMENT_VALUE};
	struct backend_argument argument = sampled(BACKEND_ADDRESSING_CLAMP, true, true);
	cr_assert_eq(put_image_argument(&word, &argument, &got), 0);
	cr_expect_eq(got.object, TEXTURE + cuda_texture_index(&argument.image.sampler));
	cr_expect_eq(got.format, 0xeeeeeeee, "a word wrote more");
	argument = unsampled(true);
	word.kind = BACKEND_ARGUMENT_UNKNOWN;
	cr_assert_eq(put_image_argument(&word, &argument, &got), 0);
	cr_expect_eq(got.object, SURFACE);
	/* The kernel could write it. */
	argument = unsampled(false);
	cr_expect_eq(put_image_argument(&word, &argument, &got), -EINVAL);
	argument = unsampled(true);
	word.size_bytes = 4;
	cr_expect_eq(put_image_argument(&word, &argument, &got), -EINVAL);
	word = (struct cuda_parameter){.size_bytes = 8, .kind = BACKEND_ARGUMENT_GLOBAL};
	cr_expect_eq(put_image_argument(&word, &argument, &got), -EINVAL);
}
