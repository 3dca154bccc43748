#include "cuda/lane/ahead.h"

void cuda_ahead_make(const struct cuda_library *cu, struct cuda_ahead *ahead_out)
{
	struct cuda_ahead made = {.own = cuda_own_load(cu), .condition = cuda_condition_load(cu)};

	cuda_window_find(cu, &made.window);
	if (cuda_words_pin(cu, &made.words) != CUDA_SUCCESS)
		made.words = NULL;
	if (cuda_slots_pin(cu, &made.slots) != CUDA_SUCCESS)
		made.slots = NULL;
	*ahead_out = made;
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
