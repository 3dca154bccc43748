/* cl_khr_command_buffer of the OpenCL driver, version 0.9.0. */
#include "driver.h"

#include <CL/cl_ext.h>
#include <string.h>

static clCreateCommandBufferKHR_fn create;
static clFinalizeCommandBufferKHR_fn finalize;
static clReleaseCommandBufferKHR_fn release_buffer;
static clEnqueueCommandBufferKHR_fn enqueue;
static clCommandBarrierWithWaitListKHR_fn barrier;
static clCommandCopyBufferKHR_fn copy;
static clCommandCopyBufferRectKHR_fn copy_rect;
static clCommandFillBufferKHR_fn fill;
static clCommandNDRangeKernelKHR_fn launch;
static clGetCommandBufferInfoKHR_fn get_info;

static void find(const char *name, void *function_out)
{
	void *address = clGetExtensionFunctionAddressForPlatform(cl_platform, name);
	cr_assert(address != NULL, "%s", name);
	memcpy(function_out, &address, sizeof(address));
}

static void with_command_buffers(void)
{
	with_driver();
	find("clCreateCommandBufferKHR", (void *)&create);
	find("clFinalizeCommandBufferKHR", (void *)&finalize);
	find("clReleaseCommandBufferKHR", (void *)&release_buffer);
	find("clEnqueueCommandBufferKHR", (void *)&enqueue);
	find("clCommandBarrierWithWaitListKHR", (void *)&barrier);
	find("clCommandCopyBufferKHR", (void *)&copy);
	find("clCommandCopyBufferRectKHR", (void *)&copy_rect);
	find("clCommandFillBufferKHR", (void *)&fill);
	find("clCommandNDRangeKernelKHR", (void *)&launch);
	find("clGetCommandBufferInfoKHR", (void *)&get_info);
}

TestSuite(command_buffers, .init = with_command_buffers, .fini = without_driver);

static const char source[] =
	"__kernel void step(__global uint *x, uint n) { x[get_global_id(0)] += n; }";

static cl_command_buffer_khr new_buffer(cl_command_queue queue)
{
	cl_int code = 0;
	cl_command_buffer_khr made = create(1, &queue, NULL, &code);
	CL(code);
	return made;
}

static cl_uint state(cl_command_buffer_khr buffer)
{
	cl_uint found = 99;
	CL(get_info(buffer, CL_COMMAND_BUFFER_STATE_KHR, sizeof(found), &found, NULL));
	return found;
}

static cl_kernel step_of(cl_mem buffer, cl_uint n)
{
	cl_kernel kernel = kernel_of(source, "step");
	CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &buffer));
	CL(clSetKernelArg(kernel, 1, sizeof(n), &n));
	return kernel;
}

Test(command_buffers, commands_of_an_in_order_queue_run_in_order_at_each_launch)
{
	static cl_uint words[WORDS];
	const size_t global = WORDS, origin[3] = {0}, shifted[3] = {64, 0, 0},
		     region[3] = {64, 1, 1};
	const cl_uint pattern = 5, other = 100;
	cl_mem from = buffer_of(words), to = buffer_of(words);
	cl_kernel step = step_of(from, 2);
	cl_command_buffer_khr made = new_buffer(cl_queue);
	CL(fill(made, NULL, from, &pattern, 4, 0, WORD_BYTES, 0, NULL, NULL, NULL));
	CL(launch(made, NULL, NULL, step, 1, NULL, &global, NULL, 0, NULL, NULL, NULL));
	CL(clSetKernelArg(step, 1, sizeof(other), &other)); /* the command has its own */
	CL(copy(made, NULL, from, to, 0, 0, WORD_BYTES / 2, 0, NULL, NULL, NULL));
	CL(copy_rect(made, NULL, from, to, origin, shifted, region, 0, 0, 0, 0, 0, NULL, NULL,
		     NULL));
	cr_assert(eq(u32, state(made), CL_COMMAND_BUFFER_STATE_RECORDING_KHR));
	REFUSES(enqueue(0, NULL, made, 0, NULL, NULL), CL_INVALID_OPERATION);
	CL(finalize(made));
	REFUSES(finalize(made), CL_INVALID_OPERATION);
	REFUSES(fill(made, NULL, from, &pattern, 4, 0, WORD_BYTES, 0, NULL, NULL, NULL),
		CL_INVALID_OPERATION);
	for (int i = 0; i < 2; i++) {
		CL(enqueue(0, NULL, made, 0, NULL, NULL));
		read_words(to, words);
		cr_assert(eq(u32, words[0], 7));
		cr_assert(eq(u32, words[WORDS / 2], 0));
	}
	CL(release_buffer(made));
	REFUSES(release_buffer(made), CL_INVALID_COMMAND_BUFFER_KHR);
	CL(clReleaseKernel(step));
	CL(clReleaseMemObject(from));
	CL(clReleaseMemObject(to));
}

Test(command_buffers, sync_points_and_barriers_order_an_out_of_order_queue)
{
	static cl_uint words[WORDS];
	const size_t global = WORDS;
	const cl_uint pattern = 1;
	cl_sync_point_khr filled = 0, stepped = 0, all = 0;
	cl_command_queue queue = out_of_order_queue();
	cl_mem from = buffer_of(words), to = buffer_of(words);
	cl_kernel step = step_of(from, 8);
	cl_command_buffer_khr made = new_buffer(queue);
	CL(fill(made, NULL, from, &pattern, 4, 0, WORD_BYTES, 0, NULL, &filled, NULL));
	CL(launch(made, NULL, NULL, step, 1, NULL, &global, NULL, 1, &filled, &stepped, NULL));
	CL(barrier(made, NULL, 0, NULL, &all, NULL));
	CL(copy(made, NULL, from, to, 0, 0, WORD_BYTES, 0, NULL, NULL, NULL));
	cr_assert(gt(u32, all, stepped));
	REFUSES(copy(made, NULL, from, to, 0, 0, 4, 1, NULL, NULL, NULL),
		CL_INVALID_SYNC_POINT_WAIT_LIST_KHR);
	all += 100;
	REFUSES(copy(made, NULL, from, to, 0, 0, 4, 1, &all, NULL, NULL),
		CL_INVALID_SYNC_POINT_WAIT_LIST_KHR);
	CL(finalize(made));
	CL(enqueue(1, &queue, made, 0, NULL, NULL));
	CL(clFinish(queue));
	read_words(to, words);
	cr_assert(eq(u32, words[WORDS - 1], 9));
	CL(release_buffer(made));
	CL(clReleaseKernel(step));
	CL(clReleaseMemObject(from));
	CL(clReleaseMemObject(to));
	CL(clReleaseCommandQueue(queue));
}

Test(command_buffers, a_pending_one_is_launched_again_only_with_its_flag)
{
	const cl_command_buffer_properties_khr flags[] = {
		CL_COMMAND_BUFFER_FLAGS_KHR, CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR, 0};
	const cl_uint pattern = 1;
	cl_int code = 0;
	cl_event done = NULL;
	cl_mem buffer = buffer_of(NULL);
	cl_event gate = clCreateUserEvent(cl_context_made, &code);
	CL(code);
	cl_command_buffer_khr single = new_buffer(cl_queue);
	cl_command_buffer_khr several = create(1, &cl_queue, flags, &code);
	CL(code);
	CL(fill(single, NULL, buffer, &pattern, 4, 0, 4, 0, NULL, NULL, NULL));
	CL(fill(several, NULL, buffer, &pattern, 4, 0, 4, 0, NULL, NULL, NULL));
	CL(finalize(single));
	CL(finalize(several));
	CL(enqueue(0, NULL, single, 1, &gate, &done));
	cr_assert(eq(u32, state(single), CL_COMMAND_BUFFER_STATE_PENDING_KHR));
	REFUSES(enqueue(0, NULL, single, 0, NULL, NULL), CL_INVALID_OPERATION);
	CL(enqueue(0, NULL, several, 0, NULL, NULL));
	CL(enqueue(0, NULL, several, 0, NULL, NULL));
	CL(clSetUserEventStatus(gate, CL_COMPLETE));
	CL(clWaitForEvents(1, &done));
	cr_assert(eq(u32, state(single), CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR));
	CL(clFinish(cl_queue));
	CL(release_buffer(single));
	CL(release_buffer(several));
	CL(clReleaseEvent(gate));
	CL(clReleaseEvent(done));
	CL(clReleaseMemObject(buffer));
}

Test(command_buffers, wrong_uses_are_refused)
{
	const cl_command_buffer_properties_khr unknown[] = {CL_COMMAND_BUFFER_FLAGS_KHR, 8, 0};
	cl_command_queue two[2] = {cl_queue, cl_queue}, other = out_of_order_queue();
	const size_t zero = 1;
	cl_mutable_command_khr changed = NULL;
	cl_int code = 0;
	cl_mem buffer = buffer_of(NULL);
	cl_kernel unset = kernel_of(source, "step");
	cl_command_buffer_khr made = new_buffer(cl_queue);
	(void)create(2, two, NULL, &code);
	REFUSES(code, CL_INVALID_VALUE);
	(void)create(1, &cl_queue, unknown, &code);
	REFUSES(code, CL_INVALID_VALUE);
	REFUSES(finalize((cl_command_buffer_khr)(void *)cl_queue), CL_INVALID_COMMAND_BUFFER_KHR);
	REFUSES(barrier(made, cl_queue, 0, NULL, NULL, NULL), CL_INVALID_COMMAND_QUEUE);
	REFUSES(barrier(made, NULL, 0, NULL, NULL, &changed), CL_INVALID_VALUE);
	REFUSES(copy(made, NULL, buffer, buffer, 0, 4, 8, 0, NULL, NULL, NULL),
		CL_MEM_COPY_OVERLAP);
	REFUSES(copy(made, NULL, buffer, NULL, 0, 4, 8, 0, NULL, NULL, NULL),
		CL_INVALID_MEM_OBJECT);
	REFUSES(launch(made, NULL, NULL, unset, 1, NULL, &zero, NULL, 0, NULL, NULL, NULL),
		CL_INVALID_KERNEL_ARGS);
	CL(finalize(made));
	REFUSES(enqueue(1, &other, made, 0, NULL, NULL), CL_INCOMPATIBLE_COMMAND_QUEUE_KHR);
	CL(release_buffer(made));
	CL(clReleaseKernel(unset));
	CL(clReleaseMemObject(buffer));
	CL(clReleaseCommandQueue(other));
}
