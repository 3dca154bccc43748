#include "cuda/graph/graph.h"
#include "cuda/lane/chain.h"
#include "cuda/program/program.h"
#include "cuda/device/ahead.h"

/* A single thread prepares all, before any other of the backend's entries. */
static CUcontext contexts[CUDA_AHEAD_DEVICES_MAX];
/* Device parts that were made in these contexts. */
static struct cuda_ahead prepared[CUDA_AHEAD_DEVICES_MAX];

static struct cuda_ahead load_ahead(const struct backend *backend, uint32_t index)
{
	const struct cuda_library *cu = &backend->library;
	struct cuda_ahead made = {.own = cuda_own_load(backend, &backend->devices[index]),
				  .condition = cuda_condition_load(cu)};

	cuda_window_find(cu, &made.window);
	if (cuda_words_pin(cu, &made.words) != CUDA_SUCCESS)
		made.words = NULL;
	if (cuda_slots_pin(cu, &made.slots) != CUDA_SUCCESS)
		made.slots = NULL;
	return made;
}

void cuda_ahead_prepare(const struct backend *backend, uint32_t index, CUcontext context)
{
	prepared[index] = load_ahead(backend, index);
	contexts[index] = context;
}

void cuda_ahead_take(uint32_t index, CUcontext context, struct cuda_ahead *ahead_out)
{
	*ahead_out = (struct cuda_ahead){.own = NULL};
	if (index >= CUDA_AHEAD_DEVICES_MAX || !contexts[index] || contexts[index] != context)
		return;
	*ahead_out = prepared[index];
	prepared[index] = (struct cuda_ahead){.own = NULL};
}

void cuda_ahead_drop(const struct cuda_library *cu, struct cuda_ahead *ahead)
{
	if (ahead->condition)
		(void)cu->cuModuleUnload(ahead->condition);
	if (ahead->own)
		(void)cu->cuModuleUnload(ahead->own);
	if (ahead->words)
		(void)cu->cuMemFreeHost(ahead->words);
	if (ahead->slots)
		(void)cu->cuMemFreeHost(ahead->slots);
	*ahead = (struct cuda_ahead){.own = NULL};
}
