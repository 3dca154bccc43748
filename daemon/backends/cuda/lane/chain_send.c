/* Collected launches are sent by a template. This file chooses it and sets its values. */
#include "cuda/lane/chain.h"

#include "cuda/lane/lane.h"
#include "cuda/lane/mark.h"
#include "cuda/lane/partition.h"

#include <errno.h>
#include <string.h>

#define EXACT_SEEN 8u /* a chain is made once its length has come this often */

static CUresult chain_set_word(struct cuda_lane_state *state, const struct cuda_chain *chain,
			       CUgraphNode node, CUdeviceptr address, uint32_t value)
{
	const CUDA_MEMSET_NODE_PARAMS word = cuda_chain_word(address, value);

	return state->lane->device->backend->library.cuGraphExecMemsetNodeSetParams(
		chain->executable, node, &word, state->lane->device->context);
}

/* What the last node writes. */
static CUresult chain_set_ending(struct cuda_lane_state *state, struct cuda_chain *chain,
				 CUdeviceptr address, uint32_t value)
{
	if (chain->ending == address && chain->ending_value == value)
		return CUDA_SUCCESS;
	chain->ending = 0; /* if it cannot be set, it is not known */
	CUresult result = chain_set_word(state, chain, chain->word, address, value);
	if (result == CUDA_SUCCESS) {
		chain->ending = address;
		chain->ending_value = value;
	}
	return result;
}

/* The new values are for later launches alone: a launch of the same chain that still runs keeps
 * its own. */
static CUresult chain_set_launches(struct cuda_lane_state *state, struct cuda_chain *chain,
				   const struct cuda_collected *launches, uint32_t count,
				   CUdeviceptr ending, uint32_t value)
{
	const struct cuda_library *cu = &state->lane->device->backend->library;
	const struct cuda_collected *last = &launches[count - 1];
	CUresult result = CUDA_SUCCESS;

	for (uint32_t i = 0; result == CUDA_SUCCESS && i < count; i++)
		result = cuda_chain_set_kernel(cu, chain, i, &launches[i]);
	if (result == CUDA_SUCCESS && last->direct)
		result = chain_set_word(state, chain, chain->direct, last->direct,
					last->direct_value);
	if (result == CUDA_SUCCESS)
		result = chain_set_ending(state, chain, ending, value);
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

	if (!chain->executable || !cuda_mark_is_free(state, chain, value))
		return -EAGAIN;
	CUresult result = cuda_chain_set_kernel(cu, chain, 0, launch);
	if (result == CUDA_SUCCESS) {
		cuda_mark_clear(chain);
		result = cu->cuGraphLaunch(chain->executable, state->lane->stream);
	}
	if (result == CUDA_SUCCESS)
		cuda_mark_sent(state, chain, value);
	return chain_result(device, result);
}

/* A template that is missing or broken is replaced by the plain one. An exact length gets the next
 * lower level. */
static enum cuda_chain_form choose_form(const struct cuda_lane_state *state,
					const struct cuda_collected *launches, uint32_t count)
{
	const struct backend_device *device = state->lane->device;

	if (launches[count - 1].direct != 0)
		return CUDA_CHAIN_DIRECT;
	if (!state->chains[CUDA_CHAIN_OVERLAPPED][cuda_chain_level(count)].executable ||
	    device->lanes->busy > device->backend->settings.overlap_lanes)
		return CUDA_CHAIN_PLAIN;
	for (uint32_t i = 1; i < count; i++) /* the first has none before it here */
		if (!launches[i].launch.waits)
			return CUDA_CHAIN_PLAIN;
	return CUDA_CHAIN_OVERLAPPED;
}

static bool is_exact(const struct cuda_exact *exact, enum cuda_chain_form form, uint32_t length)
{
	return exact->length == length && exact->form == form;
}

static uint32_t count_exact(const struct cuda_lane_state *state, enum cuda_chain_form form,
			    uint32_t length)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < CUDA_EXACT_MAX; i++)
		count += is_exact(&state->exact[i], form, length);
	return count;
}

/*
 * A send lacked a chain: of this length, or with these arguments. One that is lacked often is
 * requested. A lane has one request at a time, and a bounded number in all, for programs whose
 * lengths or arguments change all the time.
 */
static void chain_note_lack(struct cuda_lane_state *state, enum cuda_chain_form form,
			    uint32_t length)
{
	struct cuda_lanes *lanes = state->lane->device->lanes;
	uint8_t *seen = &state->seen[form][length - 1];

	if (state->wanted.length == length && state->wanted.form == form)
		lanes->exact_refused += lanes->exact_refused < UINT32_MAX;
	if (*seen < EXACT_SEEN && ++*seen < EXACT_SEEN)
		return;
	if (state->wanted.length > 0 || state->exact_makes == 0)
		return;
	state->exact_makes--;
	state->wanted = (struct cuda_wanted_exact){form, length};
	lanes->wanting_exact++;
	*seen = 0;
}

static bool may_have_exact(const struct cuda_lane_state *state)
{
	return state->lane->device->backend->settings.exact_chains && !state->awaits_chains &&
	       !cuda_lane_is_apart(state);
}

bool cuda_chain_is_there(const struct cuda_lane_state *state, const struct cuda_collected *launches,
			 uint32_t count)
{
	if ((count & (count - 1)) == 0)
		return true;
	if (!may_have_exact(state))
		return false;
	const enum cuda_chain_form form = choose_form(state, launches, count);
	for (uint32_t i = 0; i < CUDA_EXACT_MAX; i++)
		if (is_exact(&state->exact[i], form, count) && state->exact[i].chain.executable)
			return true;
	return false;
}

bool cuda_chain_has(struct cuda_lane_state *state, const struct cuda_collected *launches,
		    uint32_t count)
{
	if (cuda_chain_is_there(state, launches, count))
		return true;
	if (!may_have_exact(state))
		return false;
	const enum cuda_chain_form form = choose_form(state, launches, count);
	if (count_exact(state, form, count) == 0)
		chain_note_lack(state, form, count);
	return false;
}

/* A program's arguments often differ in one of the first two launches at most. */
static bool chain_has_arguments(const struct cuda_chain *chain,
				const struct cuda_collected *launches, uint32_t count)
{
	return cuda_chain_has_launch(chain, 0, &launches[0]) ||
	       (count > 1 && cuda_chain_has_launch(chain, 1, &launches[1]));
}

/* The level's chain, which is made if it is not there. NULL: the length is no level. */
static struct cuda_chain *find_level(struct cuda_lane_state *state, enum cuda_chain_form form,
				     uint32_t count)
{
	const uint32_t level = cuda_chain_level(count);
	struct cuda_chain *chain = &state->chains[form][level];

	if (count != 1u << level)
		return NULL;
	if (!chain->executable && !chain->is_broken && !state->awaits_chains)
		cuda_chain_make_level(state, level, form);
	return chain->executable ? chain : NULL;
}

static uint64_t chain_hash_word(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 32;
}

/* Two launches with one hash cost a chain that is of no use, and nothing else. */
static uint64_t chain_hash_launch(const struct cuda_collected *launch, uint64_t seed)
{
	const uint32_t bytes = launch->launch.parameter_bytes;
	uint64_t hash = chain_hash_word(seed, (uintptr_t)launch->launch.function);

	for (uint32_t at = 0; at < bytes; at += 8) {
		uint64_t word = 0;
		memcpy(&word, launch->values + at, bytes - at < 8 ? bytes - at : 8);
		hash = chain_hash_word(hash, word);
	}
	return hash;
}

/*
 * True if launches with these arguments came lately. Then a chain of their own would spare setting
 * them; arguments that are always new would not find one.
 */
static bool arguments_came_lately(struct cuda_lane_state *state, enum cuda_chain_form form,
				  const struct cuda_collected *launches, uint32_t count)
{
	bool came = false;

	for (uint32_t i = 0; i < 2 && i < count; i++) {
		const uint64_t hash =
			chain_hash_launch(&launches[i], (uint64_t)form << 32 | count << 1 | i);
		for (uint32_t j = 0; j < CUDA_RECENT_MAX; j++)
			came |= state->recent[j] == hash;
		state->recent[state->recent_next++ % CUDA_RECENT_MAX] = hash;
	}
	return came;
}

/* A chain that has the arguments of these launches, or else the one that was sent longest ago.
 * NULL: there is none of the length. */
static struct cuda_chain *find_chain(struct cuda_lane_state *state, enum cuda_chain_form form,
				     const struct cuda_collected *launches, uint32_t count)
{
	struct cuda_chain *oldest = find_level(state, form, count);

	if (count == 1 || (oldest && chain_has_arguments(oldest, launches, count)))
		return oldest;
	for (uint32_t i = 0; i < CUDA_EXACT_MAX; i++) {
		struct cuda_exact *exact = &state->exact[i];
		if (!is_exact(exact, form, count) || !exact->chain.executable)
			continue;
		if (chain_has_arguments(&exact->chain, launches, count))
			return &exact->chain;
		if (!oldest || exact->chain.used < oldest->used)
			oldest = &exact->chain;
	}
	if (may_have_exact(state) && arguments_came_lately(state, form, launches, count) &&
	    count_exact(state, form, count) < CUDA_SAME_MAX)
		chain_note_lack(state, form, count);
	return oldest;
}

int cuda_chain_send(struct cuda_lane_state *state, const struct cuda_collected *launches,
		    uint32_t count, uint32_t value)
{
	struct backend_device *device = state->lane->device;
	const struct cuda_library *cu = &device->backend->library;
	const enum cuda_chain_form form = choose_form(state, launches, count);
	struct cuda_chain *chain = find_chain(state, form, launches, count);

	if (!chain)
		return -EAGAIN;
	chain->used = ++state->chain_uses;
	const bool marks = cuda_mark_is_free(state, chain, value);
	CUresult result = chain_set_launches(state, chain, launches, count,
					     marks ? chain->mark_device : state->word_device,
					     marks ? 1 : value);
	if (marks)
		cuda_mark_clear(chain);
	if (result == CUDA_SUCCESS)
		result = cu->cuGraphLaunch(chain->executable, state->lane->stream);
	if (result == CUDA_SUCCESS && marks)
		cuda_mark_sent(state, chain, value);
	else if (result == CUDA_SUCCESS)
		state->word_value = value;
	return chain_result(device, result);
}
