/*
 * Host memory for spilled device memory (device thread). It comes in pieces, so that a large memory
 * needs no long range and no piece takes long to pin. There are few sizes, so that pieces are
 * reused. A new piece serves at once. A thread pins it in the background, unless it is small,
 * because pinning may wait for what runs on the device. A pinned piece is copied by the device
 * itself. Freed pieces are kept, pinned, for the next memory. All devices together keep at most a
 * quarter of what may be spilled, and none after SPILL_KEEP_NS without a spill or a return.
 *
 * Memory in use counts in scheduler.spill_bytes, which has a limit. Together with kept pieces it is
 * above that limit only until some are freed. While there are other sessions, one session gets no
 * more than is left for them. That is half of all for the first that needs much, half of the rest
 * for the next.
 */
#ifndef SYCL_ENGINE_WORKER_SPILL_HOST_H
#define SYCL_ENGINE_WORKER_SPILL_HOST_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define SPILL_PIECE_BYTES                                                                          \
	(8u << 20) /* in whole pages of any machine; of larger memory twice as much, and so on: */
#define SPILL_PIECES        128u /* so many at most; of smaller memory half as much, and so on: */
#define SPILL_PIECES_WANTED 8u   /* so many, if they are worth pinning then */
#define SPILL_PIN_PART                                                                             \
	16u /* pieces of so many times the smallest memory that is spilled are pinned */
#define SPILL_KEEP_NS 2000000000u
#define SPILL_BINS    96u /* sizes: four from one power of two to the next, from 4 KiB to 32 GiB */

struct backend_host;
struct scheduler_device;

/* The charge of one session: host memory in use because it needed room, whichever memory was
 * spilled for it. */
struct spill_charge {
	struct spill_charge *next;
	const void *owner;
	uint64_t bytes;
	uint64_t own_bytes; /* of its own memory, for whosesoever sake */
};

/* The session that needs room, and the session of the memory that is spilled. */
struct spill_claim {
	const void *owner, *of;
	bool has_others;      /* other sessions may need host memory, too */
	uint64_t comes_bytes; /* of what comes back then, and the host has now; 0: nothing */
};

struct spill_piece {
	struct spill_piece *next; /* of the same memory; or kept */
	void *host;
	uint64_t bytes; /* as it counts */
	bool is_whole;  /* for an image: of any size, never pinned nor kept */
	struct spill_charge *charge,
		*of; /* the session that needed room, and the owner; NULL: none */
	/* with the lock */
	struct spill_piece *next_job;
	struct backend_host *registered;
	bool is_job, is_dropped; /* the thread has it, or will; and ends it */
};

struct spill_host {
	struct scheduler_device *device;
	pthread_t thread;
	bool is_open, started;
	struct spill_charge *charges;
	struct spill_piece
		*lost; /* what a copy was under way to when the device was lost: it stays mapped */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool quits, is_pressed; /* give back all that is kept */
	struct spill_piece *first_job, *last_job;
	struct spill_piece *kept[SPILL_BINS];
	uint64_t kept_bytes, used_ns; /* and when a piece was taken or given back last */
};

void spill_host_open(struct spill_host *host, struct scheduler_device *device);
/* Nothing uses any piece. */
void spill_host_close(struct spill_host *host);
/* Pieces for so much, all but the last full, or with `is_whole` one. NULL: there is no memory, or
 * too much is in use, or for the claim's owner. */
struct spill_piece *spill_host_take(struct spill_host *host, const struct spill_claim *claim,
				    uint64_t size_bytes, bool is_whole);
/* NULL is allowed. Nothing uses them. */
void spill_host_give(struct spill_host *host, struct spill_piece *pieces);
/* Something may use them for ever. */
void spill_host_lose(struct spill_host *host, struct spill_piece *pieces);

#endif
