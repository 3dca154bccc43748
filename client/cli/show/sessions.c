#include "show/show.h"
#include "show/table.h"
#include "show/tables.h"
#include "units.h"
#include "users.h"

#include <stdio.h>

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

const Sycl__V1__ShareFacts *session_share(const Sycl__V1__AdminReply *reply,
					  const Sycl__V1__SessionFacts *session)
{
	const Sycl__V1__SessionPresent *present = session->present;
	for (size_t i = 0; present && i < reply->n_shares; i++)
		if (reply->shares[i]->engine_pid == session->engine_pid &&
		    reply->shares[i]->backend == present->backend &&
		    reply->shares[i]->index == present->index)
			return reply->shares[i];
	return NULL;
}

static void dash_cells(struct table *table, unsigned count)
{
	while (count--)
		table_cell(table, COLOUR_NONE, "-");
}

static enum colour colour_of_state(const Sycl__V1__SessionFacts *session)
{
	const Sycl__V1__SessionPresent *present = session->present;
	if (session->paused || session->ended ||
	    (present && present->waits_for == SYCL__V1__SESSION_WAIT__SESSION_WAIT_MEMORY))
		return COLOUR_YELLOW;
	return present && present->activity == SYCL__V1__SESSION_ACTIVITY__SESSION_ACTIVITY_RUNNING
		       ? COLOUR_GREEN
		       : COLOUR_NONE;
}

/* Shows the device that the session uses now, or has used last. */
static void device_cell(struct table *table, const Sycl__V1__SessionPresent *present)
{
	if (present && present->backend)
		table_cell(table, COLOUR_NONE, "%s:%u", backend_name(present->backend),
			   present->index);
	else
		table_cell(table, COLOUR_NONE, "-");
}

/* Shows the running command, its time, the queued groups, and the used part of the device. */
static void now_cells(struct table *table, const Sycl__V1__SessionPresent *present)
{
	char text[UNIT_TEXT_BYTES];
	if (!present) {
		dash_cells(table, 5);
		return;
	}
	if (*present->running) {
		table_cell(table, COLOUR_NONE, "%s", present->running);
		table_cell(table, COLOUR_NONE, "%s", format_duration(present->running_ns, text));
	} else {
		dash_cells(table, 2);
	}
	table_cell(table, COLOUR_NONE, "%u", present->queued);
	table_cell(table, COLOUR_NONE, "%u %%", (present->used_permille + 5) / 10);
	table_cell(table, COLOUR_NONE, "%s", format_bytes(present->device_bytes, text));
}

static void share_cells(struct table *table, const Sycl__V1__ShareFacts *share)
{
	if (!share) {
		dash_cells(table, 2);
		return;
	}
	table_cell(table, COLOUR_NONE, "%u-%u %%", share->min_percent, share->max_percent);
	table_cell(table, COLOUR_NONE, "%u %%", (share->granted_permille + 5) / 10);
}

static void delay_cells(struct table *table, const Sycl__V1__SessionFacts *session)
{
	char text[UNIT_TEXT_BYTES];
	if (session->delays == 0) {
		dash_cells(table, 2);
		return;
	}
	table_cell(table, COLOUR_NONE, "%s", format_duration(session->delay_p50_ns, text));
	table_cell(table, COLOUR_NONE, "%s", format_duration(session->delay_p99_ns, text));
}

static void usage_cells(struct table *table, const Sycl__V1__SessionFacts *session)
{
	static const Sycl__V1__Usage none = SYCL__V1__USAGE__INIT;
	const Sycl__V1__Usage *usage = session->usage ? session->usage : &none;
	char text[UNIT_TEXT_BYTES];
	if (!session->reported) {
		dash_cells(table, 10);
		return;
	}
	table_cell(table, COLOUR_NONE, "%s",
		   value_name(&sycl__v1__session_class__descriptor, (int)session->session_class));
	table_cell(table, COLOUR_NONE, "%u", session->weight);
	table_cell(table, COLOUR_NONE, "%u", session->queues);
	table_cell(table, COLOUR_NONE, "%llu/%llu", (unsigned long long)usage->groups_completed,
		   (unsigned long long)usage->groups_submitted);
	table_cell(table, COLOUR_NONE, "%llu", (unsigned long long)usage->groups_resubmitted);
	table_cell(table, usage->groups_failed ? COLOUR_RED : COLOUR_NONE, "%llu",
		   (unsigned long long)usage->groups_failed);
	table_cell(table, COLOUR_NONE, "%s", format_bytes(usage->buffer_bytes, text));
	table_cell(table, COLOUR_NONE, "%s", format_duration(usage->device_ns, text));
	table_cell(table, COLOUR_NONE, "%s", format_bytes(usage->bytes_to_device, text));
	table_cell(table, COLOUR_NONE, "%s", format_bytes(usage->bytes_to_host, text));
}

bool show_session_table(const Sycl__V1__AdminReply *reply, bool coloured)
{
	static const struct column columns[] = {
		{"ID", COLUMN_FIGURES},
		{"USER", COLUMN_TEXT},
		{"COMMAND", COLUMN_TEXT},
		{"STATE", COLUMN_TEXT},
		{"DEVICE", COLUMN_TEXT | COLUMN_MINOR},
		{"RUNS", COLUMN_TEXT},
		{"FOR", COLUMN_FIGURES},
		{"QUEUED", COLUMN_FIGURES},
		{"USED", COLUMN_FIGURES},
		{"MEMORY", COLUMN_FIGURES},
		{"SHARE", COLUMN_FIGURES | COLUMN_MINOR},
		{"GRANTED", COLUMN_FIGURES | COLUMN_MINOR},
		{"WAIT P50/1m", COLUMN_FIGURES | COLUMN_MINOR},
		{"P99/1m", COLUMN_FIGURES | COLUMN_MINOR},
		{"JOB", COLUMN_FIGURES | COLUMN_MINOR},
		{"PID", COLUMN_FIGURES | COLUMN_MINOR},
		{"UP", COLUMN_FIGURES | COLUMN_MINOR},
		{"CLASS", COLUMN_TEXT | COLUMN_MINOR},
		{"WEIGHT", COLUMN_FIGURES | COLUMN_MINOR},
		{"QUEUES", COLUMN_FIGURES | COLUMN_MINOR},
		{"DONE", COLUMN_FIGURES | COLUMN_MINOR},
		{"AGAIN", COLUMN_FIGURES | COLUMN_MINOR},
		{"FAILED", COLUMN_FIGURES | COLUMN_MINOR},
		{"BUFFERS", COLUMN_FIGURES | COLUMN_MINOR},
		{"ON DEVICE", COLUMN_FIGURES | COLUMN_MINOR},
		{"TO DEVICE", COLUMN_FIGURES | COLUMN_MINOR},
		{"TO HOST", COLUMN_FIGURES | COLUMN_MINOR},
	};
	struct table table = {.columns = columns, .column_count = COUNT_OF(columns)};
	char text[UNIT_TEXT_BYTES], state[STATE_TEXT_BYTES];
	for (size_t i = 0; i < reply->n_sessions; i++) {
		const Sycl__V1__SessionFacts *session = reply->sessions[i];
		table_cell(&table, COLOUR_NONE, "%llu", (unsigned long long)session->session);
		user_cell(&table, session->uid);
		table_cell(&table, COLOUR_NONE, "%s", session->command);
		table_cell(&table, colour_of_state(session), "%s",
			   session_state_text(session, state));
		device_cell(&table, session->present);
		now_cells(&table, session->present);
		share_cells(&table, session_share(reply, session));
		delay_cells(&table, session);
		if (session->job)
			table_cell(&table, COLOUR_NONE, "%llu", (unsigned long long)session->job);
		else
			dash_cells(&table, 1);
		table_cell(&table, COLOUR_NONE, "%u", session->pid);
		table_cell(&table, COLOUR_NONE, "%s", format_age(session->age_ns, text));
		usage_cells(&table, session);
	}
	return table_print(&table, coloured, terminal_width());
}

bool show_sessions(const Sycl__V1__AdminReply *reply)
{
	if (reply->n_sessions == 0) {
		(void)puts("no sessions");
		return true;
	}
	return show_session_table(reply, colours_wanted());
}
