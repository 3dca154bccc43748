/*
 * Host memory that the driver may read and write by itself. The driver has one list of pinned pages
 * for the process. A range that one device has pinned is pinned for all (PORTABLE), and pinning it
 * again is an error. So the list here belongs to the process, too.
 */
#include "cuda/memory/state.h"
#include "status.h"

#include <errno.h>
#include <stdlib.h>

#define PAGE_BYTES 4096u

struct registration {
	struct registration *next;
	void *host;
	uint64_t size_bytes;
	uint32_t references; /* one for each device */
};

/* The lock is held while the driver pins, so that a second device finds the ranges that the first
 * has pinned. */
static pthread_mutex_t register_lock = PTHREAD_MUTEX_INITIALIZER;
static struct registration *registrations;

static struct registration **find_registration(const void *host, uint64_t size_bytes)
{
	struct registration **place = &registrations;

	while (*place && ((*place)->host != host || (*place)->size_bytes != size_bytes))
		place = &(*place)->next;
	return place;
}

/* With the lock. */
static int hold_registration(struct backend_device *device, void *host, uint64_t size_bytes,
			     struct backend_fault *fault_out)
{
	const struct cuda_library *cuda = &device->backend->library;
	struct registration *registration = *find_registration(host, size_bytes);

	if (registration) {
		registration->references++;
		return 0;
	}
	registration = calloc(1, sizeof(*registration));
	if (!registration)
		return cuda_no_memory(fault_out, "a host range");
	CUresult result = cuda->cuMemHostRegister(
		host, size_bytes, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
	if (result != CUDA_SUCCESS) {
		free(registration);
		return cuda_fault(device, cuda, result, fault_out,
				  "cannot pin %llu bytes of host memory",
				  (unsigned long long)size_bytes);
	}
	*registration = (struct registration){
		.next = registrations, .host = host, .size_bytes = size_bytes, .references = 1};
	registrations = registration;
	return 0;
}

/* With the lock. */
static void drop_registration(struct backend_device *device, void *host, uint64_t size_bytes)
{
	struct registration **place = find_registration(host, size_bytes);
	struct registration *registration = *place;

	if (!registration || --registration->references > 0)
		return;
	(void)device->backend->library.cuMemHostUnregister(host);
	*place = registration->next;
	free(registration);
}

/* Registers the range with this device: finds its address on the device, and adds it to the table
 * that transfers search. */
static int add_host(struct backend_device *device, struct backend_host *host,
		    struct backend_fault *fault_out)
{
	const struct cuda_library *cuda = &device->backend->library;
	CUresult result = cuda->cuMemHostGetDevicePointer(&host->address, host->host, 0);

	if (result != CUDA_SUCCESS)
		return cuda_fault(device, cuda, result, fault_out, "cannot map host memory");
	int error = cuda_ranges_add(&device->memory->hosts, (uintptr_t)host->host, host->size_bytes,
				    host);
	if (error < 0)
		return cuda_fault_words(fault_out, error,
					error == -ENOMEM ? STATUS_MEMORY_ALLOCATION
							 : STATUS_INVALID,
					"a host range overlaps one that is registered");
	return 0;
}

int cuda_host_register(struct backend_device *device, void *host, uint64_t size_bytes,
		       struct backend_host **host_out, struct backend_fault *fault_out)
{
	if ((uintptr_t)host % PAGE_BYTES != 0 || size_bytes == 0 ||
	    size_bytes > UINTPTR_MAX - (uintptr_t)host)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
					"a host range must begin at a page");
	int error = cuda_enter(device, fault_out);
	if (error < 0)
		return error;
	struct backend_host *made = calloc(1, sizeof(*made));
	if (!made)
		return cuda_no_memory(fault_out, "a host range");
	*made = (struct backend_host){.device = device, .host = host, .size_bytes = size_bytes};

	(void)pthread_mutex_lock(&register_lock);
	error = hold_registration(device, host, size_bytes, fault_out);
	if (error == 0) {
		error = add_host(device, made, fault_out);
		if (error < 0)
			drop_registration(device, host, size_bytes);
	}
	(void)pthread_mutex_unlock(&register_lock);
	if (error < 0) {
		free(made);
		return error;
	}
	*host_out = made;
	return 0;
}

void cuda_host_unregister(struct backend_host *host)
{
	if (!host)
		return;
	(void)cuda_enter(host->device, NULL);
	(void)cuda_ranges_remove(&host->device->memory->hosts, (uintptr_t)host->host);
	(void)pthread_mutex_lock(&register_lock);
	drop_registration(host->device, host->host, host->size_bytes);
	(void)pthread_mutex_unlock(&register_lock);
	free(host);
}

bool cuda_host_is_registered(struct backend_device *device, const void *host, uint64_t size_bytes)
{
	return cuda_ranges_find(&device->memory->hosts, (uintptr_t)host, size_bytes) != NULL;
}

CUdeviceptr cuda_host_address(struct backend_device *device, const void *host, uint64_t size_bytes)
{
	const struct backend_host *found =
		cuda_ranges_find(&device->memory->hosts, (uintptr_t)host, size_bytes);

	return found ? found->address + ((uintptr_t)host - (uintptr_t)found->host) : 0;
}
