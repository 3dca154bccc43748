/*
 * Admission: which task may be sent to a device next, if several sessions have tasks for it. The
 * decision is that of fair_queue/fair_queue.h. This file decides which tasks need admission, what
 * the queue gets of them, and when it steps.
 *
 * A task comes here when all its predecessors are done or on lanes. So no task on a lane, or
 * waiting for room in one, has a queued task as a predecessor, whatever the queue decides.
 */
#include "scheduler/admission/admission.h"

#include "base/intrusive_list.h"
#include "base/lane_limits.h"
#include "fair_queue/fair_queue.h"
#include "scheduler/admission/account.h"
#include "scheduler/state/device.h"
#include "scheduler/state/grant.h"
#include "scheduler/state/graph.h"
#include "scheduler/admission/latency.h"
#include "scheduler/public/device.h"
#include "scheduler/public/scheduler.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"

#include <stddef.h>
#include <stdlib.h>

static uint64_t admission_device_bit(const struct scheduler_device *device)
{
	return 1ull << device->index;
}

/* ---------------------------------------- flows ----------------------------------------- */

static void join_fair_queue(struct sched_flow *flow)
{
	const struct sched_admission *admission = flow->device->admission;
	enum fair_queue_class class;
	uint32_t weight;
	sched_account_rank_of(flow->account, &class, &weight);
	if (admission && !flow->in_fair_queue)
		flow->in_fair_queue =
			fair_queue_session_init(&flow->device->admission->queue,
						&flow->queue_session, class, weight) == 0;
}

void sched_admission_flow_made(struct sched_flow *flow)
{
	uint32_t weight;
	sched_account_rank_of(flow->account, &flow->class, &weight);
	flow->device->class_flows[flow->class]++;
	sched_latency_review(flow->device);
	join_fair_queue(flow);
}

bool sched_admission_flow_changed(struct sched_flow *flow)
{
	enum fair_queue_class class;
	uint32_t weight;
	sched_account_rank_of(flow->account, &class, &weight);
	bool changes_lanes =
		sched_lanes_of(flow->device, flow->class) != sched_lanes_of(flow->device, class);
	flow->device->class_flows[flow->class]--;
	flow->class = class;
	flow->device->class_flows[class]++;
	sched_latency_review(flow->device);
	if (flow->in_fair_queue)
		(void)fair_queue_session_change(&flow->queue_session, class, weight);
	flow->device->scheduler->fair_queues_due |= admission_device_bit(flow->device);
	return changes_lanes;
}

void sched_admission_flow_gone(struct sched_flow *flow)
{
	flow->device->class_flows[flow->class]--;
	sched_latency_review(flow->device);
	if (flow->in_fair_queue)
		fair_queue_session_fini(&flow->queue_session);
	flow->in_fair_queue = false;
}

/*
 * If lanes do not run side by side, each command costs its sender and its device about so much
 * beside its own time. Twenty commands in front of another session's next command are better
 * than a hundred short ones.
 */
#define PLAIN_WINDOW_NS  500000u
#define PLAIN_COMMAND_NS 25000u

static void configure_fair_queue(const struct scheduler_device *device,
				 struct fair_queue_config *config)
{
	fair_queue_config_init(config);
	config->has_beside = device->beside_count > 0;
	if (device->features & BACKEND_FEATURE_SIDE_BY_SIDE)
		return;
	config->window_ns = config->session_ns = PLAIN_WINDOW_NS;
	config->least_ns = PLAIN_COMMAND_NS;
}

/*
 * Moves need no admission: command groups wait for them, also those of other sessions. Neither do
 * waits for events and records of events: they take no device time, and unknown processes may wait
 * for them.
 */
bool sched_admission_takes_time(const struct task *task)
{
	if (task->role != TASK_ROLE_GROUP || !task->flow->account)
		return false;
	switch (task->command.backend.kind) {
	case BACKEND_COMMAND_NOP:
	case BACKEND_COMMAND_EVENT_RECORD:
	case BACKEND_COMMAND_EVENT_WAIT:
		return task->command.graph || task->command.native_command;
	default:
		return true;
	}
}

/* The task bypasses the queue. The times that the device reports for other groups meanwhile include
 * the time of this task. */
static void report_bypassing(struct task *task)
{
	struct sched_admission *admission = task->device->admission;
	if (!admission || task->bypassed_queue || !sched_admission_takes_time(task))
		return;
	task->bypassed_queue = true;
	fair_queue_bypassing(&admission->queue, 1, 0, task->scheduler->now_ns);
}

static void end_bypassing(struct task *task)
{
	if (task->bypassed_queue)
		fair_queue_bypassing(&task->device->admission->queue, 0, 1,
				     task->scheduler->now_ns);
	task->bypassed_queue = false;
}

/*
 * The device's fair queue, created with all its sessions at first need. NULL: no memory, and no
 * session is held back.
 */
static struct sched_admission *need_admission(struct scheduler_device *device)
{
	if (device->admission)
		return device->admission;
	struct sched_admission *admission = malloc(sizeof(*admission));
	struct fair_queue_config config;
	configure_fair_queue(device, &config);
	if (!admission || fair_queue_init(&admission->queue, &config) < 0) {
		free(admission);
		return NULL;
	}
	admission->again_ns = UINT64_MAX;
	device->admission = admission;
	fair_queue_set_grant(&admission->queue, sched_grant_of(device), device->scheduler->now_ns);
	for (struct list *link = device->flows.next; link != &device->flows; link = link->next)
		join_fair_queue(list_entry(link, struct sched_flow, link));
	for (uint32_t i = 0; i < SCHED_LANES_ALL; i++)
		for (struct task *task = device->lanes[i].first; task; task = task->lane_next)
			report_bypassing(task);
	return admission;
}

/* --------------------------------- which tasks need it ---------------------------------- */

static uint64_t shape_mix_word(uint64_t key, uint64_t value)
{
	key = (key ^ value) * 0x9e3779b97f4a7c15ull;
	return key ^ key >> 32;
}

/* Transfers of one class take about equally long: their sizes have the same highest bit. */
static uint64_t size_class(uint64_t bytes)
{
	return bytes == 0 ? 0 : 64u - (uint64_t)__builtin_clzll(bytes);
}

static uint64_t items_of(const uint64_t range[3], uint32_t dimensions)
{
	uint64_t items = 1;
	for (uint32_t i = 0; i < dimensions; i++)
		if (__builtin_mul_overflow(items, range[i], &items))
			return UINT64_MAX;
	return items;
}

/*
 * Ranges of one class differ by less than an eighth: the highest four bits are the same. A program
 * whose range changes at each launch would otherwise never launch a shape that is known.
 */
static uint64_t items_class(uint64_t items)
{
	const uint64_t low_bits = items < 16 ? 0 : 60u - (uint64_t)__builtin_clzll(items);
	return low_bits << 4 | items >> low_bits;
}

static uint64_t mix_launch_range(uint64_t key, const struct backend_command *backend)
{
	const uint32_t dimensions = backend->launch.dimensions;
	key = shape_mix_word(key, items_class(items_of(backend->launch.global, dimensions)));
	return shape_mix_word(key, items_of(backend->launch.local, dimensions));
}

/*
 * The boundaries of a stretch depend on when its records were read, so its shape is a coarse one.
 */
static uint64_t shape_of_stretch(const struct task_burst *burst)
{
	uint64_t items = 0;
	for (uint32_t i = 0; i < burst->count; i++) {
		const struct backend_command *backend = &burst->members[i].backend;
		const uint64_t more = items_of(backend->launch.global, backend->launch.dimensions);
		if (__builtin_add_overflow(items, more, &items))
			items = UINT64_MAX;
	}
	const uint64_t key = shape_mix_word(shape_mix_word(2, burst->count), size_class(items));
	return shape_mix_word(key, (uintptr_t)burst->members[0].kernel);
}

uint64_t sched_admission_shape(const struct task_command *command)
{
	const struct backend_command *backend = &command->backend;
	uint64_t key = shape_mix_word(1, backend->kind);
	if (command->graph)
		return shape_mix_word(key, (uintptr_t)command->graph->graph);
	if (command->native_command)
		return 0;
	switch (backend->kind) {
	case BACKEND_COMMAND_LAUNCH:
		if (command->burst && command->burst->members)
			return shape_of_stretch(command->burst);
		key = shape_mix_word(shape_mix_word(key, (uintptr_t)command->kernel),
				     command_launch_count(command));
		key = mix_launch_range(key, backend);
		if (backend->launch.part.of > 0)
			key = shape_mix_word(
				shape_mix_word(key, backend->launch.part.end -
							    backend->launch.part.first),
				backend->launch.part.of);
		return key;
	case BACKEND_COMMAND_COPY:
	case BACKEND_COMMAND_COPY_PEER:
		return shape_mix_word(key, size_class(backend->copy.size_bytes));
	case BACKEND_COMMAND_WRITE:
	case BACKEND_COMMAND_READ:
		return shape_mix_word(key, size_class(backend->transfer.size_bytes));
	case BACKEND_COMMAND_FILL:
		return shape_mix_word(key, size_class(backend->fill.size_bytes));
	default:
		return key;
	}
}

/* A task that is submitted again has the shape that it had. */
static uint64_t shape_of_task(struct task *task)
{
	struct task_command *command = &task->command;
	if (!command->is_again || command->shape == 0)
		command->shape = sched_admission_shape(command);
	return command->shape;
}

static bool arrive_in_fair_queue(struct task *task)
{
	struct scheduler *scheduler = task->scheduler;
	struct sched_flow *flow = task->flow;
	if (!sched_admission_takes_time(task) || !need_admission(task->device) ||
	    !flow->in_fair_queue)
		return false;
	task->queue_group.shape = shape_of_task(task);
	task->queue_group.launches = command_launch_count(&task->command);
	task->state = TASK_PARKED;
	(void)fair_queue_arrive(&flow->queue_session, &task->queue_group, scheduler->now_ns);
	scheduler->fair_queues_due |= admission_device_bit(task->device);
	scheduler->counters.fair_queue_waiting++;
	return true;
}

bool sched_admission_pass(struct task *task)
{
	struct scheduler *scheduler = task->scheduler;
	if (task->queue_group.in_flight)
		return true;
	if (scheduler->has_fair_queues && arrive_in_fair_queue(task))
		return false;
	if (task->role == TASK_ROLE_GROUP)
		scheduler->counters.fair_queue_bypassed += command_launch_count(&task->command);
	return true;
}

/* ------------------------------- what the queue is given -------------------------------- */

void sched_admission_sent(struct task *task)
{
	struct backend_command *backend = &task->command.backend;
	if (!task->queue_group.in_flight) {
		report_bypassing(task);
		return;
	}
	fair_queue_sent(&task->queue_group, task->command.lane, task->scheduler->now_ns);
	if (task->queue_group.timed && !task->command.burst &&
	    (backend->kind == BACKEND_COMMAND_LAUNCH || backend->kind == BACKEND_COMMAND_GRAPH))
		backend->timed = true;
}

void sched_admission_back(struct task *task)
{
	const struct task_command *command = &task->command;
	if (!task->queue_group.in_flight) {
		end_bypassing(task);
		return;
	}
	uint64_t took_ns =
		command->end_ns > command->start_ns ? command->end_ns - command->start_ns : 0;
	/* A task that failed before it ran is not charged. A task that ran is charged although it
	 * failed; otherwise failing would be a way to more than a fair share. */
	if (command->skipped || (command->cause && took_ns == 0)) {
		sched_admission_refuse(task);
		return;
	}
	if (command->estimated)
		task->queue_group.seen_ns = took_ns;
	task->queue_group.began_ns = command->start_ns;
	fair_queue_end(&task->queue_group, task->scheduler->now_ns,
		       command->estimated ? 0 : took_ns);
	task->scheduler->fair_queues_due |= admission_device_bit(task->device);
}

void sched_admission_refuse(struct task *task)
{
	if (!task->queue_group.in_flight)
		return;
	fair_queue_return(&task->queue_group, task->scheduler->now_ns);
	task->scheduler->fair_queues_due |= admission_device_bit(task->device);
}

/* ----------------------------------- when the queue steps ----------------------------------- */

static struct task *task_of_group(struct fair_queue_group *group)
{
	return (struct task *)(void *)((char *)group - offsetof(struct task, queue_group));
}

static void leave_fair_queue(struct task *task)
{
	task->scheduler->counters.fair_queue_waiting--;
	task->state = TASK_PENDING;
}

struct task *sched_admission_withdraw(struct sched_flow *flow)
{
	if (!flow->in_fair_queue || flow->queue_session.waiting == 0)
		return NULL;
	struct task *task = task_of_group(flow->queue_session.first);
	fair_queue_cancel(&task->queue_group);
	leave_fair_queue(task);
	task->scheduler->fair_queues_due |= admission_device_bit(flow->device);
	return task;
}

void sched_admission_lost(struct scheduler_device *device)
{
	struct sched_admission *admission = device->admission;
	if (!admission || admission->queue.waiting == 0)
		return;
	for (struct list *link = device->flows.next; link != &device->flows; link = link->next) {
		struct task *task;
		while ((task = sched_admission_withdraw(
				list_entry(link, struct sched_flow, link)))) {
			task_doom(task, device->lost, true);
			task->front_only = true; /* also if the task was doomed while it waited */
			task_consider(task);
		}
	}
}

static void admit_task(struct task *task)
{
	struct scheduler *scheduler = task->scheduler;
	leave_fair_queue(task);
	scheduler->counters.fair_queue_admitted += command_launch_count(&task->command);
	if (task->queue_group.arrived_ns < scheduler->now_ns)
		scheduler->counters.fair_queue_held += command_launch_count(&task->command);
}

struct task *sched_admission_step(struct scheduler *scheduler)
{
	while (scheduler->fair_queues_due) {
		uint32_t index = (uint32_t)__builtin_ctzll(scheduler->fair_queues_due);
		struct scheduler_device *device = scheduler->devices[index];
		struct sched_admission *admission = device ? device->admission : NULL;
		struct fair_queue_group *group;
		struct fair_queue_decisions decisions = {.groups = &group, .room = 1};
		if (admission && admission->queue.waiting > 0) {
			fair_queue_set_apart(&admission->queue,
					     scheduler_latency_units(device) > 0);
			fair_queue_step(&admission->queue, scheduler->now_ns, &decisions);
			admission->again_ns = decisions.again_ns;
		}
		if (decisions.count == 1) {
			struct task *task = task_of_group(group);
			admit_task(task);
			return task;
		}
		scheduler->fair_queues_due &= ~(1ull << index);
		if (admission && admission->queue.waiting > 0)
			scheduler->fair_queues_held |= 1ull << index;
		else
			scheduler->fair_queues_held &= ~(1ull << index);
	}
	return NULL;
}

void sched_admission_poll(struct scheduler *scheduler)
{
	for (uint64_t held = scheduler->fair_queues_held; held; held &= held - 1) {
		uint32_t index = (uint32_t)__builtin_ctzll(held);
		const struct scheduler_device *device = scheduler->devices[index];
		if (!device || !device->admission)
			scheduler->fair_queues_held &= ~(1ull << index);
		else if (scheduler->now_ns >= device->admission->again_ns)
			scheduler->fair_queues_due |= 1ull << index;
	}
}

uint64_t scheduler_again_ns(const struct scheduler *scheduler)
{
	uint64_t again_ns = sched_grant_again_ns(scheduler),
		 latency_ns = sched_latency_again_ns(scheduler);
	if (latency_ns < again_ns)
		again_ns = latency_ns;
	if (scheduler->spills_again_ns < again_ns)
		again_ns = scheduler->spills_again_ns;
	for (uint64_t held = scheduler->fair_queues_held; held; held &= held - 1) {
		const struct scheduler_device *device = scheduler->devices[__builtin_ctzll(held)];
		if (device && device->admission && device->admission->again_ns < again_ns)
			again_ns = device->admission->again_ns;
	}
	return again_ns;
}
