/* A session is paused, and goes on. Its tasks wait in admission/pause.c. */
#include "scheduler/admission/account.h"
#include "scheduler/admission/flow.h"
#include "scheduler/admission/pause.h"
#include "scheduler/public/account.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"

void scheduler_pause(struct scheduler *scheduler, struct sched_account *account)
{
	struct sched_pause *pause = sched_account_pause(account);
	if (pause->is_on)
		return;
	pause->is_on = true;
	scheduler->paused_count++;
	for (struct sched_flow *flow = *sched_account_flows(account); flow; flow = flow->next)
		if (flow->device)
			sched_flow_consider_parked(flow);
	scheduler_run(scheduler);
}

void scheduler_resume(struct scheduler *scheduler, struct sched_account *account)
{
	struct sched_pause *pause = sched_account_pause(account);
	if (!pause->is_on)
		return;
	pause->is_on = false;
	scheduler->paused_count--;
	sched_pause_consider_all(account);
	scheduler_run(scheduler);
}
