/* The host's half of a transfer by slots: the pieces, and the threads that copy them. */
#include "cuda/memory/staging_state.h"

struct cuda_steps cuda_staging_steps(const struct copy_box *box)
{
	struct cuda_steps steps = {.bytes = 1, .rows = 1, .slices = 1};

	if (copy_box_empty(box))
		return steps;
	steps.bytes = cuda_staging_smaller(box->width_bytes, CUDA_SLOT_BYTES);
	if (steps.bytes == box->width_bytes)
		steps.rows = cuda_staging_smaller(box->rows, CUDA_SLOT_BYTES / steps.bytes);
	if (steps.bytes == box->width_bytes && steps.rows == box->rows)
		steps.slices = cuda_staging_smaller(box->slices,
						    CUDA_SLOT_BYTES / (steps.bytes * steps.rows));
	steps.columns = (box->width_bytes - 1) / steps.bytes + 1;
	steps.bands = (box->rows - 1) / steps.rows + 1;
	steps.layers = (box->slices - 1) / steps.slices + 1;
	return steps;
}

struct cuda_piece cuda_staging_piece(const struct cuda_finish *transfer, uint64_t index)
{
	const struct copy_box *box = &transfer->box;
	const struct cuda_steps *steps = &transfer->steps;
	uint64_t byte = index % steps->columns * steps->bytes;
	uint64_t row = index / steps->columns % steps->bands * steps->rows;
	uint64_t slice = index / steps->columns / steps->bands * steps->slices;
	struct cuda_piece piece = {.box = *box, .byte = byte, .row = row, .slice = slice};

	piece.box.width_bytes = cuda_staging_smaller(steps->bytes, box->width_bytes - byte);
	piece.box.rows = cuda_staging_smaller(steps->rows, box->rows - row);
	piece.box.slices = cuda_staging_smaller(steps->slices, box->slices - slice);
	piece.source = slice * box->source.slice_bytes + row * box->source.row_bytes + byte;
	piece.destination =
		slice * box->destination.slice_bytes + row * box->destination.row_bytes + byte;
	return piece;
}

static void staging_copy_piece(const struct cuda_finish *transfer, uint64_t index)
{
	struct cuda_piece piece = cuda_staging_piece(transfer, index);
	unsigned char *slot = transfer->set->slots[index % CUDA_SLOTS_PER_SET];

	if (transfer->to_device) {
		piece.box.destination = copy_box_tight(&piece.box);
		copy_box_move(&piece.box, slot, transfer->host + piece.source);
	} else {
		piece.box.source = copy_box_tight(&piece.box);
		copy_box_move(&piece.box, transfer->host + piece.destination, slot);
	}
}

/* With the lock. */
static void queue_transfer(struct cuda_staging *staging, struct cuda_finish *transfer)
{
	if (transfer->queued || transfer->copying || transfer->done >= transfer->allowed)
		return;
	transfer->queued = true;
	transfer->queue_next = NULL;
	*staging->last = transfer;
	staging->last = &transfer->queue_next;
	(void)pthread_cond_signal(&staging->work);
}

void cuda_staging_unqueue(struct cuda_staging *staging, struct cuda_finish *transfer)
{
	struct cuda_finish **place = &staging->first;

	if (!transfer->queued)
		return;
	while (*place != transfer)
		place = &(*place)->queue_next;
	*place = transfer->queue_next;
	if (!*place)
		staging->last = place;
	transfer->queued = false;
}

void *cuda_staging_copy_main(void *argument)
{
	struct cuda_staging *staging = argument;

	cuda_staging_lock(staging);
	while (!staging->stop) {
		struct cuda_finish *transfer = staging->first;
		if (!transfer) {
			(void)pthread_cond_wait(&staging->work, &staging->lock);
			continue;
		}
		cuda_staging_unqueue(staging, transfer);
		uint64_t piece = transfer->done;
		transfer->copying = true;
		cuda_staging_unlock(staging);
		staging_copy_piece(transfer, piece);
		cuda_staging_lock(staging);
		transfer->copying = false;
		transfer->done++;
		if (!transfer->cancelled)
			queue_transfer(staging, transfer);
		(void)pthread_cond_broadcast(&staging->progress);
	}
	cuda_staging_unlock(staging);
	return NULL;
}

/* Called before the device copies piece n out of its slot. Waits until the slot is filled. The
 * device has taken all pieces before n. */
static void staging_before_copy_in(struct cuda_staging *staging, struct cuda_finish *transfer)
{
	uint64_t piece = transfer->begun++, allowed = piece + CUDA_SLOTS_PER_SET;

	transfer->allowed = allowed < transfer->piece_count ? allowed : transfer->piece_count;
	queue_transfer(staging, transfer);
	while (transfer->done <= piece && !transfer->cancelled)
		cuda_staging_await(staging);
}

/* Called after the device has copied piece n into its slot. Waits until the slot of the next piece
 * is empty, or after the last piece until all slots are empty. */
static void staging_after_copy_out(struct cuda_staging *staging, struct cuda_finish *transfer)
{
	uint64_t piece = transfer->begun++, needed = transfer->piece_count;

	if (piece + 1 < transfer->piece_count)
		needed = piece + 2 > CUDA_SLOTS_PER_SET ? piece + 2 - CUDA_SLOTS_PER_SET : 0;
	transfer->allowed = piece + 1;
	queue_transfer(staging, transfer);
	while (transfer->done < needed && !transfer->cancelled)
		cuda_staging_await(staging);
}

/* Runs on the driver's thread. A transfer of one piece is copied here, because another thread would
 * only add a delay. */
void cuda_staging_host_function(void *argument)
{
	struct cuda_finish *transfer = argument;
	struct cuda_staging *staging = transfer->staging;

	cuda_staging_lock(staging);
	if (!transfer->cancelled) {
		transfer->inside = true;
		if (transfer->piece_count > 1 && transfer->to_device) {
			staging_before_copy_in(staging, transfer);
		} else if (transfer->piece_count > 1) {
			staging_after_copy_out(staging, transfer);
		} else {
			cuda_staging_unlock(staging);
			staging_copy_piece(transfer, 0);
			cuda_staging_lock(staging);
		}
		transfer->inside = false;
		(void)pthread_cond_broadcast(&staging->progress);
	}
	cuda_staging_unlock(staging);
}
