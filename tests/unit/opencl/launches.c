/* Launches in checking mode against a driver of a few functions, which refuses one of their parts.
 * Its fills end exactly when a test orders it. */
#include "opencl/lane/lane.h"
#include "opencl/lane/submit.h"

#include "access_mode.h"
#include "opencl/program/binary.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(opencl_launches, .timeout = 10);

enum { BUFFERS = 3, BYTES = 64 };

static struct {
	cl_uint fills; /* so many are taken, then they are refused */
	bool argument, block, launch;
} refused;

static struct driver_fill {
	cl_int state;
	cl_uint waits; /* for the fills before */
	int references;
} fills[BUFFERS];
static cl_uint fill_count;

static cl_int CL_API_CALL fill_buffer(cl_command_queue queue, cl_mem buffer, const void *pattern,
				      size_t pattern_bytes, size_t offset, size_t bytes,
				      cl_uint wait_count, const cl_event *waits, cl_event *event)
{
	(void)queue;
	(void)buffer;
	(void)pattern;
	(void)pattern_bytes;
	(void)offset;
	cr_assert(eq(sz, bytes, BYTES));
	if (fill_count == refused.fills)
		return CL_OUT_OF_RESOURCES;
	for (cl_uint i = 0; i < wait_count; i++)
		cr_assert(eq(ptr, waits[i], &fills[i]));
	fills[fill_count] =
		(struct driver_fill){.state = CL_RUNNING, .waits = wait_count, .references = 1};
	*event = (cl_event)&fills[fill_count++];
	return CL_SUCCESS;
}

static cl_int CL_API_CALL release_event(cl_event event)
{
	((struct driver_fill *)event)->references--;
	return CL_SUCCESS;
}

static cl_int CL_API_CALL event_info(cl_event event, cl_event_info what, size_t size, void *value,
				     size_t *got)
{
	(void)what;
	(void)size;
	(void)got;
	*(cl_int *)value = ((struct driver_fill *)event)->state;
	return CL_SUCCESS;
}

static cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t bytes,
					void *host, cl_int *code)
{
	(void)context;
	(void)flags;
	(void)bytes;
	(void)host;
	*code = refused.block ? CL_MEM_OBJECT_ALLOCATION_FAILURE : CL_SUCCESS;
	return refused.block ? NULL : (cl_mem)&refused;
}

static cl_int CL_API_CALL opencl_launches_release_buffer(cl_mem buffer)
{
	(void)buffer;
	return CL_SUCCESS;
}

static cl_int CL_API_CALL set_argument(cl_kernel kernel, cl_uint index, size_t bytes,
				       const void *value)
{
	(void)kernel;
	(void)bytes;
	(void)value;
	return index == BUFFERS && refused.argument ? CL_INVALID_ARG_SIZE : CL_SUCCESS;
}

static cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
				 const size_t *offset, const size_t *global, const size_t *local,
				 cl_uint wait_count, const cl_event *waits, cl_event *event)
{
	(void)queue;
	(void)kernel;
	(void)dimensions;
	(void)offset;
	(void)global;
	(void)local;
	(void)wait_count;
	(void)waits;
	(void)event;
	cr_assert(refused.launch);
	return CL_OUT_OF_RESOURCES;
}

static cl_int CL_API_CALL queue_call(cl_command_queue queue)
{
	(void)queue;
	return CL_SUCCESS;
}

static cl_int CL_API_CALL event_callback(cl_event event, cl_int state,
					 void(CL_CALLBACK *call)(cl_event, cl_int, void *),
					 void *data)
{
	(void)event;
	(void)state;
	(void)call;
	(void)data;
	return CL_OUT_OF_RESOURCES;
}

static cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device,
						 const cl_queue_properties *properties,
						 cl_int *code)
{
	(void)context;
	(void)device;
	(void)properties;
	*code = CL_SUCCESS;
	return (cl_command_queue)&refused;
}

static const struct opencl_library library = {
	.EnqueueFillBuffer = fill_buffer,
	.EnqueueNDRangeKernel = launch,
	.CreateBuffer = create_buffer,
	.ReleaseMemObject = opencl_launches_release_buffer,
	.SetKernelArg = set_argument,
	.GetEventInfo = event_info,
	.ReleaseEvent = release_event,
	.SetEventCallback = event_callback,
	.Flush = queue_call,
	.Finish = queue_call,
	.ReleaseCommandQueue = queue_call,
	.CreateCommandQueueWithProperties = create_queue,
};
static const struct backend_device_facts facts = {.name = "double"};
static struct backend_device device = {.cl = &library,
				       .facts = &facts,
				       .lock = PTHREAD_MUTEX_INITIALIZER,
				       .callback_ended = PTHREAD_COND_INITIALIZER};

/* Launches a kernel with checks and so many buffers of this mode. Returns what submit returns. */
static int launch_checked(struct backend_lane *lane, enum access_mode mode,
			  struct backend_fault *fault_out)
{
	static struct opencl_binary binary = {.payload_count = 1, .has_checks = true};
	static struct backend_program program = {.device = &device, .binary = &binary};
	static struct backend_argument_facts known[BUFFERS + 1];
	static struct opencl_place places[BUFFERS];
	static cl_mem temporaries[BUFFERS];
	static struct backend_kernel kernel = {.program = &program,
					       .kernels = {(cl_kernel)&program},
					       .has_check = true,
					       .check_index = BUFFERS,
					       .facts = {.argument_count = BUFFERS},
					       .arguments = known,
					       .places = places,
					       .temporaries = temporaries};
	struct backend_memory memory = {.buffer = (cl_mem)&memory, .size_bytes = BYTES};
	struct backend_argument arguments[BUFFERS];
	for (cl_uint i = 0; i < BUFFERS; i++) {
		places[i].index = i;
		known[i].kind = BACKEND_ARGUMENT_GLOBAL;
		arguments[i] = (struct backend_argument){
			.kind = BACKEND_ARGUMENT_GLOBAL,
			.global = {.memory = &memory, .reach = BYTES << 3 | mode}};
	}
	const struct backend_command command = {.kind = BACKEND_COMMAND_LAUNCH,
						.launch = {.kernel = &kernel,
							   .dimensions = 1,
							   .global = {1},
							   .arguments = arguments,
							   .argument_count = BUFFERS}};
	return opencl_submit(lane, &command, NULL, 0, 1, NULL, fault_out);
}

static struct backend_lane *open_lane(void)
{
	struct backend_lane *lane = NULL;
	struct backend_fault fault = {0};
	cr_assert(eq(int, opencl_lane_create(&device, BACKEND_LANE_COMPUTE, &lane, &fault), 0));
	return lane;
}

/* The launch fails, but not before the fills that were sent have ended. */
static void waits_for_fills(cl_uint expected_fills)
{
	struct backend_lane *lane = open_lane();
	struct backend_completion ended = {.sequence = 0};
	struct backend_fault fault = {0};
	fill_count = 0;
	cr_assert(eq(int, launch_checked(lane, ACCESS_MODE_WRITE_NO_INIT, &fault), 0));
	cr_assert(eq(u32, fill_count, expected_fills));
	for (cl_uint i = 0; i < fill_count; i++) {
		cr_assert(eq(u32, fills[i].waits, i));
		cr_assert(eq(int, fills[i].references, i + 1 == fill_count));
		cr_assert(eq(u32, opencl_progress(&device, &ended, 1), 0));
		fills[i].state = CL_COMPLETE;
	}
	cr_assert(eq(u32, opencl_progress(&device, &ended, 1), 1));
	cr_assert(eq(u64, ended.sequence, 1));
	cr_assert(ne(int, ended.fault.status, STATUS_SUCCESS));
	cr_assert(eq(int, fills[fill_count - 1].references, 0));
	opencl_lane_free(lane);
}

/* A fill still writes into memory that the client frees after the report. */
Test(opencl_launches, F8_M9_a_checked_launch_that_fails_is_reported_after_its_fills)
{
	refused.fills = BUFFERS;
	refused.argument = true;
	waits_for_fills(BUFFERS);
	refused.argument = false;
	refused.block = true;
	waits_for_fills(BUFFERS);
	refused.block = false;
	refused.launch = true;
	waits_for_fills(BUFFERS);
	refused.fills = 2;
	waits_for_fills(2);
}

Test(opencl_launches, F8_a_checked_launch_that_fails_without_fills_fails_at_once)
{
	struct backend_lane *lane = open_lane();
	struct backend_completion ended = {.sequence = 0};
	struct backend_fault fault = {0};
	refused.argument = true;
	cr_assert(lt(int, launch_checked(lane, ACCESS_MODE_READ_WRITE, &fault), 0));
	cr_assert(ne(int, fault.status, STATUS_SUCCESS));
	cr_assert(lt(int, launch_checked(lane, ACCESS_MODE_WRITE_NO_INIT, &fault), 0),
		  "the first fill is refused");
	cr_assert(eq(u32, opencl_progress(&device, &ended, 1), 0));
	opencl_lane_free(lane);
}
