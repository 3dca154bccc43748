/*
 * The driver's table of addresses. Device addresses lie in a range of their own without access; the
 * bytes are elsewhere. So a host program that dereferences a device address crashes at once. There
 * is a gap between any two ranges.
 */
#include "fake.h"
#include "fake_memory_file.h"

#include "fake_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SPACE_BYTES  ((size_t)1 << 38)
#define GAP          ((size_t)64 << 10)
#define POISON       0xf5
#define POISON_LIMIT ((size_t)8 << 20)

static CUdeviceptr space, cursor;
static struct fake_range **ranges; /* by address */
static size_t range_count, range_capacity;

struct fake_range *fake_range_at(size_t index)
{
	return ranges[index];
}

size_t fake_range_count(void)
{
	return range_count;
}

/* The first range that ends behind the address. */
static size_t memory_position(CUdeviceptr address)
{
	size_t low = 0, high = range_count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		if (ranges[middle]->base + ranges[middle]->size <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct fake_range *fake_range_find(CUdeviceptr address, size_t size)
{
	size_t at = memory_position(address);

	if (at == range_count || ranges[at]->base > address)
		return NULL;
	struct fake_range *range = ranges[at];
	if (range->kind == FAKE_RESERVED || size > range->base + range->size - address)
		return NULL;
	return range;
}

bool fake_overlaps(CUdeviceptr base, size_t size)
{
	size_t at = memory_position(base);

	return at < range_count && ranges[at]->base < base + size;
}

struct fake_range *fake_range_insert(const struct fake_range *range)
{
	struct fake_range *copy = malloc(sizeof(*copy));

	if (range_count == range_capacity) {
		range_capacity = range_capacity ? range_capacity * 2 : 256;
		ranges = reallocarray(ranges, range_capacity, sizeof(*ranges));
	}
	if (!copy || !ranges)
		abort();
	*copy = *range;
	size_t at = memory_position(range->base);
	memmove(&ranges[at + 1], &ranges[at], (range_count - at) * sizeof(*ranges));
	ranges[at] = copy;
	range_count++;
	return copy;
}

CUresult fake_addresses_take(size_t size, size_t alignment, CUdeviceptr *base_out)
{
	if (!space) {
		void *all = mmap(NULL, SPACE_BYTES, PROT_NONE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (all == MAP_FAILED)
			return CUDA_ERROR_OUT_OF_MEMORY;
		space = ((CUdeviceptr)all + FAKE_GRANULE - 1) & ~(CUdeviceptr)(FAKE_GRANULE - 1);
		cursor = space;
	}
	if (size > SPACE_BYTES / 2)
		return CUDA_ERROR_OUT_OF_MEMORY;
	for (int round = 0; round < 2; cursor = space, round++) {
		for (CUdeviceptr base = (cursor + alignment - 1) & ~(CUdeviceptr)(alignment - 1);
		     ;) {
			CUdeviceptr end = base + size + GAP;
			if (end > space + SPACE_BYTES - 2 * FAKE_GRANULE)
				break;
			size_t at = memory_position(base);
			if (at == range_count || ranges[at]->base >= end) {
				cursor = end;
				*base_out = base;
				return CUDA_SUCCESS;
			}
			base = (ranges[at]->base + ranges[at]->size + GAP + alignment - 1) &
			       ~(CUdeviceptr)(alignment - 1);
		}
	}
	return CUDA_ERROR_OUT_OF_MEMORY;
}

/* The first contents of a new allocation are undefined. */
void fake_poison(void *bytes, size_t size)
{
	memset(bytes, POISON, size < POISON_LIMIT ? size : POISON_LIMIT);
	if (size > POISON_LIMIT)
		memset((char *)bytes + size - POISON_LIMIT, POISON, POISON_LIMIT);
}

size_t fake_device_free_bytes(int device)
{
	const struct fake_device *at = &fake.devices[device];

	fake_memory_file_note(device);
	size_t used = at->used_bytes + fake_memory_file_others(device);
	return used < at->total_bytes ? at->total_bytes - used : 0;
}

static size_t page_round(size_t size)
{
	return (size + 4095) & ~(size_t)4095;
}

/*
 * Makes a range with storage. Device addresses are multiples of 512 and of nothing more, as those
 * of the real driver may be. Memory of a pool or of cuMemAlloc that fits in one granule may share
 * it with other memory.
 */
CUresult fake_range_add(enum fake_kind kind, int device, size_t size, struct fake_range **range_out)
{
	struct fake_range range = {
		.kind = kind, .device = device, .size = size, .file = -1, .live = true};
	bool on_host = kind == FAKE_HOST || kind == FAKE_MANAGED;

	range.host_bytes = page_round(size);
	if (kind == FAKE_DEVICE) /* sharing it shares whole granules */
		range.host_bytes = (size + FAKE_GRANULE - 1) & ~(FAKE_GRANULE - 1);
	range.host = mmap(NULL, range.host_bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (range.host == MAP_FAILED)
		return CUDA_ERROR_OUT_OF_MEMORY;
	fake_poison(range.host, size);
	range.base = (CUdeviceptr)range.host;
	CUdeviceptr base = 0;
	CUresult result = on_host ? CUDA_SUCCESS : fake_addresses_take(size + 512, 1024, &base);
	if (result != CUDA_SUCCESS) {
		(void)munmap(range.host, range.host_bytes);
		return result;
	}
	if (!on_host)
		range.base = base + 512;
	*range_out = fake_range_insert(&range);
	return CUDA_SUCCESS;
}

/* Moves its bytes to a file while no operation uses them. Their address stays the same. */
CUresult fake_range_share(struct fake_range *range)
{
	if (range->shared_name[0])
		return CUDA_SUCCESS;
	while (range->busy && !fake.sticky)
		fake_wait_changed();
	int file = fake_file_make("memory", range->host_bytes, range->shared_name,
				  sizeof(range->shared_name));
	if (file < 0)
		return CUDA_ERROR_OPERATING_SYSTEM;
	void *shared = mmap(NULL, range->host_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	(void)close(file);
	if (shared != MAP_FAILED) {
		memcpy(shared, range->host, range->host_bytes);
		shared = mremap(shared, range->host_bytes, range->host_bytes,
				MREMAP_MAYMOVE | MREMAP_FIXED, range->host);
	}
	if (shared != MAP_FAILED)
		return CUDA_SUCCESS;
	fake_file_remove(range->shared_name);
	range->shared_name[0] = 0;
	return CUDA_ERROR_OUT_OF_MEMORY;
}

static void range_remove(struct fake_range *range)
{
	size_t at = memory_position(range->base);

	memmove(&ranges[at], &ranges[at + 1], (range_count - at - 1) * sizeof(*ranges));
	range_count--;
	if (range->kind == FAKE_MAPPED)
		fake_physical_unmap(range);
	else if (range->kind != FAKE_REGISTERED && range->host)
		(void)munmap(range->host, range->host_bytes);
	if (range->shared_name[0])
		fake_file_remove(range->shared_name);
	if (range->file >= 0)
		(void)close(range->file);
	free(range);
}

void fake_range_drop(struct fake_range *range)
{
	range->freed = true;
	if (range->busy == 0)
		range_remove(range);
	else
		fake_misuse("memory at 0x%llx is freed while a command uses it", range->base);
}

void fake_range_unbusy(struct fake_range *range)
{
	if (--range->busy)
		return;
	(void)pthread_cond_broadcast(&fake.changed);
	if (range->freed && !range->pool)
		range_remove(range);
}

unsigned char *fake_range_bytes(struct fake_range *range, CUdeviceptr address)
{
	return range->host + (address - range->base);
}

CUresult cuMemGetInfo(size_t *free_out, size_t *total_out)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	int device = fake_current()->device;
	*free_out = fake_device_free_bytes(device);
	*total_out = fake.devices[device].total_bytes;
	return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr *address_out, size_t size)
{
	ENTER(NEED_CONTEXT | UNSAFE);
	LOCKED();
	struct fake_range *range;
	int device = fake_current()->device;
	if (!size || !address_out)
		return CUDA_ERROR_INVALID_VALUE;
	if (size > fake_device_free_bytes(device))
		return CUDA_ERROR_OUT_OF_MEMORY;
	CUresult result = fake_range_add(FAKE_DEVICE, device, size, &range);
	if (result != CUDA_SUCCESS)
		return result;
	fake.devices[device].used_bytes += size;
	fake_number_add("allocations", 1);
	*address_out = range->base;
	return CUDA_SUCCESS;
}

static struct fake_range *find_base(CUdeviceptr address, enum fake_kind kind)
{
	struct fake_range *range = fake_range_find(address, 1);

	if (range && range->base == address && range->kind == kind && !range->freed)
		return range;
	fake_misuse("0x%llx is not the beginning of an allocation of this kind", address);
	return NULL;
}

CUresult cuMemFree(CUdeviceptr address)
{
	ENTER(NEED_INIT | WAITS | HOLDS);
	LOCKED();
	if (!address)
		return CUDA_SUCCESS;
	struct fake_range *range = fake_range_find(address, 1);
	if (range && range->base == address && !range->freed && (range->kind == FAKE_POOL)) {
		fake_free_in_order(range);
		return CUDA_SUCCESS;
	}
	range = range && range->kind == FAKE_MANAGED ? find_base(address, FAKE_MANAGED)
						     : find_base(address, FAKE_DEVICE);
	if (!range)
		return CUDA_ERROR_INVALID_VALUE;
	if (range->kind == FAKE_DEVICE)
		fake.devices[range->device].used_bytes -= range->size;
	fake_number_add("allocations", -1);
	fake_range_drop(range);
	return CUDA_SUCCESS;
}

CUresult cuMemGetAddressRange(CUdeviceptr *base_out, size_t *size_out, CUdeviceptr address)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	const struct fake_range *range = fake_range_find(address, 1);
	if (!range || range->freed)
		return CUDA_ERROR_NOT_FOUND;
	if (base_out)
		*base_out = range->base;
	if (size_out)
		*size_out = range->size;
	return CUDA_SUCCESS;
}
