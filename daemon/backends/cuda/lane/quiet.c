/* Quiet moments of a device: steps that must wait until no command is in flight. */
#include "cuda/lane/lane.h"
#include "cuda/lane/chain.h"
#include "cuda/lane/l2.h"
#include "cuda/lane/partition.h"
#include "cuda/memory/state.h"

bool cuda_quiet_wanted(struct backend_device *device)
{
	return atomic_load_explicit(&device->memory->reaper.waiting, memory_order_relaxed) > 0 ||
	       atomic_load_explicit(&device->memory->graph_memory_is_due, memory_order_relaxed) ||
	       cuda_chains_are_due(device->lanes) || cuda_partition_wants_quiet(device) ||
	       cuda_l2_is_due(device);
}

void cuda_quiet(struct backend_device *device)
{
	cuda_reaper_run(&device->memory->reaper, true);
	if (atomic_load_explicit(&device->memory->graph_memory_is_due, memory_order_relaxed))
		cuda_graph_memory_trim(device->memory);
	cuda_chains_make_wanted(device);
	cuda_partition_step(device);
	cuda_l2_step(device);
}
