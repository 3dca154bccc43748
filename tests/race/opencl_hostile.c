/*
 * A program that passes anything to the OpenCL driver. It gets OpenCL's errors, and its good
 * objects still work afterwards. The loader would not pass most of this on.
 */
#include "opencl_door.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static cl_kernel fill;
static cl_mem buffer;

static void still_works(void)
{
	static cl_uint value;
	door_fill(fill, buffer, ++value, NULL);
	door_check(buffer, value);
}

static cl_mem as_memory(void *handle)
{
	return handle;
}

/* Each call with a handle that is no object of its type. */
static void pass_handle(void *handle)
{
	const size_t one = 1;
	cl_uint word = 0;
	cl_int code = 0;
	REFUSES(cl->clFinish(handle), CL_INVALID_COMMAND_QUEUE);
	REFUSES(cl->clRetainContext(handle), CL_INVALID_CONTEXT);
	REFUSES(cl->clReleaseMemObject(handle), CL_INVALID_MEM_OBJECT);
	REFUSES(cl->clReleaseKernel(handle), CL_INVALID_KERNEL);
	REFUSES(cl->clReleaseEvent(handle), CL_INVALID_EVENT);
	REFUSES(cl->clReleaseProgram(handle), CL_INVALID_PROGRAM);
	REFUSES(cl->clReleaseSampler(handle), CL_INVALID_SAMPLER);
	REFUSES(cl->clReleaseDevice(handle), CL_INVALID_DEVICE);
	REFUSES(cl->clGetPlatformInfo(handle, CL_PLATFORM_NAME, 0, NULL, NULL),
		CL_INVALID_PLATFORM);
	REFUSES(cl->clSetKernelArg(handle, 0, 4, &word), CL_INVALID_KERNEL);
	REFUSES(cl->clSetKernelArg(fill, 0, sizeof(cl_mem), &handle), CL_INVALID_MEM_OBJECT);
	REFUSES(cl->clEnqueueNDRangeKernel(cl_queue, handle, 1, NULL, &one, NULL, 0, NULL, NULL),
		CL_INVALID_KERNEL);
	REFUSES(cl->clEnqueueReadBuffer(cl_queue, handle, CL_TRUE, 0, 4, &word, 0, NULL, NULL),
		CL_INVALID_MEM_OBJECT);
	REFUSES(cl->clEnqueueMarkerWithWaitList(cl_queue, 1, (cl_event *)(void *)&handle, NULL),
		CL_INVALID_EVENT_WAIT_LIST);
	REFUSES(cl->clSetUserEventStatus(handle, CL_COMPLETE), CL_INVALID_EVENT);
	REFUSES(cl->clBuildProgram(handle, 0, NULL, NULL, NULL, NULL), CL_INVALID_PROGRAM);
	CHECK(!cl->clCreateBuffer(handle, 0, 4, NULL, &code) && code == CL_INVALID_CONTEXT);
	CHECK(!cl->clCreateContext(NULL, 1, (cl_device_id *)(void *)&handle, NULL, NULL, &code) &&
	      code == CL_INVALID_DEVICE);
	CHECK(!cl->clCloneKernel(handle, &code) && code == CL_INVALID_KERNEL);
}

static void pass_handles(void)
{
	static cl_uint no_object[64];
	void *freed = cl->clCreateUserEvent(cl_context_made, NULL);
	CL(cl->clSetUserEventStatus(freed, CL_COMPLETE));
	CL(cl->clReleaseEvent(freed));
	pass_handle(no_object);
	pass_handle((void *)(uintptr_t)UINT64_MAX);
	pass_handle((void *)(uintptr_t)16);
	pass_handle((char *)(void *)cl_queue + 1);
	pass_handle(freed);
	REFUSES(cl->clReleaseMemObject((cl_mem)(void *)cl_queue), CL_INVALID_MEM_OBJECT);
	REFUSES(cl->clFinish((cl_command_queue)(void *)buffer), CL_INVALID_COMMAND_QUEUE);
	REFUSES(cl->clReleaseKernel((cl_kernel)(void *)cl_platform), CL_INVALID_KERNEL);
	REFUSES(cl->clReleaseContext(NULL), CL_INVALID_CONTEXT);
	still_works();
}

/* Numbers and sizes that no object has. */
static void pass_sizes(void)
{
	const size_t huge[3] = {SIZE_MAX, SIZE_MAX, SIZE_MAX}, one[3] = {1, 1, 1};
	cl_uint word = 0;
	cl_int code = 0;
	REFUSES(cl->clSetKernelArg(fill, UINT32_MAX, 4, &word), CL_INVALID_ARG_INDEX);
	REFUSES(cl->clSetKernelArg(fill, 0, SIZE_MAX, &buffer), CL_INVALID_ARG_SIZE);
	REFUSES(cl->clSetKernelArg(fill, 1, SIZE_MAX, &word), CL_INVALID_ARG_SIZE);
	REFUSES(cl->clEnqueueReadBuffer(cl_queue, buffer, CL_TRUE, SIZE_MAX, 4, &word, 0, NULL,
					NULL),
		CL_INVALID_VALUE);
	REFUSES(cl->clEnqueueReadBuffer(cl_queue, buffer, CL_TRUE, 4, SIZE_MAX, &word, 0, NULL,
					NULL),
		CL_INVALID_VALUE);
	REFUSES(cl->clEnqueueFillBuffer(cl_queue, buffer, &word, SIZE_MAX, 0, 4, 0, NULL, NULL),
		CL_INVALID_VALUE);
	REFUSES(cl->clEnqueueReadBufferRect(cl_queue, buffer, CL_TRUE, one, one, huge, 0, 0, 0, 0,
					    &word, 0, NULL, NULL),
		CL_INVALID_VALUE);
	REFUSES(cl->clEnqueueNDRangeKernel(cl_queue, fill, UINT32_MAX, NULL, one, NULL, 0, NULL,
					   NULL),
		CL_INVALID_WORK_DIMENSION);
	CHECK(cl->clEnqueueNDRangeKernel(cl_queue, fill, 3, NULL, one, huge, 0, NULL, NULL) !=
	      CL_SUCCESS);
	CHECK(cl->clEnqueueNDRangeKernel(cl_queue, fill, 3, huge, one, NULL, 0, NULL, NULL) !=
	      CL_SUCCESS);
	CHECK(!cl->clCreateBuffer(cl_context_made, 0, SIZE_MAX, NULL, &code) &&
	      code == CL_INVALID_BUFFER_SIZE);
	CHECK(!cl->clCreateBuffer(cl_context_made, UINT64_MAX, 4, NULL, &code) &&
	      code == CL_INVALID_VALUE);
	REFUSES(cl->clEnqueueMarkerWithWaitList(cl_queue, UINT32_MAX, NULL, NULL),
		CL_INVALID_EVENT_WAIT_LIST);
	REFUSES(cl->clWaitForEvents(UINT32_MAX, NULL), CL_INVALID_VALUE);
	still_works();
}

static _Atomic bool is_called;

static void CL_CALLBACK end_thread(cl_event event, cl_int status, void *count)
{
	(void)event;
	(void)status;
	atomic_fetch_add((_Atomic int *)count, 1);
	pthread_exit(NULL);
}

/* The driver's thread is ended by each callback. Those that follow are called all the same: some
 * waited already, and some come later. */
static void end_callback_threads(void)
{
	static _Atomic int calls;
	cl_event event = NULL;
	cl_event gate = cl->clCreateUserEvent(cl_context_made, NULL);
	CL(cl->clEnqueueMarkerWithWaitList(cl_queue, 1, &gate, &event));
	for (int i = 0; i < 3; i++)
		CL(cl->clSetEventCallback(event, CL_COMPLETE, end_thread, &calls));
	CL(cl->clSetUserEventStatus(gate, CL_COMPLETE));
	while (atomic_load(&calls) < 3)
		still_works();
	for (int i = 4; i < 7; i++) {
		CL(cl->clSetEventCallback(event, CL_COMPLETE, end_thread, &calls));
		while (atomic_load(&calls) < i)
			still_works();
	}
	CL(cl->clReleaseEvent(event));
	CL(cl->clReleaseEvent(gate));
}

static void CL_CALLBACK never_return(cl_event event, cl_int status, void *user_data)
{
	(void)event;
	(void)status;
	(void)user_data;
	atomic_store(&is_called, true);
	for (;;)
		(void)pause();
}

/* The driver's thread is lost to it. Commands, and the end of the process, do not need that. */
static void block_callbacks(void)
{
	cl_event event = NULL;
	CL(cl->clEnqueueMarkerWithWaitList(cl_queue, 0, NULL, &event));
	CL(cl->clSetEventCallback(event, CL_COMPLETE, never_return, NULL));
	while (!atomic_load(&is_called))
		still_works();
	CL(cl->clSetEventCallback(event, CL_COMPLETE, never_return, NULL));
	CL(cl->clReleaseEvent(event));
	still_works();
}

static _Atomic bool must_end;

static void *make_and_release(void *unused)
{
	(void)unused;
	while (!atomic_load(&must_end))
		CL(cl->clReleaseMemObject(door_buffer()));
	return NULL;
}

static int call_in_child(void)
{
	const size_t one = 1;
	cl_uint word = 0, count = 9;
	cl_platform_id platform = NULL;
	REFUSES(cl->clGetPlatformIDs(1, &platform, &count), CL_PLATFORM_NOT_FOUND_KHR);
	CHECK(count == 0);
	REFUSES(cl->clFinish(cl_queue), CL_INVALID_COMMAND_QUEUE);
	REFUSES(cl->clEnqueueNDRangeKernel(cl_queue, fill, 1, NULL, &one, NULL, 0, NULL, NULL),
		CL_INVALID_COMMAND_QUEUE);
	REFUSES(cl->clSetKernelArg(fill, 1, sizeof(word), &word), CL_INVALID_KERNEL);
	REFUSES(cl->clReleaseMemObject(as_memory(buffer)), CL_INVALID_MEM_OBJECT);
	REFUSES(cl->clReleaseContext(cl_context_made), CL_INVALID_CONTEXT);
	return 0;
}

/* The child has every handle, and another thread may have been anywhere in the driver. */
static void fork_often(void)
{
	pthread_t thread;
	CHECK(pthread_create(&thread, NULL, make_and_release, NULL) == 0);
	for (int i = 0; i < 20; i++) {
		int status = -1;
		pid_t child = fork();
		CHECK(child >= 0);
		if (child == 0)
			_exit(call_in_child());
		CHECK(waitpid(child, &status, 0) == child && status == 0);
		still_works();
	}
	atomic_store(&must_end, true);
	CHECK(pthread_join(thread, NULL) == 0);
}

int main(void)
{
	door_open();
	fill = door_kernel("fill_u32");
	buffer = door_buffer();
	still_works();
	pass_handles();
	pass_sizes();
	fork_often();
	end_callback_threads();
	block_callbacks();
	CL(cl->clReleaseKernel(fill));
	CL(cl->clReleaseMemObject(buffer));
	door_close();
	return 0;
}
