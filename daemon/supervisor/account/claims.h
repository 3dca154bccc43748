/*
 * What an engine says of itself, of its sessions and of devices. It runs its tenant's code: each
 * report is looked at once, when it comes, and what is kept of it is bounded: one claim for each
 * session that there is, and a few devices. Nothing of it is true because it was said.
 */
#ifndef SYCLD_SUPERVISOR_CLAIMS_H
#define SYCLD_SUPERVISOR_CLAIMS_H

#include "control.pb-c.h"
#include "packet.h"
#include "service/claims_state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct session;

enum {
	CLAIMS_PARTS_MAX = 64,
	CLAIMS_PART_SESSIONS_MAX = 256,
	CLAIMS_ANSWER_MS = 100,   /* an answer that is younger serves again, */
	CLAIMS_ASKED_FREELY = 16, /* when the engine was asked so often in that time */
};

/* Take a part of a report. 1: it was the last one; 0: more follow; -E2BIG: it does not end;
 * -EINVAL: it claims more than there can be. */
int claims_take(struct engine *engine, const Sycl__V1__EngineReport *report);

/* May the engine be asked again? False: what it has said lately is to serve for this question. */
bool claims_may_ask(struct engine_claims *claims, uint64_t question);

/* Has it answered that question, or is what it has said recent enough? */
bool claims_answer(const struct engine_claims *claims, uint64_t question);

/* What it has said of a session last, if its latest report speaks of it. NULL: nothing. */
const struct session_figures *claims_of(const struct engine *engine, const struct session *session);

/* What it says that the session has used of devices: in the arena, until that is used again. NULL:
 * nothing. */
const Sycl__V1__SessionReport *claims_devices(const struct session_figures *claim,
					      struct decode_arena *arena);

void engine_claims_fini(struct engine_claims *claims);

/* One of its sessions that were handed on, or NULL. */
struct session *engine_session(struct engine *engine, uint64_t id);

#endif
