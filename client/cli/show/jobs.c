/* `syclctl jobs`: the jobs of a cluster's manager, and what they may have. */
#include "show/show.h"
#include "show/table.h"
#include "units.h"

#include <stdio.h>

static void job_cells(struct table *table, const Sycl__V1__JobFacts *job)
{
	char text[UNIT_TEXT_BYTES];
	table_cell(table, COLOUR_NONE, "%llu", (unsigned long long)job->job);
	user_cell(table, job->uid);
	table_cell(table, job->suspended ? COLOUR_YELLOW : COLOUR_NONE, "%s",
		   job->suspended ? "suspended" : "active");
	table_cell(table, COLOUR_NONE, "%u", job->sessions);
	table_cell(table, COLOUR_NONE, "%u-%u %%", job->share_least, job->share_most);
	table_cell(table, COLOUR_NONE, "%s",
		   job->memory_bytes ? format_bytes(job->memory_bytes, text) : "-");
	table_cell(table, COLOUR_NONE, "%s",
		   job->best_class
			   ? value_name(&sycl__v1__session_class__descriptor, (int)job->best_class)
			   : "-");
	table_cell(table, COLOUR_NONE, "%s", *job->devices ? job->devices : "-");
	table_cell(table, COLOUR_NONE, "%s", format_time(job->since_unix_seconds, text));
	table_cell(table, COLOUR_NONE, "%s", job->cgroup);
}

bool show_jobs(const Sycl__V1__AdminReply *reply)
{
	static const struct column columns[] = {
		{"JOB", COLUMN_FIGURES},
		{"USER", COLUMN_TEXT},
		{"STATE", COLUMN_TEXT},
		{"SESSIONS", COLUMN_FIGURES},
		{"SHARE", COLUMN_FIGURES},
		{"MEMORY", COLUMN_FIGURES},
		{"CLASS", COLUMN_TEXT},
		{"DEVICES", COLUMN_TEXT},
		{"SINCE", COLUMN_TEXT | COLUMN_MINOR},
		{"CGROUP", COLUMN_TEXT | COLUMN_MINOR},
	};
	struct table table = {.columns = columns,
			      .column_count = sizeof(columns) / sizeof(*columns)};
	if (reply->n_jobs == 0) {
		(void)puts("no jobs");
		return true;
	}
	for (size_t i = 0; i < reply->n_jobs; i++)
		job_cells(&table, reply->jobs[i]);
	return table_print(&table, colours_wanted(), terminal_width());
}

/* The answer to an order about a job. */
bool show_job_order(const Sycl__V1__AdminReply *reply)
{
	if (reply->n_jobs > 0)
		return show_jobs(reply);
	(void)printf("ended, with %u session%s\n", reply->ordered, reply->ordered == 1 ? "" : "s");
	return true;
}
