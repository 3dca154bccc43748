/*
 * Commands go to the driver. Plain launches of a lane are collected and sent as chains, by flush()
 * or when the longest chain is full; anything else first sends what was collected and then goes by
 * itself. No call here waits for the device.
 */
#include "cuda/clock/device_clock.h"
#include "cuda/memory/array.h"
#include "cuda/graph/graph.h"
#include "cuda/lane/lane.h"
#include "cuda/lane/native_command.h"
#include "cuda/program/pace.h"

#include "clock.h"
#include "status.h"

#include <errno.h>

/* What one submit() works on. */
struct submission {
	struct backend_device *device;
	struct cuda_lane_state *state;
	const struct backend_command *command;
	struct cuda_flight flight; /* what it holds is ended on failure */
	CUdeviceptr direct;
	uint32_t direct_value;
};

/* ---------------------------------------- waits ----------------------------------------- */

/* The value that shows that the lane has reached a sequence; false: it was told long ago. */
static bool find_value(const struct cuda_lane_state *state, uint64_t sequence, uint32_t *value_out)
{
	size_t low = state->head, high = state->tail;

	/* The first one at or after it. */
	while (low != high) {
		size_t middle = low + (high - low) / 2;
		if (cuda_flight_at(state, middle)->sequence < sequence)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == state->tail ||
	    (low == state->head && cuda_flight_at(state, low)->sequence > sequence))
		return false;
	*value_out = cuda_flight_at(state, low)->value;
	return true;
}

static void note_wait(struct cuda_flight *flight, const struct cuda_lane_state *other,
		      uint32_t value)
{
	if (flight->wait_count < CUDA_NOTED_WAITS)
		flight->waits[flight->wait_count] = (struct cuda_noted_wait){other->word, value};
	if (flight->wait_count < UINT8_MAX)
		flight->wait_count++;
}

/* An event at the end of the lane's stream. It may be recorded again at once: a wait keeps what it
 * was made for. */
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
	state->has_tail_event = true;
	state->tail_event_value = state->sent;
	return 0;
}

static int enqueue_wait(struct submission *submission, const struct backend_wait *wait,
			struct backend_fault *fault_out)
{
	struct cuda_lane_state *state = submission->state, *other = wait->lane->state;
	struct backend_device *device = submission->device;
	const struct cuda_library *cu = &device->backend->library;
	uint32_t value = 0;

	if (wait->sequence > other->last_sequence)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
					"a command waits for one that was not submitted yet");
	/* A lane is in order with itself. */
	if (other == state || !find_value(other, wait->sequence, &value) ||
	    cuda_has_reached(cuda_word_read(other), value))
		return 0;
	cuda_lane_send(other);
	int error = record_tail(other, fault_out);
	if (error < 0)
		return error;
	/* What was collected before must not wait with it. */
	cuda_lane_send(state);
	CUresult result = cu->cuStreamWaitEvent(state->lane->stream, other->tail_event,
						CU_EVENT_WAIT_DEFAULT);
	if (result != CUDA_SUCCESS)
		return cuda_fault(device, cu, result, fault_out, "cannot wait for another lane");
	note_wait(&submission->flight, other, value);
	return 0;
}

/* --------------------------------------- commands --------------------------------------- */

static void push_pending(struct submission *submission, bool is_sent)
{
	struct cuda_lane_state *state = submission->state;
	struct cuda_lanes *lanes = submission->device->lanes;

	/* What is collected gets its time when it is sent. */
	if (is_sent && submission->flight.submit_ns == 0)
		submission->flight.submit_ns = clock_now_ns();
	*cuda_flight_at(state, state->tail) = submission->flight;
	state->tail++;
	state->last_sequence = submission->flight.sequence;
	state->issued = submission->flight.value;
	lanes->in_flight++;
	if (is_sent) {
		state->sent_end = state->tail;
		state->sent = submission->flight.value;
		return;
	}
	if (state->is_unsent)
		return;
	state->is_unsent = true;
	state->next_unsent = lanes->unsent;
	lanes->unsent = state;
}

/*
 * A command that goes by itself is on the stream: have its completions written, but for the lane's
 * word if the command does that itself. From here on nothing can be taken back, so nothing fails.
 */
static void finish_send_of(struct submission *submission, bool writes_word)
{
	struct cuda_lane_state *state = submission->state;
	struct backend_device *device = submission->device;
	const struct cuda_library *cu = &device->backend->library;
	struct cuda_flight *flight = &submission->flight;

	if (flight->end && cu->cuEventRecord(flight->end, state->lane->stream) != CUDA_SUCCESS) {
		cuda_event_give(device, true, flight->end);
		flight->end = NULL; /* its times are estimated then */
	}
	if (submission->direct) {
		CUresult result = cu->cuStreamWriteValue32(state->lane->stream, submission->direct,
							   submission->direct_value, 0);
		if (result != CUDA_SUCCESS)
			cuda_flight_fail(state, flight, result, "the completion was not written");
	}
	flight->value = state->issued + 1;
	flight->is_send_start = true;
	push_pending(submission, true);
	if (writes_word)
		state->written = state->sent;
	else
		cuda_lane_write_word(state);
}

static void finish_send(struct submission *submission)
{
	finish_send_of(submission, false);
}

/* Brackets of a timed command. */
static int start_timing(struct submission *submission, struct backend_fault *fault_out)
{
	struct backend_device *device = submission->device;
	const struct cuda_library *cu = &device->backend->library;

	if (!submission->command->timed)
		return 0;
	int error = cuda_clock_prepare(device, fault_out);
	if (error == 0)
		error = cuda_event_take(device, true, &submission->flight.start, fault_out);
	if (error == 0)
		error = cuda_event_take(device, true, &submission->flight.end, fault_out);
	if (error < 0)
		return error;
	CUresult result =
		cu->cuEventRecord(submission->flight.start, submission->state->lane->stream);
	if (result != CUDA_SUCCESS)
		return cuda_fault(device, cu, result, fault_out, "cannot record an event");
	return 0;
}

static int send_launch(struct submission *submission, const struct cuda_launch *launch,
		       struct backend_fault *fault_out)
{
	struct backend_device *device = submission->device;

	cuda_lane_send(submission->state); /* so it does not begin early: a word is between */
	int error = start_timing(submission, fault_out);
	if (error < 0)
		return error;
	CUresult result = cuda_lane_launch(submission->state, launch);
	if (result != CUDA_SUCCESS)
		return cuda_fault(device, &device->backend->library, result, fault_out,
				  "the kernel was not launched");
	submission->flight.kernel = submission->command->launch.kernel;
	submission->flight.items = cuda_launch_items(launch);
	cuda_kernel_hold(submission->flight.kernel);
	finish_send(submission);
	return 0;
}

/* A launch that may wait for others to make a chain with. */
static void collect_launch(struct submission *submission, struct cuda_collected *collected)
{
	struct cuda_lane_state *state = submission->state;

	collected->kernel = submission->command->launch.kernel;
	collected->direct = submission->direct;
	collected->direct_value = submission->direct_value;
	collected->ends_flight = true;
	submission->flight.kernel = submission->command->launch.kernel;
	submission->flight.items = cuda_launch_items(&collected->launch);
	cuda_kernel_hold(submission->flight.kernel);
	submission->flight.value = state->issued + 1;
	push_pending(submission, false);
	if (++state->collected_count == submission->device->backend->settings.chain_length)
		cuda_lane_send(state);
}

/* Exported memory is zeroed before anybody uses it; nearly always that is long over. */
static int settle_arguments(struct submission *submission, struct backend_fault *fault_out)
{
	const struct backend_command *command = submission->command;
	int error = 0;

	for (uint32_t i = 0; error == 0 && i < command->launch.argument_count; i++)
		if (command->launch.arguments[i].kind == BACKEND_ARGUMENT_GLOBAL)
			error = cuda_memory_settle(submission->state->lane,
						   command->launch.arguments[i].global.memory,
						   fault_out);
		else if (command->launch.arguments[i].kind == BACKEND_ARGUMENT_IMAGE)
			error = cuda_texture_settle(submission->state->lane,
						    &command->launch.arguments[i], fault_out);
	return error;
}

static int submit_nop(struct submission *submission, struct backend_fault *fault_out);

/*
 * May the launch that is to be collected begin before the one before it is over? That must be sent
 * with it, with nothing between, and be the one that was meant: lanes are shared. A burst travels
 * in one piece.
 */
static bool may_begin_early(const struct cuda_lane_state *state,
			    const struct backend_launch_properties *properties)
{
	const uint32_t count = state->collected_count;

	return count > 0 && !state->collected[count - 1].direct &&
	       properties->early_after == state->last_sequence &&
	       (count == 1 || state->collected[count - 2].ends_flight);
}

/* The part of a launch that it is may have no work-groups. */
static bool is_nothing(const struct cuda_launch *launch)
{
	return launch->grid[0] == 0;
}

static int submit_launch(struct submission *submission, struct backend_fault *fault_out)
{
	struct cuda_lane_state *state = submission->state;
	struct cuda_lanes *lanes = submission->device->lanes;
	const struct backend_command *command = submission->command;
	int error = -ENOSPC;

	if (!backend_lane_computes(state->lane->kind))
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
					"a lane for copies launches no kernel");
	int settled = settle_arguments(submission, fault_out);
	if (settled < 0)
		return settled;
	if (state->collected && !command->timed) {
		struct cuda_collected *collected = &state->collected[state->collected_count];
		error = cuda_kernel_prepare(command->launch.kernel, command, collected->storage,
					    sizeof(collected->storage), collected->parameters,
					    CUDA_CHAIN_PARAMETERS, &collected->launch, fault_out);
		if (error == 0 && is_nothing(&collected->launch))
			return submit_nop(submission, fault_out);
		if (error == 0 && collected->launch.early)
			collected->launch.early =
				may_begin_early(state, command->launch.properties);
		if (error == 0 && !collected->launch.cooperative &&
		    collected->launch.cluster[0] == 0 && collected->launch.window.size_bytes == 0) {
			collect_launch(submission, collected);
			return 0;
		}
	}
	struct cuda_launch launch = {.grid = {0}};
	if (error == 0 || error == -ENOSPC)
		error = cuda_kernel_prepare(command->launch.kernel, command, lanes->large_storage,
					    CUDA_PARAMETER_BYTES_MAX, lanes->large_parameters,
					    CUDA_PARAMETERS_MAX, &launch, fault_out);
	if (error < 0)
		return error;
	launch.early = false;
	return is_nothing(&launch) ? submit_nop(submission, fault_out)
				   : send_launch(submission, &launch, fault_out);
}

/* Nothing is to be done: it is complete when the command before it is, unless something must be
 * written or waited for. */
static int submit_nop(struct submission *submission, struct backend_fault *fault_out)
{
	struct cuda_lane_state *state = submission->state;

	cuda_lane_send(state);
	if (submission->flight.wait_count == 0 && !submission->direct &&
	    !submission->command->timed) {
		submission->flight.value = state->issued;
		push_pending(submission, true);
		return 0;
	}
	int error = start_timing(submission, fault_out);
	if (error == 0)
		finish_send(submission);
	return error;
}

static int submit_other(struct submission *submission, struct backend_fault *fault_out)
{
	struct backend_lane *lane = submission->state->lane;
	const enum backend_command_kind kind = submission->command->kind;

	cuda_lane_send(submission->state);
	int error = start_timing(submission, fault_out);
	if (error < 0)
		return error;
	if (kind == BACKEND_COMMAND_EVENT_RECORD || kind == BACKEND_COMMAND_EVENT_WAIT)
		error = cuda_event_enqueue(lane, submission->command, fault_out);
	else
		error = cuda_transfer_enqueue(lane, submission->command, &submission->flight.finish,
					      fault_out);
	if (error == 0)
		finish_send(submission);
	return error;
}

/* From the call on nothing can be taken back: what the function has sent is waited for, whatever
 * became of it. */
static int submit_native(struct submission *submission, struct backend_fault *fault_out)
{
	struct cuda_lane_state *state = submission->state;
	struct cuda_native_memories memories = {.count = 0};
	struct backend_fault fault = {.status = STATUS_SUCCESS};

	if (!backend_lane_computes(state->lane->kind))
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
					"a lane for copies takes no native command");
	cuda_lane_send(state);
	int error = cuda_native_memories(state->lane, submission->command, &memories, fault_out);
	if (error == 0)
		error = start_timing(submission, fault_out);
	if (error == 0 &&
	    cuda_native_call(state->lane, submission->command, &memories, &fault) < 0) {
		cuda_flight_keep(state, &submission->flight, &fault);
		submission->direct = 0; /* written of what has succeeded alone */
	}
	cuda_native_memories_free(&memories);
	if (error == 0)
		finish_send(submission);
	return error;
}

/* The graph writes the lane's word at its end, but what a direct completion must come before: then
 * it only repeats it. */
static int submit_graph(struct submission *submission, struct backend_fault *fault_out)
{
	struct cuda_lane_state *state = submission->state;
	const bool writes_word = submission->direct == 0;

	cuda_lane_send(state);
	int error = start_timing(submission, fault_out);
	if (error == 0)
		error = cuda_graph_launch(state, submission->command->graph,
					  writes_word ? state->issued + 1 : state->issued,
					  fault_out);
	if (error == 0)
		finish_send_of(submission, writes_word);
	return error;
}

static int submit_kind(struct submission *submission, struct backend_fault *fault_out)
{
	switch (submission->command->kind) {
	case BACKEND_COMMAND_NOP:
		return submit_nop(submission, fault_out);
	case BACKEND_COMMAND_LAUNCH:
		return submit_launch(submission, fault_out);
	case BACKEND_COMMAND_COPY:
	case BACKEND_COMMAND_WRITE:
	case BACKEND_COMMAND_READ:
	case BACKEND_COMMAND_FILL:
	case BACKEND_COMMAND_COPY_PEER:
	case BACKEND_COMMAND_USM_COPY:
	case BACKEND_COMMAND_USM_FILL:
	case BACKEND_COMMAND_USM_PREFETCH:
	case BACKEND_COMMAND_USM_ADVISE:
	case BACKEND_COMMAND_EVENT_RECORD:
	case BACKEND_COMMAND_EVENT_WAIT:
		return submit_other(submission, fault_out);
	case BACKEND_COMMAND_NATIVE:
		return submit_native(submission, fault_out);
	case BACKEND_COMMAND_GRAPH:
		return submit_graph(submission, fault_out);
	case BACKEND_COMMAND_CONDITION:
		break;
	}
	return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID, "CUDA has no command %d",
				(int)submission->command->kind);
}

static int check_completion(struct submission *submission,
			    const struct backend_direct_completion *completion,
			    struct backend_fault *fault_out)
{
	if (!completion)
		return 0;
	if (completion->offset_bytes % 4 != 0 || completion->host->size_bytes < 4 ||
	    completion->offset_bytes > completion->host->size_bytes - 4)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
					"a completion lies outside of its memory");
	submission->direct = completion->host->address + completion->offset_bytes;
	submission->direct_value = completion->value;
	return 0;
}

/* What a command that was not sent had taken. */
static void undo_command(struct submission *submission)
{
	struct cuda_flight *flight = &submission->flight;

	if (flight->start)
		cuda_event_give(submission->device, true, flight->start);
	if (flight->end)
		cuda_event_give(submission->device, true, flight->end);
	flight->start = flight->end = NULL;
}

static int send_command(struct submission *submission, const struct backend_wait *waits,
			uint32_t wait_count, const struct backend_direct_completion *completion,
			struct backend_fault *fault_out)
{
	const struct backend_fault *lost = cuda_lost(submission->device);

	if (lost) {
		*fault_out = *lost;
		return -EIO;
	}
	int error = cuda_enter(submission->device, fault_out);
	if (error == 0)
		error = check_completion(submission, completion, fault_out);
	for (uint32_t i = 0; error == 0 && i < wait_count; i++)
		error = enqueue_wait(submission, &waits[i], fault_out);
	if (error == 0)
		error = submit_kind(submission, fault_out);
	if (error < 0)
		undo_command(submission);
	return error;
}

int cuda_submit(struct backend_lane *lane, const struct backend_command *command,
		const struct backend_wait *waits, uint32_t wait_count, uint64_t sequence,
		const struct backend_direct_completion *completion, struct backend_fault *fault_out)
{
	struct submission submission = {
		.device = lane->device,
		.state = lane->state,
		.command = command,
		.flight = {.sequence = sequence},
	};

	/* A plain launch begins when it is sent, and whoever waits for it need not wait for the
	 * clock. */
	if (command->timed || command->kind != BACKEND_COMMAND_LAUNCH)
		submission.flight.submit_ns = clock_now_ns();
	if (cuda_flight_reserve(lane->state) < 0)
		return cuda_fault_words(fault_out, -ENOMEM, STATUS_MEMORY_ALLOCATION,
					"no memory for a command");
	int error = send_command(&submission, waits, wait_count, completion, fault_out);
	if (error == 0 || !cuda_lost(lane->device) || lane->device->lanes->in_flight == 0)
		return error;
	/*
	 * The device was lost by something in flight, and this call is only where it shows. Taken
	 * as if all were well, so that progress() tells who may have done it before anybody acts on
	 * the failure.
	 */
	submission.flight.value = lane->state->issued + 1;
	push_pending(&submission, false);
	return 0;
}

/* The launches behind the first, which is prepared. */
static void collect_more(struct submission *submission, uint32_t count, uint32_t value_stride_bytes)
{
	struct cuda_lane_state *state = submission->state;
	struct cuda_collected *first = &state->collected[state->collected_count];

	first->kernel = submission->command->launch.kernel;
	first->direct = 0;
	first->ends_flight = false;
	for (uint32_t i = 1; i < count; i++) {
		struct cuda_collected *next = first + i;
		next->kernel = first->kernel;
		next->direct = 0;
		next->ends_flight = i == count - 1;
		next->launch = first->launch;
		next->launch.parameters = next->parameters;
		cuda_kernel_repeat(first->kernel, submission->command,
				   (size_t)i * value_stride_bytes, first->storage,
				   first->parameters, next->storage, next->parameters);
	}
	submission->flight.kernel = first->kernel;
	submission->flight.items = cuda_launch_items(&first->launch);
	submission->flight.launches = count;
	cuda_kernel_hold(first->kernel);
	submission->flight.value = state->issued + 1;
	push_pending(submission, false);
	state->collected_count += count;
	if (state->collected_count == submission->device->backend->settings.chain_length)
		cuda_lane_send(state);
}

int cuda_submit_burst(struct backend_lane *lane, const struct backend_command *command,
		      uint32_t count, uint32_t value_stride_bytes, const struct backend_wait *waits,
		      uint32_t wait_count, uint64_t sequence, struct backend_fault *fault_out)
{
	struct cuda_lane_state *state = lane->state;
	const uint32_t longest = lane->device->backend->settings.chain_length;
	struct submission submission = {
		.device = lane->device,
		.state = state,
		.command = command,
		.flight = {.sequence = sequence},
	};

	/* A device that is lost is told of by what follows. */
	if (!state->collected || count > longest || cuda_lost(lane->device))
		return -EAGAIN;
	if (cuda_flight_reserve(state) < 0)
		return cuda_fault_words(fault_out, -ENOMEM, STATUS_MEMORY_ALLOCATION,
					"no memory for a command");
	int error = cuda_enter(lane->device, fault_out);
	if (error == 0)
		error = settle_arguments(&submission, fault_out);
	for (uint32_t i = 0; error == 0 && i < wait_count; i++)
		error = enqueue_wait(&submission, &waits[i], fault_out);
	if (error < 0)
		return error;
	if (state->collected_count + count > longest)
		cuda_lane_send(state);
	struct cuda_collected *first = &state->collected[state->collected_count];
	error = cuda_kernel_prepare(command->launch.kernel, command, first->storage,
				    sizeof(first->storage), first->parameters,
				    CUDA_CHAIN_PARAMETERS, &first->launch, fault_out);
	if (error < 0)
		return error == -ENOSPC ? -EAGAIN : error;
	if (first->launch.cooperative || first->launch.cluster[0] != 0 ||
	    first->launch.window.size_bytes > 0 ||
	    cuda_pace_is_open(cuda_kernel_pace(command->launch.kernel),
			      cuda_launch_items(&first->launch)))
		return -EAGAIN;
	collect_more(&submission, count, value_stride_bytes);
	return 0;
}
