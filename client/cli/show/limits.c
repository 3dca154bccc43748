/* `syclctl limits`: the limits in force, their users, and their sources. */
#include "show/show.h"
#include "show/table.h"
#include "units.h"
#include "users.h"

#include <stdio.h>
#include <string.h>

static void value_cell(struct table *table, const Sycl__V1__LimitFacts *limit)
{
	char text[UNIT_TEXT_BYTES];
	if (*limit->text)
		table_cell(table, COLOUR_NONE, "%s", limit->text);
	else if (limit->value == 0 && strcmp(limit->name, "share_min") != 0)
		table_cell(table, COLOUR_NONE, "none");
	else if (strstr(limit->name, "_bytes"))
		table_cell(table, COLOUR_NONE, "%s", format_bytes(limit->value, text));
	else
		table_cell(table, COLOUR_NONE, "%llu", (unsigned long long)limit->value);
}

static void whose_cell(struct table *table, const Sycl__V1__LimitFacts *limit)
{
	if (limit->session)
		table_cell(table, COLOUR_NONE, "session %llu", (unsigned long long)limit->session);
	else if (*limit->owner)
		table_cell(table, COLOUR_NONE, "%s", limit->owner);
	else if (limit->of_user)
		user_cell(table, limit->uid);
	else
		table_cell(table, COLOUR_NONE, "everybody");
}

static void origin_cell(struct table *table, const Sycl__V1__LimitFacts *limit)
{
	char user[USER_TEXT_BYTES], when[UNIT_TEXT_BYTES];
	const Sycl__V1__OrderOrigin *by = limit->ordered_by;
	if (by)
		table_cell(table, COLOUR_NONE, "order of %s, %s", user_text(by->uid, user),
			   format_time(by->since_unix_seconds, when));
	else
		table_cell(table, COLOUR_NONE, "%s",
			   *limit->origin ? limit->origin
					  : value_name(&sycl__v1__limit_source__descriptor,
						       (int)limit->source));
}

bool show_limits(const Sycl__V1__AdminReply *reply)
{
	static const struct column columns[] = {
		{"LIMIT", COLUMN_TEXT},
		{"OF", COLUMN_TEXT},
		{"VALUE", COLUMN_FIGURES},
		{"FROM", COLUMN_TEXT},
	};
	struct table table = {.columns = columns,
			      .column_count = sizeof(columns) / sizeof(*columns)};
	for (size_t i = 0; i < reply->n_limits; i++) {
		const Sycl__V1__LimitFacts *limit = reply->limits[i];
		table_cell(&table, COLOUR_NONE, "%s", limit->name);
		whose_cell(&table, limit);
		value_cell(&table, limit);
		origin_cell(&table, limit);
	}
	return table_print(&table, colours_wanted(), terminal_width());
}

/* A user who asks for the first time is not known by name to the service. */
bool show_all_limits(const Sycl__V1__AdminReply *reply)
{
	bool shown = show_limits(reply);
	if (reply->service->filtered)
		(void)puts("Values that sycld.conf(5) has for your name or your groups are listed "
			   "from your first\nconnection on; they apply to that connection, too.");
	return shown;
}
