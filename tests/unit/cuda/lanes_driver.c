#include "cuda/lanes_driver.h"

#include "cuda/clock/device_clock.h"
#include "cuda/memory/array.h"
#include "cuda/memory/state.h"
#include "cuda/lane/native_command.h"
#include "cuda/memory/peer.h"
#include "cuda/graph/graph.h"

#include "clock.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { RUN_KERNEL, WRITE_WORD, RECORD, WAIT, COUNT_SIGNAL };

struct operation {
	struct operation *next;
	enum kind kind;
	int id; /* of a kernel */
	uint32_t value;
	CUdeviceptr address;
	struct CUevent_st *event;
	uint64_t generation;
};

struct CUstream_st {
	struct CUstream_st *next_made;
	struct operation *first, **last;
	int priority;
};

struct CUevent_st {
	uint64_t recorded, happened; /* generations */
};

struct CUgraphNode_st {
	bool is_kernel;
	bool is_signal; /* of sycl_signal, with its word as the address */
	int id;
	CUdeviceptr address;
	uint32_t value;
};

struct CUgraph_st {
	struct CUgraphNode_st *nodes[CUDA_CHAIN_LENGTH_MAX + 2];
	uint32_t count;
};

struct driver driver;
static struct CUstream_st *streams;

static struct operation *put_operation(CUstream stream, enum kind kind)
{
	struct operation *operation = calloc(1, sizeof(*operation));

	cr_assert_not_null(operation);
	operation->kind = kind;
	*stream->last = operation;
	stream->last = &operation->next;
	return operation;
}

static CUresult stream_create(CUstream *stream, unsigned flags, int priority)
{
	cr_assert_eq(flags, CU_STREAM_NON_BLOCKING, "a stream that waits for the default stream");
	*stream = calloc(1, sizeof(**stream));
	cr_assert_not_null(*stream);
	(*stream)->last = &(*stream)->first;
	(*stream)->priority = priority;
	(*stream)->next_made = streams;
	streams = *stream;
	driver.counts.streams_made++;
	return driver.dead;
}

static CUresult stream_destroy(CUstream stream)
{
	struct CUstream_st **at = &streams;

	while (*at != stream)
		at = &(*at)->next_made;
	*at = stream->next_made;
	while (stream->first) {
		struct operation *operation = stream->first;
		stream->first = operation->next;
		free(operation);
	}
	free(stream);
	driver.counts.streams_destroyed++;
	return driver.dead;
}

static CUresult stream_query(CUstream stream)
{
	driver.counts.queries++;
	return driver.dead ? driver.dead : stream->first ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

static CUresult stream_synchronize(CUstream stream)
{
	(void)stream;
	driver.counts.synchronizes++;
	return driver.dead;
}

static CUresult stream_wait(CUstream stream, CUevent event, unsigned flags)
{
	(void)flags;
	driver.counts.waits++;
	if (driver.dead)
		return driver.dead;
	struct operation *operation = put_operation(stream, WAIT);
	operation->event = event;
	operation->generation = event->recorded; /* the records up to now, whatever comes later */
	return CUDA_SUCCESS;
}

static CUresult stream_write(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags)
{
	(void)flags;
	driver.counts.writes++;
	if (driver.dead || driver.write_result)
		return driver.dead ? driver.dead : driver.write_result;
	struct operation *operation = put_operation(stream, WRITE_WORD);
	operation->address = address;
	operation->value = value;
	return CUDA_SUCCESS;
}

static CUresult stream_copy_attributes(CUstream destination, CUstream source)
{
	destination->priority = source->priority;
	driver.counts.attributes_copied++;
	return driver.dead;
}

static CUresult priorities(int *least, int *greatest)
{
	*least = 0;
	*greatest = -5;
	return CUDA_SUCCESS;
}

static CUresult event_create(CUevent *event, unsigned flags)
{
	(void)flags;
	if (driver.dead)
		return driver.dead;
	*event = calloc(1, sizeof(**event));
	cr_assert_not_null(*event);
	driver.counts.events_made++;
	return CUDA_SUCCESS;
}

static CUresult event_destroy(CUevent event)
{
	free(event);
	return driver.dead;
}

static CUresult event_record(CUevent event, CUstream stream)
{
	driver.counts.records++;
	if (driver.dead)
		return driver.dead;
	struct operation *operation = put_operation(stream, RECORD);
	operation->event = event;
	operation->generation = ++event->recorded;
	return CUDA_SUCCESS;
}

static CUresult host_alloc(void **host, size_t bytes, unsigned flags)
{
	(void)flags;
	*host = aligned_alloc(64, bytes);
	return *host ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult host_free(void *host)
{
	free(host);
	return driver.dead;
}

static CUresult host_pointer(CUdeviceptr *address, void *host, unsigned flags)
{
	(void)flags;
	*address = (CUdeviceptr)(uintptr_t)host;
	return CUDA_SUCCESS;
}

static CUresult module_load(CUmodule *module, const void *image, unsigned count,
			    CUjit_option *options, void **values)
{
	static int blank;
	(void)image;
	(void)count;
	(void)options;
	(void)values;
	*module = (CUmodule)(void *)&blank;
	return CUDA_SUCCESS;
}

static CUresult module_unload(CUmodule module)
{
	(void)module;
	return driver.dead;
}

static struct backend_kernel signal_kernel;

static CUresult module_function(CUfunction *function, CUmodule module, const char *name)
{
	const bool is_signal = strcmp(name, "sycl_signal") == 0;
	*function = is_signal ? (CUfunction)(void *)&signal_kernel : (CUfunction)(void *)module;
	return CUDA_SUCCESS;
}

static CUresult function_load(CUfunction function)
{
	(void)function;
	return CUDA_SUCCESS;
}

static CUresult launch_operation(CUfunction function, unsigned gx, unsigned gy, unsigned gz,
				 unsigned bx, unsigned by, unsigned bz, unsigned shared,
				 CUstream stream, void **parameters, void **extra)
{
	(void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)parameters,
		(void)extra;
	driver.counts.kernel_launches++;
	if (driver.dead)
		return driver.dead;
	if (driver.launch_result != CUDA_SUCCESS && driver.launches_before_failure-- == 0)
		return driver.launch_result;
	put_operation(stream, RUN_KERNEL)->id = ((struct backend_kernel *)(void *)function)->id;
	return CUDA_SUCCESS;
}

static CUresult launch_ex(const CUlaunchConfig *configuration, CUfunction function,
			  void **parameters, void **extra)
{
	cr_assert_eq(configuration->numAttrs, 1);
	cr_assert_eq(configuration->attrs[0].id, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
	return launch_operation(function, 1, 1, 1, 1, 1, 1, 0, configuration->hStream, parameters,
				extra);
}

static CUresult graph_create(CUgraph *graph, unsigned flags)
{
	(void)flags;
	*graph = calloc(1, sizeof(**graph));
	cr_assert_not_null(*graph);
	return driver.dead;
}

/* The nodes are destroyed with it. A later use of the executable graph would access freed
 * memory. */
static CUresult graph_destroy(CUgraph graph)
{
	for (uint32_t i = 0; i < graph->count; i++)
		free(graph->nodes[i]);
	free(graph);
	return driver.dead;
}

static CUresult lanes_driver_add_node(CUgraph graph, CUgraphNode *node, const CUgraphNode *before,
				      size_t count)
{
	cr_assert_eq(count, graph->count ? 1u : 0u, "a chain has no branches");
	cr_assert(!count || before[0] == graph->nodes[graph->count - 1]);
	*node = calloc(1, sizeof(**node));
	cr_assert_not_null(*node);
	graph->nodes[graph->count++] = *node;
	return driver.dead;
}

static CUresult add_kernel(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
			   size_t count, const CUDA_KERNEL_NODE_PARAMS *parameters)
{
	(void)parameters;
	CUresult result = lanes_driver_add_node(graph, node, before, count);
	(*node)->is_kernel = true;
	return result;
}

static CUresult add_memset(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
			   size_t count, const CUDA_MEMSET_NODE_PARAMS *parameters,
			   CUcontext context)
{
	(void)context;
	CUresult result = lanes_driver_add_node(graph, node, before, count);
	(*node)->address = parameters->dst;
	(*node)->value = parameters->value;
	return result;
}

static CUresult instantiate(CUgraphExec *executable, CUgraph graph, unsigned long long flags)
{
	(void)flags;
	if (driver.instantiate_result)
		return driver.instantiate_result;
	const uint64_t until_ns = clock_now_ns() + driver.instantiate_ns;
	while (driver.instantiate_ns > 0 && clock_now_ns() < until_ns)
		;
	struct CUgraph_st *copy = malloc(sizeof(*copy));
	cr_assert_not_null(copy);
	*copy = *graph;
	*executable = (CUgraphExec)(void *)copy;
	driver.counts.graphs_made++;
	return driver.dead;
}

static CUresult exec_destroy(CUgraphExec executable)
{
	free(executable);
	return driver.dead;
}

static CUresult set_kernel(CUgraphExec executable, CUgraphNode node,
			   const CUDA_KERNEL_NODE_PARAMS *parameters)
{
	(void)executable;
	if (driver.dead || driver.set_parameters_result)
		return driver.dead ? driver.dead : driver.set_parameters_result;
	driver.counts.nodes_set++;
	node->id = ((struct backend_kernel *)(void *)parameters->func)->id;
	node->is_signal = (void *)parameters->func == (void *)&signal_kernel;
	if (node->is_signal)
		memcpy(&node->address, parameters->kernelParams[0], sizeof(node->address));
	return CUDA_SUCCESS;
}

static CUresult set_memset(CUgraphExec executable, CUgraphNode node,
			   const CUDA_MEMSET_NODE_PARAMS *parameters, CUcontext context)
{
	(void)executable;
	(void)context;
	cr_assert_eq(parameters->elementSize, 4);
	cr_assert_eq(parameters->width, 1);
	driver.counts.words_set++;
	node->address = parameters->dst;
	node->value = parameters->value;
	return driver.dead;
}

static CUresult upload(CUgraphExec executable, CUstream stream)
{
	(void)executable;
	(void)stream;
	return driver.dead;
}

static CUresult graph_launch(CUgraphExec executable, CUstream stream)
{
	const struct CUgraph_st *graph = (struct CUgraph_st *)(void *)executable;
	uint32_t kernels = 0, level = 0;

	driver.counts.graph_launches++;
	if (driver.dead)
		return driver.dead;
	for (uint32_t i = 0; i < graph->count; i++) {
		const struct CUgraphNode_st *node = graph->nodes[i];
		struct operation *operation = put_operation(stream, node->is_signal   ? COUNT_SIGNAL
								    : node->is_kernel ? RUN_KERNEL
										      : WRITE_WORD);
		operation->id = node->id;
		operation->address = node->address;
		operation->value = node->value;
		kernels += node->is_kernel;
	}
	while (1u << level < kernels)
		level++;
	driver.counts.chains[level]++;
	return CUDA_SUCCESS;
}

static CUresult error_name(CUresult result, const char **name)
{
	static char text[32];
	(void)snprintf(text, sizeof(text), "RESULT_%d", (int)result);
	*name = text;
	return CUDA_SUCCESS;
}

static CUresult error_string(CUresult result, const char **words)
{
	(void)result;
	*words = "the driver's own words";
	return CUDA_SUCCESS;
}

static const struct cuda_library library = {
	.cuGetErrorName = error_name,
	.cuGetErrorString = error_string,
	.cuCtxGetStreamPriorityRange = priorities,
	.cuStreamCreateWithPriority = stream_create,
	.cuStreamDestroy = stream_destroy,
	.cuStreamQuery = stream_query,
	.cuStreamSynchronize = stream_synchronize,
	.cuStreamWaitEvent = stream_wait,
	.cuStreamWriteValue32 = stream_write,
	.cuStreamCopyAttributes = stream_copy_attributes,
	.cuEventCreate = event_create,
	.cuEventDestroy = event_destroy,
	.cuEventRecord = event_record,
	.cuMemHostAlloc = host_alloc,
	.cuMemFreeHost = host_free,
	.cuMemHostGetDevicePointer = host_pointer,
	.cuModuleLoadDataEx = module_load,
	.cuModuleUnload = module_unload,
	.cuModuleGetFunction = module_function,
	.cuFuncLoad = function_load,
	.cuLaunchKernel = launch_operation,
	.cuLaunchKernelEx = launch_ex,
	.cuGraphCreate = graph_create,
	.cuGraphDestroy = graph_destroy,
	.cuGraphAddKernelNode = add_kernel,
	.cuGraphAddMemsetNode = add_memset,
	.cuGraphInstantiateWithFlags = instantiate,
	.cuGraphExecDestroy = exec_destroy,
	.cuGraphExecKernelNodeSetParams = set_kernel,
	.cuGraphExecMemsetNodeSetParams = set_memset,
	.cuGraphUpload = upload,
	.cuGraphLaunch = graph_launch,
};

/* -------------------- for the replacements of the rest of the backend ------------------ */

void driver_put(CUstream stream, int id)
{
	put_operation(stream, RUN_KERNEL)->id = id;
}

int cuda_clock_times(struct backend_device *device, CUevent start, CUevent end,
		     uint64_t *start_ns_out, uint64_t *end_ns_out, struct backend_fault *fault_out)
{
	(void)device;
	(void)fault_out;
	if (driver.clock_result == CUDA_ERROR_NOT_READY)
		return -EAGAIN;
	cr_assert_eq(start->happened, start->recorded);
	cr_assert_eq(end->happened, end->recorded);
	*start_ns_out = driver.clock_ns + 11;
	*end_ns_out = driver.clock_ns + 22;
	return 0;
}

/* ------------------------------------ for the tests ------------------------------------- */

static bool run_one(CUstream stream)
{
	struct operation *operation = stream->first;

	if (!operation ||
	    (operation->kind == WAIT && operation->event->happened < operation->generation))
		return false;
	stream->first = operation->next;
	if (!stream->first)
		stream->last = &stream->first;
	if (operation->kind == RUN_KERNEL && driver.ran_count < RAN_MAX)
		driver.ran[driver.ran_count++] = operation->id;
	else if (operation->kind == WRITE_WORD)
		*(uint32_t *)(uintptr_t)operation->address = operation->value;
	else if (operation->kind == RECORD)
		operation->event->happened = operation->generation;
	else if (operation->kind == COUNT_SIGNAL)
		++*(uint32_t *)(uintptr_t)operation->address;
	free(operation);
	return true;
}

uint32_t driver_run(struct backend_lane *lane, uint32_t most)
{
	uint32_t count = 0;

	while (count < most && run_one(lane->stream))
		count++;
	return count;
}

void driver_run_all(struct backend_device *device)
{
	bool moved;

	do {
		moved = false;
		for (struct cuda_lane_state *state = device->lanes->first; state;
		     state = state->next)
			while (run_one(state->lane->stream))
				moved = true;
	} while (moved);
}

int driver_priority(const struct backend_lane *lane)
{
	return lane->stream->priority;
}

uint32_t driver_pending(const struct backend_lane *lane)
{
	uint32_t count = 0;

	for (const struct operation *operation = lane->stream->first; operation;
	     operation = operation->next)
		count++;
	return count;
}

struct backend_device *lanes_device(uint32_t chain_length, bool has_graphs)
{
	return lanes_device_with(
		&(struct cuda_settings){.chain_length = chain_length, .chain_marks = true},
		has_graphs);
}

struct backend_device *lanes_device_with(const struct cuda_settings *settings, bool has_graphs)
{
	struct backend *backend = calloc(1, sizeof(*backend));
	struct backend_device *device = calloc(1, sizeof(*device));
	struct backend_fault fault = {0};

	cr_assert(backend && device);
	driver = (struct driver){.ran_count = 0};
	backend->library = library;
	backend->settings = *settings;
	if (!has_graphs)
		backend->library.cuGraphLaunch = NULL;
	device->backend = backend;
	cr_assert_eq(cuda_lanes_open(device, &fault), 0, "%s", fault.text);
	device->lanes->launch_graph = cuda_graph_launch;
	device->lanes->count_nodes = cuda_graph_node_count;
	device->lanes->find_series = cuda_graph_find_series;
	return device;
}

void lanes_device_free(struct backend_device *device)
{
	while (device->lanes->first)
		cuda_lane_free(device->lanes->first->lane);
	cr_assert_eq(device->lanes->in_flight, 0);
	cuda_lanes_close(device);
	cr_assert_eq(driver.counts.streams_made, driver.counts.streams_destroyed);
	cr_assert_null(streams);
	free(device->backend);
	free(device);
}

struct backend_lane *lanes_lane(struct backend_device *device, enum backend_lane_kind kind)
{
	struct backend_lane *lane = NULL;
	struct backend_fault fault = {0};

	cr_assert_eq(cuda_lane_create(device, kind, &lane, &fault), 0, "%s", fault.text);
	return lane;
}

void lanes_submit(struct backend_lane *lane, const struct backend_command *command,
		  uint64_t sequence)
{
	struct backend_fault fault = {0};

	cr_assert_eq(cuda_submit(lane, command, NULL, 0, sequence, NULL, &fault), 0, "%s",
		     fault.text);
	/* Another status would mean that this command fails. */
	cr_assert(fault.status == 0 || fault.device_lost, "%s", fault.text);
}

void lanes_launch(struct backend_lane *lane, struct backend_kernel *kernel, uint64_t sequence)
{
	const struct backend_command command = {.kind = BACKEND_COMMAND_LAUNCH,
						.is_awaited = kernel->is_awaited,
						.owner = kernel->owner,
						.launch = {.kernel = kernel}};

	if (!kernel->is_new) { /* short, and as estimated, however long this machine takes */
		kernel->pace.period_ns = 1000;
		kernel->pace.surprise = (struct surprise){.left = 0};
	}
	lanes_submit(lane, &command, sequence);
}

void lanes_launch_after(struct backend_lane *lane, struct backend_kernel *kernel, uint64_t sequence,
			struct backend_lane *other, uint64_t other_sequence)
{
	const struct backend_command command = {.kind = BACKEND_COMMAND_LAUNCH,
						.launch = {.kernel = kernel}};
	const struct backend_wait wait = {other, other_sequence};
	struct backend_fault fault = {0};

	cr_assert_eq(cuda_submit(lane, &command, &wait, 1, sequence, NULL, &fault), 0, "%s",
		     fault.text);
}
