/*
 * The loader: translates programs, loads kernels and pins memory on a thread of its own, so that
 * launches go on meanwhile (F11). A device without BACKEND_FEATURE_LOADER does all this on its
 * device thread.
 */
#include "worker/object/loader.h"

#include "base/cause.h"
#include "base/dispatch.h"
#include "base/mailbox.h"
#include "scheduler/state/device.h"
#include "scheduler/state/host_memory.h"
#include "scheduler/state/program.h"
#include "scheduler/public/device.h"
#include "scheduler/state/usm.h"
#include "worker/command/loss.h"
#include "worker/device/quiesce.h"
#include "worker/spill/spill.h"
#include "worker/device/wake.h"

#include "status.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>

static bool is_device_there(struct scheduler_device *device, struct backend_fault *fault_out)
{
	const uint32_t gone = atomic_load(&device->gone);
	if (!gone)
		return true;
	*fault_out = device->gone_faults[gone];
	return false;
}

/* The device's own thread ends the commands that are on the device. */
static void complete_fault(struct scheduler_device *device, struct backend_fault *fault, int result)
{
	struct worker_loader *loader = &device->loader;
	sched_fault_complete(fault, result);
	if (!fault->device_lost)
		return;
	if (!(device->features & BACKEND_FEATURE_LOADER)) {
		worker_lose(device, fault);
	} else if (atomic_load_explicit(&loader->lost, memory_order_relaxed) == 0) {
		loader->fault = *fault;
		atomic_store(&loader->lost, 1);
		(void)sched_sleeper_wake(&device->port.sleeper);
	}
}

static int make_native_program(struct scheduler_device *device, struct sched_program *program)
{
	if (!device->ops->native_program)
		return -EOPNOTSUPP;
	return device->ops->native_program(device->handle, program->state, program->binary,
					   (uint32_t)(program->binary_bytes / sizeof(uint64_t)),
					   &program->handle, &program->fault);
}

static bool program_is_loaded_already(struct scheduler_device *device,
				      const struct sched_program *program)
{
	return device->ops->program_is_loaded &&
	       device->ops->program_is_loaded(device->handle, program->binary,
					      program->binary_bytes);
}

static int load_binary(struct scheduler_device *device, struct sched_program *program)
{
	bool loaded = program_is_loaded_already(device, program);
	if (!loaded)
		worker_quiesce_begin(device);
	int result =
		device->ops->program_load(device->handle, program->binary, program->binary_bytes,
					  &program->handle, &program->fault);
	if (!loaded)
		worker_quiesce_end(device);
	return result;
}

static void loader_load_program(struct scheduler_device *device, void *object)
{
	struct sched_program *program = object;
	if (!is_device_there(device, &program->fault))
		return;
	int result = program->is_native ? make_native_program(device, program)
					: load_binary(device, program);
	if (result < 0) {
		program->handle = NULL;
		complete_fault(device, &program->fault, result);
		return;
	}
	/* Names are a convenience: a program without them still has its kernels. */
	struct backend_fault unimportant = {.status = STATUS_SUCCESS};
	program->fault = (struct backend_fault){.status = STATUS_SUCCESS};
	bool has_kernels = !program->is_native || program->state == BACKEND_PROGRAM_EXECUTABLE;
	if (!has_kernels ||
	    device->ops->program_kernels(program->handle, &program->names, &unimportant) < 0)
		program->names = NULL;
}

static void add_to_program(struct scheduler_device *device, void *object)
{
	struct sched_addition *addition = object;
	struct sched_program *program = addition->program;
	if (!is_device_there(device, &addition->fault))
		return;
	if (!program->handle) {
		addition->fault = program->fault;
		return;
	}
	int result = device->ops->program_add
			     ? device->ops->program_add(program->handle, addition->binary,
							addition->binary_bytes, &addition->fault)
			     : -EOPNOTSUPP;
	if (result < 0)
		complete_fault(device, &addition->fault, result);
	else
		addition->fault = (struct backend_fault){.status = STATUS_SUCCESS};
}

static int make_native_kernel(struct scheduler_device *device, struct sched_kernel *kernel)
{
	uint64_t nothing = 0;
	void *object = NULL;
	if (!device->ops->native_make)
		return -EOPNOTSUPP;
	int result = device->ops->native_make(device->handle, BACKEND_NATIVE_KERNEL, kernel->native,
					      &object, &nothing, &kernel->fault);
	if (result == 0)
		kernel->handle = object;
	return result;
}

static void create_kernel(struct scheduler_device *device, void *object)
{
	struct sched_kernel *kernel = object;
	if (!is_device_there(device, &kernel->fault))
		return;
	if (kernel->program && !kernel->program->handle) {
		kernel->fault = kernel->program->fault;
		return;
	}
	int result = kernel->program
			     ? device->ops->kernel_create(kernel->program->handle, kernel->name,
							  &kernel->handle, &kernel->fault)
			     : make_native_kernel(device, kernel);
	if (result == 0) {
		kernel->fault = (struct backend_fault){.status = STATUS_SUCCESS};
		device->ops->kernel_facts(kernel->handle, &kernel->facts);
		return;
	}
	kernel->handle = NULL;
	complete_fault(device, &kernel->fault, result);
}

static void answer_occupancy(struct scheduler_device *device, void *object)
{
	struct sched_occupancy *question = object;
	struct backend_fault *fault = &question->fault;
	if (!is_device_there(device, fault))
		return;
	if (!question->kernel->handle) {
		*fault = question->kernel->fault;
		return;
	}
	if (!(device->features & BACKEND_FEATURE_OCCUPANCY) || !device->ops->kernel_occupancy) {
		fault->status = STATUS_FEATURE_NOT_SUPPORTED;
		(void)snprintf(fault->text, sizeof(fault->text),
			       "the device does not report a kernel's occupancy");
		return;
	}
	int result =
		device->ops->kernel_occupancy(question->kernel->handle, question->local,
					      question->local_mem_bytes, &question->answer, fault);
	if (result < 0)
		complete_fault(device, fault, result);
	else
		*fault = (struct backend_fault){.status = STATUS_SUCCESS};
}

static void register_host(struct scheduler_device *device, void *object)
{
	struct sched_registration *registration = object;
	if (!is_device_there(device, &registration->fault))
		return;
	int result = device->ops->host_register(device->handle, registration->host->host,
						registration->host->size_bytes,
						&registration->handle, &registration->fault);
	if (result == 0) {
		registration->fault = (struct backend_fault){.status = STATUS_SUCCESS};
		return;
	}
	registration->handle = NULL;
	complete_fault(device, &registration->fault, result);
}

static int loader_find_variable(struct scheduler_device *device, struct sched_usm *usm)
{
	if (!(device->features & BACKEND_FEATURE_VARIABLE) || !device->ops->program_variable) {
		usm->fault.status = STATUS_FEATURE_NOT_SUPPORTED;
		(void)snprintf(usm->fault.text, sizeof(usm->fault.text),
			       "the device does not report where variables lie");
		return -ENOTSUP;
	}
	return device->ops->program_variable(usm->program->handle, usm->name, &usm->pointer,
					     &usm->size_bytes, &usm->fault);
}

static int request_usm(struct scheduler_device *device, struct sched_usm *usm)
{
	if (usm->name)
		return loader_find_variable(device, usm);
	if (device->features & BACKEND_FEATURE_USM && device->ops->usm_alloc)
		return device->ops->usm_alloc(device->handle, usm->kind, usm->size_bytes,
					      usm->alignment_bytes, &usm->pointer, &usm->fault);
	return -ENOTSUP;
}

static void usm_complete_fault(struct scheduler_device *device, struct sched_usm *usm, int result)
{
	if (result >= 0 && usm->kind == BACKEND_USM_DEVICE && !usm->name)
		atomic_fetch_add_explicit(&device->room.held_bytes, usm->size_bytes,
					  memory_order_relaxed);
	if (result >= 0)
		return;
	usm->pointer = NULL;
	complete_fault(device, &usm->fault, result);
}

static void loader_allocate_usm(struct scheduler_device *device, void *object)
{
	struct sched_usm *usm = object;
	if (is_device_there(device, &usm->fault))
		usm_complete_fault(device, usm, request_usm(device, usm));
}

bool worker_allocate_usm(struct scheduler_device *device, void *object)
{
	struct sched_usm *usm = object;
	if (!is_device_there(device, &usm->fault))
		return true;
	int result = request_usm(device, usm);
	if (result == -EAGAIN && worker_spill_await_quiet(device)) {
		usm->fault = (struct backend_fault){.status = STATUS_SUCCESS};
		worker_spill_set_aside(device, &usm->message);
		return false;
	}
	usm_complete_fault(device, usm, result == -EAGAIN ? -ENOMEM : result);
	return true;
}

static void unregister_host(struct scheduler_device *device, void *object)
{
	const struct sched_registration *registration = object;
	device->ops->host_unregister(registration->handle);
}

static void free_usm(struct scheduler_device *device, void *object)
{
	const struct sched_usm *usm = object;
	if (usm->kind == BACKEND_USM_DEVICE && !usm->name)
		atomic_fetch_sub_explicit(&device->room.held_bytes, usm->size_bytes,
					  memory_order_relaxed);
	device->ops->usm_free(device->handle, usm->kind, usm->pointer);
}

/* The function for each kind of message to the loader. */
#define HANDLERS(ENTRY)                                                                            \
	ENTRY(SCHED_MESSAGE_PROGRAM_LOAD, loader_load_program)                                     \
	ENTRY(SCHED_MESSAGE_PROGRAM_ADD, add_to_program)                                           \
	ENTRY(SCHED_MESSAGE_KERNEL_CREATE, create_kernel)                                          \
	ENTRY(SCHED_MESSAGE_OCCUPANCY, answer_occupancy)                                           \
	ENTRY(SCHED_MESSAGE_HOST_REGISTER, register_host)                                          \
	ENTRY(SCHED_MESSAGE_HOST_UNREGISTER, unregister_host)                                      \
	ENTRY(SCHED_MESSAGE_USM_ALLOCATE, loader_allocate_usm)                                     \
	ENTRY(SCHED_MESSAGE_USM_FREE, free_usm)

static void (*const handlers[])(struct scheduler_device *, void *) = {HANDLERS(DISPATCH_ENTRY)};
DISPATCH_HAS(HANDLERS, SCHED_MESSAGE_KINDS - SCHED_MESSAGE_PROGRAM_LOAD);

bool worker_loader_handle(struct scheduler_device *device, void *object)
{
	const struct sched_message *message = object;
	handlers[message->kind](device, object);
	return true;
}

/* Loads that wait for a quiet moment, and what comes behind them. Others go on meanwhile: no moment
 * may come for long. */
struct put_off {
	struct sched_message *first, *last;
};

static bool is_load_deferred(const struct put_off *list, const struct sched_program *program)
{
	const struct sched_message *message = list->first;
	while (message && message != &program->message)
		message = message->next;
	return message != NULL;
}

static bool must_load_wait(struct scheduler_device *device, const struct put_off *list,
			   struct sched_message *message)
{
	if (message->kind == SCHED_MESSAGE_KERNEL_CREATE) {
		const struct sched_kernel *kernel = (struct sched_kernel *)(void *)message;
		return kernel->program && is_load_deferred(list, kernel->program);
	}
	const struct sched_program *program = (struct sched_program *)(void *)message;
	return message->kind == SCHED_MESSAGE_PROGRAM_LOAD && !program->is_native &&
	       !atomic_load(&device->gone) && !worker_quiesce_is_granted(device) &&
	       !program_is_loaded_already(device, program);
}

static void defer_load(struct scheduler_device *device, struct put_off *list,
		       struct sched_message *message)
{
	message->next = NULL;
	if (list->first)
		list->last->next = message;
	else
		list->first = message;
	list->last = message;
	if (list->first->kind == SCHED_MESSAGE_PROGRAM_LOAD)
		worker_quiesce_request(device);
}

/* The first deferred load, if its turn has come. */
static struct sched_message *take_deferred_load(struct scheduler_device *device,
						struct put_off *list)
{
	struct sched_message *message = list->first;
	if (!message ||
	    (message->kind == SCHED_MESSAGE_PROGRAM_LOAD && !worker_quiesce_is_granted(device)))
		return NULL;
	list->first = message->next;
	return message;
}

static bool must_loader_sleep(struct scheduler_device *device, const struct put_off *list)
{
	return !atomic_load(&device->quit) && !(list->first && worker_quiesce_is_granted(device)) &&
	       (!atomic_load(&device->opened) || !sched_mailbox_has_mail(&device->loader.port.out));
}

static void *loader_main(void *argument)
{
	struct scheduler_device *device = argument;
	struct sched_port *port = &device->loader.port;
	char name[16];
	(void)snprintf(name, sizeof(name), "loader-%u", device->index);
	(void)pthread_setname_np(pthread_self(), name);
	struct put_off list = {NULL, NULL};
	for (;;) {
		struct sched_message *message = take_deferred_load(device, &list);
		bool has_gate = message && message->kind == SCHED_MESSAGE_PROGRAM_LOAD;
		if (!message && atomic_load(&device->opened)) {
			message = sched_mailbox_read(&port->out);
			if (message && must_load_wait(device, &list, message)) {
				defer_load(device, &list, message);
				continue;
			}
		}
		if (message) {
			(void)worker_loader_handle(device, message);
			if (has_gate) /* a load may have needed no quiet moment in the end */
				worker_quiesce_end(device);
			if (list.first && list.first->kind == SCHED_MESSAGE_PROGRAM_LOAD)
				worker_quiesce_request(device);
			sched_mailbox_write(&port->back, message);
			worker_publish(device, port);
			continue;
		}
		if (atomic_load(&device->quit))
			return NULL;
		sched_sleeper_prepare(&port->sleeper);
		if (must_loader_sleep(device, &list))
			sched_sleeper_sleep(&port->sleeper, SCHED_SLEEP_UNTIL_WOKEN);
		sched_sleeper_cancel(&port->sleeper);
	}
}

int worker_loader_start(struct scheduler_device *device)
{
	sigset_t all, before;
	(void)sigfillset(&all);
	int result = pthread_sigmask(SIG_SETMASK, &all, &before);
	if (result != 0)
		return -result;
	result = pthread_create(&device->loader.thread, NULL, loader_main, device);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	device->loader.started = result == 0;
	return -result;
}

void worker_loader_stop(struct scheduler_device *device)
{
	if (!device->loader.started)
		return;
	(void)sched_sleeper_wake(&device->loader.port.sleeper);
	(void)pthread_join(device->loader.thread, NULL);
}
