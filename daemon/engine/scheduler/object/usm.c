/*
 * USM: memory that a device's loader allocates and frees, and the commands about it. No address
 * orders anything (B26): these tasks have requirements as all others may, and edges from events.
 */
#include "scheduler/state/usm.h"

#include "base/mailbox.h"
#include "scheduler/state/device.h"
#include "scheduler/state/loss.h"
#include "scheduler/state/notice.h"
#include "scheduler/state/program.h"
#include "scheduler/public/device.h"
#include "scheduler/public/program.h"
#include "scheduler/public/task.h"
#include "scheduler/public/usm.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int sched_usm_allocate(struct scheduler_device *device, enum backend_usm_kind kind,
		       uint64_t size_bytes, uint64_t alignment_bytes, void *owner,
		       struct sched_usm **usm_out)
{
	struct sched_usm *usm = malloc(sizeof(*usm));
	if (!usm)
		return -ENOMEM;
	*usm = (struct sched_usm){
		.message = {.kind = SCHED_MESSAGE_USM_ALLOCATE},
		.device = device,
		.owner = owner,
		.kind = kind,
		.size_bytes = size_bytes,
		.alignment_bytes = alignment_bytes,
	};
	sched_device_post_load(device, &usm->message);
	*usm_out = usm;
	return 0;
}

int sched_usm_find_variable(struct sched_program *program, const char *name, void *owner,
			    struct sched_usm **usm_out)
{
	struct sched_usm *usm = malloc(sizeof(*usm));
	char *copy = strdup(name);
	if (!usm || !copy) {
		free(copy);
		free(usm);
		return -ENOMEM;
	}
	*usm = (struct sched_usm){
		.message = {.kind = SCHED_MESSAGE_USM_ALLOCATE},
		.device = program->device,
		.owner = owner,
		.kind = BACKEND_USM_DEVICE,
		.program = program,
		.name = copy,
	};
	program->references++;
	sched_device_post_load(program->device, &usm->message);
	*usm_out = usm;
	return 0;
}

uint64_t sched_usm_bytes(const struct sched_usm *usm)
{
	return usm->size_bytes;
}

static void destroy_usm(struct sched_usm *usm)
{
	free(usm->name);
	free(usm);
}

void sched_usm_release(struct sched_usm *usm)
{
	if (!usm->pointer) {
		destroy_usm(usm);
		return;
	}
	usm->message.kind = SCHED_MESSAGE_USM_FREE;
	sched_device_post_load(usm->device, &usm->message);
}

void sched_usm_returned(void *object)
{
	struct sched_usm *usm = object;
	if (usm->message.kind == SCHED_MESSAGE_USM_FREE) {
		destroy_usm(usm);
		return;
	}
	if (usm->program)
		sched_program_release(usm->program);
	usm->program = NULL;
	sched_loss_found(usm->device, &usm->fault);
	sched_notice_queue(usm->device->scheduler, &usm->notice, SCHED_NOTICE_USM_READY, usm);
}

void sched_usm_notify(void *object)
{
	struct sched_usm *usm = object;
	struct scheduler *scheduler = usm->device->scheduler;
	scheduler->callbacks.on_usm_ready(scheduler->context, usm->owner, usm->pointer,
					  &usm->fault);
}

void sched_usm_fill_command(struct task_command *command, const struct task_request *request,
			    uint8_t *at)
{
	static const enum backend_command_kind kinds[] = {
		[TASK_USM_COPY] = BACKEND_COMMAND_USM_COPY,
		[TASK_USM_FILL] = BACKEND_COMMAND_USM_FILL,
		[TASK_USM_PREFETCH] = BACKEND_COMMAND_USM_PREFETCH,
		[TASK_USM_ADVISE] = BACKEND_COMMAND_USM_ADVISE,
	};
	struct backend_command *backend = &command->backend;
	backend->kind = kinds[request->action];
	backend->usm.destination = request->usm.destination;
	backend->usm.source = request->usm.source;
	backend->usm.host_destination = request->usm.host_destination;
	backend->usm.host_source = request->usm.host_source;
	backend->usm.size_bytes = request->usm.size_bytes;
	backend->usm.advice = request->usm.advice;
	if (request->action != TASK_USM_FILL)
		return;
	memcpy(at, request->usm.pattern, request->usm.pattern_bytes);
	backend->usm.pattern = at;
	backend->usm.pattern_bytes = request->usm.pattern_bytes;
}
