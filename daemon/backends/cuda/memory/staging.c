#include "cuda/memory/staging.h"

#include "cuda/memory/state.h"
#include "cuda/driver/rect.h"
#include "status.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define SLOT_BYTES    ((size_t)2 << 20)
#define SLOTS_PER_SET ((size_t)2)
#define SETS          ((size_t)4)

/* The slots of one transfer; another one that gets them waits on the device until it is through. */
struct slot_set {
	unsigned char *slots[SLOTS_PER_SET];
	uint32_t users; /* transfers that are not finished */
	bool is_behind; /* one of these had something before it when it got the set */
	const struct backend_lane *lane; /* of the latest of these */
	bool must_wait; /* a transfer was given up half-way: only the event shows when it is over */
	struct cuda_finish *open; /* not all of it is on its stream; NULL: there is none */
	uint64_t used;            /* when: a count of transfers */
	CUevent over;             /* recorded behind the last transfer */
};

/* How large a piece is: bytes of a row; rows, if they fit whole; slices, if they do. Then how many
 * pieces that makes. */
struct steps {
	uint64_t bytes, rows, slices;
	uint64_t columns, bands, layers;
};

struct cuda_finish {
	struct cuda_staging *staging;
	struct slot_set *set; /* NULL: it waits for one, and none of it is sent */
	bool to_device;
	unsigned char *host;
	struct cuda_rect_side device;
	struct copy_box box;
	struct steps steps;
	uint64_t piece_count;
	struct backend_lane *lane; /* while it is not all sent */
	uint64_t sent;             /* pieces that are on the stream */
	CUresult result;           /* what the driver has refused one with */
	/* With the lock. */
	uint64_t begun;   /* host functions that have been called */
	uint64_t allowed; /* pieces that the copy thread may do: up to here */
	uint64_t done;    /* pieces that it has done */
	bool queued, copying, inside, cancelled;
	struct cuda_finish *queue_next;
	struct cuda_finish
		*kept_next; /* given up: freed at close, because the driver may still call */
};

struct cuda_staging {
	struct backend_device *device;
	void *pinned;
	struct slot_set sets[SETS];
	uint64_t transfers;
	pthread_mutex_t lock;
	pthread_cond_t work;     /* for the copy thread */
	pthread_cond_t progress; /* something has been copied, or is not going on any more */
	pthread_t thread;
	bool started, stop;
	struct cuda_finish *first, **last; /* with something to do for the copy thread */
	struct cuda_finish *kept;
};

static void lock_staging(struct cuda_staging *staging)
{
	(void)pthread_mutex_lock(&staging->lock);
}

static void unlock_staging(struct cuda_staging *staging)
{
	(void)pthread_mutex_unlock(&staging->lock);
}

static void wait_for_progress(struct cuda_staging *staging)
{
	(void)pthread_cond_wait(&staging->progress, &staging->lock);
}

static uint64_t smaller_size(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The box is not empty. */
static struct steps steps_of(const struct copy_box *box)
{
	struct steps steps = {.bytes = 1, .rows = 1, .slices = 1};

	if (copy_box_empty(box))
		return steps;
	steps.bytes = smaller_size(box->width_bytes, SLOT_BYTES);
	if (steps.bytes == box->width_bytes)
		steps.rows = smaller_size(box->rows, SLOT_BYTES / steps.bytes);
	if (steps.bytes == box->width_bytes && steps.rows == box->rows)
		steps.slices = smaller_size(box->slices, SLOT_BYTES / (steps.bytes * steps.rows));
	steps.columns = (box->width_bytes - 1) / steps.bytes + 1;
	steps.bands = (box->rows - 1) / steps.rows + 1;
	steps.layers = (box->slices - 1) / steps.slices + 1;
	return steps;
}

/* A part of the box, and where it begins on both sides; the host's side lies tightly packed in a
 * slot instead. */
struct piece {
	struct copy_box box;
	uint64_t source, destination;
	uint64_t byte, row, slice; /* the same, counted in the box */
};

static struct piece piece_of(const struct cuda_finish *transfer, uint64_t index)
{
	const struct copy_box *box = &transfer->box;
	const struct steps *steps = &transfer->steps;
	uint64_t byte = index % steps->columns * steps->bytes;
	uint64_t row = index / steps->columns % steps->bands * steps->rows;
	uint64_t slice = index / steps->columns / steps->bands * steps->slices;
	struct piece piece = {.box = *box, .byte = byte, .row = row, .slice = slice};

	piece.box.width_bytes = smaller_size(steps->bytes, box->width_bytes - byte);
	piece.box.rows = smaller_size(steps->rows, box->rows - row);
	piece.box.slices = smaller_size(steps->slices, box->slices - slice);
	piece.source = slice * box->source.slice_bytes + row * box->source.row_bytes + byte;
	piece.destination =
		slice * box->destination.slice_bytes + row * box->destination.row_bytes + byte;
	return piece;
}

static void staging_copy_piece(const struct cuda_finish *transfer, uint64_t index)
{
	struct piece piece = piece_of(transfer, index);
	unsigned char *slot = transfer->set->slots[index % SLOTS_PER_SET];

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

/* With the lock. */
static void unqueue_transfer(struct cuda_staging *staging, struct cuda_finish *transfer)
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

/* Sends a piece of each transfer in turn. */
static void *run_copy_thread(void *argument)
{
	struct cuda_staging *staging = argument;

	lock_staging(staging);
	while (!staging->stop) {
		struct cuda_finish *transfer = staging->first;
		if (!transfer) {
			(void)pthread_cond_wait(&staging->work, &staging->lock);
			continue;
		}
		unqueue_transfer(staging, transfer);
		uint64_t piece = transfer->done;
		transfer->copying = true;
		unlock_staging(staging);
		staging_copy_piece(transfer, piece);
		lock_staging(staging);
		transfer->copying = false;
		transfer->done++;
		if (!transfer->cancelled)
			queue_transfer(staging, transfer);
		(void)pthread_cond_broadcast(&staging->progress);
	}
	unlock_staging(staging);
	return NULL;
}

/* Before the device copies piece n out of its slot: it must be there. Those before n are on the
 * device. */
static void before_copy_in(struct cuda_staging *staging, struct cuda_finish *transfer)
{
	uint64_t piece = transfer->begun++, allowed = piece + SLOTS_PER_SET;

	transfer->allowed = allowed < transfer->piece_count ? allowed : transfer->piece_count;
	queue_transfer(staging, transfer);
	while (transfer->done <= piece && !transfer->cancelled)
		wait_for_progress(staging);
}

/* After the device has copied piece n into its slot: that of the next one must be empty, at the end
 * all of them. */
static void after_copy_out(struct cuda_staging *staging, struct cuda_finish *transfer)
{
	uint64_t piece = transfer->begun++, needed = transfer->piece_count;

	if (piece + 1 < transfer->piece_count)
		needed = piece + 2 > SLOTS_PER_SET ? piece + 2 - SLOTS_PER_SET : 0;
	transfer->allowed = piece + 1;
	queue_transfer(staging, transfer);
	while (transfer->done < needed && !transfer->cancelled)
		wait_for_progress(staging);
}

/* On the driver's thread. A transfer of one piece is copied right here: another thread would only
 * make it later. */
static void host_function(void *argument)
{
	struct cuda_finish *transfer = argument;
	struct cuda_staging *staging = transfer->staging;

	lock_staging(staging);
	if (!transfer->cancelled) {
		transfer->inside = true;
		if (transfer->piece_count > 1 && transfer->to_device) {
			before_copy_in(staging, transfer);
		} else if (transfer->piece_count > 1) {
			after_copy_out(staging, transfer);
		} else {
			unlock_staging(staging);
			staging_copy_piece(transfer, 0);
			lock_staging(staging);
		}
		transfer->inside = false;
		(void)pthread_cond_broadcast(&staging->progress);
	}
	unlock_staging(staging);
}

static_assert(CUDA_STAGING_BYTES == SETS * SLOTS_PER_SET * SLOT_BYTES, "they fill it");

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
	for (uint32_t i = 0; result == CUDA_SUCCESS && i < SETS; i++) {
		unsigned char *slot =
			(unsigned char *)staging->pinned + i * SLOTS_PER_SET * SLOT_BYTES;
		for (uint32_t k = 0; k < SLOTS_PER_SET; k++)
			staging->sets[i].slots[k] = slot + k * SLOT_BYTES;
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
	lock_staging(staging);
	staging->stop = true;
	(void)pthread_cond_signal(&staging->work);
	unlock_staging(staging);
	if (staging->started)
		(void)pthread_join(staging->thread, NULL);
	while (staging->kept) {
		struct cuda_finish *transfer = staging->kept;
		staging->kept = transfer->kept_next;
		free(transfer);
	}
	for (uint32_t i = 0; i < SETS; i++)
		if (staging->sets[i].over)
			(void)cuda->cuEventDestroy(staging->sets[i].over);
	if (staging->pinned)
		(void)cuda->cuMemFreeHost(staging->pinned);
	(void)pthread_cond_destroy(&staging->progress);
	(void)pthread_cond_destroy(&staging->work);
	(void)pthread_mutex_destroy(&staging->lock);
	free(staging);
}

static bool is_idle(const struct slot_set *set)
{
	return set->users == 0 && !set->must_wait;
}

/* What waits for this set may wait for a kernel that does not end. */
static bool may_stay_in_use(const struct slot_set *set)
{
	return set->users > 0 && set->is_behind;
}

/*
 * A transfer that has a kernel before it on its lane, or waits for one, keeps its set until that is
 * over. So such transfers get no set for which others wait, except on their own lane, and leave one
 * set to those that can begin at once.
 */
static bool may_take(const struct cuda_staging *staging, const struct slot_set *set,
		     const struct backend_lane *lane, bool can_begin)
{
	uint32_t others = 0;

	if (set->open)
		return false;
	if (may_stay_in_use(set))
		return !can_begin && set->lane == lane;
	for (uint32_t i = 0; i < SETS; i++)
		others += &staging->sets[i] != set && !may_stay_in_use(&staging->sets[i]);
	return can_begin || others > 0;
}

/*
 * Of the sets that it may take, the one of its own lane, which costs no wait; else an idle one;
 * else the one that was given out longest ago: it is the next to be free. NULL: it may take none.
 */
static struct slot_set *choose_set(struct cuda_staging *staging, const struct backend_lane *lane,
				   bool can_begin)
{
	struct slot_set *best = NULL;

	for (uint32_t i = 0; i < SETS; i++) {
		struct slot_set *set = &staging->sets[i];
		const bool is_own = !is_idle(set) && set->lane == lane;
		if (!may_take(staging, set, lane, can_begin))
			continue;
		if (is_own)
			return set;
		if (!best ||
		    (is_idle(set) != is_idle(best) ? is_idle(set) : set->used < best->used))
			best = set;
	}
	return best;
}

/* For a transfer that cannot wait for one. One with a transfer that is not all sent comes last. */
static struct slot_set *choose_any_set(struct cuda_staging *staging)
{
	struct slot_set *best = &staging->sets[0];

	for (uint32_t i = 1; i < SETS; i++) {
		struct slot_set *set = &staging->sets[i];
		if (!set->open != !best->open ? !set->open : set->used < best->used)
			best = set;
	}
	return best;
}

static bool is_all_idle(const struct cuda_staging *staging)
{
	for (uint32_t i = 0; i < SETS; i++)
		if (!is_idle(&staging->sets[i]))
			return false;
	return true;
}

/*
 * A transfer that may take no set gets none now. With `all` it takes one nevertheless. If all have
 * a transfer that is not all sent, the rest of one is sent first, which may wait for the device.
 */
static CUresult take_set(struct backend_lane *lane, struct cuda_finish *transfer, bool all)
{
	const struct cuda_library *cuda = &lane->device->backend->library;
	struct cuda_staging *staging = transfer->staging;
	/* The driver is asked only where it matters. */
	const bool can_begin =
		!is_all_idle(staging) && cuda->cuStreamQuery(lane->stream) != CUDA_ERROR_NOT_READY;
	struct slot_set *set = choose_set(staging, lane, can_begin);

	if (!set && !all)
		return CUDA_SUCCESS;
	if (!set)
		set = choose_any_set(staging);
	if (set->open) /* its event is to be behind all of that */
		(void)cuda_finish_send(set->open->lane, set->open, true);
	const bool is_free = is_idle(set);
	set->is_behind = (!is_free && set->is_behind) || !can_begin;
	transfer->set = set;
	set->lane = lane;
	set->used = ++staging->transfers;
	set->users++;
	return is_free ? CUDA_SUCCESS
		       : cuda->cuStreamWaitEvent(lane->stream, set->over, CU_EVENT_WAIT_DEFAULT);
}

static CUresult enqueue_pieces(struct backend_lane *lane, struct cuda_finish *transfer,
			       uint64_t end)
{
	const struct cuda_library *cuda = &lane->device->backend->library;
	const struct cuda_rect_side side = transfer->device;
	CUresult result = CUDA_SUCCESS;

	for (uint64_t index = transfer->sent; result == CUDA_SUCCESS && index < end; index++) {
		struct piece piece = piece_of(transfer, index);
		struct cuda_rect_side slot = {.host = transfer->set->slots[index % SLOTS_PER_SET]},
				      device;
		*(transfer->to_device ? &piece.box.source : &piece.box.destination) =
			copy_box_tight(&piece.box);
		struct copy_box box = side.array ? piece.box : copy_box_simplify(&piece.box);
		device = side;
		device.address += transfer->to_device ? piece.destination : piece.source;
		device.byte = piece.byte;
		device.row = piece.row;
		device.slice = piece.slice;
		if (transfer->to_device) {
			result = cuda->cuLaunchHostFunc(lane->stream, host_function, transfer);
			if (result == CUDA_SUCCESS)
				result = cuda_rect_put(cuda, lane->stream, &box, device, slot);
		} else {
			result = cuda_rect_put(cuda, lane->stream, &box, slot, device);
			if (result == CUDA_SUCCESS)
				result = cuda->cuLaunchHostFunc(lane->stream, host_function,
								transfer);
		}
		transfer->sent = index + 1;
	}
	return result;
}

/*
 * The host's memory is left alone from now on, also by what is on its way. The record stays: the
 * driver may have a host function of it still to call.
 */
static void transfer_give_up(struct cuda_finish *transfer)
{
	struct cuda_staging *staging = transfer->staging;

	lock_staging(staging);
	transfer->cancelled = true;
	unqueue_transfer(staging, transfer);
	(void)pthread_cond_broadcast(&staging->progress);
	while (transfer->copying || transfer->inside)
		wait_for_progress(staging);
	transfer->kept_next = staging->kept;
	staging->kept = transfer;
	unlock_staging(staging);
}

static int staging_start_thread(struct cuda_staging *staging, struct backend_fault *fault_out)
{
	if (staging->started)
		return 0;
	int error = pthread_create(&staging->thread, NULL, run_copy_thread, staging);
	if (error != 0)
		return cuda_fault_words(fault_out, -error, STATUS_MEMORY_ALLOCATION,
					"no thread for transfers");
	staging->started = true;
	return 0;
}

uint32_t cuda_finish_pieces(const struct cuda_finish *transfer)
{
	return (uint32_t)smaller_size(transfer->piece_count, CUDA_HOST_FUNCTIONS_MOST);
}

bool cuda_finish_is_sent(const struct cuda_finish *transfer)
{
	return transfer->result != CUDA_SUCCESS || transfer->sent == transfer->piece_count;
}

/* The last piece for which there is room. */
static uint64_t end_of_room(struct cuda_finish *transfer)
{
	struct cuda_staging *staging = transfer->staging;

	lock_staging(staging);
	uint64_t begun = transfer->begun;
	unlock_staging(staging);
	return smaller_size(transfer->piece_count, begun + CUDA_HOST_FUNCTIONS_MOST);
}

/* Whether it went well or not, what is on the stream now uses the set. */
CUresult cuda_finish_send(struct backend_lane *lane, struct cuda_finish *transfer, bool all)
{
	const struct backend *backend = lane->device->backend;
	const bool is_bounded = !all && backend->settings.lane_operations > 0;

	if (cuda_finish_is_sent(transfer))
		return transfer->result;
	transfer->lane = lane;
	if (!transfer->set)
		transfer->result = take_set(lane, transfer, !is_bounded);
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
	transfer->steps = steps_of(box);
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
