/* What the tasks of one user hold and may hold. */
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
 * What the tasks of one user hold of the scheduler's memory, with their edges and the moves made
 * for them, and the most that they may; and whose turn it is on a device. A task counts until it is
 * over for good, also one whose owner was told before (a host access that was released early). The
 * account ends when the caller and the last task have let it go.
 */
int sched_account_create(uint64_t most_bytes, struct sched_account **account_out); /* -ENOMEM */
/* What its commands have used of one device, ever. Delays: of commands, from when nothing of their
 * own was in their way until they were sent. */
struct sched_used {
	uint64_t commands, failed; /* of a burst each launch */
	uint64_t device_ns, bytes_to_device, bytes_to_host;
	uint64_t spills, spilled_bytes; /* of its memory, to the host */
	struct delay_histogram delays;
};
struct sched_device_use {
	enum backend_kind backend;
	uint32_t index;                /* backend_index */
	const struct sched_used *used; /* the account's, which goes on to change */
};
/* Of the devices that it has used, from 0 on; false: there are not so many. */
bool sched_account_use(struct sched_account *account, uint32_t nth,
		       struct sched_device_use *use_out);
/* One more that holds it; sched_account_drop ends that. */
void sched_account_hold(struct sched_account *account);
/* More or less than before; what is held already stays. */
void sched_account_change(struct sched_account *account, uint64_t most_bytes);
struct sched_account *
sched_account_drop(struct sched_account *account); /* NULL is fine; returns NULL */
/*
 * Its class (enum fair_queue_class) and its weight within that, for all that is not sent yet: who
 * goes first where several accounts want one device, and how much of it is whose. Without:
 * FAIR_QUEUE_NORMAL, FAIR_QUEUE_WEIGHT. -EINVAL: there is no such class or weight.
 */
int sched_account_rank(struct sched_account *account, uint32_t class, uint32_t weight);
uint64_t sched_account_bytes(const struct sched_account *account);
uint32_t sched_account_sent(const struct sched_account *account); /* commands that are on a device:
								     they end by themselves */

/*
 * Memory on devices, of an account and of all accounts together (`above`, which outlives it):
 * counted from when it is asked for until the device has given it back. What a device has been told
 * to give back may be asked for again at once, but only what its own thread makes, which comes by
 * that order first: another device, and the loader's thread, may be there sooner, and a kernel that
 * does not end keeps such an order for ever. A quota may be lowered below what is held: then
 * nothing more is had.
 */
struct sched_quota {
	uint64_t most_bytes, bytes;
	uint64_t leaving_bytes[SCHED_DEVICES_MAX]; /* of `bytes`: ordered to be given back, by
						      device */
	uint64_t peak_bytes; /* the most that it has been: a driver's pool keeps what is free again
			      */
	struct sched_quota *above; /* NULL: none */
};
/* `device`: whose own thread makes it; NULL: somebody else does. */
bool sched_quota_allows(const struct sched_quota *quota, const struct scheduler_device *device,
			uint64_t bytes);
void sched_quota_take(struct sched_quota *quota, const struct scheduler_device *device,
		      uint64_t bytes);
void sched_quota_give(struct sched_quota *quota, uint64_t bytes);
/* This device has been told to give it back; and it has done so, which gives it. */
void sched_quota_leave(struct sched_quota *quota, const struct scheduler_device *device,
		       uint64_t bytes);
void sched_quota_left(struct sched_quota *quota, const struct scheduler_device *device,
		      uint64_t bytes);
/* The account's; nothing is limited unless the caller sets it. */
struct sched_quota *sched_account_device(struct sched_account *account);
/* What this buffer has on devices is the account's from now on; once. What another process made is
 * nobody's here. */
void sched_buffer_charge(struct sched_buffer *buffer, struct sched_account *account);

/*
 * Cancel the tasks of an account whose owner has ended. Tasks that are not on a device yet, and
 * later parts of a launch in parts, fail with `fault`; what they would have written is lost for
 * tasks that read it. Tasks on a device finish. _UNSEEN: but for what another account or process
 * may find out about: what writes contents that can be shared, what records shared events, and all
 * of the account that comes before such. Host accesses and host tasks are their owner's to end. How
 * many tasks and moves that were.
 */
enum scheduler_drop { SCHEDULER_DROP_UNSEEN, SCHEDULER_DROP_ALL };
uint32_t scheduler_drop(struct scheduler *scheduler, struct sched_account *account,
			enum scheduler_drop what, const struct backend_fault *fault);

#endif
