/*
 * The output of `syclctl VERB --json` for an answer, byte by byte: json/VERB.json. Every field of
 * the answer is filled through the messages' descriptors. Each repeated message has one full and
 * one empty element.
 */
#include "show/show.h"
#include "users.h"
#include "words/accounts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

static const char *name_of_user(uint32_t uid)
{
	return uid == 0 ? NULL : "alice";
}

/* The names of this machine's users do not belong to the form of the output. */
static void begin_json(void)
{
	user_names_from(name_of_user);
}

TestSuite(cli_json, .init = begin_json, .timeout = 10);

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

enum { TEXT_MAX = 65536 };

_Alignas(max_align_t) static uint8_t memory[65536];
static size_t used;

static void *reserve(size_t bytes)
{
	void *start = memory + used;
	used += (bytes + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
	cr_assert(le(sz, used, sizeof(memory)));
	return start;
}

static ProtobufCMessage *json_fill_message(const ProtobufCMessageDescriptor *type);

/* The values differ from field to field. They are the same in every run and do not depend on other
 * fields. */
static void fill_field(const ProtobufCFieldDescriptor *field, void *place, unsigned index)
{
	ProtobufCBinaryData *bytes = place;
	switch (field->type) {
	case PROTOBUF_C_TYPE_BOOL:
		*(protobuf_c_boolean *)place = true;
		break;
	case PROTOBUF_C_TYPE_ENUM:
		*(int *)place = 1 + (int)field->id % 3;
		break;
	case PROTOBUF_C_TYPE_UINT64:
		*(uint64_t *)place =
			field->id == 9 ? UINT64_MAX : 1700000000 + 1000 * field->id + index;
		break;
	case PROTOBUF_C_TYPE_STRING:
		*(char **)place = reserve(64);
		(void)snprintf(*(char **)place, 64, "%s \"%u\"", field->name, index);
		break;
	case PROTOBUF_C_TYPE_BYTES:
		*bytes = (ProtobufCBinaryData){16, reserve(16)};
		for (uint8_t i = 0; i < 16; i++)
			bytes->data[i] = (uint8_t)(i * 17);
		break;
	case PROTOBUF_C_TYPE_MESSAGE:
		*(ProtobufCMessage **)place = json_fill_message(field->descriptor);
		break;
	default:
		*(uint32_t *)place = 100 * field->id + index;
	}
}

static void fill_repeated(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
	uint8_t *start = (uint8_t *)message;
	bool pointers =
		field->type == PROTOBUF_C_TYPE_MESSAGE || field->type == PROTOBUF_C_TYPE_STRING;
	size_t size = pointers || field->type == PROTOBUF_C_TYPE_UINT64 ? 8 : 4;
	uint8_t *array = reserve(2 * size);
	fill_field(field, array, 0);
	if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
		const ProtobufCMessageDescriptor *type = field->descriptor;
		ProtobufCMessage *empty = reserve(type->sizeof_message);
		protobuf_c_message_init(type, empty);
		((ProtobufCMessage **)(void *)array)[1] = empty;
	} else {
		fill_field(field, array + size, 1);
	}
	*(size_t *)(void *)(start + field->quantifier_offset) = 2;
	*(void **)(void *)(start + field->offset) = array;
}

static ProtobufCMessage *json_fill_message(const ProtobufCMessageDescriptor *type)
{
	ProtobufCMessage *message = reserve(type->sizeof_message);
	protobuf_c_message_init(type, message);
	for (unsigned i = 0; i < type->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &type->fields[i];
		if (field->label == PROTOBUF_C_LABEL_REPEATED)
			fill_repeated(message, field);
		else
			fill_field(field, (uint8_t *)message + field->offset, 0);
	}
	return message;
}

static Sycl__V1__AdminReply *whole_reply(void)
{
	return (Sycl__V1__AdminReply *)json_fill_message(&sycl__v1__admin_reply__descriptor);
}

static const char *printed(bool (*print)(const Sycl__V1__AdminReply *reply),
			   const Sycl__V1__AdminReply *reply)
{
	static char text[TEXT_MAX];
	FILE *out = stdout;
	stdout = fmemopen(text, sizeof(text), "w");
	bool ok = print(reply);
	(void)fclose(stdout);
	stdout = out;
	cr_assert(ok);
	char *version = strstr(text, "\"" SYCLD_VERSION "\"");
	if (version)
		memset(version + 1, 'x',
		       strlen(SYCLD_VERSION)); /* the version of the program itself */
	return text;
}

static void expect_file(const char *name, bool (*print)(const Sycl__V1__AdminReply *reply),
			const Sycl__V1__AdminReply *reply)
{
	static char expected[TEXT_MAX];
	char path[512];
	(void)snprintf(path, sizeof(path), "%s/%s.json", JSON_FOLDER, name);
	FILE *file = fopen(path, "re");
	cr_assert(ne(ptr, file, NULL), "%s", path);
	size_t size = fread(expected, 1, sizeof(expected) - 1, file);
	(void)fclose(file);
	expected[size] = '\0';
	cr_expect(eq(str, printed(print, reply), expected), "%s", path);
}

static void expect_part(const char *part, bool (*print)(const Sycl__V1__AdminReply *reply),
			const Sycl__V1__AdminReply *reply)
{
	const char *text = printed(print, reply);
	cr_expect(ne(ptr, strstr(text, part), NULL), "no %s in %s", part, text);
}

Test(cli_json, of_status)
{
	expect_file("status", json_status, whole_reply());
}

Test(cli_json, of_devices)
{
	expect_file("devices", json_devices, whole_reply());
}

Test(cli_json, of_sessions)
{
	expect_file("sessions", json_sessions, whole_reply());
}

Test(cli_json, of_limits)
{
	expect_file("limits", json_limits, whole_reply());
}
Test(cli_json, of_jobs)
{
	expect_file("jobs", json_jobs, whole_reply());
}

Test(cli_json, of_orders)
{
	expect_file("orders", json_order, whole_reply());
}

Test(cli_json, of_version)
{
	expect_file("version", json_version, whole_reply());
}

Test(cli_json, of_accounts_has_what_it_was_asked_by)
{
	Sycl__V1__AdminReply *reply = whole_reply();
	reply->accounts_by =
		ACCOUNTS_BY_USER | ACCOUNTS_BY_CGROUP | ACCOUNTS_BY_DEVICE | ACCOUNTS_BY_SESSION;
	expect_file("accounts", json_accounts, reply);
	reply->accounts_by = ACCOUNTS_BY_DEVICE;
	expect_file("accounts-by-device", json_accounts, reply);
}

/* The state of a session is its phase, unless it is open and paused or ended. A standby engine may
 * not exist. */
Test(cli_json, of_what_depends_on_several_fields)
{
	Sycl__V1__AdminReply *reply = whole_reply();
	Sycl__V1__SessionFacts *session = reply->sessions[0];
	reply->n_sessions = 1;
	session->phase = SYCL__V1__SESSION_PHASE__SESSION_PHASE_OPEN;
	expect_part("\"state\": \"ended, still running\",", json_sessions, reply);
	session->ended = false;
	expect_part("\"state\": \"paused\",", json_sessions, reply);
	session->paused = false;
	expect_part("\"state\": \"open\",", json_sessions, reply);
	session->usage = NULL;
	expect_part("\"device_ns\": 0,", json_sessions, reply);
	reply->service->standby_pid = 0;
	expect_part("\"standby\": null,", json_version, reply);
	reply->n_devices = 1;
	reply->devices[0]->facts->uuid.len = 8;
	reply->devices[0]->facts->name = (char *)(uintptr_t) "\xff";
	expect_part("\"uuid\": null,", json_devices, reply);
	expect_part("\"name\": \"?\",", json_devices, reply);
}

Test(cli_json, of_values_has_names)
{
	static const char *const states[] = {"unknown",       "none",     "starting", "ready",
					     "not answering", "stopping", "unknown"};
	static const char *const phases[] = {"unknown", "waiting", "handshake",
					     "open",    "over",    "unknown"};
	static const char *const classes[] = {"unknown", "latency", "normal", "best-effort",
					      "unknown"};
	static const char *const sources[] = {"unknown", "default", "sycld.conf", "order",
					      "unknown"};
	static const char *const types[] = {"unknown",     "cpu",    "gpu",
					    "accelerator", "custom", "unknown"};
	static const char *const shares[] = {"none", "concurrent", "exclusive", "unknown"};
	static const char *const backends[] = {"unknown", "opencl", "cuda", "fake", "unknown"};
	Sycl__V1__AdminReply *reply = whole_reply();
	reply->n_engines = reply->n_sessions = reply->n_limits = reply->n_devices = 1;
	reply->service->standby_pid = 0;
	reply->sessions[0]->ended = reply->sessions[0]->paused = false;
	struct {
		void *place;
		const char *key;
		const char *const *names;
		size_t count;
		bool (*print)(const Sycl__V1__AdminReply *reply);
	} enums[] = {
		{&reply->engines[0]->state, "state", states, COUNT(states), json_status},
		{&reply->sessions[0]->phase, "state", phases, COUNT(phases), json_sessions},
		{&reply->sessions[0]->session_class, "class", classes, COUNT(classes),
		 json_sessions},
		{&reply->limits[0]->source, "from", sources, COUNT(sources), json_limits},
		{&reply->devices[0]->facts->type, "type", types, COUNT(types), json_devices},
		{&reply->devices[0]->backend, "backend", backends, COUNT(backends), json_devices},
		{&reply->service->share_mode, "share_mode", shares, COUNT(shares), json_version},
	};
	for (size_t i = 0; i < COUNT(enums); i++) {
		for (size_t value = 0; value < enums[i].count; value++) {
			char part[64];
			(void)snprintf(part, sizeof(part), "\"%s\": \"%s\"", enums[i].key,
				       enums[i].names[value]);
			*(int *)enums[i].place = (int)value;
			expect_part(part, enums[i].print, reply);
		}
	}
}
