#include "opencl/lane/begin.h"

#include "clock.h"
#include "opencl/driver/pending.h"
#include "opencl/lane/lane.h"

#include <stdatomic.h>
#include <stdlib.h>

/* The lane and the driver share the record, because the driver may call when the lane is freed. If
 * a driver never calls, its reference is never dropped. */
struct opencl_begin {
	_Atomic uint32_t references;
	_Atomic uint64_t begun_ns; /* CLOCK_MONOTONIC; 0: the command has not begun */
};

void opencl_begin_drop(struct opencl_begin *begin)
{
	if (begin && atomic_fetch_sub_explicit(&begin->references, 1, memory_order_acq_rel) == 1)
		free(begin);
}

static void CL_CALLBACK on_begun(cl_event event, cl_int status, void *user_data)
{
	struct opencl_begin *begin = user_data;
	(void)event;
	(void)status;

	atomic_store_explicit(&begin->begun_ns, clock_now_ns(), memory_order_release);
	opencl_begin_drop(begin);
}

/* The event that shows that the command runs. A graph and a native command have a mark before them,
 * which is complete then. */
static cl_event begin_mark(const struct opencl_pending *pending, cl_int *state_out)
{
	*state_out = pending->start ? CL_COMPLETE : CL_RUNNING;
	return pending->start ? pending->start : pending->event;
}

void opencl_begin_watch(const struct backend_lane *lane, struct opencl_pending *pending)
{
	cl_int state = CL_RUNNING;
	cl_event mark = begin_mark(pending, &state);
	struct opencl_begin *begin = calloc(1, sizeof(*begin));

	if (!begin)
		return;
	atomic_init(&begin->references, 2);
	if (lane->device->cl->SetEventCallback(mark, state, on_begun, begin) == CL_SUCCESS)
		pending->begin = begin;
	else
		free(begin);
}

bool opencl_begun(struct backend_lane *lane, uint64_t sequence, uint64_t *begun_ns_out)
{
	const struct opencl_pending *pending = NULL;
	cl_int wanted = CL_RUNNING, state = CL_QUEUED;

	*begun_ns_out = 0;
	if (opencl_lane_pending(lane, sequence, &pending) < 0)
		return false;
	if (!pending)
		return true;
	if (pending->begin)
		*begun_ns_out =
			atomic_load_explicit(&pending->begin->begun_ns, memory_order_acquire);
	if (*begun_ns_out)
		return true;
	cl_event mark = begin_mark(pending, &wanted);
	return lane->device->cl->GetEventInfo(mark, CL_EVENT_COMMAND_EXECUTION_STATUS,
					      sizeof(state), &state, NULL) == CL_SUCCESS &&
	       state <= wanted;
}
