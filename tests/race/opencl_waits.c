/*
 * Programs of the OpenCL driver whose commands wait for something that the same program decides
 * later, and callbacks that release what a call waits for.
 */
#include "opencl_door.h"

#include <CL/cl_ext.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

static _Atomic int ends;

static void CL_CALLBACK count_end(cl_mem memory, void *user_data)
{
	(void)memory;
	(void)user_data;
	atomic_fetch_add(&ends, 1);
}

/* The release must return, or nobody decides the event. The destructor is called afterwards. */
static void release_before_commands_end(void)
{
	static cl_uint words[WORDS];
	cl_int code = 0;
	cl_mem buffer = door_buffer();
	CL(cl->clSetMemObjectDestructorCallback(buffer, count_end, NULL));
	cl_event gate = cl->clCreateUserEvent(cl_context_made, &code);
	CL(code);
	CL(cl->clEnqueueWriteBuffer(cl_queue, buffer, CL_FALSE, 0, WORD_BYTES, words, 1, &gate,
				    NULL));
	CL(cl->clReleaseMemObject(buffer));
	REFUSES(cl->clRetainMemObject(buffer), CL_INVALID_MEM_OBJECT);
	CHECK(atomic_load(&ends) == 0);
	CL(cl->clSetUserEventStatus(gate, CL_COMPLETE));
	CL(cl->clReleaseEvent(gate));
	while (atomic_load(&ends) == 0)
		(void)sched_yield();
	buffer = door_buffer();
	CL(cl->clSetMemObjectDestructorCallback(buffer, count_end, NULL));
	CL(cl->clReleaseMemObject(buffer)); /* nothing uses it, so it ends at once */
	CHECK(atomic_load(&ends) == 2);
}

static void CL_CALLBACK drop_event(cl_event event, cl_int status, void *user_data)
{
	(void)status;
	(void)user_data;
	(void)cl->clReleaseEvent(event);
}

static void CL_CALLBACK drop_queue(cl_event event, cl_int status, void *queue)
{
	(void)event;
	(void)status;
	(void)cl->clReleaseCommandQueue(queue);
}

static void *open_gate(void *gate)
{
	CL(cl->clSetUserEventStatus(gate, CL_COMPLETE));
	return NULL;
}

/* The queue and the event are the only ones of their context, which ends with them. */
static void drop_while_waiting(int waits_for_queue)
{
	cl_int code = 0;
	cl_event gate = NULL, event = NULL;
	pthread_t thread;
	cl_context context = cl->clCreateContext(NULL, 1, &cl_device, NULL, NULL, &code);
	CL(code);
	cl_command_queue queue =
		cl->clCreateCommandQueueWithProperties(context, cl_device, NULL, &code);
	CL(code);
	gate = cl->clCreateUserEvent(context, &code);
	CL(code);
	CL(cl->clEnqueueMarkerWithWaitList(queue, 1, &gate, &event));
	CL(cl->clSetEventCallback(gate, CL_COMPLETE, waits_for_queue ? drop_queue : drop_event,
				  queue));
	CL(cl->clSetEventCallback(event, CL_COMPLETE, drop_event, NULL));
	CL(cl->clReleaseContext(context));
	if (!waits_for_queue)
		CL(cl->clReleaseCommandQueue(queue));
	CHECK(pthread_create(&thread, NULL, open_gate, gate) == 0);
	/* The callbacks may also come first: then the handle is none any more. */
	code = waits_for_queue ? cl->clFinish(queue) : cl->clWaitForEvents(1, &event);
	CHECK(code == CL_SUCCESS || code == CL_INVALID_EVENT || code == CL_INVALID_COMMAND_QUEUE);
	CHECK(pthread_join(thread, NULL) == 0);
	if (waits_for_queue)
		CL(cl->clReleaseEvent(gate));
}

enum { READS = 3000 };

/* More reads than a session has host tasks. All are taken, because the device goes on meanwhile. */
static void read_often(void)
{
	static cl_uint words[READS];
	cl_kernel fill = door_kernel("fill_u32");
	cl_mem buffer = door_buffer();
	door_fill(fill, buffer, 7, NULL);
	for (int i = 0; i < READS; i++)
		CL(cl->clEnqueueReadBuffer(cl_queue, buffer, CL_FALSE, 0, sizeof(*words), &words[i],
					   0, NULL, NULL));
	for (int i = 0; i < READS; i++) {
		cl_int code = 0;
		void *pointer = cl->clEnqueueMapBuffer(cl_queue, buffer, CL_FALSE, CL_MAP_READ, 0,
						       4, 0, NULL, NULL, &code);
		CL(code);
		CL(cl->clEnqueueUnmapMemObject(cl_queue, buffer, pointer, 0, NULL, NULL));
	}
	CL(cl->clFinish(cl_queue));
	for (int i = 0; i < READS; i++)
		CHECK(words[i] == 7);
	CL(cl->clReleaseMemObject(buffer));
	CL(cl->clReleaseKernel(fill));
}

static cl_command_buffer_khr commands;
static clGetCommandBufferInfoKHR_fn get_info;
static _Atomic int native_calls;

static void CL_CALLBACK ask_for_state(void *unused)
{
	cl_command_buffer_state_khr state = 0;
	(void)unused;
	CL(get_info(commands, CL_COMMAND_BUFFER_STATE_KHR, sizeof(state), &state, NULL));
	CHECK(state == CL_COMMAND_BUFFER_STATE_PENDING_KHR);
	atomic_fetch_add(&native_calls, 1);
}

static void function_of(const char *name, void *function_out)
{
	void *address = cl->clGetExtensionFunctionAddressForPlatform(cl_platform, name);
	CHECK(address != NULL);
	memcpy(function_out, &address, sizeof(address));
}

/* The native kernel runs inside the call that asks for the state, and asks for it itself. */
static void ask_in_a_native_kernel(void)
{
	clCreateCommandBufferKHR_fn create = NULL;
	clFinalizeCommandBufferKHR_fn finalize = NULL;
	clEnqueueCommandBufferKHR_fn enqueue = NULL;
	clReleaseCommandBufferKHR_fn release = NULL;
	clCommandFillBufferKHR_fn fill = NULL;
	const cl_uint pattern = 3;
	cl_command_buffer_state_khr state = CL_COMMAND_BUFFER_STATE_PENDING_KHR;
	cl_int code = 0, argument = 0;
	cl_mem buffer = door_buffer();
	function_of("clCreateCommandBufferKHR", &create);
	function_of("clFinalizeCommandBufferKHR", &finalize);
	function_of("clEnqueueCommandBufferKHR", &enqueue);
	function_of("clReleaseCommandBufferKHR", &release);
	function_of("clCommandFillBufferKHR", &fill);
	function_of("clGetCommandBufferInfoKHR", &get_info);
	commands = create(1, &cl_queue, NULL, &code);
	CL(code);
	CL(fill(commands, NULL, buffer, &pattern, sizeof(pattern), 0, WORD_BYTES, 0, NULL, NULL,
		NULL));
	CL(finalize(commands));
	CL(cl->clEnqueueNativeKernel(cl_queue, ask_for_state, &argument, sizeof(argument), 0, NULL,
				     NULL, 0, NULL, NULL));
	CL(enqueue(0, NULL, commands, 0, NULL, NULL));
	while (state == CL_COMMAND_BUFFER_STATE_PENDING_KHR)
		CL(get_info(commands, CL_COMMAND_BUFFER_STATE_KHR, sizeof(state), &state, NULL));
	CHECK(atomic_load(&native_calls) == 1);
	door_check(buffer, pattern);
	CL(release(commands));
	CL(cl->clReleaseMemObject(buffer));
}

static void pass_lengths(void)
{
	const char *texts[2] = {"a", "b"};
	const size_t lengths[2] = {SIZE_MAX, 2};
	cl_int code = 0;
	CHECK(!cl->clCreateProgramWithSource(cl_context_made, 2, texts, lengths, &code) &&
	      code == CL_OUT_OF_HOST_MEMORY);
}

int main(void)
{
	/* What is freed is overwritten, so that a use of it is seen. */
	(void)mallopt(M_PERTURB, 0x5a);
	door_open();
	pass_lengths();
	release_before_commands_end();
	for (int i = 0; i < 50; i++)
		drop_while_waiting(i % 2);
	read_often();
	ask_in_a_native_kernel();
	door_close();
	return 0;
}
