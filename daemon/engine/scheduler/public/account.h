/* The resources that the tasks of one session hold, and their limits. */
#ifndef SYCL_ENGINE_PUBLIC_ACCOUNT_H
#define SYCL_ENGINE_PUBLIC_ACCOUNT_H

#include "scheduler/public/device.h"

#include "backend.h"
#include "delay_histogram.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sched_account;
struct sched_buffer;
struct scheduler;
struct scheduler_device;

/*
 * An account limits the scheduler's memory for tasks of one session, with their edges and moves. It
 * stands for the session in fair queueing. A task counts until it is freed, also after its
 * callback (a host access that was released early). The account ends with its last reference; open
 * tasks hold one each.
 */
int sched_account_create(uint64_t most_bytes, struct sched_account **account_out); /* -ENOMEM */
/*
 * The use of one device by its commands so far. A delay lasts from when a command was ready until
 * it was sent.
 */
struct sched_used {
	uint64_t commands, failed; /* each launch of a burst counts */
	uint64_t device_ns, bytes_to_device, bytes_to_host;
	uint64_t spills, spilled_bytes; /* spills of the session's memory to the host */
	struct delay_histogram delays;
};
struct sched_device_use {
	enum backend_kind backend;
	uint32_t index;                /* backend_index */
	const struct sched_used *used; /* owned by the account, which changes it further */
	uint32_t used_permille;        /* of the device's time lately (public/present.h) */
};
/* The nth device that the session has used, from 0. False: it has used fewer. */
bool sched_account_use(struct sched_account *account, uint32_t nth,
		       struct sched_device_use *use_out);
/* The delays of its commands on all devices in the last minute, of which the first quarter may be
 * missing. `now_ns`: CLOCK_MONOTONIC. */
void sched_account_recent_delays(struct sched_account *account, uint64_t now_ns,
				 struct delay_histogram *delays_out);
/* Takes a reference; sched_account_drop ends it. */
void sched_account_hold(struct sched_account *account);
/* Changes the limit. What the session holds already stays. */
void sched_account_change(struct sched_account *account, uint64_t most_bytes);
struct sched_account *
sched_account_drop(struct sched_account *account); /* NULL is fine; returns NULL */
/* Sets the session's class (enum fair_queue_class) and weight, for all tasks that are not sent yet.
 * At first: FAIR_QUEUE_NORMAL and FAIR_QUEUE_WEIGHT. -EINVAL: there is no such class or weight. */
int sched_account_rank(struct sched_account *account, uint32_t class, uint32_t weight);
/* Sets the number of the session, for traces. At first: 0. */
void sched_account_name(struct sched_account *account, uint64_t session);
uint64_t sched_account_session(const struct sched_account *account);
uint64_t sched_account_bytes(const struct sched_account *account);
uint32_t sched_account_sent(const struct sched_account *account); /* commands on devices */

/*
 * A limit on device memory, of an account, or of all accounts together (`above`, which outlives
 * it). What devices with unified memory use in place counts once. Memory counts from the request
 * until the device has freed it. Memory that a device was ordered to free may be used again at
 * once. But only allocations of that device's own thread may, which come behind the order. A quota
 * may be lowered below the present use: then it allows nothing more.
 */
struct sched_quota {
	uint64_t most_bytes, bytes;
	/* Part of `bytes` that each device was ordered to free. */
	uint64_t leaving_bytes[SCHED_DEVICES_MAX];
	uint64_t peak_bytes;       /* highest `bytes` so far; a driver's pool keeps freed memory */
	struct sched_quota *above; /* NULL: none */
};
/* `device`: the device whose own thread allocates; NULL: another thread allocates. */
bool sched_quota_allows(const struct sched_quota *quota, const struct scheduler_device *device,
			uint64_t bytes);
void sched_quota_take(struct sched_quota *quota, const struct scheduler_device *device,
		      uint64_t bytes);
void sched_quota_give(struct sched_quota *quota, uint64_t bytes);
/* The device was ordered to free the bytes; the device has freed them, which gives them back. */
void sched_quota_leave(struct sched_quota *quota, const struct scheduler_device *device,
		       uint64_t bytes);
void sched_quota_left(struct sched_quota *quota, const struct scheduler_device *device,
		      uint64_t bytes);
/* The account's quota. It has no limit unless the caller sets one. */
struct sched_quota *sched_account_device(struct sched_account *account);
/*
 * Charges the buffer's device memory to the account from now on; once. Imported memory is not
 * charged.
 */
void sched_buffer_charge(struct sched_buffer *buffer, struct sched_account *account);

/*
 * Until scheduler_resume no command of the account is sent to a device: not those that wait for
 * others, for room or for their turn, not later parts of a split launch, and no moves for them.
 * Commands on a device finish, and so do moves that bring home what these have written. A move goes
 * on if an account that is not paused needs its contents; a task that needs what a waiting task
 * writes waits, too. Both calls may come again. Call scheduler_resume before the last drop.
 */
void scheduler_pause(struct scheduler *scheduler, struct sched_account *account);
void scheduler_resume(struct scheduler *scheduler, struct sched_account *account);

/*
 * Cancels the tasks of an account whose owner has ended. Tasks that are not on a device yet, and
 * later parts of a split launch, fail with `fault`. Tasks that read what they were to write fail as
 * well. Tasks on a device finish. With _UNSEEN, some tasks still run: those that another account or
 * process can observe, and all tasks of the account before them. Observable tasks write contents
 * that may be shared, or record shared events. The owner ends its host accesses and host tasks.
 * Returns how many tasks and moves were cancelled.
 */
enum scheduler_drop { SCHEDULER_DROP_UNSEEN, SCHEDULER_DROP_ALL };
uint32_t scheduler_drop(struct scheduler *scheduler, struct sched_account *account,
			enum scheduler_drop what, const struct backend_fault *fault);

#endif
