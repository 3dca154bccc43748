/*
 * Sends commands to the driver. Plain launches of a lane, and small copies, are collected and sent
 * as chains, by flush() or when the longest chain is full. Any other command is sent after the
 * collected launches. No call here waits for the device.
 */
#include "cuda/clock/device_clock.h"
#include "cuda/memory/array.h"
#include "cuda/lane/check.h"
#include "cuda/lane/activity.h"
#include "cuda/lane/fill.h"
#include "cuda/lane/lane.h"
#include "cuda/lane/native_command.h"
#include "cuda/lane/room.h"
#include "cuda/lane/send_context.h"
#include "cuda/lane/series.h"
#include "cuda/lane/signal.h"
#include "cuda/program/pace.h"

#include "clock.h"
#include "status.h"

#include <errno.h>

void cuda_send_push(struct cuda_send_context *context, bool is_sent)
{
	struct cuda_lane_state *state = context->state;
	struct cuda_lanes *lanes = context->device->lanes;

	/* A collected launch gets its time when it is sent. */
	if (is_sent && context->pending.submit_ns == 0)
		context->pending.submit_ns = clock_now_ns();
	context->pending.operations += state->left_operations;
	state->left_operations = 0;
	*cuda_pending_at(state, state->tail) = context->pending;
	lanes->busy += state->tail == state->head;
	state->operations += context->pending.operations;
	state->host_functions += context->pending.host_functions;
	state->tail++;
	state->last_sequence = context->pending.sequence;
	state->issued = context->pending.value;
	lanes->in_flight++;
	if (is_sent) {
		state->sent_end = state->tail;
		state->sent = context->pending.value;
		return;
	}
	if (state->is_unsent)
		return;
	state->is_unsent = true;
	state->next_unsent = lanes->unsent;
	lanes->unsent = state;
}

/*
 * Called when a command that is not collected is on the stream. Writes its completions, but not the
 * lane's word if the command writes the word itself. From here on nothing can be undone, so no step
 * fails.
 */
static void finish_send_of(struct cuda_send_context *context, bool writes_word)
{
	struct cuda_lane_state *state = context->state;
	struct cuda_pending *pending = &context->pending;
	const bool has_rest = pending->finish && !cuda_finish_is_sent(pending->finish);

	pending->host_functions = pending->finish ? cuda_finish_pieces(pending->finish) : 0;
	pending->operations += cuda_room_operations(state, context->command, pending->finish) +
			       (context->pending.start ? 2 : 0) + (context->direct != 0) + 1;
	if (!has_rest)
		cuda_write_completions(state, pending, context->direct, context->direct_value);
	pending->value = state->issued + 1;
	pending->is_send_start = true;
	cuda_send_push(context, true);
	if (has_rest)
		cuda_rest_begin(state, context->direct, context->direct_value);
	else if (writes_word)
		state->written = state->word_value = state->sent;
	else
		cuda_lane_write_word(state);
}

static void finish_send(struct cuda_send_context *context)
{
	finish_send_of(context, false);
}

/* Takes the two events of a timed command, and records the first one. */
static int start_timing(struct cuda_send_context *context, struct backend_fault *fault_out)
{
	struct backend_device *device = context->device;
	const struct cuda_library *cu = &device->backend->library;

	if (!context->command->timed)
		return 0;
	int error = cuda_clock_prepare(device, fault_out);
	if (error == 0)
		error = cuda_event_take(device, true, &context->pending.start, fault_out);
	if (error == 0)
		error = cuda_event_take(device, true, &context->pending.end, fault_out);
	if (error < 0)
		return error;
	CUresult result = cu->cuEventRecord(context->pending.start, context->state->lane->stream);
	if (result != CUDA_SUCCESS)
		return cuda_fault(device, cu, result, fault_out, "cannot record an event");
	return 0;
}

static int send_launch(struct cuda_send_context *context, const struct cuda_launch *launch,
		       struct backend_fault *fault_out)
{
	struct backend_device *device = context->device;

	/* A word is then in between, so the launch does not begin early. */
	cuda_lane_send(context->state);
	int error = launch->check ? cuda_check_begin(context, launch, fault_out) : 0;
	if (error == 0)
		error = start_timing(context, fault_out);
	if (error < 0)
		return error;
	const bool is_profiled = context->command->timed &&
				 atomic_load_explicit(&cuda_activity_is_on, memory_order_relaxed);
	if (is_profiled)
		cuda_activity_expect();
	CUresult result = cuda_lane_launch(context->state, launch);
	if (is_profiled)
		context->pending.profile = cuda_activity_sent();
	if (result != CUDA_SUCCESS)
		return cuda_fault(device, &device->backend->library, result, fault_out,
				  "the kernel was not launched");
	context->pending.kernel = context->command->launch.kernel;
	context->pending.items = cuda_launch_items(launch);
	cuda_kernel_hold(context->pending.kernel);
	if (launch->check)
		cuda_check_read(context);
	finish_send(context);
	return 0;
}

/* Collects a launch, which may wait for others to make a chain. */
static void collect_launch(struct cuda_send_context *context, struct cuda_collected *collected)
{
	struct cuda_lane_state *state = context->state;

	collected->series = NULL;
	collected->stamp = 0;
	collected->values = collected->storage;
	collected->direct = context->direct;
	collected->direct_value = context->direct_value;
	collected->ends_command = true;
	cuda_collected_own(collected, context->command);
	context->pending.kernel = collected->kernel;
	context->pending.copy_ns = collected->copy_ns;
	context->pending.items = cuda_launch_items(&collected->launch);
	if (collected->kernel)
		cuda_kernel_hold(collected->kernel);
	context->pending.value = state->issued + 1;
	context->pending.operations += 2; /* the launch, and a write of the word */
	cuda_send_push(context, false);
	if (++state->collected_count == context->device->backend->settings.chain_length)
		cuda_lane_send(state);
}

int cuda_send_settle(struct cuda_send_context *context, struct backend_fault *fault_out)
{
	const struct backend_command *command = context->command;
	int error = 0;

	for (uint32_t i = 0; error == 0 && i < command->launch.argument_count; i++)
		if (command->launch.arguments[i].kind == BACKEND_ARGUMENT_GLOBAL)
			error = cuda_memory_settle(context->state->lane,
						   command->launch.arguments[i].global.memory,
						   fault_out);
		else if (command->launch.arguments[i].kind == BACKEND_ARGUMENT_IMAGE)
			error = cuda_texture_settle(context->state->lane,
						    &command->launch.arguments[i], fault_out);
	return error;
}

static int submit_nop(struct cuda_send_context *context, struct backend_fault *fault_out);

/*
 * True if the launch to be collected may begin before the previous launch ends. The previous one
 * must be sent with it, with nothing in between. Lanes are shared, so the previous one must also be
 * the command that the engine named. All launches of a burst are sent together.
 */
static bool may_begin_early(const struct cuda_lane_state *state,
			    const struct backend_launch_properties *properties)
{
	const uint32_t count = state->collected_count;

	return count > 0 && !state->collected[count - 1].direct &&
	       properties->early_after == state->last_sequence &&
	       (count == 1 || state->collected[count - 2].ends_command ||
		state->collected[count - 2].is_signal);
}

/* True if nothing may be between the launch and the last command of the lane. */
static bool launch_joins_last(const struct cuda_lane_state *state,
			      const struct backend_command *command)
{
	const struct backend_launch_properties *properties = command->launch.properties;

	return properties && properties->early && properties->early_after == state->last_sequence;
}

/* A part of a divided launch may have no work-groups. */
static bool command_is_nothing(const struct cuda_launch *launch)
{
	return launch->grid[0] == 0;
}

static int cuda_submit_launch(struct cuda_send_context *context, struct backend_fault *fault_out)
{
	struct cuda_lane_state *state = context->state;
	struct cuda_lanes *lanes = context->device->lanes;
	const struct backend_command *command = context->command;
	int error = -ENOSPC;

	if (!backend_lane_computes(state->lane->kind))
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
					"a lane for copies launches no kernel");
	int settled = cuda_send_settle(context, fault_out);
	if (settled < 0)
		return settled;
	if (state->collected && !command->timed) {
		cuda_signal_collect(state, command, launch_joins_last(state, command));
		struct cuda_collected *collected = &state->collected[state->collected_count];
		error = cuda_kernel_prepare(command->launch.kernel, command, collected->storage,
					    sizeof(collected->storage), collected->parameters,
					    CUDA_CHAIN_PARAMETERS, &collected->launch, fault_out);
		if (error == 0 && command_is_nothing(&collected->launch))
			return submit_nop(context, fault_out);
		if (error == 0 && collected->launch.early)
			collected->launch.early =
				may_begin_early(state, command->launch.properties);
		if (error == 0 && !collected->launch.cooperative &&
		    collected->launch.cluster[0] == 0 && collected->launch.window.size_bytes == 0 &&
		    !collected->launch.check) {
			collected->kernel = command->launch.kernel;
			collected->copy_ns = 0;
			collect_launch(context, collected);
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
	return command_is_nothing(&launch) ? submit_nop(context, fault_out)
					   : send_launch(context, &launch, fault_out);
}

/* Such a command does nothing. It is complete when the command before it is, unless it has waits,
 * times or a direct completion. */
static int submit_nop(struct cuda_send_context *context, struct backend_fault *fault_out)
{
	struct cuda_lane_state *state = context->state;

	cuda_lane_send(state);
	if (context->pending.wait_count == 0 && !context->direct && !context->command->timed) {
		context->pending.value = state->issued;
		cuda_send_push(context, true);
		return 0;
	}
	int error = start_timing(context, fault_out);
	if (error == 0)
		finish_send(context);
	return error;
}

static int submit_other(struct cuda_send_context *context, struct backend_fault *fault_out)
{
	struct backend_lane *lane = context->state->lane;
	const enum backend_command_kind kind = context->command->kind;

	cuda_lane_send(context->state);
	int error = start_timing(context, fault_out);
	if (error < 0)
		return error;
	if (kind == BACKEND_COMMAND_EVENT_RECORD || kind == BACKEND_COMMAND_EVENT_WAIT)
		error = cuda_event_enqueue(lane, context->command, fault_out);
	else
		error = cuda_transfer_enqueue(lane, context->command, &context->pending.finish,
					      fault_out);
	if (error == 0)
		finish_send(context);
	return error;
}

/* A small copy or fill is collected with the lane's launches. */
static int submit_small(struct cuda_send_context *context, struct backend_fault *fault_out)
{
	struct cuda_lane_state *state = context->state;
	const bool is_fill = context->command->kind == BACKEND_COMMAND_FILL ||
			     context->command->kind == BACKEND_COMMAND_USM_FILL;
	int error = -EAGAIN;

	if (state->collected && !context->command->timed) {
		cuda_signal_collect(state, context->command, false);
		struct cuda_collected *collected = &state->collected[state->collected_count];
		error = (is_fill ? cuda_fill_prepare : cuda_copy_prepare)(
			state->lane, context->command, collected, fault_out);
		if (error == 0)
			collect_launch(context, collected);
	}
	return error == -EAGAIN ? submit_other(context, fault_out) : error;
}

/* Once the function is called, nothing can be undone. The command ends behind the function's work,
 * even if the function failed. */
static int submit_native(struct cuda_send_context *context, struct backend_fault *fault_out)
{
	struct cuda_lane_state *state = context->state;
	struct cuda_native_memories memories = {.count = 0};
	struct backend_fault fault = {.status = STATUS_SUCCESS};

	if (!backend_lane_computes(state->lane->kind))
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
					"a lane for copies takes no native command");
	cuda_lane_send(state);
	int error = cuda_native_memories(state->lane, context->command, &memories, fault_out);
	if (error == 0)
		error = start_timing(context, fault_out);
	if (error == 0 && cuda_native_call(state->lane, context->command, &memories, &fault) < 0) {
		cuda_pending_keep(&context->pending, &fault);
		context->direct = 0; /* written only for commands that have succeeded */
	}
	cuda_native_memories_free(&memories);
	if (error == 0)
		finish_send(context);
	return error;
}

/* The graph writes the lane's word at its end. A direct completion must be written before the word.
 * With one, the graph only writes the word's old value again. */
static int submit_graph(struct cuda_send_context *context, struct backend_fault *fault_out)
{
	struct cuda_lane_state *state = context->state;
	const struct cuda_lanes *lanes = context->device->lanes;
	const bool writes_word = context->direct == 0;
	struct cuda_series *series = lanes->find_series(context->device, context->command->graph);

	if (series && cuda_series_collect(context, series))
		return 0;
	cuda_lane_send(state);
	int error = start_timing(context, fault_out);
	if (error == 0)
		error = lanes->launch_graph(state, context->command->graph,
					    writes_word ? state->issued + 1 : state->issued,
					    fault_out);
	if (error < 0)
		return error;
	context->pending.series = series;
	if (series) {
		context->pending.launches = series->count;
		surprise_pass(&series->pace.surprise);
	}
	finish_send_of(context, writes_word);
	return 0;
}

/* The function for each kind of command. */
static int (*const senders[])(struct cuda_send_context *, struct backend_fault *) = {
	[BACKEND_COMMAND_NOP] = submit_nop,
	[BACKEND_COMMAND_LAUNCH] = cuda_submit_launch,

	[BACKEND_COMMAND_COPY] = submit_small,
	[BACKEND_COMMAND_WRITE] = submit_small,
	[BACKEND_COMMAND_READ] = submit_small,
	[BACKEND_COMMAND_FILL] = submit_small,
	[BACKEND_COMMAND_USM_FILL] = submit_small,

	[BACKEND_COMMAND_COPY_PEER] = submit_other,
	[BACKEND_COMMAND_USM_COPY] = submit_other,
	[BACKEND_COMMAND_USM_PREFETCH] = submit_other,
	[BACKEND_COMMAND_USM_ADVISE] = submit_other,
	[BACKEND_COMMAND_EVENT_RECORD] = submit_other,
	[BACKEND_COMMAND_EVENT_WAIT] = submit_other,

	[BACKEND_COMMAND_NATIVE] = submit_native,
	[BACKEND_COMMAND_GRAPH] = submit_graph,
	/* A condition is only a node of a graph. */
};

static int submit_kind(struct cuda_send_context *context, struct backend_fault *fault_out)
{
	const size_t kind = (size_t)context->command->kind;

	if (kind >= sizeof(senders) / sizeof(*senders) || !senders[kind])
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
					"CUDA has no command %d", (int)context->command->kind);
	return senders[kind](context, fault_out);
}

static int check_completion(struct cuda_send_context *context,
			    const struct backend_direct_completion *completion,
			    struct backend_fault *fault_out)
{
	if (!completion)
		return 0;
	if (completion->offset_bytes % 4 != 0 || completion->host->size_bytes < 4 ||
	    completion->offset_bytes > completion->host->size_bytes - 4)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
					"a completion lies outside of its memory");
	context->direct = completion->host->address + completion->offset_bytes;
	context->direct_host =
		(_Atomic uint32_t *)(void *)((unsigned char *)completion->host->host +
					     completion->offset_bytes);
	context->direct_value = completion->value;
	return 0;
}

/* Returns the resources of a command that was not sent. */
static void undo_command(struct cuda_send_context *context)
{
	struct cuda_pending *pending = &context->pending;

	if (pending->start)
		cuda_event_give(context->device, true, pending->start);
	if (pending->end)
		cuda_event_give(context->device, true, pending->end);
	pending->start = pending->end = NULL;
	/* Otherwise a copy may be on the stream, and the command is taken as failed. */
	if (pending->operations == 0) {
		cuda_check_give(context->device, pending->check);
		pending->check = NULL;
	}
}

static int send_command(struct cuda_send_context *context, const struct backend_wait *waits,
			uint32_t wait_count, const struct backend_direct_completion *completion,
			struct backend_fault *fault_out)
{
	const struct backend_fault *lost = cuda_lost(context->device);

	if (lost) {
		*fault_out = *lost;
		return -EIO;
	}
	int error = cuda_enter(context->device, fault_out);
	if (error == 0)
		error = check_completion(context, completion, fault_out);
	for (uint32_t i = 0; error == 0 && i < wait_count; i++)
		error = cuda_send_wait(context, &waits[i], fault_out);
	if (error == 0)
		error = submit_kind(context, fault_out);
	if (error < 0)
		undo_command(context);
	return error;
}

/*
 * Called when a command was refused after its waits were put on the stream. Refused commands are
 * not counted, so any number of them could fill the driver's queue. So this command is taken, and
 * progress() reports it as failed when its waits are over.
 */
static void cuda_take_refused(struct cuda_send_context *context, struct backend_fault *fault)
{
	if (fault->status == STATUS_SUCCESS)
		fault->status = STATUS_RUNTIME;
	cuda_pending_keep(&context->pending, fault);
	context->direct = 0; /* written only for commands that have succeeded */
	finish_send(context);
}

int cuda_submit(struct backend_lane *lane, const struct backend_command *command,
		const struct backend_wait *waits, uint32_t wait_count, uint64_t sequence,
		const struct backend_direct_completion *completion, struct backend_fault *fault_out)
{
	struct cuda_send_context context = {
		.device = lane->device,
		.state = lane->state,
		.command = command,
		.pending = {.sequence = sequence},
	};

	/* A plain launch gets its time when it is sent, so that its waits do not include reading
	 * the clock. */
	if (command->timed || command->kind != BACKEND_COMMAND_LAUNCH)
		context.pending.submit_ns = clock_now_ns();
	if (cuda_pending_reserve(lane->state) < 0)
		return cuda_no_memory(fault_out, "a command");
	int error = send_command(&context, waits, wait_count, completion, fault_out);
	/*
	 * A first attempt may have left a fault, such as one to store many arguments for a chain.
	 */
	if (error == 0)
		backend_fault_none(fault_out);
	if (error < 0 && context.pending.operations > 0 && !cuda_lost(lane->device)) {
		cuda_take_refused(&context, fault_out);
		return 0;
	}
	if (error == 0 || !cuda_lost(lane->device) || lane->device->lanes->in_flight == 0)
		return error;
	/*
	 * A command in flight lost the device, and this call is only the first to return the
	 * failure. The command is taken as usual, so that progress() reports the suspects before
	 * the engine acts on the failure.
	 */
	context.pending.value = lane->state->issued + 1;
	cuda_send_push(&context, false);
	return 0;
}
