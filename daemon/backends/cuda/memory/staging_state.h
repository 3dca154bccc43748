/* Transfers between a device and pageable memory: between staging.c, staging_copy.c and
 * staging_sets.c. */
#ifndef SYCL_BACKENDS_CUDA_STAGING_STATE_H
#define SYCL_BACKENDS_CUDA_STAGING_STATE_H

#include "cuda/memory/staging.h"

#include "cuda/driver/rect.h"

#include <pthread.h>

#define CUDA_SLOT_BYTES    ((size_t)2 << 20)
#define CUDA_SLOTS_PER_SET ((size_t)2)
#define CUDA_SLOT_SETS     ((size_t)4)

/* The slots of one transfer. Another transfer that gets the set waits on the device until the first
 * one ends. */
struct cuda_slot_set {
	unsigned char *slots[CUDA_SLOTS_PER_SET];
	uint32_t users; /* transfers that are not finished */
	bool is_behind; /* one of these transfers had work before it when it got the set */
	const struct backend_lane *lane; /* the lane of the latest transfer */
	bool must_wait; /* a transfer was given up half-way, and only the event shows its end */
	struct cuda_finish *open; /* a transfer that is not all on its stream; NULL: none */
	uint64_t used;            /* the set's last use, as a count of transfers */
	CUevent over;             /* recorded behind the last transfer */
};

/* The size of a piece: bytes of a row, then rows if whole rows fit, then slices if whole slices
 * fit. The second line counts the pieces of the box. */
struct cuda_steps {
	uint64_t bytes, rows, slices;
	uint64_t columns, bands, layers;
};

struct cuda_finish {
	struct cuda_staging *staging;
	struct cuda_slot_set *set; /* NULL: the transfer waits for a set, and none of it is sent */
	bool to_device;
	unsigned char *host;
	struct cuda_rect_side device;
	struct copy_box box;
	struct cuda_steps steps;
	uint64_t piece_count;
	struct backend_lane *lane; /* set while the transfer is not all sent */
	uint64_t sent;             /* pieces that are on the stream */
	CUresult result;           /* the driver's result of the last send */
	/* With the lock. */
	uint64_t begun;   /* host functions that have been called */
	uint64_t allowed; /* the copy thread may do the pieces before this one */
	uint64_t done;    /* pieces that the copy thread has done */
	bool queued, copying, inside, cancelled;
	struct cuda_finish *queue_next;
	/* Given up; freed at close, because the driver may still call its functions. */
	struct cuda_finish *kept_next;
};

struct cuda_staging {
	struct backend_device *device;
	void *pinned;
	struct cuda_slot_set sets[CUDA_SLOT_SETS];
	uint64_t transfers;
	pthread_mutex_t lock;
	pthread_cond_t work;     /* for the copy thread */
	pthread_cond_t progress; /* a piece was copied, or a transfer was cancelled */
	pthread_t thread;
	bool started, stop;
	struct cuda_finish *first, **last; /* transfers with pieces for the copy thread */
	struct cuda_finish *kept;
};

/*
 * A part of the box, and its beginning on both sides. The host's side is tightly packed in a slot.
 */
struct cuda_piece {
	struct copy_box box;
	uint64_t source, destination;
	uint64_t byte, row, slice; /* the beginning, counted in the box */
};

static inline void cuda_staging_lock(struct cuda_staging *staging)
{
	(void)pthread_mutex_lock(&staging->lock);
}

static inline void cuda_staging_unlock(struct cuda_staging *staging)
{
	(void)pthread_mutex_unlock(&staging->lock);
}

static inline void cuda_staging_await(struct cuda_staging *staging)
{
	(void)pthread_cond_wait(&staging->progress, &staging->lock);
}

static inline uint64_t cuda_staging_smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* staging_copy.c. The box may be empty. */
struct cuda_steps cuda_staging_steps(const struct copy_box *box);
struct cuda_piece cuda_staging_piece(const struct cuda_finish *transfer, uint64_t index);
/* Called when the copy thread has no more work for the transfer. With the lock. */
void cuda_staging_unqueue(struct cuda_staging *staging, struct cuda_finish *transfer);
/* The copy thread: copies a piece of each transfer in turn. `argument`: the struct cuda_staging. */
void *cuda_staging_copy_main(void *argument);
/* Runs on the driver's thread, before or after each piece. `argument`: the struct cuda_finish. */
void cuda_staging_host_function(void *argument);

/*
 * staging_sets.c. A transfer that may take no set gets none now. With `all` it gets a set
 * nevertheless. If every set has a transfer that is not all sent, the rest of one is sent first,
 * which may wait for the device.
 */
CUresult cuda_staging_take_set(struct backend_lane *lane, struct cuda_finish *transfer, bool all);

#endif
