/* Buffers that other processes may open or have exported: their contents have a home. */
#include "scheduler/run/shared.h"

#include "base/cause.h"
#include "base/mailbox.h"
#include "base/pool.h"
#include "scheduler/state/buffer.h"
#include "scheduler/memory/dependencies.h"
#include "scheduler/state/device.h"
#include "scheduler/state/loss.h"
#include "scheduler/task/pool.h"
#include "scheduler/public/buffer.h"
#include "scheduler/public/device.h"
#include "scheduler/memory/residency.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"

#include "cleanup.h"
#include "status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct sched_buffer *sched_shared_make_buffer(struct scheduler *scheduler,
						     struct sched_contents *contents, void *host,
						     void *owner)
{
	struct sched_buffer *buffer = malloc(sizeof(*buffer));
	if (!buffer)
		return NULL;
	*buffer = (struct sched_buffer){
		.scheduler = scheduler,
		.number = ++scheduler->last_buffer,
		.owner = owner,
		.host = host,
		.contents = contents,
		.references = 1,
		.host_bit =
			~contents->host_bits & (contents->host_bits + 1), /* the lowest free bit */
	};
	contents->host_bits |= buffer->host_bit;
	contents->references++;
	scheduler->counters.buffers++;
	return buffer;
}

/* A buffer with new contents and the memory that they live in; nothing of it is known to a device.
 */
static int make_shared(struct scheduler *scheduler, struct scheduler_device *home,
		       const struct backend_image *image, uint64_t size_bytes, void *host,
		       void *owner, struct sched_buffer **buffer_out)
{
	if (size_bytes == 0)
		return -EINVAL;
	CLEANUP(free_pointer) struct sched_contents *contents = calloc(1, sizeof(*contents));
	if (!contents)
		return -ENOMEM;
	/* The task that makes the memory, the move of the first contents there, and the edge
	 * between them. */
	if (pool_reserve(&scheduler->tasks, 2) < 0 || pool_reserve(&scheduler->edges, 1) < 0)
		return -ENOMEM;
	struct sched_buffer *buffer = sched_shared_make_buffer(scheduler, contents, host, owner);
	if (!buffer)
		return -ENOMEM;
	/* A place of its own also with unified memory, since it is not the host's range. */
	uint32_t place = home->index + 1;
	sched_contents_init(contents, buffer, size_bytes, 1ull << place);
	contents->references = 1;
	contents->home_device = home;
	contents->home_place = place;
	if (image)
		contents->image = *image;
	contents->home = sched_memory_of(buffer, home);
	if (!contents->home) {
		scheduler->counters.buffers--;
		free(buffer);
		return -ENOMEM;
	}
	contents = NULL; /* the buffer's */
	*buffer_out = buffer;
	return 0;
}

/* Nothing uses the contents before their memory is there. */
static void prepare_shared_memory(struct sched_buffer *buffer)
{
	struct sched_memory *home = buffer->contents->home;
	struct task *task = sched_take_task(buffer->scheduler, sizeof(struct task_use));
	task->role = TASK_ROLE_PREPARE;
	task->device = home->device;
	task->memory = home;
	task->owner = buffer;
	task->front_only = true;
	task->state = TASK_HELD; /* the task is on no lane */
	(void)snprintf(task->command.what, sizeof(task->command.what), "shared memory");
	struct sched_access access = {
		.buffer = buffer, .place = buffer->contents->home_place, .writes = true};
	sched_access_ranges(&access, 0, 0, 0, home->size_bytes);
	(void)sched_access_cost(task, &access,
				/* No edges: this is the buffer's first task. */
				&(struct sched_cost){.edges = 0});
	sched_access_enter(task, &access);
	task_open(task);
	task->message.kind = SCHED_MESSAGE_MEMORY_PREPARE;
	sched_device_post(task->device, &task->message);
}

int sched_buffer_create_shared(struct scheduler *scheduler, struct scheduler_device *home,
			       enum backend_export_kind export_kind, uint64_t size_bytes,
			       void *host, bool initialised, void *owner,
			       struct sched_buffer **buffer_out)
{
	struct sched_buffer *buffer;
	int result = home->unified
			     ? -EINVAL
			     : make_shared(scheduler, home, NULL, size_bytes, host, owner, &buffer);
	if (result < 0)
		return result;
	buffer->contents->home->export_kind = export_kind;
	prepare_shared_memory(buffer);
	if (initialised)
		sched_residency_first(buffer);
	*buffer_out = buffer;
	return 0;
}

int sched_buffer_import(struct scheduler *scheduler, struct scheduler_device *home,
			const struct backend_shared_memory *shared, uint64_t size_bytes, void *host,
			void *owner, struct sched_buffer **buffer_out)
{
	struct sched_buffer *buffer;
	CLEANUP(close_fd) int descriptor = -1;
	if (shared->descriptor >= 0) {
		descriptor = fcntl(shared->descriptor, F_DUPFD_CLOEXEC, 0);
		if (descriptor < 0)
			return -errno;
	}
	int result = home->unified
			     ? -EINVAL
			     : make_shared(scheduler, home, NULL, size_bytes, host, owner, &buffer);
	if (result < 0)
		return result;
	struct sched_memory *memory = buffer->contents->home;
	memory->imported = true;
	memory->shared = *shared;
	memory->shared.descriptor = take_fd(&descriptor);
	buffer->references++; /* until the callback */
	prepare_shared_memory(buffer);
	*buffer_out = buffer;
	return 0;
}

int sched_buffer_create_native(struct scheduler *scheduler, struct scheduler_device *home,
			       uint64_t native, const struct backend_image *image,
			       uint64_t size_bytes, void *host, void *owner,
			       struct sched_buffer **buffer_out)
{
	struct sched_buffer *buffer;
	int result = make_shared(scheduler, home, image, size_bytes, host, owner, &buffer);
	if (result < 0)
		return result;
	buffer->contents->home->imported = true;
	buffer->contents->home->native = native;
	buffer->references++; /* until the callback */
	prepare_shared_memory(buffer);
	*buffer_out = buffer;
	return 0;
}

int sched_buffer_share(struct sched_buffer *of, void *host, void *owner,
		       struct sched_buffer **buffer_out)
{
	if (!of->contents->home)
		return -EINVAL;
	struct sched_buffer *buffer =
		sched_shared_make_buffer(of->scheduler, of->contents, host, owner);
	if (!buffer)
		return -ENOMEM;
	*buffer_out = buffer;
	return 0;
}

void sched_shared_export(struct task *task)
{
	task->state = TASK_HELD;
	task->message.kind = SCHED_MESSAGE_MEMORY_EXPORT;
	sched_device_post(task->device, &task->message);
}

void sched_shared_returned(void *object)
{
	struct task *task = object;
	struct sched_cause *cause = task->command.cause;
	if (cause) {
		sched_loss_found(task->device, &cause->fault);
		task_doom(task, cause, true);
		sched_cause_drop(cause);
		task->command.cause = NULL;
	}
	task_finish(task);
}

void sched_shared_notify(struct task *task)
{
	struct scheduler *scheduler = task->scheduler;
	struct sched_buffer *buffer = task->uses[0].buffer;
	struct backend_fault fault = {.status = STATUS_SUCCESS};
	task_outcome_fault(task, &fault);
	if (task->role == TASK_ROLE_PREPARE)
		scheduler->callbacks.on_buffer_imported(scheduler->context, buffer->owner, buffer,
							&fault);
	else
		scheduler->callbacks.on_buffer_exported(scheduler->context, task->owner,
							task->cause ? NULL : task->shared, &fault);
	task_release(task);
	sched_buffer_drop(buffer);
}
