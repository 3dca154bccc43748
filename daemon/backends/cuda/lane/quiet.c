/* Quiet moments of a device: steps that must wait until no command is in flight. */
#include "cuda/lane/lane.h"
#include "cuda/lane/chain.h"
#include "cuda/lane/l2.h"
#include "cuda/lane/partition.h"
#include "cuda/memory/state.h"

/* A reason other than chains. */
static bool has_other_reason(struct backend_device *device)
{
	return atomic_load_explicit(&device->memory->reaper.waiting, memory_order_relaxed) > 0 ||
	       atomic_load_explicit(&device->memory->graph_memory_is_due, memory_order_relaxed) ||
	       cuda_partition_wants_quiet(device) || cuda_l2_is_due(device);
}

bool cuda_quiet_wanted(struct backend_device *device)
{
	return cuda_chains_are_due(device->lanes) || has_other_reason(device);
}

uint64_t cuda_quiet_hold_ns(struct backend_device *device)
{
	/* The first chains of a lane save much at each send. */
	return device->lanes->awaiting_chains > 0 || has_other_reason(device)
		       ? UINT64_MAX
		       : cuda_chains_hold_ns(device->lanes);
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
