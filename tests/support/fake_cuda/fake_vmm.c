/* Memory apart from its addresses, and memory of other processes. Descriptors are memfds with a
 * name of the double. */
#include "fake.h"

#include "fake_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct fake_physical {
	unsigned references; /* handles and mappings */
	unsigned handles;
	int file, device;
	size_t size;
	bool exportable, imported;
};

#define MEMFD_NAME "fake-cuda-vmm-"

static void physical_unref(struct fake_physical *physical)
{
	if (--physical->references)
		return;
	(void)close(physical->file);
	/* Imported memory is counted by the process that exports it. */
	if (!physical->imported)
		fake.devices[physical->device].used_bytes -= physical->size;
	fake_handle_retire(FAKE_PHYSICAL, physical);
}

static struct fake_physical *physical_of(CUmemGenericAllocationHandle handle)
{
	struct fake_physical *physical = (struct fake_physical *)(uintptr_t)handle;

	if (!fake_handle_alive(FAKE_PHYSICAL, physical))
		return NULL;
	if (!physical->handles) {
		fake_misuse("a VMM allocation is used after its release");
		return NULL;
	}
	return physical;
}

void fake_physical_unmap(struct fake_range *range)
{
	(void)munmap(range->host, range->host_bytes);
	physical_unref(range->physical);
}

static bool properties_are_good(const CUmemAllocationProp *properties)
{
	return properties && properties->type == CU_MEM_ALLOCATION_TYPE_PINNED &&
	       properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
	       properties->location.id >= 0 && properties->location.id < fake.device_count;
}

CUresult cuMemGetAllocationGranularity(size_t *granule_out, const CUmemAllocationProp *properties,
				       CUmemAllocationGranularity_flags option)
{
	ENTER(NEED_INIT);
	(void)option;
	if (!properties_are_good(properties))
		return CUDA_ERROR_INVALID_VALUE;
	*granule_out = FAKE_GRANULE;
	return CUDA_SUCCESS;
}

static struct fake_physical *physical_make(int file, int device, size_t size)
{
	struct fake_physical *physical = calloc(1, sizeof(*physical));

	if (!physical)
		return NULL;
	*physical = (struct fake_physical){
		.references = 1, .handles = 1, .file = file, .device = device, .size = size};
	fake_handle_add(FAKE_PHYSICAL, physical);
	fake_number_add("vmm_handles", 1);
	return physical;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle_out, size_t size,
		     const CUmemAllocationProp *properties, unsigned long long flags)
{
	ENTER(NEED_INIT);
	LOCKED();
	char name[32];
	if (!properties_are_good(properties) || flags || !size || size % FAKE_GRANULE)
		return CUDA_ERROR_INVALID_VALUE;
	int device = properties->location.id;
	if (size > fake_device_free_bytes(device))
		return CUDA_ERROR_OUT_OF_MEMORY;
	(void)snprintf(name, sizeof(name), MEMFD_NAME "%d", device);
	int file = memfd_create(name, MFD_CLOEXEC);
	if (file < 0 || ftruncate(file, (off_t)size) < 0) {
		if (file >= 0)
			(void)close(file);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	struct fake_physical *physical = physical_make(file, device, size);
	if (!physical) {
		(void)close(file);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	physical->exportable =
		properties->requestedHandleTypes & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
	fake.devices[device].used_bytes += size;
	*handle_out = (CUmemGenericAllocationHandle)(uintptr_t)physical;
	return CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
	ENTER(NEED_INIT);
	LOCKED();
	struct fake_physical *physical = physical_of(handle);
	if (!physical)
		return CUDA_ERROR_INVALID_VALUE;
	physical->handles--;
	fake_number_add("vmm_handles", -1);
	physical_unref(physical);
	return CUDA_SUCCESS;
}

CUresult cuMemAddressReserve(CUdeviceptr *address_out, size_t size, size_t alignment,
			     CUdeviceptr wish, unsigned long long flags)
{
	ENTER(NEED_INIT);
	LOCKED();
	(void)wish;
	if (flags || !size || size % FAKE_GRANULE || (alignment & (alignment - 1)))
		return CUDA_ERROR_INVALID_VALUE;
	struct fake_range range = {.kind = FAKE_RESERVED, .size = size, .file = -1, .live = true};
	CUresult result = fake_addresses_take(
		size, alignment > FAKE_GRANULE ? alignment : FAKE_GRANULE, &range.base);
	if (result != CUDA_SUCCESS)
		return result;
	(void)fake_range_insert(&range);
	fake_number_add("reservations", 1);
	*address_out = range.base;
	return CUDA_SUCCESS;
}

/* Returns the range that begins there, mapped or not. */
static struct fake_range *piece_at(CUdeviceptr address)
{
	for (size_t i = 0; i < fake_range_count(); i++)
		if (fake_range_at(i)->base == address)
			return fake_range_at(i);
	return NULL;
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t size)
{
	ENTER(NEED_INIT);
	LOCKED();
	CUdeviceptr end = address + size;
	while (address < end) {
		struct fake_range *piece = piece_at(address);
		if (!piece || piece->kind != FAKE_RESERVED || piece->base + piece->size > end) {
			fake_misuse("0x%llx is freed but not reserved, or still mapped", address);
			return CUDA_ERROR_INVALID_VALUE;
		}
		address += piece->size;
		fake_range_drop(piece);
	}
	fake_number_add("reservations", -1);
	return CUDA_SUCCESS;
}

/* Takes [address, address + size) out of a reservation. The rest stays reserved. */
static bool reservation_carve(CUdeviceptr address, size_t size)
{
	for (size_t i = 0; i < fake_range_count(); i++) {
		struct fake_range *piece = fake_range_at(i);
		if (piece->kind != FAKE_RESERVED || address < piece->base ||
		    address + size > piece->base + piece->size)
			continue;
		struct fake_range before = *piece, after = *piece;
		before.size = address - piece->base;
		after.base = address + size;
		after.size = piece->base + piece->size - after.base;
		fake_range_drop(piece);
		if (before.size)
			(void)fake_range_insert(&before);
		if (after.size)
			(void)fake_range_insert(&after);
		return true;
	}
	return false;
}

CUresult cuMemMap(CUdeviceptr address, size_t size, size_t offset,
		  CUmemGenericAllocationHandle handle, unsigned long long flags)
{
	ENTER(NEED_INIT);
	LOCKED();
	struct fake_physical *physical = physical_of(handle);
	if (!physical || flags || offset || size > physical->size || !size || size % FAKE_GRANULE)
		return CUDA_ERROR_INVALID_VALUE;
	void *host = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, physical->file, 0);
	if (host == MAP_FAILED)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (!reservation_carve(address, size)) {
		fake_misuse("0x%llx is mapped but not reserved", address);
		(void)munmap(host, size);
		return CUDA_ERROR_INVALID_VALUE;
	}
	const struct fake_range range = {.kind = FAKE_MAPPED,
					 .device = physical->device,
					 .base = address,
					 .size = size,
					 .host = host,
					 .host_bytes = size,
					 .file = -1,
					 .live = true,
					 .physical = physical};
	physical->references++;
	(void)fake_range_insert(&range);
	fake_number_add("mappings", 1);
	return CUDA_SUCCESS;
}

CUresult cuMemUnmap(CUdeviceptr address, size_t size)
{
	ENTER(NEED_INIT);
	LOCKED();
	struct fake_range *piece = piece_at(address);
	if (!piece || piece->kind != FAKE_MAPPED || piece->size != size) {
		fake_misuse("0x%llx is unmapped, but no mapping of this size begins there",
			    address);
		return CUDA_ERROR_INVALID_VALUE;
	}
	if (piece->busy)
		fake_misuse("0x%llx is unmapped while a command uses it", address);
	const struct fake_range reserved = {
		.kind = FAKE_RESERVED, .base = address, .size = size, .file = -1, .live = true};
	fake_range_drop(piece);
	if (!fake_overlaps(address, size))
		(void)fake_range_insert(&reserved);
	fake_number_add("mappings", -1);
	return CUDA_SUCCESS;
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t size, const CUmemAccessDesc *map, size_t count)
{
	ENTER(NEED_INIT);
	LOCKED();
	struct fake_range *piece = piece_at(address);
	if (!piece || piece->kind != FAKE_MAPPED || piece->size != size)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < count; i++) {
		int device = map[i].location.id;
		if (map[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE || device < 0 ||
		    device >= fake.device_count)
			return CUDA_ERROR_INVALID_DEVICE;
		if (device != piece->device && fake_number("setting no_peer"))
			return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
		if (map[i].flags == CU_MEM_ACCESS_FLAGS_PROT_NONE)
			piece->access &= ~(1u << device);
		else
			piece->access |= 1u << device;
	}
	return CUDA_SUCCESS;
}

CUresult cuMemGetAccess(unsigned long long *flags_out, const CUmemLocation *location,
			CUdeviceptr address)
{
	ENTER(NEED_INIT);
	LOCKED();
	const struct fake_range *range = fake_range_find(address, 1);
	if (!range || location->type != CU_MEM_LOCATION_TYPE_DEVICE || location->id < 0 ||
	    location->id >= 32)
		return CUDA_ERROR_INVALID_VALUE;
	*flags_out = range->access & 1u << location->id ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
							: CU_MEM_ACCESS_FLAGS_PROT_NONE;
	return CUDA_SUCCESS;
}

CUresult cuMemExportToShareableHandle(void *shareable_out, CUmemGenericAllocationHandle handle,
				      CUmemAllocationHandleType type, unsigned long long flags)
{
	ENTER(NEED_INIT);
	LOCKED();
	const struct fake_physical *physical = physical_of(handle);
	if (!physical || flags || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
	    !physical->exportable) {
		fake_misuse("memory is exported that was created without export");
		return CUDA_ERROR_INVALID_VALUE;
	}
	int file = dup(physical->file); /* without CLOEXEC, as the real driver does it */
	if (file < 0)
		return CUDA_ERROR_OPERATING_SYSTEM;
	*(int *)shareable_out = file;
	return CUDA_SUCCESS;
}

/* Returns the device of a descriptor, by the file's name. -1: it is not the double's. */
static int device_of_descriptor(int file)
{
	char link[64], target[128];
	int device;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
	ssize_t length = readlink(link, target, sizeof(target) - 1);
	if (length < 0)
		return -1;
	target[length] = 0;
	if (sscanf(target, "/memfd:" MEMFD_NAME "%d", &device) != 1 || device < 0 ||
	    device >= fake.device_count)
		return -1;
	return device;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle_out, void *os_handle,
					CUmemAllocationHandleType type)
{
	ENTER(NEED_INIT);
	LOCKED();
	struct stat status;
	int shared = (int)(intptr_t)os_handle, device = device_of_descriptor(shared);
	if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || device < 0 ||
	    fstat(shared, &status) < 0)
		return CUDA_ERROR_INVALID_VALUE;
	int file = dup(shared);
	if (file < 0)
		return CUDA_ERROR_OPERATING_SYSTEM;
	struct fake_physical *physical = physical_make(file, device, (size_t)status.st_size);
	if (!physical) {
		(void)close(file);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	physical->imported = true;
	*handle_out = (CUmemGenericAllocationHandle)(uintptr_t)physical;
	return CUDA_SUCCESS;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle_out, void *address)
{
	ENTER(NEED_INIT);
	LOCKED();
	const struct fake_range *range = fake_range_find((CUdeviceptr)address, 1);
	if (!range || range->kind != FAKE_MAPPED)
		return CUDA_ERROR_INVALID_VALUE;
	range->physical->references++;
	range->physical->handles++;
	fake_number_add("vmm_handles", 1);
	*handle_out = (CUmemGenericAllocationHandle)(uintptr_t)range->physical;
	return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *properties_out,
						CUmemGenericAllocationHandle handle)
{
	ENTER(NEED_INIT);
	LOCKED();
	const struct fake_physical *physical = physical_of(handle);
	if (!physical)
		return CUDA_ERROR_INVALID_VALUE;
	memset(properties_out, 0, sizeof(*properties_out));
	properties_out->type = CU_MEM_ALLOCATION_TYPE_PINNED;
	properties_out->location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	properties_out->location.id = physical->device;
	properties_out->requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
	return CUDA_SUCCESS;
}

/* 64 bytes: the name of the memory, then the device and the size. */
/* The process number stands at the same place as in a handle of NVIDIA's driver (measured, driver
 * 580). */
struct ipc_handle {
	uint64_t check;
	uint32_t process;
	int32_t device;
	uint64_t size;
	char name[40];
};
_Static_assert(sizeof(struct ipc_handle) == sizeof(CUipcMemHandle), "a handle is 64 bytes");
#define IPC_CHECK UINT64_C(0x66616b65697063)

CUresult cuIpcGetMemHandle(CUipcMemHandle *handle_out, CUdeviceptr address)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	struct fake_range *range = fake_range_find(address, 1);
	struct ipc_handle handle = {.check = IPC_CHECK, .process = (uint32_t)getpid()};
	if (!range || range->kind != FAKE_DEVICE || range->freed) {
		fake_misuse("an IPC handle exists only for memory of cuMemAlloc");
		return CUDA_ERROR_INVALID_VALUE;
	}
	if (range->size % FAKE_GRANULE)
		fake_misuse("sharing %zu bytes also shares other allocations in the last granule",
			    range->size);
	CUresult result = fake_range_share(range);
	if (result != CUDA_SUCCESS)
		return result;
	memcpy(handle.name, range->shared_name,
	       strnlen(range->shared_name, sizeof(handle.name) - 1));
	handle.device = range->device;
	handle.size = range->size;
	memcpy(handle_out, &handle, sizeof(handle));
	return CUDA_SUCCESS;
}

CUresult cuIpcOpenMemHandle(CUdeviceptr *address_out, CUipcMemHandle handle, unsigned flags)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	struct ipc_handle from;
	char name[64] = "";
	struct stat status;
	int process = 0;
	memcpy(&from, &handle, sizeof(from));
	memcpy(name, from.name, sizeof(from.name) - 1);
	if (from.check != IPC_CHECK || !from.size || (flags & ~1u))
		return CUDA_ERROR_INVALID_VALUE;
	if (sscanf(name, "fake-cuda.%d.", &process) != 1 || from.process != (uint32_t)process)
		return CUDA_ERROR_INVALID_VALUE;
	if (process == (int)getpid()) {
		fake_misuse("a handle is opened in the process that made it");
		return CUDA_ERROR_INVALID_CONTEXT;
	}
	int file = fake_file_open("memory", name);
	if (file < 0)
		return CUDA_ERROR_INVALID_VALUE;
	struct fake_range range = {.kind = FAKE_IPC,
				   .device = fake_current()->device,
				   .size = from.size,
				   .file = file,
				   .live = true};
	CUdeviceptr base = 0;
	range.host_bytes = (from.size + FAKE_GRANULE - 1) & ~(FAKE_GRANULE - 1);
	range.host = MAP_FAILED;
	if (fstat(file, &status) == 0 && (size_t)status.st_size >= range.host_bytes)
		range.host =
			mmap(NULL, range.host_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (range.host == MAP_FAILED ||
	    fake_addresses_take(range.host_bytes, FAKE_GRANULE, &base) != CUDA_SUCCESS) {
		if (range.host != MAP_FAILED)
			(void)munmap(range.host, range.host_bytes);
		(void)close(file);
		return CUDA_ERROR_MAP_FAILED;
	}
	range.base = base;
	(void)fake_range_insert(&range);
	fake_number_add("ipc_open", 1);
	*address_out = base;
	return CUDA_SUCCESS;
}

CUresult cuIpcCloseMemHandle(CUdeviceptr address)
{
	ENTER(NEED_INIT | WAITS | HOLDS);
	LOCKED();
	struct fake_range *range = fake_range_find(address, 1);
	if (!range || range->kind != FAKE_IPC || range->base != address) {
		fake_misuse("0x%llx is closed, but was not opened from a handle", address);
		return CUDA_ERROR_INVALID_VALUE;
	}
	fake_number_add("ipc_open", -1);
	fake_range_drop(range);
	return CUDA_SUCCESS;
}
