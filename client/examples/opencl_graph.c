/*
 * A native OpenCL command in a graph, between two kernels of this library. It is a copy that the
 * program records into the graph's cl_command_buffer_khr itself. The engine is in this process,
 * because native handles have no meaning in another one.
 */
#include <stdio.h>
#include <string.h>
#include <syclclient.h>

#define CL_TARGET_OPENCL_VERSION 300
#include <syclclient/opencl.h>

#include <CL/cl_ext.h>

enum { COUNT = 1024, BYTES = COUNT * sizeof(uint32_t), LAUNCHES = 100, NOTHING_TO_SHOW = 77 };

static const char source[] =
	"SYCL_KERNEL void increment(SYCL_GLOBAL(uint) x) { x[sycl_global_id(0)] += 1; }";

/* The extension's types up to version 0.9.4, and later ones. */
typedef cl_int(CL_API_CALL *copy_until_0_9_4)(cl_command_buffer_khr, cl_command_queue, cl_mem,
					      cl_mem, size_t, size_t, size_t, cl_uint,
					      const cl_sync_point_khr *, cl_sync_point_khr *,
					      cl_mutable_command_khr *);
typedef cl_int(CL_API_CALL *copy_since_0_9_5)(cl_command_buffer_khr, cl_command_queue,
					      const cl_properties *, cl_mem, cl_mem, size_t, size_t,
					      size_t, cl_uint, const cl_sync_point_khr *,
					      cl_sync_point_khr *, cl_mutable_command_khr *);

struct copy {
	void *function;
	cl_version version;
	int calls;
};

static sycl_result find_copy_functions(sycl_device device, struct copy *copy)
{
	static cl_name_version extensions[256];
	cl_platform_id platform = NULL;
	cl_device_id native = NULL;
	size_t bytes = 0;
	sycl_result r = sycl_opencl_get_native_device(device, &native);
	if (r != 0)
		return r;
	if (clGetDeviceInfo(native, CL_DEVICE_PLATFORM, sizeof(cl_platform_id), &platform, NULL) !=
		    CL_SUCCESS ||
	    clGetDeviceInfo(native, CL_DEVICE_EXTENSIONS_WITH_VERSION, sizeof(extensions),
			    extensions, &bytes) != CL_SUCCESS)
		return SYCL_ERROR_RUNTIME;
	for (size_t i = 0; i < bytes / sizeof(*extensions); i++) {
		if (strcmp(extensions[i].name, "cl_khr_command_buffer") == 0)
			copy->version = extensions[i].version;
	}
	copy->function =
		clGetExtensionFunctionAddressForPlatform(platform, "clCommandCopyBufferKHR");
	return copy->function ? SYCL_SUCCESS : SYCL_ERROR_FEATURE_NOT_SUPPORTED;
}

static cl_int call_copy(const struct copy *copy, cl_command_buffer_khr graph, cl_mem from,
			cl_mem to)
{
	if (copy->version < CL_MAKE_VERSION(0, 9, 5)) {
		copy_until_0_9_4 call;
		memcpy(&call, &copy->function, sizeof(call));
		return call(graph, NULL, from, to, 0, 0, BYTES, 0, NULL, NULL, NULL);
	}
	copy_since_0_9_5 call;
	memcpy(&call, &copy->function, sizeof(call));
	return call(graph, NULL, NULL, from, to, 0, 0, BYTES, 0, NULL, NULL, NULL);
}

/* Called once, when the graph is finalized. Commands recorded here lie between the two kernels. */
static sycl_result record_native_copy(sycl_interop_handle interop, void *user_data)
{
	struct copy *copy = user_data;
	uint64_t graph = 0, from = 0, to = 0, offset = 0;
	sycl_result r = sycl_interop_get_native_graph(interop, &graph);
	if (r == 0)
		r = sycl_interop_get_native_memory(interop, 0, &from, &offset);
	if (r == 0)
		r = sycl_interop_get_native_memory(interop, 1, &to, &offset);
	if (r != 0)
		return r;
	copy->calls++;
	return call_copy(copy, SYCL_OPENCL_HANDLE(cl_command_buffer_khr, graph),
			 SYCL_OPENCL_HANDLE(cl_mem, from),
			 SYCL_OPENCL_HANDLE(cl_mem, to)) == CL_SUCCESS
		       ? SYCL_SUCCESS
		       : SYCL_ERROR_RUNTIME;
}

static sycl_result submit_increment(sycl_queue queue, sycl_kernel increment, sycl_buffer buffer)
{
	sycl_handler group;
	sycl_result r = sycl_handler_begin(queue, &group);
	if (r == 0)
		r = sycl_handler_set_accessor(group, 0, buffer, SYCL_ACCESS_READ_WRITE);
	if (r == 0)
		r = sycl_handler_parallel_for(group, increment, sycl_range1(COUNT));
	return r == 0 ? sycl_queue_submit(queue, group, NULL) : r;
}

static sycl_result submit_native_copy(sycl_queue queue, struct copy *copy,
				      const sycl_buffer buffers[2])
{
	sycl_handler group;
	sycl_result r = sycl_handler_begin(queue, &group);
	if (r == 0)
		r = sycl_handler_set_accessor(group, 0, buffers[0], SYCL_ACCESS_READ);
	if (r == 0)
		r = sycl_handler_set_accessor(group, 1, buffers[1], SYCL_ACCESS_WRITE);
	if (r == 0)
		r = sycl_handler_native_command(group, record_native_copy, copy, NULL);
	return r == 0 ? sycl_queue_submit(queue, group, NULL) : r;
}

static sycl_result make_graph_with_copy(sycl_queue queue, sycl_device device, sycl_kernel increment,
					struct copy *copy, const sycl_buffer buffers[2],
					sycl_executable_graph *out)
{
	sycl_context context;
	sycl_graph graph;
	sycl_result r = sycl_queue_get_context(queue, &context);
	if (r == 0)
		r = sycl_graph_create(context, device, NULL, &graph);
	if (r == 0)
		r = sycl_graph_begin_recording(graph, 1, &queue);
	if (r == 0)
		r = submit_increment(queue, increment, buffers[0]);
	if (r == 0)
		r = submit_native_copy(queue, copy, buffers);
	if (r == 0)
		r = submit_increment(queue, increment, buffers[1]);
	if (r == 0)
		r = sycl_graph_end_recording(graph, 0, NULL);
	if (r == 0)
		r = sycl_graph_finalize(graph, NULL, out);
	if (r == 0)
		r = sycl_graph_release(graph);
	return r;
}

static sycl_result select_device(sycl_platform platform, sycl_device *device_out, uint32_t *has_out)
{
	sycl_result r = sycl_device_select(platform, sycl_cpu_selector, NULL, device_out);
	return r == 0 ? sycl_device_has(*device_out, SYCL_ASPECT_EXT_ONEAPI_LIMITED_GRAPH, has_out)
		      : r;
}

int main(void)
{
	static const uint32_t zeros[COUNT];
	static uint32_t words[2][COUNT];
	struct copy copy = {.calls = 0};
	sycl_platform platform;
	sycl_device device;
	sycl_queue queue;
	sycl_kernel increment;
	sycl_buffer buffers[2];
	sycl_executable_graph steps;
	uint32_t has = 0;
	sycl_result r = sycl_platform_open("embedded:", &platform);
	if (r != 0 || select_device(platform, &device, &has) != 0 || !has) {
		printf("no OpenCL device here takes commands of a program's own in graphs\n");
		return NOTHING_TO_SHOW;
	}
	r = find_copy_functions(device, &copy);
	if (r == 0)
		r = sycl_queue_create(NULL, device, NULL, &queue);
	if (r == 0)
		r = sycl_kernel_from_source(queue, source, "increment", &increment);
	for (int i = 0; i < 2 && r == 0; i++)
		r = sycl_buffer_create(platform, (void *)(uintptr_t)zeros, BYTES, SYCL_HOST_CONST,
				       &buffers[i]);
	if (r == 0)
		r = make_graph_with_copy(queue, device, increment, &copy, buffers, &steps);
	for (int i = 0; i < LAUNCHES && r == 0; i++)
		r = sycl_queue_graph(queue, steps, 0, NULL, NULL);
	for (int i = 0; i < 2 && r == 0; i++)
		r = sycl_queue_copy_to_host(queue, buffers[i], 0, words[i], BYTES, NULL);
	if (r == 0)
		r = sycl_queue_wait(queue);
	if (r != 0)
		return fprintf(stderr, "%s\n%s", sycl_get_last_error_text(), sycl_get_build_log()),
		       1;
	printf("after %d launches: %u, and its copy is one ahead: %u; recorded %d time\n", LAUNCHES,
	       words[0][7], words[1][7], copy.calls);
	return words[0][7] == LAUNCHES && words[1][7] == LAUNCHES + 1 && copy.calls == 1 ? 0 : 1;
}
