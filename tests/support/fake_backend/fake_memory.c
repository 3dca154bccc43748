/* Memories of the fake backend, memory that other processes open, and host memory that its devices
 * register. */
#include "fake_internal.h"

#include "cleanup.h"
#include "status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE_BYTES 4096u

static void release_data(struct backend_memory *memory)
{
	if (memory->mapped_bytes > 0)
		(void)munmap(memory->data, memory->mapped_bytes);
	else if (!memory->in_place)
		free(memory->data);
	if (memory->fd >= 0)
		(void)close(memory->fd);
}

static void memory_cleanup(struct backend_memory **memory)
{
	if (*memory)
		release_data(*memory);
	free(*memory);
}

static int memory_out_of_memory(uint64_t size_bytes, struct backend_fault *fault_out)
{
	fake_fault(fault_out, STATUS_MEMORY_ALLOCATION, "no memory of %llu bytes",
		   (unsigned long long)size_bytes);
	return -ENOMEM;
}

static int memory_map(struct backend_memory *memory, uint64_t mapped_bytes)
{
	void *data = mmap(NULL, mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory->fd, 0);
	if (data == MAP_FAILED)
		return -errno;
	memory->data = data;
	memory->mapped_bytes = mapped_bytes;
	return 0;
}

static uint64_t memory_granules(uint64_t size_bytes)
{
	return (size_bytes + FAKE_GRANULE_BYTES - 1) & ~(uint64_t)(FAKE_GRANULE_BYTES - 1);
}

/* Takes private memory. If it will be exported it is a file that others can map. */
static int take_data(struct backend_memory *memory, void *host)
{
	uint64_t size_bytes = memory->size_bytes;
	if (host && memory->device->slot->options.unified) {
		memory->in_place = true;
		memory->data = host;
		return 0;
	}
	if (size_bytes > FAKE_ALLOCATION_BYTES_MAX)
		return -ENOMEM;
	if (memory->export_kind != BACKEND_EXPORT_NONE) {
		memory->fd = memfd_create("fake-memory", MFD_CLOEXEC);
		if (memory->fd < 0 ||
		    ftruncate(memory->fd, (off_t)memory_granules(size_bytes)) < 0 ||
		    memory_map(memory, memory_granules(size_bytes)) < 0)
			return -ENOMEM;
	} else {
		memory->data = malloc(size_bytes);
		if (!memory->data)
			return -ENOMEM;
	}
	/* A program that relies on the contents of new memory must not pass a test. */
	if (memory->data)
		memset(memory->data, FAKE_POISON, size_bytes);
	return 0;
}

static struct backend_memory *new_memory(struct backend_device *device, uint64_t size_bytes)
{
	struct backend_memory *memory = calloc(1, sizeof(*memory));
	if (!memory)
		return NULL;
	memory->device = device;
	memory->size_bytes = size_bytes;
	memory->fd = -1;
	return memory;
}

static void count_memory(const struct backend_memory *memory, int difference)
{
	struct fake_counters *counters = &memory->device->slot->counters;
	fake_lock();
	counters->memories += (uint32_t)difference;
	if (!memory->in_place)
		counters->memory_bytes += (uint64_t)difference * memory->size_bytes;
	fake_unlock();
}

static bool memory_has_room(const struct backend_device *device, uint64_t size_bytes)
{
	const struct fake_slot *slot = device->slot;
	fake_lock();
	bool fits = slot->options.memory_bytes == 0 ||
		    slot->counters.memory_bytes + size_bytes <= slot->options.memory_bytes;
	fake_unlock();
	return fits;
}

static bool fake_can_export(const struct backend_device *device, enum backend_export_kind kind)
{
	return (kind == BACKEND_EXPORT_VMM && fake_has(device, BACKEND_FEATURE_EXPORT_VMM)) ||
	       (kind == BACKEND_EXPORT_CUDA_IPC && fake_has(device, BACKEND_FEATURE_EXPORT_IPC));
}

int fake_memory_create(struct backend_device *device, uint64_t size_bytes, void *host,
		       enum backend_export_kind export_kind, struct backend_memory **memory_out,
		       struct backend_fault *fault_out)
{
	if (fake_entry_fails(FAKE_MEMORY_CREATE, device, fault_out))
		return -ENOMEM;
	if (export_kind != BACKEND_EXPORT_NONE && !fake_can_export(device, export_kind))
		return fake_refuse(device, "export memory in this form", fault_out);
	CLEANUP(memory_cleanup) struct backend_memory *memory = new_memory(device, size_bytes);
	if (!memory)
		return memory_out_of_memory(size_bytes, fault_out);
	memory->export_kind = export_kind;
	bool in_place = host && device->slot->options.unified;
	if (!in_place && !memory_has_room(device, size_bytes)) {
		int result = fake_check_kept(device, fault_out);
		return result < 0 ? result : memory_out_of_memory(size_bytes, fault_out);
	}
	if (take_data(memory, host) < 0)
		return memory_out_of_memory(size_bytes, fault_out);
	count_memory(memory, 1);
	*memory_out = TAKE(memory);
	return 0;
}

static void forget_export(const struct backend_memory *memory)
{
	fake_lock();
	for (uint32_t i = 0; i < FAKE_EXPORTS_MAX; i++)
		if (memory->export_id && fake_state.exports[i].id == memory->export_id)
			fake_state.exports[i] = (struct fake_export){.id = 0};
	fake_unlock();
}

static void memory_release(struct backend_memory *memory)
{
	count_memory(memory, -1);
	release_data(memory);
	free(memory);
}

void fake_memory_free(struct backend_memory *memory)
{
	if (!memory)
		return;
	struct backend_device *device = memory->device;
	forget_export(memory);
	fake_lock();
	bool is_kept = device->slot->options.frees_when_quiet && fake_in_flight_locked(device);
	fake_unlock();
	if (!is_kept) {
		memory_release(memory);
		return;
	}
	memory->next_kept = device->kept;
	device->kept = memory;
}

void fake_release_kept(struct backend_device *device)
{
	while (device->kept) {
		struct backend_memory *memory = device->kept;
		device->kept = memory->next_kept;
		memory_release(memory);
	}
	device->needs_room = false;
}

int fake_check_kept(struct backend_device *device, struct backend_fault *fault_out)
{
	if (!device->kept)
		return 0;
	device->needs_room = true;
	fake_fault(fault_out, STATUS_MEMORY_ALLOCATION, "no memory before a quiet moment");
	return -EAGAIN;
}

/* The handle is the export's number and is valid in this process only. */
static int export_handle(struct backend_memory *memory, uint8_t handle_out[64],
			 struct backend_fault *fault_out)
{
	fake_lock();
	uint32_t at = 0;
	while (at < FAKE_EXPORTS_MAX && fake_state.exports[at].id != memory->export_id)
		at++;
	if (at < FAKE_EXPORTS_MAX && memory->export_id == 0) {
		memory->export_id = ++fake_state.last_id;
		fake_state.exports[at] =
			(struct fake_export){memory->export_id, memory->fd, memory->mapped_bytes};
	}
	fake_unlock();
	if (at == FAKE_EXPORTS_MAX) {
		fake_fault(fault_out, STATUS_MEMORY_ALLOCATION, "too many memories are exported");
		return -ENOSPC;
	}
	memset(handle_out, 0, 64);
	memcpy(handle_out, &memory->export_id, sizeof(memory->export_id));
	return 0;
}

int fake_memory_export(struct backend_memory *memory, struct backend_shared_memory *shared_out,
		       struct backend_fault *fault_out)
{
	struct backend_shared_memory shared = {
		.kind = memory->export_kind, .descriptor = -1, .size_bytes = memory->mapped_bytes};
	if (fake_entry_fails(FAKE_MEMORY_EXPORT, memory->device, fault_out))
		return -EIO;
	if (memory->export_kind == BACKEND_EXPORT_NONE) {
		fake_fault(fault_out, STATUS_INVALID, "the memory was not made to be exported");
		return -EINVAL;
	}
	if (memory->export_kind == BACKEND_EXPORT_VMM) {
		shared.descriptor = fcntl(memory->fd, F_DUPFD_CLOEXEC, 0);
		if (shared.descriptor < 0) {
			fake_fault(fault_out, STATUS_RUNTIME, "no descriptor for the memory");
			return -EMFILE;
		}
	} else {
		int result = export_handle(memory, shared.handle, fault_out);
		if (result < 0)
			return result;
	}
	*shared_out = shared;
	return 0;
}

/* Returns a new descriptor of the shared memory, and its size. -1: there is no such memory. */
static int open_shared(const struct backend_shared_memory *shared, uint64_t *mapped_bytes_out)
{
	struct stat state;
	int fd = -1;
	uint64_t id;
	if (shared->kind == BACKEND_EXPORT_VMM) {
		fd = fcntl(shared->descriptor, F_DUPFD_CLOEXEC, 0);
	} else if (shared->kind == BACKEND_EXPORT_CUDA_IPC) {
		memcpy(&id, shared->handle, sizeof(id));
		fake_lock();
		for (uint32_t i = 0; i < FAKE_EXPORTS_MAX; i++)
			if (id != 0 && fake_state.exports[i].id == id)
				fd = fcntl(fake_state.exports[i].fd, F_DUPFD_CLOEXEC, 0);
		fake_unlock();
	}
	if (fd < 0)
		return -1;
	if (fstat(fd, &state) < 0 || state.st_size <= 0) {
		(void)close(fd);
		return -1;
	}
	*mapped_bytes_out = (uint64_t)state.st_size;
	return fd;
}

int fake_memory_import(struct backend_device *device, const struct backend_shared_memory *shared,
		       uint64_t size_bytes, struct backend_memory **memory_out,
		       struct backend_fault *fault_out)
{
	if (fake_entry_fails(FAKE_MEMORY_IMPORT, device, fault_out))
		return -EIO;
	if (!fake_can_export(device, shared->kind))
		return fake_refuse(device, "import memory in this form", fault_out);
	CLEANUP(memory_cleanup) struct backend_memory *memory = new_memory(device, size_bytes);
	if (!memory)
		return memory_out_of_memory(size_bytes, fault_out);
	uint64_t mapped_bytes = 0;
	memory->fd = open_shared(shared, &mapped_bytes);
	if (memory->fd < 0 || size_bytes > shared->size_bytes ||
	    shared->size_bytes > mapped_bytes || memory_map(memory, mapped_bytes) < 0) {
		fake_fault(fault_out, STATUS_INVALID,
			   "no memory of this size is exported under this handle");
		return -EINVAL;
	}
	count_memory(memory, 1);
	*memory_out = TAKE(memory);
	return 0;
}

int fake_host_register(struct backend_device *device, void *host, uint64_t size_bytes,
		       struct backend_host **host_out, struct backend_fault *fault_out)
{
	if (fake_entry_fails(FAKE_HOST_REGISTER, device, fault_out))
		return -EIO;
	if (!fake_has(device, BACKEND_FEATURE_HOST_REGISTER))
		return fake_refuse(device, "register memory", fault_out);
	if ((uintptr_t)host % PAGE_BYTES != 0 || size_bytes == 0) {
		fake_fault(fault_out, STATUS_INVALID, "only whole pages can be registered");
		return -EINVAL;
	}
	struct backend_host *registered = calloc(1, sizeof(*registered));
	if (!registered)
		return memory_out_of_memory(sizeof(*registered), fault_out);
	*registered =
		(struct backend_host){.device = device, .host = host, .size_bytes = size_bytes};
	fake_lock();
	registered->next = device->hosts;
	device->hosts = registered;
	device->slot->counters.hosts++;
	fake_unlock();
	*host_out = registered;
	return 0;
}

void fake_host_unregister(struct backend_host *host)
{
	if (!host)
		return;
	fake_lock();
	struct backend_host **at = &host->device->hosts;
	while (*at != host)
		at = &(*at)->next;
	*at = host->next;
	host->device->slot->counters.hosts--;
	host->device->slot->counters.graph_misuses += fake_graph_names_locked(host->device, host);
	fake_unlock();
	free(host);
}
