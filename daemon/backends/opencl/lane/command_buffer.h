/*
 * cl_khr_command_buffer: the functions of a platform, and the driver's facts about them. Up to
 * version 0.9.4 of the extension, the functions that record have no parameter for properties; later
 * they have one. No function of an unknown version is called.
 */
#ifndef SYCL_BACKENDS_OPENCL_COMMAND_BUFFER_H
#define SYCL_BACKENDS_OPENCL_COMMAND_BUFFER_H

#include "opencl/driver/library.h"

struct opencl_command_buffers {
	bool has_properties;
	clCreateCommandBufferKHR_fn create;
	clFinalizeCommandBufferKHR_fn finalize;
	clReleaseCommandBufferKHR_fn release;
	clEnqueueCommandBufferKHR_fn enqueue;
	clCommandNDRangeKernelKHR_fn launch; /* the same in all versions */
	/* These have the driver's form, and are called only through the functions below. */
	void *barrier, *copy, *copy_rect, *fill;
};

/* Adds the features and aspects that follow from the extension (K19), but only if a buffer may be
 * sent again while it runs. */
void opencl_command_buffer_facts(const struct opencl_library *cl, cl_device_id device,
				 struct backend_device_facts *facts);
/* -ENOTSUP: the platform lacks some of the functions. */
int opencl_command_buffers_find(const struct opencl_library *cl, cl_device_id device,
				struct opencl_command_buffers *buffers_out);

cl_int opencl_command_barrier(const struct opencl_command_buffers *buffers,
			      cl_command_buffer_khr to);
cl_int opencl_command_copy(const struct opencl_command_buffers *buffers, cl_command_buffer_khr to,
			   cl_mem source, cl_mem destination, size_t source_offset,
			   size_t destination_offset, size_t size);
struct opencl_command_box {
	size_t source_origin[3], destination_origin[3], region[3];
	size_t source_row_pitch, source_slice_pitch, destination_row_pitch, destination_slice_pitch;
};
cl_int opencl_command_copy_box(const struct opencl_command_buffers *buffers,
			       cl_command_buffer_khr to, cl_mem source, cl_mem destination,
			       const struct opencl_command_box *box);
cl_int opencl_command_fill(const struct opencl_command_buffers *buffers, cl_command_buffer_khr to,
			   cl_mem buffer, const void *pattern, size_t pattern_bytes, size_t offset,
			   size_t size);

#endif
