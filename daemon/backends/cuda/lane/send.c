/* Puts a lane's collected launches on its stream: as chains, or one by one. */
#include "cuda/lane/chain.h"
#include "cuda/lane/lane.h"
#include "cuda/lane/l2.h"
#include "cuda/lane/room.h"
#include "cuda/lane/series.h"
#include "cuda/lane/signal.h"
#include "cuda/program/pace.h"
#include "cuda/lane/partition.h"

#include "clock.h"
#include "status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void cuda_lane_write_word(struct cuda_lane_state *state)
{
	struct backend_device *device = state->lane->device;
	const struct cuda_library *cu = &device->backend->library;

	CUresult result =
		cu->cuStreamWriteValue32(state->lane->stream, state->word_device, state->sent, 0);
	if (result == CUDA_SUCCESS)
		state->written = state->word_value = state->sent;
	else
		(void)cuda_fault(device, cu, result, NULL, "the device failed");
}

static CUresult stream_launch(const struct cuda_lane_state *state, const struct cuda_launch *launch,
			      CUstream stream)
{
	const struct cuda_library *cu = &state->lane->device->backend->library;
	CUlaunchAttribute attributes[4];
	CUlaunchConfig configuration = {
		.gridDimX = launch->grid[0],
		.gridDimY = launch->grid[1],
		.gridDimZ = launch->grid[2],
		.blockDimX = launch->block[0],
		.blockDimY = launch->block[1],
		.blockDimZ = launch->block[2],
		.sharedMemBytes = launch->shared_bytes,
		.hStream = stream,
		.attrs = attributes,
	};

	if (!launch->cooperative && launch->cluster[0] == 0 && !launch->early &&
	    launch->window.size_bytes == 0)
		return cu->cuLaunchKernel(launch->function, launch->grid[0], launch->grid[1],
					  launch->grid[2], launch->block[0], launch->block[1],
					  launch->block[2], launch->shared_bytes, stream,
					  launch->parameters, NULL);
	memset(attributes, 0, sizeof(attributes));
	if (launch->cooperative) {
		attributes[configuration.numAttrs].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
		attributes[configuration.numAttrs++].value.cooperative = 1;
	}
	if (launch->cluster[0] != 0) {
		CUlaunchAttribute *attribute = &attributes[configuration.numAttrs++];
		attribute->id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
		attribute->value.clusterDim.x = launch->cluster[0];
		attribute->value.clusterDim.y = launch->cluster[1];
		attribute->value.clusterDim.z = launch->cluster[2];
	}
	if (launch->window.size_bytes > 0)
		cuda_l2_window(&launch->window, &attributes[configuration.numAttrs++]);
	if (launch->early) {
		attributes[configuration.numAttrs].id =
			CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
		attributes[configuration.numAttrs++].value.programmaticStreamSerializationAllowed =
			1;
	}
	return cu->cuLaunchKernelEx(&configuration, launch->function, launch->parameters, NULL);
}

CUresult cuda_lane_launch(const struct cuda_lane_state *state, const struct cuda_launch *launch)
{
	if (!cuda_launch_needs_whole(state, launch))
		return stream_launch(state, launch, state->lane->stream);
	CUresult result = cuda_whole_begin(state);
	if (result == CUDA_SUCCESS)
		result = stream_launch(state, launch, state->whole);
	return result == CUDA_SUCCESS ? cuda_whole_end(state) : result;
}

/* The fault of a command whose reason could not be stored for lack of memory. */
static const struct backend_fault without_reason = {
	.status = STATUS_MEMORY_ALLOCATION,
	.text = "it failed, and there was no memory for the reason",
};

void cuda_pending_keep(struct cuda_pending *pending, const struct backend_fault *fault)
{
	struct backend_fault *kept = malloc(sizeof(*kept));
	cuda_pending_free_fault(pending);
	if (kept)
		*kept = *fault;
	pending->fault = kept ? kept : &without_reason;
}

void cuda_pending_free_fault(struct cuda_pending *pending)
{
	if (pending->fault != &without_reason)
		free((void *)(uintptr_t)pending->fault);
	pending->fault = NULL;
}

void cuda_pending_fail(const struct cuda_lane_state *state, struct cuda_pending *pending,
		       CUresult result, const char *what)
{
	struct backend_device *device = state->lane->device;
	struct backend_fault fault;

	(void)cuda_fault(device, &device->backend->library, result, &fault, "%s", what);
	cuda_pending_keep(pending, &fault);
}

/* False: a copy or a fill of a command's own. */
static bool launch_is_of_program(const struct cuda_collected *launch)
{
	return launch->kernel || launch->series;
}

/* Sends launches one after the other, if there are no chains. Signals are not sent. */
static void lane_send_each_launch(struct cuda_lane_state *state,
				  const struct cuda_collected *launches, uint32_t count)
{
	const struct cuda_library *cu = &state->lane->device->backend->library;

	size_t at = state->sent_end;
	uint32_t index = 0; /* index of the launch in its pending command */
	for (uint32_t i = 0; i < count; i++) {
		struct cuda_pending *pending = cuda_pending_at(state, at);
		if (launches[i].is_signal)
			continue;
		/* A node of a graph needs the nodes before it. */
		const bool is_over = launches[i].series && pending->fault;
		CUresult result =
			is_over ? CUDA_SUCCESS : cuda_lane_launch(state, &launches[i].launch);
		pending->is_send_start = true;
		if (result == CUDA_SUCCESS && launches[i].direct && !is_over)
			result = cu->cuStreamWriteValue32(state->lane->stream, launches[i].direct,
							  launches[i].direct_value, 0);
		if (result != CUDA_SUCCESS) {
			cuda_pending_fail(state, pending, result,
					  launch_is_of_program(&launches[i])
						  ? "the kernel was not launched"
						  : "cannot copy");
			pending->failed_launches |= 1u << index;
		}
		index = launches[i].ends_command ? 0 : index + 1;
		at += launches[i].ends_command;
		if (launches[i].ends_command && launches[i].is_apart && i + 1 < count) {
			state->sent = pending->value;
			cuda_lane_write_word(state);
		}
	}
	state->sent = cuda_pending_at(state, at - 1)->value;
	cuda_lane_write_word(state);
}

static uint64_t collected_period(const struct cuda_collected *collected)
{
	if (collected->series)
		return cuda_series_period_ns(collected->series);
	if (!collected->kernel)
		return collected->copy_ns;
	const struct cuda_pace *pace = cuda_kernel_pace(collected->kernel);
	const bool is_known = pace->period_ns > 0 &&
			      !cuda_pace_is_open(pace, cuda_launch_items(&collected->launch));

	/* If unknown, the launch is sent alone. */
	return is_known ? pace->period_ns : CUDA_CHAIN_NS;
}

/* True if no chain may go on behind the launch. */
static bool launch_ends_chain(const struct cuda_collected *launches, uint32_t index)
{
	return launches[index].direct ||
	       (launches[index].is_apart && !launches[index + 1].is_signal);
}

/* The longest chain that is there and ends with a command: of `run` launches, or of fewer, or the
 * first command alone. If the one of `run` launches is not there, it is requested. */
static uint32_t longest_chain(struct cuda_lane_state *state, const struct cuda_collected *launches,
			      uint32_t first, uint32_t run)
{
	uint32_t length = run;

	if (run <= first)
		return first;
	if (cuda_chain_has(state, launches, run))
		return run;
	while (--length > first)
		if (launches[length - 1].ends_command &&
		    cuda_chain_is_there(state, launches, length))
			return length;
	return first;
}

/*
 * The length of the longest chain that the first `count` launches make. Only the end of a chain is
 * reported, so a chain must be short. With long kernels a chain saves nothing, and delays the
 * report of the first kernel. A direct completion ends a chain, and so does a command that is
 * reported by itself and has no signal behind it. All launches of a burst, or of a
 * graph, are in one chain. A copy is short, so it may follow kernels that fill a chain.
 */
static uint32_t choose_length(struct cuda_lane_state *state, const struct cuda_collected *launches,
			      uint32_t count)
{
	const uint32_t longest = state->lane->device->backend->settings.chain_length;
	uint64_t sum_ns = collected_period(&launches[0]);
	uint32_t first = 1;

	for (; !launches[first - 1].ends_command; first++)
		sum_ns += collected_period(&launches[first]);
	uint32_t run = first;
	for (; run < count && !launch_ends_chain(launches, run - 1); run++) {
		sum_ns += collected_period(&launches[run]);
		if (sum_ns > CUDA_CHAIN_NS && launch_is_of_program(&launches[run]))
			break;
	}
	if (run > longest)
		run = longest;
	while (run > first && !launches[run - 1].ends_command)
		run--;
	return longest_chain(state, launches, first, run);
}

static int lane_send_chain(struct cuda_lane_state *state, const struct cuda_collected *launches,
			   uint32_t count, uint32_t value)
{
	int error = -EAGAIN;

	/* Kernels of graphs run where their functions belong, on the whole device. */
	if (cuda_lane_is_apart(state))
		return -EAGAIN;
	if (count == 1 && !launches->direct && state->head == state->sent_end &&
	    state->written == state->sent)
		error = cuda_chain_send_lone(state, launches, value);
	return error == -EAGAIN ? cuda_chain_send(state, launches, count, value) : error;
}

static uint32_t count_commands(const struct cuda_collected *launches, uint32_t count)
{
	uint32_t commands = 0;

	for (uint32_t i = 0; i < count; i++)
		commands += launches[i].ends_command;
	return commands;
}

/* Without signals. */
static uint32_t count_launches(const struct cuda_collected *launches, uint32_t count)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < count; i++)
		found += !launches[i].is_signal;
	return found;
}

/* Only one thread at a time adds to the counter, so a load and a store are enough. */
static void counter_add(_Atomic uint64_t *counter, uint64_t more)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + more,
			      memory_order_relaxed);
}

void cuda_sendings(struct backend_device *device, struct backend_sendings *sendings_out)
{
	const struct cuda_lanes *lanes = device->lanes;

	sendings_out->chains = atomic_load_explicit(&lanes->chains_sent, memory_order_relaxed);
	sendings_out->chain_launches =
		atomic_load_explicit(&lanes->chain_launches, memory_order_relaxed);
	sendings_out->refused = atomic_load_explicit(&lanes->chains_refused, memory_order_relaxed);
}

static uint32_t count_collected_kernels(const struct cuda_collected *launches, uint32_t count)
{
	uint32_t kernels = 0;

	for (uint32_t i = 0; i < count; i++)
		kernels += launch_is_of_program(&launches[i]);
	return kernels;
}

/* Called after the driver's call. Its duration is no time of the device, and no thread waits for
 * the clock. */
static void lane_note_sent(struct cuda_lane_state *state, uint32_t commands, uint32_t together,
			   uint64_t now_ns)
{
	for (uint32_t i = 0; i < commands; i++) {
		struct cuda_pending *pending = cuda_pending_at(state, state->sent_end + i);
		pending->submit_ns = now_ns;
		pending->together = together;
		if (together == 1 && pending->kernel)
			surprise_pass(&cuda_kernel_pace(pending->kernel)->surprise);
		if (pending->series && together <= pending->series->count)
			surprise_pass(&pending->series->pace.surprise);
	}
	state->sent_end += commands;
}

/*
 * The length of a run of launches in which each launch but the first may begin before the previous
 * one ends. The driver allows this only if nothing is between the launches. So the word of the last
 * launch reports all, as in a chain. 1: no run begins here.
 */
static uint32_t early_run_length(const struct cuda_collected *launches, uint32_t count)
{
	uint32_t run = 1;

	while (run < count && launches[run].launch.early)
		run++;
	return run;
}

/* The number of launches before the next such run; `count`: there is no run. */
static uint32_t launches_before_early_run(const struct cuda_collected *launches, uint32_t count)
{
	uint32_t before = 1;

	while (before < count && !(before + 1 < count && launches[before + 1].launch.early))
		before++;
	return before;
}

static void lane_send_early_run(struct cuda_lane_state *state,
				const struct cuda_collected *launches, uint32_t count)
{
	const uint32_t commands = count_commands(launches, count);

	lane_send_each_launch(state, launches, count);
	for (uint32_t i = 1; i < commands; i++) /* any of these commands may be running */
		cuda_pending_at(state, state->sent_end + i)->is_send_start = false;
	lane_note_sent(state, commands, count, clock_now_ns());
}

/* The same of a chain. Its commands up to a signal have one reported end, and so have those behind
 * it. */
static void lane_note_chain(struct cuda_lane_state *state, const struct cuda_collected *launches,
			    uint32_t count)
{
	const uint64_t now_ns = clock_now_ns();

	for (uint32_t at = 0, end; at < count; at = end + 1) {
		for (end = at; end < count && !launches[end].is_signal; end++)
			;
		lane_note_sent(state, count_commands(launches + at, end - at),
			       count_collected_kernels(launches + at, end - at), now_ns);
		if (end < count)
			cuda_signal_sent(state, cuda_pending_at(state, state->sent_end - 1)->value);
	}
}

/* A signal stands between two commands of a chain. Where a chain ends it is left out. */
static uint32_t leave_out_signals(const struct cuda_collected **at, uint32_t left)
{
	if (left > 0 && (*at)->is_signal) {
		(*at)++;
		left--;
	}
	return left;
}

void cuda_lane_send(struct cuda_lane_state *state)
{
	struct cuda_lanes *lanes = state->lane->device->lanes;
	const struct cuda_collected *at = state->collected;
	uint32_t left = state->collected_count;

	cuda_rest_finish(state);
	state->collected_count = 0;
	if (left > 0 && at[left - 1].is_signal) /* nothing was collected behind it */
		left--;
	while (left > 0 && !cuda_lost(state->lane->device)) {
		left = leave_out_signals(&at, left);
		const uint32_t run = early_run_length(at, left);
		if (run > 1) {
			lane_send_early_run(state, at, run);
			at += run;
			left -= run;
			continue;
		}
		uint32_t count = choose_length(state, at, launches_before_early_run(at, left));
		uint32_t commands = count_commands(at, count);
		struct cuda_pending *first = cuda_pending_at(state, state->sent_end);
		uint32_t value = cuda_pending_at(state, state->sent_end + commands - 1)->value;

		int error = lane_send_chain(state, at, count, value);
		if (error == -EIO)
			return; /* progress() reports the failure */
		if (error == 0) {
			first->is_send_start = true;
			state->sent = state->written = value;
			counter_add(&lanes->chains_sent, 1);
			counter_add(&lanes->chain_launches, count_launches(at, count));
		} else {
			lane_send_each_launch(state, at, count);
			/* A lane apart, or one without chains, requested no chain, so none was
			 * refused. */
			if (!cuda_lane_is_apart(state) && !state->awaits_chains)
				counter_add(&lanes->chains_refused, 1);
		}
		if (error == 0)
			lane_note_chain(state, at, count);
		else
			lane_note_sent(state, commands, 1, clock_now_ns());
		at += count;
		left -= count;
	}
}

void cuda_flush(struct backend_device *device)
{
	struct cuda_lanes *lanes = device->lanes;

	if (!lanes->unsent || cuda_enter(device, NULL) < 0)
		return;
	while (lanes->unsent) {
		struct cuda_lane_state *state = lanes->unsent;
		lanes->unsent = state->next_unsent;
		state->is_unsent = false;
		state->next_unsent = NULL;
		/* Another command may have sent the collected launches meanwhile. It may be a
		 * transfer of which only a part is sent, and flush must not send its rest. */
		if (state->collected_count > 0)
			cuda_lane_send(state);
	}
}
