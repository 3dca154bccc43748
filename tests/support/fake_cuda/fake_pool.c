/* Memory pools: allocation and freeing in the order of a stream. */
#include "fake.h"
#include "fake_memory_file.h"

#include <stdlib.h>

struct memory_op {
	struct fake_op op;
	struct fake_range *range;
};

static struct CUmemPoolHandle_st *pool_make(int device)
{
	struct CUmemPoolHandle_st *pool = calloc(1, sizeof(*pool));

	if (!pool)
		return NULL;
	pool->device = device;
	pool->reuse_event = pool->reuse_opportunistic = pool->reuse_internal = 1;
	pool->access = 1u << device;
	fake_handle_add(FAKE_MEMORY_POOL, pool);
	return pool;
}

static struct CUmemPoolHandle_st *default_pool(int device)
{
	struct fake_device *at = &fake.devices[device];

	if (!at->default_pool) {
		at->default_pool = pool_make(device);
		if (at->default_pool)
			at->default_pool->is_default = true;
	}
	if (!at->current_pool)
		at->current_pool = at->default_pool;
	return at->default_pool;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice device)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (device < 0 || device >= fake.device_count)
		return CUDA_ERROR_INVALID_DEVICE;
	*pool_out = default_pool(device);
	return *pool_out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool_out, CUdevice device)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (device < 0 || device >= fake.device_count)
		return CUDA_ERROR_INVALID_DEVICE;
	(void)default_pool(device);
	*pool_out = fake.devices[device].current_pool;
	return CUDA_SUCCESS;
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (device < 0 || device >= fake.device_count || !fake_handle_alive(FAKE_MEMORY_POOL, pool))
		return CUDA_ERROR_INVALID_VALUE;
	fake.devices[device].current_pool = pool;
	return CUDA_SUCCESS;
}

CUresult cuMemPoolCreate(CUmemoryPool *pool_out, const CUmemPoolProps *properties)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!properties || properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
	    properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
	    properties->location.id < 0 || properties->location.id >= fake.device_count)
		return CUDA_ERROR_INVALID_VALUE;
	struct CUmemPoolHandle_st *pool = pool_make(properties->location.id);
	if (!pool)
		return CUDA_ERROR_OUT_OF_MEMORY;
	pool->handle_types = properties->handleTypes;
	pool->maximum = properties->maxSize;
	fake_number_add("pools", 1);
	*pool_out = pool;
	return CUDA_SUCCESS;
}

/* The device's memory that a pool holds. */
static void pool_reserve(struct CUmemPoolHandle_st *pool, size_t reserved)
{
	struct fake_device *device = &fake.devices[pool->device];

	device->used_bytes = device->used_bytes - pool->reserved + reserved;
	pool->reserved = reserved;
	if (reserved > pool->reserved_high)
		pool->reserved_high = reserved;
	fake_memory_file_note(pool->device);
}

CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!pool || !fake_handle_alive(FAKE_MEMORY_POOL, pool) || pool->is_default)
		return CUDA_ERROR_INVALID_VALUE;
	if (pool->used)
		fake_misuse("a pool is destroyed that still has %zu bytes in use", pool->used);
	pool_reserve(pool, pool->used);
	fake_handle_retire(FAKE_MEMORY_POOL, pool);
	fake_number_add("pools", -1);
	return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!fake_handle_alive(FAKE_MEMORY_POOL, pool))
		return CUDA_ERROR_INVALID_VALUE;
	switch (attribute) {
	case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
		pool->reuse_event = *(int *)value;
		break;
	case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
		pool->reuse_opportunistic = *(int *)value;
		break;
	case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
		pool->reuse_internal = *(int *)value;
		break;
	case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
		pool->release_threshold = *(cuuint64_t *)value;
		break;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
		pool->reserved_high = pool->reserved;
		break;
	case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
		pool->used_high = pool->used;
		break;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!fake_handle_alive(FAKE_MEMORY_POOL, pool))
		return CUDA_ERROR_INVALID_VALUE;
	switch (attribute) {
	case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
		*(int *)value = pool->reuse_event;
		break;
	case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
		*(int *)value = pool->reuse_opportunistic;
		break;
	case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
		*(int *)value = pool->reuse_internal;
		break;
	case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
		*(cuuint64_t *)value = pool->release_threshold;
		break;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
		*(cuuint64_t *)value = pool->reserved;
		break;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
		*(cuuint64_t *)value = pool->reserved_high;
		break;
	case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
		*(cuuint64_t *)value = pool->used;
		break;
	case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
		*(cuuint64_t *)value = pool->used_high;
		break;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!fake_handle_alive(FAKE_MEMORY_POOL, pool))
		return CUDA_ERROR_INVALID_VALUE;
	size_t least = keep > pool->used ? keep : pool->used;
	if (least < pool->reserved)
		pool_reserve(pool, least);
	return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!fake_handle_alive(FAKE_MEMORY_POOL, pool))
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < count; i++) {
		int device = map[i].location.id;
		if (map[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE || device < 0 ||
		    device >= fake.device_count)
			return CUDA_ERROR_INVALID_DEVICE;
		if (device != pool->device && fake_number("setting no_peer"))
			return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
		if (map[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
			pool->access |= 1u << device;
		else if (map[i].flags == CU_MEM_ACCESS_FLAGS_PROT_NONE && device != pool->device)
			pool->access &= ~(1u << device);
		else
			return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

static void alloc_run(struct fake_op *base, struct CUstream_st *stream)
{
	struct memory_op *op = (struct memory_op *)base;

	(void)stream;
	fake_lock();
	op->range->live = true;
	fake_unlock();
}

static CUresult alloc_in_order(CUdeviceptr *address_out, size_t size,
			       struct CUmemPoolHandle_st *pool, struct CUstream_st *stream)
{
	struct fake_range *range;
	size_t rounded = (size + 511) & ~(size_t)511, reserved = pool->reserved;

	if (!size || size > SIZE_MAX / 2)
		return CUDA_ERROR_INVALID_VALUE;
	if (pool->used + rounded > reserved)
		reserved = (pool->used + rounded + FAKE_GRANULE - 1) & ~(FAKE_GRANULE - 1);
	/* Other pools cannot use memory that a pool keeps. The real driver gives it back only when
	 * the pool is trimmed. */
	if (reserved - pool->reserved > fake_device_free_bytes(pool->device)) {
		reserved = pool->used + rounded;
		if (reserved > pool->reserved &&
		    reserved - pool->reserved > fake_device_free_bytes(pool->device))
			return CUDA_ERROR_OUT_OF_MEMORY;
	}
	struct memory_op *op = calloc(1, sizeof(*op));
	if (!op)
		return CUDA_ERROR_OUT_OF_MEMORY;
	CUresult result = fake_range_add(FAKE_POOL, pool->device, size, &range);
	if (result != CUDA_SUCCESS) {
		free(op);
		return result;
	}
	range->pool = pool;
	range->live = false;
	pool_reserve(pool, reserved);
	pool->used += rounded;
	if (pool->used > pool->used_high)
		pool->used_high = pool->used;
	*op = (struct memory_op){.op = {.name = "alloc", .run = alloc_run}, .range = range};
	fake_number_add("allocations", 1);
	*address_out = range->base;
	fake_stream_add(stream, &op->op);
	return CUDA_SUCCESS;
}

CUresult cuMemAllocAsync(CUdeviceptr *address_out, size_t size, CUstream handle)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	struct CUstream_st *stream = fake_stream_use(handle);
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!default_pool(stream->device))
		return CUDA_ERROR_OUT_OF_MEMORY;
	return alloc_in_order(address_out, size, fake.devices[stream->device].current_pool, stream);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *address_out, size_t size, CUmemoryPool pool,
				 CUstream handle)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	struct CUstream_st *stream = fake_stream_use(handle);
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!fake_handle_alive(FAKE_MEMORY_POOL, pool))
		return CUDA_ERROR_INVALID_VALUE;
	return alloc_in_order(address_out, size, pool, stream);
}

static void pool_give(struct fake_range *range)
{
	struct CUmemPoolHandle_st *pool = range->pool;

	pool->used -= (range->size + 511) & ~(size_t)511;
	range->freed = true;
	fake_number_add("allocations", -1);
	/* The real driver does that at the next synchronisation. */
	if (pool->reserved > pool->release_threshold)
		pool_reserve(pool, pool->used > pool->release_threshold ? pool->used
									: pool->release_threshold);
}

static void free_run(struct fake_op *base, struct CUstream_st *stream)
{
	struct memory_op *op = (struct memory_op *)base;

	(void)stream;
	fake_lock();
	op->range->pool = NULL;
	fake_range_drop(op->range);
	fake_unlock();
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream handle)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	struct CUstream_st *stream = fake_stream_use(handle);
	struct fake_range *range = fake_range_find(address, 1);
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!range || range->base != address || range->freed || range->kind != FAKE_POOL) {
		fake_misuse("no memory of a pool begins at 0x%llx", address);
		return CUDA_ERROR_INVALID_VALUE;
	}
	struct memory_op *op = calloc(1, sizeof(*op));
	if (!op)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*op = (struct memory_op){.op = {.name = "free", .run = free_run}, .range = range};
	pool_give(range);
	fake_stream_add(stream, &op->op);
	return CUDA_SUCCESS;
}

/* cuMemFree of such memory: the call has waited for everything. */
void fake_free_in_order(struct fake_range *range)
{
	pool_give(range);
	range->pool = NULL;
	fake_range_drop(range);
}
