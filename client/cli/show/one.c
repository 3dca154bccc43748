/*
 * The present of one session, device or user comes first: its sessions, and why each of them does
 * not run. Use and limits follow. At the end each member of the JSON form has a line, so that none
 * is missing.
 */
#include "json.h"
#include "show/show.h"
#include "show/table.h"
#include "show/tables.h"
#include "units.h"
#include "words/filter.h"

#include <jansson.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *cli_shown_kind;

enum { KEY_WIDTH = 30, INNER_INDENT = 2 };

static bool key_ends_with(const char *key, const char *end)
{
	size_t length = strlen(key), end_length = strlen(end);
	return length >= end_length && strcmp(key + length - end_length, end) == 0;
}

static void print_number(const char *key, json_int_t number)
{
	char text[UNIT_TEXT_BYTES];
	uint64_t value = number > 0 ? (uint64_t)number : 0;
	if (key_ends_with(key, "bytes") || key_ends_with(key, "_held"))
		(void)printf("%s\n", format_bytes(value, text));
	else if (key_ends_with(key, "_ns"))
		(void)printf("%s\n", format_duration(value, text));
	else if (key_ends_with(key, "_permille"))
		(void)printf("%llu.%llu %%\n", (unsigned long long)(value / 10),
			     (unsigned long long)(value % 10));
	else
		(void)printf("%lld\n", (long long)number);
}

static void print_json_value(const char *key, json_t *value)
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
			print_json_value(key, value);
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

static bool shown_kind_is(const char *kind)
{
	return strcmp(cli_shown_kind, kind) == 0;
}

/* `is_first`: no empty line comes before it. */
static void print_heading(const char *text, bool is_first)
{
	if (!is_first)
		(void)putchar('\n');
	print_coloured(text, COLOUR_BOLD, colours_wanted());
	(void)putchar('\n');
}

static bool shown_is_known(const Sycl__V1__AdminReply *reply)
{
	if (shown_kind_is("session"))
		return reply->n_sessions > 0;
	if (shown_kind_is("device"))
		return reply->n_devices + reply->n_present > 0;
	return reply->n_engines + reply->n_accounts + reply->n_sessions > 0;
}

static bool show_one_sessions(const Sycl__V1__AdminReply *reply)
{
	bool shown = true;
	if (!shown_kind_is("session"))
		print_heading("Sessions", shown_kind_is("user"));
	if (reply->service && reply->service->drained)
		(void)puts("  no new session is accepted until 'syclctl resume --all'");
	if (reply->n_sessions == 0)
		(void)puts("  none");
	else
		shown = show_session_table(reply, colours_wanted());
	show_reasons(reply);
	return shown;
}

/* Shows what holds now. A device's own figures come before its sessions. */
static bool show_present(const Sycl__V1__AdminReply *reply)
{
	bool shown = true;
	if (shown_kind_is("device") && reply->n_devices > 0)
		shown = show_device_table(reply, colours_wanted());
	shown = show_one_sessions(reply) && shown;
	if (shown_kind_is("user") && reply->n_engines > 0) {
		print_heading("Engines", false);
		shown = show_engine_table(reply, colours_wanted()) && shown;
	}
	return show_shares(reply, colours_wanted()) && shown;
}

/* The service looks up what the configuration has for a user when the user connects. An operator
 * gets all sections, and filter_limits finds those of the user. */
static bool settings_may_be_unknown(const Sycl__V1__AdminReply *reply)
{
	if (!reply->service->filtered)
		return false;
	for (size_t i = 0; i < reply->n_engines; i++)
		if (reply->engines[i]->engine_pid)
			return false;
	for (size_t i = 0; i < reply->n_limits; i++)
		if (reply->limits[i]->of_user &&
		    reply->limits[i]->source == SYCL__V1__LIMIT_SOURCE__LIMIT_SOURCE_CONFIGURATION)
			return false;
	return true;
}

static bool show_accounts_of_shown(const Sycl__V1__AdminReply *reply)
{
	bool shown = true;
	if (!shown_kind_is("user"))
		return true;
	if (reply->n_accounts > 0) {
		print_heading("Used so far", false);
		shown = show_account_table(reply, colours_wanted());
	}
	if (reply->n_limits > 0) {
		print_heading("Limits", false);
		shown = show_limits(reply) && shown;
		if (settings_may_be_unknown(reply))
			(void)puts("If sycld.conf(5) names this user or a group of the user, those "
				   "values are listed\nfrom the user's next connection on.");
	}
	return shown;
}

static void print_details(json_t *status)
{
	print_heading("Details", false);
	if (shown_kind_is("session")) {
		(void)print_list(status, "sessions");
		return;
	}
	if (shown_kind_is("device")) {
		if (print_list(status, "devices_now"))
			(void)putchar('\n');
		(void)print_list(status, "devices");
		return;
	}
	if (print_list(status, "tenants"))
		(void)putchar('\n');
	(void)print_list(status, "accounts");
}

/* A user of this machine of whom the service knows nothing yet has limits, too. */
static bool shown_may_be_unknown(const Sycl__V1__AdminReply *reply)
{
	return shown_kind_is("user") &&
	       (!reply->service->filtered || cli_filter.uid == (uint32_t)geteuid());
}

bool show_one(const Sycl__V1__AdminReply *reply)
{
	bool is_known = shown_is_known(reply);
	if (!is_known && !shown_may_be_unknown(reply)) {
		(void)fprintf(stderr, "syclctl: the service has no such %s%s\n", cli_shown_kind,
			      reply->service->filtered ? ", or does not show it to you" : "");
		return false;
	}
	json_t *status = json_of_status(reply);
	if (!status)
		return false;
	bool shown = show_present(reply);
	shown = show_accounts_of_shown(reply) && shown;
	if (is_known)
		print_details(status);
	json_decref(status);
	return shown;
}

bool json_one(const Sycl__V1__AdminReply *reply)
{
	return shown_kind_is("user") ? json_status_and_limits(reply) : json_status(reply);
}
