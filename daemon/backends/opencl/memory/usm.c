#include "opencl/memory/usm.h"

#include "opencl/driver/aspects.h"
#include "opencl/driver/fault.h"
#include "opencl/driver/sent.h"
#include "opencl/driver/leaving.h"
#include "opencl/driver/query.h"
#include "protocol_limits.h"
#include "status.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ALIGNMENT_MAX    4096u
#define FILL_BLOCK_BYTES 65536u
#define FIRST_CAPACITY   16u
#define NOTHING_BYTES    64u

/* An allocation. The driver may have aligned it to less than requested. */
struct opencl_usm {
	uintptr_t address;
	uint64_t size_bytes;
	void *base;
	enum backend_usm_kind kind;
};

static bool usm_functions_exist(const struct opencl_library *cl)
{
	return cl->SVMAlloc && cl->SVMFree && cl->SetKernelArgSVMPointer && cl->SetKernelExecInfo &&
	       cl->EnqueueSVMMemcpy;
}

void opencl_usm_facts(const struct opencl_library *cl, cl_device_id device, bool runs_here,
		      struct backend_device_facts *facts)
{
	uint64_t svm = usm_functions_exist(cl)
			       ? opencl_device_ulong(cl, device, CL_DEVICE_SVM_CAPABILITIES)
			       : 0;
	bool fine = svm & (CL_DEVICE_SVM_FINE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_SYSTEM);

	if (!(svm & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) || facts->address_bits != 64)
		return;
	facts->features |= BACKEND_FEATURE_USM;
	facts->aspects |= 1ull << OPENCL_ASPECT_USM_DEVICE_ALLOCATIONS;
	if (!fine)
		return;
	facts->aspects |= 1ull << OPENCL_ASPECT_USM_HOST_ALLOCATIONS |
			  1ull << OPENCL_ASPECT_USM_SHARED_ALLOCATIONS;
	if (svm & CL_DEVICE_SVM_ATOMICS)
		facts->aspects |= 1ull << OPENCL_ASPECT_USM_ATOMIC_HOST_ALLOCATIONS |
				  1ull << OPENCL_ASPECT_USM_ATOMIC_SHARED_ALLOCATIONS;
	if (runs_here || svm & CL_DEVICE_SVM_FINE_GRAIN_SYSTEM)
		facts->features |= BACKEND_FEATURE_HOST_ADDRESS;
}

static bool usm_reaches_all(const struct backend_device *device)
{
	return device->facts->features & BACKEND_FEATURE_HOST_ADDRESS;
}

/* The first allocation that begins behind the address. */
static size_t opencl_usm_place_of(const struct backend_device *device, uintptr_t address)
{
	size_t low = 0, high = device->usm_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (device->usm[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct opencl_usm *opencl_usm_find(const struct backend_device *device,
						const void *pointer, uint64_t size_bytes)
{
	size_t at = opencl_usm_place_of(device, (uintptr_t)pointer);
	const struct opencl_usm *usm = at > 0 ? &device->usm[at - 1] : NULL;
	uint64_t offset = usm ? (uintptr_t)pointer - usm->address : 0;

	return usm && offset <= usm->size_bytes && size_bytes <= usm->size_bytes - offset ? usm
											  : NULL;
}

uint64_t opencl_usm_rest(const struct backend_device *device, const void *pointer)
{
	const struct opencl_usm *usm = opencl_usm_find(device, pointer, 1);

	return usm ? usm->address + usm->size_bytes - (uintptr_t)pointer : 0;
}

static int device_reserve_usm(struct backend_device *device)
{
	if (device->usm_count < device->usm_capacity)
		return 0;
	size_t capacity = device->usm_capacity ? device->usm_capacity * 2 : FIRST_CAPACITY;
	struct opencl_usm *more = realloc(device->usm, capacity * sizeof(*more));
	if (!more)
		return -ENOMEM;
	device->usm = more;
	device->usm_capacity = capacity;
	return 0;
}

static int usm_no_memory(uint64_t size_bytes, struct backend_fault *fault_out)
{
	opencl_fault_words(fault_out, STATUS_MEMORY_ALLOCATION, "no USM of %llu bytes",
			   (unsigned long long)size_bytes);
	return -ENOMEM;
}

/*
 * All allocations were announced to every kernel (opencl_usm_announce), so the driver needs them
 * for a kernel, whether the kernel uses them or not. So a freed allocation waits until nothing is
 * in flight. If there is no memory for its record, it stays until the process ends.
 */
static void opencl_give_usm(struct backend_device *device, const struct opencl_usm *usm)
{
	if (usm_reaches_all(device)) {
		(void)munmap(usm->base, usm->size_bytes);
		return;
	}
	struct backend_memory *memory = calloc(1, sizeof(*memory));
	if (!memory)
		return;
	*memory = (struct backend_memory){
		.device = device, .size_bytes = usm->size_bytes, .usm = usm->base};
	opencl_leave(memory);
}

/* Takes memory. Pages have every alignment that may be requested; other memory is larger, so that
 * the address can be aligned. */
static int opencl_take_usm(struct backend_device *device, struct opencl_usm *usm,
			   uint64_t alignment)
{
	if (usm_reaches_all(device)) {
		usm->base = mmap(NULL, usm->size_bytes, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (usm->base == MAP_FAILED)
			return -ENOMEM;
		usm->address = (uintptr_t)usm->base;
		return 0;
	}
	if (!device->usm_nothing)
		device->usm_nothing =
			device->cl->SVMAlloc(device->context, CL_MEM_READ_WRITE, NOTHING_BYTES, 0);
	if (!device->usm_nothing)
		return -ENOMEM;
	cl_svm_mem_flags flags = CL_MEM_READ_WRITE;
	if (usm->kind != BACKEND_USM_DEVICE)
		flags |= CL_MEM_SVM_FINE_GRAIN_BUFFER;
	if (usm->kind != BACKEND_USM_DEVICE &&
	    device->facts->aspects >> OPENCL_ASPECT_USM_ATOMIC_HOST_ALLOCATIONS & 1)
		flags |= CL_MEM_SVM_ATOMICS;
	usm->base = device->cl->SVMAlloc(device->context, flags, usm->size_bytes + alignment, 0);
	if (!usm->base)
		return -ENOMEM;
	usm->address =
		alignment ? ((uintptr_t)usm->base + alignment - 1) & ~(uintptr_t)(alignment - 1)
			  : (uintptr_t)usm->base;
	return 0;
}

static bool has_usm_kind(const struct backend_device *device, enum backend_usm_kind kind)
{
	static const enum opencl_aspect aspects[] = {
		[BACKEND_USM_DEVICE] = OPENCL_ASPECT_USM_DEVICE_ALLOCATIONS,
		[BACKEND_USM_HOST] = OPENCL_ASPECT_USM_HOST_ALLOCATIONS,
		[BACKEND_USM_SHARED] = OPENCL_ASPECT_USM_SHARED_ALLOCATIONS,
	};

	return device->facts->aspects >> aspects[kind] & 1;
}

int opencl_usm_alloc(struct backend_device *device, enum backend_usm_kind kind, uint64_t size_bytes,
		     uint64_t alignment_bytes, void **pointer_out, struct backend_fault *fault_out)
{
	struct opencl_usm usm = {.size_bytes = size_bytes, .kind = kind};

	if (kind < BACKEND_USM_DEVICE || kind > BACKEND_USM_SHARED || size_bytes == 0 ||
	    alignment_bytes > ALIGNMENT_MAX || (alignment_bytes & (alignment_bytes - 1)) != 0) {
		opencl_fault_words(
			fault_out, STATUS_INVALID,
			"USM of kind %d cannot have %llu bytes with an alignment of %llu",
			(int)kind, (unsigned long long)size_bytes,
			(unsigned long long)alignment_bytes);
		return -EINVAL;
	}
	if (!has_usm_kind(device, kind)) {
		opencl_fault_words(fault_out, STATUS_FEATURE_NOT_SUPPORTED,
				   "the device has no USM of kind %d", (int)kind);
		return -ENOTSUP;
	}
	int error = opencl_leaving_check(device, fault_out);
	if (error < 0)
		return error;
	if (size_bytes > device->facts->max_mem_alloc_bytes || device_reserve_usm(device) < 0)
		return usm_no_memory(size_bytes, fault_out);
	while (opencl_take_usm(device, &usm, alignment_bytes) < 0) {
		error = usm_no_memory(size_bytes, fault_out);
		error = opencl_leaving_make_room(device, error, fault_out);
		if (error < 0)
			return error;
	}
	size_t at = opencl_usm_place_of(device, usm.address);
	memmove(&device->usm[at + 1], &device->usm[at], (device->usm_count - at) * sizeof(usm));
	device->usm[at] = usm;
	device->usm_count++;
	device->usm_changes++;
	*pointer_out = (void *)usm.address; // NOLINT(performance-no-int-to-ptr): inside of usm.base
	return 0;
}

void opencl_usm_free(struct backend_device *device, enum backend_usm_kind kind, void *pointer)
{
	(void)kind;
	size_t at = opencl_usm_place_of(device, (uintptr_t)pointer);

	if (!pointer || at == 0 || device->usm[at - 1].address != (uintptr_t)pointer)
		return;
	opencl_give_usm(device, &device->usm[at - 1]);
	memmove(&device->usm[at - 1], &device->usm[at],
		(device->usm_count - at) * sizeof(*device->usm));
	device->usm_count--;
	device->usm_changes++;
}

void opencl_usm_close(struct backend_device *device)
{
	if (device->usm_nothing)
		device->cl->SVMFree(device->context, device->usm_nothing);
	free(device->usm);
}

int opencl_usm_announce(struct backend_kernel *kernel, uint32_t variant,
			struct backend_fault *fault_out)
{
	const struct backend_device *device = kernel->program->device;
	cl_int code = CL_SUCCESS;

	if (usm_reaches_all(device) || !device->usm_nothing ||
	    kernel->usm_changes[variant] == device->usm_changes)
		return 0;
	void **pointers = calloc(device->usm_count + 1, sizeof(void *));
	if (!pointers)
		return usm_no_memory(0, fault_out);
	for (size_t i = 0; i < device->usm_count; i++)
		pointers[i] = device->usm[i].base;
	/* OpenCL ignores an empty list, and then the previous list stays, with freed memory in it.
	 * So the list always has one more entry. */
	pointers[device->usm_count] = device->usm_nothing;
	code = device->cl->SetKernelExecInfo(kernel->kernels[variant], CL_KERNEL_EXEC_INFO_SVM_PTRS,
					     (device->usm_count + 1) * sizeof(void *),
					     (const void *)pointers);
	free((void *)pointers);
	if (code != CL_SUCCESS)
		return opencl_fault_code(fault_out, code, "announce USM to a kernel");
	kernel->usm_changes[variant] = device->usm_changes;
	return 0;
}

static int opencl_copy_usm(struct backend_lane *lane, void *to, const void *from,
			   uint64_t size_bytes, cl_uint wait_count, const cl_event *waits,
			   cl_event *event_out)
{
	return lane->device->cl->EnqueueSVMMemcpy(lane->queue, CL_FALSE, to, from, size_bytes,
						  wait_count, waits, event_out);
}

/* The first block is copied from host memory, and then copies double the filled part. Drivers' own
 * fills work only on memory that the driver has allocated. */
static int opencl_fill_usm(struct backend_lane *lane, const struct backend_command *command,
			   cl_uint wait_count, const cl_event *waits, cl_event *event_out,
			   void **staging_out, struct backend_fault *fault_out)
{
	size_t pattern = command->usm.pattern_bytes;
	uint64_t size = command->usm.size_bytes;
	char *to = command->usm.destination;

	if (pattern == 0 || pattern > FILL_PATTERN_BYTES_MAX) {
		opencl_fault_words(fault_out, STATUS_INVALID,
				   "the pattern of a fill cannot have %zu bytes", pattern);
		return -EINVAL;
	}
	uint64_t done = FILL_BLOCK_BYTES / pattern * pattern;
	if (done > size)
		done = size;
	char *block = malloc(done);
	if (!block)
		return usm_no_memory(done, fault_out);
	for (uint64_t i = 0; i < done; i++)
		block[i] = ((const char *)command->usm.pattern)[i % pattern];
	int code = opencl_copy_usm(lane, to, block, done, wait_count, waits, event_out);
	while (code == CL_SUCCESS && done < size) {
		uint64_t next = done < size - done ? done : size - done;
		cl_event event = NULL;
		code = opencl_copy_usm(lane, to + done, to, next, 0, NULL, &event);
		code = opencl_sent(lane->device->cl, code, event, event_out);
		done += next;
	}
	/* Commands that were sent before a failure still read the block. */
	if (*event_out)
		*staging_out = block;
	else
		free(block);
	return code == CL_SUCCESS ? 0 : opencl_fault_code(fault_out, code, "fill USM");
}

/* OpenCL does nothing for a hint. The hint only keeps its place in the lane. */
static int hint_usm(struct backend_lane *lane, const struct backend_command *command,
		    cl_uint wait_count, const cl_event *waits, cl_event *event_out,
		    struct backend_fault *fault_out)
{
	const struct opencl_usm *usm =
		opencl_usm_find(lane->device, command->usm.destination, command->usm.size_bytes);
	bool known = command->kind == BACKEND_COMMAND_USM_PREFETCH ||
		     (command->usm.advice >= BACKEND_ADVICE_SET_READ_MOSTLY &&
		      command->usm.advice <= BACKEND_ADVICE_UNSET_ACCESSED_BY_HOST);

	if (!usm || usm->kind != BACKEND_USM_SHARED || !known) {
		opencl_fault_words(fault_out, STATUS_INVALID,
				   "prefetch and advice are for shared USM");
		return -EINVAL;
	}
	cl_int code = lane->device->cl->EnqueueMarkerWithWaitList(lane->queue, wait_count, waits,
								  event_out);
	return code == CL_SUCCESS ? 0 : opencl_fault_code(fault_out, code, "mark the queue");
}

int opencl_usm_command(struct backend_lane *lane, const struct backend_command *command,
		       cl_uint wait_count, const cl_event *waits, cl_event *event_out,
		       void **staging_out, struct backend_fault *fault_out)
{
	if (!(lane->device->facts->features & BACKEND_FEATURE_USM)) {
		opencl_fault_words(fault_out, STATUS_FEATURE_NOT_SUPPORTED,
				   "the device has no USM");
		return -ENOTSUP;
	}
	if (command->kind == BACKEND_COMMAND_USM_FILL)
		return opencl_fill_usm(lane, command, wait_count, waits, event_out, staging_out,
				       fault_out);
	if (command->kind != BACKEND_COMMAND_USM_COPY)
		return hint_usm(lane, command, wait_count, waits, event_out, fault_out);
	cl_int code = opencl_copy_usm(lane, command->usm.destination, command->usm.source,
				      command->usm.size_bytes, wait_count, waits, event_out);
	return code == CL_SUCCESS ? 0 : opencl_fault_code(fault_out, code, "copy USM");
}
