/*
 * The running commands, and the recent use of devices' time. A command is charged at its return,
 * from its start on the device to its end there. A report adds the time of a running
 * command without charging it, because the command may wait for another process's work. The sums
 * are sampled a few times each second, and a report shows their growth since a sample. A sample
 * includes the time of the command that ran then. Otherwise all time of a long command would count
 * in the window of its end.
 */
#include "scheduler/admission/present.h"

#include "base/intrusive_list.h"
#include "fair_queue/fair_queue.h"
#include "scheduler/admission/account.h"
#include "scheduler/admission/samples.h"
#include "scheduler/admission/use.h"
#include "scheduler/public/account.h"
#include "scheduler/public/present.h"
#include "scheduler/state/buffer.h"
#include "scheduler/state/device.h"
#include "scheduler/state/grant.h"
#include "scheduler/state/program.h"
#include "scheduler/state/samples.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"

#include "share_page.h"

#define SAMPLE_NS 250000000ull
#define WINDOW_NS 1000000000ull
/* Most predecessors that are followed to find the reason of a wait. */
#define FOLLOWED_MOST 256u

static struct sched_flow *task_paying_flow(const struct task *task)
{
	struct sched_flow *flow = task->flow;
	struct scheduler_device *root = flow->device->root;
	struct sched_flow *of_root =
		root && flow->account ? *sched_account_flows(flow->account) : NULL;
	while (of_root && of_root->device != root)
		of_root = of_root->next;
	return of_root ? of_root : flow;
}

/* False: nothing was sent to the device, it is being opened, or it was lost. */
static bool device_can_run(const struct scheduler_device *device)
{
	return device->sent > 0 &&
	       atomic_load_explicit(&device->opened, memory_order_relaxed) == SCHED_OPENED;
}

/* Returns the first command of the lane, if no other command must end before it. NULL: none. */
static struct task *lane_running_task(const struct sched_lane *lane)
{
	struct task *task = lane->first;
	bool runs = task && task->open_in == 0 &&
		    !atomic_load_explicit(&task->is_aside, memory_order_relaxed);
	return runs ? task : NULL;
}

static uint64_t task_runs_since_ns(const struct scheduler_device *device, const struct task *task)
{
	uint64_t moved_ns = device->lanes[task->command.lane].moved_ns;
	return task->sent_ns > moved_ns ? task->sent_ns : moved_ns;
}

/* Returns the command that has run on the device for longest. NULL: none runs. */
static struct task *device_running_task(const struct scheduler_device *device)
{
	struct task *oldest = NULL;
	for (uint32_t i = 0; device_can_run(device) && i < device->lane_end; i++) {
		struct task *task = lane_running_task(&device->lanes[i]);
		if (task && (!oldest ||
			     task_runs_since_ns(device, task) < task_runs_since_ns(device, oldest)))
			oldest = task;
	}
	return oldest;
}

/* Returns the time of the running command up to `now_ns` that was not charged. */
static uint64_t uncharged_ns(const struct scheduler_device *device, const struct task *task,
			     uint64_t now_ns)
{
	uint64_t begin_ns = task_runs_since_ns(device, task);
	if (begin_ns < device->accounted_ns)
		begin_ns = device->accounted_ns;
	return now_ns > begin_ns ? now_ns - begin_ns : 0;
}

static void present_sample_device(struct scheduler_device *device, uint32_t index, uint64_t at_ns)
{
	struct task *task = device_running_task(device);
	uint64_t running_ns = task ? uncharged_ns(device, task, at_ns) : 0;
	device->sampled_ns[index] = device->busy_ns + running_ns;
	for (struct list *link = device->flows.next; link != &device->flows; link = link->next) {
		struct sched_flow *flow = list_entry(link, struct sched_flow, link);
		flow->sampled_ns[index] = flow->used.device_ns;
	}
	if (task)
		task_paying_flow(task)->sampled_ns[index] += running_ns;
}

static void take_sample(struct scheduler *scheduler, uint64_t at_ns)
{
	struct sched_samples *samples = &scheduler->samples;
	uint32_t index = samples->next;
	samples->next = (index + 1) % SCHED_SAMPLES;
	samples->at_ns[index] = at_ns;
	samples->due_ns = at_ns + SAMPLE_NS;
	for (uint32_t i = 0; i < scheduler->device_count; i++)
		if (scheduler->devices[i])
			present_sample_device(scheduler->devices[i], index, at_ns);
}

static void sample_now(struct scheduler *scheduler, uint64_t before_ns, uint64_t now_ns)
{
	const struct sched_samples *samples = &scheduler->samples;
	uint64_t latest_ns = samples->at_ns[(samples->next + SCHED_SAMPLES - 1) % SCHED_SAMPLES];
	/* After a pause the state of the turn before it is sampled too: it did not change since. */
	if (before_ns > latest_ns && now_ns - before_ns > SAMPLE_NS)
		take_sample(scheduler, before_ns);
	take_sample(scheduler, now_ns);
}

void sched_present_sample(struct scheduler *scheduler, uint64_t before_ns)
{
	sample_now(scheduler, before_ns, scheduler->now_ns);
}

/* Returns the latest sample that is at least a window old; if there is none, the oldest one. */
static uint32_t window_base(const struct sched_samples *samples, uint64_t now_ns)
{
	uint32_t base = samples->next;
	for (uint32_t i = 1; i <= SCHED_SAMPLES; i++) {
		uint32_t at = (samples->next + SCHED_SAMPLES - i) % SCHED_SAMPLES;
		if (samples->at_ns[at] == 0)
			break;
		base = at;
		if (now_ns - samples->at_ns[at] >= WINDOW_NS)
			break;
	}
	return base;
}

static void device_forget_running(struct scheduler_device *device)
{
	device->running_ns = 0;
	for (struct list *link = device->flows.next; link != &device->flows; link = link->next)
		list_entry(link, struct sched_flow, link)->running_ns = 0;
}

static void note_running(struct scheduler_device *device, uint64_t now_ns)
{
	struct task *task = device_running_task(device);
	if (!task)
		return;
	device->running_ns = uncharged_ns(device, task, now_ns);
	task_paying_flow(task)->running_ns += device->running_ns;
}

uint64_t scheduler_present_begin(struct scheduler *scheduler)
{
	struct sched_samples *samples = &scheduler->samples;
	uint64_t now_ns = scheduler->clock_ns();
	if (now_ns >= samples->due_ns)
		sample_now(scheduler, scheduler->now_ns, now_ns);
	samples->base = window_base(samples, now_ns);
	samples->report_ns = now_ns;
	for (uint32_t i = 0; i < scheduler->device_count; i++)
		if (scheduler->devices[i])
			device_forget_running(scheduler->devices[i]);
	/* A separate loop, because a sub-device's command adds to a flow of the whole device. */
	for (uint32_t i = 0; i < scheduler->device_count; i++)
		if (scheduler->devices[i])
			note_running(scheduler->devices[i], now_ns);
	return sched_samples_window_ns(samples);
}

bool scheduler_device_present(const struct scheduler *scheduler, uint32_t device,
			      struct sched_device_present *present_out)
{
	const struct scheduler_device *of = scheduler->devices[device];
	uint64_t used_ns = 0;
	uint32_t commands = 0;
	if (!of || of->native_context || of->root)
		return false;
	const uint32_t base = scheduler->samples.base;
	/* Sums the device and its sub-devices. */
	for (uint32_t i = 0; i < scheduler->device_count; i++) {
		const struct scheduler_device *part = scheduler->devices[i];
		if (!part || (part != of && part->root != of))
			continue;
		used_ns += sched_since_sample(part->busy_ns + part->running_ns,
					      part->sampled_ns[base]);
		commands += part->sent;
	}
	*present_out = (struct sched_device_present){
		.backend = of->ops->kind,
		.index = of->backend_index,
		.busy_permille = sched_samples_permille(&scheduler->samples, used_ns),
		.commands = commands,
		.held_bytes = atomic_load_explicit(&of->room.held_bytes, memory_order_relaxed),
	};
	return true;
}

static const struct task *lane_running_task_of(const struct sched_lane *lane,
					       const struct sched_account *account)
{
	const struct task *task = lane_running_task(lane);
	return task && task->flow && task->flow->account == account ? task : NULL;
}

/* Returns the charged time of the task, and its running time in the latest report. */
static uint64_t task_shown_ns(const struct task *task)
{
	const struct scheduler_device *device = task->device;
	uint64_t device_ns = (task->beneficiary ? task->beneficiary : task)->device_ns;
	return device_running_task(device) == task ? device_ns + device->running_ns : device_ns;
}

static void present_fill_running_task(const struct task *task, uint64_t since_ns,
				      struct sched_running *running_out)
{
	const struct scheduler_device *device =
		task->device->root ? task->device->root : task->device;
	const struct task_command *command = &task->command;
	const struct task_burst *burst = command->burst;
	*running_out = (struct sched_running){
		.backend = device->ops->kind,
		.index = device->backend_index,
		.what = command->what,
		.since_ns = since_ns,
		.used_ns = task_shown_ns(task),
		.queue = command->flight_queue,
		.group = command->flight_group,
	};
	if (!burst)
		return;
	/* Names the running launch of the burst, as far as the device's thread has reported. */
	const uint32_t over = burst_over(burst);
	const uint32_t at = over < burst->count ? over : burst->count - 1;
	running_out->group += at;
	if (burst->members && at > 0)
		running_out->what = burst->members[at].kernel->name;
}

bool sched_account_running(const struct scheduler *scheduler, const struct sched_account *account,
			   struct sched_running *running_out)
{
	const struct task *oldest = NULL;
	uint64_t oldest_ns = 0;
	for (uint32_t i = 0; sched_account_sent(account) > 0 && i < scheduler->device_count; i++) {
		const struct scheduler_device *device = scheduler->devices[i];
		if (!device || !device_can_run(device))
			continue;
		for (uint32_t lane = 0; lane < device->lane_end; lane++) {
			const struct task *task =
				lane_running_task_of(&device->lanes[lane], account);
			if (!task || (oldest && task_runs_since_ns(device, task) >= oldest_ns))
				continue;
			oldest = task;
			oldest_ns = task_runs_since_ns(device, task);
		}
	}
	if (!oldest)
		return false;
	present_fill_running_task(oldest, oldest_ns, running_out);
	return true;
}

uint64_t sched_account_spilled(struct sched_account *account)
{
	uint64_t bytes = 0;
	if (!sched_account_has_spilled(account))
		return 0;
	const struct list *memories = sched_account_memories(account);
	for (struct list *link = memories->next; link != memories; link = link->next) {
		const struct sched_memory *memory =
			list_entry(link, struct sched_memory, account_link);
		if (atomic_load_explicit(&memory->spill.away, memory_order_relaxed))
			bytes += memory->size_bytes;
	}
	return bytes;
}

static bool task_is_open(const struct task *task)
{
	return task->state != TASK_DONE;
}

/* Follows open predecessors to the first one that waits for no other, or to the limit. */
static const struct task *first_predecessor_in_front(const struct task *task)
{
	for (uint32_t i = 0; i < FOLLOWED_MOST && task->open_in > 0; i++) {
		const struct task_edge *edge = task->in;
		while (edge && !task_is_open(edge->from))
			edge = edge->next_in;
		if (!edge)
			break;
		task = edge->from;
	}
	return task;
}

static enum sched_wait parked_task_wait(const struct task *task)
{
	const struct scheduler_device *device = task->device;
	if (task->awaits_resume)
		return SCHED_WAIT_TURN;
	if (!task->flow || task->flow->waiting == 0)
		return device->divided && sched_grant_of(device) < SHARE_WHOLE ? SCHED_WAIT_SHARE
									       : SCHED_WAIT_TURN;
	return SCHED_WAIT_DEVICE;
}

enum sched_wait task_waits_for(const struct task *of)
{
	const struct task *task = first_predecessor_in_front(of);
	switch (task->state) {
	case TASK_PARKED:
		return parked_task_wait(task);
	case TASK_SENT:
		return atomic_load_explicit(&task->is_aside, memory_order_relaxed)
			       ? SCHED_WAIT_MEMORY
			       : SCHED_WAIT_DEVICE;
	case TASK_HELD:
		return task->held_by_host || task->role == TASK_ROLE_HOST_ACCESS ? SCHED_WAIT_HOST
										 : SCHED_WAIT_EVENT;
	case TASK_PENDING:
		return task->awaits_kernel ? SCHED_WAIT_COMPILER : SCHED_WAIT_EVENT;
	default:
		return SCHED_WAIT_NONE; /* it waits for nothing */
	}
}
