/*
 * The OpenCL driver under many threads: shared and own objects, events with callbacks, user events
 * that another thread decides, references. Every result is checked.
 */
#include "opencl_door.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

enum { THREADS = 4, ROUNDS = 60 };

static _Atomic int calls;
static cl_kernel shared_fill;
static cl_mem shared_buffer;

static void CL_CALLBACK count_call(cl_event event, cl_int status, void *user_data)
{
	(void)event;
	(void)status;
	atomic_fetch_add((_Atomic int *)user_data, 1);
}

static void CL_CALLBACK count_end(cl_mem buffer, void *user_data)
{
	(void)buffer;
	atomic_fetch_add((_Atomic int *)user_data, 1);
}

/* A buffer of this thread: filled, with a callback, read, and its end counted. */
static void own_objects(cl_kernel fill, cl_uint value)
{
	_Atomic int ends = 0;
	cl_event event = NULL;
	cl_mem buffer = door_buffer();
	CL(cl->clSetMemObjectDestructorCallback(buffer, count_end, (void *)&ends));
	door_fill(fill, buffer, value, &event);
	CL(cl->clSetEventCallback(event, CL_COMPLETE, count_call, (void *)&calls));
	door_check(buffer, value);
	CL(cl->clWaitForEvents(1, &event));
	CL(cl->clReleaseEvent(event));
	CL(cl->clReleaseMemObject(buffer));
	/* A command that has just ended may hold the buffer still. Its end comes a moment later
	 * then. */
	while (atomic_load(&ends) == 0)
		(void)sched_yield();
	CHECK(atomic_load(&ends) == 1);
}

/* Objects of all threads: their references, and a kernel whose arguments several threads set. */
static void shared_objects(void)
{
	const cl_uint value = 5;
	cl_uint count = 0;
	CL(cl->clRetainContext(cl_context_made));
	CL(cl->clRetainMemObject(shared_buffer));
	CL(cl->clSetKernelArg(shared_fill, 0, sizeof(cl_mem), &shared_buffer));
	CL(cl->clSetKernelArg(shared_fill, 1, sizeof(value), &value));
	door_fill(shared_fill, shared_buffer, value, NULL);
	CL(cl->clGetMemObjectInfo(shared_buffer, CL_MEM_REFERENCE_COUNT, sizeof(count), &count,
				  NULL));
	CHECK(count >= 2 && count <= THREADS + 1);
	CL(cl->clReleaseMemObject(shared_buffer));
	CL(cl->clReleaseContext(cl_context_made));
}

static void *decide(void *event)
{
	CL(cl->clSetUserEventStatus(event, CL_COMPLETE));
	return NULL;
}

static void other_thread_decides(void)
{
	cl_int code = 0;
	pthread_t thread;
	cl_event event = cl->clCreateUserEvent(cl_context_made, &code);
	CL(code);
	CL(cl->clSetEventCallback(event, CL_COMPLETE, count_call, (void *)&calls));
	CHECK(pthread_create(&thread, NULL, decide, event) == 0);
	CL(cl->clWaitForEvents(1, &event));
	CHECK(pthread_join(thread, NULL) == 0);
	CL(cl->clReleaseEvent(event));
}

static void *run_rounds(void *context)
{
	cl_uint number = (cl_uint)(uintptr_t)context;
	cl_kernel fill = door_kernel("fill_u32");
	for (cl_uint i = 0; i < ROUNDS; i++) {
		own_objects(fill, number * 1000 + i);
		shared_objects();
		if (i % 8 == 0)
			other_thread_decides();
	}
	CL(cl->clReleaseKernel(fill));
	return NULL;
}

/* A marker that the driver's one thread reports comes after all earlier callbacks of that thread,
 * or in the same turn. */
static void wait_for_calls(int wanted)
{
	while (atomic_load(&calls) < wanted)
		CL(cl->clFinish(cl_queue));
	CHECK(atomic_load(&calls) == wanted);
}

int main(void)
{
	pthread_t threads[THREADS];
	cl_uint count = 0;
	door_open();
	shared_fill = door_kernel("fill_u32");
	shared_buffer = door_buffer();
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, run_rounds, (void *)(i + 1)) == 0);
	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	wait_for_calls(THREADS * (ROUNDS + (ROUNDS + 7) / 8));
	door_check(shared_buffer, 5);
	CL(cl->clGetContextInfo(cl_context_made, CL_CONTEXT_REFERENCE_COUNT, sizeof(count), &count,
				NULL));
	CHECK(count == 1);
	CL(cl->clReleaseKernel(shared_fill));
	CL(cl->clReleaseMemObject(shared_buffer));
	door_close();
	return 0;
}
