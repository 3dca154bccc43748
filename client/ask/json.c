/* Shows an answer as JSON. Each object's keys are listed once, in their order. One walker finds
 * each key's field by the message's descriptor, and shows it by its type. */
#include "json.h"

#include "names.h"
#include "units.h"
#include "users.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * `keys` has a word for each key. "key" is also the field's name; "key=field" is for different
 * names. "key?" is null if the text is empty. "key:" is an object of the same message. A field that
 * the message lacks is looked up in its inner message `inside`. It is 0 or empty if that message is
 * absent.
 */
struct object {
	const char *name; /* name of the message, or key of an object inside another one */
	const char *keys, *inside;
};

/* clang-format off */
static const struct object objects[] = {
	{ "ServiceFacts",
	  "pid uid version protocol since=since_unix_seconds uptime_seconds=uptime_ns mode "
	  "runtime_directory endpoints stopping drained drained_by filtered standby: share_mode",
	  NULL },
	{ "standby", "pid=standby_pid state=standby_state age_seconds=standby_age_ns", NULL },
	{ "KnownDevice",
	  "index=device type name backend backend_index platform=platform_name vendor version "
	  "driver_version available unavailable_reason? bus_id? uuid mode? "
	  "compute_units=max_compute_units clock_mhz=max_clock_frequency_mhz "
	  "memory_bytes=global_mem_bytes local_memory_bytes=local_mem_bytes "
	  "max_allocation_bytes=max_mem_alloc_bytes max_work_group_size uids disputed retired",
	  "facts" },
	{ "EngineFacts",
	  "uid user drained drained_by engine_pid state since=since_unix_seconds age_seconds=age_ns "
	  "sessions sessions_waiting retired filter last_failure? reported resident_bytes descriptors "
	  "mappings builds build_cache_hits commands_decoded copies wakes_sent "
	  "latency_units inline_launches inline_completions bursts burst_launches kept_launches "
	  "kept_graphs chains chain_launches chains_refused splits split_parts "
	  "window_seconds=window_ns gate: spill: graphs:",
	  NULL },
	{ "gate",
	  "bypassed=gate_bypassed admitted=gate_admitted held=gate_held "
	  "waiting=gate_waiting",
	  NULL },
	{ "spill",
	  "spills spilled_bytes returns=spill_returns returned_bytes=spill_returned_bytes "
	  "now_bytes=spilled_now_bytes",
	  NULL },
	{ "graphs",
	  "built=graphs_built launches=graph_launches memories=graph_memories replays:",
	  NULL },
	{ "replays",
	  "switch=graph_replays_switch device=graph_replays_device host=graph_replays_host "
	  "size=graph_replays_size backend=graph_replays_backend queue=graph_replays_queue "
	  "node=graph_replays_node contents=graph_replays_contents "
	  "change=graph_replays_change",
	  NULL },
	{ "SessionFacts",
	  "id=session uid user pid job command state=phase since=since_unix_seconds "
	  "age_seconds=age_ns engine_pid reported queues buffers objects "
	  "class=session_class weight command_groups_submitted=groups_submitted "
	  "command_groups_resubmitted=groups_resubmitted "
	  "command_groups_completed=groups_completed command_groups_failed=groups_failed "
	  "bytes_held=buffer_bytes arena_bytes device_ns bytes_to_device bytes_to_host "
	  "delays delay_p50_ns delay_p99_ns paused_by present",
	  "usage" },
	{ "SessionPresent",
	  "activity waits_for running? running_seconds=running_ns queue command_group=group "
	  "backend backend_index=index queued on_device=sent device_bytes spilled_bytes "
	  "used_permille",
	  NULL },
	{ "DevicePresent",
	  "index=device backend backend_index=index busy_permille commands held_bytes sensors",
	  NULL },
	{ "DeviceSensors",
	  "total_bytes used_bytes free_bytes temperature_celsius power_milliwatts "
	  "power_limit_milliwatts clock_mhz clock_most_mhz utilisation_percent "
	  "sm_occupancy_permille unavailable?",
	  NULL },
	{ "OrderOrigin", "uid user since=since_unix_seconds", NULL },
	{ "AccountFacts",
	  "uid user sessions_ended engines_failed command_groups_submitted=groups_submitted "
	  "command_groups_completed=groups_completed command_groups_failed=groups_failed "
	  "device_ns bytes_to_device bytes_to_host",
	  "usage" },
	{ "ShareFacts",
	  "backend backend_index=index uid user engine_pid min_percent max_percent "
	  "granted_permille used_ns wants",
	  NULL },
	{ "JobFacts",
	  "job uid user cgroup share_least_percent=share_least share_most_percent=share_most "
	  "memory_bytes best_class devices? suspended since=since_unix_seconds sessions "
	  "engine_pid",
	  NULL },
	{ "LimitFacts", "name value text from=source origin ordered_by uid user owner? session", NULL },
};
/* clang-format on */

static const struct object status = {
	.keys = "service devices devices_now=present tenants=engines accounts shares sessions"};
static const struct object devices = {.keys = "devices devices_now=present shares"};
static const struct object sessions = {.keys = "sessions"};
static const struct object order = {.keys = "sessions=ordered"};
static const struct object limits = {.keys = "limits"};
static const struct object jobs = {.keys = "jobs"};
static const struct object job_order = {.keys = "jobs sessions=ordered"};
static const struct object version = {.keys = "service"};

static json_t *object_of(const ProtobufCMessage *message, const struct object *object);

static const struct object *find_object(const char *name)
{
	for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
		if (strcmp(objects[i].name, name) == 0)
			return &objects[i];
	}
	abort();
}

/* A text that is not UTF-8 is shown as "?". Only a faulty service sends one. */
static json_t *text_value(const char *text)
{
	json_t *string = json_string(text ? text : "");
	return string ? string : json_string("?");
}

/* A faulty value beyond JSON's largest number is shown as that number. */
static json_t *number_value(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

static json_t *uuid_value(const ProtobufCBinaryData *uuid)
{
	char text[37], *end = text;
	if (uuid->len != 16)
		return json_null();
	for (unsigned i = 0; i < 16; i++)
		end += snprintf(end, 4, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
				uuid->data[i]);
	return json_string(text);
}

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name), end_length = strlen(end);
	return length >= end_length && strcmp(name + length - end_length, end) == 0;
}

static json_t *wide_value(uint64_t value, const char *field_name, const char *key)
{
	char text[UNIT_TEXT_BYTES];
	if (ends_with(field_name, "_unix_seconds"))
		return json_string(format_time(value, text));
	return ends_with(key, "_seconds") ? json_real((double)value / 1e9) : number_value(value);
}

/* Converts a field's value by the field's type and name. */
static json_t *json_of_field(const ProtobufCFieldDescriptor *field, const void *value,
			     const char *key)
{
	const ProtobufCMessage *message;
	switch (field->type) {
	case PROTOBUF_C_TYPE_BOOL:
		return json_boolean(*(const protobuf_c_boolean *)value);
	case PROTOBUF_C_TYPE_ENUM:
		return json_string(value_name(field->descriptor, *(const int *)value));
	case PROTOBUF_C_TYPE_STRING:
		return text_value(*(char *const *)value);
	case PROTOBUF_C_TYPE_BYTES:
		return uuid_value(value);
	case PROTOBUF_C_TYPE_UINT64:
		return wide_value(*(const uint64_t *)value, field->name, key);
	case PROTOBUF_C_TYPE_MESSAGE:
		message = *(ProtobufCMessage *const *)value;
		return message ? object_of(message, find_object(message->descriptor->short_name))
			       : json_null();
	default:
		return json_integer(*(const uint32_t *)value);
	}
}

static json_t *json_of_list(const ProtobufCFieldDescriptor *field, const uint8_t *values,
			    size_t count, const char *key)
{
	size_t size = field->type == PROTOBUF_C_TYPE_UINT32 ? sizeof(uint32_t) : sizeof(void *);
	json_t *list = json_array();
	for (size_t i = 0; i < count; i++)
		(void)json_array_append_new(list, json_of_field(field, values + i * size, key));
	return list;
}

/* Returns the name of the message's user. Called for messages with a `uid`. */
static json_t *user_value(const ProtobufCMessage *message)
{
	const ProtobufCFieldDescriptor *uid =
		protobuf_c_message_descriptor_get_field_by_name(message->descriptor, "uid");
	const char *name = user_name(
		*(const uint32_t *)(const void *)((const uint8_t *)message + uid->offset));
	json_t *value = name ? json_string(name) : NULL;
	return value ? value : json_null();
}

/* Makes a value from several fields, or in a form that differs from its type's. False: the key is
 * not special. */
static bool special_value(const ProtobufCMessage *message, const char *key, json_t **value_out)
{
	if (strcmp(key, "user") == 0) {
		*value_out = message->descriptor == &sycl__v1__limit_facts__descriptor &&
					     !((const Sycl__V1__LimitFacts *)message)->of_user
				     ? json_null()
				     : user_value(message);
	} else if (message->descriptor == &sycl__v1__service_facts__descriptor) {
		const Sycl__V1__ServiceFacts *facts = (const Sycl__V1__ServiceFacts *)message;
		if (strcmp(key, "protocol") == 0)
			*value_out = json_sprintf("%u.%u", facts->protocol >> 16,
						  facts->protocol & 0xffffu);
		else if (strcmp(key, "standby") == 0 && !facts->standby_pid)
			*value_out = json_null();
	} else if (message->descriptor == &sycl__v1__engine_facts__descriptor) {
		if (strcmp(key, "since") == 0 &&
		    !((const Sycl__V1__EngineFacts *)message)->engine_pid)
			*value_out = json_null();
		if (strcmp(key, "retired") == 0 &&
		    !((const Sycl__V1__EngineFacts *)message)->retired)
			*value_out = json_null();
	} else if (message->descriptor == &sycl__v1__job_facts__descriptor) {
		if (strcmp(key, "best_class") == 0 &&
		    !((const Sycl__V1__JobFacts *)message)->best_class)
			*value_out = json_null();
	} else if (message->descriptor == &sycl__v1__session_facts__descriptor) {
		if (strcmp(key, "job") == 0 && !((const Sycl__V1__SessionFacts *)message)->job)
			*value_out = json_null();
		if (strcmp(key, "state") == 0)
			*value_out = json_string(
				session_state_name((const Sycl__V1__SessionFacts *)message));
	} else if (message->descriptor == &sycl__v1__session_present__descriptor) {
		const Sycl__V1__SessionPresent *present = (const Sycl__V1__SessionPresent *)message;
		if (strncmp(key, "backend", 7) == 0 &&
		    present->backend == SYCL__V1__BACKEND__BACKEND_UNSPECIFIED)
			*value_out = json_null(); /* the session has used no device yet */
	} else if (message->descriptor == &sycl__v1__device_sensors__descriptor) {
		const Sycl__V1__DeviceSensors *sensors = (const Sycl__V1__DeviceSensors *)message;
		if ((strcmp(key, "utilisation_percent") == 0 && !sensors->utilisation_known) ||
		    (strcmp(key, "sm_occupancy_permille") == 0 && !sensors->sm_occupancy_known))
			*value_out = json_null();
	} else if (message->descriptor == &sycl__v1__limit_facts__descriptor) {
		const Sycl__V1__LimitFacts *limit = (const Sycl__V1__LimitFacts *)message;
		if ((strcmp(key, "uid") == 0 && (!limit->of_user || *limit->owner)) ||
		    (strcmp(key, "session") == 0 && !limit->session))
			*value_out = json_null();
	}
	return *value_out != NULL;
}

/* Finds a field of `message` or of its inner message. */
static const ProtobufCFieldDescriptor *find_field(const ProtobufCMessage **message,
						  const char *name, const char *inside)
{
	const ProtobufCMessageDescriptor *type = (*message)->descriptor;
	const ProtobufCFieldDescriptor *field =
		protobuf_c_message_descriptor_get_field_by_name(type, name);
	if (field || !inside)
		return field;
	const ProtobufCFieldDescriptor *inner =
		protobuf_c_message_descriptor_get_field_by_name(type, inside);
	*message = *(ProtobufCMessage *const *)(const void *)((const uint8_t *)*message +
							      inner->offset);
	return protobuf_c_message_descriptor_get_field_by_name(inner->descriptor, name);
}

static json_t *field_value(const ProtobufCMessage *message, const char *name, const char *inside,
			   const char *key, bool empty_is_null)
{
	static const ProtobufCBinaryData nothing;
	const ProtobufCFieldDescriptor *field = find_field(&message, name, inside);
	if (!field)
		abort(); /* a list above is wrong, and each verb's test would fail */
	const uint8_t *start = (const uint8_t *)message;
	const void *value = start ? (const void *)(start + field->offset) : &nothing;
	if (start && field->label == PROTOBUF_C_LABEL_REPEATED)
		return json_of_list(
			field, *(const uint8_t *const *)value,
			*(const size_t *)(const void *)(start + field->quantifier_offset), key);
	if (empty_is_null && (!*(char *const *)value || !**(char *const *)value))
		return json_null();
	return json_of_field(field, value, key);
}

/* Returns the value for a word "key", "key=field", "key?" or "key:". The word is cut to "key". */
static json_t *json_of_word(const ProtobufCMessage *message, char *word, const char *inside)
{
	json_t *value = NULL;
	char *sign = strpbrk(word, "=?:");
	int kind = sign ? *sign : 0;
	if (sign)
		*sign = '\0';
	if (special_value(message, word, &value))
		return value;
	if (kind == ':')
		return object_of(message, find_object(word));
	return field_value(message, kind == '=' ? sign + 1 : word, inside, word, kind == '?');
}

/* NULL: there was no memory for the object. */
static json_t *object_of(const ProtobufCMessage *message, const struct object *object)
{
	json_t *result = json_object();
	char word[64];
	for (const char *at = object->keys; *at; at += strspn(at, " ")) {
		size_t length = strcspn(at, " ");
		(void)snprintf(word, sizeof(word), "%.*s", (int)length, at);
		json_t *value = json_of_word(message, word, object->inside);
		if (json_object_set_new(result, word, value) < 0) {
			json_decref(result);
			return NULL;
		}
		at += length;
	}
	return result;
}

json_t *json_of_status(const Sycl__V1__AdminReply *reply)
{
	return object_of(&reply->base, &status);
}

json_t *json_of_devices(const Sycl__V1__AdminReply *reply)
{
	return object_of(&reply->base, &devices);
}

json_t *json_of_sessions(const Sycl__V1__AdminReply *reply)
{
	return object_of(&reply->base, &sessions);
}

json_t *json_of_order(const Sycl__V1__AdminReply *reply)
{
	return object_of(&reply->base, &order);
}

json_t *json_of_limits(const Sycl__V1__AdminReply *reply)
{
	return object_of(&reply->base, &limits);
}

json_t *json_of_jobs(const Sycl__V1__AdminReply *reply)
{
	return object_of(&reply->base, &jobs);
}

json_t *json_of_job_order(const Sycl__V1__AdminReply *reply)
{
	return object_of(&reply->base, &job_order);
}

json_t *json_of_service(const Sycl__V1__AdminReply *reply)
{
	return object_of(&reply->base, &version);
}

/* A row has the keys by which the request groups: job, user, control group, device, session. */
json_t *json_of_accounts(const Sycl__V1__AdminReply *reply)
{
	char keys[512];
	uint32_t by = reply->accounts_by;
	(void)snprintf(
		keys, sizeof(keys),
		"%s%s%s%s%ssessions_ended=sessions commands commands_failed=failed faults "
		"device_ns delays delay_p50_ns delay_p99_ns bytes_to_device bytes_to_host spills "
		"spilled_bytes memory_peak_bytes",
		by & ACCOUNTS_BY_JOB ? "job " : "", by & ACCOUNTS_BY_USER ? "uid user " : "",
		by & ACCOUNTS_BY_CGROUP ? "cgroup? " : "",
		by & ACCOUNTS_BY_DEVICE ? "backend backend_index=index " : "",
		by & ACCOUNTS_BY_SESSION ? "session pid command " : "");
	const struct object row = {.keys = keys, .inside = "used"};
	json_t *rows = json_array();
	for (size_t i = 0; i < reply->n_account_rows; i++)
		(void)json_array_append_new(rows, object_of(&reply->account_rows[i]->base, &row));
	return json_pack("{s:o}", "accounts", rows);
}
