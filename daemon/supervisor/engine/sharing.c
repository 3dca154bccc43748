#include "engine/sharing.h"

#include "clock.h"
#include "engine/engine.h"
#include "engine/control.h"
#include "base/log.h"
#include "service/supervisor.h"
#include "service/tenant_share.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define REST_NS                                                                                    \
	1000000000ull /* no user has needed a device for so long: claims are read no more          \
		       */

/* A party of the division is a user or a job; the numbers of jobs have this bit. */
#define JOB_IS_USER (1ull << 63)

enum {
	LOOK_MS = 2,
	LOOK_EXCLUSIVE_MS = 1,
	AGAIN_MS = 20,
	AGAIN_MOST_MS = 1000,
	PERMILLE_OF_PERCENT = 10
};

static bool sharing_is_watching(const struct sharing *sharing)
{
	return sharing->watch & 1u;
}

static bool sharing_is_exclusive(const struct supervisor *supervisor)
{
	return supervisor->configuration.shares.exclusive;
}

/* ---------------------------------------- pages ----------------------------------------- */

/* A claim is read once, and may have any value. */
static uint64_t page_read_word(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

static bool slot_is_used(const struct engine_share *share, uint32_t slot)
{
	return division_slots_have(&share->slots, slot);
}

/* Adds the devices that the engine now claims to use. */
static void sharing_admit_slots(struct engine *engine)
{
	struct engine_share *share = engine->share;
	const struct share_claims *claims = share->claims->address;
	uint32_t claimed[SHARE_BACKENDS];
	for (uint32_t i = 0; i < SHARE_BACKENDS; i++)
		claimed[i] = atomic_load_explicit(&claims->devices[i], memory_order_relaxed);
	if (division_slots_admit(&share->slots, claimed) || share->has_too_many)
		return;
	share->has_too_many = true;
	log_warning(
		"share",
		"pid %ld of uid %lu uses more than %d devices: the time of the others is not divided for it",
		(long)engine->pid, (unsigned long)engine->tenant->uid, DIVISION_SLOTS_OF_ENGINE);
}

static void sharing_read_claim(const struct share_claims *claims, uint32_t slot, uint64_t now_ns,
			       struct division_claim *claim_out)
{
	const struct share_claim *claim = &claims->slots[slot];
	uint64_t since_ns = page_read_word(&claim->busy_since_ns);
	claim_out->busy_ns = page_read_word(&claim->busy_ns) +
			     (since_ns > 0 && since_ns < now_ns ? now_ns - since_ns : 0);
	claim_out->beat = page_read_word(&claims->beat);
	claim_out->wants = since_ns > 0;
	claim_out->running = atomic_load_explicit(&claim->running, memory_order_relaxed) > 0;
}

bool sharing_claim(const struct engine *engine, uint32_t slot, uint64_t *used_ns_out,
		   bool *wants_out)
{
	if (!engine->share || !slot_is_used(engine->share, slot))
		return false;
	const struct share_claims *claims = engine->share->claims->address;
	*used_ns_out = page_read_word(&claims->slots[slot].used_ns);
	*wants_out = page_read_word(&claims->slots[slot].busy_since_ns) > 0;
	return true;
}

static void sharing_write_grant(struct engine *engine, uint32_t slot, uint32_t part)
{
	struct share_grants *page = engine->share->grants->address;
	engine->share->parties[slot].granted = part;
	atomic_store_explicit(&page->granted[slot], part, memory_order_relaxed);
}

/* Devices that the engine has not used get the initial part, until the next review. */
static void sharing_grant_unused(struct engine *engine)
{
	const struct supervisor *supervisor = engine->tenant->supervisor;
	uint32_t most = engine_share_configured(engine).most * PERMILLE_OF_PERCENT;
	if (!supervisor->sharing->is_on)
		most = SHARE_WHOLE;
	else if (sharing_is_exclusive(supervisor))
		most = 0;
	for (uint32_t slot = 0; slot < SHARE_SLOTS; slot++)
		if (!supervisor->sharing->is_on || !slot_is_used(engine->share, slot))
			sharing_write_grant(engine, slot, most);
}

static int sharing_make_pages(struct engine_share *share)
{
	int r = memory_region_create_published("sycl-grants", sizeof(struct share_grants),
					       &share->grants);
	if (r == 0)
		r = memory_region_create("sycl-claims", sizeof(struct share_claims),
					 &share->claims);
	if (r < 0)
		return r;
	struct share_grants *page = share->grants->address;
	page->magic = SHARE_MAGIC;
	page->layout = SHARE_LAYOUT;
	page->slot_count = SHARE_SLOTS;
	return 0;
}

struct engine_share *engine_share_free(struct engine_share *share)
{
	if (!share)
		return NULL;
	(void)memory_region_free(share->grants);
	(void)memory_region_free(share->claims);
	free(share);
	return NULL;
}

static int sharing_join(struct engine *engine)
{
	struct sharing *sharing = engine->tenant->supervisor->sharing;
	if (sharing->engines >= SHARING_ENGINES_MAX)
		return -EDQUOT;
	engine->share = calloc(1, sizeof(*engine->share));
	int r = engine->share ? sharing_make_pages(engine->share) : -ENOMEM;
	if (r == 0) {
		struct share_grants *page = engine->share->grants->address;
		atomic_store(&page->beat_ns, clock_now_ns());
		atomic_store(&page->watch, sharing->watch);
		sharing_grant_unused(engine);
		r = engine_send_division(engine, engine->share->grants->fd,
					 engine->share->claims->fd);
	}
	if (r < 0) {
		engine->share = engine_share_free(engine->share);
		return r;
	}
	/* The mappings stay valid without the descriptors. */
	close_fd(&engine->share->grants->fd);
	close_fd(&engine->share->claims->fd);
	sharing->engines++;
	return 0;
}

/* --------------------------------------- looking ---------------------------------------- */

/* The engines that have used a device. */
struct sharing_parties {
	uint32_t slot, count;
	uint64_t now_ns;
	struct engine *engines[SHARING_ENGINES_MAX];
	struct division_party parties[SHARING_ENGINES_MAX];
};

/* Collects the engines of the tenant's job, or, without one, those of no job. */
static void sharing_gather_engines(struct sharing_parties *all, struct tenant *tenant,
				   const struct job *job)
{
	struct engine *engine;
	TAILQ_FOREACH (engine, &tenant->engines, link) {
		if (engine->job != job || !engine->share || all->count == SHARING_ENGINES_MAX ||
		    !slot_is_used(engine->share, all->slot))
			continue;
		struct configuration_share share = engine_share_configured(engine);
		struct division_party *party = &engine->share->parties[all->slot];
		party->user = job ? JOB_IS_USER | job->number : tenant->uid;
		party->least = share.least * PERMILLE_OF_PERCENT;
		party->most = share.most * PERMILLE_OF_PERCENT;
		sharing_read_claim(engine->share->claims->address, all->slot, all->now_ns,
				   &party->claim);
		all->engines[all->count] = engine;
		all->parties[all->count++] = *party;
	}
}

static bool engine_is_first_of_job(const struct engine *engine)
{
	const struct engine *other = TAILQ_FIRST(&engine->tenant->engines);
	while (other->job != engine->job)
		other = TAILQ_NEXT(other, link);
	return other == engine;
}

/* Those of one tenant without a job, and those of one job, are adjacent. */
static void sharing_gather_parties(struct supervisor *supervisor, struct sharing_parties *all)
{
	struct tenant *tenant;
	const struct engine *engine;
	all->count = 0;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link) {
		sharing_gather_engines(all, tenant, NULL);
		TAILQ_FOREACH (engine, &tenant->engines, link)
			if (engine->job && engine_is_first_of_job(engine))
				sharing_gather_engines(all, tenant, engine->job);
	}
}

/* True: a user needs the device. */
static bool sharing_divide_slot(struct supervisor *supervisor, uint32_t slot, uint64_t now_ns)
{
	static struct sharing_parties all;
	struct division *division = &supervisor->sharing->divisions[slot];
	bool wanted = false;
	all.slot = slot;
	all.now_ns = now_ns;
	sharing_gather_parties(supervisor, &all);
	division->mode =
		sharing_is_exclusive(supervisor) ? DIVISION_EXCLUSIVE : DIVISION_CONCURRENT;
	division_step(division, all.parties, all.count, now_ns, SHARE_STALE_NS);
	for (uint32_t i = 0; i < all.count; i++) {
		all.engines[i]->share->parties[slot] = all.parties[i];
		sharing_write_grant(all.engines[i], slot, all.parties[i].granted);
		wanted |= all.parties[i].demand > 0;
	}
	return wanted;
}

static void sharing_write_grants(struct supervisor *supervisor, uint64_t now_ns)
{
	struct tenant *tenant;
	struct engine *engine;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		TAILQ_FOREACH (engine, &tenant->engines, link) {
			if (!engine->share)
				continue;
			struct share_grants *page = engine->share->grants->address;
			atomic_store(&page->beat_ns, now_ns);
			atomic_store(&page->watch, supervisor->sharing->watch);
		}
}

/* Sets a bit for each device of each backend that any engine has used. */
static void sharing_used_slots(struct supervisor *supervisor, uint32_t used[SHARE_BACKENDS])
{
	struct tenant *tenant;
	struct engine *engine;
	memset(used, 0, SHARE_BACKENDS * sizeof(*used));
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		TAILQ_FOREACH (engine, &tenant->engines, link) {
			if (!engine->share)
				continue;
			sharing_admit_slots(engine);
			for (uint32_t i = 0; i < SHARE_BACKENDS; i++)
				used[i] |= engine->share->slots.devices[i];
		}
}

static bool sharing_update_grants(struct supervisor *supervisor)
{
	uint32_t used[SHARE_BACKENDS];
	uint64_t now_ns = clock_now_ns();
	bool wanted = false;
	sharing_used_slots(supervisor, used);
	for (uint32_t slot = 0; slot < SHARE_SLOTS; slot++)
		if (used[slot / SHARE_DEVICES] >> slot % SHARE_DEVICES & 1u)
			wanted |= sharing_divide_slot(supervisor, slot, now_ns);
	if (wanted)
		supervisor->sharing->wanted_ns = now_ns;
	sharing_write_grants(supervisor, now_ns);
	return wanted;
}

static void sharing_watch(struct supervisor *supervisor);

/* An engine that begins now either finds the page marked as resting, or its claim is in the
 * following review. */
static void sharing_go_idle(struct supervisor *supervisor)
{
	supervisor->sharing->watch++;
	(void)uv_timer_stop(&supervisor->sharing->timer);
	sharing_write_grants(supervisor, clock_now_ns());
	atomic_thread_fence(memory_order_seq_cst);
	if (supervisor->sharing->is_on && sharing_update_grants(supervisor))
		sharing_watch(supervisor);
}

static void on_sharing_timer(uv_timer_t *timer)
{
	struct supervisor *supervisor = timer->data;
	if (!sharing_update_grants(supervisor) &&
	    clock_now_ns() - supervisor->sharing->wanted_ns > REST_NS)
		sharing_go_idle(supervisor);
}

static void sharing_watch(struct supervisor *supervisor)
{
	struct sharing *sharing = supervisor->sharing;
	uint64_t every_ms = sharing_is_exclusive(supervisor) ? LOOK_EXCLUSIVE_MS : LOOK_MS;
	if (!sharing_is_watching(sharing))
		sharing->watch++;
	sharing->wanted_ns = clock_now_ns();
	(void)uv_timer_start(&sharing->timer, on_sharing_timer, every_ms, every_ms);
	(void)sharing_update_grants(supervisor);
}

/* ------------------------------------- participants ------------------------------------- */

void sharing_init(struct supervisor *supervisor)
{
	(void)uv_timer_init(&supervisor->loop, &supervisor->sharing->timer);
	supervisor->sharing->timer.data = supervisor;
	(void)uv_timer_init(&supervisor->loop, &supervisor->sharing->again);
	supervisor->sharing->again.data = supervisor;
	supervisor->sharing->is_on = tenant_shares_matter(supervisor);
}

static bool sharing_lacks_engine(const struct engine *engine)
{
	return engine->tenant->supervisor->sharing->is_on && !engine->share && engine->control >= 0;
}

/* Repeated at growing intervals, until all engines that may take part do. An engine beyond the
 * limit waits until another one has ended. */
static void on_sharing_retry(uv_timer_t *timer)
{
	struct supervisor *supervisor = timer->data;
	struct sharing *sharing = supervisor->sharing;
	struct tenant *tenant;
	struct engine *engine;
	bool are_missing = false;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		TAILQ_FOREACH (engine, &tenant->engines, link) {
			if (engine->state != ENGINE_READY || !sharing_lacks_engine(engine))
				continue;
			int r = sharing_join(engine);
			if (r == 0)
				log_info(
					"share",
					"pid %ld of uid %lu now takes part in the division of devices' time",
					(long)engine->pid, (unsigned long)engine->tenant->uid);
			are_missing |= r < 0 && r != -EDQUOT;
		}
	sharing->again_ms =
		sharing->again_ms * 2 < AGAIN_MOST_MS ? sharing->again_ms * 2 : AGAIN_MOST_MS;
	if (are_missing)
		(void)uv_timer_start(timer, on_sharing_retry, sharing->again_ms, 0);
}

static void sharing_retry_later(struct sharing *sharing)
{
	sharing->again_ms = AGAIN_MS;
	(void)uv_timer_start(&sharing->again, on_sharing_retry, sharing->again_ms, 0);
}

void sharing_engine_ready(struct engine *engine)
{
	struct sharing *sharing = engine->tenant->supervisor->sharing;
	if (!sharing_lacks_engine(engine))
		return;
	int r = sharing_join(engine);
	if (r == 0)
		return;
	log_warning("share", "devices' time is not divided for pid %ld of uid %lu: %s",
		    (long)engine->pid, (unsigned long)engine->tenant->uid, strerror(-r));
	if (r == -EDQUOT)
		return;
	/* The engine's socket may have no room for a message now. */
	sharing_retry_later(sharing);
}

void sharing_engine_ended(struct engine *engine)
{
	if (!engine->share)
		return;
	struct sharing *sharing = engine->tenant->supervisor->sharing;
	engine->share = engine_share_free(engine->share);
	if (sharing->engines-- == SHARING_ENGINES_MAX)
		sharing_retry_later(sharing);
}

bool sharing_engine_wants(struct engine *engine, uint32_t watched)
{
	struct supervisor *supervisor = engine->tenant->supervisor;
	struct sharing *sharing = supervisor->sharing;
	struct engine_share *share = engine->share;
	/* The message may be older than one of another engine with the same request. */
	if (!share || (watched & 1u) || (share->has_requested && share->watch == watched) ||
	    watched != (sharing->watch & ~1u))
		return false;
	share->has_requested = true;
	share->watch = watched;
	if (sharing->is_on && !sharing_is_watching(sharing))
		sharing_watch(supervisor);
	return true;
}

void sharing_review(struct supervisor *supervisor)
{
	struct sharing *sharing = supervisor->sharing;
	struct tenant *tenant;
	struct engine *engine;
	sharing->is_on = tenant_shares_matter(supervisor);
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		TAILQ_FOREACH (engine, &tenant->engines, link) {
			if (engine->state == ENGINE_READY)
				sharing_engine_ready(engine);
			if (engine->share)
				sharing_grant_unused(engine);
		}
	if (sharing->engines == 0)
		return;
	/* An engine that began before this must be found, and must get the new share at once. */
	if (sharing->is_on)
		sharing_watch(supervisor);
	else if (sharing_is_watching(sharing))
		sharing_go_idle(supervisor);
}
