/*
 * Memory that other processes can open: as a descriptor (VMM), or as a handle of 64 bytes that CUDA
 * programs use (cuMemAlloc and cudaIpc). A process that opens such memory maps whole granules. So
 * shared memory has whole granules, and all of them are zeroed before its first use. Thus no
 * process reads bytes of other memory or of an earlier owner.
 */
#include "cuda/memory/state.h"
#include "process_uids.h"
#include "status.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static_assert(sizeof(CUipcMemHandle) == sizeof(((struct backend_shared_memory *)NULL)->handle),
	      "the handle is the driver's");

static bool can_export(const struct backend_device *device, enum backend_export_kind kind)
{
	const struct cuda_library *cuda = &device->backend->library;

	if (kind == BACKEND_EXPORT_VMM)
		return device->facts->vmm && device->facts->posix_descriptors &&
		       cuda->cuMemCreate && cuda->cuMemRelease && cuda->cuMemMap &&
		       cuda->cuMemUnmap && cuda->cuMemSetAccess && cuda->cuMemAddressReserve &&
		       cuda->cuMemAddressFree && cuda->cuMemExportToShareableHandle &&
		       cuda->cuMemImportFromShareableHandle &&
		       cuda->cuMemGetAllocationPropertiesFromHandle;
	return kind == BACKEND_EXPORT_CUDA_IPC && device->facts->unified_addressing &&
	       cuda->cuIpcGetMemHandle && cuda->cuIpcOpenMemHandle && cuda->cuIpcCloseMemHandle;
}

static int cuda_share_check_kind(const struct backend_device *device, enum backend_export_kind kind,
				 struct backend_fault *fault_out)
{
	if (can_export(device, kind))
		return 0;
	return cuda_fault_words(fault_out, -ENOTSUP, STATUS_FEATURE_NOT_SUPPORTED,
				"the device shares no memory of kind %d", (int)kind);
}

/* Rounds up to whole granules; UINT64_MAX if that overflows. */
static uint64_t share_round_up(const struct cuda_memory_state *state, uint64_t size_bytes)
{
	if (size_bytes > UINT64_MAX - state->granule_bytes)
		return UINT64_MAX;
	return (size_bytes + state->granule_bytes - 1) / state->granule_bytes *
	       state->granule_bytes;
}

/* Maps the allocation for reads and writes by this device. `reap` has all that was done, also on
 * failure. */
static CUresult map_allocation(struct backend_device *device, struct cuda_reap *reap,
			       uint64_t size_bytes)
{
	const struct cuda_library *cuda = &device->backend->library;
	const CUmemAccessDesc access = {
		.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device->facts->device},
		.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
	};
	CUdeviceptr address = 0;

	CUresult result = cuda->cuMemAddressReserve(&address, size_bytes, 0, 0, 0);
	if (result != CUDA_SUCCESS)
		return result;
	result = cuda->cuMemMap(address, size_bytes, 0, reap->allocation, 0);
	if (result != CUDA_SUCCESS) {
		(void)cuda->cuMemAddressFree(address, size_bytes);
		return result;
	}
	reap->address = address;
	reap->size_bytes = size_bytes;
	return cuda->cuMemSetAccess(address, size_bytes, &access, 1);
}

static CUresult create_mapping(struct backend_device *device, struct cuda_reap *reap,
			       uint64_t size_bytes)
{
	const struct cuda_library *cuda = &device->backend->library;
	const CUmemAllocationProp properties = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
		.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device->facts->device},
	};
	CUresult result = cuda->cuMemCreate(&reap->allocation, size_bytes, &properties, 0);

	return result == CUDA_SUCCESS ? map_allocation(device, reap, size_bytes) : result;
}

/* The zeroing has its own stream, so it does not wait for kernels. Commands that use the memory
 * wait for the event `zeroed` (cuda_memory_settle). */
static CUresult start_zeroing(struct backend_device *device, struct cuda_reap *reap,
			      uint64_t size_bytes)
{
	const struct cuda_library *cuda = &device->backend->library;
	CUstream stream = device->memory->zero_stream;
	CUresult result = cuda->cuEventCreate(&reap->zeroed,
					      CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC);

	if (result != CUDA_SUCCESS) {
		reap->zeroed = NULL;
		return result;
	}
	result = cuda->cuMemsetD32Async(reap->address, 0, size_bytes / sizeof(uint32_t), stream);
	if (result != CUDA_SUCCESS)
		return result;
	result = cuda->cuEventRecord(reap->zeroed, stream);
	/* Without the event, only this wait shows when the memory may be freed. */
	if (result != CUDA_SUCCESS)
		(void)cuda->cuStreamSynchronize(stream);
	return result;
}

/* Frees a half-made allocation. */
static void undo_allocation(struct backend_device *device, struct cuda_reap *reap)
{
	if (reap->address || reap->allocation)
		cuda_reap_send(&device->memory->reaper, reap);
	else
		free(reap);
}

int cuda_share_create(struct backend_device *device, struct backend_memory *memory,
		      struct backend_fault *fault_out)
{
	struct cuda_memory_state *state = device->memory;
	const struct cuda_library *cuda = &device->backend->library;
	bool vmm = memory->export_kind == BACKEND_EXPORT_VMM;
	uint64_t size_bytes = share_round_up(state, memory->size_bytes);

	int error = cuda_share_check_kind(device, memory->export_kind, fault_out);
	if (error < 0)
		return error;
	struct cuda_reap *reap = cuda_reap_make(vmm ? CUDA_REAP_VMM : CUDA_REAP_PLAIN);
	if (!reap)
		return cuda_no_memory(fault_out, "a memory");
	error = cuda_room_take(state, size_bytes, fault_out);
	if (error < 0) {
		free(reap);
		return error;
	}
	CUresult result = vmm ? create_mapping(device, reap, size_bytes)
			      : cuda->cuMemAlloc(&reap->address, size_bytes);
	if (result == CUDA_SUCCESS)
		result = start_zeroing(device, reap, size_bytes);
	if (result != CUDA_SUCCESS) {
		cuda_room_give(state, size_bytes);
		undo_allocation(device, reap);
		return cuda_fault(device, cuda, result, fault_out,
				  "cannot allocate %llu bytes to share",
				  (unsigned long long)size_bytes);
	}
	reap->room_bytes = size_bytes;
	memory->reap = reap;
	memory->origin = vmm ? CUDA_ORIGIN_VMM : CUDA_ORIGIN_PLAIN;
	memory->address = reap->address;
	memory->allocation = reap->allocation;
	memory->reserved_bytes = size_bytes;
	memory->zeroed = reap->zeroed;
	return 0;
}

/* Called before another process can read the memory. The memset has nearly always ended long ago.
 * It is late only if kernels leave no multiprocessor free. */
static CUresult finish_zeroing(struct backend_memory *memory)
{
	const struct cuda_library *cuda = &memory->device->backend->library;

	if (!memory->zeroed || atomic_load(&memory->settled))
		return CUDA_SUCCESS;
	CUresult result = cuda->cuEventSynchronize(memory->zeroed);
	if (result == CUDA_SUCCESS)
		atomic_store(&memory->settled, true);
	return result;
}

static CUresult export_descriptor(struct backend_memory *memory,
				  struct backend_shared_memory *shared)
{
	const struct cuda_library *cuda = &memory->device->backend->library;
	int descriptor = -1;

	CUresult result = cuda->cuMemExportToShareableHandle(
		&descriptor, memory->allocation, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
	if (result != CUDA_SUCCESS)
		return result;
	/* The driver has made the descriptor without the flag. An engine executes no program, so
	 * the moment without the flag does no harm. */
	(void)fcntl(descriptor, F_SETFD, FD_CLOEXEC);
	shared->descriptor = descriptor;
	return CUDA_SUCCESS;
}

static CUresult export_handle(struct backend_memory *memory, struct backend_shared_memory *shared)
{
	CUipcMemHandle handle;
	CUresult result =
		memory->device->backend->library.cuIpcGetMemHandle(&handle, memory->address);

	if (result == CUDA_SUCCESS)
		memcpy(shared->handle, &handle, sizeof(shared->handle));
	return result;
}

int cuda_memory_export(struct backend_memory *memory, struct backend_shared_memory *shared_out,
		       struct backend_fault *fault_out)
{
	struct backend_device *device = memory->device;
	struct backend_shared_memory shared = {
		.kind = memory->export_kind,
		.descriptor = -1,
		.size_bytes = memory->reserved_bytes,
	};

	int error = cuda_enter(device, fault_out);
	if (error < 0)
		return error;
	if (memory->export_kind == BACKEND_EXPORT_NONE || memory->imported)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
					"the memory was not made to be shared");
	CUresult result = finish_zeroing(memory);
	if (result == CUDA_SUCCESS && memory->export_kind == BACKEND_EXPORT_VMM)
		result = export_descriptor(memory, &shared);
	else if (result == CUDA_SUCCESS)
		result = export_handle(memory, &shared);
	if (result != CUDA_SUCCESS)
		return cuda_fault(device, &device->backend->library, result, fault_out,
				  "cannot share memory");
	*shared_out = shared;
	return 0;
}

/* Checks the real kind of the descriptor, whatever its sender claimed. */
static int check_allocation(struct backend_device *device, CUmemGenericAllocationHandle allocation,
			    struct backend_fault *fault_out)
{
	const struct cuda_library *cuda = &device->backend->library;
	CUmemAllocationProp properties = {0};

	CUresult result = cuda->cuMemGetAllocationPropertiesFromHandle(&properties, allocation);
	if (result != CUDA_SUCCESS)
		return cuda_fault(device, cuda, result, fault_out, "cannot import memory");
	if (properties.location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
	    properties.location.id != device->facts->device)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
					"the imported memory is not of this device");
	return 0;
}

/* The sender only claims a size. Mapping more than the driver's real size fails. */
static int import_descriptor(struct backend_device *device,
			     const struct backend_shared_memory *shared, struct cuda_reap *reap,
			     struct backend_fault *fault_out)
{
	const struct cuda_library *cuda = &device->backend->library;
	uint64_t granule = device->memory->granule_bytes;

	if (shared->size_bytes == 0 || shared->size_bytes % granule != 0)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
					"imported memory must be of whole granules of %llu bytes",
					(unsigned long long)granule);
	CUresult result = cuda->cuMemImportFromShareableHandle(
		&reap->allocation, (void *)(uintptr_t)shared->descriptor,
		CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
	if (result != CUDA_SUCCESS) {
		reap->allocation = 0;
		return cuda_fault(device, cuda, result, fault_out, "cannot import memory");
	}
	int error = check_allocation(device, reap->allocation, fault_out);
	if (error < 0)
		return error;
	result = map_allocation(device, reap, shared->size_bytes);
	if (result != CUDA_SUCCESS)
		return cuda_fault(device, cuda, result, fault_out, "cannot map %llu imported bytes",
				  (unsigned long long)shared->size_bytes);
	return 0;
}

/*
 * A handle of another user is refused, because the driver would open it (measured, H200, driver
 * 580). The bytes at PROCESS_AT are the number of the process that made the handle. The driver
 * finds the memory by this number; with another number it finds none.
 */
static int check_user(const struct backend_shared_memory *shared, struct backend_fault *fault_out)
{
	enum { PROCESS_AT = 8 };
	uint32_t pid;

	memcpy(&pid, shared->handle + PROCESS_AT, sizeof(pid));
	/* If the process does not exist, or is in another namespace, the driver decides whether
	 * there is such memory. */
	if (process_has_uid((pid_t)pid, geteuid()) != -ESRCH)
		return 0;
	return cuda_fault_words(
		fault_out, -EACCES, STATUS_INVALID,
		"the memory is another user's: a cudaIpc handle is good for one user's processes, descriptors for others");
}

static int import_handle(struct backend_device *device, const struct backend_shared_memory *shared,
			 uint64_t size_bytes, struct cuda_reap *reap,
			 struct backend_fault *fault_out)
{
	const struct cuda_library *cuda = &device->backend->library;
	CUdeviceptr address = 0, base = 0;
	CUipcMemHandle handle;
	size_t mapped = 0;

	int error = check_user(shared, fault_out);
	if (error < 0)
		return error;
	memcpy(&handle, shared->handle, sizeof(handle));
	CUresult result =
		cuda->cuIpcOpenMemHandle(&address, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
	if (result != CUDA_SUCCESS)
		return cuda_fault(device, cuda, result, fault_out, "cannot import memory");
	reap->address = address;
	/* The ranges of kernels are checked against this size, so it must be the driver's and not
	 * the sender's. */
	result = cuda->cuMemGetAddressRange(&base, &mapped, address);
	if (result != CUDA_SUCCESS)
		return cuda_fault(device, cuda, result, fault_out, "cannot import memory");
	if (address < base || address - base > mapped || size_bytes > mapped - (address - base))
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
					"the imported memory has %llu bytes, not %llu",
					(unsigned long long)(mapped - (address - base)),
					(unsigned long long)size_bytes);
	return 0;
}

int cuda_memory_import(struct backend_device *device, const struct backend_shared_memory *shared,
		       uint64_t size_bytes, struct backend_memory **memory_out,
		       struct backend_fault *fault_out)
{
	bool vmm = shared->kind == BACKEND_EXPORT_VMM;

	int error = cuda_enter(device, fault_out);
	if (error == 0)
		error = cuda_share_check_kind(device, shared->kind, fault_out);
	if (error < 0)
		return error;
	if (size_bytes == 0 || size_bytes > shared->size_bytes || (vmm && shared->descriptor < 0))
		return cuda_fault_words(
			fault_out, -EINVAL, STATUS_INVALID,
			"the size or the descriptor of the memory to import is invalid");
	struct backend_memory *memory = calloc(1, sizeof(*memory));
	struct cuda_reap *reap = cuda_reap_make(vmm ? CUDA_REAP_VMM : CUDA_REAP_IPC);
	if (!memory || !reap) {
		free(memory);
		free(reap);
		return cuda_no_memory(fault_out, "a memory");
	}
	error = vmm ? import_descriptor(device, shared, reap, fault_out)
		    : import_handle(device, shared, size_bytes, reap, fault_out);
	if (error < 0) {
		undo_allocation(device, reap);
		free(memory);
		return error;
	}
	memory->device = device;
	memory->address = reap->address;
	memory->size_bytes = size_bytes;
	memory->reserved_bytes = shared->size_bytes;
	memory->export_kind = shared->kind;
	memory->imported = true;
	memory->allocation = reap->allocation;
	memory->origin = vmm ? CUDA_ORIGIN_VMM : CUDA_ORIGIN_IPC;
	memory->reap = reap;
	*memory_out = memory;
	return 0;
}
