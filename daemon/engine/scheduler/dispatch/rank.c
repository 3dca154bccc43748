/* An account's class and weight change, on all devices where it has work. */
#include "fair_queue/fair_queue.h"
#include "scheduler/admission/account.h"
#include "scheduler/admission/admission.h"
#include "scheduler/dispatch/lane.h"
#include "scheduler/public/account.h"
#include "scheduler/state/device.h"

#include <errno.h>

int sched_account_rank(struct sched_account *account, uint32_t class, uint32_t weight)
{
	if (class >= FAIR_QUEUE_CLASSES || weight < 1 || weight > FAIR_QUEUE_WEIGHT_MOST)
		return -EINVAL;
	if (!sched_account_set_rank(account, (enum fair_queue_class) class, weight))
		return 0;
	for (struct sched_flow *flow = *sched_account_flows(account); flow; flow = flow->next)
		if (flow->device && sched_admission_flow_changed(flow))
			sched_flow_reassign_lanes(flow);
	return 0;
}
