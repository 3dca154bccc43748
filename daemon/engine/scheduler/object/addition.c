/* A program gets other numbers of dimensions, or fails to. */
#include "scheduler/state/program.h"

#include "base/cause.h"
#include "scheduler/public/device.h"
#include "scheduler/public/program.h"
#include "scheduler/state/device.h"
#include "scheduler/state/loss.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The launches that waited for these go on, or fail for the cause. */
static void release_variants(struct sched_variants *variants, uint32_t bits,
			     struct sched_cause *cause)
{
	struct task *next = NULL;
	for (struct task *task = variants->waiting; task; task = next) {
		next = task->kernel_next;
		if (!(bits & sched_variant_bit(task->command.backend.launch.dimensions)))
			continue;
		sched_kernel_end_wait(task);
		if (cause)
			task_doom(task, cause, true);
		task_consider(task);
	}
}

static void set_cause(struct sched_variants *variants, uint32_t bits, struct sched_cause *cause)
{
	for (uint32_t i = 0; i < 3; i++) {
		if (!(bits >> i & 1))
			continue;
		sched_cause_drop(variants->causes[i]);
		variants->causes[i] = cause ? sched_cause_hold(cause) : NULL;
	}
}

static void refuse_variants(struct sched_variants *variants, uint32_t bits,
			    const struct backend_fault *fault)
{
	struct sched_cause *cause = sched_cause_create(fault);
	variants->coming &= ~bits;
	set_cause(variants, bits, cause);
	release_variants(variants, bits, cause);
	sched_cause_drop(cause);
}

enum sched_variant_state sched_program_variant(const struct sched_program *program,
					       uint32_t dimensions, struct backend_fault *fault_out)
{
	const struct sched_variants *variants = program->variants;
	if (sched_variants_are_ready(variants, dimensions))
		return SCHED_VARIANT_READY;
	if (variants->coming & sched_variant_bit(dimensions))
		return SCHED_VARIANT_COMING;
	if (!variants->causes[dimensions - 1])
		return SCHED_VARIANT_ABSENT;
	*fault_out = variants->causes[dimensions - 1]->fault;
	return SCHED_VARIANT_FAILED;
}

void sched_program_expect(struct sched_program *program, uint32_t dimensions)
{
	program->variants->coming |= sched_variant_bit(dimensions);
	set_cause(program->variants, sched_variant_bit(dimensions), NULL);
}

bool sched_program_is_awaited(const struct sched_program *program, uint32_t dimensions)
{
	const struct task *task = program->variants->waiting;
	while (task && task->command.backend.launch.dimensions != dimensions)
		task = task->kernel_next;
	return task != NULL;
}

int sched_program_add(struct sched_program *program, uint32_t dimensions, const void *binary,
		      size_t binary_bytes)
{
	struct sched_addition *addition = malloc(sizeof(*addition));
	void *copy = malloc(binary_bytes > 0 ? binary_bytes : 1);
	if (!addition || !copy) {
		free(addition);
		free(copy);
		return -ENOMEM;
	}
	if (binary_bytes > 0)
		memcpy(copy, binary, binary_bytes);
	*addition = (struct sched_addition){
		.message = {.kind = SCHED_MESSAGE_PROGRAM_ADD},
		.program = sched_program_hold(program),
		.dimensions = sched_variant_bit(dimensions),
		.binary = copy,
		.binary_bytes = binary_bytes,
	};
	sched_device_post_load(program->device, &addition->message);
	return 0;
}

void sched_program_refuse(struct sched_program *program, uint32_t dimensions,
			  const struct backend_fault *fault)
{
	refuse_variants(program->variants, sched_variant_bit(dimensions), fault);
}

void sched_addition_returned(void *object)
{
	struct sched_addition *addition = object;
	struct sched_variants *variants = addition->program->variants;
	sched_loss_found(addition->program->device, &addition->fault);
	if (addition->fault.status) {
		refuse_variants(variants, addition->dimensions, &addition->fault);
	} else {
		variants->coming &= ~addition->dimensions;
		variants->ready |= addition->dimensions;
		release_variants(variants, addition->dimensions, NULL);
	}
	sched_program_release(addition->program);
	free(addition->binary);
	free(addition);
}
