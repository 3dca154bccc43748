/* Commands that were set aside, in line, until there is room for their memory (device thread). */
#include "base/mailbox.h"
#include "scheduler/state/device.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"
#include "worker/spill/spill.h"
#include "worker/spill/internal.h"
#include "worker/task/named.h"

/* A command that was held (hold.h) may be older than others in line, which must not pass it. A
 * command behind it may be in line already because of its own lane. */
static void aside_enter_line(struct worker_spill *spill, struct sched_message *message)
{
	struct sched_message **at = &spill->aside.first, *last = spill->aside.last;
	uint64_t number = worker_task_of(message)->command.wait_number;
	if (last && last->kind == SCHED_MESSAGE_COMMAND &&
	    worker_task_of(last)->command.wait_number < number) {
		sched_message_append(&spill->aside, message);
		return;
	}
	while (*at && ((*at)->kind != SCHED_MESSAGE_COMMAND ||
		       worker_task_of(*at)->command.wait_number < number))
		at = &(*at)->next;
	message->next = *at;
	*at = message;
	if (!message->next)
		spill->aside.last = message;
}

void worker_spill_set_aside(struct scheduler_device *device, struct sched_message *message)
{
	struct worker_spill *spill = spill_of(device);
	/* The time is read before the front thread can find the waiting command, so that the wait
	 * begins no later. */
	const uint64_t now_ns = device->scheduler->clock_ns();
	if (message->kind == SCHED_MESSAGE_COMMAND) {
		worker_named_number(&device->worker.wait_numbers, worker_task_of(message));
		worker_task_of(message)->command.was_set_aside = true;
		aside_enter_line(spill, message);
	} else {
		sched_message_append(&spill->aside, message);
	}
	if (spill->aside.first == message && spill->waiting != message) {
		spill->waiting = message;
		spill->waiting_count = spill->order.now;
		spill->waits_since_ns = now_ns;
	}
	if (message->kind != SCHED_MESSAGE_COMMAND)
		return;
	const struct task_command *command = &worker_task_of(message)->command;
	worker_named_note(&spill->named, command);
	if (spill->aside_from[command->lane] == 0)
		spill->aside_from[command->lane] = command_first_sequence(command);
}

bool worker_spill_is_aside(struct scheduler_device *device, uint32_t lane, uint64_t sequence)
{
	const struct worker_spill *spill = spill_of(device);
	return spill->aside_from[lane] != 0 && sequence >= spill->aside_from[lane];
}

static bool command_is_behind_aside(const struct worker_spill *spill,
				    const struct task_command *command)
{
	return spill->aside_from[command->lane] != 0 ||
	       worker_named_waits(spill->aside_from, command);
}

/* True if a command set aside names the failed one. Then the failure must be kept until that
 * command has been tried again. */
static bool command_is_named_aside(const struct worker_spill *spill,
				   const struct task_command *failed)
{
	return worker_named_may_have(&spill->named, failed) &&
	       worker_named_in(&spill->aside, failed);
}

bool worker_spill_holds(struct scheduler_device *device, struct sched_message *message)
{
	struct worker_spill *spill = spill_of(device);
	if (!spill->aside.first || device->worker.unusable)
		return false;
	/* Only these messages are parts of tasks. */
	if (message->kind != SCHED_MESSAGE_COMMAND && message->kind != SCHED_MESSAGE_FORGET)
		return false;
	const struct task_command *command = &worker_task_of(message)->command;
	if (message->kind == SCHED_MESSAGE_COMMAND ? !command_is_behind_aside(spill, command)
						   : !command_is_named_aside(spill, command))
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
