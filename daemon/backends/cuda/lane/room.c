#include "cuda/lane/room.h"

#include "cuda/driver/rect.h"
#include "cuda/lane/check.h"
#include "cuda/lane/partition.h"
#include "cuda/memory/peer.h"

#define SHORT_PATTERN_BYTES   4u
#define WHOLE_OPERATIONS      4u /* operations around a launch that runs on the whole device */
#define DOUBLINGS_MOST        40u
#define GRAPH_OPERATIONS_MOST 128u /* bounded, so that several graphs of any size are in flight */

/* ---------------------------------- counted operations ---------------------------------- */

/* Counts the driver's memsets and copies, for a fill without the backend's own kernel. */
static uint32_t fill_operations(size_t pattern_bytes)
{
	return pattern_bytes <= SHORT_PATTERN_BYTES ? SHORT_PATTERN_BYTES
						    : (uint32_t)pattern_bytes + DOUBLINGS_MOST;
}

static uint32_t rect_operations(const struct backend_rect *rect)
{
	const bool is_by_rows = rect && (rect->source_row_pitch > CUDA_PITCH_BYTES_MAX ||
					 rect->destination_row_pitch > CUDA_PITCH_BYTES_MAX);
	const uint64_t rows = is_by_rows ? rect->rows * rect->slices : 1;

	return rows < UINT16_MAX ? (uint32_t)rows : UINT16_MAX;
}

uint32_t cuda_room_operations(const struct cuda_lane_state *state,
			      const struct backend_command *command,
			      const struct cuda_finish *finish)
{
	if (finish)
		return 2 * cuda_finish_pieces(finish) + 2;
	switch (command->kind) {
	case BACKEND_COMMAND_LAUNCH:
		return 1 + (cuda_lane_is_apart(state) ? WHOLE_OPERATIONS : 0);
	case BACKEND_COMMAND_WRITE:
	case BACKEND_COMMAND_READ:
		return rect_operations(command->transfer.rect);
	case BACKEND_COMMAND_COPY:
		return rect_operations(command->copy.rect);
	case BACKEND_COMMAND_COPY_PEER:
		return cuda_peer_operations(state->lane->device, command);
	case BACKEND_COMMAND_FILL:
		return fill_operations(command->fill.pattern_bytes);
	case BACKEND_COMMAND_USM_FILL:
		return fill_operations(command->usm.pattern_bytes);
	case BACKEND_COMMAND_GRAPH: {
		const uint32_t nodes = state->lane->device->lanes->count_nodes(command->graph);
		return nodes < GRAPH_OPERATIONS_MOST ? nodes + 1 : GRAPH_OPERATIONS_MOST;
	}
	default:
		return 1;
	}
}

void cuda_room_add(struct cuda_lane_state *state, uint32_t operations)
{
	if (state->head == state->sent_end)
		return;
	cuda_pending_at(state, state->sent_end - 1)->operations += operations;
	state->operations += operations;
}

/* A wait for a lane includes all work that was sent to the lane (enqueue_wait), even if the awaited
 * command precedes the transfer. A wait for a command that was reported has no effect. */
static bool has_rest_before(const struct backend_wait *wait)
{
	const struct cuda_lane_state *state = wait->lane->state;

	return state->rest.is_open &&
	       wait->sequence >= cuda_pending_at(state, state->head)->sequence;
}

bool cuda_has_room(struct backend_lane *lane, const struct backend_wait *waits, uint32_t wait_count)
{
	const struct cuda_lane_state *state = lane->state;
	const uint32_t most = lane->device->backend->settings.lane_operations;

	if (cuda_check_is_full(lane->device) && backend_lane_computes(lane->kind))
		return false;
	if (most == 0)
		return true;
	if (state->rest.is_open || (state->operations >= most && state->head != state->tail) ||
	    state->host_functions >= CUDA_HOST_FUNCTIONS_MOST)
		return false;
	for (uint32_t i = 0; i < wait_count; i++)
		if (has_rest_before(&waits[i]))
			return false;
	return true;
}

/* -------------------------------- the rest of a transfer -------------------------------- */

void cuda_write_completions(struct cuda_lane_state *state, struct cuda_pending *pending,
			    CUdeviceptr direct, uint32_t direct_value)
{
	struct backend_device *device = state->lane->device;
	const struct cuda_library *cu = &device->backend->library;

	if (pending->end && cu->cuEventRecord(pending->end, state->lane->stream) != CUDA_SUCCESS) {
		cuda_event_give(device, true, pending->end);
		pending->end = NULL; /* the command's times are estimated then */
	}
	if (!direct)
		return;
	CUresult result = cu->cuStreamWriteValue32(state->lane->stream, direct, direct_value, 0);
	if (result != CUDA_SUCCESS)
		cuda_pending_fail(state, pending, result, "the completion was not written");
}

void cuda_rest_begin(struct cuda_lane_state *state, CUdeviceptr direct, uint32_t direct_value)
{
	state->rest =
		(struct cuda_rest){.is_open = true, .direct = direct, .direct_value = direct_value};
}

static void send_rest(struct cuda_lane_state *state, bool all)
{
	struct cuda_pending *pending = cuda_pending_at(state, state->sent_end - 1);
	struct cuda_rest rest = state->rest;

	CUresult result = cuda_finish_send(state->lane, pending->finish, all);
	if (result == CUDA_SUCCESS && !cuda_finish_is_sent(pending->finish))
		return;
	state->rest.is_open = false;
	if (result != CUDA_SUCCESS) {
		cuda_pending_fail(state, pending, result, "a part of a copy was not sent");
		rest.direct = 0; /* written only for commands that have succeeded */
	}
	cuda_write_completions(state, pending, rest.direct, rest.direct_value);
	cuda_lane_write_word(state);
}

void cuda_rest_step(struct cuda_lane_state *state)
{
	if (state->rest.is_open)
		send_rest(state, false);
}

void cuda_rest_finish(struct cuda_lane_state *state)
{
	if (state->rest.is_open)
		send_rest(state, true);
}
