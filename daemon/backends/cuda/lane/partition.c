#include "cuda/lane/partition.h"

#include "cuda/lane/lane.h"
#include "cuda/lane/streams.h"

#include "clock.h"

#include <stdio.h>
#include <string.h>

#define CLUSTER_ANYWHERE                                                                           \
	8u /* size of a cluster for which each part of a device with clusters has room */

#define ASKS_NS       200000000ull
#define ASKS_AGAIN_NS 60000000000ull

/* --------------------------------- possible partitions ---------------------------------- */

/* True if the driver has all functions that a partition needs. */
static bool cuda_partition_is_possible(const struct cuda_library *library)
{
	return library->cuDeviceGetDevResource && library->cuDevSmResourceSplitByCount &&
	       library->cuDevResourceGenerateDesc && library->cuGreenCtxCreate &&
	       library->cuGreenCtxDestroy && library->cuGreenCtxStreamCreate;
}

/* Returns the number of multiprocessors that the device can split off: `wanted`, or a few more. The
 * counts are from the driver's guide. Capability 9.0 and above: 8 and multiples of it. 8.x: 4
 * and more, even numbers. 7.x: even numbers. Others: any number. */
static uint32_t cuda_partition_round(const struct cuda_device_facts *facts, uint32_t wanted)
{
	const uint32_t least = facts->compute_major >= 9   ? 8
			       : facts->compute_major == 8 ? 4
			       : facts->compute_major == 7 ? 2
							   : 1;
	const uint32_t step = facts->compute_major >= 9 ? 8 : facts->compute_major >= 7 ? 2 : 1;

	return wanted <= least ? least : (wanted + step - 1) / step * step;
}

bool cuda_partition_refuses(const struct backend *backend, const struct cuda_device_facts *facts,
			    char *why_out)
{
	const uint32_t wanted = backend->settings.latency_multiprocessors;
	const uint32_t units = cuda_partition_round(facts, wanted);

	if (wanted == 0)
		return false;
	if (!cuda_partition_is_possible(&backend->library)) {
		(void)snprintf(
			why_out, BACKEND_TEXT_BYTES,
			"latency_multiprocessors = %u: this NVIDIA driver has no green contexts (CUDA 12.5 or "
			"newer has)",
			wanted);
		return true;
	}
	if (units < (uint32_t)facts->multiprocessors)
		return false;
	(void)snprintf(
		why_out, BACKEND_TEXT_BYTES,
		"latency_multiprocessors = %u: that is %u on this device, which has %d, and leaves nothing for others",
		wanted, units, facts->multiprocessors);
	return true;
}

/* ----------------------------------- streams of lanes ----------------------------------- */

static struct cuda_part *partition_part_of(struct cuda_lanes *lanes,
					   const struct cuda_lane_state *state)
{
	return state->lane->kind == BACKEND_LANE_LATENCY ? &lanes->partition.few
							 : &lanes->partition.rest;
}

/* True if the partition only keeps best effort off some multiprocessors, which no partition has. */
static bool partition_only_spares(const struct backend_device *device)
{
	return device->backend->settings.latency_multiprocessors == 0;
}

static uint32_t partition_spared_units(const struct backend_device *device)
{
	const uint32_t set = device->backend->settings.best_effort_spares;

	return set == CUDA_SPARES_EIGHTH ? (uint32_t)device->facts->multiprocessors / 8 : set;
}

/* Copy lanes have no work for multiprocessors. Streams of the application, and streams of which it
 * has handles, stay as they are. */
static bool lane_may_be_apart(const struct cuda_lane_state *state)
{
	return backend_lane_computes(state->lane->kind) && !state->lane->is_foreign &&
	       !state->is_known &&
	       (state->lane->kind == BACKEND_LANE_BESIDE ||
		!partition_only_spares(state->lane->device));
}

static CUresult lane_enter_part(struct backend_device *device, struct cuda_lane_state *state)
{
	const struct cuda_library *cu = &device->backend->library;
	struct cuda_lanes *lanes = device->lanes;
	const int priority = cuda_stream_priority(lanes, state->lane->kind);
	CUstream stream = NULL;

	if (!state->whole_event && cuda_event_take(device, false, &state->whole_event, NULL) < 0)
		return CUDA_ERROR_OUT_OF_MEMORY;
	CUresult result =
		cu->cuGreenCtxStreamCreate(&stream, partition_part_of(lanes, state)->context,
					   CU_STREAM_NON_BLOCKING, priority);
	if (result == CUDA_SUCCESS)
		state->lane->stream = stream;
	return result;
}

/* The caller waits for no work on the stream. */
static void lane_leave_part(struct backend_device *device, struct cuda_lane_state *state)
{
	if (!cuda_lane_is_apart(state))
		return;
	(void)device->backend->library.cuStreamDestroy(state->lane->stream);
	state->lane->stream = state->whole;
	state->has_tail_event = false;
}

void cuda_partition_join(struct cuda_lane_state *state)
{
	struct backend_device *device = state->lane->device;

	if (device->lanes->partition.rest.units > 0 && lane_may_be_apart(state))
		(void)lane_enter_part(device, state);
}

int cuda_partition_leave(struct cuda_lane_state *state, struct backend_fault *fault_out)
{
	struct backend_device *device = state->lane->device;
	CUresult result = CUDA_SUCCESS;

	if (cuda_lane_is_apart(state)) {
		/* The lane's present work ends before later work on any stream. */
		result = cuda_whole_begin(state);
		if (result != CUDA_SUCCESS)
			return cuda_fault(device, &device->backend->library, result, fault_out,
					  "cannot order two streams");
		lane_leave_part(device, state);
	}
	state->is_known = true;
	return 0;
}

void cuda_partition_forget(struct cuda_lane_state *state)
{
	struct backend_device *device = state->lane->device;

	lane_leave_part(device, state);
	if (state->whole_event)
		cuda_event_give(device, false, state->whole_event);
	state->whole_event = NULL;
}

/* --------------------------------- on the whole device ---------------------------------- */

static CUresult stream_wait_for_stream(const struct cuda_lane_state *state, CUstream first,
				       CUstream second)
{
	const struct cuda_library *cu = &state->lane->device->backend->library;

	if (first == second)
		return CUDA_SUCCESS;
	CUresult result = cu->cuEventRecord(state->whole_event, first);
	return result == CUDA_SUCCESS
		       ? cu->cuStreamWaitEvent(second, state->whole_event, CU_EVENT_WAIT_DEFAULT)
		       : result;
}

CUresult cuda_whole_begin(const struct cuda_lane_state *state)
{
	return stream_wait_for_stream(state, state->lane->stream, state->whole);
}

CUresult cuda_whole_end(const struct cuda_lane_state *state)
{
	return stream_wait_for_stream(state, state->whole, state->lane->stream);
}

bool cuda_launch_needs_whole(const struct cuda_lane_state *state, const struct cuda_launch *launch)
{
	struct cuda_lanes *lanes = state->lane->device->lanes;
	const struct cuda_library *cu = &state->lane->device->backend->library;
	const uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
	int resident = 0;

	if (!cuda_lane_is_apart(state))
		return false;
	if ((uint64_t)launch->cluster[0] * launch->cluster[1] * launch->cluster[2] >
	    CLUSTER_ANYWHERE)
		return true;
	if (!launch->cooperative)
		return false;
	if (!cu->cuOccupancyMaxActiveBlocksPerMultiprocessor ||
	    cu->cuOccupancyMaxActiveBlocksPerMultiprocessor(&resident, launch->function,
							    (int)threads,
							    launch->shared_bytes) != CUDA_SUCCESS ||
	    resident < 0)
		return true;
	const double groups = (double)launch->grid[0] * launch->grid[1] * launch->grid[2];
	return groups > (double)resident * partition_part_of(lanes, state)->units;
}

/* ------------------------------------ made and ended ------------------------------------ */

static void end_partition(struct backend_device *device)
{
	const struct cuda_library *cu = &device->backend->library;
	struct cuda_partition *partition = &device->lanes->partition;

	for (struct cuda_lane_state *state = device->lanes->first; state; state = state->next)
		lane_leave_part(device, state);
	/* The streams of the partition are destroyed before its contexts. */
	if (partition->few.context)
		(void)cu->cuGreenCtxDestroy(partition->few.context);
	if (partition->rest.context)
		(void)cu->cuGreenCtxDestroy(partition->rest.context);
	partition->few = partition->rest = (struct cuda_part){.units = 0};
}

static CUresult partition_make_part(struct backend_device *device, CUdevResource *resource,
				    struct cuda_part *part)
{
	const struct cuda_library *cu = &device->backend->library;
	CUdevResourceDesc description = NULL;

	CUresult result = cu->cuDevResourceGenerateDesc(&description, resource, 1);
	if (result == CUDA_SUCCESS)
		result = cu->cuGreenCtxCreate(&part->context, description, device->facts->device,
					      CU_GREEN_CTX_DEFAULT_STREAM);
	if (result != CUDA_SUCCESS)
		part->context = NULL;
	return result;
}

static CUresult partition_divide(struct backend_device *device)
{
	const struct cuda_library *cu = &device->backend->library;
	struct cuda_partition *partition = &device->lanes->partition;
	CUdevResource all, few, rest;
	unsigned groups = 1;

	memset(&all, 0, sizeof(all));
	memset(&few, 0, sizeof(few));
	memset(&rest, 0, sizeof(rest));
	CUresult result =
		cu->cuDeviceGetDevResource(device->facts->device, &all, CU_DEV_RESOURCE_TYPE_SM);
	if (result == CUDA_SUCCESS)
		result = cu->cuDevSmResourceSplitByCount(
			&few, &groups, &all, &rest, 0,
			partition_only_spares(device)
				? partition_spared_units(device)
				: device->backend->settings.latency_multiprocessors);
	if (result == CUDA_SUCCESS && (groups != 1 || few.sm.smCount == 0 || rest.sm.smCount == 0))
		result = CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
	if (result == CUDA_SUCCESS && !partition_only_spares(device))
		result = partition_make_part(device, &few, &partition->few);
	if (result == CUDA_SUCCESS)
		result = partition_make_part(device, &rest, &partition->rest);
	if (result == CUDA_SUCCESS) {
		partition->few.units = partition_only_spares(device) ? 0 : few.sm.smCount;
		partition->rest.units = rest.sm.smCount;
	}
	return result;
}

/*
 * Makes all calls that lanes make on streams, on a stream of the part. The driver's guide does not
 * guarantee that events and functions of the primary context are valid there. The stream is idle,
 * so no call takes long.
 */
static CUresult partition_try_part(struct backend_device *device, const struct cuda_part *part,
				   CUevent start, CUevent last)
{
	const struct cuda_library *cu = &device->backend->library;
	struct cuda_lanes *lanes = device->lanes;
	const CUdeviceptr nobodys =
		lanes->words_device + (CUdeviceptr)CUDA_WORDS_MAX * CUDA_WORD_STRIDE;
	CUstream stream = NULL;
	float took = 0;

	CUresult result = cu->cuGreenCtxStreamCreate(&stream, part->context, CU_STREAM_NON_BLOCKING,
						     lanes->priority);
	if (result != CUDA_SUCCESS)
		return result;
	result = cu->cuEventRecord(start, lanes->model);
	if (result == CUDA_SUCCESS)
		result = cu->cuStreamWaitEvent(stream, start, CU_EVENT_WAIT_DEFAULT);
	if (result == CUDA_SUCCESS && lanes->blank)
		result = cu->cuLaunchKernel(lanes->blank, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
	if (result == CUDA_SUCCESS)
		result = cu->cuStreamWriteValue32(stream, nobodys, 0, 0);
	if (result == CUDA_SUCCESS)
		result = cu->cuEventRecord(last, stream);
	if (result == CUDA_SUCCESS)
		result = cu->cuStreamWaitEvent(lanes->model, last, CU_EVENT_WAIT_DEFAULT);
	if (result == CUDA_SUCCESS)
		result = cu->cuStreamSynchronize(lanes->model);
	if (result == CUDA_SUCCESS)
		result = cu->cuEventElapsedTime(&took, start, last);
	(void)cu->cuStreamDestroy(stream);
	return result;
}

static CUresult partition_try_parts(struct backend_device *device)
{
	const struct cuda_partition *partition = &device->lanes->partition;
	CUevent start = NULL, last = NULL;
	CUresult result = CUDA_ERROR_OUT_OF_MEMORY;

	if (cuda_event_take(device, true, &start, NULL) == 0 &&
	    cuda_event_take(device, true, &last, NULL) == 0)
		result = partition->few.context
				 ? partition_try_part(device, &partition->few, start, last)
				 : CUDA_SUCCESS;
	if (result == CUDA_SUCCESS)
		result = partition_try_part(device, &partition->rest, start, last);
	cuda_event_give(device, true, start);
	cuda_event_give(device, true, last);
	return result;
}

static void make_partition(struct backend_device *device)
{
	struct cuda_partition *partition = &device->lanes->partition;

	CUresult result = partition_divide(device);
	if (result == CUDA_SUCCESS)
		result = partition_try_parts(device);
	for (struct cuda_lane_state *state = device->lanes->first; result == CUDA_SUCCESS && state;
	     state = state->next)
		if (lane_may_be_apart(state))
			result = lane_enter_part(device, state);
	if (result == CUDA_SUCCESS)
		return;
	/* A result that ends the device is returned by the next call that has a fault to fill. */
	(void)cuda_fault(device, &device->backend->library, result, NULL,
			 "cannot set multiprocessors apart");
	end_partition(device);
	partition->is_refused = true;
}

static bool partition_has_use(const struct backend_device *device)
{
	return !partition_only_spares(device) || device->lanes->beside_count > 0;
}

/* True if a partition must be made or ended in the next quiet moment. */
static bool cuda_partition_is_due(const struct backend_device *device)
{
	const struct cuda_partition *partition = &device->lanes->partition;
	bool has = partition->rest.units > 0;

	return partition->is_wanted ? !has && !partition->is_refused && partition_has_use(device)
				    : has;
}

bool cuda_partition_wants_quiet(const struct backend_device *device)
{
	const struct cuda_partition *partition = &device->lanes->partition;

	if (!cuda_partition_is_due(device))
		return false;
	return !partition_only_spares(device) || device->lanes->in_flight == 0 ||
	       clock_now_ns() < partition->asks_until_ns;
}

void cuda_partition_step(struct backend_device *device)
{
	if (!cuda_partition_is_due(device) || cuda_enter(device, NULL) < 0)
		return;
	if (device->lanes->partition.is_wanted)
		make_partition(device);
	else
		end_partition(device);
}

void cuda_partition_close(struct backend_device *device)
{
	end_partition(device);
}

void cuda_latency_wanted(struct backend_device *device, uint32_t reasons)
{
	struct cuda_partition *partition = &device->lanes->partition;
	const bool is_wanted = partition_only_spares(device)
				       ? reasons != 0 && partition_spared_units(device) > 0
				       : (reasons & BACKEND_APART_LATENCY) != 0;

	/* In the application's own context, the service has no multiprocessors to divide. */
	partition->is_wanted = is_wanted && !device->is_native &&
			       cuda_partition_is_possible(&device->backend->library);
	partition->is_refused = partition->is_refused && is_wanted;
	const uint64_t now_ns = clock_now_ns();
	if (now_ns < partition->asks_again_ns)
		return;
	partition->asks_until_ns = now_ns + ASKS_NS;
	partition->asks_again_ns = now_ns + ASKS_AGAIN_NS;
}

uint32_t cuda_latency_units(struct backend_device *device)
{
	return device->lanes->partition.few.units;
}
