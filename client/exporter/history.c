#include "history.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int history_init(struct history *history)
{
	*history = (struct history){
		.points = calloc(HISTORY_POINTS, sizeof(*history->points)),
		.samples = calloc(TIMELINE_SAMPLES, sizeof(*history->samples)),
		.counters = calloc(USES_MOST, sizeof(*history->counters)),
	};
	if (history->points && history->samples && history->counters)
		return 0;
	history_fini(history);
	return -ENOMEM;
}

void history_fini(struct history *history)
{
	free(history->points);
	free(history->samples);
	free(history->counters);
	*history = (struct history){.points = NULL};
}

/*
 * Returns the growth since the last sample. A counter that has decreased has started again from 0.
 * So has a new one, unless the last sample had no room for it: then its past is unknown.
 */
static uint64_t growth_since(const struct history *history, const struct history_counter *now)
{
	for (unsigned i = 0; i < history->counter_count; i++) {
		const struct history_counter *before = &history->counters[i];
		if (before->session == now->session && before->uid == now->uid &&
		    before->backend == now->backend && before->index == now->index)
			return now->device_ns >= before->device_ns
				       ? now->device_ns - before->device_ns
				       : now->device_ns;
	}
	return (now->session ? history->sessions_full : history->users_full) ? 0 : now->device_ns;
}

/* Only active users get a row, so that idle ones do not use up the rows. */
static void point_add(struct history_point *point, const struct history_counter *counter,
		      uint64_t busy_ns)
{
	unsigned at = 0;
	while (at < point->count &&
	       (point->rows[at].uid != counter->uid || point->rows[at].index != counter->index ||
		point->rows[at].backend != counter->backend))
		at++;
	if (busy_ns == 0 || at == HISTORY_ROWS)
		return;
	if (at == point->count)
		point->rows[point->count++] =
			(struct history_row){counter->uid, counter->backend, counter->index, 0};
	point->rows[at].busy_ns += busy_ns;
}

static void timeline_add(struct timeline_sample *sample, const struct history_counter *counter,
			 uint64_t busy_ns)
{
	if (busy_ns == 0 || sample->count == TIMELINE_ROWS)
		return;
	struct timeline_row *row = &sample->rows[sample->count++];
	*row = (struct timeline_row){counter->session, counter->uid, counter->backend,
				     counter->index,   busy_ns,      .program = ""};
	(void)memcpy(row->program, counter->program, PROGRAM_BYTES);
}

static unsigned counters_of(const Sycl__V1__AdminReply *reply, bool of_sessions,
			    struct history_counter *counters, unsigned room)
{
	unsigned count = 0;
	for (size_t i = 0; i < reply->n_account_rows && count < room; i++) {
		const Sycl__V1__AccountRow *row = reply->account_rows[i];
		if (!row->used || (of_sessions && row->session == 0))
			continue;
		counters[count] =
			(struct history_counter){of_sessions ? row->session : 0, row->uid,
						 (uint32_t)row->used->backend,   row->used->index,
						 row->used->device_ns,           .program = ""};
		if (of_sessions)
			(void)snprintf(counters[count].program, PROGRAM_BYTES, "%s", row->command);
		count++;
	}
	return count;
}

static void close_point(struct history *history, const struct sample *sample)
{
	history->open.end_unix_ms = sample->asked_unix_ms;
	history->open.sessions = (uint32_t)sample->status.reply->n_sessions;
	history->points[history->next_point++ % HISTORY_POINTS] = history->open;
	history->open = (struct history_point){.length_ns = 0};
}

/* Adds empty points for a long time without the service. */
static void add_gap(struct history *history, uint64_t length_ns, uint64_t from_unix_ms)
{
	uint64_t points = length_ns / HISTORY_STEP_NS;
	for (uint64_t i = 0; i < points && i < HISTORY_POINTS; i++)
		history->points[history->next_point++ % HISTORY_POINTS] = (struct history_point){
			.end_unix_ms = from_unix_ms + (i + 1) * HISTORY_STEP_NS / 1000000};
	history->open = (struct history_point){.length_ns = 0};
}

void history_add(struct history *history, const struct sample *sample)
{
	if (!sample->is_up)
		return;
	struct history_counter *now = calloc(USES_MOST, sizeof(*now));
	if (!now)
		return;
	unsigned users = counters_of(sample->by_user.reply, false, now, USES_MOST / 2);
	unsigned count =
		users + counters_of(sample->by_session.reply, true, now + users, USES_MOST - users);
	const uint32_t pid = sample->status.reply->service->pid;
	const uint64_t length_ns = sample->asked_ns - history->last_ns;
	if (history->service_pid == pid && length_ns < 4 * HISTORY_STEP_NS) {
		struct timeline_sample *line =
			&history->samples[history->next_sample++ % TIMELINE_SAMPLES];
		*line = (struct timeline_sample){history->last_unix_ms, length_ns, .count = 0};
		for (unsigned i = 0; i < count; i++) {
			uint64_t busy_ns = growth_since(history, &now[i]);
			if (now[i].session)
				timeline_add(line, &now[i], busy_ns);
			else
				point_add(&history->open, &now[i], busy_ns);
		}
		history->open.length_ns += length_ns;
		if (history->open.length_ns >= HISTORY_STEP_NS)
			close_point(history, sample);
	} else if (history->service_pid) {
		add_gap(history, length_ns, history->last_unix_ms);
	}
	free(history->counters);
	history->counters = now;
	history->counter_count = count;
	history->users_full = users == USES_MOST / 2;
	history->sessions_full = count == USES_MOST;
	history->service_pid = pid;
	history->last_ns = sample->asked_ns;
	history->last_unix_ms = sample->asked_unix_ms;
}

const struct history_point *history_point_at(const struct history *history, unsigned age)
{
	if (age >= HISTORY_POINTS || age >= history->next_point)
		return NULL;
	return &history->points[(history->next_point - 1 - age) % HISTORY_POINTS];
}

const struct timeline_sample *history_sample_at(const struct history *history, unsigned age)
{
	if (age >= TIMELINE_SAMPLES || age >= history->next_sample)
		return NULL;
	return &history->samples[(history->next_sample - 1 - age) % TIMELINE_SAMPLES];
}
