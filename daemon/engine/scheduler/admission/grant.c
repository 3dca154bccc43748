#include "scheduler/state/grant.h"

#include "fair_queue/fair_queue.h"
#include "scheduler/admission/admission.h"
#include "scheduler/state/device.h"
#include "scheduler/public/device.h"
#include "scheduler/public/scheduler.h"
#include "scheduler/state/scheduler.h"

static uint64_t grant_device_bit(const struct scheduler_device *device)
{
	return 1ull << device->index;
}

/* A sub-device uses the slot of its whole device. */
static uint32_t grant_slot_of(const struct scheduler_device *device)
{
	const struct scheduler_device *whole = device->root ? device->root : device;
	return device->native_context
		       ? SHARE_SLOTS
		       : share_slot((uint32_t)whole->ops->kind, whole->backend_index);
}

void sched_grant_review(struct scheduler_device *device)
{
	const struct scheduler *scheduler = device->scheduler;
	device->grant_slot = grant_slot_of(device);
	device->divided = scheduler->grants.granted && scheduler->has_fair_queues &&
			  device->grant_slot < SHARE_SLOTS;
	if (device->admission)
		fair_queue_set_grant(&device->admission->queue, sched_grant_of(device),
				     scheduler->now_ns);
}

void scheduler_divide(struct scheduler *scheduler, const struct share_grants *granted,
		      struct share_claims *claims)
{
	scheduler->grants = (struct sched_grants){.granted = granted, .claims = claims};
	for (uint32_t i = 0; i < scheduler->device_count; i++) {
		if (!scheduler->devices[i])
			continue;
		sched_grant_review(scheduler->devices[i]);
		scheduler->fair_queues_due |= grant_device_bit(scheduler->devices[i]);
	}
}

/* True if the supervisor has read no claim for too long, although it polls or was requested to.
 * Then no grant limits a group. */
static bool is_division_stale(const struct sched_grants *grants, uint64_t now_ns)
{
	uint32_t watch = atomic_load_explicit(&grants->granted->watch, memory_order_relaxed);
	uint64_t looked_ns =
		watch & 1u ? atomic_load_explicit(&grants->granted->beat_ns, memory_order_relaxed)
			   : now_ns;
	if (!(watch & 1u) && grants->requested_ns > 0 && grants->requested_watch == watch)
		looked_ns = grants->requested_ns;
	return now_ns > looked_ns && now_ns - looked_ns > SHARE_ALONE_NS;
}

uint32_t sched_grant_of(const struct scheduler_device *device)
{
	const struct sched_grants *grants = &device->scheduler->grants;
	if (!device->divided || is_division_stale(grants, device->scheduler->now_ns))
		return FAIR_QUEUE_FREE;
	return atomic_load_explicit(&grants->granted->granted[device->grant_slot],
				    memory_order_relaxed);
}

static void read_device_grant(struct scheduler_device *device)
{
	struct fair_queue *queue = device->admission ? &device->admission->queue : NULL;
	if (!queue || !device->divided)
		return;
	uint32_t before = queue->grant.part;
	fair_queue_set_grant(queue, sched_grant_of(device), device->scheduler->now_ns);
	if (queue->grant.part != before && queue->waiting > 0)
		device->scheduler->fair_queues_due |= grant_device_bit(device);
}

void sched_grant_read(struct scheduler *scheduler)
{
	if (!scheduler->grants.granted)
		return;
	for (uint32_t i = 0; i < scheduler->device_count; i++)
		if (scheduler->devices[i])
			read_device_grant(scheduler->devices[i]);
}

static uint32_t compute_units_of(const struct scheduler_device *device)
{
	const uint32_t units = device->scheduler->infos[device->index].facts->max_compute_units;
	return units ? units : 1;
}

/*
 * The use of a device's sub-devices; *waits: a group waits there. Their time counts by their part
 * of the compute units.
 */
static uint32_t read_parts_use(struct scheduler_device *device, bool *waits)
{
	const struct scheduler *scheduler = device->scheduler;
	uint32_t sent = 0;
	for (uint32_t i = scheduler->listed_count; i < scheduler->device_count; i++) {
		struct scheduler_device *part = scheduler->devices[i];
		const struct fair_queue *queue = part && part->root == device && part->admission
							 ? &part->admission->queue
							 : NULL;
		if (part && part->root == device)
			sent += part->sent;
		if (!queue)
			continue;
		*waits |= queue->waiting > 0;
		device->parts_ns += (queue->grant.used_ns - part->published_ns) *
				    compute_units_of(part) / compute_units_of(device);
		part->published_ns = queue->grant.used_ns;
	}
	return sent;
}

/* Returns true if the device has work now and had none before. */
static bool publish_device_claim(struct scheduler_device *device)
{
	struct scheduler *scheduler = device->scheduler;
	const struct fair_queue *queue = device->admission ? &device->admission->queue : NULL;
	struct share_claim *claim = &scheduler->grants.claims->slots[device->grant_slot];
	bool waits = queue && queue->waiting > 0;
	const uint32_t running = device->sent + read_parts_use(device, &waits);
	bool busy = running > 0 || waits,
	     was_busy = scheduler->grants.busy & grant_device_bit(device);
	atomic_store_explicit(&claim->running, running, memory_order_relaxed);
	if (queue || device->parts_ns)
		atomic_store_explicit(&claim->used_ns,
				      (queue ? queue->grant.used_ns : 0) + device->parts_ns,
				      memory_order_relaxed);
	if (busy == was_busy)
		return false;
	scheduler->grants.busy ^= grant_device_bit(device);
	if (!busy) {
		uint64_t since_ns =
			atomic_load_explicit(&claim->busy_since_ns, memory_order_relaxed);
		uint64_t before_ns = atomic_load_explicit(&claim->busy_ns, memory_order_relaxed);
		atomic_store_explicit(&claim->busy_ns, before_ns + (scheduler->now_ns - since_ns),
				      memory_order_relaxed);
		atomic_store_explicit(&claim->busy_since_ns, 0, memory_order_relaxed);
		return false;
	}
	_Atomic uint32_t *devices =
		&scheduler->grants.claims->devices[device->grant_slot / SHARE_DEVICES];
	atomic_store_explicit(&claim->busy_since_ns, scheduler->now_ns, memory_order_relaxed);
	atomic_fetch_or_explicit(devices, 1u << device->grant_slot % SHARE_DEVICES,
				 memory_order_relaxed);
	return true;
}

void sched_grant_publish(struct scheduler *scheduler)
{
	struct sched_grants *grants = &scheduler->grants;
	if (!grants->granted)
		return;
	bool began = false;
	for (uint32_t i = 0; i < scheduler->device_count; i++)
		if (scheduler->devices[i] && scheduler->devices[i]->divided &&
		    !scheduler->devices[i]->root)
			began |= publish_device_claim(scheduler->devices[i]);
	atomic_store_explicit(&grants->claims->beat, ++grants->beat, memory_order_relaxed);
	grants->published_ns = scheduler->now_ns;
	/* The claim is published before `watch` is read. A supervisor that stops watching announces
	 * that and then reads the claims once more. */
	if (began)
		atomic_thread_fence(memory_order_seq_cst);
}

bool scheduler_wants_watch(struct scheduler *scheduler, uint32_t *watch_out)
{
	struct sched_grants *grants = &scheduler->grants;
	if (!grants->busy)
		return false;
	uint32_t watch = atomic_load_explicit(&grants->granted->watch, memory_order_relaxed);
	if ((watch & 1u) || (grants->requested_ns > 0 && grants->requested_watch == watch))
		return false;
	*watch_out = grants->requested_watch = watch;
	grants->requested_ns = scheduler->now_ns;
	return true;
}

uint64_t sched_grant_again_ns(const struct scheduler *scheduler)
{
	return scheduler->grants.busy ? scheduler->grants.published_ns + SHARE_BEAT_NS : UINT64_MAX;
}
