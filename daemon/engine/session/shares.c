#include "session/shares.h"

#include "cleanup.h"
#include "session/engine_state.h"
#include "session/objects.h"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* Linux 6.10; older headers lack it. */
#ifndef F_DUPFD_QUERY
#define F_DUPFD_QUERY 1027
#endif

int descriptors_equal(int a, int b)
{
	int r = fcntl(a, F_DUPFD_QUERY, b);
	if (r >= 0)
		return r;
	pid_t self = getpid();
	long order = syscall(SYS_kcmp, self, self, KCMP_FILE, (unsigned long)a, (unsigned long)b);
	return order < 0 ? -ENOSYS : order == 0;
}

bool descriptor_may_be_memory(int descriptor)
{
	struct stat status;
	if (fstat(descriptor, &status) < 0)
		return false;
	return S_ISCHR(status.st_mode) ||
	       (S_ISREG(status.st_mode) && fcntl(descriptor, F_GET_SEALS) >= 0);
}

struct shared_memory *shared_memory_create(struct engine *engine, enum backend_export_kind kind,
					   uint32_t device, uint64_t size_bytes)
{
	struct shared_memory *memory = calloc(1, sizeof(*memory));
	if (!memory)
		return NULL;
	memory->kind = kind;
	memory->device = device;
	memory->size_bytes = size_bytes;
	memory->name.descriptor = -1;
	list_init(&memory->buffers);
	list_push_back(&engine->shared_memories, &memory->link);
	return memory;
}

void shared_memory_join(struct shared_memory *memory, struct buffer *buffer)
{
	buffer->shared = memory;
	list_push_back(&memory->buffers, &buffer->shared_link);
}

void shared_memory_leave(struct buffer *buffer)
{
	struct shared_memory *memory = buffer->shared;
	if (!memory)
		return;
	buffer->shared = NULL;
	list_remove(&buffer->shared_link);
	if (!list_empty(&memory->buffers))
		return;
	list_remove(&memory->link);
	close_fd(&memory->name.descriptor);
	free(memory);
}

struct buffer *shared_memory_any(const struct shared_memory *memory)
{
	return list_entry(memory->buffers.next, struct buffer, shared_link);
}

int shared_memory_name(struct shared_memory *memory, const struct backend_shared_memory *name)
{
	int descriptor = name->descriptor;
	if (memory->exported) {
		close_fd(&descriptor);
		return 0;
	}
	if (memory->kind == BACKEND_EXPORT_VMM && descriptors_equal(descriptor, descriptor) != 1) {
		close_fd(&descriptor);
		return -ENOSYS;
	}
	memory->name = *name;
	memory->exported = true;
	return 0;
}

struct shared_memory *shared_memory_find(const struct engine *engine,
					 const struct backend_shared_memory *name)
{
	for (struct list *link = engine->shared_memories.next; link != &engine->shared_memories;
	     link = link->next) {
		struct shared_memory *memory = list_entry(link, struct shared_memory, link);
		if (!memory->exported || memory->kind != name->kind)
			continue;
		bool same =
			memory->kind == BACKEND_EXPORT_VMM
				? descriptors_equal(memory->name.descriptor, name->descriptor) == 1
				: memcmp(memory->name.handle, name->handle, SHARE_HANDLE_BYTES) ==
					  0;
		if (same)
			return memory;
	}
	return NULL;
}

struct event_share *event_share_create(struct engine *engine, uint32_t device,
				       const uint8_t *handle)
{
	struct event_share *share = calloc(1, sizeof(*share));
	if (!share)
		return NULL;
	share->device = device;
	share->named = handle != NULL;
	if (handle)
		memcpy(share->handle, handle, SHARE_HANDLE_BYTES);
	list_init(&share->events);
	list_push_back(&engine->event_shares, &share->link);
	return share;
}

void event_share_free(struct event_share *share)
{
	list_remove(&share->link);
	free(share);
}

struct event_share *event_share_find(const struct engine *engine, uint32_t device,
				     const uint8_t *handle)
{
	for (struct list *link = engine->event_shares.next; link != &engine->event_shares;
	     link = link->next) {
		struct event_share *share = list_entry(link, struct event_share, link);
		if (share->named && share->sched && share->device == device &&
		    memcmp(share->handle, handle, SHARE_HANDLE_BYTES) == 0)
			return share;
	}
	return NULL;
}

void shares_fini(struct engine *engine)
{
	while (!list_empty(&engine->event_shares))
		event_share_free(list_entry(engine->event_shares.next, struct event_share, link));
}
