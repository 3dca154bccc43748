/* The built-in kernel functions. They run on the fake device's own memory. */
#include "fake_internal.h"

#include <string.h>

static void functions_run_fill(struct fake_launch *launch)
{
	for (uint64_t i = launch->begin; i < launch->end; i++)
		launch->destination[i] = launch->value;
}

static void functions_run_increment(struct fake_launch *launch)
{
	for (uint64_t i = launch->begin; i < launch->end; i++)
		launch->destination[i]++;
}

static void functions_run_copy(struct fake_launch *launch)
{
	for (uint64_t i = launch->begin; i < launch->end; i++)
		launch->destination[i] = launch->source[i];
}

static void functions_run_add(struct fake_launch *launch)
{
	for (uint64_t i = launch->begin; i < launch->end; i++)
		launch->destination[i] += launch->source[i];
}

static void functions_run_mix(struct fake_launch *launch)
{
	for (uint64_t i = launch->begin; i < launch->end; i++)
		launch->destination[i] =
			launch->destination[i] * 31u + launch->source[i] + launch->value;
}

/* Appends the value behind a count, so that the order of the launches shows. */
static void run_append(struct fake_launch *launch)
{
	uint32_t *log = launch->destination;
	if (launch->items > 1 && log[0] < launch->items - 1)
		log[++log[0]] = launch->value;
}

/* Writes ids with the offset, so that a test can check that the offset arrived. */
static void run_linear_id(struct fake_launch *launch)
{
	const uint64_t *global = launch->command->launch.global;
	const uint64_t *offset = launch->command->launch.offset;
	uint64_t i = launch->begin, row = global[1] * global[2];
	for (uint64_t z = launch->begin / row; z < launch->end / row; z++)
		for (uint64_t y = 0; y < global[1]; y++)
			for (uint64_t x = 0; x < global[2]; x++)
				launch->destination[i++] =
					(uint32_t)(((z + offset[0]) * global[1] + y + offset[1]) *
							   global[2] +
						   x + offset[2]);
}

struct list_node {
	uint64_t next;
	uint32_t value;
};

/* A pointer inside of other memory has not been checked before. */
static void run_sum_list(struct fake_launch *launch)
{
	const struct list_node *node = (const struct list_node *)(const void *)launch->source;
	while (node && !launch->failed) {
		launch->failed = !fake_usm_reaches_locked(launch->device, node, sizeof(*node));
		if (launch->failed)
			break;
		launch->destination[0] += node->value;
		node = (const struct list_node *)(uintptr_t)
			       node->next; // NOLINT(performance-no-int-to-ptr)
	}
}

#define GLOBAL BACKEND_ARGUMENT_GLOBAL
#define VALUE  BACKEND_ARGUMENT_VALUE
#define IMAGE  BACKEND_ARGUMENT_IMAGE

static const struct fake_function functions[] = {
	{.name = "fill_u32",
	 .argument_count = 2,
	 .kinds = {GLOBAL, VALUE},
	 .run = functions_run_fill},
	{.name = "linear_id_u32", .argument_count = 1, .kinds = {GLOBAL}, .run = run_linear_id},
	{.name = "increment_u32",
	 .argument_count = 1,
	 .kinds = {GLOBAL},
	 .run = functions_run_increment},
	{.name = "add_u32",
	 .argument_count = 2,
	 .kinds = {GLOBAL, GLOBAL},
	 .run = functions_run_add},
	{.name = "copy_u32",
	 .argument_count = 2,
	 .kinds = {GLOBAL, GLOBAL},
	 .run = functions_run_copy},
	{.name = "append_u32", .argument_count = 2, .kinds = {GLOBAL, VALUE}, .run = run_append},
	{.name = "mix_u32",
	 .argument_count = 3,
	 .kinds = {GLOBAL, GLOBAL, VALUE},
	 .run = functions_run_mix},
	{.name = "sum_list_u32",
	 .argument_count = 2,
	 .kinds = {GLOBAL, GLOBAL},
	 .walks = true,
	 .run = run_sum_list},
	{.name = "fill_image",
	 .argument_count = 2,
	 .kinds = {IMAGE, VALUE},
	 .run = fake_image_fill},
	{.name = "copy_image",
	 .argument_count = 2,
	 .kinds = {IMAGE, IMAGE},
	 .run = fake_image_copy},
	{.name = "mix_image",
	 .argument_count = 3,
	 .kinds = {IMAGE, IMAGE, VALUE},
	 .run = fake_image_mix},
	{.name = "sampler_of_image",
	 .argument_count = 2,
	 .kinds = {GLOBAL, IMAGE},
	 .samples = true,
	 .run = fake_image_sampler},
	{.name = "sampler_u32",
	 .argument_count = 2,
	 .kinds = {GLOBAL, BACKEND_ARGUMENT_SAMPLER},
	 .run = fake_image_sampler},
	{.name = "noop", .any_arguments = true},
	{.name = "hold", .special = FAKE_HOLD, .argument_count = 1, .kinds = {VALUE}},
	{.name = "take", .special = FAKE_TAKE, .argument_count = 1, .kinds = {VALUE}},
	{.name = "take_increment_u32",
	 .special = FAKE_TAKE,
	 .argument_count = 2,
	 .kinds = {GLOBAL, VALUE},
	 .run = functions_run_increment},
	{.name = "take_and_fail", .special = FAKE_TAKE_FAIL, .argument_count = 1, .kinds = {VALUE}},
	{.name = "fill_even_u32",
	 .special = FAKE_FAIL_ODD,
	 .argument_count = 2,
	 .kinds = {GLOBAL, VALUE},
	 .run = functions_run_fill},
	{.name = "fail", .special = FAKE_FAIL, .any_arguments = true},
	{.name = "refuse", .special = FAKE_REFUSE, .any_arguments = true},
	{.name = "lose_device", .special = FAKE_LOSE, .any_arguments = true},
	{.name = "lose_process", .special = FAKE_LOSE_PROCESS, .any_arguments = true},
	{.name = "crash", .special = FAKE_CRASH, .any_arguments = true},
};

const struct fake_function *fake_function_find(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (strlen(functions[i].name) == length &&
		    memcmp(functions[i].name, name, length) == 0)
			return &functions[i];
	return NULL;
}
