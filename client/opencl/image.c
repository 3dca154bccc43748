/* SPDX-License-Identifier: Apache-2.0 */
/* Images. No device reports image support yet, so these calls refuse as OpenCL says. */
#include "driver.h"

static cl_mem refuse_image(cl_context context, cl_int *code_out)
{
	return made(NULL, FIND_CONTEXT(context) ? CL_INVALID_OPERATION : CL_INVALID_CONTEXT,
		    code_out);
}

static cl_int refuse_command(cl_command_queue queue)
{
	return FIND_QUEUE(queue) ? CL_INVALID_MEM_OBJECT : CL_INVALID_COMMAND_QUEUE;
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateImage(cl_context context, cl_mem_flags flags,
					      const cl_image_format *format,
					      const cl_image_desc *description, void *host,
					      cl_int *code_out)
{
	(void)flags, (void)format, (void)description, (void)host;
	return refuse_image(context, code_out);
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateImageWithProperties(cl_context context,
							    const cl_mem_properties *properties,
							    cl_mem_flags flags,
							    const cl_image_format *format,
							    const cl_image_desc *description,
							    void *host, cl_int *code_out)
{
	(void)properties, (void)flags, (void)format, (void)description, (void)host;
	return refuse_image(context, code_out);
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateImage2D(cl_context context, cl_mem_flags flags,
						const cl_image_format *format, size_t width,
						size_t height, size_t row, void *host,
						cl_int *code_out)
{
	(void)flags, (void)format, (void)width, (void)height, (void)row, (void)host;
	return refuse_image(context, code_out);
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateImage3D(cl_context context, cl_mem_flags flags,
						const cl_image_format *format, size_t width,
						size_t height, size_t depth, size_t row,
						size_t slice, void *host, cl_int *code_out)
{
	(void)flags, (void)format, (void)width, (void)height, (void)depth, (void)row, (void)slice;
	(void)host;
	return refuse_image(context, code_out);
}

CL_API_ENTRY cl_int CL_API_CALL clGetSupportedImageFormats(cl_context context, cl_mem_flags flags,
							   cl_mem_object_type type,
							   cl_uint capacity,
							   cl_image_format *formats,
							   cl_uint *count_out)
{
	(void)flags, (void)type;
	if (!FIND_CONTEXT(context))
		return CL_INVALID_CONTEXT;
	if (formats && capacity == 0)
		return CL_INVALID_VALUE;
	if (count_out)
		*count_out = 0;
	return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clGetImageInfo(cl_mem image, cl_image_info what, size_t size,
					       void *value, size_t *bytes_out)
{
	(void)image, (void)what, (void)size, (void)value, (void)bytes_out;
	return CL_INVALID_MEM_OBJECT;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueReadImage(cl_command_queue queue, cl_mem image,
						   cl_bool blocking, const size_t *origin,
						   const size_t *region, size_t row, size_t slice,
						   void *to, cl_uint count, const cl_event *events,
						   cl_event *event_out)
{
	(void)image, (void)blocking, (void)origin, (void)region, (void)row, (void)slice, (void)to;
	(void)count, (void)events, (void)event_out;
	return refuse_command(queue);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueWriteImage(cl_command_queue queue, cl_mem image,
						    cl_bool blocking, const size_t *origin,
						    const size_t *region, size_t row, size_t slice,
						    const void *from, cl_uint count,
						    const cl_event *events, cl_event *event_out)
{
	(void)image, (void)blocking, (void)origin, (void)region, (void)row, (void)slice;
	(void)from, (void)count, (void)events, (void)event_out;
	return refuse_command(queue);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueFillImage(cl_command_queue queue, cl_mem image,
						   const void *colour, const size_t *origin,
						   const size_t *region, cl_uint count,
						   const cl_event *events, cl_event *event_out)
{
	(void)image, (void)colour, (void)origin, (void)region, (void)count, (void)events;
	(void)event_out;
	return refuse_command(queue);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyImage(cl_command_queue queue, cl_mem from, cl_mem to,
						   const size_t *from_origin,
						   const size_t *to_origin, const size_t *region,
						   cl_uint count, const cl_event *events,
						   cl_event *event_out)
{
	(void)from, (void)to, (void)from_origin, (void)to_origin, (void)region, (void)count;
	(void)events, (void)event_out;
	return refuse_command(queue);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyImageToBuffer(cl_command_queue queue, cl_mem from,
							   cl_mem to, const size_t *origin,
							   const size_t *region, size_t offset,
							   cl_uint count, const cl_event *events,
							   cl_event *event_out)
{
	(void)from, (void)to, (void)origin, (void)region, (void)offset, (void)count;
	(void)events, (void)event_out;
	return refuse_command(queue);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyBufferToImage(
	cl_command_queue queue, cl_mem from, cl_mem to, size_t offset, const size_t *origin,
	const size_t *region, cl_uint count, const cl_event *events, cl_event *event_out)
{
	(void)from, (void)to, (void)origin, (void)region, (void)offset, (void)count;
	(void)events, (void)event_out;
	return refuse_command(queue);
}

CL_API_ENTRY void *CL_API_CALL clEnqueueMapImage(cl_command_queue queue, cl_mem image,
						 cl_bool blocking, cl_map_flags flags,
						 const size_t *origin, const size_t *region,
						 size_t *row_out, size_t *slice_out, cl_uint count,
						 const cl_event *events, cl_event *event_out,
						 cl_int *code_out)
{
	(void)image, (void)blocking, (void)flags, (void)origin, (void)region, (void)row_out;
	(void)slice_out, (void)count, (void)events, (void)event_out;
	return made(NULL, refuse_command(queue), code_out);
}
