/* The reports of the engine's double, about sessions, devices and a trace. */
#include "supervisor/engine_double.h"

#include "trace_record.h"

#include <unistd.h>

size_t claims(Sycl__V1__DeviceUsage **list)
{
	static Sycl__V1__DeviceUsage rows[CLAIMS_MAX];
	static uint64_t few[] = {90, 0, 0, 10}, many[20];
	bool is_wrong = manner("braggart");
	for (size_t i = 0; i < sizeof(many) / sizeof(*many); i++)
		many[i] = UINT64_MAX;
	for (unsigned i = 0; i < (is_wrong ? CLAIMS_MAX : 1u); i++) {
		Sycl__V1__DeviceUsage *row = list[i] = &rows[i];
		sycl__v1__device_usage__init(row);
		row->backend = is_wrong && i % 3 == 2 ? (Sycl__V1__Backend)77
						      : SYCL__V1__BACKEND__BACKEND_CUDA;
		row->index = is_wrong ? i / 2 * (i % 5 == 4 ? 1000000 : 1) : 1;
		row->commands = is_wrong ? UINT64_MAX : 100;
		row->failed = is_wrong ? UINT64_MAX : 2;
		row->device_ns = is_wrong ? UINT64_MAX : 5000000;
		row->bytes_to_device = 4096;
		row->bytes_to_host = 2048;
		row->spills = 3;
		row->spilled_bytes = 8192;
		row->memory_peak_bytes = 16384;
		row->first_delay = is_wrong ? (i % 2 ? UINT32_MAX - i : 90) : 41;
		row->delays = is_wrong ? many : few;
		row->n_delays =
			is_wrong ? sizeof(many) / sizeof(*many) : sizeof(few) / sizeof(*few);
	}
	return is_wrong ? CLAIMS_MAX : 1;
}

/* Names and numbers that no honest engine would send, or plain ones. */
static void fill_present(Sycl__V1__SessionPresent *present)
{
	bool is_wrong = manner("braggart");
	sycl__v1__session_present__init(present);
	present->activity = is_wrong ? (Sycl__V1__SessionActivity)77
				     : SYCL__V1__SESSION_ACTIVITY__SESSION_ACTIVITY_RUNNING;
	present->waits_for =
		is_wrong ? (Sycl__V1__SessionWait)-5 : SYCL__V1__SESSION_WAIT__SESSION_WAIT_NONE;
	present->running =
		(char *)(uintptr_t)(is_wrong ? "\033[2J a name that is too long to be the "
					       "name of any kernel, and has no end"
					     : "double_kernel");
	present->running_ns = is_wrong ? UINT64_MAX : 1;
	present->backend = is_wrong ? (Sycl__V1__Backend)77 : SYCL__V1__BACKEND__BACKEND_CUDA;
	present->index = is_wrong ? UINT32_MAX : 1;
	if (manner("waiter")) {
		present->activity = SYCL__V1__SESSION_ACTIVITY__SESSION_ACTIVITY_WAITING;
		present->waits_for = SYCL__V1__SESSION_WAIT__SESSION_WAIT_TURN;
		present->running = (char *)(uintptr_t) "";
	}
	if (manner("hanger"))
		present->running_ns = 2000000;
	present->queued = is_wrong ? UINT32_MAX : 6;
	present->device_bytes = is_wrong ? UINT64_MAX : 8192;
	present->used_permille = is_wrong ? UINT32_MAX : 250;
	present->delays = is_wrong ? UINT64_MAX : manner("rested") ? 0 : 7;
	present->delay_p50_ns = is_wrong ? UINT64_MAX : 2000000;
	present->delay_p99_ns = is_wrong ? UINT64_MAX : 3000000;
}

static void report_open_devices(Sycl__V1__EngineReport *report)
{
	enum { MANY = 200 };
	static Sycl__V1__DevicePresent rows[MANY], *list[MANY];
	bool is_wrong = manner("braggart");
	report->n_devices = is_wrong ? MANY : 1;
	for (unsigned i = 0; i < report->n_devices; i++) {
		list[i] = &rows[i];
		sycl__v1__device_present__init(list[i]);
		list[i]->backend =
			is_wrong && i % 2 ? (Sycl__V1__Backend)77 : SYCL__V1__BACKEND__BACKEND_CUDA;
		list[i]->index = is_wrong ? i / 4 : 1;
		list[i]->busy_permille = is_wrong ? UINT32_MAX : 250;
		list[i]->commands = is_wrong ? UINT32_MAX : 1;
		list[i]->held_bytes = is_wrong ? UINT64_MAX : 8192;
	}
	static Sycl__V1__DeviceSensors sensors = SYCL__V1__DEVICE_SENSORS__INIT;
	sensors.temperature_celsius = 61;
	sensors.power_milliwatts = 123456;
	sensors.total_bytes = 4096;
	sensors.free_bytes = 1024;
	sensors.utilisation_known = true;
	sensors.utilisation_percent = is_wrong ? UINT32_MAX : 42;
	sensors.sm_occupancy_known = true;
	sensors.sm_occupancy_permille = is_wrong ? UINT32_MAX : 137;
	sensors.unavailable = (char *)(uintptr_t)(is_wrong ? "\033[2J no sensor" : "");
	rows[0].sensors = &sensors;
	report->devices = list;
	report->window_ns = 1000000000;
}

static void report_sessions(Sycl__V1__EngineReport *report, Sycl__V1__SessionReport *rows,
			    Sycl__V1__SessionReport **list, Sycl__V1__Usage *usage)
{
	sycl__v1__usage__init(usage);
	usage->groups_submitted = 12;
	usage->groups_resubmitted = 7;
	usage->groups_completed = 11;
	usage->buffer_bytes = 4096;
	/* claims() has 5 ms. A sum without a measure counts no more than what runs. */
	usage->device_ns = manner("hanger") ? 6500000 : 0;
	static Sycl__V1__DeviceUsage *devices[CLAIMS_MAX];
	size_t device_count = claims(devices);
	static Sycl__V1__SessionPresent present;
	fill_present(&present);
	for (unsigned i = 0; i < me.count; i++) {
		sycl__v1__session_report__init(&rows[i]);
		rows[i].session = me.sessions[i].id;
		rows[i].queues = 3;
		rows[i].paused = me.sessions[i].paused;
		rows[i].usage = usage;
		rows[i].present = &present;
		rows[i].devices = devices;
		rows[i].n_devices = device_count;
		list[i] = &rows[i];
	}
	report->n_sessions = me.count;
	for (unsigned i = 0;
	     manner("repeater") && report->n_sessions < SESSIONS_MAX && i < me.count; i++)
		list[report->n_sessions++] = &rows[i];
	report->sessions = list;
}

/* Reports many devices, no two alike. */
static void report_crowd(uint64_t request)
{
	enum { CROWD = 1100 };
	static Sycl__V1__DeviceFacts devices[CROWD];
	static Sycl__V1__DeviceFacts *list[CROWD];
	for (unsigned i = 0; i < CROWD; i++) {
		sycl__v1__device_facts__init(&devices[i]);
		devices[i].device = i;
		list[i] = &devices[i];
	}
	Sycl__V1__Topology topology = SYCL__V1__TOPOLOGY__INIT;
	topology.n_devices = CROWD;
	topology.devices = list;
	Sycl__V1__EngineReport message = SYCL__V1__ENGINE_REPORT__INIT;
	message.request = request;
	message.topology = &topology;
	Sycl__V1__Control control = SYCL__V1__CONTROL__INIT;
	control.body_case = SYCL__V1__CONTROL__BODY_REPORT;
	control.report = &message;
	say(&control, NULL, 0);
}

/* Reports parts of the largest size: each is much larger when it is unpacked. */
static void report_weight(uint64_t request)
{
	enum { PARTS = 60, ROWS = 250 };
	static Sycl__V1__SessionReport rows[ROWS], *list[ROWS];
	static Sycl__V1__DeviceUsage device = SYCL__V1__DEVICE_USAGE__INIT, *devices[] = {&device};
	static uint64_t delays[200];
	Sycl__V1__EngineReport message = SYCL__V1__ENGINE_REPORT__INIT;
	message.request = request;
	message.sessions = list;
	message.n_sessions = ROWS;
	message.more = true;
	device.delays = delays;
	device.n_delays = sizeof(delays) / sizeof(*delays);
	for (unsigned i = 0; i < ROWS; i++) {
		sycl__v1__session_report__init(&rows[i]);
		rows[i].session = UINT64_MAX;
		rows[i].devices = devices;
		rows[i].n_devices = 1;
		list[i] = &rows[i];
	}
	Sycl__V1__Control control = SYCL__V1__CONTROL__INIT;
	control.body_case = SYCL__V1__CONTROL__BODY_REPORT;
	control.report = &message;
	for (unsigned i = 0; i < PARTS; i++)
		say(&control, NULL, 0);
}

void report_in_turn(uint64_t request)
{
	static uint64_t before;
	Sycl__V1__EngineReport message = SYCL__V1__ENGINE_REPORT__INIT;
	Sycl__V1__Control control = SYCL__V1__CONTROL__INIT;
	control.body_case = SYCL__V1__CONTROL__BODY_REPORT;
	control.report = &message;
	message.more = true;
	for (unsigned i = 0; before && me.control >= 0; i++) {
		message.request = i % 2 ? request : before;
		say(&control, NULL, 0);
	}
	before = request;
}

void report(uint64_t request, bool discover)
{
	static uint64_t asked;
	if (manner("weighty"))
		report_weight(request);
	if (manner("crowd")) {
		report_crowd(request);
		return;
	}
	static bool discovered;
	discovered = discovered || discover || manner("knower") || manner("liar");
	Sycl__V1__SessionReport rows[SESSIONS_MAX];
	Sycl__V1__SessionReport *list[SESSIONS_MAX];
	Sycl__V1__Usage usage;
	Sycl__V1__EngineReport message = SYCL__V1__ENGINE_REPORT__INIT;
	message.request = request;
	message.descriptors = 9;
	message.filter = manner("braggart") ? (Sycl__V1__FilterState)77
			 : manner("rested") ? SYCL__V1__FILTER_STATE__FILTER_STATE_BASIC_DRIVER
			 : manner("waiter") ? SYCL__V1__FILTER_STATE__FILTER_STATE_NONE
					    : SYCL__V1__FILTER_STATE__FILTER_STATE_STRICT;
	report_sessions(&message, rows, list, &usage);
	report_open_devices(&message);

	Sycl__V1__DeviceFacts device = SYCL__V1__DEVICE_FACTS__INIT;
	device.name = (char *)(uintptr_t) "Double \033]0;owned\007 Device";
	device.type = SYCL__V1__DEVICE_TYPE__DEVICE_TYPE_CPU;
	device.available = true;
	device.global_mem_bytes = manner("liar") ? (uint64_t)getpid() : 4096;
	message.copies = ++asked;
	Sycl__V1__DeviceFacts beyond = device;
	beyond.device = 1;
	beyond.backend_index = UINT32_MAX;
	Sycl__V1__DeviceFacts *devices[] = {&device, &beyond};
	Sycl__V1__Topology topology = SYCL__V1__TOPOLOGY__INIT;
	topology.n_devices = manner("braggart") ? 2 : 1;
	topology.devices = devices;
	message.topology = discovered ? &topology : NULL;

	Sycl__V1__Control control = SYCL__V1__CONTROL__INIT;
	control.body_case = SYCL__V1__CONTROL__BODY_REPORT;
	control.report = &message;
	message.more = manner("endless");
	do {
		say(&control, NULL, 0);
	} while (message.more);
}

void send_trace_part(uint64_t request, uint32_t most)
{
	static struct trace_record records[TRACE_RECORDS_PART];
	const bool is_endless = manner("teller") || manner("chatter");
	Sycl__V1__EngineTrace message = SYCL__V1__ENGINE_TRACE__INIT;
	message.request = request;
	message.rest = manner("hoarder") || manner("promiser");
	message.records.data = (uint8_t *)records;
	Sycl__V1__Control control = SYCL__V1__CONTROL__INIT;
	control.body_case = SYCL__V1__CONTROL__BODY_TRACE;
	control.trace = &message;
	do {
		uint32_t count = most < TRACE_RECORDS_PART ? most : TRACE_RECORDS_PART;
		most -= count;
		message.more = is_endless || most > 0;
		message.records.len =
			(manner("teller") ? TRACE_RECORDS_PART : count) * sizeof(records[0]);
		say(&control, NULL, 0);
	} while (message.more);
}
