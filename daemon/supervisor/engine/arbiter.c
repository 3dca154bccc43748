#include "engine/arbiter.h"

#include "base/log.h"
#include "clock.h"
#include "division/division.h"
#include "division/memory.h"
#include "engine/control.h"
#include "service/engine_state.h"
#include "service/supervisor.h"
#include "service/tenant.h"
#include "service/tenant_share.h"

#include <stdlib.h>
#include <string.h>

#define NS_PER_SECOND     1000000000ull
#define PERMILLE_OF_1     10u /* percent */
#define COPY_BYTES_PER_NS 4u

enum case_phase { CASE_WAITS, CASE_COUNTS, CASE_SPILLS };

struct memory_case {
	TAILQ_ENTRY(memory_case) link;
	uint64_t number;
	enum case_phase phase;
	uid_t user; /* the user of the requesting engine */
	uint8_t device[ARBITER_UUID_BYTES];
	uint64_t bytes, held_bytes, capacity_bytes; /* as the requesting engine claims */
	uint64_t freed_bytes;
	uint64_t deadline_ns; /* end of the present phase */
};

/* ---------------------------------------- engines --------------------------------------- */

typedef bool engine_test(const struct engine *engine, const struct memory_case *of);

static bool engine_has_begun_case(const struct engine *engine, const struct memory_case *of)
{
	return engine->memory.wanted == of->number;
}

/* True if the engine's reply is awaited. An engine that does not report its figures in time frees
 * nothing. */
static bool arbiter_is_awaited(const struct engine *engine, const struct memory_case *of)
{
	return engine->memory.request != 0 && engine->memory.asked == of->number &&
	       engine->control >= 0 && (of->phase != CASE_SPILLS || engine->memory.bytes > 0);
}

/* True if the engine may hold memory of the device and has replied to all requests. */
static bool engine_can_be_asked(const struct engine *engine, const struct memory_case *of)
{
	return engine->state == ENGINE_READY && engine->control >= 0 &&
	       engine->memory.wanted != of->number && engine->memory.request == 0 &&
	       !device_set_is_empty(&engine->devices);
}

static struct engine *arbiter_find_engine(struct supervisor *supervisor, engine_test *test,
					  const struct memory_case *of)
{
	struct tenant *tenant;
	struct engine *engine;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		TAILQ_FOREACH (engine, &tenant->engines, link)
			if (test(engine, of))
				return engine;
	return NULL;
}

static bool arbiter_send_request(struct engine *engine, const struct memory_case *of,
				 uint64_t bytes, uint64_t within_ns)
{
	struct arbiter *arbiter = engine->tenant->supervisor->arbiter;
	const struct memory_request_terms terms = {
		.request = arbiter->last_request + 1,
		.device = of->device,
		.device_bytes = sizeof(of->device),
		.bytes = bytes,
		.within_ns = within_ns,
		.hold_ns = bytes > 0 ? ARBITER_HOLD_NS : 0,
	};
	if (engine_send_memory_request(engine, &terms) < 0)
		return false;
	engine->memory.request = ++arbiter->last_request;
	engine->memory.asked = of->number;
	engine->memory.bytes = bytes;
	return true;
}

/* ----------------------------------------- cases ---------------------------------------- */

static void on_arbiter_timer(uv_timer_t *timer);

static void arbiter_answer(struct engine *engine, uint64_t bytes)
{
	engine->memory.wanted = 0;
	/* If the engine does not read the answer, it waits until its own time limit. */
	(void)engine_send_memory_answer(engine, engine->memory.ask, bytes);
}

static void memory_case_end(struct supervisor *supervisor, struct memory_case *ended)
{
	struct engine *engine = arbiter_find_engine(supervisor, engine_has_begun_case, ended);
	if (engine) {
		log_debug("memory", "pid %ld of uid %lu needs %llu bytes: others have freed %llu",
			  (long)engine->pid, (unsigned long)ended->user,
			  (unsigned long long)ended->bytes, (unsigned long long)ended->freed_bytes);
		arbiter_answer(engine, ended->freed_bytes);
	}
	TAILQ_REMOVE(&supervisor->arbiter->cases, ended, link);
	free(ended);
}

static void memory_case_begin(struct supervisor *supervisor, struct memory_case *begun,
			      uint64_t now_ns)
{
	struct tenant *tenant;
	struct engine *engine;
	begun->phase = CASE_COUNTS;
	begun->deadline_ns = now_ns + ARBITER_FIGURES_NS;
	supervisor->arbiter->last_user = begun->user;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		TAILQ_FOREACH (engine, &tenant->engines, link)
			if (engine_can_be_asked(engine, begun))
				(void)arbiter_send_request(engine, begun, 0, ARBITER_FIGURES_NS);
}

/* Fills in the engine's figures for the decision. False: the engine does not count. */
static bool arbiter_fill_party(const struct engine *engine, const struct memory_case *of,
			       uint64_t now_ns, struct memory_party *party)
{
	const struct engine_memory *memory = &engine->memory;
	bool asks = memory->wanted == of->number;
	if (!asks && (memory->known != of->number || memory->request != 0))
		return false;
	struct configuration_share share = tenant_share(engine->tenant);
	*party = (struct memory_party){
		.user = engine->tenant->uid,
		.least = share.least * PERMILLE_OF_1,
		.most = share.most * PERMILLE_OF_1,
		.capacity_bytes = asks ? of->capacity_bytes : memory->capacity_bytes,
		.held_bytes = asks ? of->held_bytes : memory->held_bytes,
		.spillable_bytes =
			asks || now_ns < memory->unreliable_until_ns ? 0 : memory->spillable_bytes,
	};
	return true;
}

/* Returns the time for freeing these bytes. It is bounded, because claims may have any size, and
 * other cases wait meanwhile. */
static uint64_t memory_spill_time_ns(uint64_t bytes)
{
	uint64_t within_ns = ARBITER_SPILL_NS + bytes / COPY_BYTES_PER_NS;
	return within_ns < ARBITER_SPILL_MOST_NS ? within_ns : ARBITER_SPILL_MOST_NS;
}

/* Sends the requests to free memory. False: no engine has to free any. */
static bool arbiter_decide(struct supervisor *supervisor, struct memory_case *of, uint64_t now_ns)
{
	static struct memory_party parties[MEMORY_PARTIES_MAX];
	static struct engine *engines[MEMORY_PARTIES_MAX];
	struct tenant *tenant;
	struct engine *engine;
	uint32_t count = 0, asker = MEMORY_PARTIES_MAX;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		TAILQ_FOREACH (engine, &tenant->engines, link) {
			if (count == MEMORY_PARTIES_MAX ||
			    !arbiter_fill_party(engine, of, now_ns, &parties[count]))
				continue;
			asker = engine->memory.wanted == of->number ? count : asker;
			engines[count++] = engine;
		}
	if (asker == MEMORY_PARTIES_MAX)
		return false;
	uint64_t bytes = memory_divide(parties, count, asker, of->bytes);
	uint64_t within_ns = memory_spill_time_ns(bytes < of->bytes ? bytes : of->bytes);
	bool is_requested = false;
	for (uint32_t i = 0; i < count; i++)
		if (parties[i].give_bytes > 0)
			is_requested |= arbiter_send_request(engines[i], of, parties[i].give_bytes,
							     within_ns / 4 * 3);
	of->phase = CASE_SPILLS;
	of->deadline_ns = now_ns + within_ns;
	return is_requested;
}

/* For a while, does not count on engines that have not replied in time or have freed nothing. */
static void arbiter_distrust_silent_engines(struct supervisor *supervisor,
					    const struct memory_case *of, uint64_t now_ns)
{
	struct tenant *tenant;
	struct engine *engine;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		TAILQ_FOREACH (engine, &tenant->engines, link)
			if (arbiter_is_awaited(engine, of))
				engine->memory.unreliable_until_ns = now_ns + ARBITER_DISTRUST_NS;
}

/* Advances the case if its deadline has passed or its replies have arrived. False: the case has
 * ended. */
static bool memory_case_step(struct supervisor *supervisor, struct memory_case *of, uint64_t now_ns)
{
	bool is_time = now_ns >= of->deadline_ns;
	if (!is_time &&
	    (of->phase == CASE_WAITS || arbiter_find_engine(supervisor, arbiter_is_awaited, of)))
		return true;
	arbiter_distrust_silent_engines(supervisor, of, now_ns);
	if (of->phase == CASE_COUNTS && arbiter_decide(supervisor, of, now_ns))
		return true;
	memory_case_end(supervisor, of);
	return false;
}

static bool memory_cases_share_device(const struct memory_case *one,
				      const struct memory_case *other)
{
	return memcmp(one->device, other->device, sizeof(one->device)) == 0;
}

/* True if another case of this device is open, or a case of another user must come first. */
static bool memory_case_must_wait(const struct supervisor *supervisor, const struct memory_case *of)
{
	const struct memory_case *other;
	bool is_other_user = of->user != supervisor->arbiter->last_user;
	TAILQ_FOREACH (other, &supervisor->arbiter->cases, link) {
		if (other == of || !memory_cases_share_device(other, of))
			continue;
		if (other->phase != CASE_WAITS ||
		    (!is_other_user && other->user != supervisor->arbiter->last_user))
			return true;
	}
	return false;
}

static void arbiter_set_timer(struct supervisor *supervisor, uint64_t now_ns)
{
	struct arbiter *arbiter = supervisor->arbiter;
	const struct memory_case *of;
	uint64_t next_ns = UINT64_MAX;
	TAILQ_FOREACH (of, &arbiter->cases, link)
		if (of->deadline_ns < next_ns)
			next_ns = of->deadline_ns;
	if (next_ns == UINT64_MAX) {
		(void)uv_timer_stop(&arbiter->timer);
		return;
	}
	uint64_t ms = next_ns > now_ns ? (next_ns - now_ns) / 1000000 + 1 : 0;
	uv_update_time(&supervisor->loop);
	(void)uv_timer_start(&arbiter->timer, on_arbiter_timer, ms, 0);
}

static void arbiter_go_on(struct supervisor *supervisor)
{
	struct memory_case *of, *next;
	uint64_t now_ns = clock_now_ns();
	bool has_changed = true;
	for (; has_changed;) {
		has_changed = false;
		for (of = TAILQ_FIRST(&supervisor->arbiter->cases); of; of = next) {
			next = TAILQ_NEXT(of, link);
			if (of->phase == CASE_WAITS && !memory_case_must_wait(supervisor, of))
				memory_case_begin(supervisor, of, now_ns);
			has_changed |= !memory_case_step(supervisor, of, now_ns);
		}
	}
	arbiter_set_timer(supervisor, now_ns);
}

static void on_arbiter_timer(uv_timer_t *timer)
{
	arbiter_go_on(timer->data);
}

void arbiter_init(struct supervisor *supervisor)
{
	struct arbiter *arbiter = supervisor->arbiter;
	TAILQ_INIT(&arbiter->cases);
	(void)uv_timer_init(&supervisor->loop, &arbiter->timer);
	arbiter->timer.data = supervisor;
	arbiter->last_user = (uid_t)-1;
}

void arbiter_fini(struct supervisor *supervisor)
{
	struct memory_case *of;
	while ((of = TAILQ_FIRST(&supervisor->arbiter->cases))) {
		TAILQ_REMOVE(&supervisor->arbiter->cases, of, link);
		free(of);
	}
}

/* --------------------------------------- messages --------------------------------------- */

/* Returns the number of the engine's requests in this second, including this one. */
static unsigned engine_count_ask(struct engine_memory *memory)
{
	uint64_t now_ns = clock_now_ns();
	if (now_ns - memory->window_ns >= NS_PER_SECOND) {
		memory->window_ns = now_ns;
		memory->asks = 0;
	}
	return ++memory->asks;
}

static struct memory_case *memory_case_new(const struct engine *engine,
					   const Sycl__V1__MemoryWanted *wanted)
{
	struct arbiter *arbiter = engine->tenant->supervisor->arbiter;
	struct memory_case *made = calloc(1, sizeof(*made));
	if (!made)
		return NULL;
	made->number = ++arbiter->last_case;
	made->user = engine->tenant->uid;
	memcpy(made->device, wanted->device.data, sizeof(made->device));
	made->bytes = wanted->bytes;
	made->deadline_ns = clock_now_ns() + ARBITER_WAIT_NS;
	made->held_bytes = wanted->held_bytes;
	made->capacity_bytes = wanted->capacity_bytes;
	TAILQ_INSERT_TAIL(&arbiter->cases, made, link);
	return made;
}

bool arbiter_memory_wanted(struct engine *engine, const Sycl__V1__MemoryWanted *wanted)
{
	struct engine_memory *memory = &engine->memory;
	static const uint8_t none[ARBITER_UUID_BYTES];
	if (wanted->device.len != sizeof(none) ||
	    memcmp(wanted->device.data, none, sizeof(none)) == 0 || wanted->bytes == 0 ||
	    wanted->bytes > MEMORY_BYTES_MAX || wanted->held_bytes > MEMORY_BYTES_MAX ||
	    wanted->capacity_bytes > MEMORY_BYTES_MAX)
		return false;
	unsigned asks = engine_count_ask(memory);
	/* The engine has given up its earlier request, whose case continues. On a busy machine that
	 * is no fault. */
	if (memory->wanted != 0) {
		(void)engine_send_memory_answer(engine, wanted->ask, 0);
		return asks <= ARBITER_ASKS_WRONG;
	}
	memory->ask = wanted->ask;
	/* Without spilling no engine has a reason to request memory, and none is requested to free
	 * any. */
	const bool is_allowed = engine->tenant->supervisor->configuration.spill;
	struct memory_case *made =
		!is_allowed || asks > ARBITER_ASKS_MOST ? NULL : memory_case_new(engine, wanted);
	if (!made) {
		arbiter_answer(engine, 0);
		return asks <= ARBITER_ASKS_WRONG;
	}
	memory->wanted = made->number;
	arbiter_go_on(engine->tenant->supervisor);
	return true;
}

static struct memory_case *memory_case_find(const struct supervisor *supervisor, uint64_t number)
{
	struct memory_case *of;
	TAILQ_FOREACH (of, &supervisor->arbiter->cases, link)
		if (of->number == number)
			return of;
	return NULL;
}

bool arbiter_memory_state(struct engine *engine, const Sycl__V1__MemoryState *state)
{
	struct engine_memory *memory = &engine->memory;
	if (memory->request == 0 || state->request != memory->request ||
	    state->held_bytes > MEMORY_BYTES_MAX || state->capacity_bytes > MEMORY_BYTES_MAX ||
	    state->spillable_bytes > state->held_bytes)
		return false;
	struct memory_case *of = memory_case_find(engine->tenant->supervisor, memory->asked);
	memory->request = 0;
	/* The reply is too late. */
	if (!of)
		return true;
	memory->known = of->number;
	memory->held_bytes = state->held_bytes;
	memory->spillable_bytes = state->spillable_bytes;
	memory->capacity_bytes = state->capacity_bytes;
	if (memory->bytes > 0 && state->freed_bytes == 0)
		memory->unreliable_until_ns = clock_now_ns() + ARBITER_DISTRUST_NS;
	of->freed_bytes += state->freed_bytes < memory->bytes ? state->freed_bytes : memory->bytes;
	arbiter_go_on(engine->tenant->supervisor);
	return true;
}
