/* The kernels of the conformance list, for PTX that has their names and parameters and no
 * instructions. */
#include "fake.h"

#include <string.h>

static uint64_t kernels_address(const struct fake_cuda_launch *launch, unsigned index)
{
	uint64_t value;

	memcpy(&value, launch->parameters[index], sizeof(value));
	return value;
}

static uint32_t kernels_word(const struct fake_cuda_launch *launch, unsigned index)
{
	uint32_t value;

	memcpy(&value, launch->parameters[index], sizeof(value));
	return value;
}

static uint64_t kernels_items(const struct fake_cuda_launch *launch)
{
	uint64_t count = 1;

	for (int i = 0; i < 3; i++)
		count *= (uint64_t)launch->grid[i] * launch->block[i];
	return count;
}

static uint32_t *kernels_words(const struct fake_cuda_launch *launch, unsigned index)
{
	return fake_kernel_memory(launch, kernels_address(launch, index),
				  kernels_items(launch) * 4);
}

static void kernels_run_fill(const struct fake_cuda_launch *launch)
{
	uint32_t *to = kernels_words(launch, 0);

	for (uint64_t i = 0; i < kernels_items(launch); i++)
		to[i] = kernels_word(launch, 1);
}

static void linear_id(const struct fake_cuda_launch *launch)
{
	uint32_t *to = kernels_words(launch, 0);

	for (uint64_t i = 0; i < kernels_items(launch); i++)
		to[i] = (uint32_t)i;
}

static void kernels_run_increment(const struct fake_cuda_launch *launch)
{
	uint32_t *to = kernels_words(launch, 0);

	for (uint64_t i = 0; i < kernels_items(launch); i++)
		to[i] += 1;
}

static void kernels_run_add(const struct fake_cuda_launch *launch)
{
	uint32_t *to = kernels_words(launch, 0);
	const uint32_t *from = kernels_words(launch, 1);

	for (uint64_t i = 0; i < kernels_items(launch); i++)
		to[i] += from[i];
}

static void kernels_run_copy(const struct fake_cuda_launch *launch)
{
	memmove(kernels_words(launch, 0), kernels_words(launch, 1), kernels_items(launch) * 4);
}

static void kernels_run_mix(const struct fake_cuda_launch *launch)
{
	uint32_t *to = kernels_words(launch, 0);
	const uint32_t *from = kernels_words(launch, 1);

	for (uint64_t i = 0; i < kernels_items(launch); i++)
		to[i] = to[i] * 31 + from[i] + kernels_word(launch, 2);
}

fake_cuda_kernel *fake_builtin_find(const char *name)
{
	static const struct {
		const char *name;
		fake_cuda_kernel *function;
	} list[] = {{"fill_u32", kernels_run_fill},           {"linear_id_u32", linear_id},
		    {"increment_u32", kernels_run_increment}, {"add_u32", kernels_run_add},
		    {"copy_u32", kernels_run_copy},           {"mix_u32", kernels_run_mix}};

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		if (strcmp(list[i].name, name) == 0)
			return list[i].function;
	return NULL;
}
