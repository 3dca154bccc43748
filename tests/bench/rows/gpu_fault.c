/*
 * TG12: one tenant's kernel writes to an invalid address while another tenant works. The figures
 * are how many bystanders are lost, how long after the fault the first tenant's next kernel is
 * complete, and the parts of that time. The baseline is two processes under MPS. At each fault the
 * node is in its state after a second or two of work, with its standby engine ready. The first
 * fault is reported separately: the tenant's first connection has just taken the standby.
 */
#include "harness/mps.h"
#include "harness/statistics.h"
#include "gpu/client.h"
#include "gpu/compare.h"
#include "gpu/direct.h"
#include "gpu/place.h"
#include "gpu/subjects.h"

#include "clock.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* How long a bystander works around the fault, how long after its start the fault comes, and when
 * waiting ends. */
enum { BYSTANDER_MS = 1500, BEFORE_FAULT_MS = 200, AGAIN_SECONDS = 30 };

/* The times of a fault in the service: the whole, and its parts one after the other. */
enum part {
	PART_ALL,
	PART_TOLD,
	PART_NEXT,
	PART_CONNECTED,
	PART_QUEUE,
	PART_KERNELS,
	PART_DATA,
	PART_KERNEL,
	PARTS
};

struct fault_row {
	struct private_service *service; /* of all users */
	struct mps *mps;
	struct agent bystander;
	unsigned lost, lost_under_mps;
	double again_ms[PARTS][BENCH_RUNS_MAX], again_under_mps_ms[BENCH_RUNS_MAX];
	double first_ms[PARTS]; /* without a standby */
};

static void fault_row_end(struct fault_row *row)
{
	agent_end(&row->bystander);
	row->mps = mps_free(row->mps);
	row->service = private_service_free(row->service);
}

/*
 * A faulting process answers with the time of its launch, whether the driver reported the failure,
 * and when. It gets two requests: one to check that it runs, and one to fail.
 */
enum { FAULT_AT, FAULT_SEEN, FAULT_TOLD };
enum { FAULT_ASK_IF_THERE, FAULT_ASK };

static int client_fault(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	struct gpu_client *client = state;
	if (count == FAULT_ASK_IF_THERE)
		return 0;
	values_out[FAULT_AT] = (double)clock_now_ns();
	if (!gpu_client_submit(client, client->fault, 1, 0))
		return -EIO;
	values_out[FAULT_SEEN] = sycl_queue_wait(client->queue) != 0;
	values_out[FAULT_TOLD] = (double)clock_now_ns();
	return 0;
}

static int direct_fault(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	struct gpu_direct *direct = state;
	if (count == FAULT_ASK_IF_THERE)
		return 0;
	values_out[FAULT_AT] = (double)clock_now_ns();
	if (!gpu_direct_launch(direct, direct->fault, 1, 0))
		return -EIO;
	values_out[FAULT_SEEN] = direct->driver.stream_synchronize(direct->stream) != 0;
	values_out[FAULT_TOLD] = (double)clock_now_ns();
	return 0;
}

/* A process that works again reports when its first kernel was complete and verified. A client also
 * reports the time of each stage before. */
enum { AGAIN_DONE, AGAIN_STAGES };
_Static_assert((int)AGAIN_STAGES + (int)GPU_CLIENT_STAGES <= (int)AGENT_VALUES,
	       "they fit into an answer");

static int client_again(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	struct gpu_client *client = state;
	(void)count;
	if (!gpu_client_submit(client, client->add, 1, GPU_DATA_WORDS) || !gpu_client_wait(client))
		return -EIO;
	values_out[AGAIN_DONE] = (double)clock_now_ns();
	for (int i = 0; i < GPU_CLIENT_STAGES; i++)
		values_out[AGAIN_STAGES + i] = (double)client->stages_ns[i];
	return gpu_client_verify(client) ? 0 : -EIO;
}

static int direct_again(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	struct gpu_direct *direct = state;
	(void)count;
	if (!gpu_direct_launch(direct, direct->add, 1, GPU_DATA_WORDS) || !gpu_direct_wait(direct))
		return -EIO;
	values_out[AGAIN_DONE] = (double)clock_now_ns();
	return gpu_direct_verify(direct) ? 0 : -EIO;
}

/* The actions of one side. */
struct cast {
	struct agent_subject bystander, fault, again;
};

static const struct cast served = {
	{subject_gpu_client_open, subject_gpu_client_add, subject_gpu_client_close},
	{subject_gpu_client_open, client_fault, subject_gpu_client_close},
	{subject_gpu_client_open, client_again, subject_gpu_client_close},
};
static const struct cast alone = {
	{subject_gpu_direct_open, subject_gpu_direct_add, subject_gpu_direct_close},
	{subject_gpu_direct_open, direct_fault, subject_gpu_direct_close},
	{subject_gpu_direct_open, direct_again, subject_gpu_direct_close},
};

/* Sends one request to one process; the answer goes to `values_out`. */
static int request_once(const struct agent_subject *subject, const char *place,
			double values_out[AGENT_VALUES])
{
	struct agent agent = AGENT_INIT;
	int r = agent_start(subject, place, &agent);
	if (r == 0)
		r = agent_measure(&agent, 0, values_out);
	agent_end(&agent);
	return r;
}

/* Starts a new process each time, until one works. */
static int until_works(const struct agent_subject *subject, const char *place,
		       double values_out[AGENT_VALUES])
{
	uint64_t deadline = clock_now_ns() + (uint64_t)AGAIN_SECONDS * 1000000000ull;
	while (clock_now_ns() < deadline)
		if (request_once(subject, place, values_out) == 0)
			return 0;
	return -ETIMEDOUT;
}

/* Milliseconds between the times, for a side with stages; otherwise only the whole. */
static void take_parts(const double fault[AGENT_VALUES], const double again[AGENT_VALUES],
		       double parts_ms_out[PARTS])
{
	const double *stages = &again[AGAIN_STAGES];
	const double moments[PARTS] = {fault[FAULT_AT],          fault[FAULT_TOLD],
				       stages[GPU_CLIENT_BEGUN], stages[GPU_CLIENT_CONNECTED],
				       stages[GPU_CLIENT_QUEUE], stages[GPU_CLIENT_KERNELS],
				       stages[GPU_CLIENT_DATA],  again[AGAIN_DONE]};
	parts_ms_out[PART_ALL] = (again[AGAIN_DONE] - fault[FAULT_AT]) / 1e6;
	for (int i = 1; i < PARTS; i++)
		parts_ms_out[i] = (moments[i] - moments[i - 1]) / 1e6;
}

/* One side: the users of its processes, and the user whose standby is waited for (NULL: none). */
struct scene {
	const struct cast *cast;
	const char *bystander_place, *place;
	const struct private_service *settles;
};

/* Causes the fault while the bystander works, and runs the tenant's next kernel. */
static int fault_and_again(struct fault_row *row, const struct scene *scene, struct agent *guilty,
			   double parts_ms_out[PARTS])
{
	double fault[AGENT_VALUES] = {0}, again[AGENT_VALUES] = {0};
	int r = agent_request(&row->bystander, BYSTANDER_MS);
	if (r < 0)
		return r;
	/* The measured fault happens during another user's work. */
	(void)poll(NULL, 0, BEFORE_FAULT_MS);
	r = agent_measure(guilty, FAULT_ASK, fault);
	agent_end(guilty);
	if (r == 0 && !(fault[FAULT_SEEN] > 0)) {
		bench_complain("the fault was not reported");
		r = -EIO;
	}
	if (r == 0)
		r = until_works(&scene->cast->again, scene->place, again);
	take_parts(fault, again, parts_ms_out);
	return r;
}

/* Returns milliseconds until the tenant works again, and whether the bystander is lost. */
static int one_fault(struct fault_row *row, const struct scene *scene, double parts_ms_out[PARTS],
		     bool *lost_out)
{
	double ignored[AGENT_VALUES];
	struct agent guilty = AGENT_INIT;
	int r = row->bystander.pid > 0 ? 0
				       : agent_start(&scene->cast->bystander,
						     scene->bystander_place, &row->bystander);
	if (r == 0)
		r = agent_measure(&row->bystander, 1, ignored);
	if (r == 0)
		r = agent_start(&scene->cast->fault, scene->place, &guilty);
	if (r == 0)
		r = agent_measure(&guilty, FAULT_ASK_IF_THERE, ignored);
	/* Not before this: the tenant's first connection takes the present standby. */
	if (r == 0 && scene->settles)
		gpu_settle(scene->settles);
	if (r < 0) {
		agent_end(&guilty);
		return r;
	}
	r = fault_and_again(row, scene, &guilty, parts_ms_out);
	agent_end(&guilty);
	*lost_out = agent_answer(&row->bystander, ignored) < 0;
	if (*lost_out)
		agent_end(&row->bystander);
	return r;
}

static int fault_served(struct fault_row *row, bool with_standby, double parts_ms_out[PARTS])
{
	struct gpu_place place = {.device = 0};
	char faulting[GPU_PLACE_BYTES], bystander[GPU_PLACE_BYTES];
	const struct scene scene = {&served, bystander, faulting,
				    with_standby ? row->service : NULL};
	bool lost = false;
	(void)snprintf(place.with, sizeof(place.with), "%s", row->service->endpoint);
	gpu_place_write(&place, faulting);
	place.uid = GPU_OTHER_UID;
	gpu_place_write(&place, bystander);
	int r = one_fault(row, &scene, parts_ms_out, &lost);
	row->lost += lost;
	return r;
}

/* The first fault on a node. Its standby exists because of the bystander, and goes to the tenant at
 * its first connection. */
static int first_fault(struct fault_row *row)
{
	struct gpu_place place = {.device = 0, .uid = GPU_OTHER_UID};
	char text[GPU_PLACE_BYTES];
	double ignored[AGENT_VALUES];
	(void)snprintf(place.with, sizeof(place.with), "%s", row->service->endpoint);
	gpu_place_write(&place, text);
	int r = agent_start(&served.bystander, text, &row->bystander);
	if (r == 0)
		r = agent_measure(&row->bystander, 1, ignored);
	if (r == 0)
		gpu_settle(row->service);
	return r < 0 ? r : fault_served(row, false, row->first_ms);
}

static int fault_under_mps(struct fault_row *row, unsigned run)
{
	struct gpu_place place = {.device = 0};
	char text[GPU_PLACE_BYTES];
	const struct scene scene = {&alone, text, text, NULL};
	double parts_ms[PARTS];
	bool lost = false;
	(void)snprintf(place.with, sizeof(place.with), "%s", row->mps->pipes);
	gpu_place_write(&place, text);
	int r = one_fault(row, &scene, parts_ms, &lost);
	row->again_under_mps_ms[run] = parts_ms[PART_ALL];
	row->lost_under_mps += lost;
	return r;
}

static void report_parts(struct bench *bench, const struct fault_row *row)
{
	static const struct {
		const char *name, *note;
	} parts[PARTS] = {
		[PART_TOLD] = {"TG12.again.told",
			       "of that, from the launch until the owner gets the error"},
		[PART_NEXT] = {"TG12.again.next",
			       "of that, the end of the faulty process and the start of the next"},
		[PART_CONNECTED] = {"TG12.again.connect",
				    "of that, connecting until the engine replies"},
		[PART_QUEUE] = {"TG12.again.queue",
				"of that, finding the device and creating a queue"},
		[PART_KERNELS] = {"TG12.again.kernels",
				  "of that, three kernels: built or cached, device opened, loaded"},
		[PART_DATA] = {"TG12.again.data", "of that, creating and filling the buffer"},
		[PART_KERNEL] = {"TG12.again.kernel", "of that, the kernel"},
	};
	for (int i = 1; i < PARTS; i++) {
		struct bench_result part = {
			.name = parts[i].name, .unit = "ms", .note = parts[i].note};
		bench_summarise(row->again_ms[i], NULL, bench->runs, &part);
		bench_report(bench, &part);
	}
}

static void report_first_fault(struct bench *bench, const struct fault_row *row)
{
	char note[BENCH_NOTE_BYTES];
	const double *ms = row->first_ms;
	struct bench_result first = {.name = "TG12.first", .unit = "ms", .note = note};
	(void)snprintf(note, sizeof(note),
		       "no standby is ready: report %.0f, next %.0f, connect %.0f, queue %.0f, "
		       "kernels %.0f, data %.0f, kernel %.0f",
		       ms[PART_TOLD], ms[PART_NEXT], ms[PART_CONNECTED], ms[PART_QUEUE],
		       ms[PART_KERNELS], ms[PART_DATA], ms[PART_KERNEL]);
	bench_summarise(&ms[PART_ALL], NULL, 1, &first);
	bench_report(bench, &first);
}

static void report_fault(struct bench *bench, const struct fault_row *row, bool mps)
{
	struct bench_result again = {
		.name = "TG12.again",
		.unit = "ms",
		.bound = BENCH_VALUE_AT_MOST,
		.target = 500,
		.note = "from the faulting launch to the user's next kernel, with a standby engine; baseline: MPS"};
	struct bench_result lost = {
		.name = "TG12.lost",
		.unit = "bystanders",
		.bound = BENCH_VALUE_AT_MOST,
		.target = 0,
		.value = row->lost,
		.ratio = NAN,
		.spread = NAN,
		.baseline = mps ? (double)row->lost_under_mps : (double)NAN,
		.runs = bench->runs,
		.note = "lost clients of another user, of one in each run and one before; baseline: MPS"};
	bench_report(bench, &lost);
	bench_summarise(row->again_ms[PART_ALL], mps ? row->again_under_mps_ms : NULL, bench->runs,
			&again);
	bench_report(bench, &again);
	report_parts(bench, row);
	report_first_fault(bench, row);
}

static int measure_fault(struct bench *bench, struct fault_row *row)
{
	bool mps = mps_installed();
	int r = gpu_service(true, &row->service);
	if (r == 0)
		r = first_fault(row);
	for (unsigned run = 0; run < bench->runs && r == 0; run++) {
		double parts_ms[PARTS];
		r = fault_served(row, true, parts_ms);
		for (int i = 0; i < PARTS && r == 0; i++)
			row->again_ms[i][run] = parts_ms[i];
	}
	/* The sides do not take turns: a bystander of MPS does not outlive a run. */
	agent_end(&row->bystander);
	mps = r == 0 && mps && mps_start(false, &row->mps) == 0;
	for (unsigned run = 0; run < bench->runs && mps; run++)
		mps = fault_under_mps(row, run) == 0;
	if (r < 0)
		bench_complain("the measurement failed: %s", strerror(-r));
	else
		report_fault(bench, row, mps);
	return r;
}

int row_gpu_fault(struct bench *bench)
{
	struct fault_row row = {.bystander = AGENT_INIT};
	if (!gpu_row_possible(bench, "TG12", 1))
		return 0;
	if (!gpu_users()) {
		bench_skip(
			bench, "TG12",
			"this row runs a second user: it needs root and a library that others can read");
		return 0;
	}
	int r = measure_fault(bench, &row);
	fault_row_end(&row);
	return r;
}
