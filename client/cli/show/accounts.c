#include "show/show.h"
#include "show/table.h"
#include "units.h"
#include "words/accounts.h"

#include <stdio.h>

enum { COLUMNS_MAX = 20 };

struct shape {
	struct column columns[COLUMNS_MAX];
	size_t count;
};

static void add_column(struct shape *shape, const char *title, unsigned kind)
{
	shape->columns[shape->count++] = (struct column){title, kind};
}

static struct shape shape_of_query(uint32_t by)
{
	struct shape shape = {.count = 0};
	if (by & ACCOUNTS_BY_JOB)
		add_column(&shape, "JOB", COLUMN_FIGURES);
	if (by & ACCOUNTS_BY_USER)
		add_column(&shape, "USER", COLUMN_TEXT);
	if (by & ACCOUNTS_BY_CGROUP)
		add_column(&shape, "CGROUP", COLUMN_TEXT);
	if (by & ACCOUNTS_BY_DEVICE)
		add_column(&shape, "DEVICE", COLUMN_TEXT);
	if (by & ACCOUNTS_BY_SESSION) {
		add_column(&shape, "SESSION", COLUMN_FIGURES);
		add_column(&shape, "PID", COLUMN_FIGURES);
		add_column(&shape, "COMMAND", COLUMN_TEXT);
	} else {
		add_column(&shape, "ENDED", COLUMN_FIGURES);
	}
	add_column(&shape, "COMMANDS", COLUMN_FIGURES);
	add_column(&shape, "FAILED", COLUMN_FIGURES);
	add_column(&shape, "FAULTS", COLUMN_FIGURES | COLUMN_MINOR);
	add_column(&shape, "ON DEVICE", COLUMN_FIGURES);
	add_column(&shape, "WAIT P50", COLUMN_FIGURES);
	add_column(&shape, "WAIT P99", COLUMN_FIGURES);
	add_column(&shape, "MEMORY", COLUMN_FIGURES | COLUMN_MINOR);
	add_column(&shape, "TO DEVICE", COLUMN_FIGURES | COLUMN_MINOR);
	add_column(&shape, "TO HOST", COLUMN_FIGURES | COLUMN_MINOR);
	add_column(&shape, "SPILLED", COLUMN_FIGURES | COLUMN_MINOR);
	return shape;
}

static void add_whose_cells(struct table *table, uint32_t by, const Sycl__V1__AccountRow *row,
			    const Sycl__V1__DeviceUsage *used)
{
	if (by & ACCOUNTS_BY_JOB && row->job == 0)
		table_cell(table, COLOUR_NONE, "-");
	else if (by & ACCOUNTS_BY_JOB)
		table_cell(table, COLOUR_NONE, "%llu", (unsigned long long)row->job);
	if (by & ACCOUNTS_BY_USER)
		user_cell(table, row->uid);
	if (by & ACCOUNTS_BY_CGROUP)
		table_cell(table, COLOUR_NONE, "%s", *row->cgroup ? row->cgroup : "-");
	if (by & ACCOUNTS_BY_DEVICE && used->backend == 0)
		table_cell(table, COLOUR_NONE, "-");
	else if (by & ACCOUNTS_BY_DEVICE)
		table_cell(table, COLOUR_NONE, "%s:%u", backend_name(used->backend), used->index);
	if (by & ACCOUNTS_BY_SESSION && row->session == 0) {
		table_cell(table, COLOUR_NONE, "(others)");
		table_cell(table, COLOUR_NONE, "-");
		table_cell(table, COLOUR_NONE, "-");
	} else if (by & ACCOUNTS_BY_SESSION) {
		table_cell(table, COLOUR_NONE, "%llu", (unsigned long long)row->session);
		table_cell(table, COLOUR_NONE, "%u", row->pid);
		table_cell(table, COLOUR_NONE, "%s", row->command);
	} else {
		table_cell(table, COLOUR_NONE, "%llu", (unsigned long long)row->sessions);
	}
}

static void add_wait_cell(struct table *table, const Sycl__V1__AccountRow *row, uint64_t ns)
{
	char text[UNIT_TEXT_BYTES];
	table_cell(table, COLOUR_NONE, "%s", row->delays ? format_duration(ns, text) : "-");
}

static void add_row_cells(struct table *table, uint32_t by, const Sycl__V1__AccountRow *row)
{
	static const Sycl__V1__DeviceUsage none = SYCL__V1__DEVICE_USAGE__INIT;
	const Sycl__V1__DeviceUsage *used = row->used ? row->used : &none;
	char text[UNIT_TEXT_BYTES];
	add_whose_cells(table, by, row, used);
	table_cell(table, COLOUR_NONE, "%llu", (unsigned long long)used->commands);
	table_cell(table, used->failed ? COLOUR_RED : COLOUR_NONE, "%llu",
		   (unsigned long long)used->failed);
	table_cell(table, row->faults ? COLOUR_RED : COLOUR_NONE, "%llu",
		   (unsigned long long)row->faults);
	table_cell(table, COLOUR_NONE, "%s", format_duration(used->device_ns, text));
	add_wait_cell(table, row, row->delay_p50_ns);
	add_wait_cell(table, row, row->delay_p99_ns);
	table_cell(table, COLOUR_NONE, "%s", format_bytes(used->memory_peak_bytes, text));
	table_cell(table, COLOUR_NONE, "%s", format_bytes(used->bytes_to_device, text));
	table_cell(table, COLOUR_NONE, "%s", format_bytes(used->bytes_to_host, text));
	table_cell(table, COLOUR_NONE, "%s", format_bytes(used->spilled_bytes, text));
}

bool show_accounts(const Sycl__V1__AdminReply *reply)
{
	struct shape shape = shape_of_query(reply->accounts_by);
	struct table table = {.columns = shape.columns, .column_count = shape.count};
	if (reply->n_account_rows == 0) {
		(void)puts("nothing was used");
		return true;
	}
	for (size_t i = 0; i < reply->n_account_rows; i++)
		add_row_cells(&table, reply->accounts_by, reply->account_rows[i]);
	return table_print(&table, colours_wanted(), terminal_width());
}
