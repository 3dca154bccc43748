#include "cuda/device/aspects.h"

#include "cuda/graph/graph.h"
#include "cuda/program/ptx_wait.h"

static bool is_at_least(int major, int minor, int wanted_major, int wanted_minor)
{
	return major > wanted_major || (major == wanted_major && minor >= wanted_minor);
}

static uint64_t aspect_bit(enum cuda_aspect number, bool has)
{
	return has ? 1ull << number : 0;
}

uint64_t cuda_aspects(const struct cuda_device_facts *facts)
{
	int major = facts->compute_major, minor = facts->compute_minor;
	/* Host and kernels at the same time, on the same pages: what the service does to the memory
	 * of all applications. */
	bool shared = facts->managed && facts->concurrent_managed;

	return aspect_bit(CUDA_ASPECT_GPU, true) | aspect_bit(CUDA_ASPECT_FP64, true) |
	       aspect_bit(CUDA_ASPECT_FP16, is_at_least(major, minor, 5, 3)) |
	       aspect_bit(CUDA_ASPECT_ATOMIC64, is_at_least(major, minor, 3, 5)) |
	       aspect_bit(CUDA_ASPECT_ONLINE_COMPILER, true) |
	       aspect_bit(CUDA_ASPECT_ONLINE_LINKER, true) |
	       aspect_bit(CUDA_ASPECT_QUEUE_PROFILING, true) |
	       aspect_bit(CUDA_ASPECT_USM_DEVICE_ALLOCATIONS, facts->unified_addressing) |
	       aspect_bit(CUDA_ASPECT_USM_HOST_ALLOCATIONS, facts->unified_addressing) |
	       aspect_bit(CUDA_ASPECT_USM_ATOMIC_HOST_ALLOCATIONS,
			  facts->unified_addressing && facts->host_native_atomics) |
	       aspect_bit(CUDA_ASPECT_USM_SHARED_ALLOCATIONS, shared) |
	       /* A page moves to the processor that works on it, so that each atomic is done in one
		* place (G15). */
	       aspect_bit(CUDA_ASPECT_USM_ATOMIC_SHARED_ALLOCATIONS,
			  shared && is_at_least(major, minor, 6, 0));
}

uint32_t cuda_atomic_orders(int major, int minor)
{
	if (!is_at_least(major, minor, 7, 0))
		return BACKEND_ORDER_RELAXED;
	return BACKEND_ORDER_RELAXED | BACKEND_ORDER_ACQUIRE | BACKEND_ORDER_RELEASE |
	       BACKEND_ORDER_ACQ_REL;
}

uint32_t cuda_atomic_scopes(int major, int minor)
{
	if (!is_at_least(major, minor, 6, 0))
		return BACKEND_SCOPE_WORK_ITEM;
	return BACKEND_SCOPE_WORK_ITEM | BACKEND_SCOPE_SUB_GROUP | BACKEND_SCOPE_WORK_GROUP |
	       BACKEND_SCOPE_DEVICE | BACKEND_SCOPE_SYSTEM;
}

uint32_t cuda_fence_orders(int major, int minor)
{
	(void)major;
	(void)minor;
	return BACKEND_ORDER_RELAXED | BACKEND_ORDER_ACQUIRE | BACKEND_ORDER_RELEASE |
	       BACKEND_ORDER_ACQ_REL | BACKEND_ORDER_SEQ_CST;
}

uint32_t cuda_fence_scopes(int major, int minor)
{
	return cuda_atomic_scopes(major, minor);
}

static uint32_t feature_if(enum backend_feature bit, bool has)
{
	return has ? (uint32_t)bit : 0;
}

uint32_t cuda_features(const struct cuda_library *library, const struct cuda_device_facts *facts)
{
	bool vmm = facts->vmm && facts->posix_descriptors && library->cuMemCreate &&
		   library->cuMemMap && library->cuMemSetAccess &&
		   library->cuMemExportToShareableHandle && library->cuMemImportFromShareableHandle;
	bool ipc = library->cuIpcGetMemHandle && library->cuIpcOpenMemHandle &&
		   library->cuIpcCloseMemHandle;
	bool events =
		facts->ipc_events && library->cuIpcGetEventHandle && library->cuIpcOpenEventHandle;

	bool link = library->cuLinkCreate && library->cuLinkAddData && library->cuLinkComplete &&
		    library->cuLinkDestroy;

	return feature_if(BACKEND_FEATURE_LINK, link) | BACKEND_FEATURE_QUIET_LOAD |
	       BACKEND_FEATURE_POLLED | BACKEND_FEATURE_LOADER | BACKEND_FEATURE_INLINE |
	       BACKEND_FEATURE_SIDE_BY_SIDE | BACKEND_FEATURE_COMPLETION | BACKEND_FEATURE_PEER |
	       BACKEND_FEATURE_USM | BACKEND_FEATURE_NATIVE |
	       feature_if(BACKEND_FEATURE_VARIABLE, facts->unified_addressing) |
	       feature_if(BACKEND_FEATURE_USM_MIGRATES,
			  facts->managed && facts->concurrent_managed &&
				  library->cuMemPrefetchAsync && library->cuMemAdvise) |
	       feature_if(BACKEND_FEATURE_HOST_ADDRESS, facts->host_register &&
								facts->unified_addressing &&
								facts->host_pointers) |
	       feature_if(BACKEND_FEATURE_HOST_REGISTER, facts->host_register) |
	       feature_if(BACKEND_FEATURE_EXPORT_VMM, vmm) |
	       feature_if(BACKEND_FEATURE_EXPORT_IPC, ipc) |
	       feature_if(BACKEND_FEATURE_SHARED_EVENT, events) |
	       feature_if(BACKEND_FEATURE_COOPERATIVE, facts->cooperative) |
	       /* A process is some user's to the server of MPS, from its first call on. */
	       feature_if(BACKEND_FEATURE_PRELOAD, !facts->mps) |
	       feature_if(BACKEND_FEATURE_CLUSTER, facts->cluster) |
	       feature_if(BACKEND_FEATURE_EARLY,
			  facts->compute_major >= CUDA_OVERLAP_COMPUTE_MAJOR) |
	       (cuda_graphs_are_possible(library)
			? BACKEND_FEATURE_GRAPH | BACKEND_FEATURE_GRAPH_UPDATE |
				  BACKEND_FEATURE_GRAPH_NATIVE |
				  feature_if(BACKEND_FEATURE_GRAPH_SWITCH,
					     library->cuGraphNodeSetEnabled != NULL) |
				  feature_if(BACKEND_FEATURE_GRAPH_CONDITION,
					     cuda_conditions_are_possible(library))
			: 0u) |
	       feature_if(BACKEND_FEATURE_COPY_LANES, facts->copy_engines > 0) |
	       feature_if(BACKEND_FEATURE_OCCUPANCY,
			  library->cuOccupancyMaxActiveBlocksPerMultiprocessor != NULL);
}
