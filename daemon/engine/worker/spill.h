/*
 * Spilling (device thread; front where noted). A command may need memory for which a device has no
 * room. Then memory that no command in flight uses is copied to the host and freed. It is brought
 * back to new device memory before the next command that names it. The front thread is not
 * involved: for it contents stay where they were.
 *
 *   FRESH --made--> PRESENT --a copy begins--> LEAVING --copied--> AWAY
 *                    ^   ^                         |               |
 *                    |   \---needed, or it failed--/               |
 *                    \---copied---- COMING <---needed, or soon-----/
 *
 * `handle` of a memory is set only while it is PRESENT. A memory is copied in parts, one for each
 * of its pieces in the host (spill_host.h).
 *
 * A command whose memory is not there is set aside, with all commands that must come behind it.
 * These are the rest of its lane, and commands that name one of these as a predecessor. Other
 * commands go on as far as their memory is there. Commands that were set aside stand in line, in
 * the order in which they came. Room is made for the first before all others, and none takes memory
 * from one in front of it. Each try keeps what the first needs and has. Memory for the others comes
 * back ahead, and the memory that is needed last leaves (spill_ahead.c, spill_order.h).
 *
 * The first is tried again when a command, or a whole copy, has come back. It fails with the
 * driver's text when nothing can be spilled and nothing in flight would change that. It also fails
 * when no copy has completed for SPILL_WAIT_MOST_NS, as commands in flight may never end. Then it
 * is the turn of the next. Some devices give freed memory back only when nothing is in flight
 * (quiesce.h). There it waits for that first, and as much longer as a starved quiet moment takes.
 *
 * Never spilled: memory of less than SPILL_LEAST_BYTES, native memory, host memory, and memory that
 * other processes may open. Memory stays, too, if a graph of the backend names it or another device
 * is about to copy from it. So it does if the application has a native handle of it.
 */
#ifndef SYCL_ENGINE_WORKER_SPILL_H
#define SYCL_ENGINE_WORKER_SPILL_H

#include "base/mailbox.h"
#include "worker/named.h"
#include "worker/spill_host.h"
#include "base/spill_order.h"

#include "backend.h"

#include <errno.h>
#include <stdatomic.h>

struct scheduler_device;
struct sched_memory;
struct task;
struct task_command;

#define SPILL_LANES 64u /* as many as a device may have */
#define SPILL_LEAST_BYTES                                                                          \
	65536u /* for less a copy, and what the host has for it, is not worth it */
/* The first waits for so long, and as much longer as what is copied then takes at the rate of a
 * link that is slow. */
#define SPILL_WAIT_MOST_NS 2000000000u
#define SPILL_NS_PER_BYTE  4u
#define SPILL_SPARES       16u
/*
 * The shortest wait for memory in use, instead of spilling memory that others in line need. It
 * waits longer if a copy takes longer, because that is the cost of bringing it back. For memory
 * that is needed later than what could leave, the wait is half the time of a copy, or of one at
 * this rate.
 */
#define SPILL_DEFER_NS           5000000u
#define SPILL_DEFER_BYTES_PER_NS 128u
#define SPILL_LOOK_NS            50000000u /* how often the time is checked */
/* Not an error: it is set aside, and tried again. */
#define WORKER_SPILL_WAIT (-EINPROGRESS)

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
	bool is_freed;              /* LEAVING, COMING: it goes when the copy is over */
	bool has_failed;            /* the copy back has failed: `fault` has the reason, once */
	struct spill_piece *pieces; /* in the host, while it is not PRESENT */
	/* LEAVING, COMING (spill_copy.c) */
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
	uint64_t given_bytes; /* of what leaves, to what follows it */
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

/* Makes memory that is not PRESENT, or brings it back. 0, an error, or WORKER_SPILL_WAIT. */
int worker_spill_need(struct scheduler_device *device, struct sched_memory *memory,
		      struct backend_fault *fault);
/* Keeps PRESENT memory until worker_spill_unpin. Pins are counted. */
void worker_spill_pin(struct scheduler_device *device, struct sched_memory *memory);
void worker_spill_unpin(struct scheduler_device *device, struct sched_memory *memory);
/* Frees the memory. False: later, and its message goes back then. */
bool worker_spill_free(struct scheduler_device *device, struct sched_memory *memory);
/* Must the message wait behind others? If so, it is set aside. */
bool worker_spill_holds(struct scheduler_device *device, struct sched_message *message);
/* Is the command with this number on the lane set aside? */
bool worker_spill_is_aside(struct scheduler_device *device, uint32_t lane, uint64_t sequence);
void worker_spill_set_aside(struct scheduler_device *device, struct sched_message *message);
/* A quiet moment has passed: the backend may have freed memory in it. */
void worker_spill_have_room(struct scheduler_device *device);
/* An entry of the backend has returned -EAGAIN. May what called it be set aside until a quiet
 * moment? False: it has waited for too long. */
bool worker_spill_await_quiet(struct scheduler_device *device);
/* How long the device's thread may sleep: `ns` at most. */
uint64_t worker_spill_wait_ns(const struct scheduler_device *device, uint64_t ns);
/* False: it belongs to no copy. */
bool worker_spill_completed(struct scheduler_device *device,
			    const struct backend_completion *completion);
/* The device is lost: no copy completes. */
void worker_spill_lose(struct scheduler_device *device);
/* Were there other completions than parts of copies among so many? */
bool worker_spill_has_progress(struct scheduler_device *device, uint32_t completions);
/* The lanes for copies, if they are not there. */
int worker_spill_need_lanes(struct scheduler_device *device, struct backend_fault *fault);
void worker_spill_open(struct scheduler_device *device);
void worker_spill_close(struct scheduler_device *device);

/* Front: another device will copy from this memory until worker_spill_unhold. False: it must come
 * by the host. */
bool worker_spill_hold(struct sched_memory *memory);
void worker_spill_unhold(struct sched_memory *memory);

#endif
