/* See host.h. */
#include "worker/spill/host.h"

#include "scheduler/state/device.h"
#include "scheduler/public/device.h"
#include "scheduler/state/scheduler.h"

#include "clock.h"
#include "status.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#define SMALLEST_SHIFT 12u
#define LARGE_BYTES                                                                                \
	((uintptr_t)2                                                                              \
	 << 20) /* a large page of most machines: a piece is pinned much sooner in these */
#define KEPT_PART 4u

/* Pieces without a bin are not kept. */
static bool spill_bytes_have_bin(uint64_t bytes)
{
	return bytes >> SMALLEST_SHIFT >> (SPILL_BINS / 4) == 0;
}

/* The size of pieces for a memory: large enough to be worth pinning. */
static uint64_t spill_piece_bytes(const struct scheduler *scheduler, uint64_t size_bytes)
{
	uint64_t bytes = SPILL_PIECE_BYTES, least = SPILL_PIN_PART * scheduler->spill_least_bytes;
	if (least < scheduler->page_bytes)
		least = scheduler->page_bytes;
	while (size_bytes / bytes >= SPILL_PIECES)
		bytes *= 2;
	while (size_bytes / bytes < SPILL_PIECES_WANTED && bytes / 2 >= least)
		bytes /= 2;
	return bytes;
}

static uint64_t round_up_piece(uint64_t bytes, uint64_t step)
{
	return (bytes + step - 1) / step * step;
}

/* The size of the piece that serves for so many bytes: at most a quarter, or a page, too large. */
static uint64_t spill_piece_size(const struct spill_host *host, uint64_t bytes)
{
	uint64_t pages = round_up_piece(bytes, host->device->scheduler->page_bytes);
	uint64_t step = 1ull << (63 - __builtin_clzll(pages)) >> 2;
	return step > host->device->scheduler->page_bytes ? round_up_piece(pages, step) : pages;
}

static uint32_t spill_bin_of_bytes(uint64_t bytes)
{
	uint32_t shift = 63u - (uint32_t)__builtin_clzll(bytes);
	return (shift - SMALLEST_SHIFT) * 4 + (uint32_t)(bytes >> (shift - 2) & 3);
}

/* --------------------------------------- mappings --------------------------------------- */

/* Maps a piece, at a place where a large page may begin if the piece can have one. */
static void *map_piece(uint64_t bytes)
{
	uint64_t more = bytes >= LARGE_BYTES ? LARGE_BYTES : 0;
	uint8_t *mapped = mmap(NULL, bytes + more, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mapped == MAP_FAILED)
		return NULL;
	if (more == 0)
		return mapped;
	uint64_t before = round_up_piece((uintptr_t)mapped, LARGE_BYTES) - (uintptr_t)mapped;
	if (before > 0)
		(void)munmap(mapped, before);
	if (more > before)
		(void)munmap(mapped + before + bytes, more - before);
	(void)madvise(mapped + before, bytes, MADV_HUGEPAGE);
	return mapped + before;
}

static struct spill_piece *make_piece(uint64_t bytes, bool is_whole)
{
	struct spill_piece *piece = malloc(sizeof(*piece));
	void *memory = piece ? map_piece(bytes) : NULL;
	if (!memory) {
		free(piece);
		return NULL;
	}
	/* An application with an embedded engine may fork. A device still writes to the pages of
	 * the parent. */
	(void)madvise(memory, bytes, MADV_DONTFORK);
	*piece = (struct spill_piece){.host = memory, .bytes = bytes, .is_whole = is_whole};
	return piece;
}

static void unregister_piece(struct spill_host *host, struct spill_piece *piece)
{
	if (!piece->registered)
		return;
	atomic_fetch_add(&host->device->scheduler->maintenance_count, 1);
	host->device->ops->host_unregister(piece->registered);
	atomic_fetch_sub(&host->device->scheduler->maintenance_count, 1);
	piece->registered = NULL;
}

static void end_piece(struct spill_host *host, struct spill_piece *piece)
{
	unregister_piece(host, piece);
	(void)munmap(piece->host, piece->bytes);
	free(piece);
}

/* -------------------------------------- the thread -------------------------------------- */

static void add_job(struct spill_host *host, struct spill_piece *piece)
{
	piece->is_job = true;
	piece->next_job = NULL;
	if (host->last_job)
		host->last_job->next_job = piece;
	else
		host->first_job = piece;
	host->last_job = piece;
	(void)pthread_cond_signal(&host->changed);
}

static struct spill_piece *take_job(struct spill_host *host)
{
	struct spill_piece *piece = host->first_job;
	host->first_job = piece->next_job;
	if (!host->first_job)
		host->last_job = NULL;
	return piece;
}

/* NULL: pinning has failed. Transfers are then slower. */
static struct backend_host *pin_piece(struct spill_host *host, const struct spill_piece *piece)
{
	struct scheduler_device *device = host->device;
	struct backend_fault fault = {.status = STATUS_SUCCESS};
	struct backend_host *registered = NULL;
	if (device->ops->host_register(device->handle, piece->host, piece->bytes, &registered,
				       &fault) < 0)
		return NULL;
	return registered;
}

/* With the lock, which is released meanwhile. Pins a piece that is not pinned, or ends a dropped
 * one. */
static void do_pin_job(struct spill_host *host)
{
	struct spill_piece *piece = take_job(host);
	bool pins = !piece->is_dropped && !host->quits && atomic_load(&host->device->gone) == 0;
	if (pins) {
		(void)pthread_mutex_unlock(&host->lock);
		atomic_fetch_add(&host->device->scheduler->maintenance_count, 1);
		struct backend_host *registered = pin_piece(host, piece);
		atomic_fetch_sub(&host->device->scheduler->maintenance_count, 1);
		(void)pthread_mutex_lock(&host->lock);
		piece->registered = registered;
	}
	piece->is_job = false;
	if (!piece->is_dropped)
		return;
	(void)pthread_mutex_unlock(&host->lock);
	end_piece(host, piece);
	(void)pthread_mutex_lock(&host->lock);
}

static struct spill_piece *take_kept(struct spill_host *host, uint32_t bin)
{
	struct spill_piece *piece = host->kept[bin];
	if (!piece)
		return NULL;
	host->kept[bin] = piece->next;
	host->kept_bytes -= piece->bytes;
	atomic_fetch_sub(&host->device->scheduler->spill_kept_bytes, piece->bytes);
	return piece;
}

/* With the lock, which is released meanwhile. Larger pieces are freed first. */
static void spill_free_one_kept(struct spill_host *host)
{
	struct spill_piece *piece = NULL;
	for (uint32_t bin = SPILL_BINS; bin > 0 && !piece; bin--)
		piece = take_kept(host, bin - 1);
	if (!piece)
		return;
	(void)pthread_mutex_unlock(&host->lock);
	end_piece(host, piece);
	(void)pthread_mutex_lock(&host->lock);
}

static void wait_for_job(struct spill_host *host, uint64_t ns)
{
	const struct timespec time = {.tv_sec = (time_t)(ns / 1000000000),
				      .tv_nsec = (long)(ns % 1000000000)};
	(void)pthread_cond_timedwait(&host->changed, &host->lock, &time);
}

static void *spill_host_thread(void *argument)
{
	struct spill_host *host = argument;
	(void)prctl(PR_SET_NAME, "spill-host", 0, 0, 0);
	(void)pthread_mutex_lock(&host->lock);
	while (!host->quits || host->first_job) {
		if (host->first_job) {
			do_pin_job(host);
		} else if (host->kept_bytes == 0) {
			host->is_pressed = false;
			(void)pthread_cond_wait(&host->changed, &host->lock);
		} else if (host->is_pressed || clock_now_ns() >= host->used_ns + SPILL_KEEP_NS) {
			spill_free_one_kept(host);
		} else {
			wait_for_job(host, host->used_ns + SPILL_KEEP_NS);
		}
	}
	(void)pthread_mutex_unlock(&host->lock);
	return NULL;
}

/* Signals are the front thread's. With the lock. False: there is none. */
static bool spill_need_thread(struct spill_host *host)
{
	sigset_t all, before;
	if (host->started)
		return true;
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	host->started = pthread_create(&host->thread, NULL, spill_host_thread, host) == 0;
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return host->started;
}

/* --------------------------------------- charges ---------------------------------------- */

static struct spill_charge *find_charge(const struct spill_host *host, const void *owner)
{
	struct spill_charge *charge = host->charges;
	while (charge && charge->owner != owner)
		charge = charge->next;
	return charge;
}

/* NULL: there is no memory. */
static struct spill_charge *need_charge(struct spill_host *host, const void *owner)
{
	struct spill_charge *charge = find_charge(host, owner);
	if (charge)
		return charge;
	charge = malloc(sizeof(*charge));
	if (!charge)
		return NULL;
	*charge = (struct spill_charge){.next = host->charges, .owner = owner};
	host->charges = charge;
	return charge;
}

static void end_charge(struct spill_host *host, struct spill_charge *charge)
{
	struct spill_charge **at = &host->charges;
	if (!charge || charge->bytes > 0 || charge->own_bytes > 0)
		return;
	while (*at != charge)
		at = &(*at)->next;
	*at = charge->next;
	free(charge);
}

static void put_charge(struct spill_host *host, const struct spill_claim *claim,
		       struct spill_piece *piece)
{
	piece->charge = need_charge(host, claim->owner);
	if (piece->charge)
		piece->charge->bytes += piece->bytes;
	piece->of = need_charge(host, claim->of);
	if (piece->of)
		piece->of->own_bytes += piece->bytes;
}

static void spill_piece_end_charge(struct spill_host *host, struct spill_piece *piece)
{
	struct spill_charge *charge = piece->charge, *of = piece->of;
	piece->charge = piece->of = NULL;
	if (charge)
		charge->bytes -= piece->bytes;
	if (of)
		of->own_bytes -= piece->bytes;
	end_charge(host, charge);
	if (of != charge)
		end_charge(host, of);
}

/* A session that has ended has no memory, though its charges may remain. */
static bool spill_owner_is_alone(const struct spill_host *host, const struct spill_claim *claim)
{
	for (const struct spill_charge *charge = host->charges; charge; charge = charge->next)
		if (charge->own_bytes > 0 && charge->owner != claim->owner)
			return false;
	return !claim->has_others;
}

/* The session has no more afterwards than is left for others, or no more than now once its memory
 * is back. */
static bool may_have_bytes(const struct spill_host *host, const struct spill_claim *claim,
			   uint64_t bytes)
{
	const struct scheduler *scheduler = host->device->scheduler;
	const struct spill_charge *charge = find_charge(host, claim->owner);
	uint64_t used = atomic_load(&scheduler->spill_bytes), own = charge ? charge->bytes : 0;
	uint64_t left = scheduler->spill_most_bytes > used ? scheduler->spill_most_bytes - used : 0;
	if (spill_owner_is_alone(host, claim) || claim->comes_bytes >= bytes)
		return true;
	return own + 2 * bytes <= left;
}

/* ---------------------------------------- pieces ---------------------------------------- */

/* A driver's list of many small ones would cost more than their copies gain. */
static bool spill_piece_is_pinned(const struct scheduler_device *device, uint64_t bytes)
{
	return bytes / SPILL_PIN_PART >= device->scheduler->spill_least_bytes &&
	       (device->features & BACKEND_FEATURE_HOST_REGISTER) != 0 &&
	       (device->features & BACKEND_FEATURE_LOADER) != 0;
}

/* Requests the thread to free kept pieces. */
static void spill_request_release(struct spill_host *host)
{
	struct scheduler *scheduler = host->device->scheduler;
	uint64_t all =
		atomic_load(&scheduler->spill_bytes) + atomic_load(&scheduler->spill_kept_bytes);
	if (all <= scheduler->spill_most_bytes || host->kept_bytes == 0)
		return;
	host->is_pressed = true;
	(void)pthread_cond_signal(&host->changed);
}

/* With the lock. */
static struct spill_piece *spill_piece_take(struct spill_host *host, uint64_t bytes, bool is_whole)
{
	struct scheduler *scheduler = host->device->scheduler;
	if (atomic_fetch_add(&scheduler->spill_bytes, bytes) + bytes >
	    scheduler->spill_most_bytes) {
		atomic_fetch_sub(&scheduler->spill_bytes, bytes);
		return NULL;
	}
	struct spill_piece *piece = is_whole ? NULL : take_kept(host, spill_bin_of_bytes(bytes));
	if (piece)
		return piece;
	spill_request_release(host);
	piece = make_piece(bytes, is_whole);
	if (!piece)
		atomic_fetch_sub(&scheduler->spill_bytes, bytes);
	else if (!is_whole && spill_piece_is_pinned(host->device, bytes) && spill_need_thread(host))
		add_job(host, piece);
	return piece;
}

/* With the lock. The piece may be kept for another memory. */
static void spill_piece_give(struct spill_host *host, struct spill_piece *piece)
{
	struct scheduler *scheduler = host->device->scheduler;
	uint64_t bytes = piece->bytes,
		 used = atomic_fetch_sub(&scheduler->spill_bytes, bytes) - bytes;
	spill_piece_end_charge(host, piece);
	uint64_t kept = atomic_load(&scheduler->spill_kept_bytes) + bytes;
	if (!piece->is_whole && kept <= scheduler->spill_most_bytes / KEPT_PART &&
	    used + kept <= scheduler->spill_most_bytes && spill_need_thread(host)) {
		piece->next = host->kept[spill_bin_of_bytes(bytes)];
		host->kept[spill_bin_of_bytes(bytes)] = piece;
		/* The thread has slept without a limit until now, as nothing was kept. */
		if (host->kept_bytes == 0)
			(void)pthread_cond_signal(&host->changed);
		host->kept_bytes += bytes;
		atomic_fetch_add(&scheduler->spill_kept_bytes, bytes);
		return;
	}
	/* If the piece is pinned, or is being pinned, the thread ends it. */
	piece->is_dropped = true;
	if (piece->registered)
		add_job(host, piece);
	else if (!piece->is_job)
		end_piece(host, piece);
}

struct spill_piece *spill_host_take(struct spill_host *host, const struct spill_claim *claim,
				    uint64_t size_bytes, bool is_whole)
{
	if (!may_have_bytes(host, claim, size_bytes))
		return NULL;
	struct spill_piece *first = NULL, **last = &first;
	uint64_t left = size_bytes,
		 most = is_whole ? size_bytes
				 : spill_piece_bytes(host->device->scheduler, size_bytes);
	(void)pthread_mutex_lock(&host->lock);
	while (left > 0) {
		uint64_t part = left < most ? left : most;
		struct spill_piece *piece =
			spill_piece_take(host, spill_piece_size(host, part),
					 is_whole || !spill_bytes_have_bin(part));
		if (!piece)
			break;
		piece->next = NULL;
		put_charge(host, claim, piece);
		*last = piece;
		last = &piece->next;
		left -= part;
	}
	host->used_ns = clock_now_ns();
	(void)pthread_mutex_unlock(&host->lock);
	if (left == 0)
		return first;
	spill_host_give(host, first);
	return NULL;
}

void spill_host_give(struct spill_host *host, struct spill_piece *pieces)
{
	if (!pieces)
		return;
	(void)pthread_mutex_lock(&host->lock);
	host->used_ns = clock_now_ns();
	while (pieces) {
		struct spill_piece *piece = pieces;
		pieces = piece->next;
		spill_piece_give(host, piece);
	}
	(void)pthread_mutex_unlock(&host->lock);
}

void spill_host_lose(struct spill_host *host, struct spill_piece *pieces)
{
	while (pieces) {
		struct spill_piece *piece = pieces;
		pieces = piece->next;
		atomic_fetch_sub(&host->device->scheduler->spill_bytes, piece->bytes);
		spill_piece_end_charge(host, piece);
		piece->next = host->lost;
		host->lost = piece;
	}
}

/* ---------------------------------- beginning and end ----------------------------------- */

void spill_host_open(struct spill_host *host, struct scheduler_device *device)
{
	pthread_condattr_t attributes;
	host->device = device;
	(void)pthread_mutex_init(&host->lock, NULL);
	(void)pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&host->changed, &attributes);
	(void)pthread_condattr_destroy(&attributes);
	host->is_open = true;
}

void spill_host_close(struct spill_host *host)
{
	if (!host->is_open)
		return;
	(void)pthread_mutex_lock(&host->lock);
	host->quits = true;
	(void)pthread_cond_signal(&host->changed);
	(void)pthread_mutex_unlock(&host->lock);
	if (host->started)
		(void)pthread_join(host->thread, NULL);
	for (uint32_t bin = 0; bin < SPILL_BINS; bin++)
		for (struct spill_piece *piece; (piece = take_kept(host, bin));)
			end_piece(host, piece);
	while (host->lost) {
		struct spill_piece *piece = host->lost;
		host->lost = piece->next;
		unregister_piece(host, piece);
		free(piece);
	}
	(void)pthread_cond_destroy(&host->changed);
	(void)pthread_mutex_destroy(&host->lock);
	host->is_open = false;
}
