/* Programs and kernels: made and freed on their device's thread. */
#include "sched_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void program_drop(struct sched_program *program)
{
	if (--program->references > 0)
		return;
	program->message.kind = SCHED_MESSAGE_PROGRAM_FREE;
	sched_device_post(program->device, &program->message);
}

int sched_program_load(struct scheduler *scheduler, struct scheduler_device *device, const void *binary,
		       size_t binary_bytes, void *owner, struct sched_program **program_out)
{
	struct sched_program *program = malloc(sizeof(*program));
	void *copy = malloc(binary_bytes > 0 ? binary_bytes : 1);
	if (!program || !copy) {
		free(copy);
		free(program);
		return -ENOMEM;
	}
	if (binary_bytes > 0)
		memcpy(copy, binary, binary_bytes);
	*program = (struct sched_program){
		.message = {.kind = SCHED_MESSAGE_PROGRAM_LOAD},
		.scheduler = scheduler,
		.device = device,
		.owner = owner,
		.binary = copy,
		.binary_bytes = binary_bytes,
		.references = 2,
	};
	sched_device_post(device, &program->message);
	*program_out = program;
	return 0;
}

void sched_program_release(struct sched_program *program)
{
	program_drop(program);
}

void sched_program_returned(struct sched_program *program)
{
	free(program->binary);
	program->binary = NULL;
	sched_notice_queue(program->scheduler, &program->notice, SCHED_NOTICE_PROGRAM_LOADED, program);
}

void sched_program_tell(struct sched_program *program)
{
	struct scheduler *scheduler = program->scheduler;
	scheduler->callbacks.on_program_loaded(scheduler->context, program->owner, program, program->names,
					       &program->fault);
	free(program->names);
	program->names = NULL;
	program_drop(program);
}

void sched_program_destroy(struct sched_program *program)
{
	free(program->names);
	free(program->binary);
	free(program);
}

void sched_kernel_drop(struct sched_kernel *kernel)
{
	if (--kernel->references > 0)
		return;
	kernel->message.kind = SCHED_MESSAGE_KERNEL_FREE;
	sched_device_post(kernel->device, &kernel->message);
}

int sched_kernel_create(struct scheduler *scheduler, struct sched_program *program, const char *name, void *owner,
			struct sched_kernel **kernel_out)
{
	struct sched_kernel *kernel = malloc(sizeof(*kernel));
	char *copy = strdup(name);
	if (!kernel || !copy) {
		free(copy);
		free(kernel);
		return -ENOMEM;
	}
	*kernel = (struct sched_kernel){
		.message = {.kind = SCHED_MESSAGE_KERNEL_CREATE},
		.scheduler = scheduler,
		.program = program,
		.device = program->device,
		.owner = owner,
		.name = copy,
		.references = 2,
	};
	program->references++;
	sched_device_post(kernel->device, &kernel->message);
	*kernel_out = kernel;
	return 0;
}

void sched_kernel_release(struct sched_kernel *kernel)
{
	sched_kernel_drop(kernel);
}

void sched_kernel_returned(struct sched_kernel *kernel)
{
	program_drop(kernel->program);
	kernel->program = NULL;
	sched_notice_queue(kernel->scheduler, &kernel->notice, SCHED_NOTICE_KERNEL_CREATED, kernel);
}

void sched_kernel_tell(struct sched_kernel *kernel)
{
	struct scheduler *scheduler = kernel->scheduler;
	scheduler->callbacks.on_kernel_created(scheduler->context, kernel->owner, kernel,
					       kernel->fault.status == 0 ? &kernel->facts : NULL, &kernel->fault);
	sched_kernel_drop(kernel);
}

void sched_kernel_destroy(struct sched_kernel *kernel)
{
	free(kernel->name);
	free(kernel);
}
