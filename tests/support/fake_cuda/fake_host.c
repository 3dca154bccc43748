/* Host memory that devices access, and memory that migrates. Its address on a device is that on the
 * host. */
#include "fake.h"

#include <stdlib.h>
#include <string.h>

static struct fake_range *find_host(const void *host, enum fake_kind kind)
{
	struct fake_range *range = fake_range_find((CUdeviceptr)host, 1);

	if (range && range->kind == kind && range->base == (CUdeviceptr)host)
		return range;
	fake_misuse("%p is not the beginning of a range of this kind of host memory", host);
	return NULL;
}

CUresult cuMemHostAlloc(void **host_out, size_t size, unsigned flags)
{
	ENTER(NEED_CONTEXT | UNSAFE);
	LOCKED();
	struct fake_range *range;
	if (!size || (flags & ~7u))
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = fake_range_add(FAKE_HOST, fake_current()->device, size, &range);
	if (result != CUDA_SUCCESS)
		return result;
	range->flags = flags;
	fake_number_add("host_allocations", 1);
	*host_out = range->host;
	return CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void *host)
{
	ENTER(NEED_INIT | WAITS | HOLDS);
	LOCKED();
	struct fake_range *range = find_host(host, FAKE_HOST);
	if (!range)
		return CUDA_ERROR_INVALID_VALUE;
	fake_number_add("host_allocations", -1);
	fake_range_drop(range);
	return CUDA_SUCCESS;
}

CUresult cuMemHostRegister(void *host, size_t size, unsigned flags)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	if (!host || !size)
		return CUDA_ERROR_INVALID_VALUE;
	if (fake_overlaps((CUdeviceptr)host, size))
		return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
	const struct fake_range range = {.kind = FAKE_REGISTERED,
					 .device = fake_current()->device,
					 .flags = flags,
					 .base = (CUdeviceptr)host,
					 .size = size,
					 .host = host,
					 .file = -1,
					 .live = true};
	(void)fake_range_insert(&range);
	fake_number_add("registered", 1);
	return CUDA_SUCCESS;
}

CUresult cuMemHostUnregister(void *host)
{
	ENTER(NEED_INIT | WAITS);
	LOCKED();
	struct fake_range *range = find_host(host, FAKE_REGISTERED);
	if (!range)
		return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
	fake_number_add("registered", -1);
	fake_range_drop(range);
	return CUDA_SUCCESS;
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr *address_out, void *host, unsigned flags)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	const struct fake_range *range = fake_range_find((CUdeviceptr)host, 1);
	if (flags || !range || (range->kind != FAKE_HOST && range->kind != FAKE_REGISTERED)) {
		fake_misuse("%p is no host memory that a device can reach", host);
		return CUDA_ERROR_INVALID_VALUE;
	}
	*address_out = (CUdeviceptr)host;
	return CUDA_SUCCESS;
}

CUresult cuMemHostGetFlags(unsigned *flags_out, void *host)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	const struct fake_range *range = fake_range_find((CUdeviceptr)host, 1);
	if (!range || range->kind != FAKE_HOST)
		return CUDA_ERROR_INVALID_VALUE;
	*flags_out = range->flags;
	return CUDA_SUCCESS;
}

CUresult cuMemAllocManaged(CUdeviceptr *address_out, size_t size, unsigned flags)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	struct fake_range *range;
	int device = fake_current()->device;
	if (!size || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
		return CUDA_ERROR_INVALID_VALUE;
	if (!fake.devices[device].attributes[CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY])
		return CUDA_ERROR_NOT_SUPPORTED;
	CUresult result = fake_range_add(FAKE_MANAGED, device, size, &range);
	if (result != CUDA_SUCCESS)
		return result;
	memset(range->host, 0, range->size); /* pages of managed memory begin as zeros */
	range->flags = flags;
	fake_number_add("allocations", 1);
	*address_out = range->base;
	return CUDA_SUCCESS;
}

static struct fake_range *find_managed(CUdeviceptr address, size_t size)
{
	struct fake_range *range = fake_range_find(address, size);

	if (range && range->kind == FAKE_MANAGED && !range->freed && size)
		return range;
	fake_misuse("%zu bytes at 0x%llx are not managed memory", size, address);
	return NULL;
}

static bool location_is_known(CUmemLocation location)
{
	if (location.type == CU_MEM_LOCATION_TYPE_DEVICE)
		return location.id >= 0 && location.id < fake.device_count;
	return location.type == CU_MEM_LOCATION_TYPE_HOST ||
	       location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
	       location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

static void nothing_run(struct fake_op *op, struct CUstream_st *stream)
{
	(void)op;
	(void)stream;
}

CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t size, CUmemLocation location,
			    unsigned flags, CUstream handle)
{
	ENTER(NEED_INIT);
	LOCKED();
	struct CUstream_st *stream = fake_stream_use(handle);
	struct fake_range *range = find_managed(address, size);
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!range || flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (!location_is_known(location))
		return CUDA_ERROR_INVALID_DEVICE;
	struct fake_op *op = calloc(1, sizeof(*op));
	if (!op)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*op = (struct fake_op){.name = "prefetch", .run = nothing_run};
	range->advice.prefetched = location;
	fake_record(&(struct fake_cuda_record){.kind = FAKE_CUDA_PREFETCH,
					       .stream = stream->number,
					       .address = address,
					       .size_bytes = size,
					       .location_type = (int)location.type,
					       .location_id = location.id});
	fake_stream_add(stream, op);
	return CUDA_SUCCESS;
}

static CUresult host_advise(struct fake_advice *advice, CUmem_advise what, CUmemLocation location)
{
	uint32_t bit = location.type == CU_MEM_LOCATION_TYPE_DEVICE ? 1u << location.id : 1u << 31;

	switch (what) {
	case CU_MEM_ADVISE_SET_READ_MOSTLY:
	case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
		advice->read_mostly = what == CU_MEM_ADVISE_SET_READ_MOSTLY;
		return CUDA_SUCCESS;
	case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
		advice->preferred = (CUmemLocation){0};
		return CUDA_SUCCESS;
	case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
		advice->preferred = location;
		break;
	case CU_MEM_ADVISE_SET_ACCESSED_BY:
		advice->accessed_by |= bit;
		break;
	case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
		advice->accessed_by &= ~bit;
		break;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
	return location_is_known(location) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuMemAdvise(CUdeviceptr address, size_t size, CUmem_advise advice, CUmemLocation location)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	struct fake_range *range = find_managed(address, size);
	if (!range)
		return CUDA_ERROR_INVALID_VALUE;
	fake_record(&(struct fake_cuda_record){.kind = FAKE_CUDA_ADVICE,
					       .address = address,
					       .size_bytes = size,
					       .value = (uint64_t)advice,
					       .location_type = (int)location.type,
					       .location_id = location.id});
	return host_advise(&range->advice, advice, location);
}

static int plain_location(CUmemLocation location)
{
	if (location.type == CU_MEM_LOCATION_TYPE_DEVICE)
		return location.id;
	return location.type == CU_MEM_LOCATION_TYPE_INVALID ? CU_DEVICE_INVALID : CU_DEVICE_CPU;
}

static void accessed_by_list(uint32_t accessed_by, int *list, size_t count)
{
	size_t filled = 0;

	for (int device = 0; device < FAKE_DEVICES_MAX && filled < count; device++)
		if (accessed_by & 1u << device)
			list[filled++] = device;
	if ((accessed_by & 1u << 31) && filled < count)
		list[filled++] = CU_DEVICE_CPU;
	while (filled < count)
		list[filled++] = CU_DEVICE_INVALID;
}

CUresult cuMemRangeGetAttribute(void *data, size_t bytes, CUmem_range_attribute attribute,
				CUdeviceptr address, size_t size)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	const struct fake_range *range = find_managed(address, size);
	int *numbers = data;
	if (!range || bytes < 4)
		return CUDA_ERROR_INVALID_VALUE;
	switch (attribute) {
	case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
		*numbers = range->advice.read_mostly;
		return CUDA_SUCCESS;
	case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
		*numbers = plain_location(range->advice.preferred);
		return CUDA_SUCCESS;
	case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
		*numbers = plain_location(range->advice.prefetched);
		return CUDA_SUCCESS;
	case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
		accessed_by_list(range->advice.accessed_by, numbers, bytes / sizeof(int));
		return CUDA_SUCCESS;
	case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
		*numbers = (int)range->advice.preferred.type;
		return CUDA_SUCCESS;
	case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
		*numbers = range->advice.preferred.id;
		return CUDA_SUCCESS;
	case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
		*numbers = (int)range->advice.prefetched.type;
		return CUDA_SUCCESS;
	case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
		*numbers = range->advice.prefetched.id;
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

static CUmemorytype memory_type(const struct fake_range *range)
{
	return range->kind == FAKE_HOST || range->kind == FAKE_REGISTERED ? CU_MEMORYTYPE_HOST
									  : CU_MEMORYTYPE_DEVICE;
}

/* 0: the attribute is unknown, or this double does not support it. */
static CUresult pointer_attribute(void *data, CUpointer_attribute attribute,
				  const struct fake_range *range, CUdeviceptr address)
{
	switch (attribute) {
	case CU_POINTER_ATTRIBUTE_CONTEXT: /* pool, graph and VMM memory belongs to none */
		*(CUcontext *)data = range->kind == FAKE_POOL || range->kind == FAKE_MAPPED ||
						     range->kind == FAKE_GRAPH_MEMORY
					     ? NULL
					     : fake.devices[range->device].primary;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		*(unsigned *)data = memory_type(range);
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
		*(CUdeviceptr *)data = address;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
		if (memory_type(range) != CU_MEMORYTYPE_HOST && range->kind != FAKE_MANAGED)
			return CUDA_ERROR_INVALID_VALUE;
		*(void **)data = (void *)address;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
		*(unsigned *)data = range->kind == FAKE_MANAGED;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		*(int *)data = range->device;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		*(CUdeviceptr *)data = range->base;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
		*(size_t *)data = range->size;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
		*(bool *)data = range->kind == FAKE_DEVICE;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MAPPED:
		*(bool *)data = true;
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_NOT_SUPPORTED;
	}
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr address)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	const struct fake_range *range = fake_range_find(address, 1);
	if (!range || range->freed || !data)
		return CUDA_ERROR_INVALID_VALUE;
	return pointer_attribute(data, attribute, range, address);
}

/* For an unknown address it returns zeros and no error. */
CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **data,
				CUdeviceptr address)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	static const struct fake_range unknown = {.device = CU_DEVICE_INVALID};
	const struct fake_range *range = fake_range_find(address, 1);
	for (unsigned i = 0; i < count; i++) {
		if (range && !range->freed) {
			(void)pointer_attribute(data[i], attributes[i], range, address);
			continue;
		}
		switch (attributes[i]) {
		case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		case CU_POINTER_ATTRIBUTE_IS_MANAGED:
			*(unsigned *)data[i] = 0;
			break;
		case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
			*(int *)data[i] = unknown.device;
			break;
		default:
			*(void **)data[i] = NULL;
		}
	}
	return CUDA_SUCCESS;
}
