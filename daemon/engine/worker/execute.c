/* The device thread's part of a task: objects made at first use, waits, submission, completion,
 * failure. */
#include "worker/execute.h"

#include "base/cause.h"
#include "base/expect.h"
#include "base/lane_limits.h"
#include "base/spill_order.h"
#include "scheduler/buffer.h"
#include "scheduler/burst.h"
#include "scheduler/device.h"
#include "scheduler/early.h"
#include "scheduler/event.h"
#include "scheduler/graph.h"
#include "scheduler/program.h"
#include "scheduler/public/device.h"
#include "scheduler/state.h"
#include "scheduler/task.h"
#include "worker/burst.h"
#include "worker/flight.h"
#include "worker/native_command.h"
#include "worker/spill.h"
#include "worker/worker.h"

#include "clock.h"
#include "stage_clock.h"
#include "status.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Of one command: the lanes, and how far each must be. */
struct waits {
	uint32_t count;
	uint32_t lanes[SCHED_LANES_ALL];
	struct backend_wait all[SCHED_LANES_ALL];
};

/*
 * Failures that the front may not know yet. What it sent before it knew is checked against them;
 * what it sends after the FORGET cannot name them.
 */
static void remember(struct sched_worker *worker, struct task *task)
{
	if (worker->unusable && worker->open_again_ns == 0)
		return;
	task->command.remembered = true;
	task->command.failed_next = worker->failed;
	worker->failed = task;
}

void sched_execute_forget(struct scheduler_device *device, struct task *task)
{
	struct task **at = &device->worker.failed;
	while (*at && *at != task)
		at = &(*at)->command.failed_next;
	if (*at)
		*at = task->command.failed_next;
}

static const struct task *find_failed(const struct sched_worker *worker,
				      const struct task_predecessor *predecessor)
{
	for (const struct task *task = worker->failed; task; task = task->command.failed_next)
		if (task->command.lane == predecessor->lane &&
		    task->command.sequence == predecessor->sequence)
			return task;
	return NULL;
}

static bool has_failed(const struct sched_worker *worker,
		       const struct task_predecessor *predecessor)
{
	return worker->failed && find_failed(worker, predecessor);
}

/* Of a burst the others may run still. */
static bool has_failed_and_ended(const struct sched_worker *worker,
				 const struct task_predecessor *predecessor)
{
	const struct task *task = worker->failed ? find_failed(worker, predecessor) : NULL;
	return task && !(task->command.burst && task->command.burst->out > 0);
}

void sched_execute_failed(struct scheduler_device *device, struct task *task,
			  const struct backend_fault *fault)
{
	task->command.cause = sched_cause_create(fault);
	remember(&device->worker, task);
	sched_worker_return(device, &task->message);
	if (fault->device_lost)
		sched_worker_lose(device, fault);
}

static bool is_over(const struct sched_worker *worker, const struct task_predecessor *predecessor)
{
	const struct task *first = worker->lanes[predecessor->lane].first;
	return !first || first->command.sequence > predecessor->sequence;
}

/* The first of a lane may have been running, if nothing on another lane held it back. */
static void mark_suspects(struct sched_worker *worker)
{
	for (uint32_t i = 0; i < SCHED_LANES_ALL; i++) {
		struct task *task = worker->lanes[i].first;
		if (!task)
			continue;
		bool held_back = false;
		for (uint32_t k = 0; k < task->command.predecessor_count; k++)
			held_back |= !is_over(worker, &task->command.predecessors[k]);
		task->command.suspect = !held_back;
	}
}

void sched_worker_gone(struct scheduler_device *device, const struct backend_fault *fault,
		       int negative_errno)
{
	const uint32_t gone = device->handle ? SCHED_GONE_LOST : SCHED_GONE_NOT_OPENED;
	device->gone_faults[gone] = *fault;
	sched_fault_complete(&device->gone_faults[gone], negative_errno);
	device->worker.unusable = true;
	atomic_store(&device->gone, gone);
}

/* Nothing more comes from this device: everything on it ends now, and whatever is sent to it fails
 * at once. */
void sched_worker_lose(struct scheduler_device *device, const struct backend_fault *fault)
{
	struct sched_worker *worker = &device->worker;
	worker->open_again_ns = 0;
	if (worker->unusable)
		return;
	sched_worker_gone(device, fault, -EIO);
	worker->in_flight = 0;
	if (fault->process_lost && !worker->named)
		mark_suspects(worker);
	for (uint32_t i = 0; i < SCHED_LANES_ALL; i++) {
		struct sched_worker_lane *lane = &worker->lanes[i];
		while (lane->first) {
			struct task *task = lane->first;
			lane->first = task->command.lane_next;
			sched_flight_leave(&device->scheduler->flight, &task->command);
			sched_execute_failed(device, task, sched_gone_fault(device));
		}
		lane->last = NULL;
	}
	sched_spill_lose(device);
}

/* Over the application's memory. It was described when its size was asked for; it may have become
 * another one since. */
static int make_native(struct scheduler_device *device, const struct sched_memory *memory,
		       struct backend_memory **made_out, struct backend_fault *fault)
{
	uint64_t size_bytes = 0;
	void *object = NULL;
	if (!device->ops->native_make)
		return -EOPNOTSUPP;
	int result = device->ops->native_make(device->handle, BACKEND_NATIVE_MEMORY, memory->native,
					      &object, &size_bytes, fault);
	if (result < 0)
		return result;
	if (size_bytes < memory->size_bytes) {
		device->ops->memory_free(object);
		*fault = (struct backend_fault){.status = STATUS_INVALID,
						.text = "the native memory is smaller than it was"};
		return -EINVAL;
	}
	*made_out = object;
	return 0;
}

static int import_memory(struct scheduler_device *device, struct sched_memory *memory,
			 struct backend_memory **made_out, struct backend_fault *fault)
{
	if (memory->fault.status != STATUS_SUCCESS) {
		*fault = memory->fault;
		return -EIO;
	}
	int result = -ENOTSUP;
	if (memory->native)
		result = make_native(device, memory, made_out, fault);
	else if (device->ops->memory_import)
		result = device->ops->memory_import(device->handle, &memory->shared,
						    memory->size_bytes, made_out, fault);
	if (memory->shared.descriptor >= 0)
		(void)close(memory->shared.descriptor);
	memory->shared.descriptor = -1;
	if (result < 0) {
		sched_fault_complete(fault, result);
		memory->fault = *fault;
	}
	return result;
}

int sched_worker_make_memory(struct scheduler_device *device, struct sched_memory *memory,
			     struct backend_memory **made_out, struct backend_fault *fault)
{
	if (memory->imported)
		return import_memory(device, memory, made_out, fault);
	if (memory->image.dimensions == 0)
		return device->ops->memory_create(device->handle, memory->size_bytes, memory->host,
						  memory->export_kind, made_out, fault);
	if (device->ops->image_create)
		return device->ops->image_create(device->handle, &memory->image, made_out, fault);
	*fault = (struct backend_fault){.status = STATUS_FEATURE_NOT_SUPPORTED,
					.text = "this device has no images"};
	return -ENOTSUP;
}

int sched_worker_memory(struct scheduler_device *device, struct sched_memory *memory,
			struct backend_fault *fault)
{
	if (!memory)
		return 0;
	if (memory->is_temporary && device->worker.making && !device->worker.unusable) {
		int result = sched_graph_need(device, memory, fault);
		if (result < 0 || sched_graph_memory(memory))
			return result;
	}
	if (atomic_load_explicit(&memory->handle, memory_order_relaxed)) {
		spill_order_use(&device->worker.spill.order, &memory->spill.entry);
		return 0;
	}
	if (!device->worker.unusable)
		return sched_spill_need(device, memory, fault);
	*fault = *sched_gone_fault(device);
	return -EIO;
}

static enum backend_lane_kind lane_kind(const struct scheduler_device *device, uint32_t index)
{
	if (index < device->lane_count)
		return BACKEND_LANE_COMPUTE;
	if (index >= device->latency_first)
		return BACKEND_LANE_LATENCY;
	return index == device->lane_count ? BACKEND_LANE_COPY_IN : BACKEND_LANE_COPY_OUT;
}

int sched_execute_need_lane(struct scheduler_device *device, uint32_t index,
			    struct backend_fault *fault)
{
	struct sched_worker_lane *lane = &device->worker.lanes[index];
	if (lane->handle)
		return 0;
	if (index >= device->all_lane_count) {
		*fault = (struct backend_fault){.status = STATUS_INVALID,
						.text = "the native queue could not be taken"};
		return -EINVAL;
	}
	int result = device->ops->lane_create(device->handle, lane_kind(device, index),
					      &lane->handle, fault);
	if (result < 0)
		lane->handle = NULL;
	return result;
}

static struct backend_memory *handle_of(const struct sched_memory *memory)
{
	struct backend_memory *own = memory->is_temporary ? sched_graph_memory(memory) : NULL;
	return own ? own : atomic_load_explicit(&memory->handle, memory_order_relaxed);
}

static int fill_launch(struct scheduler_device *device, struct task_command *command,
		       struct backend_fault *fault)
{
	if (!command->kernel->handle) {
		*fault = command->kernel->fault;
		return -EINVAL;
	}
	command->backend.launch.kernel = command->kernel->handle;
	command->backend.launch.arguments = command->arguments;
	for (uint32_t i = 0; i < command->backend.launch.argument_count; i++) {
		struct sched_memory *memory = command->argument_memories[i];
		int result = sched_worker_memory(device, memory, fault);
		if (result < 0)
			return result;
		if (memory && command->arguments[i].kind == BACKEND_ARGUMENT_IMAGE)
			command->arguments[i].image.memory = handle_of(memory);
		else if (memory)
			command->arguments[i].global.memory = handle_of(memory);
	}
	return 0;
}

/* From another device's memory; what that device has not even made yet has nothing in it. */
static void fill_peer_copy(struct task_command *command)
{
	command->backend.copy.source =
		atomic_load_explicit(&command->source->handle, memory_order_acquire);
	command->backend.copy.destination = handle_of(command->destination);
	if (!command->backend.copy.source)
		command->backend.kind = BACKEND_COMMAND_NOP;
}

static int fill_event(struct task_command *command, struct backend_fault *fault)
{
	if (!command->event->handle) {
		*fault = command->event->fault;
		return -EINVAL;
	}
	command->backend.event = command->event->handle;
	return 0;
}

static int fill(struct scheduler_device *device, struct task_command *command,
		struct backend_fault *fault)
{
	struct backend_command *backend = &command->backend;
	if (command->graph) {
		int ready = sched_spill_need_graph(device, command, fault);
		return ready < 0 ? ready : sched_graph_prepare(device, command, fault);
	}
	if (backend->kind == BACKEND_COMMAND_LAUNCH)
		return fill_launch(device, command, fault);
	if (command->event)
		return fill_event(command, fault);
	if (command->native_command)
		return sched_native_command_prepare(device, command->native_command, fault);
	bool peer = backend->kind == BACKEND_COMMAND_COPY_PEER;
	int result = peer ? 0 : sched_worker_memory(device, command->source, fault);
	if (result == 0)
		result = sched_worker_memory(device, command->destination, fault);
	if (result < 0)
		return result;
	if (peer) {
		fill_peer_copy(command);
	} else if (backend->kind == BACKEND_COMMAND_COPY) {
		backend->copy.source = handle_of(command->source);
		backend->copy.destination = handle_of(command->destination);
	} else if (backend->kind == BACKEND_COMMAND_FILL) {
		backend->fill.memory = handle_of(command->destination);
	} else if (backend->kind == BACKEND_COMMAND_WRITE ||
		   backend->kind == BACKEND_COMMAND_READ) {
		backend->transfer.memory = handle_of(command->source);
	} else if (backend->kind == BACKEND_COMMAND_CONDITION) {
		backend->condition.memory = command->source ? handle_of(command->source) : NULL;
	}
	return 0;
}

int sched_execute_fill(struct scheduler_device *device, struct task_command *command,
		       struct backend_fault *fault)
{
	struct sched_spill *spill = &device->worker.spill;
	const struct task_command *before =
		spill->sending; /* a graph's launch, of which this is a node */
	spill->sending = command;
	/* One that is tried again is no other. */
	spill->order.now = spill->again ? spill->again : ++spill->order.clock;
	int result = fill(device, command, fault);
	spill->sending = before;
	return result;
}

/* Wait for so far of that lane, unless something before on this one does. The last of each lane
 * stands for all before it. */
static void add_wait(const struct sched_worker *worker, const struct task_command *command,
		     uint32_t index, uint64_t sequence, struct waits *waits)
{
	uint32_t at = 0;
	if (index == command->lane || sequence <= worker->lanes[command->lane].waited[index])
		return;
	while (at < waits->count && waits->lanes[at] != index)
		at++;
	if (at == waits->count) {
		waits->lanes[waits->count++] = index;
		waits->all[at] = (struct backend_wait){.lane = worker->lanes[index].handle,
						       .sequence = sequence};
	} else if (waits->all[at].sequence < sequence) {
		waits->all[at].sequence = sequence;
	}
}

/* What has not begun on that lane, and would have waited. */
static void add_owed(const struct sched_worker *worker, const struct task_command *command,
		     uint32_t index, struct waits *waits)
{
	for (uint32_t i = 0; i < SCHED_LANES_ALL; i++)
		if (worker->lanes[index].owed[i])
			add_wait(worker, command, i, worker->lanes[index].owed[i], waits);
}

/*
 * One wait per foreign lane; none for what has failed, which is over or never began: what that was
 * to come behind is waited for instead. And none for what something before it on its own lane waits
 * for.
 */
static void fill_waits(const struct sched_worker *worker, const struct task_command *command,
		       struct waits *waits)
{
	waits->count = 0;
	if (worker->owes)
		add_owed(worker, command, command->lane, waits);
	for (uint32_t i = 0; i < command->predecessor_count; i++) {
		const struct task_predecessor *predecessor = &command->predecessors[i];
		if (!has_failed_and_ended(worker, predecessor))
			add_wait(worker, command, predecessor->lane, predecessor->sequence, waits);
		else if (worker->owes)
			add_owed(worker, command, predecessor->lane, waits);
	}
}

/* It has been sent: its lane waits for all that. Not so an application's queue, which may have no
 * order of its own. */
static void note_waits(struct scheduler_device *device, const struct task_command *command,
		       const struct waits *waits)
{
	uint64_t *waited = device->worker.lanes[command->lane].waited;
	if (command->lane >= device->all_lane_count)
		return;
	for (uint32_t i = 0; i < waits->count; i++)
		waited[waits->lanes[i]] = waits->all[i].sequence;
}

static void owe(struct sched_worker *worker, uint32_t lane, uint32_t index, uint64_t sequence)
{
	if (sequence > worker->lanes[lane].owed[index])
		worker->lanes[lane].owed[index] = sequence;
	worker->owes = true;
}

/*
 * It does not begin, and others may have been sent that come behind it and behind nothing else:
 * they wait for what it would have waited for, which is whatever is on its lane, and what it was to
 * come behind on others.
 */
static void leave_waits(struct sched_worker *worker, const struct task_command *command)
{
	const struct task *last = worker->lanes[command->lane].last;
	if (worker->in_flight == 0)
		return;
	if (last)
		owe(worker, command->lane, command->lane, last->command.sequence);
	for (uint32_t i = 0; i < command->predecessor_count; i++) {
		const struct task_predecessor *predecessor = &command->predecessors[i];
		const uint64_t *owed = worker->lanes[predecessor->lane].owed;
		if (!has_failed_and_ended(worker, predecessor))
			owe(worker, command->lane, predecessor->lane, predecessor->sequence);
		for (uint32_t k = 0; worker->owes && k < SCHED_LANES_ALL; k++)
			if (owed[k])
				owe(worker, command->lane, k, owed[k]);
	}
}

/* Nothing is there that anybody could wait for. */
static void forget_waits(struct sched_worker *worker)
{
	for (uint32_t i = 0; i < SCHED_LANES_ALL; i++)
		memset(worker->lanes[i].owed, 0, sizeof(worker->lanes[i].owed));
	worker->owes = false;
}

/* It has failed, and is told so when it is over: whoever only comes after it still waits for it. */
static bool is_failing(const struct sched_worker *worker,
		       const struct task_predecessor *predecessor)
{
	const struct task *task =
		worker->failing > 0 ? worker->lanes[predecessor->lane].first : NULL;
	while (task && task->command.sequence < predecessor->sequence)
		task = task->command.lane_next;
	return task && task->command.sequence == predecessor->sequence &&
	       sched_native_command_failed(&task->command);
}

static bool must_skip(const struct sched_worker *worker, const struct task_command *command)
{
	if (!worker->failed && worker->failing == 0)
		return false;
	for (uint32_t i = 0; i < command->predecessor_count; i++)
		if (command->predecessors[i].data &&
		    (has_failed(worker, &command->predecessors[i]) ||
		     is_failing(worker, &command->predecessors[i])))
			return true;
	return false;
}

static bool is_large_transfer(const struct backend_command *command)
{
	return (command->kind == BACKEND_COMMAND_WRITE || command->kind == BACKEND_COMMAND_READ) &&
	       command->transfer.size_bytes >= SCHED_EXPECT_BYTES_MIN;
}

static enum sched_expect_way way_of(const struct backend_command *command)
{
	return command->kind == BACKEND_COMMAND_WRITE ? SCHED_EXPECT_IN : SCHED_EXPECT_OUT;
}

static void expect_from(struct sched_worker *worker, struct task_command *command,
			uint64_t begin_ns)
{
	command->begin_ns = begin_ns;
	command->expected_ns = sched_expect_end(&worker->expect, way_of(&command->backend),
						begin_ns, command->backend.transfer.size_bytes);
}

static void expect_transfer(struct sched_worker *worker, struct sched_worker_lane *lane,
			    struct task_command *command)
{
	command->begin_ns = command->expected_ns = 0;
	if (!is_large_transfer(&command->backend))
		return;
	uint64_t now = clock_now_ns();
	expect_from(worker, command, lane->free_ns > now ? lane->free_ns : now);
	lane->free_ns = command->expected_ns;
}

/* It is over, and the next one on its lane begins. */
static void learn_transfer(struct sched_worker *worker, const struct sched_worker_lane *lane,
			   const struct task_command *command)
{
	struct task_command *next = lane->first ? &lane->first->command : NULL;
	if (command->begin_ns == 0 && !(next && next->begin_ns))
		return;
	uint64_t now = clock_now_ns();
	if (command->begin_ns && now > command->begin_ns)
		sched_expect_learn(&worker->expect, way_of(&command->backend),
				   command->backend.transfer.size_bytes, now - command->begin_ns);
	if (next && next->begin_ns)
		expect_from(worker, next, now);
}

static int submit(struct scheduler_device *device, struct task *task, struct backend_fault *fault)
{
	struct sched_worker *worker = &device->worker;
	struct task_command *command = &task->command;
	STAGE_MARK_ALL(command->flight_group, sched_launches(command), STAGE_ARRIVED);
	int result = sched_execute_need_lane(device, command->lane, fault);
	if (result == 0)
		result = sched_execute_fill(device, command, fault);
	if (result < 0)
		return result;
	struct waits waits;
	if (worker->owes && worker->in_flight == 0)
		forget_waits(worker);
	fill_waits(worker, command, &waits);
	struct sched_worker_lane *lane = &worker->lanes[command->lane];
	sched_flight_enter(&device->scheduler->flight, command);
	result = command->burst ? sched_burst_submit(device, task, waits.all, waits.count, fault)
				: device->ops->submit(lane->handle, &command->backend, waits.all,
						      waits.count, command->sequence, NULL, fault);
	if (result < 0) {
		sched_flight_leave(&device->scheduler->flight, command);
		return result;
	}
	if (!command->burst)
		STAGE_MARK(command->flight_group, STAGE_LAUNCHED);
	if (atomic_load_explicit(&task->is_aside, memory_order_relaxed))
		atomic_store(&task->is_aside, false);
	if (task->held_by_host)
		sched_early_recorded(task);
	note_waits(device, command, &waits);
	worker->unflushed = true;
	worker->in_flight += command->burst ? command->burst->out : 1;
	worker->failing += sched_native_command_failed(command);
	expect_transfer(worker, lane, command);
	command->lane_next = NULL;
	if (lane->last)
		lane->last->command.lane_next = task;
	else
		lane->first = task;
	lane->last = task;
	return 0;
}

/* None of it is in flight. */
static void end_burst(struct scheduler_device *device, struct task *task)
{
	task->command.burst->over = task->command.burst->count;
	if (sched_burst_cause(task->command.burst) && !task->command.remembered)
		remember(&device->worker, task);
	sched_worker_return(device, &task->message);
}

void sched_execute(struct scheduler_device *device, struct task *task)
{
	struct sched_worker *worker = &device->worker;
	if (worker->unusable) {
		sched_execute_failed(device, task, sched_gone_fault(device));
		return;
	}
	if (atomic_load_explicit(&task->is_dropped, memory_order_relaxed) ||
	    must_skip(worker, &task->command)) {
		task->command.skipped = true;
		leave_waits(worker, &task->command);
		remember(worker, task);
		sched_worker_return(device, &task->message);
		return;
	}
	struct backend_fault fault;
	backend_fault_none(&fault);
	int result = submit(device, task, &fault);
	if (result == SCHED_SPILL_WAIT) {
		sched_spill_set_aside(device, &task->message);
	} else if (result < 0 && task->command.burst && task->command.burst->failed &&
		   !fault.device_lost) {
		leave_waits(worker, &task->command);
		end_burst(device, task);
	} else if (result == 0 && fault.device_lost) {
		sched_worker_lose(device, &fault);
	} else if (result < 0) {
		leave_waits(worker, &task->command);
		sched_fault_complete(&fault, result);
		sched_execute_failed(device, task, &fault);
	}
}

static struct sched_worker_lane *find_lane(struct sched_worker *worker,
					   const struct backend_lane *handle)
{
	if (worker->told && worker->told->handle == handle)
		return worker->told;
	for (uint32_t i = 0; i < SCHED_LANES_ALL; i++)
		if (worker->lanes[i].handle == handle)
			return worker->told = &worker->lanes[i];
	return NULL;
}

static bool is_of(const struct task_command *command, const struct backend_completion *completion)
{
	return command->sequence - completion->sequence < sched_launches(command);
}

/* It ends with all the others, when everybody has been named that may have been running, which may
 * be nobody. */
static void note_loss(struct sched_worker *worker, const struct sched_worker_lane *lane,
		      const struct backend_completion *completion)
{
	if (!worker->losing)
		worker->loss = completion->fault;
	worker->losing = true;
	if (!completion->fault.process_lost)
		return;
	worker->named = true; /* the backend knows better than a guess */
	if (completion->fault.native_code == 0 || completion->fault.not_begun)
		return;
	struct task *task = lane->first;
	while (task && task->command.sequence < completion->sequence)
		task = task->command.lane_next;
	if (task && is_of(&task->command, completion))
		task->command.suspect = true;
}

/* One of a burst. True: it was the last. */
static bool complete_launch(struct scheduler_device *device, struct task *task,
			    const struct backend_completion *completion)
{
	bool is_last = sched_burst_completed(task, completion);
	/* What needs it and comes meanwhile must not run. */
	if (!is_last && sched_burst_cause(task->command.burst) && !task->command.remembered)
		remember(&device->worker, task);
	if (!is_last)
		sched_flight_advance(&device->scheduler->flight, &task->command);
	return is_last;
}

void sched_execute_completion(struct scheduler_device *device,
			      const struct backend_completion *completion)
{
	struct sched_worker *worker = &device->worker;
	struct sched_worker_lane *lane = find_lane(worker, completion->lane);
	/* A device that was lost may still report what has been failed already. */
	if (!lane)
		(void)sched_spill_completed(device, completion);
	if (!lane || !lane->first)
		return;
	if (completion->fault.device_lost) {
		note_loss(worker, lane, completion);
		return;
	}
	struct task *task = lane->first;
	if (!is_of(&task->command, completion))
		return;
	worker->in_flight--;
	if (task->command.burst && !complete_launch(device, task, completion))
		return;
	lane->first = task->command.lane_next;
	if (!lane->first)
		lane->last = NULL;
	if (task->command.burst) {
		sched_flight_leave(&device->scheduler->flight, &task->command);
		end_burst(device, task);
		return;
	}
	worker->failing -= sched_native_command_failed(&task->command);
	STAGE_MARK(task->command.flight_group, STAGE_COMPLETED);
	learn_transfer(worker, lane, &task->command);
	task->command.start_ns = completion->start_ns;
	task->command.end_ns = completion->end_ns;
	task->command.estimated = completion->estimated;
	sched_flight_leave(&device->scheduler->flight, &task->command);
	if (completion->fault.status == STATUS_SUCCESS) {
		sched_worker_return(device, &task->message);
		return;
	}
	struct backend_fault fault = completion->fault;
	sched_fault_complete(&fault, -EIO);
	sched_execute_failed(device, task, &fault);
}
