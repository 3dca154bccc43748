/*
 * Makes a command wait for commands of other lanes: its stream waits for an event on their streams.
 */
#include "cuda/clock/device_clock.h"
#include "cuda/lane/room.h"
#include "cuda/lane/send_context.h"

#include "status.h"

#include <errno.h>

/* The value that the lane's word has once the command with this sequence is complete. False: the
 * command has been reported as complete already. */
static bool lane_find_word_value(const struct cuda_lane_state *state, uint64_t sequence,
				 uint32_t *value_out)
{
	size_t low = state->head, high = state->tail;

	/* Binary search for the first pending command whose sequence is not lower. */
	while (low != high) {
		size_t middle = low + (high - low) / 2;
		if (cuda_pending_at(state, middle)->sequence < sequence)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == state->tail ||
	    (low == state->head && cuda_pending_at(state, low)->sequence > sequence))
		return false;
	*value_out = cuda_pending_at(state, low)->value;
	return true;
}

static void pending_note_wait(struct cuda_pending *pending, const struct cuda_lane_state *other,
			      uint32_t value)
{
	if (pending->wait_count < CUDA_NOTED_WAITS)
		pending->waits[pending->wait_count] = (struct cuda_noted_wait){other->word, value};
	if (pending->wait_count < UINT8_MAX)
		pending->wait_count++;
}

/* Records an event at the end of the lane's stream. The event may be recorded again at once,
 * because a wait keeps the record that it was made for. */
static int record_tail(struct cuda_lane_state *state, struct backend_fault *fault_out)
{
	struct backend_device *device = state->lane->device;
	const struct cuda_library *cu = &device->backend->library;

	if (state->has_tail_event && state->tail_event_value == state->sent)
		return 0;
	if (!state->tail_event) {
		int error = cuda_event_take(device, false, &state->tail_event, fault_out);
		if (error < 0)
			return error;
	}
	CUresult result = cu->cuEventRecord(state->tail_event, state->lane->stream);
	if (result != CUDA_SUCCESS)
		return cuda_fault(device, cu, result, fault_out, "cannot record an event");
	cuda_room_add(state, 1);
	state->has_tail_event = true;
	state->tail_event_value = state->sent;
	return 0;
}

int cuda_send_wait(struct cuda_send_context *context, const struct backend_wait *wait,
		   struct backend_fault *fault_out)
{
	struct cuda_lane_state *state = context->state, *other = wait->lane->state;
	struct backend_device *device = context->device;
	const struct cuda_library *cu = &device->backend->library;
	uint32_t value = 0;

	if (wait->sequence > other->last_sequence)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
					"a command waits for one that was not submitted yet");
	/* Commands of one lane run in order. */
	if (other == state || !lane_find_word_value(other, wait->sequence, &value) ||
	    cuda_has_reached(cuda_word_read(other), value))
		return 0;
	cuda_lane_send(other);
	int error = record_tail(other, fault_out);
	if (error < 0)
		return error;
	/* Launches that were collected before must not wait for the event, too. */
	cuda_lane_send(state);
	CUresult result = cu->cuStreamWaitEvent(state->lane->stream, other->tail_event,
						CU_EVENT_WAIT_DEFAULT);
	if (result != CUDA_SUCCESS)
		return cuda_fault(device, cu, result, fault_out, "cannot wait for another lane");
	pending_note_wait(&context->pending, other, value);
	context->pending.operations++;
	return 0;
}
