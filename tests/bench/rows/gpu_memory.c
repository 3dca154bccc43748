/* TG6: the device memory that one more client needs, compared with one more process. */
#include "harness/mps.h"
#include "gpu/compare.h"
#include "gpu/direct.h"
#include "gpu/place.h"
#include "gpu/subjects.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CLIENTS = 8, PROCESSES = 2 };

static const double mib = 1 << 20;

/* An observer with its own context measures the free memory of the device, MiB. */
static int observe(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	struct gpu_direct *direct = state;
	size_t free_bytes, total_bytes;
	(void)count;
	if (!gpu_driver_good(&direct->driver,
			     direct->driver.memory_information(&free_bytes, &total_bytes),
			     "memory"))
		return -EIO;
	values_out[0] = (double)free_bytes / mib;
	return 0;
}

static const struct agent_subject observer = {subject_gpu_direct_open, observe,
					      subject_gpu_direct_close};
static const struct agent_subject client = {subject_gpu_client_open, subject_gpu_client_add,
					    subject_gpu_client_close};
static const struct agent_subject process = {subject_gpu_direct_open, subject_gpu_direct_add,
					     subject_gpu_direct_close};

struct growth {
	const struct agent_subject *subject;
	struct gpu_place place;
	unsigned count;
	const struct private_service *settles; /* its standby engine is a part of the cost; NULL:
						  there is nothing to wait for */
};

/* Starts that many, lets each work for a moment, and measures the change of the free memory: MiB
 * for each. */
static int measure_growth(struct agent *watcher, const struct growth *growth, double *mib_out)
{
	struct agent agents[CLIENTS];
	double before[AGENT_VALUES], after[AGENT_VALUES], ignored[AGENT_VALUES];
	char text[GPU_PLACE_BYTES];
	unsigned started = 0;
	gpu_place_write(&growth->place, text);
	int r = agent_measure(watcher, 0, before);
	for (; started < growth->count && r == 0; started += r == 0)
		r = agent_start(growth->subject, text, &agents[started]);
	for (unsigned i = 0; i < started && r == 0; i++)
		r = agent_measure(&agents[i], 1, ignored);
	if (r == 0 && growth->settles)
		gpu_settle(growth->settles);
	if (r == 0)
		r = agent_measure(watcher, 0, after);
	for (unsigned i = 0; i < started; i++)
		agent_end(&agents[i]);
	if (r == 0)
		*mib_out = (before[0] - after[0]) / growth->count;
	return r;
}

struct memory_row {
	struct private_service *service, *everybody;
	struct mps *mps;
	struct agent watcher, first;
};

static void memory_row_end(struct memory_row *row)
{
	agent_end(&row->first);
	agent_end(&row->watcher);
	row->mps = mps_free(row->mps);
	row->service = private_service_free(row->service);
	row->everybody = private_service_free(row->everybody);
}

/* A first client and the standby exist before. So the cost of the engines does not count for one
 * more client. */
static int start_first_clients(struct memory_row *row)
{
	struct gpu_place alone = {.with = GPU_NOBODY}, served = {.device = 0};
	char text[GPU_PLACE_BYTES];
	double ignored[AGENT_VALUES];
	int r = gpu_service(false, &row->service);
	if (r == 0 && mps_installed())
		(void)mps_start(false, &row->mps);
	gpu_place_write(&alone, text);
	if (r == 0)
		r = agent_start(&observer, text, &row->watcher);
	(void)snprintf(served.with, sizeof(served.with), "%s",
		       row->service ? row->service->endpoint : "");
	gpu_place_write(&served, text);
	if (r == 0)
		r = agent_start(&client, text, &row->first);
	if (r == 0)
		r = agent_measure(&row->first, 1, ignored);
	if (r == 0)
		gpu_settle(row->service);
	return r;
}

static int gpu_memory_measure_side(struct memory_row *row, enum gpu_side side, double *mib_out)
{
	struct growth growth = {.subject = side == GPU_SIDE_SERVICE ? &client : &process,
				.count = side == GPU_SIDE_SERVICE ? CLIENTS : PROCESSES};
	(void)snprintf(growth.place.with, sizeof(growth.place.with), "%s",
		       side == GPU_SIDE_SERVICE ? row->service->endpoint
		       : side == GPU_SIDE_MPS   ? row->mps->pipes
						: GPU_NOBODY);
	return measure_growth(&row->watcher, &growth, mib_out);
}

/*
 * The first client of another user starts an engine. This is reported, because it is the price of
 * isolation. The client gets the standby, and a new one takes its place.
 */
static int report_other_user(struct bench *bench, struct memory_row *row)
{
	struct growth growth = {.subject = &client, .place = {.uid = GPU_OTHER_UID}, .count = 1};
	struct bench_result result = {
		.name = "TG6.first_of_user",
		.unit = "MiB",
		.note = "the first client of another user, with that user's engine"};
	struct gpu_place own = {.device = 0};
	struct agent before = AGENT_INIT;
	char text[GPU_PLACE_BYTES];
	double value = 0;
	int r = gpu_service(true, &row->everybody);
	if (r < 0)
		return r;
	(void)snprintf(own.with, sizeof(own.with), "%s", row->everybody->endpoint);
	gpu_place_write(&own, text);
	growth.settles = row->everybody;
	memcpy(growth.place.with, own.with, sizeof(own.with));
	r = agent_start(&client, text, &before);
	if (r == 0)
		r = agent_measure(&before, 1, (double[AGENT_VALUES]){0});
	if (r == 0) {
		gpu_settle(row->everybody);
		r = measure_growth(&row->watcher, &growth, &value);
	}
	agent_end(&before);
	if (r < 0)
		return r;
	bench_summarise(&value, NULL, 1, &result);
	bench_report(bench, &result);
	return 0;
}

static int measure_client_memory(struct bench *bench, struct gpu_compared *compared)
{
	CLEANUP(memory_row_end)
	struct memory_row row = {.watcher = AGENT_INIT, .first = AGENT_INIT};
	int r = start_first_clients(&row);
	compared->runs = bench->runs;
	compared->sides =
		1u << GPU_SIDE_SERVICE | 1u << GPU_SIDE_DIRECT | (row.mps ? 1u << GPU_SIDE_MPS : 0);
	/* One round before is not counted, because the first process under MPS starts its server. A
	 * side that does not work is left out. */
	if (r == 0 && row.mps &&
	    gpu_memory_measure_side(&row, GPU_SIDE_MPS, &compared->values[GPU_SIDE_MPS][0][0]) < 0)
		compared->sides &= ~(1u << GPU_SIDE_MPS);
	for (unsigned run = 0; run <= bench->runs && r == 0; run++)
		for (unsigned side = 0; side < GPU_SIDES && r == 0; side++)
			if (compared->sides & 1u << side)
				r = gpu_memory_measure_side(
					&row, side, &compared->values[side][0][run ? run - 1 : 0]);
	if (r < 0)
		return r;
	gpu_report(bench, compared, 0, GPU_SIDE_SERVICE, GPU_SIDE_DIRECT,
		   (struct bench_result){.name = "TG6.memory",
					 .unit = "MiB",
					 .bound = BENCH_VALUE_AT_MOST,
					 .target = 2,
					 .note = "one more process with its own context"});
	gpu_report(bench, compared, 0, GPU_SIDE_SERVICE, GPU_SIDE_MPS,
		   (struct bench_result){
			   .name = "TG6.mps", .unit = "MiB", .note = "one more process under MPS"});
	if (gpu_users())
		return report_other_user(bench, &row);
	bench_skip(bench, "TG6.first_of_user",
		   "this row runs a second user: it needs root and a library that others can read");
	return 0;
}

int row_gpu_memory(struct bench *bench)
{
	if (!gpu_row_possible(bench, "TG6", 1))
		return 0;
	struct gpu_compared *compared = malloc(sizeof(*compared));
	int r = compared ? measure_client_memory(bench, compared) : -ENOMEM;
	if (r < 0)
		bench_complain("the measurement failed: %s", strerror(-r));
	free(compared);
	return r;
}
