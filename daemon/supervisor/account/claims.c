#include "account/claims.h"

#include "account/account.h"
#include "account/claims_bound.h"
#include "admin.pb-c.h"
#include "clock.h"
#include "service/engine_state.h"
#include "service/session.h"
#include "share_page.h"
#include "base/text.h"

#include <errno.h>
#include <stdlib.h>

#define MILLISECOND_NS 1000000ull

struct session *engine_session(struct engine *engine, uint64_t id)
{
	struct session *session;
	LIST_FOREACH (session, &engine->places[id % ENGINE_PLACES], same_place)
		if (session->id == id)
			return session;
	return NULL;
}

static void claims_drop_topology(struct engine_claims *claims)
{
	for (unsigned i = 0; i < claims->device_count; i++)
		free(claims->devices[i].bytes);
	claims->device_count = 0;
	if (claims->topology)
		sycl__v1__topology__free_unpacked(claims->topology, NULL);
	claims->topology = NULL;
}

void engine_claims_fini(struct engine_claims *claims)
{
	claims_drop_topology(claims);
}

static uint32_t claims_permille(uint32_t permille)
{
	return permille < SHARE_WHOLE ? permille : SHARE_WHOLE;
}

static bool claims_is_device(Sycl__V1__Backend backend, uint32_t index)
{
	return backend >= SYCL__V1__BACKEND__BACKEND_OPENCL &&
	       backend <= SYCL__V1__BACKEND__BACKEND_FAKE && index < CLAIMS_DEVICES_MAX;
}

/*
 * Returns the time of the command group that runs: the sum of a session has it, and its rows by
 * device have only groups that are complete. No more than the time for which the group has run.
 */
static uint64_t session_running_ns(const Sycl__V1__SessionReport *report)
{
	const Sycl__V1__SessionPresent *present = report->present;
	if (!present || !report->usage ||
	    present->activity != SYCL__V1__SESSION_ACTIVITY__SESSION_ACTIVITY_RUNNING)
		return 0;
	uint64_t left_ns = report->usage->device_ns;
	for (size_t i = 0; i < report->n_devices; i++) {
		uint64_t device_ns = report->devices[i]->device_ns;
		left_ns -= device_ns < left_ns ? device_ns : left_ns;
	}
	return left_ns < present->running_ns ? left_ns : present->running_ns;
}

/* Adds the time of the group that runs to the row of its device, which may be a new one. So a
 * kernel counts that never ends. */
static size_t session_add_running(const Sycl__V1__SessionReport *report,
				  Sycl__V1__DeviceUsage rows[ACCOUNT_DEVICES_MAX], size_t count)
{
	const Sycl__V1__SessionPresent *present = report->present;
	uint64_t running_ns = session_running_ns(report);
	if (running_ns == 0)
		return count;
	for (size_t i = 0; i < count; i++)
		if (rows[i].backend == present->backend && rows[i].index == present->index) {
			rows[i].device_ns += running_ns;
			return count;
		}
	if (count == ACCOUNT_DEVICES_MAX)
		return count;
	sycl__v1__device_usage__init(&rows[count]);
	rows[count].backend = present->backend;
	rows[count].index = present->index;
	rows[count].device_ns = running_ns;
	return count + 1;
}

/* Keeps no more of a claim than an account counts, so without fields of a later release. */
static void session_keep_devices(struct session_figures *claim,
				 const Sycl__V1__SessionReport *report, size_t delays_most)
{
	Sycl__V1__DeviceUsage rows[ACCOUNT_DEVICES_MAX], *list[ACCOUNT_DEVICES_MAX];
	Sycl__V1__SessionReport devices = SYCL__V1__SESSION_REPORT__INIT;
	size_t count = 0;
	for (; count < report->n_devices && count < ACCOUNT_DEVICES_MAX; count++) {
		rows[count] = *report->devices[count];
		rows[count].base.n_unknown_fields = 0;
		rows[count].base.unknown_fields = NULL;
		if (rows[count].n_delays > delays_most)
			rows[count].n_delays = delays_most;
	}
	devices.n_devices = session_add_running(report, rows, count);
	for (size_t i = 0; i < devices.n_devices; i++)
		list[i] = &rows[i];
	devices.devices = list;
	if (devices.n_devices == 0)
		return;
	claim->devices = malloc(sycl__v1__session_report__get_packed_size(&devices));
	if (claim->devices)
		claim->devices_bytes = sycl__v1__session_report__pack(&devices, claim->devices);
}

/* Figures of earlier reports have no use, and their sessions may never be reported again. */
static void claims_drop_earlier(struct engine *engine)
{
	struct session *session;
	engine->claims.devices_bytes = 0;
	TAILQ_FOREACH (session, &engine->sessions, link) {
		if (session->figures.request < engine->claims.request)
			session_figures_fini(&session->figures);
		engine->claims.devices_bytes += session->figures.devices_bytes;
	}
}

/* False: it is more than all reports of an engine can have. The sum still counts sessions that have
 * ended since the last report, so it is first made exact. */
static bool claims_have_room(struct engine *engine)
{
	if (engine->claims.devices_bytes > CLAIMS_DEVICES_BYTES_MAX)
		claims_drop_earlier(engine);
	return engine->claims.devices_bytes <= CLAIMS_DEVICES_BYTES_MAX;
}

/* Bounds a claim: no part of a device exceeds the whole, and the name is cut. */
static void session_keep_present(struct session_figures *claim,
				 const Sycl__V1__SessionPresent *present)
{
	Sycl__V1__SessionPresent *kept = &claim->present;
	*kept = *present;
	kept->base.n_unknown_fields = 0;
	kept->base.unknown_fields = NULL;
	if ((unsigned)kept->activity > SYCL__V1__SESSION_ACTIVITY__SESSION_ACTIVITY_WAITING)
		kept->activity = SYCL__V1__SESSION_ACTIVITY__SESSION_ACTIVITY_UNSPECIFIED;
	if ((unsigned)kept->waits_for > SYCL__V1__SESSION_WAIT__SESSION_WAIT_EVENT)
		kept->waits_for = SYCL__V1__SESSION_WAIT__SESSION_WAIT_NONE;
	if (!claims_is_device(kept->backend, kept->index)) {
		kept->backend = SYCL__V1__BACKEND__BACKEND_UNSPECIFIED;
		kept->index = 0;
	}
	kept->used_permille = claims_permille(kept->used_permille);
	text_copy_printable(claim->running, sizeof(claim->running), present->running);
	claim->has_present = true;
}

/*
 * Ignores a report on a session that the engine does not have, and a second report on one. False:
 * too much would be kept.
 */
static bool claims_keep_session(struct engine *engine, const Sycl__V1__SessionReport *report)
{
	struct session *session = engine_session(engine, report->session);
	if (!session || session->figures.request == engine->claims.arriving)
		return true;
	struct session_figures *claim = &session->figures;
	/* Figures of an earlier engine of the session are not in the sum. */
	if (claim->devices_bytes <= engine->claims.devices_bytes)
		engine->claims.devices_bytes -= claim->devices_bytes;
	session_figures_fini(claim);
	*claim = (struct session_figures){
		.request = engine->claims.arriving,
		.queues = report->queues,
		.buffers = report->buffers,
		.objects = report->objects,
		.weight = report->weight,
		.session_class = report->session_class,
		.paused = report->paused,
		.ended = report->ended,
		.has_usage = report->usage != NULL,
	};
	if (report->usage) {
		claim->usage = *report->usage;
		/* Fields of a later release lie in the arena, and are not kept. */
		claim->usage.base.n_unknown_fields = 0;
		claim->usage.base.unknown_fields = NULL;
	}
	if (report->present)
		session_keep_present(claim, report->present);
	bool has_room_for_delays = engine->claims.delays_bytes_most == 0 ||
				   engine->claims.devices_bytes < engine->claims.delays_bytes_most;
	session_keep_devices(claim, report, has_room_for_delays ? DELAY_BUCKETS : 0);
	engine->claims.devices_bytes += claim->devices_bytes;
	return claims_have_room(engine);
}

static void claims_keep_device(struct engine_claims *claims, Sycl__V1__DeviceFacts *facts)
{
	Sycl__V1__KnownDevice known = SYCL__V1__KNOWN_DEVICE__INIT;
	for (size_t i = 0; i < claims->topology->n_platforms; i++) {
		const Sycl__V1__PlatformFacts *platform = claims->topology->platforms[i];
		if (platform->platform == facts->platform) {
			known.backend = platform->backend;
			known.platform_name = platform->name;
		}
	}
	known.facts = facts;
	struct device_claim claim = {
		.facts = facts, .backend = known.backend, .platform_name = known.platform_name};
	claim.bytes = malloc(sycl__v1__known_device__get_packed_size(&known));
	if (!claim.bytes)
		return;
	claim.size = sycl__v1__known_device__pack(&known, claim.bytes);
	claims->devices[claims->device_count++] = claim;
}

/*
 * Keeps a copy, because the message is in the arena, which the next message reuses. The copy is
 * made of what is left within the bounds: a platform's name, for example, is kept once for each of
 * its devices.
 */
static void claims_keep_topology(struct engine_claims *claims, Sycl__V1__Topology *topology)
{
	claims_bound_topology(topology);
	size_t size = sycl__v1__topology__get_packed_size(topology);
	uint8_t *bytes = malloc(size ? size : 1);
	Sycl__V1__Topology *copy = NULL;
	if (bytes && sycl__v1__topology__pack(topology, bytes) == size)
		copy = sycl__v1__topology__unpack(NULL, size, bytes);
	free(bytes);
	if (!copy)
		return;
	claims_drop_topology(claims);
	claims->topology = copy;
	for (size_t i = 0; i < copy->n_devices; i++)
		if (copy->devices[i]->backend_index < CLAIMS_DEVICES_MAX)
			claims_keep_device(claims, copy->devices[i]);
}

size_t claims_delays_bytes_most(bool was_found, unsigned engines)
{
	unsigned of_unknown_uids = engines / 4 ? engines / 4 : 1;
	size_t most = CLAIMS_UNKNOWN_BYTES / of_unknown_uids;
	if (was_found)
		return 0;
	return most > CLAIMS_UNKNOWN_LEAST_BYTES ? most : CLAIMS_UNKNOWN_LEAST_BYTES;
}

static bool report_is_too_large(const Sycl__V1__EngineReport *report, bool is_first)
{
	const Sycl__V1__Topology *topology = report->topology;
	if (report->n_sessions > CLAIMS_PART_SESSIONS_MAX)
		return true;
	return topology && (!is_first || topology->n_devices > CLAIMS_DEVICES_MAX ||
			    topology->n_platforms > CLAIMS_DEVICES_MAX);
}

/* Keeps the sensors of the device at `present_count`, which is counted afterwards. */
static void claims_keep_sensors(struct engine_claims *claims,
				const Sycl__V1__DeviceSensors *sensors)
{
	Sycl__V1__DeviceSensors *kept = &claims->sensors[claims->present_count];
	char *reason = claims->sensor_reasons[claims->present_count];
	*kept = *sensors;
	kept->base.n_unknown_fields = 0;
	kept->base.unknown_fields = NULL;
	text_copy_printable(reason, CLAIMS_REASON_BYTES, sensors->unavailable);
	kept->unavailable = reason;
	if (kept->utilisation_percent > 100)
		kept->utilisation_percent = 100;
	if (kept->sm_occupancy_permille > 1000)
		kept->sm_occupancy_permille = 1000;
	claims->present[claims->present_count].sensors = kept;
}

static void claims_keep_open_devices(struct engine_claims *claims,
				     const Sycl__V1__EngineReport *report)
{
	claims->present_count = 0;
	for (size_t i = 0; i < report->n_devices && i < CLAIMS_DEVICES_MAX; i++) {
		Sycl__V1__DevicePresent *kept = &claims->present[claims->present_count];
		if (!claims_is_device(report->devices[i]->backend, report->devices[i]->index))
			continue;
		*kept = *report->devices[i];
		kept->base.n_unknown_fields = 0;
		kept->base.unknown_fields = NULL;
		kept->busy_permille = claims_permille(kept->busy_permille);
		kept->sensors = NULL;
		if (report->devices[i]->sensors)
			claims_keep_sensors(claims, report->devices[i]->sensors);
		claims->present_count++;
	}
}

static void claims_keep_facts(struct engine_claims *claims, const Sycl__V1__EngineReport *report)
{
	claims->facts = *report;
	claims->facts.base.n_unknown_fields = 0;
	claims->facts.base.unknown_fields = NULL;
	claims->facts.topology = NULL;
	claims->facts.n_sessions = 0;
	claims->facts.sessions = NULL;
	claims->facts.n_devices = 0;
	claims->facts.devices = NULL;
}

/* Only the first part of a report has the facts and the devices of the whole engine. */
static void claims_keep_first(struct engine_claims *claims, const Sycl__V1__EngineReport *report)
{
	claims_keep_facts(claims, report);
	claims_keep_open_devices(claims, report);
}

int claims_keep_report(struct engine *engine, const Sycl__V1__EngineReport *report, unsigned *parts)
{
	struct engine_claims *claims = &engine->claims;
	claims->arriving = report->request;
	if (report_is_too_large(report, *parts == 0))
		return -EINVAL;
	if (*parts == CLAIMS_PARTS_MAX)
		return -E2BIG;
	if ((*parts)++ == 0)
		claims_keep_first(claims, report);
	if (report->topology)
		claims_keep_topology(claims, report->topology);
	for (size_t i = 0; i < report->n_sessions; i++)
		if (!claims_keep_session(engine, report->sessions[i]))
			return -EINVAL;
	if (report->more)
		return 0;
	claims->request = report->request;
	claims->arriving = 0;
	claims_drop_earlier(engine);
	claims->at_ns = clock_now_ns();
	return 1;
}

bool claims_may_request(struct engine_claims *claims, uint64_t question)
{
	uint64_t now_ns = clock_now_ns();
	if (now_ns - claims->window_ns >= CLAIMS_ANSWER_MS * MILLISECOND_NS) {
		claims->window_ns = now_ns;
		claims->asked = 0;
	}
	if (claims->asked < CLAIMS_ASKED_FREELY || !claims->request ||
	    now_ns - claims->at_ns >= CLAIMS_ANSWER_MS * MILLISECOND_NS) {
		claims->asked++;
		return true;
	}
	claims->serves = question;
	return false;
}

bool claims_answer(const struct engine_claims *claims, uint64_t question)
{
	return claims->request >= question || claims->serves >= question;
}

const struct session_figures *claims_of_session(const struct engine *engine,
						const struct session *session)
{
	bool is_latest =
		session->figures.request && session->figures.request >= engine->claims.request;
	return is_latest ? &session->figures : NULL;
}

const Sycl__V1__SessionReport *claims_devices(const struct session_figures *claim,
					      struct decode_arena *arena)
{
	ProtobufCMessage *message = NULL;
	if (!claim->devices || message_unpack(&sycl__v1__session_report__descriptor, arena,
					      claim->devices, claim->devices_bytes, &message) < 0)
		return NULL;
	return (const Sycl__V1__SessionReport *)message;
}
