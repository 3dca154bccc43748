#include "opencl/lane/lane.h"

#include "clock.h"
#include "opencl/lane/begin.h"
#include "opencl/lane/check.h"
#include "opencl/driver/fault.h"
#include "opencl/driver/pending.h"
#include "status.h"

#define OPENCL_FIRST_CAPACITY 64u

/* Lanes of every kind are alike here. */
int opencl_lane_create(struct backend_device *device, enum backend_lane_kind kind,
		       struct backend_lane **lane_out, struct backend_fault *fault_out)
{
	(void)kind;
	cl_int code = CL_SUCCESS;
	struct backend_lane *lane = calloc(1, sizeof(*lane));
	if (!lane)
		return opencl_no_memory(fault_out, "a lane");
	lane->device = device;
	lane->profiling = device->profiling;
	lane->queue = opencl_queue_create(device->cl, device->context, device->id,
					  device->profiling, &code);
	if (!lane->queue) {
		free(lane);
		return opencl_fault_code(fault_out, code, "make a command queue");
	}
	lane->next = device->lanes;
	device->lanes = lane;
	*lane_out = lane;
	return 0;
}

static void unlink_lane(struct backend_lane *lane)
{
	struct backend_lane **at = &lane->device->lanes;

	while (*at != lane)
		at = &(*at)->next;
	*at = lane->next;
	if (!lane->is_unflushed)
		return;
	at = &lane->device->unflushed;
	while (*at != lane)
		at = &(*at)->next_unflushed;
	*at = lane->next_unflushed;
}

static void end_pending(struct backend_device *device, struct opencl_pending *pending)
{
	const struct opencl_library *cl = device->cl;
	(void)cl->ReleaseEvent(pending->event);
	if (pending->start)
		(void)cl->ReleaseEvent(pending->start);
	opencl_begin_drop(pending->begin);
	if (pending->check)
		(void)opencl_check_free(device, pending->check);
	opencl_kernel_drop(pending->kernel);
	free(pending->staging);
	free(pending->refusal);
}

void opencl_lane_free(struct backend_lane *lane)
{
	if (!lane)
		return;
	struct backend_device *device = lane->device;

	/*
	 * Idle by contract; but complete commands without a report keep their events, and a
	 * callback may be late.
	 */
	if (lane->head != lane->tail &&
	    !lane->is_native) /* the application's queue may have work of the application */
		(void)device->cl->Finish(lane->queue);
	for (; lane->head != lane->tail; lane->head++)
		end_pending(device, &lane->pending_ring[lane->head & (lane->capacity - 1)]);
	(void)pthread_mutex_lock(&device->lock);
	while (lane->armed)
		(void)pthread_cond_wait(&device->callback_ended, &device->lock);
	(void)pthread_mutex_unlock(&device->lock);

	unlink_lane(lane);
	(void)device->cl->ReleaseCommandQueue(lane->queue);
	free(lane->pending_ring);
	free(lane);
}

int opencl_lane_reserve(struct backend_lane *lane)
{
	if (lane->tail - lane->head < lane->capacity)
		return 0;
	size_t capacity = lane->capacity ? lane->capacity * 2 : OPENCL_FIRST_CAPACITY;
	struct opencl_pending *pending_ring = calloc(capacity, sizeof(*pending_ring));
	if (!pending_ring)
		return -ENOMEM;
	for (size_t i = lane->head; i != lane->tail; i++)
		pending_ring[i & (capacity - 1)] = lane->pending_ring[i & (lane->capacity - 1)];
	free(lane->pending_ring);
	lane->pending_ring = pending_ring;
	lane->capacity = capacity;
	return 0;
}

void opencl_lane_push(struct backend_lane *lane, const struct opencl_pending *pending)
{
	lane->pending_ring[lane->tail & (lane->capacity - 1)] = *pending;
	lane->tail++;
	lane->last_sequence = pending->sequence;
	if (lane->is_unflushed)
		return;
	lane->is_unflushed = true;
	lane->next_unflushed = lane->device->unflushed;
	lane->device->unflushed = lane;
}

/* Runs on a thread of the driver, or inside the call that requests it. */
static void CL_CALLBACK on_completed(cl_event event, cl_int status, void *user_data)
{
	struct backend_lane *lane = user_data;
	struct backend_device *device = lane->device;
	(void)event;
	(void)status;

	/* `armed` is cleared before the wake-up. In the other order, progress() could run in
	 * between and request no next callback. */
	(void)pthread_mutex_lock(&device->lock);
	lane->armed = false;
	(void)pthread_cond_broadcast(&device->callback_ended);
	(void)pthread_mutex_unlock(&device->lock);

	/* The lane may be freed by now. The device waits for its callbacks. */
	device->wake(device->token);

	(void)pthread_mutex_lock(&device->lock);
	device->callbacks--;
	(void)pthread_cond_broadcast(&device->callback_ended);
	(void)pthread_mutex_unlock(&device->lock);
}

static uint64_t lane_period_ns(const struct opencl_pending *pending)
{
	return pending->kernel ? pending->kernel->period_ns : pending->period_ns;
}

/*
 * The last command of the window: the first command, and the next ones as long as all together stay
 * within OPENCL_WINDOW_NS. Before a command that is long, or whose time is unknown, the window
 * ends, so earlier commands do not wait for it.
 */
static const struct opencl_pending *lane_window_end(const struct backend_lane *lane)
{
	size_t at = lane->head;
	uint64_t sum = lane_period_ns(&lane->pending_ring[at & (lane->capacity - 1)]);

	for (size_t count = 1;
	     at + 1 != lane->tail && count < OPENCL_WINDOW_COMMANDS && sum < OPENCL_WINDOW_NS;
	     count++, at++) {
		uint64_t next =
			lane_period_ns(&lane->pending_ring[(at + 1) & (lane->capacity - 1)]);
		if (next > OPENCL_WINDOW_NS - sum)
			break;
		sum += next;
	}
	return &lane->pending_ring[at & (lane->capacity - 1)];
}

/* Requests a callback if a command is pending and no callback is to come. */
static void arm_callback(struct backend_lane *lane)
{
	struct backend_device *device = lane->device;

	if (lane->head == lane->tail)
		return;
	(void)pthread_mutex_lock(&device->lock);
	bool armed = lane->armed;
	if (!armed) {
		lane->armed = true;
		device->callbacks++;
	}
	(void)pthread_mutex_unlock(&device->lock);
	if (armed)
		return;
	if (device->cl->SetEventCallback(lane_window_end(lane)->event, CL_COMPLETE, on_completed,
					 lane) == CL_SUCCESS)
		return;
	/* The driver cannot call back. So commands are polled in the next turn instead of being
	 * lost. */
	on_completed(NULL, CL_COMPLETE, lane);
}

void opencl_lane_flush_up_to(struct backend_lane *lane, uint64_t sequence)
{
	if (sequence <= lane->flushed_sequence)
		return;
	(void)lane->device->cl->Flush(lane->queue);
	lane->flushed_sequence = lane->last_sequence;
}

void opencl_flush(struct backend_device *device)
{
	struct backend_lane *lane = device->unflushed;

	device->unflushed = NULL;
	while (lane) {
		struct backend_lane *next = lane->next_unflushed;
		lane->is_unflushed = false;
		lane->next_unflushed = NULL;
		opencl_lane_flush_up_to(lane, lane->last_sequence);
		arm_callback(lane);
		lane = next;
	}
}

/* Reads the times of a command that has ended. False: the driver does not report them. */
static bool read_times(const struct backend_lane *lane, const struct opencl_pending *pending,
		       uint64_t *start_out, uint64_t *end_out)
{
	const struct opencl_library *cl = lane->device->cl;
	const cl_profiling_info begin =
		pending->start ? CL_PROFILING_COMMAND_END : CL_PROFILING_COMMAND_START;
	cl_ulong start = 0, end = 0;

	if (!lane->profiling ||
	    cl->GetEventProfilingInfo(pending->event, CL_PROFILING_COMMAND_END, sizeof(end), &end,
				      NULL) != CL_SUCCESS ||
	    cl->GetEventProfilingInfo(pending->start ? pending->start : pending->event, begin,
				      sizeof(start), &start, NULL) != CL_SUCCESS)
		return false;
	*start_out = start;
	*end_out = end;
	return true;
}

/* A long launch counts at once, short ones only gradually: a late report is worse than a
 * superfluous one. */
static void opencl_update_period(const struct backend_lane *lane,
				 const struct opencl_pending *pending, uint64_t end_ns)
{
	struct backend_kernel *kernel = pending->kernel;
	uint64_t from =
		lane->last_end_ns > pending->submit_ns ? lane->last_end_ns : pending->submit_ns;
	uint64_t period = end_ns > from ? end_ns - from : 0;

	if (kernel->period_ns == UINT64_MAX || period > kernel->period_ns)
		kernel->period_ns = period;
	else
		kernel->period_ns -= (kernel->period_ns - period) / 4;
}

static void fill_completion(struct backend_lane *lane, struct opencl_pending *pending,
			    struct backend_completion *completion_out)
{
	end_pending(lane->device, pending);
	completion_out->lane = lane;
	completion_out->sequence = pending->sequence;
	lane->head++;
}

/* Reports the times of a command by the driver's clock, converted to CLOCK_MONOTONIC. A lane's
 * commands begin in order. */
static void report_times(struct backend_lane *lane, const struct opencl_pending *pending,
			 uint64_t start, uint64_t end, struct backend_completion *completion)
{
	opencl_clock_convert(&lane->device->clock, pending->submit_ns, &start, &end);
	if (pending->kernel)
		opencl_update_period(lane, pending, end);
	lane->last_start_ns = start > lane->last_start_ns ? start : lane->last_start_ns;
	lane->last_end_ns = end > lane->last_end_ns ? end : lane->last_end_ns;
	completion->start_ns = lane->last_start_ns;
	completion->end_ns = lane->last_end_ns;
}

static void report_refusal(const struct opencl_pending *pending, struct backend_fault *fault_out)
{
	if (pending->refusal)
		*fault_out = *pending->refusal;
	else
		(void)opencl_no_memory(fault_out, "the reason of a failure");
}

/* Reports the first pending command if it has ended. */
static bool lane_report_first_pending(struct backend_lane *lane,
				      struct backend_completion *completion_out)
{
	struct backend_device *device = lane->device;
	struct opencl_pending *pending = &lane->pending_ring[lane->head & (lane->capacity - 1)];
	struct backend_completion completion = {.start_ns = 0};
	uint64_t start = 0, end = 0;
	cl_int state = CL_QUEUED;

	/* The state decides, not the times: a driver may report some times of a command that waits
	 * for a user event. */
	cl_int code = device->cl->GetEventInfo(pending->event, CL_EVENT_COMMAND_EXECUTION_STATUS,
					       sizeof(state), &state, NULL);
	if (code != CL_SUCCESS)
		state = code;
	if (state > CL_COMPLETE)
		return false;
	if (pending->is_refused)
		report_refusal(pending, &completion.fault);
	else if (state < 0)
		(void)opencl_fault_code(&completion.fault, state, "complete the command");
	else if (read_times(lane, pending, &start, &end))
		report_times(lane, pending, start, end, &completion);
	if (pending->check && completion.fault.status == STATUS_SUCCESS)
		opencl_check_end(device, pending, &completion.fault);
	fill_completion(lane, pending, &completion);
	*completion_out = completion;
	return true;
}

uint32_t opencl_progress(struct backend_device *device, struct backend_completion *completions,
			 uint32_t capacity)
{
	uint32_t count = 0;

	opencl_clock_rebase(&device->clock, clock_now_ns());
	for (struct backend_lane *lane = device->lanes; lane; lane = lane->next) {
		while (count < capacity && lane->head != lane->tail) {
			if (!lane_report_first_pending(lane, &completions[count]))
				break;
			count++;
		}
		if (!lane->is_unflushed) /* otherwise flush() requests the callback */
			arm_callback(lane);
	}
	return count;
}
