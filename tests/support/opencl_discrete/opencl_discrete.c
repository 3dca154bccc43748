#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "in_flight.h"

#include <CL/cl_layer.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define VISIBLE __attribute__((visibility("default")))

static const cl_icd_dispatch *next;
static cl_icd_dispatch table;

enum { ENTRIES = 65536 };

/* Buffers without a place, and the USM that kernels use. A process has few of them, so they are
 * searched linearly. */
static struct {
	pthread_mutex_t lock;
	cl_mem unplaced[ENTRIES];
	size_t unplaced_count;
	struct usm_use {
		cl_kernel kernel;
		void **pointers;
		size_t count;
		uint64_t usm;  /* arguments that were USM */
		bool is_mixed; /* one of these arguments is no USM any more */
	} usm_use[ENTRIES];
	size_t usm_use_count;
	void *freed[ENTRIES]; /* freed, and not allocated again since */
	size_t freed_count;
	struct unflushed {
		cl_event event;
		cl_command_queue queue;
	} unflushed[ENTRIES]; /* commands after which their queue was not flushed */
	size_t unflushed_count;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t find_unplaced(cl_mem buffer)
{
	size_t at = 0;

	while (at < state.unplaced_count && state.unplaced[at] != buffer)
		at++;
	return at;
}

static void discrete_place_buffer(cl_mem buffer)
{
	(void)pthread_mutex_lock(&state.lock);
	size_t at = find_unplaced(buffer);
	if (at < state.unplaced_count)
		state.unplaced[at] = state.unplaced[--state.unplaced_count];
	(void)pthread_mutex_unlock(&state.lock);
}

static bool is_unplaced(cl_mem buffer)
{
	(void)pthread_mutex_lock(&state.lock);
	const bool unplaced = find_unplaced(buffer) < state.unplaced_count;
	(void)pthread_mutex_unlock(&state.lock);
	return unplaced;
}

static cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t bytes,
					void *host, cl_int *code)
{
	if (!host && !in_flight_has_room(bytes)) {
		if (code)
			*code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
		return NULL;
	}
	cl_mem made = next->clCreateBuffer(context, flags, bytes, host, code);

	if (!made)
		return made;
	in_flight_made(made, host ? 0 : bytes);
	discrete_place_buffer(made); /* an earlier object had this handle */
	(void)pthread_mutex_lock(&state.lock);
	if (!host && state.unplaced_count < ENTRIES)
		state.unplaced[state.unplaced_count++] = made;
	(void)pthread_mutex_unlock(&state.lock);
	return made;
}

static cl_mem CL_API_CALL create_sub_buffer(cl_mem buffer, cl_mem_flags flags,
					    cl_buffer_create_type type, const void *info,
					    cl_int *code)
{
	cl_context context = NULL;

	if (!is_unplaced(buffer) ||
	    next->clGetMemObjectInfo(buffer, CL_MEM_CONTEXT, sizeof(context), (void *)&context,
				     NULL) != CL_SUCCESS)
		return next->clCreateSubBuffer(buffer, flags, type, info, code);
	return next->clCreateBuffer(context, CL_MEM_READ_WRITE,
				    ((const cl_buffer_region *)info)->size, NULL, code);
}

static cl_mem CL_API_CALL create_image(cl_context context, cl_mem_flags flags,
				       const cl_image_format *format,
				       const cl_image_desc *description, void *host, cl_int *code)
{
	cl_mem made = next->clCreateImage(context, flags, format, description, host, code);

	in_flight_made(made, 0);
	return made;
}

static cl_int CL_API_CALL retain_memory(cl_mem memory)
{
	in_flight_retained(memory);
	return next->clRetainMemObject(memory);
}

static cl_int CL_API_CALL discrete_release_memory(cl_mem memory)
{
	in_flight_released(memory);
	return next->clReleaseMemObject(memory);
}

static cl_int CL_API_CALL discrete_device_info(cl_device_id device, cl_device_info what,
					       size_t bytes, void *value, size_t *bytes_out)
{
	cl_int code = next->clGetDeviceInfo(device, what, bytes, value, bytes_out);

	if (code == CL_SUCCESS && what == CL_DEVICE_HOST_UNIFIED_MEMORY && value)
		*(cl_bool *)value = CL_FALSE;
	return code;
}

/* Returns times before the end; other drivers report that there are none yet. */
static cl_int CL_API_CALL profiling_info(cl_event event, cl_profiling_info what, size_t bytes,
					 void *value, size_t *bytes_out)
{
	cl_int code = next->clGetEventProfilingInfo(event, what, bytes, value, bytes_out);

	if (code != CL_PROFILING_INFO_NOT_AVAILABLE || !value || bytes < sizeof(cl_ulong))
		return code;
	memset(value, 0, sizeof(cl_ulong));
	return CL_SUCCESS;
}

/* Returns the entry for this kernel's use of USM, or NULL if there is no room. The caller holds the
 * lock. */
static struct usm_use *usm_use_of(cl_kernel kernel, bool make)
{
	for (size_t i = 0; i < state.usm_use_count; i++)
		if (state.usm_use[i].kernel == kernel)
			return &state.usm_use[i];
	if (!make || state.usm_use_count == ENTRIES)
		return NULL;
	state.usm_use[state.usm_use_count] = (struct usm_use){.kernel = kernel};
	return &state.usm_use[state.usm_use_count++];
}

static void note_argument(cl_kernel kernel, cl_uint index, bool usm)
{
	(void)pthread_mutex_lock(&state.lock);
	struct usm_use *usm_use = usm_use_of(kernel, usm);
	if (usm_use && index < 64) {
		usm_use->is_mixed |= !usm && (usm_use->usm >> index & 1);
		usm_use->usm |= (uint64_t)usm << index;
	}
	(void)pthread_mutex_unlock(&state.lock);
}

static cl_int CL_API_CALL set_pointer(cl_kernel kernel, cl_uint index, const void *pointer)
{
	note_argument(kernel, index, true);
	return next->clSetKernelArgSVMPointer(kernel, index, pointer);
}

static cl_int CL_API_CALL discrete_set_argument(cl_kernel kernel, cl_uint index, size_t bytes,
						const void *value)
{
	cl_mem buffer = NULL;

	if (value && bytes == sizeof(cl_mem)) {
		memcpy((void *)&buffer, value, sizeof(cl_mem));
		discrete_place_buffer(buffer);
	}
	note_argument(kernel, index, false);
	return next->clSetKernelArg(kernel, index, bytes, value);
}

/* Removes commands of the queue from the list: all, or the one with this event. */
static void forget_unflushed(cl_command_queue queue, cl_event event)
{
	size_t kept = 0;

	for (size_t i = 0; i < state.unflushed_count; i++)
		if (event ? state.unflushed[i].event != event : state.unflushed[i].queue != queue)
			state.unflushed[kept++] = state.unflushed[i];
	state.unflushed_count = kept;
}

static void note_flush(cl_command_queue queue)
{
	(void)pthread_mutex_lock(&state.lock);
	forget_unflushed(queue, NULL);
	(void)pthread_mutex_unlock(&state.lock);
}

/* An earlier command with this handle has ended. */
static void note_sent(cl_command_queue queue, cl_event event)
{
	in_flight_sent(queue, event);
	(void)pthread_mutex_lock(&state.lock);
	forget_unflushed(NULL, event);
	if (state.unflushed_count < ENTRIES)
		state.unflushed[state.unflushed_count++] =
			(struct unflushed){.event = event, .queue = queue};
	(void)pthread_mutex_unlock(&state.lock);
}

/* `asked`: where the application stores the event. NULL: it needs none, so nothing can wait for the
 * command. */
static void note_command(cl_command_queue queue, cl_event event, const cl_event *asked)
{
	if (asked) {
		note_sent(queue, event);
		return;
	}
	in_flight_sent(queue, event);
	(void)next->clReleaseEvent(event);
}

/* Returns true if each of the commands is on this queue or was flushed. */
static bool may_wait(cl_command_queue queue, cl_uint count, const cl_event *waits)
{
	bool may = true;

	(void)pthread_mutex_lock(&state.lock);
	for (size_t i = 0; i < state.unflushed_count; i++)
		for (cl_uint k = 0; k < count; k++)
			may &= state.unflushed[i].queue == queue ||
			       state.unflushed[i].event != waits[k];
	(void)pthread_mutex_unlock(&state.lock);
	return may;
}

static cl_int CL_API_CALL discrete_flush(cl_command_queue queue)
{
	note_flush(queue);
	return next->clFlush(queue);
}

static cl_int CL_API_CALL discrete_finish(cl_command_queue queue)
{
	note_flush(queue);
	return next->clFinish(queue);
}

/* Calls the driver's function after the buffers were placed. It is refused if it depends on a
 * command that was not flushed. */
/* clang-format off */
#define NEEDS(name, parameters, placed, arguments)                                                                     \
	static cl_int CL_API_CALL own_##name parameters                                                                \
	{                                                                                                              \
		placed if (!may_wait(q, n, w)) return CL_INVALID_EVENT_WAIT_LIST;                                      \
		cl_event own = NULL, *asked = e;                                                                       \
		e = e ? e : &own;                                                                                      \
		cl_int code = next->name arguments;                                                                    \
		if (code == CL_SUCCESS)                                                                                \
			note_command(q, *e, asked);                                                                    \
		return code;                                                                                           \
	}
NEEDS(clEnqueueWriteBuffer,
      (cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t s, const void *p, cl_uint n, const cl_event *w,
       cl_event *e),
      discrete_place_buffer(m);
      , (q, m, b, o, s, p, n, w, e))
NEEDS(clEnqueueReadBuffer,
      (cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t s, void *p, cl_uint n, const cl_event *w, cl_event *e),
      discrete_place_buffer(m);
      , (q, m, b, o, s, p, n, w, e))
NEEDS(clEnqueueWriteBufferRect,
      (cl_command_queue q, cl_mem m, cl_bool b, const size_t *mo, const size_t *ho, const size_t *r, size_t mrp,
       size_t msp, size_t hrp, size_t hsp, const void *p, cl_uint n, const cl_event *w, cl_event *e),
      discrete_place_buffer(m);
      , (q, m, b, mo, ho, r, mrp, msp, hrp, hsp, p, n, w, e))
NEEDS(clEnqueueReadBufferRect,
      (cl_command_queue q, cl_mem m, cl_bool b, const size_t *mo, const size_t *ho, const size_t *r, size_t mrp,
       size_t msp, size_t hrp, size_t hsp, void *p, cl_uint n, const cl_event *w, cl_event *e),
      discrete_place_buffer(m);
      , (q, m, b, mo, ho, r, mrp, msp, hrp, hsp, p, n, w, e))
NEEDS(clEnqueueFillBuffer,
      (cl_command_queue q, cl_mem m, const void *p, size_t ps, size_t o, size_t s, cl_uint n, const cl_event *w,
       cl_event *e),
      discrete_place_buffer(m);
      , (q, m, p, ps, o, s, n, w, e))
NEEDS(clEnqueueCopyBuffer,
      (cl_command_queue q, cl_mem s, cl_mem d, size_t so, size_t o, size_t z, cl_uint n, const cl_event *w,
       cl_event *e),
      discrete_place_buffer(s);
      discrete_place_buffer(d);, (q, s, d, so, o, z, n, w, e))
NEEDS(clEnqueueCopyBufferRect,
      (cl_command_queue q, cl_mem s, cl_mem d, const size_t *so, const size_t *o, const size_t *r, size_t srp,
       size_t ssp, size_t drp, size_t dsp, cl_uint n, const cl_event *w, cl_event *e),
      discrete_place_buffer(s);
      discrete_place_buffer(d);, (q, s, d, so, o, r, srp, ssp, drp, dsp, n, w, e))
NEEDS(clEnqueueWriteImage,
      (cl_command_queue q, cl_mem m, cl_bool b, const size_t *o, const size_t *r, size_t rp, size_t sp, const void *p,
       cl_uint n, const cl_event *w, cl_event *e),
      , (q, m, b, o, r, rp, sp, p, n, w, e))
NEEDS(clEnqueueReadImage,
      (cl_command_queue q, cl_mem m, cl_bool b, const size_t *o, const size_t *r, size_t rp, size_t sp, void *p,
       cl_uint n, const cl_event *w, cl_event *e),
      , (q, m, b, o, r, rp, sp, p, n, w, e))
NEEDS(clEnqueueCopyImage,
      (cl_command_queue q, cl_mem s, cl_mem d, const size_t *so, const size_t *o, const size_t *r, cl_uint n,
       const cl_event *w, cl_event *e),
      , (q, s, d, so, o, r, n, w, e))
NEEDS(clEnqueueMarkerWithWaitList,
      (cl_command_queue q, cl_uint n, const cl_event *w, cl_event *e), , (q, n, w, e))
NEEDS(clEnqueueBarrierWithWaitList,
      (cl_command_queue q, cl_uint n, const cl_event *w, cl_event *e), , (q, n, w, e))
NEEDS(clEnqueueSVMMemcpy,
      (cl_command_queue q, cl_bool b, void *d, const void *s, size_t z, cl_uint n, const cl_event *w, cl_event *e), ,
      (q, b, d, s, z, n, w, e))
NEEDS(clEnqueueSVMMemFill,
      (cl_command_queue q, void *d, const void *p, size_t ps, size_t z, cl_uint n, const cl_event *w, cl_event *e), ,
      (q, d, p, ps, z, n, w, e))
/* clang-format on */

static size_t find_freed(const void *pointer)
{
	size_t at = 0;

	while (at < state.freed_count && state.freed[at] != pointer)
		at++;
	return at;
}

static void *CL_API_CALL svm_alloc(cl_context context, cl_svm_mem_flags flags, size_t bytes,
				   cl_uint alignment)
{
	void *made = next->clSVMAlloc(context, flags, bytes, alignment);

	(void)pthread_mutex_lock(&state.lock);
	size_t at = find_freed(made);
	if (at < state.freed_count)
		state.freed[at] = state.freed[--state.freed_count];
	(void)pthread_mutex_unlock(&state.lock);
	return made;
}

static void note_freed(void *pointer)
{
	(void)pthread_mutex_lock(&state.lock);
	if (pointer && state.freed_count < ENTRIES)
		state.freed[state.freed_count++] = pointer;
	(void)pthread_mutex_unlock(&state.lock);
}

static void CL_API_CALL svm_free(cl_context context, void *pointer)
{
	if (pointer)
		in_flight_freed(context);
	note_freed(pointer);
	next->clSVMFree(context, pointer);
}

static cl_int CL_API_CALL exec_info(cl_kernel kernel, cl_kernel_exec_info what, size_t bytes,
				    const void *value)
{
	if (what == CL_KERNEL_EXEC_INFO_SVM_PTRS && bytes >= sizeof(void *)) {
		void **pointers = malloc(bytes);
		(void)pthread_mutex_lock(&state.lock);
		struct usm_use *usm_use = pointers ? usm_use_of(kernel, true) : NULL;
		if (usm_use) {
			memcpy((void *)pointers, value, bytes);
			free((void *)usm_use->pointers);
			usm_use->pointers = pointers;
			usm_use->count = bytes / sizeof(void *);
		}
		(void)pthread_mutex_unlock(&state.lock);
	}
	return next->clSetKernelExecInfo(kernel, what, bytes, value);
}

/* An earlier kernel may have had this handle. */
static cl_kernel CL_API_CALL discrete_create_kernel(cl_program program, const char *name,
						    cl_int *code)
{
	cl_kernel made = next->clCreateKernel(program, name, code);

	(void)pthread_mutex_lock(&state.lock);
	struct usm_use *usm_use = usm_use_of(made, false);
	if (usm_use) {
		usm_use->count = 0;
		usm_use->usm = 0;
		usm_use->is_mixed = false;
	}
	(void)pthread_mutex_unlock(&state.lock);
	return made;
}

static cl_int CL_API_CALL enqueue_kernel(cl_command_queue q, cl_kernel kernel, cl_uint dimensions,
					 const size_t *offset, const size_t *global,
					 const size_t *local, cl_uint n, const cl_event *w,
					 cl_event *event)
{
	bool stale = false;

	(void)pthread_mutex_lock(&state.lock);
	const struct usm_use *usm_use = usm_use_of(kernel, false);
	stale |= usm_use && usm_use->is_mixed;
	for (size_t i = 0; usm_use && i < usm_use->count; i++)
		stale |= find_freed(usm_use->pointers[i]) < state.freed_count;
	(void)pthread_mutex_unlock(&state.lock);
	if (stale)
		return CL_INVALID_KERNEL_ARGS;
	if (!may_wait(q, n, w))
		return CL_INVALID_EVENT_WAIT_LIST;
	cl_event own = NULL, *to = event ? event : &own;
	cl_int code = next->clEnqueueNDRangeKernel(q, kernel, dimensions, offset, global, local, n,
						   w, to);
	if (code == CL_SUCCESS)
		note_command(q, *to, event);
	return code;
}

VISIBLE cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, size_t bytes, void *value,
					  size_t *bytes_out)
{
	if (name != CL_LAYER_API_VERSION || (value && bytes < sizeof(cl_layer_api_version)))
		return CL_INVALID_VALUE;
	if (value)
		*(cl_layer_api_version *)value = CL_LAYER_API_VERSION_100;
	if (bytes_out)
		*bytes_out = sizeof(cl_layer_api_version);
	return CL_SUCCESS;
}

#define OWN(name) table.name = own_##name
VISIBLE cl_int CL_API_CALL clInitLayer(cl_uint entries, const cl_icd_dispatch *target,
				       cl_uint *entries_out, const cl_icd_dispatch **dispatch_out)
{
	if (!target || !entries_out || !dispatch_out ||
	    entries < sizeof(table) / sizeof(table.clGetPlatformIDs))
		return CL_INVALID_VALUE;
	next = target;
	in_flight_open(target);
	memcpy(&table, target, sizeof(table));
	table.clCreateBuffer = create_buffer;
	table.clCreateSubBuffer = create_sub_buffer;
	table.clCreateImage = create_image;
	table.clRetainMemObject = retain_memory;
	table.clReleaseMemObject = discrete_release_memory;
	table.clGetDeviceInfo = discrete_device_info;
	table.clGetEventProfilingInfo = profiling_info;
	table.clSetKernelArg = discrete_set_argument;
	table.clSetKernelArgSVMPointer = set_pointer;
	table.clSVMAlloc = svm_alloc;
	table.clSVMFree = svm_free;
	table.clSetKernelExecInfo = exec_info;
	table.clCreateKernel = discrete_create_kernel;
	table.clEnqueueNDRangeKernel = enqueue_kernel;
	table.clFlush = discrete_flush;
	table.clFinish = discrete_finish;
	OWN(clEnqueueWriteBuffer);
	OWN(clEnqueueReadBuffer);
	OWN(clEnqueueWriteBufferRect);
	OWN(clEnqueueReadBufferRect);
	OWN(clEnqueueFillBuffer);
	OWN(clEnqueueCopyBuffer);
	OWN(clEnqueueCopyBufferRect);
	OWN(clEnqueueWriteImage);
	OWN(clEnqueueReadImage);
	OWN(clEnqueueCopyImage);
	OWN(clEnqueueMarkerWithWaitList);
	OWN(clEnqueueBarrierWithWaitList);
	OWN(clEnqueueSVMMemcpy);
	OWN(clEnqueueSVMMemFill);
	*entries_out = sizeof(table) / sizeof(table.clGetPlatformIDs);
	*dispatch_out = &table;
	return CL_SUCCESS;
}
