#include "cuda/lane/signal.h"

#include "cuda/lane/partition.h"

#include <string.h>

#define SIGNAL_NS 1500u /* estimated time of the kernel */

void cuda_signals_begin(struct cuda_lane_state *state)
{
	const struct cuda_lanes *lanes = state->lane->device->lanes;
	const size_t offset =
		CUDA_WORDS_BYTES - CUDA_SIGNALS_BYTES + state->word * sizeof(*state->signals_host);

	state->signals_host = (_Atomic uint32_t *)(void *)(lanes->words_host + offset);
	state->signals_device = lanes->words_device + offset;
	state->signals_sent = state->signals_seen =
		atomic_load_explicit(state->signals_host, memory_order_relaxed);
}

uint32_t cuda_signals_read(struct cuda_lane_state *state, uint32_t reached)
{
	const uint32_t count = atomic_load_explicit(state->signals_host, memory_order_acquire);

	if (count == state->signals_seen)
		return reached;
	if (count - state->signals_seen > state->signals_sent - state->signals_seen)
		return state->sent + 1; /* a kernel wrote into memory of the service */
	state->signals_seen = count;
	const uint32_t value = state->signal_values[(count - 1) % CUDA_SIGNALS_MAX];
	return cuda_has_reached(value, reached) ? value : reached;
}

void cuda_signal_sent(struct cuda_lane_state *state, uint32_t value)
{
	state->signal_values[state->signals_sent++ % CUDA_SIGNALS_MAX] = value;
}

/* Must the end of `last` be reported before those behind it have ended? */
static bool signal_is_needed(const struct cuda_lane_state *state, const struct cuda_collected *last,
			     const struct backend_command *command)
{
	switch (state->lane->device->backend->settings.chain_signals) {
	case CUDA_SIGNALS_ALL:
		return true;
	case CUDA_SIGNALS_EVENTS:
		return last->is_awaited ||
		       (last->owner && command->owner && last->owner != command->owner);
	default:
		return false;
	}
}

/* The signal, a launch behind it, and its value have room. */
static bool signal_has_room(const struct cuda_lane_state *state)
{
	const struct backend_device *device = state->lane->device;

	return device->lanes->signal && !state->awaits_chains && !cuda_lane_is_apart(state) &&
	       state->collected_count + 2 <= device->backend->settings.chain_length &&
	       state->signals_sent - state->signals_seen + state->collected_count <
		       CUDA_SIGNALS_MAX;
}

static void signal_prepare(const struct cuda_lane_state *state, struct cuda_collected *signal)
{
	const struct cuda_lanes *lanes = state->lane->device->lanes;
	const uint64_t word = state->signals_device;

	memcpy(signal->storage, &word, sizeof(word));
	memcpy(signal->storage + sizeof(word), &state->word, sizeof(state->word));
	signal->parameters[0] = signal->storage;
	signal->parameters[1] = signal->storage + sizeof(word);
	signal->values = signal->storage;
	signal->launch = (struct cuda_launch){
		.function = lanes->signal,
		.grid = {1, 1, 1},
		.block = {1, 1, 1},
		.parameters = signal->parameters,
		.parameter_count = 2,
		.parameter_bytes = sizeof(word) + sizeof(state->word),
		.waits = lanes->copy_waits,
	};
	signal->kernel = NULL;
	signal->copy_ns = SIGNAL_NS;
	signal->series = NULL;
	signal->stamp = 0;
	signal->direct = 0;
	signal->ends_command = false;
	signal->is_awaited = signal->is_apart = false;
	signal->is_signal = true;
	signal->owner = 0;
}

void cuda_signal_collect(struct cuda_lane_state *state, const struct backend_command *command,
			 bool is_early)
{
	if (state->collected_count == 0 || is_early)
		return;
	struct cuda_collected *last = &state->collected[state->collected_count - 1];
	/* A refused launch may have left a signal. A direct completion ends the chain anyway. */
	if (last->is_signal || last->direct || !signal_is_needed(state, last, command))
		return;
	last->is_apart = true;
	if (signal_has_room(state))
		signal_prepare(state, &state->collected[state->collected_count++]);
}
