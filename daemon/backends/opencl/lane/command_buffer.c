#include "opencl/lane/command_buffer.h"

#include "opencl/driver/aspects.h"
#include "opencl/driver/query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EXTENSION      "cl_khr_command_buffer"
#define OLDEST_VERSION CL_MAKE_VERSION(0, 9, 0)
/* From this version on, commands have properties. */
#define PROPERTIES_VERSION CL_MAKE_VERSION(0, 9, 5)
#define NEXT_MAJOR_VERSION CL_MAKE_VERSION(2, 0, 0)

/* The functions that record, in their form since PROPERTIES_VERSION. */
typedef cl_int(CL_API_CALL *barrier_new)(cl_command_buffer_khr, cl_command_queue,
					 const cl_properties *, cl_uint, const cl_sync_point_khr *,
					 cl_sync_point_khr *, cl_mutable_command_khr *);
typedef cl_int(CL_API_CALL *copy_new)(cl_command_buffer_khr, cl_command_queue,
				      const cl_properties *, cl_mem, cl_mem, size_t, size_t, size_t,
				      cl_uint, const cl_sync_point_khr *, cl_sync_point_khr *,
				      cl_mutable_command_khr *);
typedef cl_int(CL_API_CALL *copy_rect_new)(cl_command_buffer_khr, cl_command_queue,
					   const cl_properties *, cl_mem, cl_mem, const size_t *,
					   const size_t *, const size_t *, size_t, size_t, size_t,
					   size_t, cl_uint, const cl_sync_point_khr *,
					   cl_sync_point_khr *, cl_mutable_command_khr *);
typedef cl_int(CL_API_CALL *fill_new)(cl_command_buffer_khr, cl_command_queue,
				      const cl_properties *, cl_mem, const void *, size_t, size_t,
				      size_t, cl_uint, const cl_sync_point_khr *,
				      cl_sync_point_khr *, cl_mutable_command_khr *);

/* The extension's version; 0: the device does not have the extension, or does not report its
 * version. */
static cl_version version_of(const struct opencl_library *cl, cl_device_id device)
{
	size_t bytes = 0;
	cl_version version = 0;

	if (cl->GetDeviceInfo(device, CL_DEVICE_EXTENSIONS_WITH_VERSION, 0, NULL, &bytes) !=
		    CL_SUCCESS ||
	    bytes == 0)
		return 0;
	cl_name_version *extensions = malloc(bytes);
	if (extensions && cl->GetDeviceInfo(device, CL_DEVICE_EXTENSIONS_WITH_VERSION, bytes,
					    extensions, NULL) == CL_SUCCESS)
		for (size_t i = 0; i < bytes / sizeof(*extensions); i++)
			if (strncmp(extensions[i].name, EXTENSION, sizeof(extensions[i].name)) == 0)
				version = extensions[i].version;
	free(extensions);
	return version;
}

void opencl_command_buffer_facts(const struct opencl_library *cl, cl_device_id device,
				 struct backend_device_facts *facts)
{
	struct opencl_command_buffers buffers;

	if (!opencl_has_extension(facts->extensions, EXTENSION))
		return;
	uint64_t can = opencl_device_ulong(cl, device, CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR);
	uint64_t queue = opencl_device_ulong(
		cl, device, CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR);
	/* Lanes are in order, and the next launch of a graph is sent before the previous one has
	 * ended. */
	if (!(can & CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR) ||
	    (queue & ~(uint64_t)CL_QUEUE_PROFILING_ENABLE) ||
	    opencl_command_buffers_find(cl, device, &buffers) < 0)
		return;
	facts->features |= BACKEND_FEATURE_GRAPH | BACKEND_FEATURE_GRAPH_NATIVE;
	facts->aspects |= 1ull << OPENCL_ASPECT_LIMITED_GRAPH;
}

int opencl_command_buffers_find(const struct opencl_library *cl, cl_device_id device,
				struct opencl_command_buffers *buffers_out)
{
	static const char *const names[] = {
		"clCreateCommandBufferKHR",  "clFinalizeCommandBufferKHR",
		"clReleaseCommandBufferKHR", "clEnqueueCommandBufferKHR",
		"clCommandNDRangeKernelKHR", "clCommandBarrierWithWaitListKHR",
		"clCommandCopyBufferKHR",    "clCommandCopyBufferRectKHR",
		"clCommandFillBufferKHR"};
	const cl_version version = version_of(cl, device);
	struct opencl_command_buffers buffers = {.has_properties = version >= PROPERTIES_VERSION};
	void **const places[] = {(void **)&buffers.create,
				 (void **)&buffers.finalize,
				 (void **)&buffers.release,
				 (void **)&buffers.enqueue,
				 (void **)&buffers.launch,
				 &buffers.barrier,
				 &buffers.copy,
				 &buffers.copy_rect,
				 &buffers.fill};
	cl_platform_id platform = NULL;

	if (version < OLDEST_VERSION || version >= NEXT_MAJOR_VERSION ||
	    cl->GetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof(cl_platform_id), &platform,
			      NULL) != CL_SUCCESS)
		return -ENOTSUP;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		*places[i] = cl->GetExtensionFunctionAddressForPlatform(platform, names[i]);
		if (!*places[i])
			return -ENOTSUP;
	}
	*buffers_out = buffers;
	return 0;
}

cl_int opencl_command_barrier(const struct opencl_command_buffers *buffers,
			      cl_command_buffer_khr to)
{
	if (buffers->has_properties)
		return ((barrier_new)buffers->barrier)(to, NULL, NULL, 0, NULL, NULL, NULL);
	return ((clCommandBarrierWithWaitListKHR_fn)buffers->barrier)(to, NULL, 0, NULL, NULL,
								      NULL);
}

cl_int opencl_command_copy(const struct opencl_command_buffers *buffers, cl_command_buffer_khr to,
			   cl_mem source, cl_mem destination, size_t source_offset,
			   size_t destination_offset, size_t size)
{
	if (buffers->has_properties)
		return ((copy_new)buffers->copy)(to, NULL, NULL, source, destination, source_offset,
						 destination_offset, size, 0, NULL, NULL, NULL);
	return ((clCommandCopyBufferKHR_fn)buffers->copy)(to, NULL, source, destination,
							  source_offset, destination_offset, size,
							  0, NULL, NULL, NULL);
}

cl_int opencl_command_copy_box(const struct opencl_command_buffers *buffers,
			       cl_command_buffer_khr to, cl_mem source, cl_mem destination,
			       const struct opencl_command_box *box)
{
	if (buffers->has_properties)
		return ((copy_rect_new)buffers->copy_rect)(
			to, NULL, NULL, source, destination, box->source_origin,
			box->destination_origin, box->region, box->source_row_pitch,
			box->source_slice_pitch, box->destination_row_pitch,
			box->destination_slice_pitch, 0, NULL, NULL, NULL);
	return ((clCommandCopyBufferRectKHR_fn)buffers->copy_rect)(
		to, NULL, source, destination, box->source_origin, box->destination_origin,
		box->region, box->source_row_pitch, box->source_slice_pitch,
		box->destination_row_pitch, box->destination_slice_pitch, 0, NULL, NULL, NULL);
}

cl_int opencl_command_fill(const struct opencl_command_buffers *buffers, cl_command_buffer_khr to,
			   cl_mem buffer, const void *pattern, size_t pattern_bytes, size_t offset,
			   size_t size)
{
	if (buffers->has_properties)
		return ((fill_new)buffers->fill)(to, NULL, NULL, buffer, pattern, pattern_bytes,
						 offset, size, 0, NULL, NULL, NULL);
	return ((clCommandFillBufferKHR_fn)buffers->fill)(to, NULL, buffer, pattern, pattern_bytes,
							  offset, size, 0, NULL, NULL, NULL);
}
