#include "cuda/lane/series.h"

#include "cuda/lane/chain.h"
#include "cuda/lane/partition.h"
#include "cuda/lane/signal.h"

static bool series_may_collect(const struct cuda_send_context *context,
			       const struct cuda_series *series)
{
	const struct cuda_lane_state *state = context->state;
	const struct cuda_settings *settings = &context->device->backend->settings;

	return settings->graph_chains && state->collected && !context->command->timed &&
	       !state->awaits_chains && !cuda_lane_is_apart(state) && series->count > 0 &&
	       series->count <= settings->chain_length;
}

void cuda_series_fill(const struct cuda_send_context *context, struct cuda_series *series,
		      struct cuda_collected *first)
{
	struct cuda_collected *to = first;

	for (uint32_t i = 0; i < series->node_count; i++) {
		const struct cuda_collected *node = series->nodes[i];
		if (!node || series->is_skipped[i])
			continue;
		to->kernel = node->kernel;
		to->copy_ns = 0;
		to->launch = node->launch;
		to->values = node->values;
		to->series = series;
		to->stamp = node->stamp;
		to->direct = 0;
		to->ends_command = false;
		cuda_collected_own(to, context->command);
		to++;
	}
	to[-1].direct = context->direct;
	to[-1].direct_value = context->direct_value;
	to[-1].ends_command = true;
}

void cuda_series_push(struct cuda_send_context *context, struct cuda_series *series)
{
	struct cuda_lane_state *state = context->state;

	context->pending.series = series;
	context->pending.launches = series->count;
	context->pending.operations += series->count + 1;
	context->pending.value = state->issued + 1;
	cuda_send_push(context, false);
	state->collected_count += series->count;
	if (state->collected_count == context->device->backend->settings.chain_length)
		cuda_lane_send(state);
}

bool cuda_series_collect(struct cuda_send_context *context, struct cuda_series *series)
{
	struct cuda_lane_state *state = context->state;
	const uint32_t longest = context->device->backend->settings.chain_length;

	if (!series_may_collect(context, series))
		return false;
	cuda_signal_collect(state, context->command, false);
	if (state->collected_count + series->count > longest)
		cuda_lane_send(state);
	struct cuda_collected *first = &state->collected[state->collected_count];
	cuda_series_fill(context, series, first);
	/* All of them are sent in one piece, whatever else is collected. */
	if (!cuda_chain_has(state, first, series->count))
		return false;
	cuda_series_push(context, series);
	return true;
}
