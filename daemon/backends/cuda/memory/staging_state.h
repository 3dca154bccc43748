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

/* The slots of one transfer; another one that gets them waits on the device until it is through. */
struct cuda_slot_set {
	unsigned char *slots[CUDA_SLOTS_PER_SET];
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
struct cuda_steps {
	uint64_t bytes, rows, slices;
	uint64_t columns, bands, layers;
};

struct cuda_finish {
	struct cuda_staging *staging;
	struct cuda_slot_set *set; /* NULL: it waits for one, and none of it is sent */
	bool to_device;
	unsigned char *host;
	struct cuda_rect_side device;
	struct copy_box box;
	struct cuda_steps steps;
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
	struct cuda_slot_set sets[CUDA_SLOT_SETS];
	uint64_t transfers;
	pthread_mutex_t lock;
	pthread_cond_t work;     /* for the copy thread */
	pthread_cond_t progress; /* something has been copied, or is not going on any more */
	pthread_t thread;
	bool started, stop;
	struct cuda_finish *first, **last; /* with something to do for the copy thread */
	struct cuda_finish *kept;
};

/* A part of the box, and where it begins on both sides; the host's side lies tightly packed in a
 * slot instead. */
struct cuda_piece {
	struct copy_box box;
	uint64_t source, destination;
	uint64_t byte, row, slice; /* the same, counted in the box */
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
/* The copy thread has nothing more to do for it. With the lock. */
void cuda_staging_unqueue(struct cuda_staging *staging, struct cuda_finish *transfer);
/* The copy thread: copies a piece of each transfer in turn. `argument`: the struct cuda_staging. */
void *cuda_staging_copy_main(void *argument);
/* On the driver's thread, before or after each piece. `argument`: the struct cuda_finish. */
void cuda_staging_host_function(void *argument);

/*
 * staging_sets.c. A transfer that may take no set gets none now. With `all` it takes one
 * nevertheless. If all have a transfer that is not all sent, the rest of one is sent first, which
 * may wait for the device.
 */
CUresult cuda_staging_take_set(struct backend_lane *lane, struct cuda_finish *transfer, bool all);

#endif
