/* Lanes of the OpenCL backend against a driver of a few functions. Its commands end exactly when a
 * test orders it. */
#include "opencl/lane/lane.h"

#include "clock.h"
#include "opencl/lane/check.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(opencl_lanes, .timeout = 10);

struct driver_event {
	unsigned unknown; /* this many queries for its times are answered with "not yet" */
	cl_int state;
	cl_ulong start, end;
};

static struct driver_event events[8];
static int wakes, flushes;
/* The latest callback that was requested. The driver makes none until a test orders it. */
static struct {
	bool is_taken; /* otherwise the driver refuses callbacks, and the lane polls */
	cl_event event;
	void(CL_CALLBACK *call)(cl_event, cl_int, void *);
	void *data;
} asked;

/* Functions of the backend that this test does not use. */
struct opencl_check *opencl_check_free(struct backend_device *device, struct opencl_check *check)
{
	(void)device;
	return check;
}

void opencl_check_end(struct backend_device *device, const struct opencl_pending *pending,
		      struct backend_fault *fault_out)
{
	(void)device;
	(void)pending;
	(void)fault_out;
}

void opencl_kernel_drop(struct backend_kernel *kernel)
{
	cr_assert(eq(ptr, kernel, NULL));
}

static cl_int CL_API_CALL profiling_info(cl_event event, cl_profiling_info what, size_t size,
					 void *value, size_t *got)
{
	struct driver_event *this = (struct driver_event *)event;
	cr_assert(eq(sz, size, sizeof(cl_ulong)));
	cr_assert(eq(ptr, got, NULL));
	if (this->unknown > 0) {
		this->unknown--;
		return CL_PROFILING_INFO_NOT_AVAILABLE;
	}
	*(cl_ulong *)value = what == CL_PROFILING_COMMAND_START ? this->start : this->end;
	return CL_SUCCESS;
}

static cl_int CL_API_CALL event_info(cl_event event, cl_event_info what, size_t size, void *value,
				     size_t *got)
{
	(void)got;
	cr_assert(eq(uint, what, CL_EVENT_COMMAND_EXECUTION_STATUS));
	cr_assert(eq(sz, size, sizeof(cl_int)));
	*(cl_int *)value = ((struct driver_event *)event)->state;
	return CL_SUCCESS;
}

static cl_int CL_API_CALL release_event(cl_event event)
{
	(void)event;
	return CL_SUCCESS;
}

static cl_int CL_API_CALL queue_call(cl_command_queue queue)
{
	(void)queue;
	return CL_SUCCESS;
}

static cl_int CL_API_CALL flush_queue(cl_command_queue queue)
{
	(void)queue;
	flushes++;
	return CL_SUCCESS;
}

static cl_int CL_API_CALL event_callback(cl_event event, cl_int state,
					 void(CL_CALLBACK *call)(cl_event, cl_int, void *),
					 void *data)
{
	cr_assert(eq(int, state, CL_COMPLETE));
	if (!asked.is_taken)
		return CL_OUT_OF_RESOURCES;
	asked.event = event;
	asked.call = call;
	asked.data = data;
	return CL_SUCCESS;
}

static cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device,
						 const cl_queue_properties *properties,
						 cl_int *code)
{
	(void)context;
	(void)device;
	(void)properties;
	*code = CL_SUCCESS;
	return (cl_command_queue)&wakes;
}

static void count_wake(void *token)
{
	(void)token;
	wakes++;
}

static const struct opencl_library library = {
	.GetEventProfilingInfo = profiling_info,
	.GetEventInfo = event_info,
	.ReleaseEvent = release_event,
	.Flush = flush_queue,
	.Finish = queue_call,
	.ReleaseCommandQueue = queue_call,
	.SetEventCallback = event_callback,
	.CreateCommandQueueWithProperties = create_queue,
};

static struct backend_device device = {.cl = &library,
				       .profiling = true,
				       .wake = count_wake,
				       .lock = PTHREAD_MUTEX_INITIALIZER,
				       .callback_ended = PTHREAD_COND_INITIALIZER};

static struct backend_lane *open_lane(void)
{
	struct backend_lane *lane = NULL;
	struct backend_fault fault = {0};
	opencl_timeline_init(&device.clock.timeline, 1);
	cr_assert(eq(int, opencl_lane_create(&device, BACKEND_LANE_COMPUTE, &lane, &fault), 0));
	return lane;
}

static void send_pending(struct backend_lane *lane, uint64_t sequence, uint64_t submit_ns,
			 struct driver_event *event)
{
	const struct opencl_pending pending = {
		.sequence = sequence, .submit_ns = submit_ns, .event = (cl_event)event};
	cr_assert(eq(int, opencl_lane_reserve(lane), 0));
	opencl_lane_push(lane, &pending);
}

/* NVIDIA's driver reports times of commands that wait for a user event. */
Test(opencl_lanes, H3_times_that_are_told_before_the_end_do_not_end_it)
{
	struct backend_lane *lane = open_lane();
	struct backend_completion ended = {.sequence = 0};
	uint64_t submit_ns = clock_now_ns();
	events[0] = (struct driver_event){.state = CL_QUEUED, .start = 0, .end = 0};
	send_pending(lane, 1, submit_ns, &events[0]);
	cr_assert(eq(uint, opencl_progress(&device, &ended, 1), 0));
	events[0] = (struct driver_event){.state = CL_COMPLETE, .start = 5000, .end = 6000};
	cr_assert(eq(uint, opencl_progress(&device, &ended, 1), 1));
	cr_assert(eq(u64, ended.sequence, 1));
	cr_assert(ge(u64, ended.start_ns, submit_ns));
	cr_assert(ge(u64, ended.end_ns, ended.start_ns));
	cr_assert(le(u64, ended.end_ns, clock_now_ns()));
	opencl_lane_free(lane);
}

Test(opencl_lanes, H3_what_has_not_ended_is_not_told_of)
{
	struct backend_lane *lane = open_lane();
	struct backend_completion ended = {.sequence = 0};
	events[0] = (struct driver_event){
		.unknown = 3, .state = CL_RUNNING, .start = 5000, .end = 6000};
	send_pending(lane, 1, clock_now_ns(), &events[0]);
	for (int i = 0; i < 3; i++)
		cr_assert(eq(uint, opencl_progress(&device, &ended, 1), 0));
	events[0].state = CL_COMPLETE;
	cr_assert(eq(uint, opencl_progress(&device, &ended, 1), 1));
	opencl_lane_free(lane);
}

/* The command is complete and never has times. They are 0, which means unknown, and not those of
 * another command. */
Test(opencl_lanes, H3_times_that_are_not_told_are_not_known)
{
	struct backend_lane *lane = open_lane();
	struct backend_completion ended[2] = {{.sequence = 0}};
	events[0] = (struct driver_event){.state = CL_COMPLETE, .start = 5000, .end = 6000};
	events[1] = (struct driver_event){.unknown = 1000, .state = CL_COMPLETE};
	send_pending(lane, 1, clock_now_ns(), &events[0]);
	send_pending(lane, 2, clock_now_ns(), &events[1]);
	cr_assert(eq(uint, opencl_progress(&device, ended, 2), 2));
	cr_assert(gt(u64, ended[0].start_ns, 0));
	cr_assert(eq(u64, ended[1].start_ns, 0));
	cr_assert(eq(u64, ended[1].end_ns, 0));
	cr_assert(eq(int, ended[1].fault.status, 0));
	opencl_lane_free(lane);
}

/* The part that was sent may still use the memory, so its end is waited for. */
Test(opencl_lanes, F8_M9_a_command_that_was_sent_in_part_fails_when_that_part_has_ended)
{
	struct backend_lane *lane = open_lane();
	struct backend_completion ended[2] = {{.sequence = 0}};
	events[0] = (struct driver_event){.state = CL_RUNNING, .start = 5000, .end = 6000};
	events[1] = (struct driver_event){.state = CL_COMPLETE, .start = 5000, .end = 6000};
	struct opencl_pending pending = {.sequence = 1,
					 .submit_ns = clock_now_ns(),
					 .event = (cl_event)&events[0],
					 .staging = malloc(16),
					 .is_refused = true,
					 .refusal = malloc(sizeof(*pending.refusal))};
	*pending.refusal =
		(struct backend_fault){.status = STATUS_MEMORY_ALLOCATION, .text = "no more rows"};
	cr_assert(eq(int, opencl_lane_reserve(lane), 0));
	opencl_lane_push(lane, &pending);
	send_pending(lane, 2, clock_now_ns(), &events[1]);
	cr_assert(eq(uint, opencl_progress(&device, ended, 2), 0));
	events[0].state = CL_COMPLETE;
	cr_assert(eq(uint, opencl_progress(&device, ended, 2), 2));
	cr_assert(eq(u64, ended[0].sequence, 1));
	cr_assert(eq(int, ended[0].fault.status, STATUS_MEMORY_ALLOCATION));
	cr_assert(eq(str, ended[0].fault.text, "no more rows"));
	cr_assert(eq(int, ended[1].fault.status, 0));
	opencl_lane_free(lane);
}

/* The clock of the driver is set back while commands are in flight. Each time is corrected as far
 * as possible, and the commands stay in order. */
Test(opencl_lanes, H4_times_of_a_lane_stay_in_order_whatever_the_driver_says)
{
	static const cl_ulong starts[] = {1000000, 1020000, 500, 20500, 3000000000000ull, 7, 0, 0};
	struct backend_lane *lane = open_lane();
	uint64_t last_start = 0, last_end = 0;
	for (unsigned i = 0; i < 8; i++) {
		struct backend_completion ended = {.sequence = 0};
		uint64_t submit_ns = clock_now_ns();
		events[i] = (struct driver_event){
			.state = CL_COMPLETE, .start = starts[i], .end = starts[i] + 10000};
		send_pending(lane, i + 1, submit_ns, &events[i]);
		cr_assert(eq(uint, opencl_progress(&device, &ended, 1), 1));
		cr_assert(ge(u64, ended.start_ns, submit_ns));
		cr_assert(ge(u64, ended.end_ns, ended.start_ns));
		cr_assert(le(u64, ended.end_ns, clock_now_ns()));
		cr_assert(ge(u64, ended.start_ns, last_start));
		cr_assert(ge(u64, ended.end_ns, last_end));
		last_start = ended.start_ns;
		last_end = ended.end_ns;
	}
	opencl_lane_free(lane);
}

/* The estimated time of each command. Returns the command at whose end the lane is woken. */
static unsigned woken_for(const uint64_t *periods_ns, unsigned count)
{
	struct backend_lane *lane = open_lane();
	for (unsigned i = 0; i < count; i++) {
		const struct opencl_pending pending = {.sequence = i + 1,
						       .period_ns = periods_ns[i],
						       .event = (cl_event)&events[i]};
		cr_assert(eq(int, opencl_lane_reserve(lane), 0));
		opencl_lane_push(lane, &pending);
	}
	asked.is_taken = true;
	opencl_flush(&device);
	unsigned place = (unsigned)((struct driver_event *)asked.event - events);
	asked.call(asked.event, CL_COMPLETE, asked.data);
	opencl_lane_free(lane);
	return place;
}

/* There is one callback for several commands. But no report is late because a command behind it is
 * long, or may be. */
Test(opencl_lanes, B18_the_driver_is_to_wake_for_what_is_short_without_what_is_long_behind_it)
{
	const uint64_t most_ns = OPENCL_WINDOW_NS, part_ns = OPENCL_WINDOW_NS / 4;
	cr_expect(eq(uint, woken_for((const uint64_t[]){most_ns}, 1), 0));
	cr_expect(eq(uint, woken_for((const uint64_t[]){1, most_ns}, 2), 0),
		  "a long one is behind a short one");
	cr_expect(eq(uint, woken_for((const uint64_t[]){1, 1, 1000 * most_ns, 1}, 4), 1),
		  "a long one is behind two");
	cr_expect(eq(uint, woken_for((const uint64_t[]){most_ns, 0}, 2), 0),
		  "the first one is long");
	cr_expect(eq(uint, woken_for((const uint64_t[]){part_ns, part_ns, part_ns, part_ns, 1}, 5),
		     3),
		  "all together are long");
	cr_expect(eq(uint, woken_for((const uint64_t[]){1, 1, 1, 1, 1, 1, 1, 1}, 8), 7),
		  "all of them are short");
}

/* A command of another queue may only wait for commands that were flushed. */
Test(opencl_lanes, B9_B19_a_queue_is_flushed_before_another_one_waits_for_it_and_once)
{
	struct backend_lane *lane = open_lane();
	for (unsigned i = 0; i < 3; i++)
		events[i] = (struct driver_event){.state = CL_COMPLETE};
	send_pending(lane, 1, clock_now_ns(), &events[0]);
	send_pending(lane, 2, clock_now_ns(), &events[1]);
	cr_expect(eq(int, flushes, 0));
	opencl_lane_flush_up_to(lane, 1);
	cr_expect(eq(int, flushes, 1));
	opencl_lane_flush_up_to(lane, 2);
	cr_expect(eq(int, flushes, 1), "the flush before was behind both");
	opencl_flush(&device);
	cr_expect(eq(int, flushes, 1), "nothing was sent since");
	send_pending(lane, 3, clock_now_ns(), &events[2]);
	opencl_lane_flush_up_to(lane, 2);
	cr_expect(eq(int, flushes, 1));
	opencl_flush(&device);
	cr_expect(eq(int, flushes, 2));
	opencl_lane_free(lane);
}
