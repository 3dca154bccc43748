/* When large transfers will be over, by what the latest took (device thread). */
#include "worker/task/transfer.h"

#include "base/expect.h"
#include "scheduler/state/task.h"
#include "worker/state/worker.h"

#include "clock.h"

static enum sched_expect_way transfer_way(const struct backend_command *command)
{
	return command->kind == BACKEND_COMMAND_WRITE ? SCHED_EXPECT_IN : SCHED_EXPECT_OUT;
}

static void expect_transfer_from(struct worker *worker, struct task_command *command,
				 uint64_t begin_ns)
{
	command->begin_ns = begin_ns;
	command->expected_ns = sched_expect_end(&worker->expect, transfer_way(&command->backend),
						begin_ns, command->backend.transfer.size_bytes);
}

void worker_transfer_expect_large(struct worker *worker, struct worker_lane *lane,
				  struct task_command *command)
{
	uint64_t now = clock_now_ns();
	expect_transfer_from(worker, command, lane->free_ns > now ? lane->free_ns : now);
	lane->free_ns = command->expected_ns;
}

void worker_transfer_measure_large(struct worker *worker, const struct task_command *command,
				   struct task_command *next)
{
	uint64_t now = clock_now_ns();
	if (command->begin_ns && now > command->begin_ns)
		sched_expect_update(&worker->expect, transfer_way(&command->backend),
				    command->backend.transfer.size_bytes, now - command->begin_ns);
	if (next && next->begin_ns)
		expect_transfer_from(worker, next, now);
}
