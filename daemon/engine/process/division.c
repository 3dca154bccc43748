/* Devices' time is divided among users: the pages for that come and go. What is done with them is
 * the scheduler's (scheduler/state/grant.h). */
#include "process/engine.h"
#include "session/engine_state.h"

#include "share_page.h"

#include <errno.h>

static bool has_known_layout(const struct share_grants *page)
{
	return page->magic == SHARE_MAGIC && page->layout == SHARE_LAYOUT &&
	       page->slot_count == SHARE_SLOTS;
}

void engine_divide_no_more(struct engine *engine)
{
	if (!engine->grants)
		return;
	scheduler_divide(engine->scheduler, NULL, NULL);
	engine->grants = memory_region_free(engine->grants);
	engine->claims = memory_region_free(engine->claims);
}

void engine_claim_nothing(struct engine *engine)
{
	if (!engine->claims)
		return;
	struct share_claims *claims = engine->claims->address;
	for (uint32_t slot = 0; slot < SHARE_SLOTS; slot++) {
		atomic_store_explicit(&claims->slots[slot].running, 0, memory_order_relaxed);
		atomic_store_explicit(&claims->slots[slot].busy_since_ns, 0, memory_order_relaxed);
	}
	atomic_fetch_add_explicit(&claims->beat, 1, memory_order_relaxed);
}

int engine_divide(struct engine *engine, int grants_fd, int claims_fd)
{
	CLEANUP(memory_region_cleanup) struct memory_region *grants = NULL, *claims = NULL;
	int r = memory_region_map(grants_fd, sizeof(struct share_grants), 0, &grants);
	if (r < 0)
		close_fd(&claims_fd);
	else
		r = memory_region_map(claims_fd, sizeof(struct share_claims), 1, &claims);
	if (r == 0 && !has_known_layout(grants->address))
		r = -EPROTO;
	if (r < 0)
		return r;
	/* The regions stay mapped. Each closed descriptor leaves room for a session's. */
	close_fd(&grants->fd);
	close_fd(&claims->fd);
	scheduler_divide(engine->scheduler, grants->address, claims->address);
	(void)memory_region_free(engine->grants);
	(void)memory_region_free(engine->claims);
	engine->grants = TAKE(grants);
	engine->claims = TAKE(claims);
	return 0;
}
