/*
 * The pool that private memory comes from. The pool keeps all its memory (release threshold at the
 * maximum), because taking from it again costs less than a microsecond. One stream orders all its
 * allocations and frees, so a free is done when it is called.
 *
 * Headroom (F9): when memory must come from the device, enough is left over for modules to be
 * loaded. The driver decides by how much the pool grows. So the pool is checked twice: before,
 * whether it must grow, and after, whether it did.
 */
#include "cuda/memory/state.h"
#include "status.h"

#include <errno.h>

static bool driver_has_pools(const struct backend_device *device)
{
	const struct cuda_library *cuda = &device->backend->library;

	return device->facts->pools && cuda->cuMemPoolCreate && cuda->cuMemPoolDestroy &&
	       cuda->cuMemPoolSetAttribute && cuda->cuMemPoolGetAttribute &&
	       cuda->cuMemPoolTrimTo && cuda->cuMemAllocFromPoolAsync && cuda->cuMemFreeAsync;
}

static CUresult pool_set_flag(const struct cuda_library *cuda, CUmemoryPool pool,
			      CUmemPool_attribute attribute, int value)
{
	return cuda->cuMemPoolSetAttribute(pool, attribute, &value);
}

/*
 * Sets which reuse the pool may do by itself: a free on one stream never makes another stream wait.
 */
static CUresult pool_set_reuse(const struct cuda_library *cuda, CUmemoryPool pool)
{
	cuuint64_t keep = UINT64_MAX;
	CUresult result =
		cuda->cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep);

	if (result == CUDA_SUCCESS)
		result = pool_set_flag(cuda, pool, CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES,
				       1);
	if (result == CUDA_SUCCESS)
		result = pool_set_flag(cuda, pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, 0);
	if (result == CUDA_SUCCESS)
		result = pool_set_flag(cuda, pool,
				       CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, 0);
	return result;
}

int cuda_pool_open(struct cuda_memory_state *state, struct backend_fault *fault_out)
{
	struct backend_device *device = state->device;
	const struct cuda_library *cuda = &device->backend->library;
	const CUmemPoolProps properties = {
		.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
		.handleTypes = CU_MEM_HANDLE_TYPE_NONE,
		.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device->facts->device},
	};

	if (!driver_has_pools(device))
		return 0;
	CUresult result = cuda->cuMemPoolCreate(&state->pool, &properties);
	if (result == CUDA_SUCCESS)
		result = pool_set_reuse(cuda, state->pool);
	if (result != CUDA_SUCCESS)
		return cuda_fault(device, cuda, result, fault_out, "cannot make a memory pool");
	return 0;
}

void cuda_pool_close(struct cuda_memory_state *state)
{
	if (state->pool)
		(void)state->device->backend->library.cuMemPoolDestroy(state->pool);
	state->pool = NULL;
}

static uint64_t pool_number(const struct cuda_memory_state *state, CUmemPool_attribute attribute)
{
	cuuint64_t number = 0;

	if (state->pool)
		(void)state->device->backend->library.cuMemPoolGetAttribute(state->pool, attribute,
									    &number);
	return number;
}

/* The device memory that the driver keeps for graphs; 0 as long as no graph had memory. */
static uint64_t graph_bytes(const struct cuda_memory_state *state)
{
	const struct backend_device *device = state->device;
	cuuint64_t bytes = 0;

	if (atomic_load_explicit(&state->graphs_have_memory, memory_order_relaxed))
		(void)device->backend->library.cuDeviceGetGraphMemAttribute(
			device->facts->device, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &bytes);
	return bytes;
}

/* The number of bytes by which the pool must grow to give so many bytes. The driver may need a
 * little more. */
static uint64_t pool_growth(const struct cuda_memory_state *state, uint64_t size_bytes)
{
	uint64_t reserved = pool_number(state, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
	uint64_t used = pool_number(state, CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
	uint64_t unused = reserved > used ? reserved - used : 0;

	return size_bytes > unused ? size_bytes - unused : 0;
}

/* True if the bytes and the headroom fit both into the total with the reserved bytes, and into the
 * memory that is free now. */
static bool pool_has_room(struct cuda_memory_state *state, uint64_t growth_bytes,
			  uint64_t *free_out)
{
	const struct cuda_library *cuda = &state->device->backend->library;
	uint64_t headroom = state->device->backend->settings.headroom_bytes;
	uint64_t reserved = pool_number(state, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
	uint64_t promised = atomic_load(&state->outside_bytes) + reserved + graph_bytes(state);
	size_t free_bytes = 0, total_bytes = 0;

	if (cuda->cuMemGetInfo(&free_bytes, &total_bytes) != CUDA_SUCCESS)
		free_bytes = 0;
	*free_out = free_bytes;
	if (headroom > free_bytes || growth_bytes > free_bytes - headroom)
		return false;
	return promised <= state->total_bytes && headroom <= state->total_bytes - promised &&
	       growth_bytes <= state->total_bytes - promised - headroom;
}

/* Returns all spare memory to the device. */
static void trim_pool(struct cuda_memory_state *state)
{
	const struct cuda_library *cuda = &state->device->backend->library;

	cuda_graph_memory_trim(state);
	if (!state->pool)
		return;
	/* A free counts as outstanding until the host has read its end. The stream carries only
	 * frees and allocations. */
	(void)cuda->cuStreamSynchronize(state->stream);
	(void)cuda->cuMemPoolTrimTo(state->pool, 0);
}

void cuda_memory_trim(struct backend_device *device, uint64_t *capacity_out)
{
	struct cuda_memory_state *state = device->memory;
	uint64_t headroom = device->backend->settings.headroom_bytes;

	*capacity_out = state->total_bytes > headroom ? state->total_bytes - headroom : 0;
	if (cuda_enter(device, NULL) < 0)
		return;
	cuda_reaper_run(&state->reaper, false);
	trim_pool(state);
}

static int pool_refuse(const struct cuda_memory_state *state, uint64_t size_bytes,
		       uint64_t free_bytes, struct backend_fault *fault_out)
{
	const struct cuda_library *cuda = &state->device->backend->library;
	size_t free_now = 0, total = 0;

	/* If the device is lost, the loss is the reason, and not a lack of room. */
	CUresult result = cuda->cuMemGetInfo(&free_now, &total);
	if (result != CUDA_SUCCESS)
		return cuda_fault(state->device, cuda, result, fault_out,
				  "cannot query the device's free memory");
	(void)cuda_fault_words(
		fault_out, -ENOMEM, STATUS_MEMORY_ALLOCATION,
		"the device has no room for %llu bytes: %llu of %llu are free, %llu are kept for kernels",
		(unsigned long long)size_bytes, (unsigned long long)free_bytes,
		(unsigned long long)state->total_bytes,
		(unsigned long long)state->device->backend->settings.headroom_bytes);
	if (fault_out)
		fault_out->native_code = CUDA_ERROR_OUT_OF_MEMORY;
	return -ENOMEM;
}

/* True if the size would fit once the pool returned all spare memory. If false, a trim costs time
 * and has no use. */
static bool can_ever_fit(const struct cuda_memory_state *state, uint64_t size_bytes)
{
	uint64_t headroom = state->device->backend->settings.headroom_bytes;
	uint64_t used = atomic_load(&state->outside_bytes) +
			pool_number(state, CU_MEMPOOL_ATTR_USED_MEM_CURRENT);

	return used <= state->total_bytes && headroom <= state->total_bytes - used &&
	       size_bytes <= state->total_bytes - used - headroom;
}

/* `in_pool`: the memory comes from the pool, whose unused bytes count as room, too. */
static bool fits_headroom(struct cuda_memory_state *state, uint64_t size_bytes, bool in_pool,
			  uint64_t *free_out)
{
	uint64_t growth = in_pool ? pool_growth(state, size_bytes) : size_bytes;

	return growth == 0 || pool_has_room(state, growth, free_out);
}

static int pool_make_room(struct cuda_memory_state *state, uint64_t size_bytes, bool in_pool,
			  struct backend_fault *fault_out)
{
	uint64_t free_bytes = 0;

	/* Otherwise the sums below could overflow. */
	if (size_bytes > state->total_bytes)
		return pool_refuse(state, size_bytes, 0, fault_out);
	if (fits_headroom(state, size_bytes, in_pool, &free_bytes))
		return 0;
	cuda_reaper_run(&state->reaper, false);
	if (can_ever_fit(state, size_bytes)) {
		trim_pool(state);
		if (fits_headroom(state, size_bytes, in_pool, &free_bytes))
			return 0;
	}
	return pool_refuse(state, size_bytes, free_bytes, fault_out);
}

int cuda_room_take(struct cuda_memory_state *state, uint64_t size_bytes,
		   struct backend_fault *fault_out)
{
	int error = pool_make_room(state, size_bytes, false, fault_out);

	if (error == 0)
		atomic_fetch_add(&state->outside_bytes, size_bytes);
	return error;
}

void cuda_room_give(struct cuda_memory_state *state, uint64_t size_bytes)
{
	atomic_fetch_sub(&state->outside_bytes, size_bytes);
}

/* The allocation has happened when this returns. No work on the stream takes long. */
static CUresult allocate_pooled(struct cuda_memory_state *state, uint64_t size_bytes,
				CUdeviceptr *address_out)
{
	const struct cuda_library *cuda = &state->device->backend->library;
	CUdeviceptr address = 0;
	CUresult result =
		cuda->cuMemAllocFromPoolAsync(&address, size_bytes, state->pool, state->stream);

	if (result != CUDA_SUCCESS)
		return result;
	result = cuda->cuStreamQuery(state->stream);
	if (result == CUDA_ERROR_NOT_READY)
		result = cuda->cuStreamSynchronize(state->stream);
	if (result == CUDA_SUCCESS)
		*address_out = address;
	else
		(void)cuda->cuMemFreeAsync(address, state->stream);
	return result;
}

/* Called when the pool has grown by more than expected, and less than the headroom is left. */
static int pool_refuse_grown(struct cuda_memory_state *state, CUdeviceptr address,
			     uint64_t size_bytes, uint64_t free_bytes,
			     struct backend_fault *fault_out)
{
	cuda_pool_give(state, address);
	trim_pool(state);
	return pool_refuse(state, size_bytes, free_bytes, fault_out);
}

static int take_from_pool(struct cuda_memory_state *state, uint64_t size_bytes,
			  CUdeviceptr *address_out, struct backend_fault *fault_out)
{
	struct backend_device *device = state->device;
	CUdeviceptr address = 0;
	uint64_t free_bytes = 0;

	int error = pool_make_room(state, size_bytes, true, fault_out);
	if (error < 0)
		return error;
	uint64_t before = pool_number(state, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
	CUresult result = allocate_pooled(state, size_bytes, &address);
	if (result == CUDA_ERROR_OUT_OF_MEMORY) {
		cuda_reaper_run(&state->reaper, false);
		trim_pool(state);
		before = pool_number(state, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
		result = allocate_pooled(state, size_bytes, &address);
	}
	if (result != CUDA_SUCCESS)
		return cuda_fault(device, &device->backend->library, result, fault_out,
				  "cannot allocate %llu bytes", (unsigned long long)size_bytes);
	if (pool_number(state, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) > before &&
	    !pool_has_room(state, 0, &free_bytes))
		return pool_refuse_grown(state, address, size_bytes, free_bytes, fault_out);
	*address_out = address;
	return 0;
}

int cuda_pool_take(struct cuda_memory_state *state, uint64_t size_bytes, CUdeviceptr *address_out,
		   struct backend_fault *fault_out)
{
	const struct cuda_library *cuda = &state->device->backend->library;
	CUdeviceptr address = 0;

	if (state->pool)
		return take_from_pool(state, size_bytes, address_out, fault_out);
	int error = cuda_room_take(state, size_bytes, fault_out);
	if (error < 0)
		return error;
	CUresult result = cuda->cuMemAlloc(&address, size_bytes);
	if (result != CUDA_SUCCESS) {
		cuda_room_give(state, size_bytes);
		return cuda_fault(state->device, cuda, result, fault_out,
				  "cannot allocate %llu bytes", (unsigned long long)size_bytes);
	}
	*address_out = address;
	return 0;
}

void cuda_pool_give(struct cuda_memory_state *state, CUdeviceptr address)
{
	(void)state->device->backend->library.cuMemFreeAsync(address, state->stream);
}

/* ---------------------------------------- graphs ---------------------------------------- */

bool cuda_graphs_have_memory(const struct backend_device *device)
{
	const struct cuda_library *cuda = &device->backend->library;

	return device->facts->pools && cuda->cuGraphAddMemAllocNode &&
	       cuda->cuGraphAddMemFreeNode && cuda->cuDeviceGraphMemTrim &&
	       cuda->cuDeviceGetGraphMemAttribute;
}

int cuda_graph_room(struct cuda_memory_state *state, uint64_t size_bytes,
		    struct backend_fault *fault_out)
{
	uint64_t free_bytes = 0;

	if (size_bytes > state->total_bytes)
		return pool_refuse(state, size_bytes, 0, fault_out);
	atomic_store_explicit(&state->graphs_have_memory, true, memory_order_relaxed);
	/* A graph is made in a quiet moment, so memory that is kept for graphs serves this graph,
	 * too. */
	uint64_t kept = graph_bytes(state);
	if (size_bytes <= kept || pool_has_room(state, size_bytes - kept, &free_bytes))
		return 0;
	cuda_reaper_run(&state->reaper, false);
	if (can_ever_fit(state, size_bytes)) {
		trim_pool(state);
		if (pool_has_room(state, size_bytes, &free_bytes))
			return 0;
	}
	return pool_refuse(state, size_bytes, free_bytes, fault_out);
}

int cuda_graph_room_left(struct cuda_memory_state *state, struct backend_fault *fault_out)
{
	uint64_t free_bytes = 0;

	if (pool_has_room(state, 0, &free_bytes))
		return 0;
	trim_pool(state);
	return pool_refuse(state, 0, free_bytes, fault_out);
}

void cuda_graph_memory_gone(struct cuda_memory_state *state)
{
	/* A trim would also free the memory of other graphs that are between two launches. Their
	 * next launch may then fail for lack of memory. */
	if (state->graphs_with_memory > 0)
		return;
	atomic_store_explicit(&state->graph_memory_is_due, true, memory_order_relaxed);
}

void cuda_graph_memory_trim(struct cuda_memory_state *state)
{
	const struct backend_device *device = state->device;

	/* The request is cleared even if no graph had memory. A graph that was dropped unfinished
	 * leaves nothing to trim, and sends no further request. */
	atomic_store_explicit(&state->graph_memory_is_due, false, memory_order_relaxed);
	if (!atomic_load_explicit(&state->graphs_have_memory, memory_order_relaxed))
		return;
	(void)device->backend->library.cuDeviceGraphMemTrim(device->facts->device);
}
