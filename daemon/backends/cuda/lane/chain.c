#include "cuda/lane/chain.h"

#include "cuda/lane/lane.h"
#include "cuda/lane/mark.h"
#include "cuda/lane/partition.h"
#include "cuda/program/ptx_wait.h"

#include "clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Exact chains that a lane makes in its life, as each needs a quiet moment. */
#define EXACT_MAKES 32u
/* How long such a moment is requested. Meanwhile commands are sent, but for short times (hold.c).
 */
#define EXACT_ASKS_NS 100000000u
/* Once so much time has passed in a quiet moment, no further chain is made in it. */
#define EXACT_MAKE_NS 100000u

uint32_t cuda_chain_level(uint32_t count)
{
	return 31u - (uint32_t)__builtin_clz(count);
}

bool cuda_chains_are_possible(const struct cuda_library *library)
{
	return library->cuGraphCreate && library->cuGraphDestroy && library->cuGraphAddKernelNode &&
	       library->cuGraphAddMemsetNode && library->cuGraphInstantiateWithFlags &&
	       library->cuGraphExecKernelNodeSetParams && library->cuGraphExecMemsetNodeSetParams &&
	       library->cuGraphUpload && library->cuGraphLaunch && library->cuGraphExecDestroy;
}

/* True if kernels of this device may overlap. */
static bool cuda_overlap_is_possible(const struct backend *backend,
				     const struct cuda_device_facts *facts)
{
	return backend->settings.overlap && backend->library.cuGraphAddDependencies &&
	       facts->compute_major >= CUDA_OVERLAP_COMPUTE_MAJOR;
}

CUmodule cuda_own_load(const struct backend *backend, const struct cuda_device_facts *facts)
{
	const char *ptx = cuda_own_ptx(cuda_overlap_is_possible(backend, facts));
	CUmodule module = NULL;

	return backend->library.cuModuleLoadDataEx(&module, ptx, 0, NULL, NULL) == CUDA_SUCCESS
		       ? module
		       : NULL;
}

/* A kernel of the backend, on the device when this returns. */
static bool own_kernel_find(struct backend_device *device, const char *name,
			    CUfunction *function_out)
{
	const struct cuda_library *cu = &device->backend->library;

	return cu->cuModuleGetFunction(function_out, device->lanes->own_module, name) ==
		       CUDA_SUCCESS &&
	       cu->cuFuncLoad(*function_out) == CUDA_SUCCESS;
}

static struct cuda_launch blank_launch(const struct cuda_lane_state *state)
{
	return (struct cuda_launch){
		.function = state->lane->device->lanes->blank,
		.grid = {1, 1, 1},
		.block = {1, 1, 1},
	};
}

CUDA_MEMSET_NODE_PARAMS cuda_chain_word(CUdeviceptr address, uint32_t value)
{
	return (CUDA_MEMSET_NODE_PARAMS){
		.dst = address, .value = value, .elementSize = 4, .width = 1, .height = 1};
}

CUresult cuda_chain_overlap(const struct cuda_library *cu, CUgraph graph, CUgraphNode before,
			    CUgraphNode node)
{
	CUgraphEdgeData edge;

	memset(&edge, 0, sizeof(edge));
	edge.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
	edge.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
	return cu->cuGraphAddDependencies(graph, &before, &node, &edge, 1);
}

CUDA_KERNEL_NODE_PARAMS cuda_launch_node(const struct cuda_launch *launch)
{
	return (CUDA_KERNEL_NODE_PARAMS){
		.func = launch->function,
		.gridDimX = launch->grid[0],
		.gridDimY = launch->grid[1],
		.gridDimZ = launch->grid[2],
		.blockDimX = launch->block[0],
		.blockDimY = launch->block[1],
		.blockDimZ = launch->block[2],
		.sharedMemBytes = launch->shared_bytes,
		.kernelParams = launch->parameters,
	};
}

/* Adds the nodes, each behind the previous one. */
static CUresult chain_add_nodes(struct cuda_lane_state *state, CUgraph graph, uint32_t count,
				enum cuda_chain_form form, struct cuda_chain *chain)
{
	const struct cuda_library *cu = &state->lane->device->backend->library;
	const struct cuda_launch blank = blank_launch(state);
	const CUDA_KERNEL_NODE_PARAMS kernel = cuda_launch_node(&blank);
	const CUDA_MEMSET_NODE_PARAMS word = cuda_chain_word(chain->ending, chain->ending_value);
	const CUgraphNode *before = NULL;

	for (uint32_t i = 0; i < count; i++) {
		bool overlaps = before && form == CUDA_CHAIN_OVERLAPPED;
		CUresult result = cu->cuGraphAddKernelNode(&chain->kernels[i], graph, before,
							   before && !overlaps ? 1 : 0, &kernel);
		if (result == CUDA_SUCCESS && overlaps)
			result = cuda_chain_overlap(cu, graph, *before, chain->kernels[i]);
		if (result != CUDA_SUCCESS)
			return result;
		before = &chain->kernels[i];
	}
	if (form == CUDA_CHAIN_DIRECT) {
		/* The address is set at each launch. */
		CUresult result = cu->cuGraphAddMemsetNode(&chain->direct, graph, before, 1, &word,
							   state->lane->device->context);
		if (result != CUDA_SUCCESS)
			return result;
		before = &chain->direct;
	}
	return cu->cuGraphAddMemsetNode(&chain->word, graph, before, 1, &word,
					state->lane->device->context);
}

/* The chain has its mark already, if it gets one. */
static void make_chain(struct cuda_lane_state *state, uint32_t count, enum cuda_chain_form form,
		       struct cuda_chain *chain)
{
	const struct cuda_library *cu = &state->lane->device->backend->library;
	CUgraphExec executable = NULL;
	CUgraph graph = NULL;

	chain->ending = chain->mark_host ? chain->mark_device : state->word_device;
	chain->ending_value = 1;
	CUresult result = cu->cuGraphCreate(&graph, 0);
	if (result == CUDA_SUCCESS) {
		result = chain_add_nodes(state, graph, count, form, chain);
		if (result == CUDA_SUCCESS)
			result = cu->cuGraphInstantiateWithFlags(&executable, graph, 0);
		if (result != CUDA_SUCCESS)
			(void)cu->cuGraphDestroy(graph);
	}
	if (result != CUDA_SUCCESS) {
		chain->is_broken = true;
		return;
	}
	chain->nodes = calloc(count, sizeof(*chain->nodes));
	chain->graph = graph;
	chain->executable = executable;
	(void)cu->cuGraphUpload(executable,
				state->lane->stream); /* otherwise the first launch uploads it */
}

void cuda_chain_make_level(struct cuda_lane_state *state, uint32_t level, enum cuda_chain_form form)
{
	struct cuda_chain *chain = &state->chains[form][level];

	cuda_mark_open_level(state, chain, level, form);
	make_chain(state, 1u << level, form, chain);
}

static bool chains_overlap(const struct backend_device *device)
{
	return cuda_overlap_is_possible(device->backend, device->facts);
}

/*
 * Makes every chain that the lane can need: making one later may wait for whatever runs then
 * (docs/cuda-backend.md, "What the driver does").
 */
static void lane_make_chains(struct cuda_lane_state *state)
{
	for (uint32_t level = 0; 1u << level <= state->lane->device->backend->settings.chain_length;
	     level++) {
		cuda_chain_make_level(state, level, CUDA_CHAIN_PLAIN);
		cuda_chain_make_level(state, level, CUDA_CHAIN_DIRECT);
		if (level > 0 && chains_overlap(state->lane->device))
			cuda_chain_make_level(state, level, CUDA_CHAIN_OVERLAPPED);
	}
	cuda_mark_open_lone(state);
	make_chain(state, 1, CUDA_CHAIN_PLAIN, &state->lone);
	state->exact_makes = EXACT_MAKES;
}

static void chain_free(struct cuda_lane_state *state, struct cuda_chain *chain)
{
	const struct cuda_library *cu = &state->lane->device->backend->library;

	cuda_mark_close(state, chain);
	if (chain->executable) {
		(void)cu->cuGraphExecDestroy(chain->executable);
		(void)cu->cuGraphDestroy(chain->graph);
	}
	for (uint32_t i = 0; i < CUDA_CHAIN_LENGTH_MAX; i++)
		cuda_code_release(chain->codes[i]);
	free(chain->nodes);
	*chain = (struct cuda_chain){.executable = NULL};
}

/* Returns an empty place, or the place of the chain that was sent longest ago. */
static struct cuda_exact *exact_choose_place(struct cuda_lane_state *state)
{
	struct cuda_exact *best = &state->exact[0];

	for (uint32_t i = 1; i < CUDA_EXACT_MAX && best->length > 0; i++)
		if (state->exact[i].length == 0 || state->exact[i].chain.used < best->chain.used)
			best = &state->exact[i];
	return best;
}

/*
 * Makes the chain that the lane has requested. A failure keeps its entry, so that the same chain is
 * not made again and again.
 */
static void lane_make_exact_chain(struct cuda_lane_state *state)
{
	struct cuda_exact *place = exact_choose_place(state);

	if (state->wanted.length == 0)
		return;
	chain_free(state, &place->chain);
	place->form = state->wanted.form;
	place->length = state->wanted.length;
	cuda_mark_open_exact(state, place);
	make_chain(state, place->length, place->form, &place->chain);
	place->chain.used = ++state->chain_uses;
	state->wanted.length = 0;
	state->lane->device->lanes->wanting_exact--;
}

void cuda_chains_want(struct cuda_lane_state *state)
{
	struct cuda_lanes *lanes = state->lane->device->lanes;

	state->awaits_chains = lanes->in_flight > 0;
	if (state->awaits_chains)
		lanes->awaiting_chains++;
	else
		lane_make_chains(state);
}

static void restart_refusals(struct cuda_lanes *lanes)
{
	if (lanes->exact_refused >= lanes->exact_refused_most &&
	    lanes->exact_refused_most < UINT32_MAX / 2)
		lanes->exact_refused_most *= 2;
	lanes->exact_refused = 0;
	lanes->exact_asks_until_ns = 0;
}

/*
 * A requested chain saves only a little time at each send. So at first it is made when the device
 * happens to be idle. Where many programs send, the device never is. Then commands are held back
 * for it once enough sends have lacked it, never for long (hold.c); each time it takes twice as
 * many. The request ends soon, granted or not: a device with long kernels has no such moment for a
 * long time.
 */
bool cuda_chains_are_due(struct cuda_lanes *lanes)
{
	if (lanes->awaiting_chains > 0 || lanes->wanting_exact == 0 || lanes->in_flight == 0)
		return lanes->awaiting_chains > 0 || lanes->wanting_exact > 0;
	if (lanes->exact_refused < lanes->exact_refused_most)
		return false;
	const uint64_t now_ns = clock_now_ns();
	if (lanes->exact_asks_until_ns == 0)
		lanes->exact_asks_until_ns = now_ns + EXACT_ASKS_NS;
	if (now_ns < lanes->exact_asks_until_ns)
		return true;
	restart_refusals(lanes);
	return false;
}

/* Commands may wait meanwhile. So the rest is left to the next quiet moment once some time has
 * passed. */
static void make_exact_chains(struct cuda_lanes *lanes)
{
	const uint64_t until_ns = clock_now_ns() + EXACT_MAKE_NS;

	for (struct cuda_lane_state *state = lanes->first; state && lanes->wanting_exact > 0;
	     state = state->next) {
		if (state->wanted.length == 0)
			continue;
		lane_make_exact_chain(state);
		if (clock_now_ns() >= until_ns)
			return;
	}
}

void cuda_chains_make_wanted(struct backend_device *device)
{
	struct cuda_lanes *lanes = device->lanes;

	if ((lanes->awaiting_chains == 0 && lanes->wanting_exact == 0) ||
	    cuda_enter(device, NULL) < 0)
		return;
	for (struct cuda_lane_state *state = lanes->first; state && lanes->awaiting_chains > 0;
	     state = state->next) {
		if (!state->awaits_chains)
			continue;
		lane_make_chains(state);
		state->awaits_chains = false;
	}
	lanes->awaiting_chains = 0;
	make_exact_chains(lanes);
	if (lanes->wanting_exact == 0)
		restart_refusals(lanes);
}

void cuda_chains_free(struct cuda_lane_state *state)
{
	for (uint32_t form = 0; form < CUDA_CHAIN_FORMS; form++)
		for (uint32_t level = 0; level < CUDA_LEVELS; level++)
			chain_free(state, &state->chains[form][level]);
	chain_free(state, &state->lone);
	for (uint32_t i = 0; i < CUDA_EXACT_MAX; i++)
		chain_free(state, &state->exact[i].chain);
	state->lane->device->lanes->wanting_exact -= state->wanted.length > 0;
}

/* The code is compared, too, since a new function may get the handle of an unloaded one. */
static bool node_has_launch(const struct cuda_node *node, const struct cuda_launch *launch,
			    const unsigned char *storage)
{
	return node->function == launch->function &&
	       node->parameter_bytes == launch->parameter_bytes &&
	       node->shared_bytes == launch->shared_bytes &&
	       memcmp(node->grid, launch->grid, sizeof(node->grid)) == 0 &&
	       memcmp(node->block, launch->block, sizeof(node->block)) == 0 &&
	       memcmp(node->storage, storage, launch->parameter_bytes) == 0;
}

bool cuda_chain_has_launch(const struct cuda_chain *chain, uint32_t index,
			   const struct cuda_collected *launch)
{
	const struct cuda_node *node = chain->nodes ? &chain->nodes[index] : NULL;

	if (!node || !node->function)
		return false;
	if (launch->stamp > 0 && node->stamp == launch->stamp)
		return true;
	return launch->launch.parameter_bytes <= CUDA_NODE_BYTES &&
	       chain->codes[index] == (launch->kernel ? cuda_kernel_code(launch->kernel) : NULL) &&
	       node_has_launch(node, &launch->launch, launch->values);
}

static void remember_node(struct cuda_node *node, const struct cuda_launch *launch,
			  const unsigned char *storage)
{
	node->function = launch->function;
	node->parameter_bytes = launch->parameter_bytes;
	node->shared_bytes = launch->shared_bytes;
	memcpy(node->grid, launch->grid, sizeof(node->grid));
	memcpy(node->block, launch->block, sizeof(node->block));
	memcpy(node->storage, storage, launch->parameter_bytes);
}

/* `storage` NULL: the launch has no arguments, and is not remembered. */
static CUresult set_node(const struct cuda_library *cu, struct cuda_chain *chain, uint32_t index,
			 const struct cuda_launch *launch, const unsigned char *storage,
			 struct backend_program *code)
{
	const CUDA_KERNEL_NODE_PARAMS kernel = cuda_launch_node(launch);
	struct cuda_node *node = chain->nodes ? &chain->nodes[index] : NULL;

	if (node)
		node->function = NULL;
	CUresult result = cu->cuGraphExecKernelNodeSetParams(chain->executable,
							     chain->kernels[index], &kernel);
	if (result == CUDA_SUCCESS && node && storage && launch->parameter_bytes <= CUDA_NODE_BYTES)
		remember_node(node, launch, storage);
	if (result != CUDA_SUCCESS || code == chain->codes[index])
		return result;
	if (code)
		cuda_code_keep(code);
	cuda_code_release(chain->codes[index]);
	chain->codes[index] = code;
	return CUDA_SUCCESS;
}

CUresult cuda_chain_set_kernel(const struct cuda_library *cu, struct cuda_chain *chain,
			       uint32_t index, const struct cuda_collected *launch)
{
	if (cuda_chain_has_launch(chain, index, launch)) {
		/* The next comparison is one of numbers. */
		chain->nodes[index].stamp = launch->stamp;
		return CUDA_SUCCESS;
	}
	CUresult result = set_node(cu, chain, index, &launch->launch, launch->values,
				   launch->kernel ? cuda_kernel_code(launch->kernel) : NULL);
	if (chain->nodes)
		chain->nodes[index].stamp = launch->stamp;
	return result;
}

static void tidy_chain(struct cuda_lane_state *state, struct cuda_chain *chain, uint32_t count)
{
	const struct cuda_library *cu = &state->lane->device->backend->library;
	const struct cuda_launch blank = blank_launch(state);

	for (uint32_t i = 0; i < count; i++)
		if (chain->codes[i] && cuda_code_is_abandoned(chain->codes[i]))
			(void)set_node(cu, chain, i, &blank, NULL, NULL);
}

/* Templates release programs that nothing else holds. Waits for nothing. */
static void release_abandoned(struct backend_device *device)
{
	if (cuda_enter(device, NULL) < 0)
		return;
	for (struct cuda_lane_state *state = device->lanes->first; state; state = state->next) {
		for (uint32_t form = 0; form < CUDA_CHAIN_FORMS; form++)
			for (uint32_t level = 0; level < CUDA_LEVELS; level++)
				tidy_chain(state, &state->chains[form][level], 1u << level);
		tidy_chain(state, &state->lone, 1);
		for (uint32_t i = 0; i < CUDA_EXACT_MAX; i++)
			tidy_chain(state, &state->exact[i].chain, state->exact[i].length);
	}
}

void cuda_chains_open(struct backend_device *device)
{
	const struct cuda_library *cu = &device->backend->library;
	struct cuda_lanes *lanes = device->lanes;

	device->on_abandoned = release_abandoned;
	lanes->exact_refused_most = CUDA_REFUSED_FIRST;
	if (!cuda_chains_are_possible(cu))
		return;
	lanes->own_module = device->ahead.own ? device->ahead.own
					      : cuda_own_load(device->backend, device->facts);
	device->ahead.own = NULL;
	if (!lanes->own_module)
		return;
	bool has_blank = own_kernel_find(device, "sycl_blank", &lanes->blank);
	lanes->has_graphs = has_blank && device->backend->settings.chain_length > 0;
	if (!own_kernel_find(device, "sycl_fill", &lanes->fill))
		lanes->fill = NULL;
	if (!own_kernel_find(device, "sycl_copy", &lanes->copy))
		lanes->copy = NULL;
	if (!own_kernel_find(device, "sycl_signal", &lanes->signal))
		lanes->signal = NULL;
	lanes->copy_waits = chains_overlap(device);
}

void cuda_chains_close(struct backend_device *device)
{
	device->on_abandoned = NULL;
	if (device->lanes->own_module)
		(void)device->backend->library.cuModuleUnload(device->lanes->own_module);
	device->lanes->own_module = NULL;
	device->lanes->blank = device->lanes->fill = device->lanes->copy = NULL;
	device->lanes->signal = NULL;
	device->lanes->has_graphs = false;
}
