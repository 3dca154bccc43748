#include "cuda/lane/lane.h"

#include "cuda/lane/chain.h"
#include "cuda/lane/check.h"
#include "cuda/lane/partition.h"
#include "cuda/lane/signal.h"
#include "cuda/lane/streams.h"
#include "status.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 64u

static_assert((CUDA_WORDS_BYTES - CUDA_SIGNALS_BYTES) / CUDA_WORD_STRIDE == CUDA_WORDS_MAX + 1,
	      "a line for each, and one that no thread reads");

CUresult cuda_words_pin(const struct cuda_library *cu, void **words_out)
{
	return cu->cuMemHostAlloc(words_out, CUDA_WORDS_BYTES,
				  CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
}

/* The completion words are allocated once, because pinning memory may wait for the device. */
static int lanes_open_words(struct backend_device *device, struct backend_fault *fault_out)
{
	const struct cuda_library *cu = &device->backend->library;
	struct cuda_lanes *lanes = device->lanes;
	void *host = device->ahead.words;

	device->ahead.words = NULL;
	CUresult result = host ? CUDA_SUCCESS : cuda_words_pin(cu, &host);
	if (result != CUDA_SUCCESS)
		return cuda_fault(device, cu, result, fault_out,
				  "cannot pin %zu bytes of host memory", CUDA_WORDS_BYTES);
	memset(host, 0, CUDA_WORDS_BYTES);
	lanes->words_host = host;
	result = cu->cuMemHostGetDevicePointer(&lanes->words_device, host, 0);
	if (result != CUDA_SUCCESS)
		return cuda_fault(device, cu, result, fault_out, "cannot map host memory");
	for (uint32_t i = 0; i < CUDA_WORDS_MAX; i++)
		lanes->free_words[i] = CUDA_WORDS_MAX - 1 - i;
	lanes->free_word_count = CUDA_WORDS_MAX;
	return 0;
}

int cuda_lanes_open(struct backend_device *device, struct backend_fault *fault_out)
{
	struct cuda_lanes *lanes = calloc(1, sizeof(*lanes));

	if (!lanes)
		return cuda_no_memory(fault_out, "a lane");
	device->lanes = lanes;
	lanes->large_storage =
		aligned_alloc(16, ((size_t)CUDA_PARAMETER_BYTES_MAX + 15u) / 16u * 16u);
	lanes->large_parameters = calloc(CUDA_PARAMETERS_MAX, sizeof(*lanes->large_parameters));
	int error = lanes->large_storage && lanes->large_parameters
			    ? 0
			    : cuda_no_memory(fault_out, "a lane");
	if (error == 0)
		error = cuda_streams_open(device, fault_out);
	if (error == 0)
		error = lanes_open_words(device, fault_out);
	if (error == 0)
		cuda_chains_open(device);
	if (error < 0)
		cuda_lanes_close(device);
	return error;
}

void cuda_lanes_close(struct backend_device *device)
{
	struct cuda_lanes *lanes = device->lanes;

	if (!lanes)
		return;
	cuda_partition_close(device);
	cuda_chains_close(device);
	cuda_streams_close(device);
	cuda_checks_close(device);
	if (lanes->words_host)
		(void)device->backend->library.cuMemFreeHost(lanes->words_host);
	free(lanes->large_parameters);
	free(lanes->large_storage);
	free(lanes);
	device->lanes = NULL;
}

int cuda_pending_reserve(struct cuda_lane_state *state)
{
	if (state->tail - state->head < state->capacity)
		return 0;
	size_t capacity = state->capacity ? state->capacity * 2 : FIRST_CAPACITY;
	struct cuda_pending *pending_ring = calloc(capacity, sizeof(*pending_ring));
	if (!pending_ring)
		return -ENOMEM;
	for (size_t i = state->head; i != state->tail; i++)
		pending_ring[i & (capacity - 1)] = *cuda_pending_at(state, i);
	free(state->pending_ring);
	state->pending_ring = pending_ring;
	state->capacity = capacity;
	return 0;
}

void cuda_pending_end(struct backend_device *device, struct cuda_pending *pending)
{
	if (pending->finish)
		cuda_finish_run(pending->finish);
	cuda_check_give(device, pending->check);
	if (pending->start)
		cuda_event_give(device, true, pending->start);
	if (pending->end)
		cuda_event_give(device, true, pending->end);
	if (pending->kernel)
		cuda_kernel_free(pending->kernel);
	if (pending->fault)
		cuda_pending_free_fault(pending);
	if (pending->row)
		cuda_row_free(pending->row);
	/* The next command overwrites all other fields. */
	pending->finish = NULL;
	pending->check = NULL;
	pending->start = pending->end = NULL;
	pending->kernel = NULL;
	pending->row = NULL;
}

/* The word keeps the value that its last lane gave it, so values that other lanes noted for their
 * waits stay valid. */
static void take_completion_word(struct cuda_lanes *lanes, struct cuda_lane_state *state)
{
	state->word = lanes->free_words[--lanes->free_word_count];
	const size_t offset = (size_t)state->word * CUDA_WORD_STRIDE;
	state->word_host = (_Atomic uint32_t *)(void *)(lanes->words_host + offset);
	state->word_device = lanes->words_device + offset;
	state->word_value = atomic_load_explicit(state->word_host, memory_order_relaxed);
	cuda_signals_begin(state);
	state->issued = state->sent = state->written = cuda_word_read(state);
}

static void lane_state_drop(struct backend_device *device, struct cuda_lane_state *state)
{
	struct cuda_lanes *lanes = device->lanes;

	lanes->awaiting_chains -= state->awaits_chains;
	lanes->beside_count -= state->lane->kind == BACKEND_LANE_BESIDE;
	cuda_chains_free(state);
	cuda_check_lane_free(state);
	if (state->tail_event)
		cuda_event_give(device, false, state->tail_event);
	if (state->word_host)
		lanes->free_words[lanes->free_word_count++] = state->word;
	cuda_partition_forget(state);
	if (state->whole && !state->lane->is_foreign)
		cuda_stream_give(device, state->lane->kind, state->whole);
	free(state->collected);
	free(state->pending_ring);
	free(state->lane);
	free(state);
}

static struct cuda_lane_state *lane_state_make(struct backend_device *device,
					       enum backend_lane_kind kind)
{
	struct cuda_lane_state *state = calloc(1, sizeof(*state));
	struct backend_lane *lane = calloc(1, sizeof(*lane));
	bool collects = backend_lane_computes(kind) && device->lanes->has_graphs;

	if (state && lane && collects)
		state->collected = aligned_alloc(_Alignof(struct cuda_collected),
						 CUDA_CHAIN_LENGTH_MAX * sizeof(*state->collected));
	if (!state || !lane || (collects && !state->collected)) {
		free(state);
		free(lane);
		return NULL;
	}
	*lane = (struct backend_lane){.device = device, .kind = kind, .state = state};
	state->lane = lane;
	return state;
}

/* `stream`: a stream of the application; NULL: the lane gets a stream of the pool. */
static int create_lane(struct backend_device *device, enum backend_lane_kind kind, CUstream stream,
		       struct backend_lane **lane_out, struct backend_fault *fault_out)
{
	struct cuda_lanes *lanes = device->lanes;

	int error = cuda_enter(device, fault_out);
	if (error < 0)
		return error;
	if (lanes->free_word_count == 0)
		return cuda_fault_words(fault_out, -EDQUOT, STATUS_QUOTA,
					"a CUDA device has no more than %u lanes", CUDA_WORDS_MAX);
	struct cuda_lane_state *state = lane_state_make(device, kind);
	if (!state)
		return cuda_no_memory(fault_out, "a lane");
	lanes->beside_count += kind == BACKEND_LANE_BESIDE;
	state->lane->is_foreign = stream != NULL;
	state->whole = stream;
	if (!stream)
		error = cuda_stream_take(device, kind, &state->whole, fault_out);
	state->lane->stream = state->whole;
	if (error < 0) {
		lane_state_drop(device, state);
		return error;
	}
	take_completion_word(lanes, state);
	cuda_partition_join(state);
	if (state->collected)
		cuda_chains_want(state);
	state->next = lanes->first;
	lanes->first = state;
	*lane_out = state->lane;
	return 0;
}

int cuda_lane_create(struct backend_device *device, enum backend_lane_kind kind,
		     struct backend_lane **lane_out, struct backend_fault *fault_out)
{
	if ((uint32_t)kind >= CUDA_LANE_KINDS)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
					"a CUDA device has no lanes of kind %d", (int)kind);
	return create_lane(device, kind, NULL, lane_out, fault_out);
}

int cuda_lane_adopt(struct backend_device *device, CUstream stream, struct backend_lane **lane_out,
		    struct backend_fault *fault_out)
{
	return create_lane(device, BACKEND_LANE_COMPUTE, stream, lane_out, fault_out);
}

static void lane_state_unlink(struct cuda_lanes *lanes, struct cuda_lane_state *state)
{
	struct cuda_lane_state **at = &lanes->first;

	while (*at != state)
		at = &(*at)->next;
	*at = state->next;
	if (lanes->turn == state)
		lanes->turn = state->next;
	if (!state->is_unsent)
		return;
	at = &lanes->unsent;
	while (*at != state)
		at = &(*at)->next_unsent;
	*at = state->next_unsent;
}

void cuda_lane_free(struct backend_lane *lane)
{
	if (!lane)
		return;
	struct cuda_lane_state *state = lane->state;
	struct backend_device *device = lane->device;

	(void)cuda_enter(device, NULL);
	/* The caller guarantees that the lane is idle, but commands may still lack a report. */
	if (state->head != state->tail && !cuda_lost(device)) {
		cuda_lane_send(state);
		(void)device->backend->library.cuStreamSynchronize(lane->stream);
	}
	/* The value stays with the word, and other lanes compare what they noted with it. The marks
	 * go with the lane. */
	(void)cuda_word_read(state);
	device->lanes->busy -= state->head != state->tail;
	for (; state->head != state->tail; state->head++) {
		cuda_pending_end(device, cuda_pending_at(state, state->head));
		device->lanes->in_flight--;
	}
	lane_state_unlink(device->lanes, state);
	lane_state_drop(device, state);
}
