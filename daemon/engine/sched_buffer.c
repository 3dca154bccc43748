/* Buffers and their memories. */
#include "sched_internal.h"

#include <errno.h>
#include <stdlib.h>

int sched_buffer_create(struct scheduler *scheduler, uint64_t size_bytes, void *host, bool initialised, void *owner,
			struct sched_buffer **buffer_out)
{
	struct sched_buffer *buffer = malloc(sizeof(*buffer));
	if (!buffer)
		return -ENOMEM;
	*buffer = (struct sched_buffer){
		.scheduler = scheduler,
		.owner = owner,
		.host = host,
		.size_bytes = size_bytes,
		.valid = initialised ? 1ull << SCHED_HOST_PLACE : 0,
		.references = 1,
	};
	scheduler->counters.buffers++;
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

void sched_buffer_drop(struct sched_buffer *buffer)
{
	if (--buffer->references > 0)
		return;
	sched_cause_drop(buffer->poison);
	buffer->poison = NULL;
	if (!buffer->memories) {
		buffer_unused(buffer);
		return;
	}
	/* The host's range may be reused only when no device has a view of it. */
	while (buffer->memories) {
		struct sched_memory *memory = buffer->memories;
		buffer->memories = memory->next;
		buffer->frees_away++;
		memory->message.kind = SCHED_MESSAGE_MEMORY_FREE;
		sched_device_post(memory->device, &memory->message);
	}
}

void sched_memory_freed(struct sched_memory *memory)
{
	struct sched_buffer *buffer = memory->buffer;
	free(memory);
	if (--buffer->frees_away == 0)
		buffer_unused(buffer);
}

struct sched_memory *sched_memory_of(struct sched_buffer *buffer, struct scheduler_device *device)
{
	struct sched_memory *memory;
	for (memory = buffer->memories; memory; memory = memory->next)
		if (memory->device == device)
			return memory;
	memory = malloc(sizeof(*memory));
	if (!memory)
		return NULL;
	*memory = (struct sched_memory){
		.next = buffer->memories,
		.buffer = buffer,
		.device = device,
		.size_bytes = buffer->size_bytes,
		.host = device->unified ? buffer->host : NULL,
	};
	buffer->memories = memory;
	return memory;
}
