/*
 * TG12: one tenant's kernel writes where no memory is, while another tenant works. How many bystanders are lost, and how
 * long after the fault the first tenant's next kernel is done; the same with two processes under MPS. Each fault finds the
 * node as it is when it has worked for a second or two: with its standby engine ready.
 */
#include "bench_mps.h"
#include "bench_statistics.h"
#include "gpu_client.h"
#include "gpu_compare.h"
#include "gpu_direct.h"
#include "gpu_place.h"
#include "gpu_subjects.h"

#include "clock.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* How long a bystander works around the fault, how long after its start that comes, and when nobody waits any longer. */
enum { BYSTANDER_MS = 1500, BEFORE_FAULT_MS = 200, AGAIN_SECONDS = 30 };

struct fault_row {
	struct private_service *service; /* of everybody */
	struct mps *mps;
	struct agent bystander;
	unsigned lost, lost_under_mps;
	double again_ms[BENCH_RUNS_MAX], again_under_mps_ms[BENCH_RUNS_MAX];
};

static void fault_row_end(struct fault_row *row)
{
	agent_end(&row->bystander);
	row->mps = mps_free(row->mps);
	row->service = private_service_free(row->service);
}

/* A faulting process answers with the moment of its launch, and whether the driver said that it failed. */
enum { FAULT_AT, FAULT_SEEN };

static int client_fault(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	struct gpu_client *client = state;
	(void)count;
	values_out[FAULT_AT] = (double)clock_now_ns();
	if (!gpu_client_submit(client, client->fault, 1, 0))
		return -EIO;
	values_out[FAULT_SEEN] = sycl_queue_wait(client->queue) != 0;
	return 0;
}

static int direct_fault(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	struct gpu_direct *direct = state;
	(void)count;
	values_out[FAULT_AT] = (double)clock_now_ns();
	if (!gpu_direct_launch(direct, direct->fault, 1, 0))
		return -EIO;
	values_out[FAULT_SEEN] = direct->driver.stream_synchronize(direct->stream) != 0;
	return 0;
}

/* A process that works again says when its first kernel was done; verified. */
static int client_again(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	struct gpu_client *client = state;
	(void)count;
	if (!gpu_client_submit(client, client->add, 1, GPU_DATA_WORDS) || !gpu_client_wait(client))
		return -EIO;
	values_out[0] = (double)clock_now_ns();
	return gpu_client_verify(client) ? 0 : -EIO;
}

static int direct_again(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	struct gpu_direct *direct = state;
	(void)count;
	if (!gpu_direct_launch(direct, direct->add, 1, GPU_DATA_WORDS) || !gpu_direct_wait(direct))
		return -EIO;
	values_out[0] = (double)clock_now_ns();
	return gpu_direct_verify(direct) ? 0 : -EIO;
}

/* Everything that one side does. */
struct cast {
	struct agent_subject bystander, fault, again;
};

static const struct cast served = {
	{ subject_gpu_client_open, subject_gpu_client_add, subject_gpu_client_close },
	{ subject_gpu_client_open, client_fault, subject_gpu_client_close },
	{ subject_gpu_client_open, client_again, subject_gpu_client_close },
};
static const struct cast alone = {
	{ subject_gpu_direct_open, subject_gpu_direct_add, subject_gpu_direct_close },
	{ subject_gpu_direct_open, direct_fault, subject_gpu_direct_close },
	{ subject_gpu_direct_open, direct_again, subject_gpu_direct_close },
};

/* One process, one question; what it says goes to `values_out`. */
static int ask_once(const struct agent_subject *subject, const char *place, double values_out[AGENT_VALUES])
{
	struct agent agent = AGENT_INIT;
	int r = agent_start(subject, place, &agent);
	if (r == 0)
		r = agent_measure(&agent, 0, values_out);
	agent_end(&agent);
	return r;
}

/* A new process each time, until one works. */
static int until_works(const struct agent_subject *subject, const char *place, double *done_ns_out)
{
	uint64_t deadline = clock_now_ns() + (uint64_t)AGAIN_SECONDS * 1000000000ull;
	double values[AGENT_VALUES];
	while (clock_now_ns() < deadline)
		if (ask_once(subject, place, values) == 0) {
			*done_ns_out = values[0];
			return 0;
		}
	return -ETIMEDOUT;
}

/* The fault while the bystander works: milliseconds until the tenant works again, and whether the bystander is lost. */
static int one_fault(struct fault_row *row, const struct cast *cast, const char *bystander_place, const char *place,
		     double *again_ms_out, bool *lost_out)
{
	double values[AGENT_VALUES], work[AGENT_VALUES], done = 0;
	int r = row->bystander.pid > 0 ? 0 : agent_start(&cast->bystander, bystander_place, &row->bystander);
	if (r == 0)
		r = agent_measure(&row->bystander, 1, work);
	if (r == 0 && cast == &served)
		gpu_settle(row->service);
	if (r == 0)
		r = agent_ask(&row->bystander, BYSTANDER_MS);
	if (r < 0)
		return r;
	/* What is measured is a fault in the middle of somebody's work. */
	(void)poll(NULL, 0, BEFORE_FAULT_MS);
	r = ask_once(&cast->fault, place, values);
	if (r == 0 && !(values[FAULT_SEEN] > 0)) {
		bench_complain("the fault was not noticed");
		r = -EIO;
	}
	if (r == 0)
		r = until_works(&cast->again, place, &done);
	*lost_out = agent_answer(&row->bystander, work) < 0;
	if (*lost_out)
		agent_end(&row->bystander);
	*again_ms_out = (done - values[FAULT_AT]) / 1e6;
	return r;
}

static int fault_served(struct fault_row *row, unsigned run)
{
	struct gpu_place place = { .device = 0 };
	char faulting[GPU_PLACE_BYTES], bystander[GPU_PLACE_BYTES];
	bool lost = false;
	(void)snprintf(place.with, sizeof(place.with), "%s", row->service->endpoint);
	gpu_place_write(&place, faulting);
	place.uid = GPU_OTHER_UID;
	gpu_place_write(&place, bystander);
	int r = one_fault(row, &served, bystander, faulting, &row->again_ms[run], &lost);
	row->lost += lost;
	return r;
}

static int fault_under_mps(struct fault_row *row, unsigned run)
{
	struct gpu_place place = { .device = 0 };
	char text[GPU_PLACE_BYTES];
	bool lost = false;
	(void)snprintf(place.with, sizeof(place.with), "%s", row->mps->pipes);
	gpu_place_write(&place, text);
	int r = one_fault(row, &alone, text, text, &row->again_under_mps_ms[run], &lost);
	row->lost_under_mps += lost;
	return r;
}

static void tell(struct bench *bench, const struct fault_row *row, bool mps)
{
	struct bench_result again = { .name = "TG12.again", .unit = "ms", .bound = BENCH_VALUE_AT_MOST, .target = 500,
				      .note = "from the faulting launch to the tenant's next kernel, a standby engine ready; MPS" };
	struct bench_result lost = { .name = "TG12.lost", .unit = "bystanders", .bound = BENCH_VALUE_AT_MOST,
				     .target = 0, .value = row->lost, .ratio = NAN, .spread = NAN,
				     .baseline = mps ? (double)row->lost_under_mps : (double)NAN, .runs = bench->runs,
				     .note = "of another user, one in each run; of MPS" };
	bench_tell(bench, &lost);
	bench_summarise(row->again_ms, mps ? row->again_under_mps_ms : NULL, bench->runs, &again);
	bench_tell(bench, &again);
}

static int measure(struct bench *bench, struct fault_row *row)
{
	bool mps = mps_installed();
	int r = gpu_service(true, &row->service);
	for (unsigned run = 0; run < bench->runs && r == 0; run++)
		r = fault_served(row, run);
	/* Not by turns: a bystander of MPS does not outlive a run. */
	agent_end(&row->bystander);
	mps = r == 0 && mps && mps_start(&row->mps) == 0;
	for (unsigned run = 0; run < bench->runs && mps; run++)
		mps = fault_under_mps(row, run) == 0;
	if (r < 0)
		bench_complain("the measurement failed: %s", strerror(-r));
	else
		tell(bench, row, mps);
	return r;
}

int row_gpu_fault(struct bench *bench)
{
	struct fault_row row = { .bystander = AGENT_INIT };
	if (!gpu_row_possible(bench, "TG12", 1))
		return 0;
	if (!gpu_users()) {
		bench_skip(bench, "TG12", "needs root: the bystander is another user");
		return 0;
	}
	int r = measure(bench, &row);
	fault_row_end(&row);
	return r;
}
