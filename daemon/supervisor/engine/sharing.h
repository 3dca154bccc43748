/*
 * Devices' time is divided among tenants. Each engine has two pages (shared/share_page.h). The
 * supervisor reads the claims of all engines and writes what each is granted (division/division.h).
 * It does so some hundred times a second while any user needs a device. Before a share is
 * configured or ordered there are no pages, and nothing is done.
 *
 *   (off) --a share is set--> RESTING --an engine wants a device (EngineWants)--> WATCHING --no user wants a device for a while--> RESTING
 */
#ifndef SYCLD_SUPERVISOR_SHARING_H
#define SYCLD_SUPERVISOR_SHARING_H

#include "division/division.h"
#include "division/slots.h"
#include "memory_region.h"
#include "share_page.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

enum { SHARING_ENGINES_MAX = 256 }; /* engines beyond this number take no part in the division */

struct engine;
struct supervisor;

/* An engine's state for the division. */
struct engine_share {
	struct memory_region *grants, *claims;
	bool has_requested;
	uint32_t watch; /* the last EngineWants.watch */
	/* Devices in whose division the engine takes part. For other devices it keeps the initial
	 * part. */
	struct division_slots slots;
	bool has_too_many;
	struct division_party parties[SHARE_SLOTS];
};

/* The supervisor's part. */
struct sharing {
	uv_timer_t timer;
	uv_timer_t again; /* timer for engines that have not received their pages */
	uint64_t again_ms;
	bool is_on;
	uint32_t watch;     /* as in the pages */
	uint64_t wanted_ns; /* when a user last needed a device */
	unsigned engines;   /* number of engines with pages */
	struct division divisions[SHARE_SLOTS];
};

void sharing_init(struct supervisor *supervisor);
/* Called when the engine accepts messages. */
void sharing_engine_ready(struct engine *engine);
/* Ends the engine's part in the division. */
void sharing_engine_ended(struct engine *engine);
/* Called when the engine needs a device while the division is idle. False: the message cannot be
 * valid. */
bool sharing_engine_wants(struct engine *engine, uint32_t watch);
/* Called when the configured or ordered shares have changed. */
void sharing_review(struct supervisor *supervisor);

struct engine_share *engine_share_free(struct engine_share *share);
/* Returns the engine's present claim on the device of that slot; false: none yet. */
bool sharing_claim(const struct engine *engine, uint32_t slot, uint64_t *used_ns_out,
		   bool *wants_out);

#endif
