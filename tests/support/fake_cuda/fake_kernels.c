/* The kernels of the conformance list, for PTX that has their names and parameters and no
 * instructions. */
#include "fake.h"

#include <string.h>

static uint64_t address(const struct fake_cuda_launch *launch, unsigned index)
{
	uint64_t value;

	memcpy(&value, launch->parameters[index], sizeof(value));
	return value;
}

static uint32_t word(const struct fake_cuda_launch *launch, unsigned index)
{
	uint32_t value;

	memcpy(&value, launch->parameters[index], sizeof(value));
	return value;
}

static uint64_t items(const struct fake_cuda_launch *launch)
{
	uint64_t count = 1;

	for (int i = 0; i < 3; i++)
		count *= (uint64_t)launch->grid[i] * launch->block[i];
	return count;
}

static uint32_t *words(const struct fake_cuda_launch *launch, unsigned index)
{
	return fake_kernel_memory(launch, address(launch, index), items(launch) * 4);
}

static void run_fill(const struct fake_cuda_launch *launch)
{
	uint32_t *to = words(launch, 0);

	for (uint64_t i = 0; i < items(launch); i++)
		to[i] = word(launch, 1);
}

static void linear_id(const struct fake_cuda_launch *launch)
{
	uint32_t *to = words(launch, 0);

	for (uint64_t i = 0; i < items(launch); i++)
		to[i] = (uint32_t)i;
}

static void run_increment(const struct fake_cuda_launch *launch)
{
	uint32_t *to = words(launch, 0);

	for (uint64_t i = 0; i < items(launch); i++)
		to[i] += 1;
}

static void run_add(const struct fake_cuda_launch *launch)
{
	uint32_t *to = words(launch, 0);
	const uint32_t *from = words(launch, 1);

	for (uint64_t i = 0; i < items(launch); i++)
		to[i] += from[i];
}

static void run_copy(const struct fake_cuda_launch *launch)
{
	memmove(words(launch, 0), words(launch, 1), items(launch) * 4);
}

static void run_mix(const struct fake_cuda_launch *launch)
{
	uint32_t *to = words(launch, 0);
	const uint32_t *from = words(launch, 1);

	for (uint64_t i = 0; i < items(launch); i++)
		to[i] = to[i] * 31 + from[i] + word(launch, 2);
}

fake_cuda_kernel *fake_builtin_find(const char *name)
{
	static const struct {
		const char *name;
		fake_cuda_kernel *function;
	} list[] = {{"fill_u32", run_fill},           {"linear_id_u32", linear_id},
		    {"increment_u32", run_increment}, {"add_u32", run_add},
		    {"copy_u32", run_copy},           {"mix_u32", run_mix}};

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		if (strcmp(list[i].name, name) == 0)
			return list[i].function;
	return NULL;
}
