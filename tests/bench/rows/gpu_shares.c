/*
 * TG11: sessions with weights that always have work. The figures are what each received of the GPU
 * in windows of a second, compared with its part, with launches and with graphs. Another figure is
 * how long a session waits after a pause until it has its part again. They use only the ends of
 * kernels, which the kernels themselves write, and their times alone. The service's own figures are
 * not used.
 */
#include "harness/client.h"
#include "harness/statistics.h"
#include "gpu/compare.h"
#include "gpu/load.h"
#include "gpu/place.h"
#include "gpu/shares.h"

#include "clock.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	DEPTH = 32, /* launches of a client that wait or run */
	CHAIN = 4,  /* kernels of a graph */
	SETTLE_MS = 400,
	WINDOW_MS = 1000,
	ALONE_MS = 200,
	WARM_MS = 300,
	QUICK_MS = 20,
	REST_MS = 200,
	BACK_MS = 200,
	BACK_WINDOW_MS = 20,
	PROBES = 16,
	PARTS_BYTES = 64,
	MODE_SHIFT = 32
};

/* Requests to a client: keep the GPU full, or read the clocks. */
enum mode { PLAIN, GRAPH, CLOCK };
enum { EACH_NS };

/* The kernels of each have another length, so that turns and shares are not the same. */
static const unsigned lengths_us[SHARES_CLIENTS_MAX] = {200, 500, 900};

/* Set before the processes that use it are forked; they fill `logs`. */
static struct {
	unsigned blocks;
	uint32_t rounds[SHARES_CLIENTS_MAX];
	struct shares_log *logs;
} common;

/* --------------------------------------- a client --------------------------------------- */

struct member {
	struct load_client load; /* first */
	unsigned index;
	sycl_executable_graph graph;
	sycl_event open[DEPTH];
	unsigned submitted;
};

static bool record_member_graph(struct member *member)
{
	sycl_queue queue = member->load.client.queue;
	sycl_context context = NULL;
	sycl_graph graph = NULL;
	bool good =
		client_good(sycl_queue_get_context(queue, &context), "sycl_queue_get_context") &&
		client_good(sycl_graph_create(context, member->load.client.device, NULL, &graph),
			    "sycl_graph_create") &&
		client_good(sycl_graph_begin_recording(graph, 1, &queue),
			    "sycl_graph_begin_recording");
	for (int i = 0; i < CHAIN && good; i++)
		good = load_client_submit(&member->load, common.blocks,
					  common.rounds[member->index], NULL);
	good = good &&
	       client_good(sycl_graph_end_recording(graph, 0, NULL), "sycl_graph_end_recording") &&
	       client_good(sycl_graph_finalize(graph, NULL, &member->graph), "sycl_graph_finalize");
	if (graph)
		(void)sycl_graph_release(graph);
	if (context)
		(void)sycl_context_release(context);
	return good;
}

/* `argument`: index and weight, then the place. */
static int member_open(const char *argument, void **state_out)
{
	unsigned index = 0, weight = 0;
	int at = 0;
	char text[16];
	if (sscanf(argument, "%u %u %n", &index, &weight, &at) < 2 || index >= SHARES_CLIENTS_MAX)
		return -EINVAL;
	(void)snprintf(text, sizeof(text), "%u", weight);
	(void)setenv("SYCLD_WEIGHT", text, 1);
	struct member *member = calloc(1, sizeof(*member));
	if (!member)
		return -ENOMEM;
	member->index = index;
	*state_out = member;
	return load_client_begin(&member->load, argument + at) && record_member_graph(member)
		       ? 0
		       : -EIO;
}

static void member_close(void *state)
{
	struct member *member = state;
	for (int i = 0; i < DEPTH; i++)
		if (member->open[i])
			(void)sycl_event_release(member->open[i]);
	if (member->graph)
		(void)sycl_executable_graph_release(member->graph);
	load_client_end(&member->load);
	free(member);
}

/* Makes one launch, not before the one `depth` earlier is complete. */
static bool submit_one(struct member *member, enum mode mode, unsigned depth)
{
	const uint32_t rounds = common.rounds[member->index];
	sycl_event *place = &member->open[member->submitted++ % depth];
	bool good = !*place || client_good(sycl_event_wait(*place), "sycl_event_wait");
	if (*place)
		(void)sycl_event_release(*place);
	*place = NULL;
	for (int i = 0; i < (mode == GRAPH ? CHAIN : 1); i++)
		load_count(&member->load.expected, common.blocks, rounds);
	if (!good || mode != GRAPH)
		return good && load_client_submit(&member->load, common.blocks, rounds, place);
	return client_good(
		sycl_queue_graph(member->load.client.queue, member->graph, 0, NULL, place),
		"sycl_queue_graph");
}

/* Reads the ends of the kernels from the `first`-th launch on; `words_out` contains the last words
 * that were read. */
static bool read_ends(struct member *member, uint32_t first, struct load_words *words_out)
{
	struct shares_log *log = &common.logs[member->index];
	if (!load_client_read(&member->load, words_out))
		return false;
	log->count = 0;
	for (uint32_t i = first; i < member->load.expected.launches && log->count < SHARES_ENDS_MAX;
	     i++)
		log->ends_ns[log->count++] = words_out->ends_ns[i % LOAD_ENDS];
	return true;
}

/* The usual time from one end to the next: the mean without the shortest and the longest ones. 0:
 * too few. */
static double usual_step(const struct shares_log *log)
{
	const uint32_t steps = log->count > 0 ? log->count - 1 : 0, less = steps / 10;
	double sum = 0, *sorted = steps > 0 ? malloc(steps * sizeof(*sorted)) : NULL;
	if (!sorted)
		return 0;
	for (uint32_t i = 0; i < steps; i++)
		sorted[i] = (double)(log->ends_ns[i + 1] - log->ends_ns[i]);
	statistics_sort(sorted, steps);
	for (uint32_t i = less; i < steps - less; i++)
		sum += sorted[i];
	free(sorted);
	return sum / (steps - 2 * less);
}

static bool keep_full(struct member *member, enum mode mode, uint64_t ms, struct load_words *words,
		      double *each_ns_out)
{
	struct shares_log *log = &common.logs[member->index];
	const unsigned depth = mode == GRAPH ? DEPTH / CHAIN : DEPTH;
	const uint32_t first = member->load.expected.launches;
	const uint64_t begin = clock_now_ns(), end = begin + ms * 1000000;
	bool good = true;
	while (good && (member->load.expected.launches < first + 2 || clock_now_ns() < end))
		good = submit_one(member, mode, depth);
	good = good && read_ends(member, first, words);
	log->begin_ns = begin;
	*each_ns_out = usual_step(log);
	return good;
}

/* Measures the difference to this process' clock: the smallest of some kernels that are waited
 * for. */
static bool compare_clocks(struct member *member, struct load_words *words)
{
	struct shares_log *log = &common.logs[member->index];
	uint64_t after[PROBES];
	const uint32_t first = member->load.expected.launches;
	bool good = true;
	for (int i = 0; i < PROBES && good; i++) {
		good = load_client_calls.launch(&member->load, common.blocks,
						common.rounds[member->index]) &&
		       gpu_client_wait(&member->load.client);
		after[i] = clock_now_ns();
	}
	if (!good || !read_ends(member, first, words))
		return false;
	log->clock_ns = INT64_MIN;
	for (uint32_t i = 0; i < PROBES && i < log->count; i++) {
		int64_t ahead = (int64_t)(log->ends_ns[i] - after[i]);
		log->clock_ns = ahead > log->clock_ns ? ahead : log->clock_ns;
	}
	return true;
}

static int member_measure(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	const enum mode mode = (enum mode)(count >> MODE_SHIFT);
	struct load_words *words = malloc(sizeof(*words));
	bool good = words != NULL;
	if (good && mode == CLOCK)
		good = compare_clocks(state, words);
	else if (good)
		good = keep_full(state, mode, count & UINT32_MAX, words, &values_out[EACH_NS]);
	free(words);
	return good ? 0 : -EIO;
}

static const struct agent_subject member_subject = {member_open, member_measure, member_close};

/* ---------------------------------------- sizes ----------------------------------------- */

enum { ROUNDS, PROCESSORS };

static int client_calibrate(void *load, uint64_t count, double values_out[AGENT_VALUES])
{
	values_out[ROUNDS] =
		load_calibrate(&load_client_calls, load, common.blocks, count * 1000, WARM_MS);
	return values_out[ROUNDS] > 0 ? 0 : -EIO;
}

static int direct_processors(void *load, uint64_t count, double values_out[AGENT_VALUES])
{
	(void)count;
	values_out[PROCESSORS] = load_multiprocessors(load);
	return values_out[PROCESSORS] > 0 ? 0 : -EIO;
}

static int request_once(const struct agent_subject *subject, const struct gpu_place *place,
			uint64_t count, double values_out[AGENT_VALUES])
{
	struct agent agent = AGENT_INIT;
	char text[GPU_PLACE_BYTES];
	gpu_place_write(place, text);
	int r = agent_start(subject, text, &agent);
	if (r == 0)
		r = agent_measure(&agent, count, values_out);
	agent_end(&agent);
	return r;
}

/* Finds the sizes of kernels: as many blocks as the GPU runs at one time, and their lengths
 * alone. */
static int find_sizes(const struct bench *bench, const struct gpu_place *service)
{
	static const struct agent_subject processors = {load_direct_open, direct_processors,
							load_direct_close};
	static const struct agent_subject calibrated = {load_client_open, client_calibrate,
							load_client_close};
	const struct gpu_place nobody = {.with = GPU_NOBODY};
	double values[AGENT_VALUES] = {0};
	int r = request_once(&processors, &nobody, 0, values);
	common.blocks = bench->quick ? 2 : (unsigned)values[PROCESSORS] * LOAD_BLOCKS_HELD;
	for (unsigned i = 0; i < SHARES_CLIENTS_MAX && r == 0; i++) {
		values[ROUNDS] = 1;
		if (!bench->quick)
			r = request_once(&calibrated, service, lengths_us[i], values);
		common.rounds[i] = (uint32_t)values[ROUNDS];
	}
	return r;
}

/* --------------------------------- a group of clients ----------------------------------- */

struct company {
	const char *plain, *plain_mean, *graph, *graph_mean;
	unsigned count;
	unsigned weights[SHARES_CLIENTS_MAX];
};

static const struct company companies[] = {
	{"TG11.two.plain",
	 "TG11.two.plain.mean",
	 "TG11.two.graph",
	 "TG11.two.graph.mean",
	 2,
	 {75, 25, 0}},
	{"TG11.three.plain",
	 "TG11.three.plain.mean",
	 "TG11.three.graph",
	 "TG11.three.graph.mean",
	 3,
	 {60, 30, 10}},
};

struct members {
	struct agent agents[SHARES_CLIENTS_MAX];
	struct shares_client clients[SHARES_CLIENTS_MAX];
	unsigned count;
};

static void members_end(struct members *members)
{
	for (unsigned i = 0; i < members->count; i++)
		agent_end(&members->agents[i]);
}

static uint64_t question(enum mode mode, uint64_t ms)
{
	return (uint64_t)mode << MODE_SHIFT | ms;
}

/* Starts them and lets each work alone, which measures its kernel. */
static int members_start(const struct bench *bench, const struct company *company,
			 const struct gpu_place *place, struct members *members)
{
	char text[GPU_PLACE_BYTES], argument[GPU_PLACE_BYTES + 32];
	double values[AGENT_VALUES];
	int r = 0;
	gpu_place_write(place, text);
	for (unsigned i = 0; i < company->count && r == 0; i++) {
		(void)snprintf(argument, sizeof(argument), "%u %u %s", i, company->weights[i],
			       text);
		r = agent_start(&member_subject, argument, &members->agents[i]);
		members->count += r == 0;
	}
	for (unsigned i = 0; i < members->count && r == 0; i++) {
		/* The first time is for the clock and for graphs. */
		r = agent_measure(&members->agents[i], question(GRAPH, bench->quick ? 1 : ALONE_MS),
				  values);
		if (r == 0)
			r = agent_measure(&members->agents[i],
					  question(PLAIN, bench->quick ? 1 : ALONE_MS), values);
		members->clients[i].log = &common.logs[i];
		members->clients[i].part = company->weights[i] / 100.0;
		members->clients[i].each_ns = values[EACH_NS];
	}
	return r;
}

static int measure_shares(const struct bench *bench, struct members *members, enum mode mode,
			  struct shares_error *error_out)
{
	const uint64_t ms = bench->quick ? QUICK_MS : SETTLE_MS + WINDOW_MS * 3 / 2;
	const uint64_t settle_ms = bench->quick ? 1 : SETTLE_MS,
		       window_ms = bench->quick ? QUICK_MS / 2 : WINDOW_MS;
	double values[AGENT_VALUES];
	int r = 0;
	for (unsigned i = 0; i < members->count && r == 0; i++)
		r = agent_request(&members->agents[i], question(mode, ms));
	for (unsigned i = 0; i < members->count && r == 0; i++)
		r = agent_answer(&members->agents[i], values);
	if (r == 0)
		shares_measure(members->clients, members->count, settle_ms * 1000000,
			       window_ms * 1000000, error_out);
	return r;
}

struct figures {
	double worst[BENCH_RUNS_MAX], mean[BENCH_RUNS_MAX], busy[BENCH_RUNS_MAX];
	double parts[SHARES_CLIENTS_MAX][BENCH_RUNS_MAX];
};

/* Writes hundredths, the median of the runs, of that many rows, as words for a note. */
static void write_parts(double (*parts)[BENCH_RUNS_MAX], unsigned count, unsigned runs, char *text,
			size_t bytes)
{
	size_t at = 0;
	text[0] = '\0';
	for (unsigned i = 0; i < count && at < bytes; i++)
		at += (size_t)snprintf(text + at, bytes - at, "%s%.1f", i > 0 ? " " : "",
				       100 * statistics_median(parts[i], runs));
}

static void report_shares(struct bench *bench, const struct company *company, enum mode mode,
			  struct figures *figures)
{
	char note[BENCH_NOTE_BYTES], parts[PARTS_BYTES];
	struct bench_result worst = {.name = mode == GRAPH ? company->graph : company->plain,
				     .unit = "points",
				     .bound = BENCH_VALUE_AT_MOST,
				     .target = 2,
				     .note = note};
	struct bench_result mean = {.name = mode == GRAPH ? company->graph_mean
							  : company->plain_mean,
				    .unit = "points",
				    .note = "mean of all seconds and clients"};
	write_parts(figures->parts, company->count, bench->runs, parts, sizeof(parts));
	(void)snprintf(
		note, sizeof(note),
		"worst client in the worst second; parts: %s %%; all work: %.0f %% of the work alone",
		parts, 100 * statistics_median(figures->busy, bench->runs));
	bench_summarise(figures->worst, NULL, bench->runs, &worst);
	bench_report(bench, &worst);
	bench_summarise(figures->mean, NULL, bench->runs, &mean);
	bench_report(bench, &mean);
}

static int measure_mode(struct bench *bench, const struct company *company, struct members *members,
			enum mode mode)
{
	struct figures figures;
	int r = 0;
	for (unsigned run = 0; run < bench->runs && r == 0; run++) {
		struct shares_error error = {0};
		r = measure_shares(bench, members, mode, &error);
		figures.worst[run] = error.worst;
		figures.mean[run] = error.mean;
		figures.busy[run] = error.busy;
		for (unsigned i = 0; i < company->count; i++)
			figures.parts[i][run] = error.parts[i];
	}
	if (r == 0)
		report_shares(bench, company, mode, &figures);
	return r;
}

/* -------------------------------- a share that was lent --------------------------------- */

/* The begins of the windows in the note, relative to the first submission. */
static const unsigned afters_ms[] = {0, 5, 10, 20, 40, 80, 160};

enum { AFTERS = sizeof(afters_ms) / sizeof(*afters_ms) };

/* Milliseconds, and parts of the GPU. */
struct lending {
	double back_ms[BENCH_RUNS_MAX], first_ms[BENCH_RUNS_MAX], lent[BENCH_RUNS_MAX];
	double parts[AFTERS][BENCH_RUNS_MAX]; /* that it had in windows from then on */
};

static void note_lending(const struct members *members, uint64_t rest_ms, unsigned run,
			 struct lending *lending)
{
	const struct shares_client *back = &members->clients[0], *other = &members->clients[1];
	const uint64_t window_ns = (uint64_t)BACK_WINDOW_MS * 1000000;
	lending->back_ms[run] = shares_back(back, other, window_ns) / 1e6;
	lending->first_ms[run] = shares_first(back) / 1e6;
	lending->lent[run] = shares_had(other, back->log->begin_ns + (uint64_t)back->log->clock_ns,
					rest_ms / 2 * 1000000);
	for (unsigned i = 0; i < AFTERS; i++)
		lending->parts[i][run] =
			shares_part_after(back, other, (uint64_t)afters_ms[i] * 1000000, window_ns);
}

/* The first session pauses while the second has all; then it begins again. */
static int lend_once(const struct bench *bench, struct members *members, unsigned run,
		     struct lending *lending)
{
	const uint64_t rest_ms = bench->quick ? 2 : REST_MS, back_ms = bench->quick ? 5 : BACK_MS;
	double values[AGENT_VALUES];
	int r = agent_measure(&members->agents[0], question(CLOCK, 0), values);
	if (r == 0)
		r = agent_request(&members->agents[1],
				  question(PLAIN, rest_ms + back_ms + BACK_WINDOW_MS));
	if (r < 0)
		return r;
	/* The measured session was idle for that long. */
	(void)poll(NULL, 0, (int)rest_ms);
	r = agent_measure(&members->agents[0], question(PLAIN, back_ms), values);
	if (r == 0)
		r = agent_answer(&members->agents[1], values);
	if (r == 0)
		note_lending(members, rest_ms, run, lending);
	return r;
}

static int measure_lent(struct bench *bench, struct members *members)
{
	struct lending lending;
	char note[BENCH_NOTE_BYTES], first_note[BENCH_NOTE_BYTES], parts[PARTS_BYTES];
	struct bench_result back = {.name = "TG11.back",
				    .unit = "ms",
				    .bound = BENCH_VALUE_AT_MOST,
				    .target = 10,
				    .note = note};
	struct bench_result first = {.name = "TG11.back.first", .unit = "ms", .note = first_note};
	int r = 0;
	for (unsigned run = 0; run < bench->runs && r == 0; run++)
		r = lend_once(bench, members, run, &lending);
	if (r < 0)
		return r;
	write_parts(lending.parts, AFTERS, bench->runs, parts, sizeof(parts));
	(void)snprintf(
		note, sizeof(note),
		"until the client of weight 75 has its part again; the other one had %.0f %% of the GPU before",
		100 * statistics_median(lending.lent, bench->runs));
	(void)snprintf(first_note, sizeof(first_note),
		       "its part of the 20 ms that begin after 0 5 10 20 40 80 160 ms: %s %%",
		       parts);
	bench_summarise(lending.back_ms, NULL, bench->runs, &back);
	bench_report(bench, &back);
	bench_summarise(lending.first_ms, NULL, bench->runs, &first);
	bench_report(bench, &first);
	return 0;
}

static int measure_company(struct bench *bench, const struct company *company,
			   const struct gpu_place *place)
{
	struct members members = {.count = 0};
	for (unsigned i = 0; i < SHARES_CLIENTS_MAX; i++)
		members.agents[i] = (struct agent)AGENT_INIT;
	int r = members_start(bench, company, place, &members);
	if (r == 0)
		r = measure_mode(bench, company, &members, PLAIN);
	if (r == 0)
		r = measure_mode(bench, company, &members, GRAPH);
	if (r == 0 && company->count == 2)
		r = measure_lent(bench, &members);
	members_end(&members);
	return r;
}

static int measure_all_shares(struct bench *bench)
{
	CLEANUP(private_service_cleanup) struct private_service *service = NULL;
	struct gpu_place place = {.device = 0};
	int r = gpu_service(false, &service);
	if (r < 0)
		return r;
	(void)snprintf(place.with, sizeof(place.with), "%s", service->endpoint);
	r = find_sizes(bench, &place);
	if (r == 0 && !bench->quick)
		gpu_settle(service);
	for (size_t i = 0; i < sizeof(companies) / sizeof(*companies) && r == 0; i++)
		r = measure_company(bench, &companies[i], &place);
	return r;
}

int row_gpu_shares(struct bench *bench)
{
	const size_t bytes = SHARES_CLIENTS_MAX * sizeof(struct shares_log);
	if (!gpu_row_possible(bench, "TG11", 1))
		return 0;
	void *logs = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (logs == MAP_FAILED)
		return -errno;
	common.logs = logs;
	int r = measure_all_shares(bench);
	(void)munmap(logs, bytes);
	if (r < 0)
		bench_complain("the measurement failed: %s", strerror(-r));
	return r;
}
