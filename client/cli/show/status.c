#include "health.h"
#include "show/show.h"
#include "show/table.h"
#include "show/tables.h"
#include "units.h"
#include "users.h"

#include <stdio.h>

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

enum { ORIGIN_BYTES = USER_TEXT_BYTES + UNIT_TEXT_BYTES + 16, HEALTH_BYTES = 512 };

static void print_section_heading(const char *text, bool coloured)
{
	(void)putchar('\n');
	print_coloured(text, COLOUR_BOLD, coloured);
	(void)putchar('\n');
}

/* Returns " since TIME by USER"; "": an earlier service received the order. */
static const char *origin_text(const Sycl__V1__OrderOrigin *origin, char text[ORIGIN_BYTES])
{
	char user[USER_TEXT_BYTES], when[UNIT_TEXT_BYTES];
	*text = '\0';
	if (origin)
		(void)snprintf(text, ORIGIN_BYTES, " since %s by %s",
			       format_time(origin->since_unix_seconds, when),
			       user_text(origin->uid, user));
	return text;
}

static void show_health(const Sycl__V1__AdminReply *reply, bool coloured)
{
	char text[HEALTH_BYTES];
	bool healthy = health_text(reply, text, sizeof(text));
	(void)fputs("health: ", stdout);
	print_coloured(text, healthy ? COLOUR_GREEN : COLOUR_RED, coloured);
	(void)putchar('\n');
}

static void show_service(const Sycl__V1__ServiceFacts *service)
{
	char age[UNIT_TEXT_BYTES], user[USER_TEXT_BYTES], origin[ORIGIN_BYTES];
	(void)printf("sycld %s: %s service, pid %u, user %s, up %s%s\n", service->version,
		     value_name(&sycl__v1__service_mode__descriptor, (int)service->mode),
		     service->pid, user_text(service->uid, user),
		     format_age(service->uptime_ns, age), service->stopping ? ", stopping" : "");
	if (service->drained)
		(void)printf(
			"  drained   no new session is accepted until 'syclctl resume --all'%s\n",
			origin_text(service->drained_by, origin));
	(void)printf("  folder    %s\n", service->runtime_directory);
	for (size_t i = 0; i < service->n_endpoints; i++)
		(void)printf("  endpoint  %s\n", service->endpoints[i]);
	if (service->standby_pid)
		(void)printf("  standby   engine %u, %s, for the next user that needs one\n",
			     service->standby_pid,
			     value_name(&sycl__v1__engine_state__descriptor,
					(int)service->standby_state));
	if (service->filtered)
		(void)printf("  shown     your own sessions only\n");
}

static enum colour colour_of(Sycl__V1__EngineState state)
{
	switch (state) {
	case SYCL__V1__ENGINE_STATE__ENGINE_STATE_READY:
		return COLOUR_GREEN;
	case SYCL__V1__ENGINE_STATE__ENGINE_STATE_NOT_ANSWERING:
		return COLOUR_RED;
	default:
		return COLOUR_YELLOW;
	}
}

static void print_spill(const Sycl__V1__EngineFacts *engine)
{
	char out[UNIT_TEXT_BYTES], back[UNIT_TEXT_BYTES], now[UNIT_TEXT_BYTES];
	char user[USER_TEXT_BYTES];
	if (engine->spills == 0)
		return;
	(void)printf(
		"  devices of %s were full: %s spilled to the host, %s brought back, %s there now\n",
		user_text(engine->uid, user), format_bytes(engine->spilled_bytes, out),
		format_bytes(engine->spill_returned_bytes, back),
		format_bytes(engine->spilled_now_bytes, now));
}

/* Prints one line for each user; rows of a user's engines are adjacent. */
static void print_drained(const Sycl__V1__AdminReply *reply, size_t i)
{
	const Sycl__V1__EngineFacts *engine = reply->engines[i];
	char user[USER_TEXT_BYTES], origin[ORIGIN_BYTES];
	if (engine->drained && (i == 0 || reply->engines[i - 1]->uid != engine->uid))
		(void)printf(
			"  %s is drained%s: no new session is accepted until 'syclctl resume --uid %u'\n",
			user_text(engine->uid, user), origin_text(engine->drained_by, origin),
			engine->uid);
}

static void print_latency(const Sycl__V1__EngineFacts *engine)
{
	char user[USER_TEXT_BYTES];
	if (engine->latency_units > 0)
		(void)printf(
			"  devices of %s have %u compute units set apart for sessions of the latency class\n",
			user_text(engine->uid, user), engine->latency_units);
}

/* Engines that get no new sessions, each with the reason. */
static void print_retired(const Sycl__V1__EngineFacts *engine)
{
	static const char *const reasons[] = {
		[SYCL__V1__ENGINE_RETIRED__ENGINE_RETIRED_DEVICES] = "its user got other devices",
		[SYCL__V1__ENGINE_RETIRED__ENGINE_RETIRED_RELEASE] =
			"it is of another release than the service",
		[SYCL__V1__ENGINE_RETIRED__ENGINE_RETIRED_REFUSED] =
			"the service did not take it over (see its log)",
	};
	unsigned why = (unsigned)engine->retired;
	char user[USER_TEXT_BYTES];
	if (why > 0)
		(void)printf("  engine %u of %s gets no new sessions: %s\n", engine->engine_pid,
			     user_text(engine->uid, user),
			     why < COUNT_OF(reasons) ? reasons[why] : "unknown");
}

/* Why engines have no strict filter; a line for each reason. */
static void print_filters(const Sycl__V1__AdminReply *reply)
{
	static const struct {
		Sycl__V1__FilterState state;
		const char *text;
	} reasons[] = {
		{SYCL__V1__FILTER_STATE__FILTER_STATE_NONE, "none: the kernel has no filters"},
		{SYCL__V1__FILTER_STATE__FILTER_STATE_BASIC_START,
		 "basic-start: processes are not forbidden until a device is open"},
		{SYCL__V1__FILTER_STATE__FILTER_STATE_BASIC_DRIVER,
		 "basic-driver: processes are not forbidden, because a device's driver needs them"},
		{SYCL__V1__FILTER_STATE__FILTER_STATE_BASIC_SETTING,
		 "basic-setting: processes are not forbidden (filter = basic in sycld.conf)"},
	};
	for (size_t k = 0; k < COUNT_OF(reasons); k++)
		for (size_t i = 0; i < reply->n_engines; i++)
			if (reply->engines[i]->reported &&
			    reply->engines[i]->filter == reasons[k].state) {
				(void)printf("  filter %s\n", reasons[k].text);
				break;
			}
}

static void claim_cells(struct table *table, const Sycl__V1__EngineFacts *engine)
{
	char text[UNIT_TEXT_BYTES];
	if (!engine->reported) {
		for (int i = 0; i < 6; i++)
			table_cell(table, COLOUR_NONE, "-");
		return;
	}
	table_cell(table, COLOUR_NONE, "%s",
		   value_name(&sycl__v1__filter_state__descriptor, (int)engine->filter));
	table_cell(table, COLOUR_NONE, "%s", format_bytes(engine->resident_bytes, text));
	table_cell(table, COLOUR_NONE, "%u", engine->descriptors);
	table_cell(table, COLOUR_NONE, "%u", engine->mappings);
	table_cell(table, COLOUR_NONE, "%llu", (unsigned long long)engine->builds);
	table_cell(table, COLOUR_NONE, "%llu", (unsigned long long)engine->build_cache_hits);
}

bool show_engine_table(const Sycl__V1__AdminReply *reply, bool coloured)
{
	static const struct column columns[] = {
		{"USER", COLUMN_TEXT},
		{"ENGINE", COLUMN_FIGURES},
		{"STATE", COLUMN_TEXT},
		{"UP", COLUMN_FIGURES | COLUMN_MINOR},
		{"SESSIONS", COLUMN_FIGURES},
		{"FILTER", COLUMN_TEXT | COLUMN_MINOR},
		{"MEMORY", COLUMN_FIGURES},
		{"FDS", COLUMN_FIGURES | COLUMN_MINOR},
		{"MAPS", COLUMN_FIGURES | COLUMN_MINOR},
		{"BUILDS", COLUMN_FIGURES | COLUMN_MINOR},
		{"CACHED", COLUMN_FIGURES | COLUMN_MINOR},
	};
	struct table table = {.columns = columns, .column_count = COUNT_OF(columns)};
	char text[UNIT_TEXT_BYTES], user[USER_TEXT_BYTES];
	for (size_t i = 0; i < reply->n_engines; i++) {
		const Sycl__V1__EngineFacts *engine = reply->engines[i];
		user_cell(&table, engine->uid);
		if (engine->engine_pid)
			table_cell(&table, COLOUR_NONE, "%u", engine->engine_pid);
		else
			table_cell(&table, COLOUR_NONE, "-");
		table_cell(&table, colour_of(engine->state), "%s",
			   value_name(&sycl__v1__engine_state__descriptor, (int)engine->state));
		table_cell(&table, COLOUR_NONE, "%s",
			   engine->engine_pid ? format_age(engine->age_ns, text) : "-");
		table_cell(&table, COLOUR_NONE, "%u", engine->sessions + engine->sessions_waiting);
		claim_cells(&table, engine);
	}
	bool printed = table_print(&table, coloured, terminal_width());
	for (size_t i = 0; i < reply->n_engines; i++)
		print_drained(reply, i);
	for (size_t i = 0; i < reply->n_engines; i++)
		print_retired(reply->engines[i]);
	print_filters(reply);
	for (size_t i = 0; i < reply->n_engines; i++) {
		print_spill(reply->engines[i]);
		print_latency(reply->engines[i]);
	}
	for (size_t i = 0; i < reply->n_engines; i++)
		if (reply->engines[i]->last_failure && *reply->engines[i]->last_failure)
			(void)printf("  last failure of %s: it %s\n",
				     user_text(reply->engines[i]->uid, user),
				     reply->engines[i]->last_failure);
	return printed;
}

/* Shows how devices' time is divided among users. */
static bool share_table(const Sycl__V1__AdminReply *reply, bool coloured)
{
	static const struct column columns[] = {
		{"DEVICE", COLUMN_TEXT},
		{"USER", COLUMN_TEXT},
		{"ENGINE", COLUMN_FIGURES | COLUMN_MINOR},
		{"SHARE", COLUMN_FIGURES},
		{"GRANTED", COLUMN_FIGURES},
		{"USED", COLUMN_FIGURES},
		{"WANTS", COLUMN_TEXT | COLUMN_MINOR},
	};
	struct table table = {.columns = columns, .column_count = COUNT_OF(columns)};
	char text[UNIT_TEXT_BYTES];
	for (size_t i = 0; i < reply->n_shares; i++) {
		const Sycl__V1__ShareFacts *share = reply->shares[i];
		table_cell(&table, COLOUR_NONE, "%s:%u", backend_name(share->backend),
			   share->index);
		user_cell(&table, share->uid);
		table_cell(&table, COLOUR_NONE, "%u", share->engine_pid);
		table_cell(&table, COLOUR_NONE, "%u-%u %%", share->min_percent, share->max_percent);
		table_cell(&table, COLOUR_NONE, "%u.%u %%", share->granted_permille / 10,
			   share->granted_permille % 10);
		table_cell(&table, COLOUR_NONE, "%s", format_duration(share->used_ns, text));
		table_cell(&table, COLOUR_NONE, "%s", share->wants ? "yes" : "no");
	}
	return table_print(&table, coloured, terminal_width());
}

bool show_shares(const Sycl__V1__AdminReply *reply, bool coloured)
{
	if (reply->n_shares == 0)
		return true;
	print_section_heading(reply->service->share_mode ==
					      SYCL__V1__SHARE_MODE__SHARE_MODE_EXCLUSIVE
				      ? "Shares, one user at a time"
				      : "Shares",
			      coloured);
	return share_table(reply, coloured);
}

/* Shows sums over all past and present engines and sessions. */
bool show_account_table(const Sycl__V1__AdminReply *reply, bool coloured)
{
	static const Sycl__V1__Usage none = SYCL__V1__USAGE__INIT;
	static const struct column columns[] = {
		{"USER", COLUMN_TEXT},
		{"ENDED", COLUMN_FIGURES},
		{"DONE", COLUMN_FIGURES},
		{"FAILED", COLUMN_FIGURES},
		{"ON DEVICE", COLUMN_FIGURES},
		{"TO DEVICE", COLUMN_FIGURES | COLUMN_MINOR},
		{"TO HOST", COLUMN_FIGURES | COLUMN_MINOR},
		{"ENGINES FAILED", COLUMN_FIGURES | COLUMN_MINOR},
	};
	struct table table = {.columns = columns, .column_count = COUNT_OF(columns)};
	char text[UNIT_TEXT_BYTES];
	for (size_t i = 0; i < reply->n_accounts; i++) {
		const Sycl__V1__AccountFacts *account = reply->accounts[i];
		const Sycl__V1__Usage *usage = account->usage ? account->usage : &none;
		user_cell(&table, account->uid);
		table_cell(&table, COLOUR_NONE, "%llu",
			   (unsigned long long)account->sessions_ended);
		table_cell(&table, COLOUR_NONE, "%llu/%llu",
			   (unsigned long long)usage->groups_completed,
			   (unsigned long long)usage->groups_submitted);
		table_cell(&table, usage->groups_failed ? COLOUR_RED : COLOUR_NONE, "%llu",
			   (unsigned long long)usage->groups_failed);
		table_cell(&table, COLOUR_NONE, "%s", format_duration(usage->device_ns, text));
		table_cell(&table, COLOUR_NONE, "%s", format_bytes(usage->bytes_to_device, text));
		table_cell(&table, COLOUR_NONE, "%s", format_bytes(usage->bytes_to_host, text));
		table_cell(&table, account->engines_failed ? COLOUR_RED : COLOUR_NONE, "%llu",
			   (unsigned long long)account->engines_failed);
	}
	return table_print(&table, coloured, terminal_width());
}

bool show_status(const Sycl__V1__AdminReply *reply)
{
	bool coloured = colours_wanted();
	bool printed = true;
	show_health(reply, coloured);
	show_service(reply->service);
	if (reply->n_devices || reply->n_unavailable)
		print_section_heading("Devices", coloured);
	if (reply->n_devices)
		printed = show_device_table(reply, coloured);
	show_unavailable(reply);
	if (reply->n_engines) {
		print_section_heading("Tenants", coloured);
		printed = show_engine_table(reply, coloured) && printed;
	}
	printed = show_shares(reply, coloured) && printed;
	if (reply->n_accounts) {
		print_section_heading("Used so far", coloured);
		printed = show_account_table(reply, coloured) && printed;
	}
	print_section_heading("Sessions", coloured);
	if (reply->n_sessions == 0)
		(void)puts("  none");
	else
		printed = show_session_table(reply, coloured) && printed;
	return printed;
}

bool show_version(const Sycl__V1__AdminReply *reply)
{
	const Sycl__V1__ServiceFacts *service = reply->service;
	(void)printf("sycld %s (protocol %u.%u), pid %u\n", service->version,
		     service->protocol >> 16, service->protocol & 0xffffu, service->pid);
	return true;
}
