#include "gpu/direct.h"

#include "gpu/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Values of cuda.h. */
enum { STREAM_NON_BLOCKING = 1, ATTRIBUTE_MPS_ENABLED = 133 };

#define GOOD(call) gpu_driver_good(&direct->driver, direct->driver.call, #call)

static bool open_module(struct gpu_direct *direct)
{
	return GOOD(module_load(&direct->module, gpu_kernels_ptx)) &&
	       GOOD(module_function(&direct->add, direct->module, GPU_KERNEL_ADD)) &&
	       GOOD(module_function(&direct->spin, direct->module, GPU_KERNEL_SPIN)) &&
	       GOOD(module_function(&direct->crowd, direct->module, GPU_KERNEL_CROWD)) &&
	       GOOD(module_function(&direct->fault, direct->module, GPU_KERNEL_FAULT));
}

/* A process that does not reach MPS works without it. Its figures would be reported as those of
 * MPS. */
static bool mps_is(struct gpu_direct *direct, bool wanted)
{
	int enabled = 0;
	if (!GOOD(device_attribute(&enabled, ATTRIBUTE_MPS_ENABLED, direct->device)))
		return false;
	if ((enabled != 0) != wanted)
		(void)fprintf(stderr, "%s\n",
			      wanted ? "MPS does not serve this process"
				     : "MPS serves this process");
	return (enabled != 0) == wanted;
}

/* Allocates words that are 0 at first. */
static bool open_stream(struct gpu_direct *direct)
{
	return GOOD(stream_create(&direct->stream, STREAM_NON_BLOCKING)) &&
	       GOOD(memory_allocate(&direct->data, GPU_DATA_WORDS * sizeof(uint32_t))) &&
	       GOOD(memory_fill(direct->data, 0, GPU_DATA_WORDS, direct->stream)) &&
	       gpu_direct_wait(direct);
}

bool gpu_direct_open_beside(struct gpu_direct *direct, const struct gpu_direct *first)
{
	*direct = (struct gpu_direct){.driver = first->driver,
				      .device = first->device,
				      .add = first->add,
				      .spin = first->spin,
				      .crowd = first->crowd,
				      .fault = first->fault};
	return open_stream(direct);
}

bool gpu_direct_open(struct gpu_direct *direct, const char *place_text)
{
	struct gpu_place place;
	*direct = (struct gpu_direct){.device = -1};
	if (!gpu_place_take(place_text, &place))
		return false;
	const bool mps = strcmp(place.with, GPU_NOBODY) != 0;
	if (mps)
		(void)setenv("CUDA_MPS_PIPE_DIRECTORY", place.with, 1);
	else
		(void)unsetenv("CUDA_MPS_PIPE_DIRECTORY");
	return gpu_driver_open(&direct->driver, gpu_library(), true) &&
	       GOOD(device_get(&direct->device, (int)place.device)) &&
	       GOOD(context_retain(&direct->context, direct->device)) &&
	       GOOD(context_use(direct->context)) && mps_is(direct, mps) && open_module(direct) &&
	       open_stream(direct);
}

void gpu_direct_close(struct gpu_direct *direct)
{
	if (direct->data)
		(void)direct->driver.memory_free(direct->data);
	if (direct->stream)
		(void)direct->driver.stream_destroy(direct->stream);
	if (direct->module)
		(void)direct->driver.module_unload(direct->module);
	if (direct->context)
		(void)direct->driver.context_release(direct->device);
	*direct = (struct gpu_direct){.device = -1};
}

bool gpu_direct_launch(struct gpu_direct *direct, struct gpu_function *function, unsigned blocks,
		       uint32_t number)
{
	uint32_t one = 1;
	void *parameters[] = {&direct->data, &one, &number};
	direct->launched++;
	return GOOD(launch(function, blocks, 1, 1, GPU_BLOCK, 1, 1, 0, direct->stream, parameters,
			   NULL));
}

bool gpu_direct_wait(struct gpu_direct *direct)
{
	return GOOD(stream_synchronize(direct->stream));
}

bool gpu_direct_verify(struct gpu_direct *direct)
{
	uint32_t first = 0;
	if (!GOOD(copy_out(&first, direct->data, sizeof(first), direct->stream)) ||
	    !gpu_direct_wait(direct))
		return false;
	if (first == direct->launched)
		return true;
	(void)fprintf(stderr, "%u launches, but the kernels counted %u\n", direct->launched, first);
	return false;
}
