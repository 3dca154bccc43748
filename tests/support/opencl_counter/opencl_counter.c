#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "opencl_counter.h"

#include "opencl_builtins.h"

#include <CL/cl_layer.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define VISIBLE __attribute__((visibility("default")))

static const cl_icd_dispatch *next;
static cl_icd_dispatch table;
static _Atomic uint64_t taken[OPENCL_COUNTED], given[OPENCL_COUNTED];

VISIBLE void opencl_counts(struct opencl_counts *counts_out);

void opencl_counts(struct opencl_counts *counts_out)
{
	for (int i = 0; i < OPENCL_COUNTED; i++) {
		counts_out->taken[i] = atomic_load(&taken[i]);
		counts_out->given[i] = atomic_load(&given[i]);
	}
}

#define TAKES(kind) ((void)atomic_fetch_add(&taken[kind], 1))
#define GIVES(kind) ((void)atomic_fetch_add(&given[kind], 1))

/* A function that returns a new object. */
#define MAKES(name, type, kind, parameters, arguments)                                             \
	static type CL_API_CALL own_##name parameters                                              \
	{                                                                                          \
		type made = next->name arguments;                                                  \
		if (made)                                                                          \
			TAKES(kind);                                                               \
		return made;                                                                       \
	}
#define REFERENCES(retain, release, type, kind)                                                    \
	static cl_int CL_API_CALL own_##retain(type object)                                        \
	{                                                                                          \
		cl_int result = next->retain(object);                                              \
		if (result == CL_SUCCESS)                                                          \
			TAKES(kind);                                                               \
		return result;                                                                     \
	}                                                                                          \
	static cl_int CL_API_CALL own_##release(type object)                                       \
	{                                                                                          \
		cl_int result = next->release(object);                                             \
		if (result == CL_SUCCESS)                                                          \
			GIVES(kind);                                                               \
		return result;                                                                     \
	}
/* A function that returns an event if the caller has a place for it. */
#define ENQUEUES(name, parameters, arguments)                                                      \
	static cl_int CL_API_CALL own_##name parameters                                            \
	{                                                                                          \
		cl_int result = next->name arguments;                                              \
		if (result == CL_SUCCESS && event)                                                 \
			TAKES(OPENCL_EVENTS);                                                      \
		return result;                                                                     \
	}

/* clang-format off */
MAKES(clCreateContext, cl_context, OPENCL_CONTEXTS,
      (const cl_context_properties *p, cl_uint n, const cl_device_id *d,
       void(CL_CALLBACK *f)(const char *, const void *, size_t, void *), void *u, cl_int *e),
      (p, n, d, f, u, e))
REFERENCES(clRetainContext, clReleaseContext, cl_context, OPENCL_CONTEXTS)
MAKES(clCreateCommandQueue, cl_command_queue, OPENCL_QUEUES,
      (cl_context c, cl_device_id d, cl_command_queue_properties p, cl_int *e), (c, d, p, e))
MAKES(clCreateCommandQueueWithProperties, cl_command_queue, OPENCL_QUEUES,
      (cl_context c, cl_device_id d, const cl_queue_properties *p, cl_int *e), (c, d, p, e))
REFERENCES(clRetainCommandQueue, clReleaseCommandQueue, cl_command_queue, OPENCL_QUEUES)
MAKES(clCreateBuffer, cl_mem, OPENCL_MEMORIES, (cl_context c, cl_mem_flags f, size_t s, void *h, cl_int *e), (c, f, s, h, e))
MAKES(clCreateSubBuffer, cl_mem, OPENCL_MEMORIES,
      (cl_mem m, cl_mem_flags f, cl_buffer_create_type t, const void *i, cl_int *e), (m, f, t, i, e))
MAKES(clCreateImage, cl_mem, OPENCL_MEMORIES,
      (cl_context c, cl_mem_flags f, const cl_image_format *i, const cl_image_desc *d, void *h, cl_int *e),
      (c, f, i, d, h, e))
REFERENCES(clRetainMemObject, clReleaseMemObject, cl_mem, OPENCL_MEMORIES)
MAKES(clCreateProgramWithSource, cl_program, OPENCL_PROGRAMS,
      (cl_context c, cl_uint n, const char **t, const size_t *l, cl_int *e), (c, n, t, l, e))
MAKES(clCreateProgramWithBinary, cl_program, OPENCL_PROGRAMS,
      (cl_context c, cl_uint n, const cl_device_id *d, const size_t *l, const unsigned char **b, cl_int *s, cl_int *e),
      (c, n, d, l, b, s, e))
MAKES(clCreateProgramWithBuiltInKernels, cl_program, OPENCL_PROGRAMS,
      (cl_context c, cl_uint n, const cl_device_id *d, const char *k, cl_int *e), (c, n, d, k, e))
MAKES(clCreateProgramWithIL, cl_program, OPENCL_PROGRAMS, (cl_context c, const void *i, size_t l, cl_int *e), (c, i, l, e))
MAKES(clLinkProgram, cl_program, OPENCL_PROGRAMS,
      (cl_context c, cl_uint n, const cl_device_id *d, const char *o, cl_uint m, const cl_program *p,
       void(CL_CALLBACK *f)(cl_program, void *), void *u, cl_int *e),
      (c, n, d, o, m, p, f, u, e))
REFERENCES(clRetainProgram, clReleaseProgram, cl_program, OPENCL_PROGRAMS)
MAKES(clCreateKernel, cl_kernel, OPENCL_KERNELS, (cl_program p, const char *n, cl_int *e), (p, n, e))
MAKES(clCloneKernel, cl_kernel, OPENCL_KERNELS, (cl_kernel k, cl_int *e), (k, e))
REFERENCES(clRetainKernel, clReleaseKernel, cl_kernel, OPENCL_KERNELS)
MAKES(clCreateSampler, cl_sampler, OPENCL_SAMPLERS,
      (cl_context c, cl_bool n, cl_addressing_mode a, cl_filter_mode f, cl_int *e), (c, n, a, f, e))
REFERENCES(clRetainSampler, clReleaseSampler, cl_sampler, OPENCL_SAMPLERS)
MAKES(clSVMAlloc, void *, OPENCL_SVM, (cl_context c, cl_svm_mem_flags f, size_t s, cl_uint a), (c, f, s, a))
MAKES(clCreateUserEvent, cl_event, OPENCL_EVENTS, (cl_context c, cl_int *e), (c, e))
REFERENCES(clRetainEvent, clReleaseEvent, cl_event, OPENCL_EVENTS)
ENQUEUES(clEnqueueNDRangeKernel,
	 (cl_command_queue q, cl_kernel k, cl_uint d, const size_t *o, const size_t *g, const size_t *l, cl_uint n,
	  const cl_event *w, cl_event *event),
	 (q, k, d, o, g, l, n, w, event))
ENQUEUES(clEnqueueCopyBuffer,
	 (cl_command_queue q, cl_mem s, cl_mem d, size_t so, size_t o, size_t b, cl_uint n, const cl_event *w,
	  cl_event *event),
	 (q, s, d, so, o, b, n, w, event))
ENQUEUES(clEnqueueCopyBufferRect,
	 (cl_command_queue q, cl_mem s, cl_mem d, const size_t *so, const size_t *o, const size_t *r, size_t srp, size_t ssp,
	  size_t drp, size_t dsp, cl_uint n, const cl_event *w, cl_event *event),
	 (q, s, d, so, o, r, srp, ssp, drp, dsp, n, w, event))
ENQUEUES(clEnqueueWriteBuffer,
	 (cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t s, const void *p, cl_uint n, const cl_event *w,
	  cl_event *event),
	 (q, m, b, o, s, p, n, w, event))
ENQUEUES(clEnqueueReadBuffer,
	 (cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t s, void *p, cl_uint n, const cl_event *w,
	  cl_event *event),
	 (q, m, b, o, s, p, n, w, event))
ENQUEUES(clEnqueueWriteBufferRect,
	 (cl_command_queue q, cl_mem m, cl_bool b, const size_t *mo, const size_t *ho, const size_t *r, size_t mrp, size_t msp,
	  size_t hrp, size_t hsp, const void *p, cl_uint n, const cl_event *w, cl_event *event),
	 (q, m, b, mo, ho, r, mrp, msp, hrp, hsp, p, n, w, event))
ENQUEUES(clEnqueueReadBufferRect,
	 (cl_command_queue q, cl_mem m, cl_bool b, const size_t *mo, const size_t *ho, const size_t *r, size_t mrp, size_t msp,
	  size_t hrp, size_t hsp, void *p, cl_uint n, const cl_event *w, cl_event *event),
	 (q, m, b, mo, ho, r, mrp, msp, hrp, hsp, p, n, w, event))
ENQUEUES(clEnqueueFillBuffer,
	 (cl_command_queue q, cl_mem m, const void *p, size_t ps, size_t o, size_t s, cl_uint n, const cl_event *w,
	  cl_event *event),
	 (q, m, p, ps, o, s, n, w, event))
ENQUEUES(clEnqueueCopyImage,
	 (cl_command_queue q, cl_mem s, cl_mem d, const size_t *so, const size_t *o, const size_t *r, cl_uint n,
	  const cl_event *w, cl_event *event),
	 (q, s, d, so, o, r, n, w, event))
ENQUEUES(clEnqueueWriteImage,
	 (cl_command_queue q, cl_mem m, cl_bool b, const size_t *o, const size_t *r, size_t rp, size_t sp, const void *p,
	  cl_uint n, const cl_event *w, cl_event *event),
	 (q, m, b, o, r, rp, sp, p, n, w, event))
ENQUEUES(clEnqueueReadImage,
	 (cl_command_queue q, cl_mem m, cl_bool b, const size_t *o, const size_t *r, size_t rp, size_t sp, void *p, cl_uint n,
	  const cl_event *w, cl_event *event),
	 (q, m, b, o, r, rp, sp, p, n, w, event))
ENQUEUES(clEnqueueMarkerWithWaitList, (cl_command_queue q, cl_uint n, const cl_event *w, cl_event *event), (q, n, w, event))
ENQUEUES(clEnqueueBarrierWithWaitList, (cl_command_queue q, cl_uint n, const cl_event *w, cl_event *event), (q, n, w, event))
ENQUEUES(clEnqueueSVMMemcpy,
	 (cl_command_queue q, cl_bool b, void *d, const void *s, size_t z, cl_uint n, const cl_event *w, cl_event *event),
	 (q, b, d, s, z, n, w, event))
/* clang-format on */

static cl_int CL_API_CALL own_clCreateKernelsInProgram(cl_program program, cl_uint room,
						       cl_kernel *kernels, cl_uint *count)
{
	cl_uint made = 0;
	cl_int result = next->clCreateKernelsInProgram(program, room, kernels, &made);
	if (count)
		*count = made;
	for (cl_uint i = 0; result == CL_SUCCESS && kernels && i < made; i++)
		TAKES(OPENCL_KERNELS);
	return result;
}

static void CL_API_CALL own_clSVMFree(cl_context context, void *pointer)
{
	if (pointer)
		GIVES(OPENCL_SVM);
	next->clSVMFree(context, pointer);
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

/* Acts as a driver that supports boxes and refuses this one. */
static cl_int CL_API_CALL refused_write(cl_command_queue q, cl_mem m, cl_bool b, const size_t *mo,
					const size_t *ho, const size_t *r, size_t mrp, size_t msp,
					size_t hrp, size_t hsp, const void *p, cl_uint n,
					const cl_event *w, cl_event *event)
{
	(void)q, (void)m, (void)b, (void)mo, (void)ho, (void)r, (void)mrp, (void)msp, (void)hrp,
		(void)hsp, (void)p;
	(void)n, (void)w, (void)event;
	return CL_INVALID_VALUE;
}

static cl_int CL_API_CALL refused_read(cl_command_queue q, cl_mem m, cl_bool b, const size_t *mo,
				       const size_t *ho, const size_t *r, size_t mrp, size_t msp,
				       size_t hrp, size_t hsp, void *p, cl_uint n,
				       const cl_event *w, cl_event *event)
{
	return refused_write(q, m, b, mo, ho, r, mrp, msp, hrp, hsp, p, n, w, event);
}

#define OWN(name) table.name = own_##name;

VISIBLE cl_int CL_API_CALL clInitLayer(cl_uint entries, const cl_icd_dispatch *target,
				       cl_uint *entries_out, const cl_icd_dispatch **dispatch_out)
{
	if (!target || !entries_out || !dispatch_out ||
	    entries < sizeof(table) / sizeof(table.clGetPlatformIDs))
		return CL_INVALID_VALUE;
	next = target;
	memcpy(&table, target, sizeof(table));
	/* clang-format off */
	OWN(clCreateContext) OWN(clRetainContext) OWN(clReleaseContext)
	OWN(clCreateCommandQueue) OWN(clCreateCommandQueueWithProperties)
	OWN(clRetainCommandQueue) OWN(clReleaseCommandQueue)
	OWN(clCreateBuffer) OWN(clCreateSubBuffer) OWN(clCreateImage) OWN(clRetainMemObject) OWN(clReleaseMemObject)
	OWN(clCreateProgramWithSource) OWN(clCreateProgramWithBinary) OWN(clCreateProgramWithBuiltInKernels)
	OWN(clCreateProgramWithIL) OWN(clLinkProgram) OWN(clRetainProgram) OWN(clReleaseProgram)
	OWN(clCreateKernel) OWN(clCloneKernel) OWN(clCreateKernelsInProgram) OWN(clRetainKernel) OWN(clReleaseKernel)
	OWN(clCreateSampler) OWN(clRetainSampler) OWN(clReleaseSampler) OWN(clSVMAlloc) OWN(clSVMFree)
	OWN(clCreateUserEvent) OWN(clRetainEvent) OWN(clReleaseEvent)
	OWN(clEnqueueNDRangeKernel) OWN(clEnqueueCopyBuffer) OWN(clEnqueueCopyBufferRect)
	OWN(clEnqueueWriteBuffer) OWN(clEnqueueReadBuffer) OWN(clEnqueueWriteBufferRect) OWN(clEnqueueReadBufferRect)
	OWN(clEnqueueFillBuffer) OWN(clEnqueueCopyImage) OWN(clEnqueueWriteImage) OWN(clEnqueueReadImage)
	OWN(clEnqueueMarkerWithWaitList) OWN(clEnqueueBarrierWithWaitList)
	OWN(clEnqueueSVMMemcpy)
		/* clang-format on */
		if (getenv("OPENCL_COUNTER_REFUSES_BOXES"))
	{
		table.clEnqueueWriteBufferRect = refused_write;
		table.clEnqueueReadBufferRect = refused_read;
	}
	if (getenv("OPENCL_COUNTER_HAS_BUILTINS"))
		opencl_builtins_install(&table, target);
	if (getenv("OPENCL_COUNTER_IS_CUSTOM"))
		opencl_builtins_install_custom(&table, target);
	*entries_out = sizeof(table) / sizeof(table.clGetPlatformIDs);
	*dispatch_out = &table;
	return CL_SUCCESS;
}
