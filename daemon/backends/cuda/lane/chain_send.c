/* Collected launches are sent by a template. This file chooses it and sets its values. */
#include "cuda/lane/chain.h"

#include "cuda/lane/lane.h"
#include "cuda/lane/partition.h"

#include <errno.h>

#define EXACT_SEEN 8u /* a chain is made once its length has come this often */

static CUresult chain_set_word(struct cuda_lane_state *state, const struct cuda_chain *chain,
			       CUgraphNode node, CUdeviceptr address, uint32_t value)
{
	const CUDA_MEMSET_NODE_PARAMS word = cuda_chain_word(address, value);

	return state->lane->device->backend->library.cuGraphExecMemsetNodeSetParams(
		chain->executable, node, &word, state->lane->device->context);
}

static struct backend_program *launch_code(const struct cuda_collected *launch)
{
	return launch->kernel ? cuda_kernel_code(launch->kernel) : NULL;
}

/* The new values are for later launches alone: a launch of the same chain that still runs keeps
 * its own. */
static CUresult chain_set_launches(struct cuda_lane_state *state, struct cuda_chain *chain,
				   const struct cuda_collected *launches, uint32_t count,
				   uint32_t value)
{
	const struct cuda_library *cu = &state->lane->device->backend->library;
	const struct cuda_collected *last = &launches[count - 1];
	CUresult result = CUDA_SUCCESS;

	for (uint32_t i = 0; result == CUDA_SUCCESS && i < count; i++)
		result = cuda_chain_set_kernel(cu, chain, i, &launches[i].launch,
					       launches[i].storage, launch_code(&launches[i]));
	if (result == CUDA_SUCCESS && last->direct)
		result = chain_set_word(state, chain, chain->direct, last->direct,
					last->direct_value);
	if (result == CUDA_SUCCESS)
		result = chain_set_word(state, chain, chain->word, state->word_device, value);
	return result;
}

static int chain_result(struct backend_device *device, CUresult result)
{
	if (result == CUDA_SUCCESS)
		return 0;
	(void)cuda_fault(device, &device->backend->library, result, NULL, "the device failed");
	return cuda_lost(device) ? -EIO : -EAGAIN;
}

int cuda_chain_send_lone(struct cuda_lane_state *state, const struct cuda_collected *launch,
			 uint32_t value)
{
	struct backend_device *device = state->lane->device;
	const struct cuda_library *cu = &device->backend->library;
	struct cuda_chain *chain = &state->lone;

	if (!chain->executable)
		return -EAGAIN;
	CUresult result = cuda_chain_set_kernel(cu, chain, 0, &launch->launch, launch->storage,
						launch_code(launch));
	if (result == CUDA_SUCCESS) {
		atomic_store_explicit(state->mark_host, 0, memory_order_release);
		result = cu->cuGraphLaunch(chain->executable, state->lane->stream);
	}
	state->is_marked = result == CUDA_SUCCESS;
	state->mark_value = value;
	return chain_result(device, result);
}

/* A template that is missing or broken is replaced by the plain one. An exact length gets the next
 * lower level. */
static enum cuda_chain_form choose_form(const struct cuda_lane_state *state,
					const struct cuda_collected *launches, uint32_t count)
{
	if (launches[count - 1].direct != 0)
		return CUDA_CHAIN_DIRECT;
	if (!state->chains[CUDA_CHAIN_OVERLAPPED][cuda_chain_level(count)].executable)
		return CUDA_CHAIN_PLAIN;
	for (uint32_t i = 1; i < count; i++) /* the first has none before it here */
		if (!launches[i].launch.waits)
			return CUDA_CHAIN_PLAIN;
	return CUDA_CHAIN_OVERLAPPED;
}

static struct cuda_exact *chain_find_exact(struct cuda_lane_state *state, enum cuda_chain_form form,
					   uint32_t length)
{
	for (uint32_t i = 0; i < CUDA_EXACT_MAX; i++)
		if (state->exact[i].length == length && state->exact[i].form == form)
			return &state->exact[i];
	return NULL;
}

/* Requests a chain of a length that occurred often. A lane has one request at a time, and a bounded
 * number in all, for programs whose lengths change all the time. */
static void chain_note_length(struct cuda_lane_state *state, enum cuda_chain_form form,
			      uint32_t length)
{
	uint8_t *seen = &state->seen[form][length - 1];

	if (*seen < EXACT_SEEN && ++*seen < EXACT_SEEN)
		return;
	if (state->wanted.length > 0 || state->exact_makes == 0)
		return;
	state->exact_makes--;
	state->wanted = (struct cuda_wanted_exact){form, length};
	state->lane->device->lanes->wanting_exact++;
	*seen = 0;
}

bool cuda_chain_has(struct cuda_lane_state *state, const struct cuda_collected *launches,
		    uint32_t count)
{
	if ((count & (count - 1)) == 0)
		return true;
	if (!state->lane->device->backend->settings.exact_chains || state->awaits_chains ||
	    cuda_lane_is_apart(state))
		return false;
	const enum cuda_chain_form form = choose_form(state, launches, count);
	const struct cuda_exact *exact = chain_find_exact(state, form, count);
	if (!exact)
		chain_note_length(state, form, count);
	return exact && exact->chain.executable;
}

static struct cuda_chain *find_chain(struct cuda_lane_state *state, enum cuda_chain_form form,
				     uint32_t count)
{
	const uint32_t level = cuda_chain_level(count);

	if (count != 1u << level) {
		struct cuda_exact *exact = chain_find_exact(state, form, count);
		exact->used = ++state->exact_uses;
		return &exact->chain;
	}
	struct cuda_chain *chain = &state->chains[form][level];
	if (!chain->executable && !chain->is_broken && !state->awaits_chains)
		cuda_chain_make_level(state, level, form);
	return chain;
}

int cuda_chain_send(struct cuda_lane_state *state, const struct cuda_collected *launches,
		    uint32_t count, uint32_t value)
{
	struct backend_device *device = state->lane->device;
	const struct cuda_library *cu = &device->backend->library;
	const enum cuda_chain_form form = choose_form(state, launches, count);
	struct cuda_chain *chain = find_chain(state, form, count);

	if (!chain->executable)
		return -EAGAIN;
	CUresult result = chain_set_launches(state, chain, launches, count, value);
	if (result == CUDA_SUCCESS)
		result = cu->cuGraphLaunch(chain->executable, state->lane->stream);
	return chain_result(device, result);
}
