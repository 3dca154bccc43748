#include "cuda/memory/reaper.h"

#include "cuda/memory/array.h"
#include "cuda/memory/state.h"

#include <stdlib.h>

static void free_mapping(const struct cuda_library *cuda, const struct cuda_reap *reap)
{
	if (reap->address) {
		(void)cuda->cuMemUnmap(reap->address, reap->size_bytes);
		(void)cuda->cuMemAddressFree(reap->address, reap->size_bytes);
	}
	(void)cuda->cuMemRelease(reap->allocation);
}

/* Results are ignored: no caller waits for them, and a lost device frees everything with its
 * process. */
static void reap_free_object(struct backend_device *device, struct cuda_reap *reap)
{
	const struct cuda_library *cuda = &device->backend->library;

	if (reap->zeroed) {
		(void)cuda->cuEventSynchronize(reap->zeroed);
		(void)cuda->cuEventDestroy(reap->zeroed);
	}
	switch (reap->kind) {
	case CUDA_REAP_PLAIN:
		(void)cuda->cuMemFree(reap->address);
		break;
	case CUDA_REAP_VMM:
		free_mapping(cuda, reap);
		break;
	case CUDA_REAP_IPC:
		(void)cuda->cuIpcCloseMemHandle(reap->address);
		break;
	case CUDA_REAP_HOST:
		(void)cuda->cuMemFreeHost(reap->host);
		break;
	case CUDA_REAP_ARRAY:
		cuda_array_destroy(cuda, reap->array);
		break;
	}
	cuda_room_give(device->memory, reap->room_bytes);
	free(reap);
}

/* True if the object can be freed without waiting for a kernel or for its zeroing. */
static bool reap_is_ready(const struct cuda_library *cuda, const struct cuda_reap *reap)
{
	return reap->kind == CUDA_REAP_VMM &&
	       (!reap->zeroed || cuda->cuEventQuery(reap->zeroed) == CUDA_SUCCESS);
}

void cuda_reaper_open(struct cuda_reaper *reaper, struct backend_device *device)
{
	*reaper = (struct cuda_reaper){.device = device, .lock = PTHREAD_MUTEX_INITIALIZER};
}

void cuda_reaper_close(struct cuda_reaper *reaper)
{
	if (!reaper->device)
		return;
	cuda_reaper_run(reaper, true);
	(void)pthread_mutex_destroy(&reaper->lock);
	reaper->device = NULL;
}

struct cuda_reap *cuda_reap_make(enum cuda_reap_kind kind)
{
	struct cuda_reap *reap = calloc(1, sizeof(*reap));

	if (reap)
		reap->kind = kind;
	return reap;
}

void cuda_reap_send(struct cuda_reaper *reaper, struct cuda_reap *reap)
{
	(void)pthread_mutex_lock(&reaper->lock);
	reap->next = reaper->first;
	reaper->first = reap;
	atomic_fetch_add(&reaper->waiting, 1);
	(void)pthread_mutex_unlock(&reaper->lock);
	cuda_reaper_run(reaper, false);
}

static struct cuda_reap *reaper_take_ready(struct cuda_reaper *reaper, bool quiet)
{
	const struct cuda_library *cuda = &reaper->device->backend->library;
	struct cuda_reap *taken = NULL;

	(void)pthread_mutex_lock(&reaper->lock);
	for (struct cuda_reap **link = &reaper->first; *link;) {
		struct cuda_reap *reap = *link;
		if (!quiet && !reap_is_ready(cuda, reap)) {
			link = &reap->next;
			continue;
		}
		*link = reap->next;
		reap->next = taken;
		taken = reap;
		atomic_fetch_sub(&reaper->waiting, 1);
	}
	(void)pthread_mutex_unlock(&reaper->lock);
	return taken;
}

void cuda_reaper_run(struct cuda_reaper *reaper, bool quiet)
{
	(void)cuda_enter(reaper->device, NULL);
	struct cuda_reap *taken = reaper_take_ready(reaper, quiet);

	while (taken) {
		struct cuda_reap *next = taken->next;
		reap_free_object(reaper->device, taken);
		taken = next;
	}
}
