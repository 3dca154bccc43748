/*
 * IF and WHILE nodes (R4). Each is a conditional node of the driver, whose body is a graph of its
 * own. A kernel before it reads the word and sets the node's condition. A WHILE has a second such
 * kernel at the end of its body.
 */
#include "cuda/graph/graph.h"
#include "cuda/lane/chain.h"

#include "cuda/memory/state.h"
#include "status.h"

#include "cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORD_BYTES 4u

/*
 * The PTX that NVRTC generates for cudaGraphSetConditional(), a function of the driver's compiler.
 */
static const char cuda_condition_ptx[] =
	".version 6.0\n"
	".target sm_50\n"
	".address_size 64\n"
	".extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);\n"
	".visible .entry sycl_condition(.param .u64 handle, .param .u64 word)\n"
	"{\n"
	"\t.reg .pred %p<2>;\n"
	"\t.reg .b32 %r<3>;\n"
	"\t.reg .b64 %d<3>;\n"
	"\tld.param.u64 %d1, [handle];\n"
	"\tld.param.u64 %d2, [word];\n"
	"\tld.volatile.u32 %r1, [%d2];\n"
	"\tsetp.ne.u32 %p1, %r1, 0;\n"
	"\tselp.u32 %r2, 1, 0, %p1;\n"
	"\t{\n"
	"\t.param .b64 to;\n"
	"\t.param .b32 value;\n"
	"\tst.param.b64 [to], %d1;\n"
	"\tst.param.b32 [value], %r2;\n"
	"\tcall.uni cudaGraphSetConditional, (to, value);\n"
	"\t}\n"
	"\tret;\n"
	"}\n";

bool cuda_conditions_are_possible(const struct cuda_library *library)
{
	return cuda_graphs_are_possible(library) && library->cuGraphAddNode &&
	       library->cuGraphConditionalHandleCreate;
}

CUmodule cuda_condition_load(const struct cuda_library *cu)
{
	CUmodule module = NULL;

	if (!cuda_conditions_are_possible(cu))
		return NULL;
	return cu->cuModuleLoadDataEx(&module, cuda_condition_ptx, 0, NULL, NULL) == CUDA_SUCCESS
		       ? module
		       : NULL;
}

void cuda_conditions_open(struct backend_device *device)
{
	const struct cuda_library *cu = &device->backend->library;
	struct cuda_lanes *lanes = device->lanes;

	if (!lanes->blank)
		return;
	lanes->condition_module =
		device->ahead.condition ? device->ahead.condition : cuda_condition_load(cu);
	device->ahead.condition = NULL;
	if (!lanes->condition_module)
		return;
	if (cu->cuModuleGetFunction(&lanes->condition, lanes->condition_module, "sycl_condition") !=
		    CUDA_SUCCESS ||
	    cu->cuFuncLoad(lanes->condition) != CUDA_SUCCESS)
		lanes->condition = NULL;
}

void cuda_conditions_close(struct backend_device *device)
{
	struct cuda_lanes *lanes = device->lanes;

	if (!lanes)
		return;
	if (lanes->condition_module)
		(void)device->backend->library.cuModuleUnload(lanes->condition_module);
	lanes->condition_module = NULL;
	lanes->condition = NULL;
}

static const char adding[] = "cannot add a condition to a graph";

static int condition_refuse(struct backend_fault *fault_out, const char *what)
{
	return cuda_fault_words(fault_out, -EOPNOTSUPP, STATUS_FEATURE_NOT_SUPPORTED, "%s", what);
}

static int invalid_condition(struct backend_fault *fault_out, const char *what)
{
	return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID, "%s", what);
}

/* ----------------------------------- where nodes lie ------------------------------------ */

CUgraph cuda_graph_target(const struct backend_graph *graph)
{
	return graph->place == CUDA_GRAPH_TOP ? graph->graph : graph->nodes[graph->place].body;
}

void cuda_graph_go_on(struct backend_graph *graph)
{
	if (graph->nodes[graph->count - 1].form == CUDA_FORM_CONDITION) {
		graph->place = graph->count - 1;
		graph->has_conditions = true;
	}
	while (graph->place != CUDA_GRAPH_TOP && graph->nodes[graph->place].end == graph->count)
		graph->place = graph->nodes[graph->place].place;
}

/* ---------------------------------------- nodes ----------------------------------------- */

static CUresult add_setter(const struct backend_graph *graph, const struct cuda_graph_node *node,
			   CUgraph target, const CUgraphNode *after, uint32_t count,
			   CUgraphNode *setter_out)
{
	CUgraphConditionalHandle handle = node->handle;
	CUdeviceptr word = node->word;
	void *parameters[] = {&handle, &word};
	const struct cuda_launch launch = {
		.function = graph->device->lanes->condition,
		.grid = {1, 1, 1},
		.block = {1, 1, 1},
		.parameters = parameters,
		.parameter_count = 2,
	};
	const CUDA_KERNEL_NODE_PARAMS kernel = cuda_launch_node(&launch);

	return graph->device->backend->library.cuGraphAddKernelNode(setter_out, target, after,
								    count, &kernel);
}

static int check_condition_node(const struct backend_graph *graph,
				const struct backend_command *command, CUdeviceptr *word_out,
				struct backend_fault *fault_out)
{
	const struct backend_memory *memory = command->condition.memory;
	const uint64_t offset = command->condition.offset_bytes;
	const uint32_t body_nodes = command->condition.body_nodes;

	if (!graph->device->lanes->condition || graph->temporary_count > 0)
		return condition_refuse(fault_out,
					graph->temporary_count > 0
						? "a graph with memory of its own has no conditions"
						: "the driver has no conditions in graphs");
	if (memory &&
	    (memory->device != graph->device || memory->array || memory->size_bytes < WORD_BYTES ||
	     offset % WORD_BYTES != 0 || offset > memory->size_bytes - WORD_BYTES))
		return invalid_condition(fault_out,
					 "a condition's word is not inside of its memory");
	if (!memory && !cuda_usm_is_reached(graph->device, command->condition.usm, WORD_BYTES))
		return invalid_condition(
			fault_out,
			"a condition's word is in memory that the device does not reach");
	if (body_nodes == 0 || body_nodes > UINT32_MAX / 2 ||
	    (graph->place != CUDA_GRAPH_TOP &&
	     body_nodes >= graph->nodes[graph->place].end - graph->count))
		return invalid_condition(
			fault_out, "a body is empty, or reaches beyond the one that it lies in");
	*word_out =
		memory ? memory->address + offset : (CUdeviceptr)(uintptr_t)command->condition.usm;
	return 0;
}

int cuda_graph_add_condition(struct backend_graph *graph, const struct backend_command *command,
			     const CUgraphNode *after, uint32_t after_count,
			     struct cuda_graph_node *node, struct backend_fault *fault_out)
{
	const struct cuda_library *cu = &graph->device->backend->library;
	CUgraph target = cuda_graph_target(graph);
	CUgraphNodeParams parameters;
	CUgraphNode setter = NULL;

	int error = check_condition_node(graph, command, &node->word, fault_out);
	if (error < 0)
		return error;
	CUresult result = cu->cuGraphConditionalHandleCreate(&node->handle, target,
							     graph->device->context, 0, 0);
	if (result == CUDA_SUCCESS)
		result = add_setter(graph, node, target, after, after_count, &setter);
	if (result != CUDA_SUCCESS)
		return cuda_check(graph->device, result, fault_out, adding);
	memset(&parameters, 0, sizeof(parameters));
	parameters.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
	parameters.conditional.handle = node->handle;
	parameters.conditional.type =
		command->condition.repeats ? CU_GRAPH_COND_TYPE_WHILE : CU_GRAPH_COND_TYPE_IF;
	parameters.conditional.size = 1;
	parameters.conditional.ctx = graph->device->context;
	result = cu->cuGraphAddNode(&node->node, target, &setter, NULL, 1, &parameters);
	if (result != CUDA_SUCCESS) {
		(void)cu->cuGraphDestroyNode(setter);
		return cuda_check(graph->device, result, fault_out, adding);
	}
	node->form = CUDA_FORM_CONDITION;
	node->body = parameters.conditional.phGraph_out[0];
	node->repeats = command->condition.repeats;
	node->end = graph->count + 1 + command->condition.body_nodes;
	return 0;
}

/* Adds the kernel that reads the word again, after all nodes of the body. */
static int close_body(const struct backend_graph *graph, uint32_t index, CUgraphNode *last,
		      struct backend_fault *fault_out)
{
	const struct cuda_graph_node *node = &graph->nodes[index];
	CUgraphNode setter = NULL;
	uint32_t count = 0;

	for (uint32_t i = index + 1; i < node->end; i++)
		if (graph->nodes[i].place == index && !graph->nodes[i].is_waited_for)
			last[count++] = graph->nodes[i].node;
	return cuda_check(graph->device, add_setter(graph, node, node->body, last, count, &setter),
			  fault_out, adding);
}

int cuda_graph_close_bodies(struct backend_graph *graph, struct backend_fault *fault_out)
{
	CLEANUP(free_pointer) CUgraphNode *last = NULL;
	int error = 0;

	if (!graph->has_conditions || graph->are_bodies_closed)
		return 0;
	if (graph->place != CUDA_GRAPH_TOP)
		return invalid_condition(fault_out, "nodes of a condition's body are missing");
	last = calloc(graph->count, sizeof(CUgraphNode));
	if (!last)
		return cuda_no_memory(fault_out, "a graph");
	graph->are_bodies_closed = true;
	for (uint32_t i = 0; error == 0 && i < graph->count; i++)
		if (graph->nodes[i].repeats)
			error = close_body(graph, i, last, fault_out);
	return error;
}
