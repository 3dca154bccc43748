#include "cuda/memory/peer.h"

#include "cuda/memory/state.h"

#include <stdlib.h>

#define BOUNCE_BYTES ((size_t)8 << 20)
#define BOUNCES      2u

/* Two blocks that both devices reach. While one block is filled, the other is drained. */
struct bounce {
	CUstream source_stream;  /* a stream of the source */
	CUevent filled[BOUNCES]; /* events of the source */
	CUevent drained[BOUNCES];
	bool in_use[BOUNCES]; /* `drained` has been recorded */
	CUevent begin;        /* happens when the lane reaches the copy */
	CUdeviceptr address[BOUNCES];
	void *host; /* NULL: the blocks are managed memory */
};

/* Copies from one device, in the destination's state. */
struct link {
	struct backend_device *source; /* the source may be closed before the link */
	/* The number of the source's opening. A source that is opened again has another pool,
	 * perhaps at the same address. */
	uint64_t opening;
	CUdevice source_device;
	CUcontext source_context; /* retained: streams and events of the link are in it */
	enum cuda_peer_path path; /* AUTO: not found yet */
	bool pool_reached, context_reached;
	struct bounce *bounces[2]; /* managed, host */
};

struct cuda_peers {
	uint32_t count;
	struct link links[]; /* index: the source's index */
};

struct copy {
	CUdeviceptr source, destination;
	uint64_t size_bytes;
};

static CUresult peer_make_current(struct backend_device *device, CUcontext context)
{
	return device->backend->library.cuCtxSetCurrent(context);
}

/* Makes the objects that need the source's context, then makes the destination's context current
 * again. */
static CUresult open_source_side(struct backend_device *destination, struct link *link,
				 struct bounce *bounce)
{
	const struct cuda_library *cuda = &destination->backend->library;
	CUresult result = peer_make_current(destination, link->source_context);

	if (result == CUDA_SUCCESS)
		result = cuda->cuStreamCreateWithPriority(&bounce->source_stream,
							  CU_STREAM_NON_BLOCKING, 0);
	for (uint32_t i = 0; result == CUDA_SUCCESS && i < BOUNCES; i++)
		result = cuda->cuEventCreate(&bounce->filled[i], CU_EVENT_DISABLE_TIMING);
	CUresult back = peer_make_current(destination, destination->context);
	return result == CUDA_SUCCESS ? back : result;
}

static CUresult open_blocks(const struct cuda_library *cuda, struct bounce *bounce, bool managed)
{
	CUdeviceptr first = 0;
	CUresult result;

	if (managed) {
		result = cuda->cuMemAllocManaged(&first, BOUNCES * BOUNCE_BYTES,
						 CU_MEM_ATTACH_GLOBAL);
	} else {
		result = cuda->cuMemHostAlloc(&bounce->host, BOUNCES * BOUNCE_BYTES,
					      CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
		first = (CUdeviceptr)(uintptr_t)bounce->host;
	}
	for (uint32_t i = 0; result == CUDA_SUCCESS && i < BOUNCES; i++)
		bounce->address[i] = first + i * BOUNCE_BYTES;
	return result;
}

static void close_bounce(struct backend_device *destination, struct link *link,
			 struct bounce *bounce)
{
	const struct cuda_library *cuda = &destination->backend->library;

	if (!bounce)
		return;
	(void)peer_make_current(destination, link->source_context);
	if (bounce->source_stream) {
		(void)cuda->cuStreamSynchronize(bounce->source_stream);
		(void)cuda->cuStreamDestroy(bounce->source_stream);
	}
	for (uint32_t i = 0; i < BOUNCES; i++)
		if (bounce->filled[i])
			(void)cuda->cuEventDestroy(bounce->filled[i]);
	(void)peer_make_current(destination, destination->context);
	for (uint32_t i = 0; i < BOUNCES; i++)
		if (bounce->drained[i])
			(void)cuda->cuEventDestroy(bounce->drained[i]);
	if (bounce->begin)
		(void)cuda->cuEventDestroy(bounce->begin);
	if (bounce->host)
		(void)cuda->cuMemFreeHost(bounce->host);
	else if (bounce->address[0])
		(void)cuda->cuMemFree(bounce->address[0]);
	free(bounce);
}

static CUresult open_bounce(struct backend_device *destination, struct link *link, bool managed)
{
	const struct cuda_library *cuda = &destination->backend->library;
	struct bounce *bounce = calloc(1, sizeof(*bounce));

	if (!bounce)
		return CUDA_ERROR_OUT_OF_MEMORY;
	CUresult result = open_blocks(cuda, bounce, managed);
	if (result == CUDA_SUCCESS)
		result = cuda->cuEventCreate(&bounce->begin, CU_EVENT_DISABLE_TIMING);
	for (uint32_t i = 0; result == CUDA_SUCCESS && i < BOUNCES; i++)
		result = cuda->cuEventCreate(&bounce->drained[i], CU_EVENT_DISABLE_TIMING);
	if (result == CUDA_SUCCESS)
		result = open_source_side(destination, link, bounce);
	if (result != CUDA_SUCCESS) {
		close_bounce(destination, link, bounce);
		return result;
	}
	link->bounces[managed ? 0 : 1] = bounce;
	return CUDA_SUCCESS;
}

/* Sends the source's half of one block, in its context: a copy must be called in the context of its
 * stream. */
static CUresult send_source_half(struct backend_lane *lane, struct link *link,
				 struct bounce *bounce, uint32_t block, CUevent after,
				 CUdeviceptr source, size_t bytes)
{
	struct backend_device *destination = lane->device;
	const struct cuda_library *cuda = &destination->backend->library;
	CUresult result = peer_make_current(destination, link->source_context);

	if (result == CUDA_SUCCESS && after)
		result = cuda->cuStreamWaitEvent(bounce->source_stream, after,
						 CU_EVENT_WAIT_DEFAULT);
	if (result == CUDA_SUCCESS && bounce->in_use[block])
		result = cuda->cuStreamWaitEvent(bounce->source_stream, bounce->drained[block],
						 CU_EVENT_WAIT_DEFAULT);
	if (result == CUDA_SUCCESS)
		result = cuda->cuMemcpyAsync(bounce->address[block], source, bytes,
					     bounce->source_stream);
	if (result == CUDA_SUCCESS)
		result = cuda->cuEventRecord(bounce->filled[block], bounce->source_stream);
	CUresult back = peer_make_current(destination, destination->context);
	return result == CUDA_SUCCESS ? back : result;
}

static CUresult drain_block(struct backend_lane *lane, struct bounce *bounce, uint32_t block,
			    CUdeviceptr destination, size_t bytes)
{
	const struct cuda_library *cuda = &lane->device->backend->library;
	CUresult result =
		cuda->cuStreamWaitEvent(lane->stream, bounce->filled[block], CU_EVENT_WAIT_DEFAULT);

	if (result == CUDA_SUCCESS)
		result = cuda->cuMemcpyAsync(destination, bounce->address[block], bytes,
					     lane->stream);
	if (result == CUDA_SUCCESS)
		result = cuda->cuEventRecord(bounce->drained[block], lane->stream);
	if (result == CUDA_SUCCESS)
		bounce->in_use[block] = true;
	return result;
}

static bool can_manage(const struct backend_device *device)
{
	return device->facts->concurrent_managed && device->backend->library.cuMemAllocManaged;
}

static CUresult peer_copy_through_host(struct backend_lane *lane, struct link *link, bool managed,
				       const struct copy *copy)
{
	struct backend_device *destination = lane->device;
	CUresult result = CUDA_SUCCESS;
	uint32_t block = 0;

	if (managed && !(can_manage(destination) && can_manage(link->source)))
		return CUDA_ERROR_NOT_SUPPORTED;
	if (!link->bounces[managed ? 0 : 1])
		result = open_bounce(destination, link, managed);
	struct bounce *bounce = link->bounces[managed ? 0 : 1];
	if (result == CUDA_SUCCESS)
		result = destination->backend->library.cuEventRecord(bounce->begin, lane->stream);
	for (uint64_t done = 0, bytes; result == CUDA_SUCCESS && done < copy->size_bytes;
	     done += bytes) {
		uint64_t left = copy->size_bytes - done;
		bytes = left < BOUNCE_BYTES ? left : BOUNCE_BYTES;
		result = send_source_half(lane, link, bounce, block,
					  done == 0 ? bounce->begin : NULL, copy->source + done,
					  bytes);
		if (result == CUDA_SUCCESS)
			result = drain_block(lane, bounce, block, copy->destination + done, bytes);
		block = (block + 1) % BOUNCES;
	}
	return result;
}

static CUresult reach_mapping(struct backend_device *destination, struct backend_memory *memory)
{
	const struct cuda_library *cuda = &destination->backend->library;
	const CUmemAccessDesc access = {
		.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = destination->facts->device},
		.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
	};
	uint64_t bit = (uint64_t)1 << (destination->index % 64);

	if (atomic_load(&memory->peers) & bit)
		return CUDA_SUCCESS;
	CUresult result = cuda->cuMemSetAccess(memory->address, memory->reserved_bytes, &access, 1);
	if (result == CUDA_SUCCESS)
		atomic_fetch_or(&memory->peers, bit);
	return result;
}

static CUresult reach_pool(struct backend_device *destination, struct link *link)
{
	const struct cuda_library *cuda = &destination->backend->library;
	const CUmemAccessDesc access = {
		.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = destination->facts->device},
		.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
	};

	if (link->pool_reached)
		return CUDA_SUCCESS;
	if (!cuda->cuMemPoolSetAccess)
		return CUDA_ERROR_NOT_SUPPORTED;
	CUresult result = cuda->cuMemPoolSetAccess(link->source->memory->pool, &access, 1);
	link->pool_reached = result == CUDA_SUCCESS;
	return result;
}

/* Grants access to all memory of the source that is neither from its pool nor mapped explicitly. */
static CUresult reach_context(struct backend_device *destination, struct link *link)
{
	const struct cuda_library *cuda = &destination->backend->library;

	if (link->context_reached)
		return CUDA_SUCCESS;
	if (!cuda->cuCtxEnablePeerAccess)
		return CUDA_ERROR_NOT_SUPPORTED;
	CUresult result = cuda->cuCtxEnablePeerAccess(link->source_context, 0);
	if (result == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
		result = CUDA_SUCCESS;
	link->context_reached = result == CUDA_SUCCESS;
	return result;
}

/* Gives the destination access to the source's memory. Any result but success and sticky ones means
 * that the destination has no access. */
static CUresult enable_access(struct backend_device *destination, struct link *link,
			      struct backend_memory *memory)
{
	const struct cuda_library *cuda = &destination->backend->library;
	CUresult result;
	int can = 0;

	if (!cuda->cuDeviceCanAccessPeer ||
	    cuda->cuDeviceCanAccessPeer(&can, destination->facts->device,
					link->source->facts->device) != CUDA_SUCCESS ||
	    !can)
		return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
	if (memory->origin == CUDA_ORIGIN_VMM)
		result = reach_mapping(destination, memory);
	else if (memory->origin == CUDA_ORIGIN_POOL)
		result = reach_pool(destination, link);
	else
		result = reach_context(destination, link);
	/* For any reason: the memory can still be copied without access. */
	if (result != CUDA_SUCCESS && !cuda_result_is_sticky(result))
		return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
	return result;
}

static CUresult peer_copy_direct(struct backend_lane *lane, struct link *link,
				 struct backend_memory *memory, const struct copy *copy)
{
	CUresult result = enable_access(lane->device, link, memory);

	if (result == CUDA_SUCCESS)
		result = lane->device->backend->library.cuMemcpyDtoDAsync(
			copy->destination, copy->source, copy->size_bytes, lane->stream);
	return result;
}

static CUresult peer_copy_by_path(enum cuda_peer_path path, struct backend_lane *lane,
				  struct link *link, struct backend_memory *memory,
				  const struct copy *copy)
{
	switch (path) {
	case CUDA_PEER_DIRECT:
		return peer_copy_direct(lane, link, memory, copy);
	case CUDA_PEER_COPY:
		return lane->device->backend->library.cuMemcpyPeerAsync(
			copy->destination, lane->device->context, copy->source,
			link->source_context, copy->size_bytes, lane->stream);
	case CUDA_PEER_MANAGED:
		return peer_copy_through_host(lane, link, true, copy);
	case CUDA_PEER_HOST:
	case CUDA_PEER_AUTO:
		break;
	}
	return peer_copy_through_host(lane, link, false, copy);
}

/* True if this way does not exist between the two devices. Another way may exist. No work has been
 * put on a stream. */
static bool peer_path_is_unsupported(CUresult result)
{
	return result == CUDA_ERROR_NOT_SUPPORTED || result == CUDA_ERROR_PEER_ACCESS_UNSUPPORTED ||
	       result == CUDA_ERROR_TOO_MANY_PEERS || result == CUDA_ERROR_NOT_PERMITTED;
}

static CUresult peer_find_path(struct backend_lane *lane, struct link *link,
			       struct backend_memory *memory, const struct copy *copy)
{
	enum cuda_peer_path forced = lane->device->backend->settings.peer_path;
	enum cuda_peer_path path = link->path != CUDA_PEER_AUTO ? link->path : CUDA_PEER_DIRECT;
	CUresult result;

	if (forced != CUDA_PEER_AUTO) {
		link->path = forced;
		return peer_copy_by_path(forced, lane, link, memory, copy);
	}
	for (;;) {
		result = peer_copy_by_path(path, lane, link, memory, copy);
		if (!peer_path_is_unsupported(result) || path == CUDA_PEER_HOST)
			break;
		path = (enum cuda_peer_path)(path + 1);
	}
	link->path = path;
	return result;
}

static struct link *peer_find_link(struct backend_device *destination,
				   struct backend_device *source)
{
	struct cuda_memory_state *state = destination->memory;
	uint32_t count = destination->backend->topology.device_count;

	if (!state->peers) {
		state->peers = calloc(1, sizeof(*state->peers) + count * sizeof(struct link));
		if (!state->peers)
			return NULL;
		state->peers->count = count;
	}
	return source->index < state->peers->count ? &state->peers->links[source->index] : NULL;
}

/* The source's context is retained as long as the link exists, even if its device is closed
 * earlier. */
static int peer_open_link(struct backend_device *destination, struct backend_device *source,
			  struct link **link_out, struct backend_fault *fault_out)
{
	const struct cuda_library *cuda = &destination->backend->library;
	struct link *link = peer_find_link(destination, source);

	if (!link)
		return cuda_no_memory(fault_out, "a copy");
	if (!link->source_context) {
		CUresult result = cuda->cuDevicePrimaryCtxRetain(&link->source_context,
								 source->facts->device);
		if (result != CUDA_SUCCESS) {
			link->source_context = NULL;
			return cuda_fault(destination, cuda, result, fault_out,
					  "cannot reach device %u", source->index);
		}
	}
	if (link->opening != source->opening) {
		link->opening = source->opening;
		link->source = source;
		link->source_device = source->facts->device;
		link->pool_reached = false;
	}
	*link_out = link;
	return 0;
}

/* `memory`: the memory in which the source range lies, needed to make it accessible. */
static int peer_copy_from(struct backend_lane *lane, struct backend_memory *memory,
			  struct copy copy, struct backend_fault *fault_out)
{
	struct backend_device *destination = lane->device;
	const struct cuda_library *cuda = &destination->backend->library;
	struct link *link = NULL;
	CUresult result;

	if (destination->is_native || memory->device->is_native) {
		/* Links connect devices that are opened only once. The driver copies between any
		 * two contexts, and within one. */
		result = cuda->cuMemcpyPeerAsync(copy.destination, destination->context,
						 copy.source, memory->device->context,
						 copy.size_bytes, lane->stream);
	} else {
		int error = peer_open_link(destination, memory->device, &link, fault_out);
		if (!link)
			return error;
		result = peer_find_path(lane, link, memory, &copy);
	}
	if (result != CUDA_SUCCESS)
		return cuda_fault(destination, cuda, result, fault_out,
				  "cannot copy from device %u to device %u", memory->device->index,
				  destination->index);
	return 0;
}

int cuda_peer_copy(struct backend_lane *lane, const struct backend_command *command,
		   struct backend_fault *fault_out)
{
	struct backend_memory *memory = command->copy.source;
	const struct copy copy = {
		.source = memory->address + command->copy.source_offset_bytes,
		.destination =
			command->copy.destination->address + command->copy.destination_offset_bytes,
		.size_bytes = command->copy.size_bytes,
	};
	return peer_copy_from(lane, memory, copy, fault_out);
}

int cuda_peer_copy_usm(struct backend_lane *lane, struct backend_device *source, bool is_pooled,
		       uint64_t from, uint64_t to, uint64_t size_bytes,
		       struct backend_fault *fault_out)
{
	struct backend_memory memory = {.device = source,
					.origin = is_pooled ? CUDA_ORIGIN_POOL : CUDA_ORIGIN_PLAIN};
	const struct copy copy = {.source = from, .destination = to, .size_bytes = size_bytes};

	return peer_copy_from(lane, &memory, copy, fault_out);
}

bool cuda_peer_reach(struct backend_device *destination, struct backend_memory *memory)
{
	enum cuda_peer_path forced = destination->backend->settings.peer_path;
	struct link *link = NULL;

	return (forced == CUDA_PEER_AUTO || forced == CUDA_PEER_DIRECT) &&
	       peer_open_link(destination, memory->device, &link, NULL) == 0 && link &&
	       enable_access(destination, link, memory) == CUDA_SUCCESS;
}

enum cuda_peer_path cuda_peer_path_of(struct backend_device *destination,
				      const struct backend_device *source)
{
	struct cuda_peers *peers = destination->memory->peers;

	return peers && source->index < peers->count ? peers->links[source->index].path
						     : CUDA_PEER_AUTO;
}

uint32_t cuda_peer_operations(struct backend_device *destination,
			      const struct backend_command *command)
{
	const enum cuda_peer_path path =
		cuda_peer_path_of(destination, command->copy.source->device);
	const uint64_t blocks = command->copy.size_bytes / BOUNCE_BYTES + 1;

	if (path != CUDA_PEER_MANAGED && path != CUDA_PEER_HOST)
		return 1;
	return blocks < UINT16_MAX ? (uint32_t)blocks * 3u : UINT16_MAX;
}

void cuda_peers_close(struct backend_device *device)
{
	struct cuda_peers *peers = device->memory->peers;

	for (uint32_t i = 0; peers && i < peers->count; i++) {
		struct link *link = &peers->links[i];
		close_bounce(device, link, link->bounces[0]);
		close_bounce(device, link, link->bounces[1]);
		if (link->source_context)
			(void)device->backend->library.cuDevicePrimaryCtxRelease(
				link->source_device);
	}
	free(peers);
	device->memory->peers = NULL;
}
