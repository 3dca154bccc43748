/*
 * Prints each member of the JSON form of one session, device or user on a line, so that none is
 * missing. Tables of its sessions and shares follow.
 */
#include "filter.h"
#include "json.h"
#include "show.h"
#include "show_tables.h"
#include "table.h"
#include "units.h"
#include "verb.h"

#include <jansson.h>

#include <stdio.h>
#include <string.h>

enum { KEY_WIDTH = 30, INNER_INDENT = 2 };

static bool has_end(const char *key, const char *end)
{
	size_t length = strlen(key), end_length = strlen(end);
	return length >= end_length && strcmp(key + length - end_length, end) == 0;
}

static void print_number(const char *key, json_int_t number)
{
	char text[UNIT_TEXT_BYTES];
	uint64_t value = number > 0 ? (uint64_t)number : 0;
	if (has_end(key, "bytes") || has_end(key, "_held"))
		(void)printf("%s\n", format_bytes(value, text));
	else if (has_end(key, "_ns"))
		(void)printf("%s\n", format_duration(value, text));
	else if (has_end(key, "_permille"))
		(void)printf("%llu.%llu %%\n", (unsigned long long)(value / 10),
			     (unsigned long long)(value % 10));
	else
		(void)printf("%lld\n", (long long)number);
}

static void print_value(const char *key, json_t *value)
{
	char text[UNIT_TEXT_BYTES];
	switch (json_typeof(value)) {
	case JSON_STRING:
		(void)puts(json_string_value(value));
		break;
	case JSON_INTEGER:
		print_number(key, json_integer_value(value));
		break;
	case JSON_REAL:
		(void)puts(format_duration((uint64_t)(json_real_value(value) * 1e9), text));
		break;
	case JSON_TRUE:
		(void)puts("yes");
		break;
	case JSON_FALSE:
		(void)puts("no");
		break;
	default:
		(void)puts("-");
	}
}

/* The recursion is bounded: objects are nested three deep at most. */
static void print_object(json_t *object, int indent)
{
	const char *key;
	json_t *value;
	json_object_foreach(object, key, value)
	{
		bool is_object = json_is_object(value);
		(void)printf("%*s%-*s", indent, "", is_object ? 0 : KEY_WIDTH - indent, key);
		(void)fputs(is_object ? "\n" : " ", stdout);
		if (is_object)
			print_object(value, indent + INNER_INDENT);
		else if (json_is_array(value))
			(void)printf("%zu\n", json_array_size(value));
		else
			print_value(key, value);
	}
}

/* Prints each object of a list. False: the list is empty. */
static bool print_list(json_t *status, const char *key)
{
	json_t *list = json_object_get(status, key), *object;
	size_t index;
	json_array_foreach(list, index, object)
	{
		if (index > 0)
			(void)putchar('\n');
		print_object(object, 0);
	}
	return json_array_size(list) > 0;
}

static bool shows(const char *kind)
{
	return strcmp(cli_shown_kind, kind) == 0;
}

/* Shows the shares, and the sessions of the user or device. */
static bool show_around(const Sycl__V1__AdminReply *reply)
{
	bool shown = show_shares(reply, colours_wanted());
	if (shows("session") || reply->n_sessions == 0)
		return shown;
	(void)puts("\nSessions");
	return show_session_table(reply, colours_wanted()) && shown;
}

static bool print_kind(json_t *status)
{
	if (shows("session"))
		return print_list(status, "sessions");
	if (shows("device")) {
		bool found = print_list(status, "devices");
		return print_list(status, "devices_now") || found;
	}
	bool found = print_list(status, "tenants");
	if (found)
		(void)puts("\nUsed so far");
	return print_list(status, "accounts") || found;
}

bool show_one(const Sycl__V1__AdminReply *reply)
{
	json_t *status = json_of_status(reply);
	if (!status)
		return false;
	bool found = print_kind(status);
	json_decref(status);
	if (!found)
		(void)fprintf(stderr, "syclctl: the service has no such %s\n", cli_shown_kind);
	return found && show_around(reply);
}

bool json_one(const Sycl__V1__AdminReply *reply)
{
	return json_status(reply);
}
