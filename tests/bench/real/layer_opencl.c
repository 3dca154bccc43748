/* Plain OpenCL in this process: one in-order queue. A graph is the list of its launches. */
#include "real/layer.h"

#include "harness/direct.h"
#include "real/sources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct graph {
	unsigned count;
	struct layer_launch launches[LAYER_GRAPH_LAUNCHES];
};

struct opencl {
	struct direct direct; /* its kernel is the first one */
	char *text;
	cl_kernel kernels[LAYER_KERNELS];
	unsigned buffers, graphs, hosts;
	cl_mem buffer[LAYER_BUFFERS];
	void *host[LAYER_BUFFERS];
	struct graph graph[LAYER_GRAPHS];
	bool is_recording;
};

static bool opencl_good(cl_int code, const char *what)
{
	if (code != CL_SUCCESS)
		(void)fprintf(stderr, "%s: OpenCL error %d\n", what, (int)code);
	return code == CL_SUCCESS;
}

static bool opencl_open_kernels(struct opencl *opencl, const struct layer_source *source)
{
	opencl->kernels[0] = opencl->direct.kernel;
	for (int i = 1; i < LAYER_KERNELS && source->kernels[i]; i++) {
		cl_int code = 0;
		opencl->kernels[i] = opencl->direct.cl.clCreateKernel(opencl->direct.program,
								      source->kernels[i], &code);
		if (!opencl_good(code, source->kernels[i]))
			return false;
	}
	return true;
}

static bool opencl_open(const char *cache, const struct layer_source *source, void **state_out)
{
	struct opencl *opencl = calloc(1, sizeof(*opencl));
	*state_out = opencl;
	if (!opencl || asprintf(&opencl->text, "%s%s", LAYER_OPENCL_PRELUDE, source->text) < 0)
		return false;
	direct_use_cache(cache);
	return direct_open(&opencl->direct, opencl->text, source->kernels[0]) &&
	       opencl_open_kernels(opencl, source);
}

static void opencl_close(void *state)
{
	struct opencl *opencl = state;
	if (!opencl)
		return;
	for (unsigned i = opencl->buffers;
	     i-- > 0;) /* parts are released before the memory that contains them */
		(void)opencl->direct.cl.clReleaseMemObject(opencl->buffer[i]);
	for (int i = 1; i < LAYER_KERNELS; i++)
		if (opencl->kernels[i])
			(void)opencl->direct.cl.clReleaseKernel(opencl->kernels[i]);
	if (opencl->direct.library)
		direct_close(&opencl->direct);
	for (unsigned i = 0; i < opencl->hosts; i++)
		free(opencl->host[i]);
	free(opencl->text);
	free(opencl);
}

static bool opencl_alloc(void *state, uint64_t bytes, unsigned *buffer_out)
{
	struct opencl *opencl = state;
	cl_int code = CL_OUT_OF_RESOURCES;
	if (opencl->buffers < LAYER_BUFFERS)
		opencl->buffer[opencl->buffers] = opencl->direct.cl.clCreateBuffer(
			opencl->direct.context, CL_MEM_READ_WRITE, bytes, NULL, &code);
	if (!opencl_good(code, "clCreateBuffer"))
		return false;
	*buffer_out = opencl->buffers++;
	return true;
}

static bool opencl_part(void *state, unsigned buffer, uint64_t offset_bytes, uint64_t bytes,
			unsigned *part_out)
{
	struct opencl *opencl = state;
	const cl_buffer_region region = {.origin = offset_bytes, .size = bytes};
	cl_int code = CL_OUT_OF_RESOURCES;
	if (opencl->buffers < LAYER_BUFFERS)
		opencl->buffer[opencl->buffers] = opencl->direct.cl.clCreateSubBuffer(
			opencl->buffer[buffer], CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
			&region, &code);
	if (!opencl_good(code, "clCreateSubBuffer"))
		return false;
	*part_out = opencl->buffers++;
	return true;
}

static void *opencl_host(void *state, uint64_t bytes)
{
	struct opencl *opencl = state;
	void *memory = opencl->hosts < LAYER_BUFFERS ? calloc(1, bytes) : NULL;
	if (memory)
		opencl->host[opencl->hosts++] = memory;
	return memory;
}

static bool opencl_write(void *state, unsigned buffer, const void *from, uint64_t bytes)
{
	struct opencl *opencl = state;
	return opencl_good(opencl->direct.cl.clEnqueueWriteBuffer(opencl->direct.queue,
								  opencl->buffer[buffer], CL_FALSE,
								  0, bytes, from, 0, NULL, NULL),
			   "clEnqueueWriteBuffer");
}

static bool enqueue_launch(struct opencl *opencl, const struct layer_launch *launch)
{
	const size_t global = launch->global, local = launch->local;
	cl_kernel kernel = opencl->kernels[launch->kernel];
	cl_uint count = 0;
	cl_int code = CL_SUCCESS;
	for (unsigned i = 0; i < launch->pointers; i++)
		code |= opencl->direct.cl.clSetKernelArg(kernel, count++, sizeof(cl_mem),
							 &opencl->buffer[launch->buffers[i]]);
	for (unsigned i = 0; i < launch->values; i++)
		code |= opencl->direct.cl.clSetKernelArg(kernel, count++, sizeof(uint32_t),
							 &launch->words[i]);
	return opencl_good(code, "clSetKernelArg") &&
	       opencl_good(opencl->direct.cl.clEnqueueNDRangeKernel(opencl->direct.queue, kernel, 1,
								    NULL, &global, &local, 0, NULL,
								    NULL),
			   "clEnqueueNDRangeKernel");
}

static bool opencl_launch(void *state, const struct layer_launch *launch)
{
	struct opencl *opencl = state;
	struct graph *graph = &opencl->graph[opencl->graphs];
	if (!opencl->is_recording)
		return enqueue_launch(opencl, launch);
	if (graph->count == LAYER_GRAPH_LAUNCHES)
		return false;
	graph->launches[graph->count++] = *launch;
	return true;
}

static bool opencl_read(void *state, unsigned buffer, void *to, uint64_t bytes)
{
	struct opencl *opencl = state;
	return opencl_good(opencl->direct.cl.clEnqueueReadBuffer(opencl->direct.queue,
								 opencl->buffer[buffer], CL_TRUE, 0,
								 bytes, to, 0, NULL, NULL),
			   "clEnqueueReadBuffer");
}

static bool opencl_sync(void *state)
{
	struct opencl *opencl = state;
	return direct_finish(&opencl->direct);
}

static bool opencl_record_begin(void *state)
{
	struct opencl *opencl = state;
	opencl->is_recording = opencl->graphs < LAYER_GRAPHS;
	return opencl->is_recording;
}

static bool opencl_record_end(void *state, unsigned *graph_out)
{
	struct opencl *opencl = state;
	opencl->is_recording = false;
	*graph_out = opencl->graphs++;
	return true;
}

static bool opencl_graph(void *state, unsigned number)
{
	struct opencl *opencl = state;
	const struct graph *graph = &opencl->graph[number];
	bool launched = true;
	for (unsigned i = 0; i < graph->count && launched; i++)
		launched = enqueue_launch(opencl, &graph->launches[i]);
	return launched;
}

const struct layer_body layer_opencl = {
	.open = opencl_open,
	.close = opencl_close,
	.alloc = opencl_alloc,
	.part = opencl_part,
	.host = opencl_host,
	.write = opencl_write,
	.launch = opencl_launch,
	.read = opencl_read,
	.sync = opencl_sync,
	.record_begin = opencl_record_begin,
	.record_end = opencl_record_end,
	.graph = opencl_graph,
};
