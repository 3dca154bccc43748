/* Programs and kernels: made by their device's loader, freed on its thread. */
#include "scheduler/state/program.h"

#include "base/cause.h"
#include "base/mailbox.h"
#include "scheduler/state/device.h"
#include "scheduler/state/loss.h"
#include "scheduler/state/notice.h"
#include "scheduler/public/device.h"
#include "scheduler/public/program.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"

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

struct source {
	const void *bytes;
	size_t byte_count;
	bool is_native;
	uint32_t dimensions; /* 0: all */
	enum backend_program_state state;
};

static int load_program(struct scheduler *scheduler, struct scheduler_device *device,
			const struct source *source, void *owner,
			struct sched_program **program_out)
{
	size_t binary_bytes = source->byte_count;
	struct sched_program *program = malloc(sizeof(*program));
	void *copy = malloc(binary_bytes > 0 ? binary_bytes : 1);
	struct sched_variants *variants =
		source->dimensions ? sched_variants_create(source->dimensions) : NULL;
	if (!program || !copy || (source->dimensions && !variants)) {
		sched_variants_drop(variants);
		free(copy);
		free(program);
		return -ENOMEM;
	}
	if (binary_bytes > 0)
		memcpy(copy, source->bytes, binary_bytes);
	*program = (struct sched_program){
		.message = {.kind = SCHED_MESSAGE_PROGRAM_LOAD},
		.scheduler = scheduler,
		.device = device,
		.owner = owner,
		.binary = copy,
		.binary_bytes = binary_bytes,
		.variants = variants,
		.is_native = source->is_native,
		.state = source->state,
		.references = 2,
	};
	sched_device_post_load(device, &program->message);
	*program_out = program;
	return 0;
}

int sched_program_load(struct scheduler *scheduler, struct scheduler_device *device,
		       const void *binary, size_t binary_bytes, void *owner,
		       struct sched_program **program_out)
{
	return sched_program_load_some(scheduler, device, 0, binary, binary_bytes, owner,
				       program_out);
}

int sched_program_load_some(struct scheduler *scheduler, struct scheduler_device *device,
			    uint32_t dimensions, const void *binary, size_t binary_bytes,
			    void *owner, struct sched_program **program_out)
{
	const struct source source = {
		.bytes = binary, .byte_count = binary_bytes, .dimensions = dimensions};
	return load_program(scheduler, device, &source, owner, program_out);
}

int sched_program_make_native(struct scheduler *scheduler, struct scheduler_device *device,
			      enum backend_program_state state, const uint64_t *natives,
			      uint32_t count, void *owner, struct sched_program **program_out)
{
	return load_program(scheduler, device,
			    &(struct source){.bytes = natives,
					     .byte_count = count * sizeof(*natives),
					     .is_native = true,
					     .state = state},
			    owner, program_out);
}

struct sched_program *sched_program_hold(struct sched_program *program)
{
	program->references++;
	return program;
}

void sched_program_release(struct sched_program *program)
{
	program_drop(program);
}

void sched_program_returned(void *object)
{
	struct sched_program *program = object;
	free(program->binary);
	program->binary = NULL;
	sched_loss_found(program->device, &program->fault);
	sched_notice_queue(program->scheduler, &program->notice, SCHED_NOTICE_PROGRAM_LOADED,
			   program);
}

void sched_program_notify(void *object)
{
	struct sched_program *program = object;
	struct scheduler *scheduler = program->scheduler;
	scheduler->callbacks.on_program_loaded(scheduler->context, program->owner, program,
					       program->names, &program->fault);
	free(program->names);
	program->names = NULL;
	program_drop(program);
}

void sched_program_destroy(void *object)
{
	struct sched_program *program = object;
	sched_variants_drop(program->variants);
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

/* `program` or `native`. */
static int make_kernel(struct scheduler *scheduler, struct scheduler_device *device,
		       struct sched_program *program, uint64_t native, const char *name,
		       void *owner, struct sched_kernel **kernel_out)
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
		.native = native,
		.device = device,
		.variants = sched_variants_hold(program ? program->variants : NULL),
		.owner = owner,
		.name = copy,
		.references = 2,
	};
	if (program)
		program->references++;
	sched_device_post_load(kernel->device, &kernel->message);
	*kernel_out = kernel;
	return 0;
}

int sched_kernel_create(struct scheduler *scheduler, struct sched_program *program,
			const char *name, void *owner, struct sched_kernel **kernel_out)
{
	return make_kernel(scheduler, program->device, program, 0, name, owner, kernel_out);
}

int sched_kernel_make_native(struct scheduler *scheduler, struct scheduler_device *device,
			     uint64_t native, void *owner, struct sched_kernel **kernel_out)
{
	return make_kernel(scheduler, device, NULL, native, "", owner, kernel_out);
}

void sched_kernel_release(struct sched_kernel *kernel)
{
	sched_kernel_drop(kernel);
}

void sched_kernel_use(struct sched_kernel *kernel, struct task *task)
{
	task->command.kernel = kernel;
	kernel->references++;
	/* A kernel that the device's own thread makes exists before the launch is handled. */
	if (kernel->made || !kernel->device->loader.started)
		sched_variants_await(kernel->variants, task);
	else
		sched_kernel_wait(task, &kernel->waiting);
}

void sched_kernel_unuse(struct task *task)
{
	sched_kernel_end_wait(task);
	sched_kernel_drop(task->command.kernel);
}

static void release_waiting_launches(struct sched_kernel *kernel)
{
	struct sched_cause *cause =
		kernel->fault.status == 0 ? NULL : sched_cause_create(&kernel->fault);
	while (kernel->waiting) {
		struct task *task = kernel->waiting;
		sched_kernel_end_wait(task);
		if (cause)
			task_doom(task, cause, true);
		else
			sched_variants_await(kernel->variants, task);
		task_consider(task);
	}
	sched_cause_drop(cause);
}

void sched_kernel_returned(void *object)
{
	struct sched_kernel *kernel = object;
	if (kernel->program)
		program_drop(kernel->program);
	kernel->program = NULL;
	kernel->made = true;
	sched_loss_found(kernel->device, &kernel->fault);
	release_waiting_launches(kernel);
	sched_notice_queue(kernel->scheduler, &kernel->notice, SCHED_NOTICE_KERNEL_CREATED, kernel);
}

void sched_kernel_notify(void *object)
{
	struct sched_kernel *kernel = object;
	struct scheduler *scheduler = kernel->scheduler;
	scheduler->callbacks.on_kernel_created(scheduler->context, kernel->owner, kernel,
					       kernel->fault.status == 0 ? &kernel->facts : NULL,
					       &kernel->fault);
	sched_kernel_drop(kernel);
}

void sched_kernel_destroy(void *object)
{
	struct sched_kernel *kernel = object;
	sched_variants_drop(kernel->variants);
	free(kernel->name);
	free(kernel);
}

int sched_kernel_occupancy(struct sched_kernel *kernel, const uint64_t local[3],
			   uint64_t local_mem_bytes, void *owner)
{
	struct sched_occupancy *question = malloc(sizeof(*question));
	if (!question)
		return -ENOMEM;
	*question = (struct sched_occupancy){
		.message = {.kind = SCHED_MESSAGE_OCCUPANCY},
		.kernel = kernel,
		.owner = owner,
		.local_mem_bytes = local_mem_bytes,
	};
	memcpy(question->local, local, sizeof(question->local));
	kernel->references++;
	sched_device_post_load(kernel->device, &question->message);
	return 0;
}

void sched_occupancy_returned(void *object)
{
	struct sched_occupancy *question = object;
	sched_loss_found(question->kernel->device, &question->fault);
	sched_notice_queue(question->kernel->scheduler, &question->notice, SCHED_NOTICE_OCCUPANCY,
			   question);
}

void sched_occupancy_notify(void *object)
{
	struct sched_occupancy *question = object;
	struct scheduler *scheduler = question->kernel->scheduler;
	scheduler->callbacks.on_occupancy(scheduler->context, question->owner,
					  question->fault.status == 0 ? &question->answer : NULL,
					  &question->fault);
	sched_kernel_drop(question->kernel);
	free(question);
}
