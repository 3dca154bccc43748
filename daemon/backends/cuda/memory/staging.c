#include "cuda/memory/staging_state.h"

#include "cuda/memory/state.h"
#include "status.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static_assert(CUDA_STAGING_BYTES == CUDA_SLOT_SETS * CUDA_SLOTS_PER_SET * CUDA_SLOT_BYTES,
	      "they fill it");

CUresult cuda_slots_pin(const struct cuda_library *cu, void **slots_out)
{
	return cu->cuMemHostAlloc(slots_out, CUDA_STAGING_BYTES, 0);
}

static int open_slots(struct cuda_staging *staging, struct backend_fault *fault_out)
{
	struct backend_device *device = staging->device;
	const struct cuda_library *cuda = &device->backend->library;

	staging->pinned = device->ahead.slots;
	device->ahead.slots = NULL;
	CUresult result = staging->pinned ? CUDA_SUCCESS : cuda_slots_pin(cuda, &staging->pinned);
	for (uint32_t i = 0; result == CUDA_SUCCESS && i < CUDA_SLOT_SETS; i++) {
		unsigned char *slot =
			(unsigned char *)staging->pinned + i * CUDA_SLOTS_PER_SET * CUDA_SLOT_BYTES;
		for (uint32_t k = 0; k < CUDA_SLOTS_PER_SET; k++)
			staging->sets[i].slots[k] = slot + k * CUDA_SLOT_BYTES;
		result = cuda->cuEventCreate(&staging->sets[i].over, CU_EVENT_DISABLE_TIMING);
	}
	if (result != CUDA_SUCCESS)
		return cuda_fault(device, cuda, result, fault_out,
				  "cannot make pinned memory for transfers");
	return 0;
}

int cuda_staging_open(struct backend_device *device, struct cuda_staging **staging_out,
		      struct backend_fault *fault_out)
{
	struct cuda_staging *staging = calloc(1, sizeof(*staging));

	if (!staging)
		return cuda_no_memory(fault_out, "a device");
	staging->device = device;
	staging->last = &staging->first;
	(void)pthread_mutex_init(&staging->lock, NULL);
	(void)pthread_cond_init(&staging->work, NULL);
	(void)pthread_cond_init(&staging->progress, NULL);
	int error = open_slots(staging, fault_out);
	if (error < 0) {
		cuda_staging_close(staging);
		return error;
	}
	*staging_out = staging;
	return 0;
}

void cuda_staging_close(struct cuda_staging *staging)
{
	if (!staging)
		return;
	const struct cuda_library *cuda = &staging->device->backend->library;
	cuda_staging_lock(staging);
	staging->stop = true;
	(void)pthread_cond_signal(&staging->work);
	cuda_staging_unlock(staging);
	if (staging->started)
		(void)pthread_join(staging->thread, NULL);
	while (staging->kept) {
		struct cuda_finish *transfer = staging->kept;
		staging->kept = transfer->kept_next;
		free(transfer);
	}
	for (uint32_t i = 0; i < CUDA_SLOT_SETS; i++)
		if (staging->sets[i].over)
			(void)cuda->cuEventDestroy(staging->sets[i].over);
	if (staging->pinned)
		(void)cuda->cuMemFreeHost(staging->pinned);
	(void)pthread_cond_destroy(&staging->progress);
	(void)pthread_cond_destroy(&staging->work);
	(void)pthread_mutex_destroy(&staging->lock);
	free(staging);
}

static CUresult enqueue_pieces(struct backend_lane *lane, struct cuda_finish *transfer,
			       uint64_t end)
{
	const struct cuda_library *cuda = &lane->device->backend->library;
	const struct cuda_rect_side side = transfer->device;
	CUresult result = CUDA_SUCCESS;

	for (uint64_t index = transfer->sent; result == CUDA_SUCCESS && index < end; index++) {
		struct cuda_piece piece = cuda_staging_piece(transfer, index);
		struct cuda_rect_side slot = {.host = transfer->set
							      ->slots[index % CUDA_SLOTS_PER_SET]},
				      device;
		*(transfer->to_device ? &piece.box.source : &piece.box.destination) =
			copy_box_tight(&piece.box);
		struct copy_box box = side.array ? piece.box : copy_box_simplify(&piece.box);
		device = side;
		device.address += transfer->to_device ? piece.destination : piece.source;
		device.byte += piece.byte;
		device.row += piece.row;
		device.slice += piece.slice;
		if (transfer->to_device) {
			result = cuda->cuLaunchHostFunc(lane->stream, cuda_staging_host_function,
							transfer);
			if (result == CUDA_SUCCESS)
				result = cuda_rect_put(cuda, lane->stream, &box, device, slot);
		} else {
			result = cuda_rect_put(cuda, lane->stream, &box, slot, device);
			if (result == CUDA_SUCCESS)
				result = cuda->cuLaunchHostFunc(
					lane->stream, cuda_staging_host_function, transfer);
		}
		transfer->sent = index + 1;
	}
	return result;
}

/* From now on no thread touches the host's memory, also for pieces in flight. The record is kept,
 * because the driver may still call one of its host functions. */
static void transfer_give_up(struct cuda_finish *transfer)
{
	struct cuda_staging *staging = transfer->staging;

	cuda_staging_lock(staging);
	transfer->cancelled = true;
	cuda_staging_unqueue(staging, transfer);
	(void)pthread_cond_broadcast(&staging->progress);
	while (transfer->copying || transfer->inside)
		cuda_staging_await(staging);
	transfer->kept_next = staging->kept;
	staging->kept = transfer;
	cuda_staging_unlock(staging);
}

static int staging_start_thread(struct cuda_staging *staging, struct backend_fault *fault_out)
{
	if (staging->started)
		return 0;
	int error = pthread_create(&staging->thread, NULL, cuda_staging_copy_main, staging);
	if (error != 0)
		return cuda_fault_words(fault_out, -error, STATUS_MEMORY_ALLOCATION,
					"no thread for transfers");
	staging->started = true;
	return 0;
}

uint32_t cuda_finish_pieces(const struct cuda_finish *transfer)
{
	return (uint32_t)cuda_staging_smaller(transfer->piece_count, CUDA_HOST_FUNCTIONS_MOST);
}

bool cuda_finish_is_sent(const struct cuda_finish *transfer)
{
	return transfer->result != CUDA_SUCCESS || transfer->sent == transfer->piece_count;
}

/* The index behind the last piece for which there is room. */
static uint64_t end_of_room(struct cuda_finish *transfer)
{
	struct cuda_staging *staging = transfer->staging;

	cuda_staging_lock(staging);
	uint64_t begun = transfer->begun;
	cuda_staging_unlock(staging);
	return cuda_staging_smaller(transfer->piece_count, begun + CUDA_HOST_FUNCTIONS_MOST);
}

/* Even after a failure, the pieces on the stream now use the set. */
CUresult cuda_finish_send(struct backend_lane *lane, struct cuda_finish *transfer, bool all)
{
	const struct backend *backend = lane->device->backend;
	const bool is_bounded = !all && backend->settings.lane_operations > 0;

	if (cuda_finish_is_sent(transfer))
		return transfer->result;
	transfer->lane = lane;
	if (!transfer->set)
		transfer->result = cuda_staging_take_set(lane, transfer, !is_bounded);
	if (!transfer->set)
		return CUDA_SUCCESS;
	if (transfer->result == CUDA_SUCCESS)
		transfer->result = enqueue_pieces(
			lane, transfer, is_bounded ? end_of_room(transfer) : transfer->piece_count);
	transfer->set->open = cuda_finish_is_sent(transfer) ? NULL : transfer;
	if (transfer->set->open)
		return CUDA_SUCCESS;
	CUresult recorded = backend->library.cuEventRecord(transfer->set->over, lane->stream);
	if (transfer->result == CUDA_SUCCESS)
		transfer->result = recorded;
	transfer->set->must_wait |= transfer->result != CUDA_SUCCESS;
	return transfer->result;
}

int cuda_staging_enqueue(struct backend_lane *lane, bool to_device, struct cuda_rect_side device,
			 void *host, const struct copy_box *box, struct cuda_finish **finish_out,
			 struct backend_fault *fault_out)
{
	struct cuda_staging *staging = lane->device->memory->staging;
	struct cuda_finish *transfer = calloc(1, sizeof(*transfer));

	if (!transfer)
		return cuda_no_memory(fault_out, "a transfer");
	transfer->staging = staging;
	transfer->to_device = to_device;
	transfer->host = host;
	transfer->device = device;
	transfer->box = *box;
	transfer->steps = cuda_staging_steps(box);
	transfer->piece_count =
		transfer->steps.columns * transfer->steps.bands * transfer->steps.layers;
	int error = transfer->piece_count > 1 ? staging_start_thread(staging, fault_out) : 0;
	if (error < 0) {
		free(transfer);
		return error;
	}
	CUresult result = cuda_finish_send(lane, transfer, false);
	if (result != CUDA_SUCCESS) {
		transfer->set->users--;
		transfer_give_up(transfer);
		return cuda_fault(lane->device, &lane->device->backend->library, result, fault_out,
				  to_device ? "cannot write to a buffer"
					    : "cannot read from a buffer");
	}
	*finish_out = transfer;
	return 0;
}

void cuda_finish_run(struct cuda_finish *finish)
{
	if (!finish)
		return;
	if (finish->set)
		finish->set->users--;
	if (finish->set && finish->set->open == finish)
		finish->set->open = NULL;
	/* Pieces of a transfer that was not sent whole may still be in flight. */
	if (cuda_lost(finish->staging->device) || !cuda_finish_is_sent(finish) ||
	    finish->result != CUDA_SUCCESS)
		transfer_give_up(finish);
	else
		free(finish);
}
