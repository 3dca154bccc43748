#include "accounts.h"
#include "show.h"
#include "units.h"

#include <jansson.h>

#include <stdio.h>

/* Numbers of the service are at most 2^63 - 1 in practice; a wrong claim beyond that is shown as
 * the largest. */
static json_int_t number(uint64_t value)
{
	return value > INT64_MAX ? INT64_MAX : (json_int_t)value;
}

/* Text that is not UTF-8, which only a wrong service sends, is shown as "?". */
static json_t *text(const char *value)
{
	json_t *string = json_string(value ? value : "");
	return string ? string : json_string("?");
}

static json_t *time_text(uint64_t unix_seconds)
{
	char buffer[UNIT_TEXT_BYTES];
	return json_string(format_time(unix_seconds, buffer));
}

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

static json_t *standby_object(const Sycl__V1__ServiceFacts *service)
{
	if (!service->standby_pid)
		return json_null();
	return json_pack("{s:I, s:s, s:f}", "pid", (json_int_t)service->standby_pid, "state",
			 engine_state_name(service->standby_state), "age_seconds",
			 seconds(service->standby_age_ns));
}

static json_t *service_object(const Sycl__V1__ServiceFacts *service)
{
	json_t *endpoints = json_array();
	for (size_t i = 0; i < service->n_endpoints; i++)
		(void)json_array_append_new(endpoints, text(service->endpoints[i]));
	char protocol[UNIT_TEXT_BYTES];
	(void)snprintf(protocol, sizeof(protocol), "%u.%u", service->protocol >> 16,
		       service->protocol & 0xffffu);
	return json_pack("{s:I, s:I, s:o, s:s, s:o, s:f, s:s, s:o, s:o, s:b, s:b, s:b, s:o, s:s}",
			 "pid", (json_int_t)service->pid, "uid", (json_int_t)service->uid,
			 "version", text(service->version), "protocol", protocol, "since",
			 time_text(service->since_unix_seconds), "uptime_seconds",
			 seconds(service->uptime_ns), "mode", service_mode_name(service->mode),
			 "runtime_directory", text(service->runtime_directory), "endpoints",
			 endpoints, "stopping", (int)service->stopping, "drained",
			 (int)service->drained, "filtered", (int)service->filtered, "standby",
			 standby_object(service), "share_mode",
			 share_mode_name(service->share_mode));
}

static json_t *some_text(const char *value)
{
	return value && *value ? text(value) : json_null();
}

static json_t *uuid_text(const ProtobufCBinaryData *uuid)
{
	char buffer[37];
	const uint8_t *b = uuid->data;
	if (uuid->len != 16)
		return json_null();
	(void)snprintf(buffer, sizeof(buffer),
		       "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
		       b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12],
		       b[13], b[14], b[15]);
	return json_string(buffer);
}

static json_t *device_object(const Sycl__V1__KnownDevice *device)
{
	static const Sycl__V1__DeviceFacts none = SYCL__V1__DEVICE_FACTS__INIT;
	const Sycl__V1__DeviceFacts *facts = device->facts ? device->facts : &none;
	json_t *uids = json_array();
	for (size_t i = 0; i < device->n_uids; i++)
		(void)json_array_append_new(uids, json_integer(device->uids[i]));
	return json_pack(
		"{s:I, s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, "
		"s:o, s:b}",
		"index", (json_int_t)facts->device, "type", device_type_name(facts->type), "name",
		text(facts->name), "backend", backend_name(device->backend), "platform",
		text(device->platform_name), "vendor", text(facts->vendor), "version",
		text(facts->version), "driver_version", text(facts->driver_version), "available",
		(int)facts->available, "unavailable_reason", some_text(facts->unavailable_reason),
		"bus_id", some_text(facts->bus_id), "uuid", uuid_text(&facts->uuid), "mode",
		some_text(facts->mode), "compute_units", (json_int_t)facts->max_compute_units,
		"clock_mhz", (json_int_t)facts->max_clock_frequency_mhz, "memory_bytes",
		number(facts->global_mem_bytes), "local_memory_bytes",
		number(facts->local_mem_bytes), "max_allocation_bytes",
		number(facts->max_mem_alloc_bytes), "max_work_group_size",
		number(facts->max_work_group_size), "uids", uids, "disputed",
		(int)device->disputed);
}

/* Launches of executable graphs: by the device's driver as one, or node by node, and why. */
static json_t *graphs_object(const Sycl__V1__EngineFacts *engine)
{
	json_t *replays = json_pack(
		"{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "switch",
		number(engine->graph_replays_switch), "device",
		number(engine->graph_replays_device), "host", number(engine->graph_replays_host),
		"size", number(engine->graph_replays_size), "backend",
		number(engine->graph_replays_backend), "queue", number(engine->graph_replays_queue),
		"node", number(engine->graph_replays_node), "contents",
		number(engine->graph_replays_contents), "change",
		number(engine->graph_replays_change));
	return json_pack("{s:I, s:I, s:I, s:o}", "built", number(engine->graphs_built), "launches",
			 number(engine->graph_launches), "memories", number(engine->graph_memories),
			 "replays", replays);
}

static json_t *tenant_object(const Sycl__V1__EngineFacts *engine)
{
	json_t *object = json_pack(
		"{s:I, s:b, s:I, s:s, s:o, s:f, s:I, s:I, s:o, s:b}", "uid",
		(json_int_t)engine->uid, "drained", (int)engine->drained, "engine_pid",
		(json_int_t)engine->engine_pid, "state", engine_state_name(engine->state), "since",
		engine->engine_pid ? time_text(engine->since_unix_seconds) : json_null(),
		"age_seconds", seconds(engine->age_ns), "sessions", (json_int_t)engine->sessions,
		"sessions_waiting", (json_int_t)engine->sessions_waiting, "last_failure",
		engine->last_failure && *engine->last_failure ? text(engine->last_failure)
							      : json_null(),
		"reported", (int)engine->reported);
	json_t *gate =
		json_pack("{s:I, s:I, s:I, s:I}", "bypassed", number(engine->gate_bypassed),
			  "admitted", number(engine->gate_admitted), "held",
			  number(engine->gate_held), "waiting", (json_int_t)engine->gate_waiting);
	json_t *spill = json_pack("{s:I, s:I, s:I, s:I, s:I}", "spills", number(engine->spills),
				  "spilled_bytes", number(engine->spilled_bytes), "returns",
				  number(engine->spill_returns), "returned_bytes",
				  number(engine->spill_returned_bytes), "now_bytes",
				  number(engine->spilled_now_bytes));
	json_t *claims = json_pack(
		"{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o}",
		"resident_bytes", number(engine->resident_bytes), "descriptors",
		(json_int_t)engine->descriptors, "mappings", (json_int_t)engine->mappings, "builds",
		number(engine->builds), "build_cache_hits", number(engine->build_cache_hits),
		"commands_decoded", number(engine->commands_decoded), "copies",
		number(engine->copies), "wakes_sent", number(engine->wakes_sent), "latency_units",
		(json_int_t)engine->latency_units, "inline_launches",
		number(engine->inline_launches), "inline_completions",
		number(engine->inline_completions), "bursts", number(engine->bursts),
		"burst_launches", number(engine->burst_launches), "chains", number(engine->chains),
		"chain_launches", number(engine->chain_launches), "chains_refused",
		number(engine->chains_refused), "splits", number(engine->splits), "split_parts",
		number(engine->split_parts), "gate", gate, "spill", spill);
	if (object && (json_object_update_new(object, claims) < 0 ||
		       json_object_set_new(object, "graphs", graphs_object(engine)) < 0)) {
		json_decref(object);
		return NULL;
	}
	return object;
}

static json_t *session_object(const Sycl__V1__SessionFacts *session)
{
	static const Sycl__V1__Usage none = SYCL__V1__USAGE__INIT;
	const Sycl__V1__Usage *usage = session->usage ? session->usage : &none;
	json_t *object = json_pack(
		"{s:I, s:I, s:I, s:o, s:s, s:o, s:f, s:I, s:b, s:I, s:I, s:I}", "id",
		number(session->session), "uid", (json_int_t)session->uid, "pid",
		(json_int_t)session->pid, "command", text(session->command), "state",
		session_state_name(session), "since", time_text(session->since_unix_seconds),
		"age_seconds", seconds(session->age_ns), "engine_pid",
		(json_int_t)session->engine_pid, "reported", (int)session->reported, "queues",
		(json_int_t)session->queues, "buffers", (json_int_t)session->buffers, "objects",
		(json_int_t)session->objects);
	json_t *claims = json_pack(
		"{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "class",
		session_class_name(session->session_class), "weight", (json_int_t)session->weight,
		"command_groups_submitted", number(usage->groups_submitted),
		"command_groups_resubmitted", number(usage->groups_resubmitted),
		"command_groups_completed", number(usage->groups_completed),
		"command_groups_failed", number(usage->groups_failed), "bytes_held",
		number(usage->buffer_bytes), "arena_bytes", number(usage->arena_bytes), "device_ns",
		number(usage->device_ns), "bytes_to_device", number(usage->bytes_to_device),
		"bytes_to_host", number(usage->bytes_to_host));
	if (object && json_object_update_new(object, claims) < 0) {
		json_decref(object);
		return NULL;
	}
	return object;
}

static json_t *device_list(const Sycl__V1__AdminReply *reply)
{
	json_t *list = json_array();
	for (size_t i = 0; i < reply->n_devices; i++)
		(void)json_array_append_new(list, device_object(reply->devices[i]));
	return list;
}

static json_t *tenant_list(const Sycl__V1__AdminReply *reply)
{
	json_t *list = json_array();
	for (size_t i = 0; i < reply->n_engines; i++)
		(void)json_array_append_new(list, tenant_object(reply->engines[i]));
	return list;
}

static json_t *account_object(const Sycl__V1__AccountFacts *account)
{
	static const Sycl__V1__Usage none = SYCL__V1__USAGE__INIT;
	const Sycl__V1__Usage *usage = account->usage ? account->usage : &none;
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "uid",
			 (json_int_t)account->uid, "sessions_ended",
			 number(account->sessions_ended), "engines_failed",
			 number(account->engines_failed), "command_groups_submitted",
			 number(usage->groups_submitted), "command_groups_completed",
			 number(usage->groups_completed), "command_groups_failed",
			 number(usage->groups_failed), "device_ns", number(usage->device_ns),
			 "bytes_to_device", number(usage->bytes_to_device), "bytes_to_host",
			 number(usage->bytes_to_host));
}

/* What it is of is there as far as it was asked by. */
static json_t *whose_object(uint32_t by, const Sycl__V1__AccountRow *row,
			    const Sycl__V1__DeviceUsage *used)
{
	json_t *object = json_object();
	if (by & ACCOUNTS_BY_USER)
		(void)json_object_set_new(object, "uid", json_integer(row->uid));
	if (by & ACCOUNTS_BY_CGROUP)
		(void)json_object_set_new(object, "cgroup", some_text(row->cgroup));
	if (by & ACCOUNTS_BY_DEVICE) {
		(void)json_object_set_new(object, "backend",
					  json_string(backend_name(used->backend)));
		(void)json_object_set_new(object, "backend_index", json_integer(used->index));
	}
	if (by & ACCOUNTS_BY_SESSION) {
		(void)json_object_set_new(object, "session", json_integer(number(row->session)));
		(void)json_object_set_new(object, "pid", json_integer(row->pid));
		(void)json_object_set_new(object, "command", text(row->command));
	}
	return object;
}

static json_t *row_object(uint32_t by, const Sycl__V1__AccountRow *row)
{
	static const Sycl__V1__DeviceUsage none = SYCL__V1__DEVICE_USAGE__INIT;
	const Sycl__V1__DeviceUsage *used = row->used ? row->used : &none;
	json_t *object = whose_object(by, row, used);
	json_t *figures = json_pack(
		"{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "sessions_ended",
		number(row->sessions), "commands", number(used->commands), "commands_failed",
		number(used->failed), "faults", number(row->faults), "device_ns",
		number(used->device_ns), "delays", number(row->delays), "delay_p50_ns",
		number(row->delay_p50_ns), "delay_p99_ns", number(row->delay_p99_ns),
		"bytes_to_device", number(used->bytes_to_device), "bytes_to_host",
		number(used->bytes_to_host), "spills", number(used->spills), "spilled_bytes",
		number(used->spilled_bytes));
	if (object && json_object_update_new(object, figures) < 0) {
		json_decref(object);
		return NULL;
	}
	return object;
}

static json_t *row_list(const Sycl__V1__AdminReply *reply)
{
	json_t *list = json_array();
	for (size_t i = 0; i < reply->n_account_rows; i++)
		(void)json_array_append_new(list,
					    row_object(reply->accounts_by, reply->account_rows[i]));
	return list;
}

static json_t *account_list(const Sycl__V1__AdminReply *reply)
{
	json_t *list = json_array();
	for (size_t i = 0; i < reply->n_accounts; i++)
		(void)json_array_append_new(list, account_object(reply->accounts[i]));
	return list;
}

static json_t *share_object(const Sycl__V1__ShareFacts *share)
{
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b}", "backend",
			 backend_name(share->backend), "backend_index", (json_int_t)share->index,
			 "uid", (json_int_t)share->uid, "engine_pid", (json_int_t)share->engine_pid,
			 "min_percent", (json_int_t)share->min_percent, "max_percent",
			 (json_int_t)share->max_percent, "granted_permille",
			 (json_int_t)share->granted_permille, "used_ns", number(share->used_ns),
			 "wants", (int)share->wants);
}

static json_t *share_list(const Sycl__V1__AdminReply *reply)
{
	json_t *list = json_array();
	for (size_t i = 0; i < reply->n_shares; i++)
		(void)json_array_append_new(list, share_object(reply->shares[i]));
	return list;
}

static json_t *session_list(const Sycl__V1__AdminReply *reply)
{
	json_t *list = json_array();
	for (size_t i = 0; i < reply->n_sessions; i++)
		(void)json_array_append_new(list, session_object(reply->sessions[i]));
	return list;
}

/* Takes the object; NULL: there was no memory for it. */
static bool print(json_t *object)
{
	if (!object)
		return false;
	int r = json_dumpf(object, stdout, JSON_INDENT(2));
	json_decref(object);
	(void)putchar('\n');
	return r == 0;
}

bool json_status(const Sycl__V1__AdminReply *reply)
{
	return print(json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "service",
			       service_object(reply->service), "devices", device_list(reply),
			       "tenants", tenant_list(reply), "accounts", account_list(reply),
			       "shares", share_list(reply), "sessions", session_list(reply)));
}

bool json_devices(const Sycl__V1__AdminReply *reply)
{
	return print(json_pack("{s:o, s:o}", "devices", device_list(reply), "shares",
			       share_list(reply)));
}

bool json_sessions(const Sycl__V1__AdminReply *reply)
{
	return print(json_pack("{s:o}", "sessions", session_list(reply)));
}

bool json_accounts(const Sycl__V1__AdminReply *reply)
{
	return print(json_pack("{s:o}", "accounts", row_list(reply)));
}

bool json_order(const Sycl__V1__AdminReply *reply)
{
	return print(json_pack("{s:I}", "sessions", (json_int_t)reply->ordered));
}

bool json_version(const Sycl__V1__AdminReply *reply)
{
	return print(json_pack("{s:s, s:o}", "syclctl", SYCLD_VERSION, "service",
			       service_object(reply->service)));
}
