#include "gpu/shares.h"

#include <math.h>

/* Counts kernels that ended after `from` and not after `until`. */
static double work_between(const struct shares_client *client, uint64_t from, uint64_t until)
{
	unsigned ended = 0;
	for (uint32_t i = 0; i < client->log->count; i++)
		ended += client->log->ends_ns[i] > from && client->log->ends_ns[i] <= until;
	return ended * client->each_ns;
}

static void take_window(const struct shares_client *clients, unsigned count, uint64_t from,
			uint64_t until, struct shares_error *error)
{
	double work[SHARES_CLIENTS_MAX], all = 0;
	for (unsigned i = 0; i < count; i++)
		all += work[i] = work_between(&clients[i], from, until);
	for (unsigned i = 0; i < count; i++) {
		double points = all > 0 ? fabs(work[i] / all - clients[i].part) * 100 : 100;
		error->worst = fmax(error->worst, points);
		error->mean += points / count;
		error->parts[i] += all > 0 ? work[i] / all : 0;
	}
	error->busy += until > from ? all / (double)(until - from) : 0;
	error->windows++;
}

void shares_measure(const struct shares_client *clients, unsigned count, uint64_t settle_ns,
		    uint64_t window_ns, struct shares_error *error_out)
{
	uint64_t from = 0, until = UINT64_MAX;
	struct shares_error error = {.windows = 0};
	for (unsigned i = 0; i < count; i++) {
		const struct shares_log *log = clients[i].log;
		if (log->count > 0 && log->ends_ns[0] > from)
			from = log->ends_ns[0];
		if (log->count > 0 && log->ends_ns[log->count - 1] < until)
			until = log->ends_ns[log->count - 1];
	}
	for (uint64_t at = from + settle_ns; at + window_ns <= until; at += window_ns / 10)
		take_window(clients, count, at, at + window_ns, &error);
	if (error.windows == 0)
		take_window(clients, count, from, until > from ? until : from, &error);
	error.mean /= error.windows;
	error.busy /= error.windows;
	for (unsigned i = 0; i < count; i++)
		error.parts[i] /= error.windows;
	*error_out = error;
}

/* By the GPU's clock. */
static uint64_t begin_of(const struct shares_client *client)
{
	return client->log->begin_ns + (uint64_t)client->log->clock_ns;
}

double shares_first(const struct shares_client *back)
{
	if (back->log->count == 0)
		return INFINITY;
	return fmax((double)(int64_t)(back->log->ends_ns[0] - begin_of(back)) - back->each_ns, 0);
}

double shares_part_after(const struct shares_client *back, const struct shares_client *other,
			 uint64_t after_ns, uint64_t window_ns)
{
	const uint64_t at = begin_of(back) + after_ns;
	double had = work_between(back, at, at + window_ns),
	       others = work_between(other, at, at + window_ns);
	return had > 0 ? had / (had + others) : 0;
}

double shares_back(const struct shares_client *back, const struct shares_client *other,
		   uint64_t window_ns)
{
	const struct shares_log *log = back->log;
	const uint64_t begin = begin_of(back);
	const double first = shares_first(back);
	uint64_t at = begin;
	for (uint32_t i = 0; i < log->count; i++) {
		if (shares_part_after(back, other, at - begin, window_ns) >= 0.95 * back->part)
			return fmax(first, (double)(int64_t)(at - begin));
		/* Continues from the time when this kernel may have begun. */
		at = (uint64_t)fmax((double)(int64_t)(log->ends_ns[i] - begin) - back->each_ns, 0) +
		     begin;
	}
	return fmax(first, (double)(int64_t)(at - begin));
}

double shares_had(const struct shares_client *client, uint64_t until_ns, uint64_t window_ns)
{
	return work_between(client, until_ns - window_ns, until_ns) / (double)window_ns;
}
