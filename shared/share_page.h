/*
 * The pages by which a device's time is divided among users' engines. The supervisor makes two for
 * each engine. The engine reads its grants from the first page, and cannot write there. It writes
 * its use and its requests into the second page. No other engine maps either page. The supervisor
 * treats an engine's words as a claim; an engine that writes nothing claims nothing.
 *
 *   supervisor ── share_grants ──► engine
 *              ◄── share_claims ──
 *
 * Each page has one slot for each device: SHARE_SLOT(backend, index in that backend's list).
 *
 * Every word is read and written by itself, relaxed; words need not be consistent with each other.
 */
#ifndef SYCL_SHARED_SHARE_PAGE_H
#define SYCL_SHARED_SHARE_PAGE_H

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>

#define SHARE_MAGIC    0x7365726168737973ull /* "syshares" */
#define SHARE_LAYOUT   1u
#define SHARE_BACKENDS 4u  /* proto's Backend is the index, and has fewer values */
#define SHARE_DEVICES  32u /* devices of each backend whose time is divided */
#define SHARE_SLOTS    (SHARE_BACKENDS * SHARE_DEVICES)
#define SHARE_WHOLE    1000u /* parts of a device's time: permille */

#define SHARE_BEAT_NS  8000000ull  /* an engine with work writes at least this often */
#define SHARE_STALE_NS 50000000ull /* an engine that has not written for so long counts as idle */
/* If the supervisor has not read for so long, engines are not limited. */
#define SHARE_ALONE_NS 200000000ull

struct share_grants {
	uint64_t magic;
	uint32_t layout;
	uint32_t slot_count;
	/* Odd: the supervisor reads claims. Even: the supervisor does not read them, and an engine
	 * that becomes busy notifies it. */
	_Atomic uint32_t watch;
	uint32_t reserved;
	_Atomic uint64_t beat_ns; /* CLOCK_MONOTONIC: the supervisor's latest read */
	uint8_t padding[32];
	/* Permille of the device's time; SHARE_WHOLE: no limit; 0: no time now. */
	_Atomic uint32_t granted[SHARE_SLOTS];
};

static_assert(sizeof(struct share_grants) == 64 + 4 * SHARE_SLOTS, "part of the layout");

struct share_claim {
	_Atomic uint64_t used_ns; /* device time, since the engine began */
	/*
	 * Time with work that waited or ran on the device, without the present period of such time.
	 */
	_Atomic uint64_t busy_ns;
	/* CLOCK_MONOTONIC: begin of the present period; 0: there is none. */
	_Atomic uint64_t busy_since_ns;
	_Atomic uint32_t running; /* groups on the device */
	uint32_t reserved;
};

static_assert(sizeof(struct share_claim) == 32, "part of the layout");

struct share_claims {
	_Atomic uint64_t beat;                    /* changes each time that the engine writes */
	_Atomic uint32_t devices[SHARE_BACKENDS]; /* bit n: the slot of device n is in use */
	uint8_t padding[40];
	struct share_claim slots[SHARE_SLOTS];
};

static_assert(sizeof(struct share_claims) == 64 + 32 * SHARE_SLOTS, "part of the layout");

/* SHARE_SLOTS: the device has no slot. */
static inline uint32_t share_slot(uint32_t backend, uint32_t index)
{
	return backend < SHARE_BACKENDS && index < SHARE_DEVICES ? backend * SHARE_DEVICES + index
								 : SHARE_SLOTS;
}

#endif
