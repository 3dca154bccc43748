/* Buffers and their contents. Their memories are made in device_memory.c. */
#include "scheduler/state/buffer.h"

#include "base/cause.h"
#include "base/interval_map.h"
#include "base/intrusive_list.h"
#include "base/mailbox.h"
#include "scheduler/admission/account.h"
#include "scheduler/state/device.h"
#include "scheduler/state/notice.h"
#include "scheduler/public/account.h"
#include "scheduler/public/buffer.h"
#include "scheduler/public/device.h"
#include "scheduler/memory/residency.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/admission/use.h"

#include <errno.h>
#include <stdlib.h>

void sched_contents_init(struct sched_contents *contents, struct sched_buffer *buffer,
			 uint64_t size_bytes, uint64_t valid)
{
	*contents =
		(struct sched_contents){.scheduler = buffer->scheduler, .size_bytes = size_bytes};
	/* A buffer of no bytes orders too (C16). */
	uint64_t bytes = size_bytes > 0 ? size_bytes : 1;
	interval_map_init(&contents->spans, &contents->first_span.interval, bytes);
	interval_map_init(&contents->pieces, &contents->first_piece.interval, bytes);
	contents->first_piece.valid = valid;
	contents->first_piece.hosts = valid & (1ull << SCHED_HOST_PLACE) ? buffer->host_bit : 0;
	contents->host_bits = buffer->host_bit;
}

static void sched_contents_fini(struct sched_contents *contents)
{
	interval_map_fini(&contents->spans, &sched_span_ops, contents);
	interval_map_fini(&contents->pieces, &sched_piece_ops, contents);
	sched_cause_drop(contents->first_piece.poison);
	contents->first_piece.poison = NULL;
}

int sched_buffer_create(struct scheduler *scheduler, uint64_t size_bytes, void *host,
			bool initialised, void *owner, struct sched_buffer **buffer_out)
{
	struct sched_buffer *buffer = malloc(sizeof(*buffer));
	if (!buffer)
		return -ENOMEM;
	*buffer = (struct sched_buffer){
		.scheduler = scheduler,
		.number = ++scheduler->last_buffer,
		.owner = owner,
		.host = host,
		.contents = &buffer->own,
		.references = 1,
		.host_bit = 1,
	};
	sched_contents_init(&buffer->own, buffer, size_bytes,
			    initialised ? 1ull << SCHED_HOST_PLACE : 0);
	scheduler->counters.buffers++;
	*buffer_out = buffer;
	return 0;
}

int sched_buffer_create_temporary(struct scheduler_device *device, uint64_t size_bytes,
				  struct sched_buffer **buffer_out)
{
	struct sched_buffer *buffer;
	int result = sched_buffer_create(device->scheduler, size_bytes, NULL, false, NULL, &buffer);
	if (result < 0)
		return result;
	/* A temporary has a place of its own also with unified memory, because it has no host
	 * range. */
	buffer->own.home_device = device;
	buffer->own.is_temporary = true;
	*buffer_out = buffer;
	return 0;
}

int sched_buffer_create_image(struct scheduler *scheduler, const struct backend_image *image,
			      uint64_t size_bytes, void *host, bool initialised, void *owner,
			      struct sched_buffer **buffer_out)
{
	struct sched_buffer *buffer;
	int result = sched_buffer_create(scheduler, size_bytes, host, initialised, owner, &buffer);
	if (result < 0)
		return result;
	buffer->own.image = *image;
	*buffer_out = buffer;
	return 0;
}

void sched_buffer_release(struct sched_buffer *buffer)
{
	sched_buffer_drop(buffer);
}

static void buffer_unused(struct sched_buffer *buffer)
{
	sched_notice_queue(buffer->scheduler, &buffer->notice, SCHED_NOTICE_BUFFER_FREED, buffer);
}

/*
 * Returns how many frees are in flight. Their bytes may be allocated again at once on the same
 * device: its thread handles each free before anything that is submitted from now on.
 */
static uint32_t free_memories(struct sched_memory **list)
{
	uint32_t count = 0;
	while (*list) {
		struct sched_memory *memory = *list;
		*list = memory->next;
		count++;
		if (memory->account)
			sched_quota_leave(sched_account_device(memory->account), memory->device,
					  memory->size_bytes);
		memory->message.kind = SCHED_MESSAGE_MEMORY_FREE;
		sched_device_post(memory->device, &memory->message);
	}
	return count;
}

/* A buffer leaves its shared contents. They end with their last buffer. */
static void leave_contents(struct sched_buffer *buffer)
{
	struct sched_contents *contents = buffer->contents;
	sched_residency_host_gone(buffer);
	contents->host_bits &= ~buffer->host_bit;
	if (--contents->references > 0)
		return;
	sched_contents_fini(contents);
	contents->references = free_memories(&contents->memories);
}

void sched_buffer_drop(struct sched_buffer *buffer)
{
	if (--buffer->references > 0)
		return;
	buffer->account = sched_account_drop(buffer->account);
	/* The host's range may be reused only when no device has a view of it. */
	buffer->frees_away = (uint16_t)free_memories(&buffer->memories);
	if (buffer->contents == &buffer->own) {
		sched_contents_fini(&buffer->own);
		buffer->frees_away =
			(uint16_t)(buffer->frees_away + free_memories(&buffer->own.memories));
	} else {
		leave_contents(buffer);
	}
	if (buffer->frees_away == 0)
		buffer_unused(buffer);
}

void sched_memory_freed(void *object)
{
	struct sched_memory *memory = object;
	struct sched_buffer *buffer = memory->buffer;
	struct sched_contents *contents = memory->contents;
	memory->device->memories--;
	if (memory->account) {
		sched_quota_left(sched_account_device(memory->account), memory->device,
				 memory->size_bytes);
		sched_use_settle(memory);
		list_remove(&memory->account_link);
	}
	(void)sched_account_drop(memory->account);
	free(memory);
	if (buffer && --buffer->frees_away == 0)
		buffer_unused(buffer);
	if (contents && --contents->references == 0)
		free(contents);
}
