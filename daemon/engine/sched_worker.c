/*
 * The thread of one device: the only one that calls its backend. Takes messages, asks for completions when the backend
 * says that there are some, gives everything back, sleeps when there is nothing.
 */
#include "sched_internal.h"

#include "status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define MESSAGES_PER_TURN 64u

/* From any thread, also from inside the backend. */
static void wake(void *token)
{
	struct scheduler_device *device = token;
	atomic_store(&device->poked, 1);
	(void)sched_sleeper_wake(&device->sleeper);
}

void sched_worker_return(struct scheduler_device *device, struct sched_message *message)
{
	sched_mailbox_write(&device->to_front, message);
}

static void publish(struct scheduler_device *device)
{
	if (!sched_mailbox_publish(&device->to_front))
		return;
	sched_wake_front(device->scheduler);
	(void)sched_sleeper_wake(&device->scheduler->front_sleeper);
}

static void open_device(struct scheduler_device *device)
{
	struct sched_worker *worker = &device->worker;
	char name[16];
	(void)snprintf(name, sizeof(name), "device-%u", device->index);
	(void)pthread_setname_np(pthread_self(), name);
	int result = device->ops->device_open(device->backend, device->backend_index, wake, device, &worker->handle,
					      &worker->fault);
	if (result == 0)
		return;
	worker->unusable = true;
	worker->handle = NULL;
	if (worker->fault.status == STATUS_SUCCESS)
		worker->fault.status = STATUS_DEVICE_LOST;
	sched_fault_complete(&worker->fault, result);
}

static void close_device(struct scheduler_device *device)
{
	struct sched_worker *worker = &device->worker;
	for (uint32_t i = 0; i < SCHED_LANES_MAX; i++)
		if (worker->lanes[i].handle)
			device->ops->lane_free(worker->lanes[i].handle);
	if (worker->handle)
		device->ops->device_close(worker->handle);
}

static void load_program(struct scheduler_device *device, struct sched_program *program)
{
	struct sched_worker *worker = &device->worker;
	if (worker->unusable) {
		program->fault = worker->fault;
		return;
	}
	int result = device->ops->program_load(worker->handle, program->binary, program->binary_bytes, &program->handle,
					       &program->fault);
	if (result < 0) {
		program->handle = NULL;
		sched_fault_complete(&program->fault, result);
		if (program->fault.device_lost)
			sched_worker_lose(device, &program->fault);
		return;
	}
	/* Names are a convenience: a program without them still has its kernels. */
	struct backend_fault unimportant = {.status = STATUS_SUCCESS};
	program->fault = (struct backend_fault){.status = STATUS_SUCCESS};
	if (device->ops->program_kernels(program->handle, &program->names, &unimportant) < 0)
		program->names = NULL;
}

static void create_kernel(struct scheduler_device *device, struct sched_kernel *kernel)
{
	struct sched_worker *worker = &device->worker;
	if (worker->unusable) {
		kernel->fault = worker->fault;
	} else if (!kernel->program->handle) {
		kernel->fault = kernel->program->fault;
	} else {
		int result = device->ops->kernel_create(kernel->program->handle, kernel->name, &kernel->handle,
							&kernel->fault);
		if (result == 0) {
			kernel->fault = (struct backend_fault){.status = STATUS_SUCCESS};
			device->ops->kernel_facts(kernel->handle, &kernel->facts);
			return;
		}
		kernel->handle = NULL;
		sched_fault_complete(&kernel->fault, result);
		if (kernel->fault.device_lost)
			sched_worker_lose(device, &kernel->fault);
	}
}

static void free_handle(struct scheduler_device *device, struct sched_message *message)
{
	if (message->kind == SCHED_MESSAGE_MEMORY_FREE) {
		struct sched_memory *memory = (struct sched_memory *)(void *)message;
		if (memory->handle)
			device->ops->memory_free(memory->handle);
	} else if (message->kind == SCHED_MESSAGE_PROGRAM_FREE) {
		struct sched_program *program = (struct sched_program *)(void *)message;
		if (program->handle)
			device->ops->program_free(program->handle);
	} else {
		struct sched_kernel *kernel = (struct sched_kernel *)(void *)message;
		if (kernel->handle)
			device->ops->kernel_free(kernel->handle);
	}
}

void sched_worker_handle(struct scheduler_device *device, struct sched_message *message)
{
	switch (message->kind) {
	case SCHED_MESSAGE_SEND:
		sched_execute(device, (struct task *)(void *)message);
		return; /* comes back when it is complete */
	case SCHED_MESSAGE_FORGET:
		sched_execute_forget(device, (struct task *)(void *)message);
		break;
	case SCHED_MESSAGE_PROGRAM_LOAD:
		load_program(device, (struct sched_program *)(void *)message);
		break;
	case SCHED_MESSAGE_KERNEL_CREATE:
		create_kernel(device, (struct sched_kernel *)(void *)message);
		break;
	case SCHED_MESSAGE_MEMORY_FREE:
	case SCHED_MESSAGE_PROGRAM_FREE:
	case SCHED_MESSAGE_KERNEL_FREE:
		free_handle(device, message);
		break;
	}
	sched_worker_return(device, message);
}

static bool take_messages(struct scheduler_device *device)
{
	struct sched_worker *worker = &device->worker;
	uint32_t count = 0;
	struct sched_message *message;
	while (count < MESSAGES_PER_TURN && (message = sched_mailbox_read(&device->to_device))) {
		sched_worker_handle(device, message);
		count++;
	}
	if (worker->unflushed && !worker->unusable)
		device->ops->flush(worker->handle);
	worker->unflushed = false;
	return count > 0;
}

static bool take_completions(struct scheduler_device *device)
{
	struct sched_worker *worker = &device->worker;
	if (atomic_load_explicit(&device->poked, memory_order_relaxed) == 0 || atomic_exchange(&device->poked, 0) == 0)
		return false;
	uint32_t count;
	do {
		if (!worker->handle)
			return false;
		count = device->ops->progress(worker->handle, worker->completions, SCHED_COMPLETIONS);
		for (uint32_t i = 0; i < count; i++)
			sched_execute_completion(device, &worker->completions[i]);
		publish(device);
	} while (count == SCHED_COMPLETIONS);
	return count > 0;
}

void *sched_worker_main(void *argument)
{
	struct scheduler_device *device = argument;
	open_device(device);
	for (;;) {
		bool busy = take_messages(device);
		busy |= take_completions(device);
		publish(device);
		if (busy)
			continue;
		if (atomic_load(&device->quit))
			break;
		sched_sleeper_prepare(&device->sleeper);
		if (!sched_mailbox_has_mail(&device->to_device) && !atomic_load(&device->poked) &&
		    !atomic_load(&device->quit))
			sched_sleeper_sleep(&device->sleeper);
		sched_sleeper_cancel(&device->sleeper);
	}
	close_device(device);
	return NULL;
}
