/*
 * Each session's use of each device, kept with its flow by the front thread. The delay of a command
 * begins when its predecessors no longer hold it back and ends when it is sent. Both times are
 * those of the turn.
 */
#include "scheduler/admission/use.h"

#include "scheduler/admission/account.h"
#include "scheduler/state/buffer.h"
#include "scheduler/state/device.h"
#include "scheduler/admission/flow.h"
#include "scheduler/admission/samples.h"
#include "scheduler/public/account.h"
#include "scheduler/public/device.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"

/* Use of a sub-device counts for its device. */
static struct sched_flow *flow_counting_use(struct sched_flow *flow)
{
	struct scheduler_device *root = flow->device->root;
	return root && flow->account ? sched_flow_of(root, flow->account) : flow;
}

static struct sched_used *used_by_flow(struct sched_flow *flow)
{
	return &flow_counting_use(flow)->used;
}

void sched_use_sent(struct task *task)
{
	const uint64_t now_ns = task->scheduler->now_ns;
	if (task->role != TASK_ROLE_GROUP || task->split.begun)
		return;
	struct sched_flow *flow = flow_counting_use(task->flow);
	recent_delays_step(&flow->recent, &flow->used.delays, now_ns);
	delay_note(&flow->used.delays, now_ns - task->due_ns, command_launch_count(&task->command));
}

static uint32_t count_failures(const struct task_command *command)
{
	if (command->burst && command->burst->failed)
		return (uint32_t)__builtin_popcount(command->burst->failed);
	return command->cause ? command_launch_count(command) : 0;
}

void sched_use_back(struct task *task, uint64_t device_ns)
{
	const struct task_command *command = &task->command;
	struct sched_used *used = used_by_flow(task->flow);
	used->device_ns += device_ns;
	/* A command that was skipped was never on the device. */
	if (command->skipped)
		return;
	/* A split task is counted with its last part. */
	if (task->role == TASK_ROLE_GROUP && (command->cause || !task->split.more)) {
		used->commands += command_launch_count(command);
		used->failed += count_failures(command);
	}
	if (command->cause)
		return;
	if (command->backend.kind == BACKEND_COMMAND_WRITE)
		used->bytes_to_device += command->backend.transfer.size_bytes;
	else if (command->backend.kind == BACKEND_COMMAND_READ)
		used->bytes_to_host += command->backend.transfer.size_bytes;
}

/* Device threads count spills in each memory. The front thread adds them to the memory's account
 * here. */
void sched_use_settle(struct sched_memory *memory)
{
	uint32_t times = atomic_exchange_explicit(&memory->spill.times, 0, memory_order_relaxed);
	struct sched_flow *flow = memory->account ? *sched_account_flows(memory->account) : NULL;
	while (flow && flow->device != memory->device)
		flow = flow->next;
	if (times == 0 || !flow)
		return;
	used_by_flow(flow)->spills += times;
	used_by_flow(flow)->spilled_bytes += times * memory->size_bytes;
}

/* Returns the flow's part of the device's time in the window of the latest report. */
static uint32_t used_permille(const struct sched_flow *flow)
{
	const struct sched_samples *samples = &flow->device->scheduler->samples;
	return sched_samples_permille(samples,
				      sched_since_sample(flow->used.device_ns + flow->running_ns,
							 flow->sampled_ns[samples->base]));
}

bool sched_account_use(struct sched_account *account, uint32_t nth,
		       struct sched_device_use *use_out)
{
	if (nth == 0)
		sched_account_settle_spills(account);
	for (const struct sched_flow *flow = *sched_account_flows(account); flow;
	     flow = flow->next) {
		if (!flow->device || flow->device->native_context || flow->device->root ||
		    nth-- > 0)
			continue;
		*use_out = (struct sched_device_use){flow->device->ops->kind,
						     flow->device->backend_index, &flow->used,
						     used_permille(flow)};
		return true;
	}
	return false;
}

void sched_account_recent_delays(struct sched_account *account, uint64_t now_ns,
				 struct delay_histogram *delays_out)
{
	*delays_out = (struct delay_histogram){.counts = {0}};
	for (const struct sched_flow *flow = *sched_account_flows(account); flow; flow = flow->next)
		recent_delays_add(&flow->recent, &flow->used.delays, now_ns, delays_out);
}
