/*
 * Commands without the device thread. While a device is idle and its thread sleeps, the front
 * thread sends a few commands itself and takes their completions. That saves two wake-ups. As long
 * as all that is in flight came from the front, it goes on so. A program's launches, its small
 * copies and its wait for them then need no other thread.
 *
 * It must not cost the front thread, which serves all sessions, more than the commands themselves.
 * So the front only tries to own the device. No device thread may be at work, because drivers have
 * locks. The same must have succeeded recently: this kernel with this range, this graph, or a small
 * copy of this kind. The lane and the memories must exist. Drivers compile, load and allocate at
 * first use, and unload what was not used for long. Many commands at a time go to the device
 * thread: it sends them while the front reads more. A front that polls the device sends up to
 * INLINE_IN_FLIGHT_MOST first, a part at a time, because a thread that sleeps takes longer to wake.
 * Commands of several clients go to the thread where both threads have a processor.
 *
 * The front polls a polled device (BACKEND_FEATURE_POLLED) while it polls for work anyway. When it
 * goes to sleep, or has more for that device, the device thread takes over. Another device gets one
 * command at a time from the front, and only while it is idle.
 */
#include "scheduler/device/inline.h"

#include "base/mailbox.h"
#include "base/quiet.h"
#include "scheduler/state/buffer.h"
#include "scheduler/state/device.h"
#include "scheduler/state/graph.h"
#include "scheduler/state/program.h"
#include "scheduler/public/device.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"
#include "worker/handle.h"
#include "worker/device/quiesce.h"
#include "worker/device/wake.h"
#include "worker/state/worker.h"
#include "worker/task/hold.h"

#include <string.h>

#define INLINE_COMMANDS_MOST 16u    /* commands of one flush */
#define INLINE_BYTES_MOST    65536u /* size of a copy */
#define INLINE_NODES_MOST    64u    /* nodes of a graph */
#define INLINE_PATTERN_MOST  16u    /* bytes: a fill may take an operation for each */
/*
 * A driver's queue has an end. A call on a full queue would make this thread wait for the device.
 * CUDA takes 1,022 operations in a stream, and 55 functions of the host. A copy from or to memory
 * that is not registered has one of these, a fill up to 20 operations.
 */
#define INLINE_IN_FLIGHT_MOST 32u
#define INLINE_ALL_MOST       256u /* commands on all lanes together, with SWITCH_INLINE_ALL */

static void copy_launch_range(const struct backend_command *command, struct sched_range *range_out)
{
	range_out->dimensions = command->launch.dimensions;
	memcpy(range_out->global, command->launch.global, sizeof(range_out->global));
	memcpy(range_out->local, command->launch.local, sizeof(range_out->local));
	memcpy(range_out->offset, command->launch.offset, sizeof(range_out->offset));
}

static bool is_same_range(const struct sched_range *seen, const struct backend_command *command)
{
	return seen->dimensions == command->launch.dimensions &&
	       memcmp(seen->global, command->launch.global, sizeof(seen->global)) == 0 &&
	       memcmp(seen->local, command->launch.local, sizeof(seen->local)) == 0 &&
	       memcmp(seen->offset, command->launch.offset, sizeof(seen->offset)) == 0;
}

/* The entry of the launch's range, or NULL. */
static struct sched_seen *launch_find_seen(struct sched_kernel *kernel,
					   const struct backend_command *backend)
{
	struct sched_seen *seen = kernel->seen;
	for (uint32_t i = 0; i < SCHED_SEEN_RANGES; i++)
		if (is_same_range(&seen[i].range, backend))
			return &seen[i];
	return NULL;
}

static struct sched_seen *kernel_oldest_seen(struct sched_kernel *kernel)
{
	struct sched_seen *oldest = kernel->seen;
	for (uint32_t i = 1; i < SCHED_SEEN_RANGES; i++)
		if (kernel->seen[i].at < oldest->at)
			oldest = &kernel->seen[i];
	return oldest;
}

/* A driver may unload a kernel again in favour of others. */
static bool launch_was_seen_lately(const struct scheduler_device *device,
				   const struct sched_seen *seen)
{
	return seen && device->novelties - seen->at <= SCHED_SEEN_MAX;
}

static void note_launch(struct scheduler_device *device, struct sched_kernel *kernel,
			const struct backend_command *backend)
{
	/* A kernel that was not launched for long, and one with another range, are new to the
	 * driver as far as is known here. */
	struct sched_seen *seen = launch_find_seen(kernel, backend);
	if (!launch_was_seen_lately(device, seen)) {
		if (!seen)
			seen = kernel_oldest_seen(kernel);
		copy_launch_range(backend, &seen->range);
		device->novelties++;
	}
	seen->at = device->novelties;
}

void sched_inline_update(struct task *task)
{
	struct task_command *command = &task->command;
	struct scheduler_device *device = task->device;
	if (!device->sends_inline)
		return;
	device->kinds_seen |= 1u << command->backend.kind;
	if (command->backend.kind != BACKEND_COMMAND_LAUNCH ||
	    command->backend.launch.part.of > 0 || command->noted_at == device->novelties + 1)
		return;
	if (!task_is_stretch(task))
		note_launch(device, command->kernel, &command->backend);
	for (uint32_t i = 0; task_is_stretch(task) && i < command->burst->count; i++)
		note_launch(device, command->burst->members[i].kernel,
			    &command->burst->members[i].backend);
	/* A kept task is the same next time. */
	if (task->kept)
		command->noted_at = device->novelties + 1;
}

static bool launches_were_seen_lately(const struct scheduler_device *device,
				      const struct task_command *command)
{
	const struct task_burst *burst = command->burst;
	if (!burst)
		return launch_was_seen_lately(device,
					      launch_find_seen(command->kernel, &command->backend));
	for (uint32_t i = 0; i < burst->count; i++)
		if (!launch_was_seen_lately(device, launch_find_seen(burst->members[i].kernel,
								     &burst->members[i].backend)))
			return false;
	return true;
}

/* A launch with textures, events and the like goes to the device's thread, because the driver makes
 * these objects at their first use. */
static bool is_plain_launch(const struct scheduler_device *device,
			    const struct task_command *command)
{
	const struct backend_command *backend = &command->backend;
	/* A kept task, which has gone this way since the last new launch. */
	if (command->noted_at == device->novelties + 1)
		return true;
	if (backend->launch.part.of > 0 || backend->launch.properties || !command->kernel->handle ||
	    !launches_were_seen_lately(device, command))
		return false;
	for (uint32_t i = 0; i < backend->launch.argument_count; i++) {
		enum backend_argument_kind kind = command->arguments[i].kind;
		struct sched_memory *memory = command->argument_memories[i];
		if (kind == BACKEND_ARGUMENT_IMAGE || kind == BACKEND_ARGUMENT_SAMPLER ||
		    (memory && !atomic_load_explicit(&memory->handle, memory_order_acquire)))
			return false;
	}
	return true;
}

static bool memory_is_made(struct sched_memory *memory)
{
	return !memory || atomic_load_explicit(&memory->handle, memory_order_acquire);
}

/* The bytes that a command copies or fills; UINT64_MAX: the command does anything else as well. */
static uint64_t bytes_moved(const struct backend_command *backend)
{
	switch (backend->kind) {
	case BACKEND_COMMAND_WRITE:
	case BACKEND_COMMAND_READ:
		return backend->transfer.rect ? UINT64_MAX : backend->transfer.size_bytes;
	case BACKEND_COMMAND_COPY:
		return backend->copy.rect ? UINT64_MAX : backend->copy.size_bytes;
	case BACKEND_COMMAND_FILL:
		return backend->fill.pattern_bytes <= INLINE_PATTERN_MOST && !backend->fill.rect
			       ? backend->fill.size_bytes
			       : UINT64_MAX;
	default:
		return UINT64_MAX;
	}
}

/* This thread itself copies host memory that is not registered with the driver, hence the limit. */
static bool is_small_copy(const struct scheduler_device *device, const struct task_command *command)
{
	return bytes_moved(&command->backend) <= INLINE_BYTES_MOST &&
	       device->kinds_seen & 1u << command->backend.kind &&
	       memory_is_made(command->source) && memory_is_made(command->destination);
}

/* True for a graph that has run before and has not changed since. */
static bool is_plain_graph(const struct task_command *command)
{
	const struct sched_graph *graph = command->graph->graph;
	return graph->ran > 0 && !command->graph->changes && !graph->has_native &&
	       !graph->has_condition && graph->node_count <= INLINE_NODES_MOST;
}

static bool sched_inline_is_plain(const struct scheduler_device *device,
				  const struct task_command *command)
{
	const bool is_plain_burst = command->burst && !command->burst->members;
	if (is_plain_burst || command->event || command->native_command || command->backend.timed)
		return false;
	if (command->graph)
		return is_plain_graph(command);
	return command->backend.kind == BACKEND_COMMAND_LAUNCH ? is_plain_launch(device, command)
							       : is_small_copy(device, command);
}

static bool inline_unposted_are_plain(const struct scheduler_device *device)
{
	for (const struct sched_message *message = device->unposted.first; message;
	     message = message->next)
		if (!sched_inline_is_plain(device,
					   &((const struct task *)(const void *)message)->command))
			return false;
	return true;
}

static bool device_is_polled(const struct scheduler_device *device)
{
	return (device->features & BACKEND_FEATURE_POLLED) != 0;
}

/*
 * A device that calls wake may call once for several commands. When the last of them takes longer
 * than expected, only the device's thread looks for the others. So the front sends it one at a
 * time.
 */
static uint32_t inline_commands_most(const struct scheduler_device *device)
{
	return device_is_polled(device) ? INLINE_COMMANDS_MOST : 1;
}

static bool scheduler_has_other_clients(const struct scheduler *scheduler)
{
	return scheduler->front_polls && scheduler->clients > 1;
}

/* True if little is in flight. The counts of the lanes include the commands that are about to be
 * sent. */
static bool has_room_inline(const struct scheduler_device *device)
{
	const uint32_t count = device->worker.in_flight + device->unposted_launches;
	if (!scheduler_has_other_clients(device->scheduler))
		return count <= INLINE_IN_FLIGHT_MOST;
	for (const struct sched_message *message = device->unposted.first; message;
	     message = message->next) {
		const struct task *task = (const void *)message;
		if (device->lanes[task->command.lane].count > INLINE_IN_FLIGHT_MOST)
			return false;
	}
	return count <= INLINE_ALL_MOST;
}

/* True if the front thread has sent everything that is in flight, and that is little. Beside other
 * clients, the device's thread sends more at a time, if both threads have a processor. */
static bool inline_may_continue(struct scheduler_device *device)
{
	const struct scheduler *scheduler = device->scheduler;
	return device_is_polled(device) && atomic_load(&device->front_takes) &&
	       has_room_inline(device) &&
	       (scheduler->always_inline || !scheduler_has_other_clients(scheduler));
}

/* The front owns the device. A loss, a load that requests a quiet moment and the like are left to
 * the device's thread. */
static bool is_device_free(struct scheduler_device *device)
{
	const struct worker *worker = &device->worker;
	const struct worker_quiesce *quiesce = &device->quiesce;
	return device->handle && !worker->unusable && !worker->is_losing &&
	       (worker->in_flight == 0 || inline_may_continue(device)) &&
	       !worker->spill.aside.first && worker_hold_is_empty(&worker->hold) &&
	       quiesce->quiet.state == SCHED_QUIET_NO && !quiesce->loader_holds &&
	       !atomic_load(&device->quiesce.requested) && !atomic_load(&device->loader.lost) &&
	       !(device->ops->quiet_wanted && device->ops->quiet_wanted(device->handle));
}

/* The front owns the device, and may read what its thread has made: lanes, and graphs that need
 * nothing first. */
static bool inline_unposted_are_ready(const struct scheduler_device *device)
{
	for (const struct sched_message *message = device->unposted.first; message;
	     message = message->next) {
		const struct task_command *command =
			&((const struct task *)(const void *)message)->command;
		const struct sched_graph *graph = command->graph ? command->graph->graph : NULL;
		if (!device->worker.lanes[command->lane].handle ||
		    (graph && (!graph->handle || graph->is_stale)))
			return false;
	}
	return true;
}

/* True if the front thread takes the completions of commands that it sends. On a polled device it
 * must then poll for them. */
static bool front_takes_completion(const struct scheduler_device *device)
{
	return !device_is_polled(device) || device->scheduler->front_polls;
}

/* Hands the commands that the front has sent to the device's thread. */
static void inline_leave_to_thread(struct scheduler_device *device)
{
	atomic_store(&device->front_takes, 0);
	device->inline_away = 0;
}

/* The front thread owns the device. Failed commands come back by the mailbox as always. */
static void execute_inline(struct scheduler_device *device)
{
	struct scheduler *scheduler = device->scheduler;
	struct sched_port *port = &device->port;
	struct sched_message *message;
	bool takes = front_takes_completion(device);
	port->unpublished = 0;
	/* The flag comes first: the command may be complete before the call returns. */
	if (takes)
		atomic_store(&device->front_takes, 1);
	while ((message = sched_message_take(&device->unposted))) {
		worker_handle(device, message);
		device->inline_away += takes;
		scheduler->counters.inline_launches++;
	}
	device->unposted_count = device->unposted_launches = 0;
	worker_flush(device);
	device->worker.front_has_sent = !takes;
	/* The device thread continues with a command that was set aside for its memory, or whose
	 * lane is full. */
	if (device->worker.spill.aside.first || !worker_hold_is_empty(&device->worker.hold)) {
		inline_leave_to_thread(device);
		(void)sched_sleeper_wake(&device->port.sleeper);
	}
	if (sched_mailbox_publish(&port->back))
		worker_wake_front(scheduler);
}

/* A driver that opens a device, allocates or frees may hold up launches for any of its devices. */
static bool inline_other_devices_are_idle(const struct scheduler_device *device)
{
	struct scheduler *scheduler = device->scheduler;
	/* True if no thread has commands but those to be sent now and those that the front thread
	 * has sent. */
	if (scheduler->messages_in_flight != device->unposted_count + device->inline_away ||
	    atomic_load(&scheduler->maintenance_count) > 0)
		return false;
	for (uint32_t i = 0; i < scheduler->device_count; i++)
		if (scheduler->devices[i] && !atomic_load(&scheduler->devices[i]->opened))
			return false;
	return true;
}

bool sched_inline_may_keep(const struct scheduler_device *device, const struct task *task)
{
	const uint32_t launches = device->unposted_launches + command_launch_count(&task->command);
	const bool is_many =
		task->command.burst && (!task_is_stretch(task) || !device_is_polled(device) ||
					launches > INLINE_COMMANDS_MOST);
	return device->sends_inline && !is_many &&
	       device->unposted_count < inline_commands_most(device) &&
	       !device->port.waiting.first &&
	       device->port.away == device->unposted_count + device->inline_away;
}

bool sched_inline_is_full(const struct scheduler_device *device, const struct task *task)
{
	const uint32_t launches = device->unposted_launches + command_launch_count(&task->command);
	if (device->unposted_launches == 0 ||
	    (launches <= INLINE_COMMANDS_MOST && device->unposted_count < INLINE_COMMANDS_MOST))
		return false;
	/* The lanes' counts include the task. */
	return device_is_polled(device) && front_takes_completion(device) &&
	       !scheduler_has_other_clients(device->scheduler) &&
	       device->sent <= INLINE_IN_FLIGHT_MOST &&
	       command_launch_count(&task->command) <= INLINE_COMMANDS_MOST &&
	       (!task->command.burst || task_is_stretch(task));
}

bool sched_inline_send(struct scheduler_device *device)
{
	struct scheduler *scheduler = device->scheduler;
	if (!inline_other_devices_are_idle(device) || !inline_unposted_are_plain(device) ||
	    pthread_mutex_trylock(&device->ownership) != 0)
		return false;
	bool sends = is_device_free(device) && inline_unposted_are_ready(device);
	if (sends)
		execute_inline(device);
	(void)pthread_mutex_unlock(&device->ownership);
	/* The device is polled: its thread must poll if the front does not. */
	if (sends && !front_takes_completion(device))
		scheduler->counters.device_wakes += sched_sleeper_wake(&device->port.sleeper);
	return sends;
}

void sched_inline_returned(struct scheduler_device *device)
{
	if (device->inline_away > 0)
		device->inline_away--;
}

void sched_inline_collect(struct scheduler_device *device)
{
	bool polled = device_is_polled(device);
	if (!atomic_load(&device->front_takes) || (!polled && !atomic_load(&device->poked)))
		return;
	if (pthread_mutex_trylock(&device->ownership) != 0) {
		/* Its thread works, or is about to sleep and has checked `poked` already. */
		(void)sched_sleeper_wake(&device->port.sleeper);
		return;
	}
	device->scheduler->counters.inline_completions += worker_complete(device);
	/* The front thread itself reads the mailbox next. */
	(void)sched_mailbox_publish(&device->port.back);
	if (polled && device->worker.in_flight == 0)
		atomic_store(&device->front_takes, 0);
	(void)pthread_mutex_unlock(&device->ownership);
}

void sched_inline_hand_over(struct scheduler_device *device)
{
	if (!device_is_polled(device) || !atomic_load(&device->front_takes))
		return;
	inline_leave_to_thread(device);
	device->scheduler->counters.device_wakes += sched_sleeper_wake(&device->port.sleeper);
}
