/* State of spilling: for each memory, for a device, and for its memory in the host. spill/spill.h
 * and spill/host.h say how it is used. */
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
/* Sizes of kept pieces: four from one power of two to the next, from 4 KiB to 32 GiB. */
#define SPILL_BINS 96u

/* Host memory that is charged to one session: `bytes` is in use because the session needed room,
 * `own_bytes` holds the session's own memory. */
struct spill_charge {
	struct spill_charge *next;
	const void *owner;
	uint64_t bytes;
	uint64_t own_bytes;
};

/* The session that needs room, and the session of the memory that is spilled. */
struct spill_claim {
	const void *owner, *of;
	bool has_others; /* other sessions may need host memory, too */
	/* Host memory that becomes free because a spilled memory comes back instead; 0: none. */
	uint64_t comes_bytes;
};

struct spill_piece {
	/* The next piece of the same memory, or of the list of kept ones. */
	struct spill_piece *next;
	void *host;
	uint64_t bytes; /* as charged */
	bool is_whole; /* one piece for all of an image: of any size, never pinned and never kept */
	struct spill_charge *charge,
		*of; /* charges of the session that needed room, and of the owner; NULL: none */
	/* With the lock. */
	struct spill_piece *next_job;
	struct backend_host *registered;
	/* is_job: the thread pins the piece, or will; is_dropped: the thread then frees it. */
	bool is_job, is_dropped;
};

struct spill_host {
	struct scheduler_device *device;
	pthread_t thread;
	bool is_open, started;
	struct spill_charge *charges;
	struct spill_piece
		*lost; /* pieces with a copy under way when the device was lost; they stay mapped */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* quits: the thread must end; is_pressed: it must free all kept pieces. */
	bool quits, is_pressed;
	struct spill_piece *first_job, *last_job;
	struct spill_piece *kept[SPILL_BINS];
	uint64_t kept_bytes, used_ns; /* used_ns: when a piece was last taken or given back */
};

enum spill_state { SPILL_FRESH, SPILL_PRESENT, SPILL_LEAVING, SPILL_AWAY, SPILL_COMING };

/* Spilling of one memory. */
struct spill_memory {
	/* The session that owns the memory; set before the device thread gets the memory. */
	const void *owner;
	/* Set then, too, for traces: the owner's session, 0: none; and the memory's number in the
	 * engine. */
	uint64_t session, number;
	/* Copies from here to other devices that the front thread has announced. */
	_Atomic uint32_t peers;
	/* The memory is LEAVING or AWAY: other devices may not copy from it. */
	_Atomic uint32_t away;
	_Atomic uint32_t times; /* spills that the account has not counted yet (sched_use_settle) */
	/* Device thread: */
	enum spill_state state;
	uint32_t pins;              /* while above 0, the memory is not spilled */
	bool wanted;                /* LEAVING: a command needs the memory, which should stay */
	bool is_given;              /* LEAVING: its place is for another engine (room.h) */
	bool is_freed;              /* LEAVING, COMING: the memory is freed when the copy is over */
	bool has_failed;            /* the copy back has failed; `fault` has the reason once */
	struct spill_piece *pieces; /* its contents in the host, while it is not PRESENT */
	/* While LEAVING or COMING (spill/copy.c): */
	bool is_bad;  /* a part could not be copied */
	bool is_over; /* LEAVING: its own copy is over and in no list; the heir's copy is not */
	/* COMING: the memory in this place stays after all, so this copy is given up */
	bool is_severed;
	uint32_t copies; /* parts in flight */
	/* Parts from the first on that were sent, and that have been copied well. */
	uint32_t sent, done;
	uint64_t begun_ns;          /* when its first part was sent */
	struct spill_piece *unsent; /* the next part to send */
	uint64_t sent_bytes;
	struct sched_memory *heir;   /* LEAVING: the memory that gets this place */
	struct sched_memory *before; /* COMING: the memory that has this place until it has left */
	struct backend_memory *handle; /* LEAVING, COMING */
	struct sched_memory *next;     /* the next memory with a copy in flight */
	struct spill_entry entry;
};

/* Each direction has a lane of its own, since a device copies both ways at once. */
enum spill_direction { SPILL_OUT, SPILL_IN, SPILL_WAYS };

struct spill_way {
	struct backend_lane *lane; /* NULL: not made yet */
	uint64_t sequence;
	struct sched_memory *first, *last; /* memories whose copies are on the lane */
	uint64_t bytes;                    /* sum of their sizes */
	/* since_ns: when `first` became the first; ns_per_mib: the rate of the latest
	 * copies. */
	uint64_t since_ns, ns_per_mib;
	uint64_t ended_ns; /* when the latest copy of a memory ended */
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
	/* For each lane, the first sequence that was set aside; 0: none. */
	uint64_t aside_from[SPILL_LANES];
	struct worker_named named;           /* the commands that those set aside name */
	bool due;                            /* commands set aside are to be tried again */
	const struct sched_message *waiting; /* the first message that is set aside */
	/* Since when nothing has changed for `waiting`, by the scheduler's clock. */
	uint64_t waits_since_ns;
	bool is_last_try; /* a command that finds no room now fails */
	/* waiting_count: order.now when `waiting` was first tried; again: the same during another
	 * try, else 0. */
	uint64_t waiting_count, again;
	bool is_stepping; /* worker_spill_step is running */
	/* Spilling waits until `defers_until_ns` for memory in use, instead of spilling other
	 * memory. */
	bool defers;
	uint64_t defers_until_ns;
	bool wants_room; /* in this step the first command found no room */
	/* A command set aside waits for memory that the backend frees once nothing is in flight. */
	bool awaits_quiet;
	struct spill_way ways[SPILL_WAYS];
	/* Bytes of LEAVING memory whose place a heir or another engine gets. */
	uint64_t given_bytes;
	struct spill_host host;
	struct spill_spare spares[SPILL_SPARES]; /* kept while commands are set aside */
	uint32_t spare_count;
	uint64_t spare_bytes;
	/* false: since memory was last freed, the driver has refused `full_bytes` with the fault
	 * `full`. */
	bool may_have_room;
	uint64_t full_bytes, full_ns;
	struct backend_fault full;
	bool full_is_old; /* the latest refusal repeats `full`, without a call of the driver */
	/* Parts of copies that have completed since the last worker_spill_has_progress. */
	uint32_t parts;
	const struct task_command *sending; /* the command that is being sent */
	struct backend_fault fault;         /* why a copy back has failed */
};

/* Counters: the device thread writes them, all threads read them. */
struct spill_counts {
	_Atomic uint64_t spills, spilled_bytes, returns, returned_bytes, away_bytes;
	_Atomic uint64_t session; /* of the memory that was spilled last; 0: none */
};

#endif
