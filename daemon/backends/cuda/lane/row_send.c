/* Rows of launches: prepared and sent. */
#include "cuda/lane/chain.h"
#include "cuda/lane/partition.h"
#include "cuda/lane/row.h"
#include "cuda/lane/signal.h"

#include <errno.h>

/* A launch that a lane would send alone is in no row, and memory that is new is zeroed first. */
static bool launch_fits_row(const struct cuda_launch *launch, const struct backend_command *command)
{
	if (launch->grid[0] == 0 || launch->cooperative || launch->cluster[0] != 0 ||
	    launch->window.size_bytes > 0 || launch->check || launch->early)
		return false;
	for (uint32_t i = 0; i < command->launch.argument_count; i++) {
		const struct backend_argument *argument = &command->launch.arguments[i];
		if (argument->kind == BACKEND_ARGUMENT_IMAGE ||
		    argument->kind == BACKEND_ARGUMENT_SAMPLER ||
		    (argument->kind == BACKEND_ARGUMENT_GLOBAL &&
		     !cuda_memory_is_settled(argument->global.memory)))
			return false;
	}
	return true;
}

/* The row has a time as soon as each of its kernels has one. */
static bool row_add_pace(struct backend_row *row, struct backend_kernel *kernel,
			 const struct cuda_launch *launch)
{
	const struct cuda_pace *pace = cuda_kernel_pace(kernel);

	if (pace->period_ns == 0 || cuda_pace_is_open(pace, cuda_launch_items(launch)))
		return false;
	row->series.pace.period_ns += pace->period_ns;
	row->series.pace.items = 1;
	return true;
}

/* A small read, behind the launches. */
static int row_set_read(struct backend_row *row, uint32_t index,
			const struct backend_command *command)
{
	struct cuda_collected *node = row->series.nodes[index];
	struct backend_fault fault; /* the read is submitted alone, and reports it then */

	if (index + 1 != row->series.count || cuda_enter(row->device, &fault) < 0 ||
	    !cuda_copy_prepare_read(row->device, command, node))
		return -EAGAIN;
	node->values = node->storage;
	node->stamp = ++row->device->lanes->stamps;
	row->series.pace.period_ns += node->copy_ns;
	row->set |= 1u << index;
	return 0;
}

int cuda_row_set(struct backend_row *row, uint32_t index, const struct backend_command *command)
{
	struct cuda_collected *node = row->series.nodes[index];
	struct backend_fault fault; /* the launch is submitted alone, and reports it then */
	const bool is_first = (row->set >> index & 1) == 0;

	if (command->kind == BACKEND_COMMAND_READ)
		return is_first ? row_set_read(row, index, command) : -EAGAIN;
	int error = cuda_kernel_prepare(command->launch.kernel, command, node->storage,
					sizeof(node->storage), node->parameters,
					CUDA_CHAIN_PARAMETERS, &node->launch, &fault);
	if (error < 0 || !launch_fits_row(&node->launch, command))
		return -EAGAIN;
	node->values = node->storage;
	node->stamp = ++row->device->lanes->stamps;
	if (!is_first)
		return 0;
	if (!row_add_pace(row, command->launch.kernel, &node->launch))
		return -EAGAIN;
	node->kernel = command->launch.kernel;
	cuda_kernel_hold(node->kernel);
	row->set |= 1u << index;
	return 0;
}

int cuda_row_submit(struct backend_lane *lane, struct backend_row *row,
		    const struct backend_command *last, uint64_t sequence,
		    struct backend_fault *fault_out)
{
	struct cuda_lane_state *state = lane->state;
	struct cuda_series *series = &row->series;
	const uint32_t longest = lane->device->backend->settings.chain_length;
	struct cuda_send_context context = {
		.device = lane->device,
		.state = state,
		.command = last,
		.pending = {.sequence = sequence},
	};

	if (!state->collected || state->awaits_chains || cuda_lane_is_apart(state) ||
	    series->count > longest || cuda_lost(lane->device) || cuda_pending_reserve(state) < 0 ||
	    cuda_enter(lane->device, fault_out) < 0)
		return -EAGAIN;
	cuda_signal_collect(state, last, false);
	if (state->collected_count + series->count > longest)
		cuda_lane_send(state);
	struct cuda_collected *first = &state->collected[state->collected_count];
	cuda_series_fill(&context, series, first);
	/* All of it is sent in one piece, whatever else is collected. */
	if (cuda_lost(lane->device) || !cuda_chain_has(state, first, series->count))
		return -EAGAIN;
	row->references++;
	context.pending.row = row;
	cuda_series_push(&context, series);
	return 0;
}
