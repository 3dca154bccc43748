/* What is kept for spilling: of each memory, of a device, of its host memory. How it is used:
 * spill/spill.h and spill/host.h. */
#ifndef SYCL_ENGINE_WORKER_STATE_SPILL_H
#define SYCL_ENGINE_WORKER_STATE_SPILL_H

#include "base/mailbox.h"
#include "base/spill_order.h"
#include "worker/state/named.h"

#include "backend.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct backend_host;
struct scheduler_device;
struct sched_memory;
struct task_command;

#define SPILL_LANES  64u /* as many as a device may have */
#define SPILL_SPARES 16u
#define SPILL_BINS   96u /* sizes: four from one power of two to the next, from 4 KiB to 32 GiB */

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

enum spill_state { SPILL_FRESH, SPILL_PRESENT, SPILL_LEAVING, SPILL_AWAY, SPILL_COMING };

/* Spilling of one memory. */
struct spill_memory {
	const void
		*owner; /* the session that owns it; set before the device thread gets the memory */
	_Atomic uint32_t peers; /* copies to other devices that are to come: by the front */
	_Atomic uint32_t away;  /* or on the way there: no such copy now */
	_Atomic uint32_t times; /* spills that are not in its account yet (sched_use_settle) */
	/* device thread */
	enum spill_state state;
	uint32_t pins;              /* it stays */
	bool wanted;                /* LEAVING: let it stay */
	bool is_given;              /* LEAVING: for another engine (room.h) */
	bool is_freed;              /* LEAVING, COMING: it goes when the copy is over */
	bool has_failed;            /* the copy back has failed: `fault` has the reason, once */
	struct spill_piece *pieces; /* in the host, while it is not PRESENT */
	/* LEAVING, COMING (spill/copy.c) */
	bool is_bad;     /* some of it was not copied */
	bool is_over;    /* LEAVING: it is in no list any more, and waits for what followed it */
	bool is_severed; /* COMING: the memory in front of it stays */
	uint32_t copies; /* its parts in flight; */
	uint32_t sent, done;        /* from the first on: that were sent; that are over, and good */
	struct spill_piece *unsent; /* and where the next begins */
	uint64_t sent_bytes;
	struct sched_memory *heir; /* LEAVING: what follows it */
	struct sched_memory
		*before; /* COMING: the memory whose place it takes, until that has left */
	struct backend_memory *handle; /* LEAVING, COMING */
	struct sched_memory *next;     /* copies in flight */
	struct spill_entry entry;
};

/* Each has a lane of its own: a device copies both ways at once. */
enum spill_direction { SPILL_OUT, SPILL_IN, SPILL_WAYS };

struct spill_way {
	struct backend_lane *lane; /* NULL: not made yet */
	uint64_t sequence;
	struct sched_memory *first, *last; /* on it */
	uint64_t bytes;                    /* of these */
	uint64_t since_ns,
		ns_per_mib; /* when the first of these was that; how fast the latest were */
};

/* Device memory that is free for reuse. */
struct spill_spare {
	struct backend_memory *handle;
	uint64_t size_bytes;
};

/* State of the device thread. */
struct worker_spill {
	struct spill_order order;
	struct sched_message_list aside;
	uint64_t aside_from[SPILL_LANES]; /* a lane's first sequence that was set aside; 0: none */
	struct worker_named named;        /* of what is aside */
	bool due;                         /* to be tried again */
	const struct sched_message *waiting; /* the first that is aside; */
	uint64_t waits_since_ns; /* and since when nothing has changed for it, by the scheduler's
				    clock */
	bool is_last_try;        /* what finds no room now fails */
	uint64_t waiting_count, again; /* order.now, when it was tried first; the same while it is
					  tried again, else 0 */
	bool is_stepping;              /* in worker_spill_step */
	bool defers;              /* something is in use that should go, rather than what could: */
	uint64_t defers_until_ns; /* so long */
	bool wants_room;          /* the first, as it was tried in this step */
	bool awaits_quiet;        /* one that is aside: for memory that the backend gives back when
				     nothing is in flight */
	struct spill_way ways[SPILL_WAYS];
	uint64_t given_bytes; /* of what leaves, to what follows it, or to another engine */
	struct spill_host host;
	struct spill_spare spares[SPILL_SPARES]; /* while commands are set aside */
	uint32_t spare_count;
	uint64_t spare_bytes;
	bool may_have_room; /* the driver has not refused memory since some was last freed. If
			       false, it refused `full_bytes` with `full` */
	uint64_t full_bytes, full_ns;
	struct backend_fault full;
	bool full_is_old;                   /* the latest refusal is that old one */
	uint32_t parts;                     /* parts of copies that have completed since the last
					       worker_spill_has_progress */
	const struct task_command *sending; /* the command at hand */
	struct backend_fault fault;         /* a copy back failed */
};

/* Counters: written by the device thread, read by all. */
struct spill_counts {
	_Atomic uint64_t spills, spilled_bytes, returns, returned_bytes, away_bytes;
};

#endif
