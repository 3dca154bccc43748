/* Each part of a report fits into a datagram, with an invented engine of many devices. */
#include "process/engine.h"
#include "process/present.h"
#include "process/process.h"
#include "process/strict.h"
#include "protocol_limits.h"
#include "session/engine_state.h"
#include "session/session.h"
#include "session/topology.h"

#include "control.pb-c.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <string.h>

enum { SESSIONS = 300, NAME_BYTES = 3000 };

static char long_name[NAME_BYTES];
static size_t largest, sessions, parts;

void session_rank(const struct session *session, uint32_t *class_out, uint32_t *weight_out)
{
	(void)session;
	*class_out = *weight_out = 1;
}

void session_usage_fill(const struct session *session, Sycl__V1__Usage *usage)
{
	(void)session;
	sycl__v1__usage__init(usage);
}

uint32_t session_devices_fill(const struct session *session, Sycl__V1__DeviceUsage *rows)
{
	(void)session;
	(void)rows;
	return 0;
}

void present_fill_session(const struct session *session, Sycl__V1__SessionPresent *present_out,
			  Sycl__V1__Usage *usage)
{
	(void)session;
	(void)usage;
	sycl__v1__session_present__init(present_out);
	present_out->running = long_name;
}

void present_fill_devices(const struct scheduler *scheduler, struct sensors **sensors,
			  struct present_devices *devices, Sycl__V1__EngineReport *report_out)
{
	(void)scheduler;
	(void)sensors;
	for (uint32_t i = 0; i < SCHED_DEVICES_MAX; i++) {
		sycl__v1__device_present__init(&devices->rows[i]);
		sycl__v1__device_sensors__init(&devices->sensors[i]);
		memset(devices->reasons[i], 'r', SENSORS_REASON_BYTES - 1);
		devices->reasons[i][SENSORS_REASON_BYTES - 1] = '\0';
		devices->sensors[i].unavailable = devices->reasons[i];
		devices->sensors[i].total_bytes = UINT64_MAX;
		devices->rows[i].held_bytes = UINT64_MAX;
		devices->rows[i].sensors = &devices->sensors[i];
		devices->list[i] = &devices->rows[i];
	}
	report_out->devices = devices->list;
	report_out->n_devices = SCHED_DEVICES_MAX;
}

Sycl__V1__FilterState strict_state(const struct engine *engine)
{
	(void)engine;
	return SYCL__V1__FILTER_STATE__FILTER_STATE_STRICT;
}

void process_facts_read(struct process_facts *facts_out)
{
	memset(facts_out, 0, sizeof(*facts_out));
}

void build_service_counters(const struct build_service *service,
			    struct build_service_counters *counters_out)
{
	(void)service;
	memset(counters_out, 0, sizeof(*counters_out));
}

void scheduler_counters(const struct scheduler *scheduler, struct scheduler_counters *counters_out)
{
	(void)scheduler;
	memset(counters_out, 0, sizeof(*counters_out));
}

uint64_t scheduler_present_begin(struct scheduler *scheduler)
{
	(void)scheduler;
	return 0;
}

bool scheduler_discovered(const struct scheduler *scheduler)
{
	(void)scheduler;
	return true;
}

static char platform_name[19000];
static Sycl__V1__Topology topology;

int topology_create(struct scheduler *scheduler, bool in_application,
		    struct topology **topology_out)
{
	(void)scheduler;
	(void)in_application;
	(void)topology_out;
	return 0;
}

Sycl__V1__Topology *topology_message(struct topology *of)
{
	(void)of;
	return &topology;
}

struct topology *topology_free(struct topology *of)
{
	(void)of;
	return NULL;
}

static int on_part(void *context, const ProtobufCMessage *message)
{
	const Sycl__V1__Control *control = (const Sycl__V1__Control *)message;
	size_t bytes = protobuf_c_message_get_packed_size(message);
	(void)context;
	largest = bytes > largest ? bytes : largest;
	sessions += control->report->n_sessions;
	parts++;
	return 0;
}

Test(report, each_part_fits_into_a_datagram_with_all_devices_open)
{
	static struct engine engine;
	static struct session list[SESSIONS];
	static Sycl__V1__PlatformFacts platform, *platforms[] = {&platform};
	const struct report_options options = {.send = on_part};
	memset(long_name, 'k', sizeof(long_name) - 1);
	memset(platform_name, 'p', sizeof(platform_name) - 1);
	sycl__v1__topology__init(&topology);
	sycl__v1__platform_facts__init(&platform);
	platform.name = platform_name;
	topology.platforms = platforms;
	topology.n_platforms = 1;
	list_init(&engine.sessions);
	for (size_t i = 0; i < SESSIONS; i++)
		list_push_back(&engine.sessions, &list[i].link);
	cr_assert(zero(int, engine_report(&engine, &options)));
	cr_expect(le(sz, largest, PACKET_BYTES_MAX));
	cr_expect(eq(sz, sessions, SESSIONS));
	cr_expect(lt(sz, parts, 6));
}
