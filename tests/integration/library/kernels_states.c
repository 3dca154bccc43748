/* Kernel bundles on every backend: input, object, executable; several devices; join and link; their
 * facts. */
#include "library/portable.h"

#include <string.h>

TestSuite(kernel_states, .init = portable_begin, .fini = portable_end, .timeout = 120);

/* A context of up to two of the devices that are tested. */
struct pair {
	sycl_context context;
	sycl_device devices[2];
	uint32_t count;
	sycl_queue queues[2];
};

static struct pair pair_open(void)
{
	struct pair pair = {.count = 2};
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	for (uint32_t i = 0; i < 2; i++)
		pair.devices[i] = portable_device(platform, i);
	if (pair.devices[0] == pair.devices[1])
		pair.count = 1;
	MUST(sycl_context_create(pair.count, pair.devices, &pair.context));
	for (uint32_t i = 0; i < pair.count; i++)
		MUST(sycl_queue_create(pair.context, pair.devices[i], &options, &pair.queues[i]));
	return pair;
}

static void pair_close(struct pair *pair)
{
	for (uint32_t i = 0; i < pair->count; i++)
		MUST(sycl_queue_release(pair->queues[i]));
	MUST(sycl_context_release(pair->context));
	for (uint32_t i = 0; i < 2; i++)
		MUST(sycl_device_release(pair->devices[i]));
}

static sycl_kernel_bundle input_of(sycl_context context, const char *source)
{
	sycl_kernel_bundle bundle = NULL;
	MUST(sycl_kernel_bundle_create_input(context, 0, NULL, SYCL_SOURCE_PORTABLE, source, 0,
					     &bundle));
	return bundle;
}

static sycl_bundle_state bundle_state_of(sycl_kernel_bundle bundle)
{
	sycl_bundle_state state = (sycl_bundle_state)-1;
	MUST(sycl_kernel_bundle_get_state(bundle, &state));
	return state;
}

static bool can_link(const struct pair *pair)
{
	uint64_t aspects = 0;
	MUST(sycl_device_get_info(pair->devices[0], SYCL_DEVICE_INFO_ASPECTS, sizeof(aspects),
				  &aspects, NULL));
	return aspects >> SYCL_ASPECT_ONLINE_LINKER & 1;
}

static uint64_t largest_group(sycl_kernel kernel, sycl_device device)
{
	uint64_t most = 0;
	MUST(sycl_kernel_get_device_info(kernel, device, SYCL_KERNEL_INFO_WORK_GROUP_SIZE,
					 sizeof(most), &most, NULL));
	return most;
}

Test(kernel_states, J19_one_bundle_runs_on_every_device_of_its_context)
{
	struct pair pair = pair_open();
	sycl_kernel_bundle input = input_of(pair.context, portable_engine_source()), built = NULL;
	sycl_kernel fill = NULL, increment = NULL;
	uint32_t count = 0;
	sycl_context context = NULL;

	cr_assert(eq(int, bundle_state_of(input), SYCL_BUNDLE_INPUT));
	MUST(sycl_kernel_bundle_build(input, NULL, &built));
	MUST(sycl_kernel_bundle_release(input));
	cr_assert(eq(int, bundle_state_of(built), SYCL_BUNDLE_EXECUTABLE));
	MUST(sycl_kernel_bundle_get_devices(built, 0, NULL, &count));
	cr_assert(eq(u32, count, pair.count));
	MUST(sycl_kernel_bundle_get_context(built, &context));
	cr_assert(eq(ptr, context, pair.context));
	MUST(sycl_context_release(context));
	MUST(sycl_kernel_create(built, "fill_u32", &fill));
	MUST(sycl_kernel_create(built, "increment_u32", &increment));
	sycl_buffer buffer = words_buffer(platform, 0);
	for (uint32_t i = 0; i < pair.count; i++) {
		run_fill(pair.queues[i], fill, buffer, 40 + i, NULL);
		run_increment(pair.queues[(i + 1) % pair.count], increment, buffer, NULL);
		cr_assert(words_are(buffer, 41 + i), "device %u", i);
		cr_assert(gt(u64, largest_group(fill, pair.devices[i]), 0));
	}
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_kernel_release(increment));
	MUST(sycl_kernel_bundle_release(built));
	pair_close(&pair);
}

Test(kernel_states, J19_an_executable_tells_its_kernels)
{
	struct pair pair = pair_open();
	sycl_kernel_bundle input = input_of(pair.context, portable_engine_source()), built = NULL,
			   of_kernel = NULL;
	const char *name = NULL;
	uint32_t count = 0, seen = 0;
	int has = 7;
	sycl_kernel kernel = NULL;

	MUST(sycl_kernel_bundle_build(input, NULL, &built));
	MUST(sycl_kernel_bundle_get_kernel_count(built, &count));
	cr_assert(eq(u32, count, 3));
	for (uint32_t i = 0; i < count; i++) {
		MUST(sycl_kernel_bundle_get_kernel_name(built, i, &name));
		seen |= strcmp(name, "fill_u32") == 0        ? 1u
			: strcmp(name, "increment_u32") == 0 ? 2u
			: strcmp(name, "copy_u32") == 0      ? 4u
							     : 8u;
		for (uint32_t d = 0; d < pair.count; d++) {
			MUST(sycl_kernel_bundle_has_kernel(built, name, pair.devices[d], &has));
			cr_assert(eq(int, has, 1));
		}
	}
	cr_assert(eq(u32, seen, 7));
	MUST(sycl_kernel_bundle_has_kernel(built, "no_such", NULL, &has));
	cr_assert(eq(int, has, 0));
	REFUSED(sycl_kernel_bundle_get_kernel_name(built, 3, &name), SYCL_ERROR_INVALID);
	REFUSED(sycl_kernel_bundle_has_kernel(built, NULL, NULL, &has), SYCL_ERROR_INVALID);
	REFUSED(sycl_kernel_create(built, "no_such", &kernel), SYCL_ERROR_KERNEL);
	MUST(sycl_kernel_create(built, "copy_u32", &kernel));
	MUST(sycl_kernel_get_bundle(kernel, &of_kernel));
	cr_assert(eq(ptr, of_kernel, built));
	MUST(sycl_kernel_bundle_release(of_kernel));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_kernel_bundle_release(input));
	MUST(sycl_kernel_bundle_release(built));
	pair_close(&pair);
}

/* Each call accepts bundles of its state and refuses others. */
Test(kernel_states, J19_a_state_refuses_what_is_another_ones)
{
	struct pair pair = pair_open();
	sycl_kernel_bundle input = input_of(pair.context, portable_engine_source()), built = NULL,
			   none = NULL;
	sycl_kernel kernel = NULL;
	uint32_t count = 0;
	int has = 0;

	MUST(sycl_kernel_bundle_build(input, NULL, &built));
	REFUSED(sycl_kernel_bundle_build(built, NULL, &none), SYCL_ERROR_INVALID);
	REFUSED(sycl_kernel_bundle_compile(built, NULL, &none), SYCL_ERROR_INVALID);
	REFUSED(sycl_kernel_bundle_link(1, &built, NULL, &none), SYCL_ERROR_INVALID);
	REFUSED(sycl_kernel_bundle_link(1, &input, NULL, &none), SYCL_ERROR_INVALID);
	REFUSED(sycl_kernel_bundle_link(0, NULL, NULL, &none), SYCL_ERROR_INVALID);
	REFUSED(sycl_kernel_create(input, "fill_u32", &kernel), SYCL_ERROR_INVALID);
	REFUSED(sycl_kernel_bundle_get_kernel_count(input, &count), SYCL_ERROR_INVALID);
	REFUSED(sycl_kernel_bundle_has_kernel(input, "fill_u32", NULL, &has), SYCL_ERROR_INVALID);
	const sycl_kernel_bundle mixed[] = {input, built};
	REFUSED(sycl_kernel_bundle_join(2, mixed, &none), SYCL_ERROR_INVALID);
	REFUSED(sycl_kernel_bundle_create_input(pair.context, 0, NULL, (sycl_source_language)99,
						"x", 0, &none),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_kernel_bundle_create_input(pair.context, 0, NULL, SYCL_SOURCE_PORTABLE, NULL,
						0, &none),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_kernel_bundle_create_input(pair.context, 0, NULL, SYCL_SOURCE_PORTABLE, "x", 1,
						&none),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_kernel_bundle_create_input(pair.context, 0, NULL, SYCL_SOURCE_SPIRV, "x", 0,
						&none),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_kernel_bundle_create_input(pair.context, 1, NULL, SYCL_SOURCE_PORTABLE, "x", 0,
						&none),
		SYCL_ERROR_INVALID);
	const sycl_device twice[] = {pair.devices[0], pair.devices[0]};
	REFUSED(sycl_kernel_bundle_create_input(pair.context, 2, twice, SYCL_SOURCE_PORTABLE, "x",
						0, &none),
		SYCL_ERROR_INVALID);
	cr_assert(eq(ptr, none, NULL));
	MUST(sycl_kernel_bundle_release(input));
	MUST(sycl_kernel_bundle_release(built));
	pair_close(&pair);
}

/* A bundle for one of two devices does not run on the other. Joined with one for the other device,
 * it does. */
Test(kernel_states, E19_J19_joined_bundles_have_all_images)
{
	struct pair pair = pair_open();
	sycl_kernel_bundle halves[2] = {NULL, NULL}, both = NULL;
	sycl_kernel kernel = NULL;
	sycl_handler handler = NULL;

	for (uint32_t i = 0; i < pair.count; i++) {
		sycl_kernel_bundle input = NULL;
		MUST(sycl_kernel_bundle_create_input(pair.context, 1, &pair.devices[i],
						     SYCL_SOURCE_PORTABLE, portable_engine_source(),
						     0, &input));
		MUST(sycl_kernel_bundle_build(input, NULL, &halves[i]));
		MUST(sycl_kernel_bundle_release(input));
	}
	sycl_buffer buffer = words_buffer(platform, 0);
	if (pair.count == 2) {
		MUST(sycl_kernel_create(halves[0], "fill_u32", &kernel));
		MUST(sycl_handler_begin(pair.queues[1], &handler));
		REFUSED(sycl_handler_parallel_for(handler, kernel, sycl_range1(WORDS)),
			SYCL_ERROR_KERNEL_NOT_SUPPORTED);
		MUST(sycl_handler_discard(handler));
		REFUSED(sycl_kernel_get_device_info(kernel, pair.devices[1],
						    SYCL_KERNEL_INFO_NUM_ARGS, 0, NULL, NULL),
			SYCL_ERROR_INVALID);
		MUST(sycl_kernel_release(kernel));
	}
	MUST(sycl_kernel_bundle_join(pair.count, halves, &both));
	for (uint32_t i = 0; i < pair.count; i++)
		MUST(sycl_kernel_bundle_release(
			halves[i])); /* a joined bundle keeps the ones that it needs */
	MUST(sycl_kernel_create(both, "fill_u32", &kernel));
	for (uint32_t i = 0; i < pair.count; i++) {
		run_fill(pair.queues[i], kernel, buffer, 70 + i, NULL);
		cr_assert(words_are(buffer, 70 + i));
	}
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_kernel_bundle_release(both));
	MUST(sycl_buffer_release(buffer));
	pair_close(&pair);
}

/* A bundle with two kernels of one name for a device is ambiguous. The same image twice counts
 * once. */
Test(kernel_states, J19_two_kernels_of_one_name_are_told_apart_by_nobody)
{
	struct pair pair = pair_open();
	sycl_kernel_bundle input = input_of(pair.context, portable_engine_source()),
			   built[2] = {NULL, NULL}, joined = NULL;
	sycl_kernel kernel = NULL;
	uint32_t count = 0;

	MUST(sycl_kernel_bundle_build(input, NULL, &built[0]));
	MUST(sycl_kernel_bundle_build(input, NULL, &built[1]));
	MUST(sycl_kernel_bundle_join(2, built, &joined));
	MUST(sycl_kernel_bundle_get_kernel_count(joined, &count));
	cr_assert(eq(u32, count, 3));
	REFUSED(sycl_kernel_create(joined, "fill_u32", &kernel), SYCL_ERROR_INVALID);
	MUST(sycl_kernel_bundle_release(joined));
	MUST(sycl_kernel_bundle_release(built[1]));
	built[1] = built[0];
	MUST(sycl_kernel_bundle_join(2, built, &joined));
	MUST(sycl_kernel_create(joined, "fill_u32", &kernel));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_kernel_bundle_release(joined));
	MUST(sycl_kernel_bundle_release(built[0]));
	MUST(sycl_kernel_bundle_release(input));
	pair_close(&pair);
}

Test(kernel_states, J19_contexts_are_not_mixed)
{
	struct pair pair = pair_open();
	sycl_context other = NULL;
	MUST(sycl_context_create(1, pair.devices, &other));
	const sycl_kernel_bundle inputs[] = {input_of(pair.context, portable_engine_source()),
					     input_of(other, portable_engine_source())};
	sycl_kernel_bundle none = NULL, built = NULL;
	sycl_kernel kernel = NULL;
	sycl_handler handler = NULL;

	REFUSED(sycl_kernel_bundle_join(2, inputs, &none), SYCL_ERROR_INVALID);
	MUST(sycl_kernel_bundle_build(inputs[1], NULL, &built));
	MUST(sycl_kernel_create(built, "fill_u32", &kernel));
	MUST(sycl_handler_begin(pair.queues[0], &handler));
	REFUSED(sycl_handler_parallel_for(handler, kernel, sycl_range1(WORDS)), SYCL_ERROR_INVALID);
	MUST(sycl_handler_discard(handler));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_kernel_bundle_release(built));
	MUST(sycl_kernel_bundle_release(inputs[0]));
	MUST(sycl_kernel_bundle_release(inputs[1]));
	MUST(sycl_context_release(other));
	pair_close(&pair);
}

Test(kernel_states, E19_J19_an_object_is_linked_or_the_device_says_that_it_cannot)
{
	struct pair pair = pair_open();
	sycl_kernel_bundle input = input_of(pair.context, portable_engine_source()), object = NULL,
			   linked = NULL;
	sycl_kernel kernel = NULL;

	if (!can_link(&pair)) {
		REFUSED(sycl_kernel_bundle_compile(input, NULL, &object),
			SYCL_ERROR_FEATURE_NOT_SUPPORTED);
		MUST(sycl_kernel_bundle_release(input));
		pair_close(&pair);
		return;
	}
	MUST(sycl_kernel_bundle_compile(input, NULL, &object));
	cr_assert(eq(int, bundle_state_of(object), SYCL_BUNDLE_OBJECT));
	REFUSED(sycl_kernel_create(object, "fill_u32", &kernel), SYCL_ERROR_INVALID);
	REFUSED(sycl_kernel_bundle_build(object, NULL, &linked), SYCL_ERROR_INVALID);
	MUST(sycl_kernel_bundle_link(1, &object, NULL, &linked));
	MUST(sycl_kernel_bundle_release(object));
	cr_assert(eq(int, bundle_state_of(linked), SYCL_BUNDLE_EXECUTABLE));
	MUST(sycl_kernel_create(linked, "fill_u32", &kernel));
	sycl_buffer buffer = words_buffer(platform, 0);
	for (uint32_t i = 0; i < pair.count; i++) {
		run_fill(pair.queues[i], kernel, buffer, 90 + i, NULL);
		cr_assert(words_are(buffer, 90 + i));
	}
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_kernel_bundle_release(linked));
	MUST(sycl_kernel_bundle_release(input));
	pair_close(&pair);
}

/* An error in a source is reported with the compiler's messages, also for one of several
 * devices. */
Test(kernel_states, M6_J19_a_build_that_fails_makes_no_bundle)
{
	struct pair pair = pair_open();
	sycl_kernel_bundle input = input_of(pair.context, "this is no kernel\n"), none = NULL;

	REFUSED(sycl_kernel_bundle_build(input, NULL, &none), SYCL_ERROR_BUILD);
	cr_assert(ne(u8, (unsigned char)sycl_get_build_log()[0], 0));
	cr_assert(eq(ptr, none, NULL));
	MUST(sycl_kernel_bundle_release(input));
	pair_close(&pair);
}
