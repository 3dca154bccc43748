/* Commands that were set aside, in line, until there is room for their memory (device thread). */
#include "base/mailbox.h"
#include "scheduler/state/device.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"
#include "worker/command.h"
#include "worker/spill.h"
#include "worker/spill_internal.h"

void worker_spill_set_aside(struct scheduler_device *device, struct sched_message *message)
{
	struct worker_spill *spill = spill_of(device);
	sched_message_append(&spill->aside, message);
	if (spill->aside.first == message && spill->waiting != message) {
		spill->waiting = message;
		spill->waiting_count = spill->order.now;
		spill->waits_since_ns = device->scheduler->clock_ns();
	}
	if (message->kind != SCHED_MESSAGE_COMMAND)
		return;
	struct task *task = (struct task *)(void *)message;
	const struct task_command *command = &task->command;
	atomic_store(&task->is_aside, true);
	if (spill->aside_from[command->lane] == 0)
		spill->aside_from[command->lane] =
			command->sequence - worker_launch_count(command) + 1;
}

bool worker_spill_is_aside(struct scheduler_device *device, uint32_t lane, uint64_t sequence)
{
	const struct worker_spill *spill = spill_of(device);
	return spill->aside_from[lane] != 0 && sequence >= spill->aside_from[lane];
}

static bool is_behind(const struct worker_spill *spill, const struct task_command *command)
{
	if (spill->aside_from[command->lane] != 0)
		return true;
	for (uint32_t i = 0; i < command->predecessor_count; i++) {
		const struct task_predecessor *predecessor = &command->predecessors[i];
		uint64_t from = spill->aside_from[predecessor->lane];
		if (from != 0 && predecessor->sequence >= from)
			return true;
	}
	return false;
}

bool worker_spill_holds(struct scheduler_device *device, struct sched_message *message)
{
	struct worker_spill *spill = spill_of(device);
	bool is_send = message->kind == SCHED_MESSAGE_COMMAND;
	/* A command that was set aside may depend on the failed one. */
	if (!spill->aside.first || device->worker.unusable ||
	    (!is_send && message->kind != SCHED_MESSAGE_FORGET) ||
	    (is_send && !is_behind(spill, &((struct task *)(void *)message)->command)))
		return false;
	worker_spill_set_aside(device, message);
	return true;
}

uint64_t worker_spill_wait_ns(const struct scheduler_device *device, uint64_t ns)
{
	const struct worker_spill *spill = &device->worker.spill;
	if (!spill->aside.first)
		return ns;
	uint64_t now_ns = device->scheduler->clock_ns(), most_ns = SPILL_LOOK_NS;
	if (spill->defers)
		most_ns = spill->defers_until_ns > now_ns ? spill->defers_until_ns - now_ns : 0;
	return ns > most_ns ? most_ns : ns;
}

bool worker_spill_await_quiet(struct scheduler_device *device)
{
	struct worker_spill *spill = spill_of(device);
	if (spill->is_last_try)
		return false;
	spill->awaits_quiet = true;
	return true;
}

void worker_spill_have_room(struct scheduler_device *device)
{
	struct worker_spill *spill = spill_of(device);
	spill->awaits_quiet = false;
	spill->may_have_room = true;
	spill->due |= spill->aside.first != NULL;
}
