/* USM: memory with one address for the device and, if the USM is host or shared, for this process,
 * too; and the commands for USM. */
#include "cuda/memory/state.h"
#include "cuda/memory/peer.h"
#include "cuda/memory/staging.h"
#include "protocol_limits.h"
#include "status.h"

#include <errno.h>
#include <stdlib.h>

#define ALIGNMENT_MAX 4096u

/* An allocation. The driver may have given more bytes than requested, so that the address can be
 * aligned. */
struct cuda_usm {
	struct backend_device *device;
	enum backend_usm_kind kind;
	uint64_t address, size_bytes;
	CUdeviceptr base;
	struct cuda_reap *reap; /* NULL: the memory is of the pool, or has an owner */
	/* Called when the memory of an owner is no longer USM; NULL: there is no owner. */
	void (*release)(void *owner);
	void *owner;
};

static CUresult allocate_shared(struct backend_device *device, uint64_t size_bytes,
				CUdeviceptr *base_out)
{
	return device->backend->library.cuMemAllocManaged(base_out, size_bytes,
							  CU_MEM_ATTACH_GLOBAL);
}

static CUresult allocate_host(struct backend_device *device, uint64_t size_bytes, void **host_out)
{
	return device->backend->library.cuMemHostAlloc(
		host_out, size_bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
}

/* Managed memory takes room on the device as if all of it were there. If there were more of it than
 * the device has, it would move back and forth, and could hang the GPU for all its users. */
static int usm_take_shared(struct backend_device *device, struct cuda_usm *usm, uint64_t size_bytes,
			   struct backend_fault *fault_out)
{
	int error = cuda_room_take(device->memory, size_bytes, fault_out);

	if (error < 0)
		return error;
	CUresult result = allocate_shared(device, size_bytes, &usm->base);
	if (result != CUDA_SUCCESS) {
		cuda_room_give(device->memory, size_bytes);
		return cuda_fault(device, &device->backend->library, result, fault_out,
				  "cannot allocate %llu bytes of shared USM",
				  (unsigned long long)size_bytes);
	}
	usm->reap->address = usm->base;
	usm->reap->room_bytes = size_bytes;
	return 0;
}

static int usm_take_host(struct backend_device *device, struct cuda_usm *usm, uint64_t size_bytes,
			 struct backend_fault *fault_out)
{
	CUresult result = allocate_host(device, size_bytes, &usm->reap->host);

	if (result != CUDA_SUCCESS)
		return cuda_fault(device, &device->backend->library, result, fault_out,
				  "cannot allocate %llu bytes of host USM",
				  (unsigned long long)size_bytes);
	usm->base = (CUdeviceptr)(uintptr_t)usm->reap->host;
	return 0;
}

static int usm_take_device(struct backend_device *device, struct cuda_usm *usm, uint64_t size_bytes,
			   struct backend_fault *fault_out)
{
	int error = cuda_pool_take(device->memory, size_bytes, &usm->base, fault_out);

	if (error == 0 && usm->reap) {
		usm->reap->address = usm->base;
		usm->reap->room_bytes = size_bytes;
	}
	return error;
}

static int cuda_take_usm(struct backend_device *device, struct cuda_usm *usm, uint64_t size_bytes,
			 struct backend_fault *fault_out)
{
	switch (usm->kind) {
	case BACKEND_USM_HOST:
		return usm_take_host(device, usm, size_bytes, fault_out);
	case BACKEND_USM_SHARED:
		return usm_take_shared(device, usm, size_bytes, fault_out);
	case BACKEND_USM_DEVICE:
		break;
	}
	return usm_take_device(device, usm, size_bytes, fault_out);
}

static void cuda_give_usm(struct cuda_usm *usm)
{
	if (usm->release)
		usm->release(usm->owner);
	else if (usm->reap)
		cuda_reap_send(&usm->device->memory->reaper, usm->reap);
	else
		cuda_pool_give(usm->device->memory, usm->base);
	usm->reap = NULL;
}

/* Makes the record by which the allocation will be freed. Device memory of a pool needs none. */
static int make_reap(struct backend_device *device, struct cuda_usm *usm,
		     struct backend_fault *fault_out)
{
	if (usm->kind == BACKEND_USM_DEVICE && device->memory->pool)
		return 0;
	usm->reap =
		cuda_reap_make(usm->kind == BACKEND_USM_HOST ? CUDA_REAP_HOST : CUDA_REAP_PLAIN);
	if (!usm->reap)
		return cuda_no_memory(fault_out, "USM");
	return 0;
}

/* Takes so many bytes with this alignment. The driver's own alignment is nearly always enough.
 * Otherwise a second attempt takes more bytes, so that the address can be aligned. */
static int usm_take_aligned(struct backend_device *device, struct cuda_usm *usm, uint64_t alignment,
			    struct backend_fault *fault_out)
{
	uint64_t size_bytes = usm->size_bytes;

	for (int attempt = 0; attempt < 2; attempt++) {
		int error = make_reap(device, usm, fault_out);
		if (error < 0)
			return error;
		error = cuda_take_usm(device, usm, size_bytes, fault_out);
		if (error < 0) {
			free(usm->reap);
			usm->reap = NULL;
			return error;
		}
		usm->address = (usm->base + alignment - 1) & ~(alignment - 1);
		if (usm->address - usm->base <= size_bytes - usm->size_bytes)
			break;
		cuda_give_usm(usm);
		size_bytes += alignment;
	}
	return 0;
}

static int cuda_usm_check_kind(const struct backend_device *device, enum backend_usm_kind kind,
			       uint64_t size_bytes, uint64_t alignment,
			       struct backend_fault *fault_out)
{
	bool known = kind == BACKEND_USM_DEVICE || kind == BACKEND_USM_HOST ||
		     kind == BACKEND_USM_SHARED;

	if (!known || size_bytes == 0 || alignment > ALIGNMENT_MAX ||
	    (alignment & (alignment - 1)) != 0)
		return cuda_fault_words(
			fault_out, -EINVAL, STATUS_INVALID,
			"USM of kind %d cannot have %llu bytes with an alignment of %llu",
			(int)kind, (unsigned long long)size_bytes, (unsigned long long)alignment);
	if (!device->facts->unified_addressing ||
	    (kind == BACKEND_USM_SHARED &&
	     (!device->facts->managed || !device->backend->library.cuMemAllocManaged)))
		return cuda_fault_words(fault_out, -ENOTSUP, STATUS_FEATURE_NOT_SUPPORTED,
					"the device has no USM of kind %d", (int)kind);
	if (size_bytes > UINT64_MAX - ALIGNMENT_MAX)
		return cuda_fault_words(fault_out, -ENOMEM, STATUS_MEMORY_ALLOCATION,
					"no room for %llu bytes", (unsigned long long)size_bytes);
	return 0;
}

int cuda_usm_alloc(struct backend_device *device, enum backend_usm_kind kind, uint64_t size_bytes,
		   uint64_t alignment_bytes, void **pointer_out, struct backend_fault *fault_out)
{
	uint64_t alignment =
		alignment_bytes > CUDA_ALIGNMENT_BYTES ? alignment_bytes : CUDA_ALIGNMENT_BYTES;

	int error = cuda_usm_check_kind(device, kind, size_bytes, alignment_bytes, fault_out);
	if (error == 0)
		error = cuda_enter(device, fault_out);
	if (error < 0)
		return error;
	struct cuda_usm *usm = calloc(1, sizeof(*usm));
	if (!usm)
		return cuda_no_memory(fault_out, "USM");
	*usm = (struct cuda_usm){.device = device, .kind = kind, .size_bytes = size_bytes};
	error = usm_take_aligned(device, usm, alignment, fault_out);
	if (error == 0) {
		error = cuda_ranges_add(&device->memory->usm, usm->address, size_bytes, usm);
		if (error < 0) {
			(void)cuda_fault_words(fault_out, error, STATUS_MEMORY_ALLOCATION,
					       "no memory for USM");
			cuda_give_usm(usm);
		}
	}
	if (error < 0) {
		free(usm);
		return error;
	}
	*pointer_out = (void *)(uintptr_t)usm->address;
	return 0;
}

void cuda_usm_free(struct backend_device *device, enum backend_usm_kind kind, void *pointer)
{
	(void)kind; /* the table decides */
	if (!pointer)
		return;
	(void)cuda_enter(device, NULL);
	struct cuda_usm *usm = cuda_ranges_remove(&device->memory->usm, (uintptr_t)pointer);
	if (!usm)
		return;
	cuda_give_usm(usm);
	free(usm);
}

int cuda_usm_add(struct backend_device *device, CUdeviceptr address, uint64_t size_bytes,
		 void (*release)(void *owner), void *owner)
{
	struct cuda_usm *usm = calloc(1, sizeof(*usm));

	if (!usm)
		return -ENOMEM;
	*usm = (struct cuda_usm){.device = device,
				 .kind = BACKEND_USM_DEVICE,
				 .address = address,
				 .size_bytes = size_bytes,
				 .base = address,
				 .release = release,
				 .owner = owner};
	int error = cuda_ranges_add(&device->memory->usm, address, size_bytes, usm);
	if (error < 0)
		free(usm);
	return error;
}

/* Finds USM that contains the range. The lane's own device is searched first, then the other
 * devices of this backend. */
static struct cuda_usm *cuda_usm_find(struct backend_device *device, const void *pointer,
				      uint64_t size_bytes)
{
	struct backend *backend = device->backend;
	struct cuda_usm *usm =
		cuda_ranges_find(&device->memory->usm, (uintptr_t)pointer, size_bytes);

	if (usm)
		return usm;
	(void)pthread_mutex_lock(&backend->lock);
	for (uint32_t i = 0; !usm && i < backend->topology.device_count; i++) {
		struct backend_device *other = backend->open_devices[i];
		if (other && other != device && other->memory)
			usm = cuda_ranges_find(&other->memory->usm, (uintptr_t)pointer, size_bytes);
	}
	(void)pthread_mutex_unlock(&backend->lock);
	return usm;
}

static int usm_refuse_pointer(struct backend_fault *fault_out, const char *what)
{
	return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID, "%s", what);
}

/* True if the driver has the whole range registered, as USM or as pinned pages. */
static bool is_known_to_driver(struct backend_device *device, const struct cuda_usm *usm,
			       const void *pointer, uint64_t size_bytes)
{
	return usm || cuda_host_is_registered(device, pointer, size_bytes);
}

bool cuda_usm_is_pinned(struct backend_device *device, const void *host, uint64_t size_bytes)
{
	if (cuda_host_is_registered(device, host, size_bytes))
		return true;
	const struct cuda_usm *usm = cuda_usm_find(device, host, size_bytes);
	return usm && usm->kind == BACKEND_USM_HOST;
}

uint64_t cuda_usm_rest(struct backend_device *device, const void *pointer)
{
	const struct cuda_usm *usm = cuda_usm_find(device, pointer, 1);

	return usm ? usm->address + usm->size_bytes - (uintptr_t)pointer : 0;
}

bool cuda_usm_is_reached(struct backend_device *device, const void *pointer, uint64_t size_bytes)
{
	const struct cuda_usm *usm = cuda_usm_find(device, pointer, size_bytes);

	if (usm)
		return usm->device == device || usm->kind != BACKEND_USM_DEVICE;
	return device->facts->host_pointers && cuda_host_is_registered(device, pointer, size_bytes);
}

/* A side is memory of the engine that is not pinned, or cannot be. It is copied through slots, as
 * for buffers. */
static int copy_unpinned(struct backend_lane *lane, const struct backend_command *command,
			 struct cuda_finish **finish_out, struct backend_fault *fault_out)
{
	const struct copy_box piece = {
		.width_bytes = command->usm.size_bytes, .rows = 1, .slices = 1};
	const struct copy_box box = copy_box_simplify(&piece);
	bool to_device = command->usm.host_source;
	/* the memory is only read if it is the source */
	void *from = (void *)(uintptr_t)command->usm.source, *to = command->usm.destination;
	const struct cuda_rect_side usm = {.address = (uintptr_t)(to_device ? to : from)};

	return cuda_staging_enqueue(lane, to_device, usm, to_device ? from : to, &box, finish_out,
				    fault_out);
}

/* Copies from one GPU to another. If the lane is the destination's, the copy takes the ways of
 * memory/peer.h; otherwise the driver finds a way. */
static int copy_between_devices(struct backend_lane *lane, const struct cuda_usm *destination,
				const struct cuda_usm *source,
				const struct backend_command *command,
				struct backend_fault *fault_out)
{
	uintptr_t from = (uintptr_t)command->usm.source, to = (uintptr_t)command->usm.destination;
	uint64_t size_bytes = command->usm.size_bytes;

	if (destination->device == lane->device)
		return cuda_peer_copy_usm(lane, source->device, !source->reap && !source->release,
					  from, to, size_bytes, fault_out);
	return cuda_check(lane->device,
			  lane->device->backend->library.cuMemcpyPeerAsync(
				  to, destination->device->context, from, source->device->context,
				  size_bytes, lane->stream),
			  fault_out, "cannot copy USM");
}

static int cuda_copy_usm(struct backend_lane *lane, const struct backend_command *command,
			 struct cuda_finish **finish_out, struct backend_fault *fault_out)
{
	const struct cuda_library *cuda = &lane->device->backend->library;
	const void *from = command->usm.source;
	void *to = command->usm.destination;
	uint64_t size_bytes = command->usm.size_bytes;
	const struct cuda_usm *source = cuda_usm_find(lane->device, from, size_bytes);
	const struct cuda_usm *destination = cuda_usm_find(lane->device, to, size_bytes);

	bool from_known = is_known_to_driver(lane->device, source, from, size_bytes);
	bool to_known = is_known_to_driver(lane->device, destination, to, size_bytes);
	if ((!from_known && !command->usm.host_source) ||
	    (!to_known && !command->usm.host_destination) ||
	    (command->usm.host_source && command->usm.host_destination))
		return usm_refuse_pointer(
			fault_out,
			"a copy from or to an address that is neither USM nor registered");
	uintptr_t first = (uintptr_t)from, second = (uintptr_t)to;
	if ((first < second ? second - first : first - second) < size_bytes)
		return usm_refuse_pointer(fault_out,
					  "the source and the destination of the copy overlap");
	if (!from_known || !to_known)
		return copy_unpinned(lane, command, finish_out, fault_out);
	if (source && destination && source->kind == BACKEND_USM_DEVICE &&
	    destination->kind == BACKEND_USM_DEVICE && source->device != destination->device)
		return copy_between_devices(lane, destination, source, command, fault_out);
	return cuda_check(lane->device,
			  cuda->cuMemcpyAsync(second, first, size_bytes, lane->stream), fault_out,
			  "cannot copy USM");
}

static int cuda_fill_usm(struct backend_lane *lane, const struct backend_command *command,
			 struct backend_fault *fault_out)
{
	size_t pattern_bytes = command->usm.pattern_bytes;

	if (pattern_bytes == 0 || pattern_bytes > FILL_PATTERN_BYTES_MAX ||
	    !is_known_to_driver(
		    lane->device,
		    cuda_usm_find(lane->device, command->usm.destination, command->usm.size_bytes),
		    command->usm.destination, command->usm.size_bytes))
		return usm_refuse_pointer(
			fault_out, "the memory of the fill is not USM, or the pattern is too long");
	return cuda_check(lane->device,
			  cuda_fill(&lane->device->backend->library, lane->stream,
				    (uintptr_t)command->usm.destination, command->usm.size_bytes,
				    command->usm.pattern, pattern_bytes),
			  fault_out, "cannot fill USM");
}

/* The table of the specification (G1): the driver's advice, and whether it names the host. */
struct advice {
	CUmem_advise native;
	bool host;
};

static int find_advice(enum backend_advice advice, struct advice *advice_out)
{
	static const struct advice table[] = {
		[BACKEND_ADVICE_SET_READ_MOSTLY] = {CU_MEM_ADVISE_SET_READ_MOSTLY, false},
		[BACKEND_ADVICE_UNSET_READ_MOSTLY] = {CU_MEM_ADVISE_UNSET_READ_MOSTLY, false},
		[BACKEND_ADVICE_SET_PREFERRED_LOCATION] = {CU_MEM_ADVISE_SET_PREFERRED_LOCATION,
							   false},
		[BACKEND_ADVICE_UNSET_PREFERRED_LOCATION] = {CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION,
							     false},
		[BACKEND_ADVICE_SET_ACCESSED_BY] = {CU_MEM_ADVISE_SET_ACCESSED_BY, false},
		[BACKEND_ADVICE_UNSET_ACCESSED_BY] = {CU_MEM_ADVISE_UNSET_ACCESSED_BY, false},
		[BACKEND_ADVICE_SET_PREFERRED_LOCATION_HOST] =
			{CU_MEM_ADVISE_SET_PREFERRED_LOCATION, true},
		[BACKEND_ADVICE_UNSET_PREFERRED_LOCATION_HOST] =
			{CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, true},
		[BACKEND_ADVICE_SET_ACCESSED_BY_HOST] = {CU_MEM_ADVISE_SET_ACCESSED_BY, true},
		[BACKEND_ADVICE_UNSET_ACCESSED_BY_HOST] = {CU_MEM_ADVISE_UNSET_ACCESSED_BY, true},
	};

	if (advice < BACKEND_ADVICE_SET_READ_MOSTLY ||
	    (size_t)advice >= sizeof(table) / sizeof(*table))
		return -EINVAL;
	*advice_out = table[advice];
	return 0;
}

static CUmemLocation usm_location(const struct backend_device *device, bool host)
{
	if (host)
		return (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_HOST};
	return (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device->facts->device};
}

/* A hint has no order: the driver takes it at once, before work that is already on the lane. */
static int advise_usm(struct backend_lane *lane, const struct backend_command *command,
		      struct backend_fault *fault_out)
{
	const struct cuda_library *cuda = &lane->device->backend->library;
	struct advice advice;

	if (find_advice(command->usm.advice, &advice) < 0)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
					"%d is no memory advice", (int)command->usm.advice);
	if (!cuda->cuMemAdvise)
		return cuda_fault_words(fault_out, -ENOTSUP, STATUS_FEATURE_NOT_SUPPORTED,
					"the driver takes no advice");
	return cuda_check(lane->device,
			  cuda->cuMemAdvise((uintptr_t)command->usm.destination,
					    command->usm.size_bytes, advice.native,
					    usm_location(lane->device, advice.host)),
			  fault_out, "cannot advise");
}

static int prefetch_usm(struct backend_lane *lane, const struct backend_command *command,
			struct backend_fault *fault_out)
{
	const struct cuda_library *cuda = &lane->device->backend->library;

	if (!cuda->cuMemPrefetchAsync)
		return cuda_fault_words(fault_out, -ENOTSUP, STATUS_FEATURE_NOT_SUPPORTED,
					"the driver does not prefetch");
	return cuda_check(lane->device,
			  cuda->cuMemPrefetchAsync(
				  (uintptr_t)command->usm.destination, command->usm.size_bytes,
				  usm_location(lane->device, false), 0, lane->stream),
			  fault_out, "cannot prefetch");
}

int cuda_usm_enqueue(struct backend_lane *lane, const struct backend_command *command,
		     struct cuda_finish **finish_out, struct backend_fault *fault_out)
{
	const struct cuda_usm *usm;

	if (command->usm.size_bytes == 0)
		return 0;
	if (command->kind == BACKEND_COMMAND_USM_COPY)
		return cuda_copy_usm(lane, command, finish_out, fault_out);
	if (command->kind == BACKEND_COMMAND_USM_FILL)
		return cuda_fill_usm(lane, command, fault_out);
	/* Only shared USM moves (G2). */
	usm = cuda_usm_find(lane->device, command->usm.destination, command->usm.size_bytes);
	if (!usm || usm->kind != BACKEND_USM_SHARED)
		return usm_refuse_pointer(fault_out, "prefetch and advice are for shared USM");
	if (command->kind == BACKEND_COMMAND_USM_PREFETCH)
		return prefetch_usm(lane, command, fault_out);
	return advise_usm(lane, command, fault_out);
}
