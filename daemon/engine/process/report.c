#include "process/engine.h"
#include "process/present.h"
#include "process/process.h"
#include "process/strict.h"
#include "session/engine_state.h"
#include "session/session.h"
#include "session/topology.h"

#include "control.pb-c.h"
#include "flight_page.h"
#include "protocol_limits.h"

#include <stdio.h>

#define SESSIONS_PER_REPORT 100u
/* Devices of all sessions; one session has SESSION_DEVICES_REPORTED at most. */
#define DEVICES_PER_REPORT 400u
/* A session needs 560 at most, and 1100 for each of its devices. The first part may have less
 * room. */
#define REPORT_SESSIONS_BYTES 42000u
#define REPORT_TOPOLOGY_BYTES 20000u
/* Bytes around the lists, and a reserve. */
#define REPORT_FRAME_BYTES 1000u
#define REPORT_PARTS_DEVICES                                                                       \
	20u /* sessions in later parts are reported without devices: 64 parts are the most, and    \
	       3000 sessions must find room */

static_assert(560 + SESSION_DEVICES_REPORTED * 1100 <= REPORT_SESSIONS_BYTES,
	      "there is room for one");

struct report_part {
	uint32_t number; /* number of the part, from 0 on */
	size_t bytes;    /* bytes of the sessions in this part */
	size_t room;     /* most bytes of the sessions in this part */
	uint32_t device_count;
	Sycl__V1__DeviceUsage devices[DEVICES_PER_REPORT];
	Sycl__V1__DeviceUsage *device_list[DEVICES_PER_REPORT];
	Sycl__V1__SessionReport sessions[SESSIONS_PER_REPORT];
	Sycl__V1__SessionReport *list[SESSIONS_PER_REPORT];
	Sycl__V1__Usage usages[SESSIONS_PER_REPORT];
	Sycl__V1__SessionPresent presents[SESSIONS_PER_REPORT];
	char running[SESSIONS_PER_REPORT][FLIGHT_KERNEL_NAME_BYTES]; /* names, which may be cut */
	struct present_devices present_devices;
};

static void fill_session(struct report_part *part, size_t index, const struct session *session)
{
	Sycl__V1__SessionReport *out = &part->sessions[index];
	sycl__v1__session_report__init(out);
	out->session = session->peer.session;
	out->command = (char *)(uintptr_t)session->command;
	out->queues = session->objects.counts[OBJECT_QUEUE];
	out->buffers = session->objects.counts[OBJECT_BUFFER];
	out->objects = session->objects.count;
	uint32_t class;
	out->paused = session->paused;
	out->ended = session->state == SESSION_CLOSING;
	session_rank(session, &class, &out->weight);
	out->session_class = (Sycl__V1__SessionClass) class;
	session_usage_fill(session, &part->usages[index]);
	out->usage = &part->usages[index];
	present_fill_session(session, &part->presents[index], &part->usages[index]);
	if (part->presents[index].running) {
		(void)snprintf(part->running[index], sizeof(part->running[index]), "%s",
			       part->presents[index].running);
		part->presents[index].running = part->running[index];
	}
	out->present = &part->presents[index];
	out->devices = &part->device_list[part->device_count];
	if (part->number < REPORT_PARTS_DEVICES)
		out->n_devices = session_devices_fill(session, &part->devices[part->device_count]);
	for (size_t i = 0; i < out->n_devices; i++)
		out->devices[i] = &part->devices[part->device_count + i];
	part->list[index] = out;
}

/* False: the session must go into another part. */
static bool add_session(struct report_part *part, Sycl__V1__EngineReport *report,
			const struct session *session)
{
	size_t index = report->n_sessions;
	if (index == SESSIONS_PER_REPORT ||
	    part->device_count > DEVICES_PER_REPORT - SESSION_DEVICES_REPORTED)
		return false;
	fill_session(part, index, session);
	size_t bytes = sycl__v1__session_report__get_packed_size(part->list[index]) + 4;
	/* A later part always has room for a session. The first part may have no room, if many
	 * devices are open. */
	bool may_be_full = index > 0 || part->number == 0;
	if (may_be_full && bytes > part->room - part->bytes)
		return false;
	part->bytes += bytes;
	part->device_count += (uint32_t)part->list[index]->n_devices;
	report->n_sessions++;
	return true;
}

static void fill_engine(const struct engine *engine, Sycl__V1__EngineReport *report)
{
	struct process_facts facts;
	process_facts_read(&facts);
	report->resident_bytes = facts.resident_bytes;
	report->descriptors = facts.descriptors;
	report->mappings = facts.mappings;
	if (engine->builds) {
		struct build_service_counters counters;
		build_service_counters(engine->builds, &counters);
		report->builds = counters.builds;
		report->build_cache_hits = counters.cache_hits;
	}
	struct scheduler_counters counters;
	scheduler_counters(engine->scheduler, &counters);
	report->copies = counters.moves;
	report->inline_launches = counters.inline_launches;
	report->inline_completions = counters.inline_completions;
	report->graphs_built = engine->graphs_built;
	report->graph_launches = engine->graph_launches;
	report->graph_replays_switch = engine->graph_replays[GRAPH_REPLAY_SWITCH];
	report->graph_replays_device = engine->graph_replays[GRAPH_REPLAY_DEVICE];
	report->graph_replays_host = engine->graph_replays[GRAPH_REPLAY_HOST];
	report->graph_replays_size = engine->graph_replays[GRAPH_REPLAY_SIZE];
	report->graph_replays_backend = engine->graph_replays[GRAPH_REPLAY_BACKEND];
	report->graph_replays_queue = engine->graph_replays[GRAPH_REPLAY_QUEUE];
	report->graph_replays_node = engine->graph_replays[GRAPH_REPLAY_NODE];
	report->graph_replays_contents = engine->graph_replays[GRAPH_REPLAY_CONTENTS];
	report->graph_replays_change = engine->graph_replays[GRAPH_REPLAY_CHANGE];
	report->bursts = counters.bursts;
	report->burst_launches = counters.burst_launches;
	report->kept_launches = counters.kept_launches;
	report->kept_graphs = counters.kept_graphs;
	report->gate_bypassed = counters.fair_queue_bypassed;
	report->gate_admitted = counters.fair_queue_admitted;
	report->gate_held = counters.fair_queue_held;
	report->gate_waiting = counters.fair_queue_waiting;
	report->spills = counters.spill.spills;
	report->spilled_bytes = counters.spill.spilled_bytes;
	report->spill_returns = counters.spill.returns;
	report->spill_returned_bytes = counters.spill.returned_bytes;
	report->spilled_now_bytes = counters.spill.away_bytes;
	report->chains = counters.chains;
	report->chain_launches = counters.chain_launches;
	report->chains_refused = counters.chains_refused;
	report->latency_units = counters.latency_units;
	report->graph_memories = counters.graph_memories;
	report->splits = counters.splits;
	report->split_parts = counters.split_parts;
	report->commands_decoded = engine->commands_decoded;
	report->wakes_sent = engine->wakes_sent;
}

static int report_send_part(const struct report_options *options, Sycl__V1__EngineReport *report)
{
	Sycl__V1__Control control = SYCL__V1__CONTROL__INIT;
	control.body_case = SYCL__V1__CONTROL__BODY_REPORT;
	control.report = report;
	return options->send(options->context, &control.base);
}

int engine_report(struct engine *engine, const struct report_options *options)
{
	CLEANUP(topology_cleanup) struct topology *topology = NULL;
	CLEANUP(free_pointer) struct report_part *part = malloc(sizeof(*part));
	if (!part)
		return -ENOMEM;
	part->number = part->device_count = 0;
	part->bytes = 0;
	Sycl__V1__EngineReport report = SYCL__V1__ENGINE_REPORT__INIT;
	report.request = options->request;
	report.window_ns = scheduler_present_begin(engine->scheduler);
	present_fill_devices(engine->scheduler, options->sensors, &part->present_devices, &report);
	fill_engine(engine, &report);
	report.filter = strict_state(engine);
	/* A report without devices is still sent. */
	if ((options->discover || scheduler_discovered(engine->scheduler)) &&
	    topology_create(engine->scheduler, engine->options.in_application, &topology) == 0 &&
	    sycl__v1__topology__get_packed_size(topology_message(topology)) <=
		    REPORT_TOPOLOGY_BYTES)
		report.topology = topology_message(topology);
	report.sessions = part->list;
	size_t used = sycl__v1__engine_report__get_packed_size(&report) + REPORT_FRAME_BYTES;
	size_t left = used < PACKET_BYTES_MAX ? PACKET_BYTES_MAX - used : 0;
	part->room = left < REPORT_SESSIONS_BYTES ? left : REPORT_SESSIONS_BYTES;
	for (struct list *link = engine->sessions.next; link != &engine->sessions;
	     link = link->next) {
		const struct session *session = list_entry(link, struct session, link);
		if (add_session(part, &report, session))
			continue;
		report.more = true;
		int r = report_send_part(options, &report);
		if (r < 0)
			return r;
		report.more = false;
		report.topology = NULL;
		report.n_devices = 0;
		report.n_sessions = 0;
		part->bytes = 0;
		part->room = REPORT_SESSIONS_BYTES;
		part->device_count = 0;
		part->number++;
		(void)add_session(part, &report, session);
	}
	return report_send_part(options, &report);
}
