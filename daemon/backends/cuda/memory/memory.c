/* Memory of a device: allocation and release. */
#include "cuda/memory/state.h"
#include "cuda/memory/peer.h"
#include "cuda/memory/staging.h"
#include "status.h"

#include <errno.h>
#include <stdlib.h>

static int open_stream(struct backend_device *device, CUstream *stream_out,
		       struct backend_fault *fault_out)
{
	const struct cuda_library *cuda = &device->backend->library;
	int least = 0, greatest = 0;

	CUresult result = cuda->cuCtxGetStreamPriorityRange(&least, &greatest);
	if (result == CUDA_SUCCESS)
		result = cuda->cuStreamCreateWithPriority(stream_out, CU_STREAM_NON_BLOCKING,
							  greatest);
	if (result != CUDA_SUCCESS)
		return cuda_fault(device, cuda, result, fault_out, "cannot make a stream");
	return 0;
}

/*
 * The unit of shared memory. Shared memory has whole units, so that no other memory lies in them.
 */
static uint64_t find_granule(struct backend_device *device)
{
	const struct cuda_library *cuda = &device->backend->library;
	const CUmemAllocationProp properties = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
		.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device->facts->device},
	};
	size_t granule = 0;

	if (!cuda->cuMemGetAllocationGranularity ||
	    cuda->cuMemGetAllocationGranularity(&granule, &properties,
						CU_MEM_ALLOC_GRANULARITY_MINIMUM) != CUDA_SUCCESS)
		granule = 0;
	return granule > CUDA_GRANULE_BYTES ? granule : CUDA_GRANULE_BYTES;
}

static int cuda_memory_open_parts(struct cuda_memory_state *state, struct backend_fault *fault_out)
{
	struct backend_device *device = state->device;
	const struct cuda_library *cuda = &device->backend->library;
	size_t free_bytes = 0, total_bytes = 0;

	CUresult result = cuda->cuMemGetInfo(&free_bytes, &total_bytes);
	if (result != CUDA_SUCCESS)
		return cuda_fault(device, cuda, result, fault_out,
				  "cannot query the amount of memory");
	state->total_bytes = total_bytes;
	state->granule_bytes = find_granule(device);
	int error = open_stream(device, &state->stream, fault_out);
	if (error == 0)
		error = open_stream(device, &state->zero_stream, fault_out);
	if (error == 0)
		error = cuda_pool_open(state, fault_out);
	if (error == 0)
		error = cuda_staging_open(device, &state->staging, fault_out);
	return error;
}

int cuda_memory_open(struct backend_device *device, struct backend_fault *fault_out)
{
	struct cuda_memory_state *state = calloc(1, sizeof(*state));

	if (!state)
		return cuda_no_memory(fault_out, "a device");
	state->device = device;
	cuda_ranges_open(&state->hosts);
	cuda_ranges_open(&state->usm);
	device->memory = state;
	cuda_reaper_open(&state->reaper, device);
	int error = cuda_memory_open_parts(state, fault_out);
	if (error < 0)
		cuda_memory_close(device);
	return error;
}

/* Closes also a memory state that was only half opened. */
void cuda_memory_close(struct backend_device *device)
{
	struct cuda_memory_state *state = device->memory;
	const struct cuda_library *cuda = &device->backend->library;

	if (!state)
		return;
	cuda_reaper_close(&state->reaper);
	cuda_staging_close(state->staging);
	cuda_peers_close(device);
	if (state->stream) {
		(void)cuda->cuStreamSynchronize(state->stream);
		(void)cuda->cuStreamDestroy(state->stream);
	}
	if (state->zero_stream)
		(void)cuda->cuStreamDestroy(state->zero_stream);
	cuda_graph_memory_trim(state);
	cuda_pool_close(state);
	cuda_ranges_close(&state->hosts);
	cuda_ranges_close(&state->usm);
	free(state);
	device->memory = NULL;
}

/* Allocates private memory from the pool. Without a pool, the memory gets a record by which it is
 * freed. */
static int memory_create_private(struct backend_device *device, struct backend_memory *memory,
				 struct backend_fault *fault_out)
{
	struct cuda_memory_state *state = device->memory;
	struct cuda_reap *reap = NULL;

	if (!state->pool) {
		reap = cuda_reap_make(CUDA_REAP_PLAIN);
		if (!reap)
			return cuda_no_memory(fault_out, "a memory");
		memory->origin = CUDA_ORIGIN_PLAIN;
	}
	int error = cuda_pool_take(state, memory->size_bytes, &memory->address, fault_out);
	if (error < 0) {
		free(reap);
		return error;
	}
	memory->reserved_bytes = memory->size_bytes;
	if (reap) {
		reap->address = memory->address;
		reap->room_bytes = memory->size_bytes;
		memory->reap = reap;
	}
	return 0;
}

int cuda_memory_create(struct backend_device *device, uint64_t size_bytes, void *host,
		       enum backend_export_kind export_kind, struct backend_memory **memory_out,
		       struct backend_fault *fault_out)
{
	(void)host; /* this device has its own memory */
	if (size_bytes == 0)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID, "a memory of 0 bytes");
	const struct backend_fault *lost = cuda_lost(device);
	if (lost) {
		if (fault_out)
			*fault_out = *lost;
		return -EIO;
	}
	int error = cuda_enter(device, fault_out);
	if (error < 0)
		return error;
	struct backend_memory *memory = calloc(1, sizeof(*memory));
	if (!memory)
		return cuda_no_memory(fault_out, "a memory");
	memory->device = device;
	memory->size_bytes = size_bytes;
	memory->export_kind = export_kind;
	if (export_kind == BACKEND_EXPORT_NONE)
		error = memory_create_private(device, memory, fault_out);
	else
		error = cuda_share_create(device, memory, fault_out);
	if (error < 0) {
		free(memory);
		return error;
	}
	*memory_out = memory;
	return 0;
}

void cuda_memory_free(struct backend_memory *memory)
{
	if (!memory)
		return;
	struct cuda_memory_state *state = memory->device->memory;
	(void)cuda_enter(memory->device, NULL);
	if (memory->reap)
		cuda_reap_send(&state->reaper, memory->reap);
	else
		cuda_pool_give(state, memory->address);
	free(memory);
}

bool cuda_memory_is_settled(const struct backend_memory *memory)
{
	return !memory || !memory->zeroed ||
	       atomic_load_explicit(&memory->settled, memory_order_acquire);
}

int cuda_memory_settle(struct backend_lane *lane, struct backend_memory *memory,
		       struct backend_fault *fault_out)
{
	const struct cuda_library *cuda = &lane->device->backend->library;

	if (!memory || !memory->zeroed ||
	    atomic_load_explicit(&memory->settled, memory_order_acquire))
		return 0;
	CUresult result = cuda->cuEventQuery(memory->zeroed);
	if (result == CUDA_SUCCESS)
		atomic_store_explicit(&memory->settled, true, memory_order_release);
	else if (result == CUDA_ERROR_NOT_READY)
		result = cuda->cuStreamWaitEvent(lane->stream, memory->zeroed,
						 CU_EVENT_WAIT_DEFAULT);
	if (result != CUDA_SUCCESS)
		return cuda_fault(lane->device, cuda, result, fault_out,
				  "cannot wait for new memory");
	return 0;
}
