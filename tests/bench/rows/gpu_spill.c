/*
 * TG15: buffers of one and a half times the device memory that the service has. A kernel runs over
 * each of them in turn, repeatedly. The service is configured to leave all other memory of the
 * device free, so that its own has the wanted size. The baseline is a process that copies pinned
 * memory both ways at once, which is the limit of the link. The required moves are those that no
 * order of eviction could have saved. In each sweep that is everything that the device cannot hold,
 * once each way.
 */
#include "harness/client.h"
#include "harness/statistics.h"
#include "gpu/compare.h"
#include "gpu/load.h"
#include "gpu/place.h"

#include "clock.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

enum {
	BUFFERS = 48,
	BUFFERS_HELD = 32, /* number of buffers that fit into the service's part of the device */
	QUICK_MIB = 128,   /* so that a buffer is copied in several parts */
	QUICK_LARGE_MIB = 512,
	LARGE_MIB = 16384,
	QUICK_STRIDE = 4096,
	MIB = 1 << 20,
	HEADROOM_LEAST_MIB = 256, /* the service's own default */
	CONTEXTS_MIB = 1280,      /* of an engine and a standby on a real device */
	LINK_MIB = 64,
	LINK_QUICK_BYTES = 65536, /* on a double that the service uses as well: there each process
				     has all of the memory */
	LINK_MS = 100,
	STATUS_WAIT_MS = 1200,
	OPERATION_SHIFT = 48
};

/*
 * Requests to the client, above OPERATION_SHIFT. BEGIN: make buffers of that many bytes (0: none
 * yet). SWEEP: over all in order. BACK: from the present place to the other end. CHECK: the words.
 */
enum operation { BEGIN, SWEEP, BACK, CHECK };
enum { SECONDS };
/* The order in which buffers are used. */
enum { IN_ORDER, THERE_AND_BACK };

/* Only every n-th word is accessed. Set before the processes are forked. */
static unsigned stride = 1, blocks = 1;

/* -------------------------------------- the client -------------------------------------- */

struct set {
	struct gpu_client client;
	sycl_kernel_bundle bundle;
	sycl_kernel begin, sweep, check;
	sycl_buffer found, buffers[BUFFERS];
	uint64_t words; /* of each */
	unsigned sweeps;
	bool at_end;
};

static int set_open(const char *place, void **state_out)
{
	struct set *set = calloc(1, sizeof(*set));
	if (!set)
		return -ENOMEM;
	*state_out = set;
	bool good = gpu_client_open(&set->client, place) &&
		    client_good(sycl_kernel_bundle_from_source(set->client.queue, SYCL_SOURCE_PTX,
							       gpu_load_ptx, NULL, &set->bundle),
				"the PTX bundle of loads") &&
		    client_good(sycl_kernel_create(set->bundle, LOAD_KERNEL_BEGIN, &set->begin),
				LOAD_KERNEL_BEGIN) &&
		    client_good(sycl_kernel_create(set->bundle, LOAD_KERNEL_SWEEP, &set->sweep),
				LOAD_KERNEL_SWEEP) &&
		    client_good(sycl_kernel_create(set->bundle, LOAD_KERNEL_CHECK, &set->check),
				LOAD_KERNEL_CHECK);
	return good ? 0 : -EIO;
}

static void set_close(void *state)
{
	struct set *set = state;
	sycl_kernel kernels[] = {set->begin, set->sweep, set->check};
	for (int i = 0; i < BUFFERS; i++)
		if (set->buffers[i])
			(void)sycl_buffer_release(set->buffers[i]);
	if (set->found)
		(void)sycl_buffer_release(set->found);
	for (int i = 0; i < 3; i++)
		if (kernels[i])
			(void)sycl_kernel_release(kernels[i]);
	if (set->bundle)
		(void)sycl_kernel_bundle_release(set->bundle);
	gpu_client_close(&set->client);
	free(set);
}

/* Words of a buffer begin with a number that no other buffer has at the same place. */
static uint32_t seed_of(unsigned buffer)
{
	return (buffer + 1) * 40503u * 65536u;
}

/* `found` is an argument before the others, or NULL. */
static bool submit_set_kernel(struct set *set, sycl_kernel kernel, unsigned buffer, uint32_t seed,
			      sycl_buffer found)
{
	const uint32_t count = (uint32_t)set->words, step = stride;
	uint32_t at = 0;
	sycl_handler handler;
	if (!client_good(sycl_handler_begin(set->client.queue, &handler), "sycl_handler_begin"))
		return false;
	if (found &&
	    !client_good(sycl_handler_set_accessor(handler, at++, found, SYCL_ACCESS_READ_WRITE),
			 "found"))
		return false;
	return client_good(sycl_handler_set_accessor(handler, at, set->buffers[buffer],
						     SYCL_ACCESS_READ_WRITE),
			   "accessor") &&
	       client_good(sycl_handler_set_value(handler, at + 1, sizeof(seed), &seed), "seed") &&
	       client_good(sycl_handler_set_value(handler, at + 2, sizeof(count), &count),
			   "count") &&
	       client_good(sycl_handler_set_value(handler, at + 3, sizeof(step), &step),
			   "stride") &&
	       client_good(sycl_handler_parallel_for_nd(handler, kernel,
							sycl_range1((uint64_t)blocks * LOAD_BLOCK),
							sycl_range1(LOAD_BLOCK)),
			   "sycl_handler_parallel_for_nd") &&
	       client_good(sycl_handler_submit(handler, NULL), "sycl_handler_submit");
}

static bool create_set_buffers(struct set *set, uint64_t bytes)
{
	const uint32_t zero = 0;
	const uint64_t found_bytes = LOAD_FOUND * sizeof(uint32_t);
	if (bytes == 0)
		return true;
	bool good = client_good(sycl_buffer_create(set->client.platform, NULL, found_bytes,
						   SYCL_HOST_NONE, &set->found),
				"found") &&
		    client_good(sycl_queue_fill(set->client.queue, set->found, 0, found_bytes,
						&zero, sizeof(zero), NULL),
				"fill");
	set->words = bytes / sizeof(uint32_t);
	for (unsigned i = 0; i < BUFFERS && good; i++)
		good = client_good(sycl_buffer_create(set->client.platform, NULL, bytes,
						      SYCL_HOST_NONE, &set->buffers[i]),
				   "a buffer") &&
		       submit_set_kernel(set, set->begin, i, seed_of(i), NULL);
	set->at_end = true;
	return good && gpu_client_wait(&set->client);
}

static bool sweep(struct set *set, bool is_back)
{
	bool good = true;
	for (unsigned i = 0; i < BUFFERS && good; i++)
		good = submit_set_kernel(set, set->sweep, is_back ? BUFFERS - 1 - i : i, 0, NULL);
	set->at_end = !is_back;
	set->sweeps++;
	return good && gpu_client_wait(&set->client);
}

static bool check_set_sum(struct set *set)
{
	uint32_t found[LOAD_FOUND];
	sycl_event event = NULL;
	uint64_t sum = 0;
	const uint64_t wanted = (set->words + stride - 1) / stride * BUFFERS;
	bool good = true;
	for (unsigned i = 0; i < BUFFERS && good; i++)
		good = submit_set_kernel(set, set->check, i, seed_of(i) + set->sweeps, set->found);
	good = good &&
	       client_good(sycl_queue_copy_to_host(set->client.queue, set->found, 0, found,
						   sizeof(found), &event),
			   "sycl_queue_copy_to_host") &&
	       client_good(sycl_event_wait(event), "sycl_event_wait");
	if (event)
		(void)sycl_event_release(event);
	for (int i = 0; i < LOAD_FOUND && good; i++)
		sum += found[i];
	if (good && sum != wanted)
		(void)fprintf(stderr, "of %llu words %llu are right\n", (unsigned long long)wanted,
			      (unsigned long long)sum);
	return good && sum == wanted;
}

static int set_measure(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	struct set *set = state;
	const uint64_t start = clock_now_ns();
	bool good = false;
	switch ((enum operation)(count >> OPERATION_SHIFT)) {
	case BEGIN:
		good = create_set_buffers(set, count & ((1ull << OPERATION_SHIFT) - 1));
		break;
	case SWEEP:
		good = sweep(set, false);
		break;
	case BACK:
		good = sweep(set, set->at_end);
		break;
	case CHECK:
		good = check_set_sum(set);
		break;
	}
	values_out[SECONDS] = (double)(clock_now_ns() - start) / 1e9;
	return good ? 0 : -EIO;
}

/* --------------------------------------- the link --------------------------------------- */

/* Copies both ways at once, between pinned memory and the device. */
struct link {
	struct gpu_direct direct;
	struct gpu_stream *back;
	void *host[2];
	gpu_address device[2];
	size_t bytes;
};

/* The requests. */
enum { ASK_MEMORY, ASK_RATE };
enum { RATE, FREE, PROCESSORS };

#define GOOD(call) gpu_driver_good(&link->direct.driver, link->direct.driver.call, #call)

static int link_open(const char *place, void **state_out)
{
	enum { STREAM_NON_BLOCKING = 1 };
	struct link *link = calloc(1, sizeof(*link));
	if (!link)
		return -ENOMEM;
	*state_out = link;
	link->bytes = stride > 1 ? LINK_QUICK_BYTES : (size_t)LINK_MIB * MIB;
	bool good = gpu_direct_open(&link->direct, place) &&
		    GOOD(stream_create(&link->back, STREAM_NON_BLOCKING));
	for (int i = 0; i < 2 && good; i++) {
		good = GOOD(host_allocate(&link->host[i], link->bytes, 0)) &&
		       GOOD(memory_allocate(&link->device[i], link->bytes));
		if (good)
			memset(link->host[i], i, link->bytes);
	}
	return good &&
			       GOOD(memory_fill(link->device[1], 0, link->bytes / sizeof(uint32_t),
						link->direct.stream)) &&
			       gpu_direct_wait(&link->direct)
		       ? 0
		       : -EIO;
}

static void link_close(void *state)
{
	struct link *link = state;
	for (int i = 0; i < 2; i++) {
		if (link->device[i])
			(void)link->direct.driver.memory_free(link->device[i]);
		if (link->host[i])
			(void)link->direct.driver.host_free(link->host[i]);
	}
	if (link->back)
		(void)link->direct.driver.stream_destroy(link->back);
	gpu_direct_close(&link->direct);
	free(link);
}

static int link_rate(struct link *link, double values_out[AGENT_VALUES])
{
	enum { BATCH = 4 };
	const uint64_t start = clock_now_ns(),
		       end = start + (uint64_t)(stride > 1 ? 1 : LINK_MS) * 1000000;
	double bytes = 0;
	bool good = true;
	while (good && (bytes <= 0 || clock_now_ns() < end)) {
		for (int i = 0; i < BATCH && good; i++)
			good = GOOD(copy_in(link->device[0], link->host[0], link->bytes,
					    link->direct.stream)) &&
			       GOOD(copy_out(link->host[1], link->device[1], link->bytes,
					     link->back));
		good = good && GOOD(stream_synchronize(link->direct.stream)) &&
		       GOOD(stream_synchronize(link->back));
		bytes += 2.0 * BATCH * (double)link->bytes;
	}
	values_out[RATE] = bytes / (double)(clock_now_ns() - start);
	return good ? 0 : -EIO;
}

static int link_memory(struct link *link, double values_out[AGENT_VALUES])
{
	enum { ATTRIBUTE_MULTIPROCESSORS = 16 };
	size_t free_bytes = 0, total = 0;
	int processors = 0;
	if (!GOOD(memory_information(&free_bytes, &total)) ||
	    !GOOD(device_attribute(&processors, ATTRIBUTE_MULTIPROCESSORS, link->direct.device)))
		return -EIO;
	values_out[FREE] = (double)free_bytes;
	values_out[PROCESSORS] = processors;
	return 0;
}

static int link_measure(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	return count == ASK_MEMORY ? link_memory(state, values_out) : link_rate(state, values_out);
}

static const struct agent_subject set_subject = {set_open, set_measure, set_close};
static const struct agent_subject link_subject = {link_open, link_measure, link_close};

/* -------------------------------------- measuring --------------------------------------- */

struct spill_row {
	struct private_service *service;
	struct agent set, link;
	bool is_large; /* a device on which contexts take memory, also that of a standby */
	uint64_t headroom, has,
		buffer; /* bytes: kept free; available to the service; of a buffer */
	/* GB/s, in order and back and forth: required moves, moves of the engine, limit of the
	 * link. */
	double must[2][BENCH_RUNS_MAX], moved[2], link_rate[2][BENCH_RUNS_MAX];
	double times_least[2]; /* moves of the engine relative to the required ones */
};

static void spill_row_end(struct spill_row *row)
{
	agent_end(&row->set);
	agent_end(&row->link);
	row->service = private_service_free(row->service);
}

static uint64_t question(enum operation operation, uint64_t bytes)
{
	return (uint64_t)operation << OPERATION_SHIFT | bytes;
}

/* Bytes that the engine reports as moved, both ways. */
static double engine_moved(const struct private_service *service)
{
	return gpu_engine_number(service, "spill", "spilled_bytes") +
	       gpu_engine_number(service, "spill", "returned_bytes");
}

/* Engines report it at intervals. */
static double moved_by_now(const struct private_service *service)
{
	(void)poll(NULL, 0, STATUS_WAIT_MS);
	return engine_moved(service);
}

static int service_that_spills(const struct bench *bench, struct spill_row *row)
{
	double values[AGENT_VALUES];
	char line[64];
	int r = agent_measure(&row->link, ASK_MEMORY, values);
	if (r < 0)
		return r;
	const uint64_t free_bytes = (uint64_t)values[FREE],
		       least = (uint64_t)HEADROOM_LEAST_MIB * MIB;
	row->is_large = free_bytes > (uint64_t)LARGE_MIB * MIB;
	const unsigned quick_mib = row->is_large ? QUICK_LARGE_MIB : QUICK_MIB;
	const uint64_t wanted = (uint64_t)(bench->quick ? quick_mib : bench->memory_mib) * MIB;
	const uint64_t contexts = row->is_large ? (uint64_t)CONTEXTS_MIB * MIB : 0;
	blocks = bench->quick ? 1 : (unsigned)values[PROCESSORS] * LOAD_BLOCKS_HELD;
	row->headroom =
		free_bytes > wanted + contexts + least ? free_bytes - wanted - contexts : least;
	(void)snprintf(line, sizeof(line), "headroom_bytes = %llu\n",
		       (unsigned long long)row->headroom);
	/* Engines get it from the service. */
	(void)setenv("SYCLD_SPILL", "1", 1);
	r = gpu_service_with(line, false, &row->service);
	(void)unsetenv("SYCLD_SPILL");
	return r;
}

/* The buffers are made once it is known how much the service has beside its contexts. */
static int begin_set(struct spill_row *row, const char *place)
{
	const uint64_t step = row->is_large ? 2 * MIB : 4096;
	double values[AGENT_VALUES];
	int r = agent_start(&set_subject, place, &row->set);
	/* The first answer comes when it is open, so this requests nothing. */
	if (r == 0)
		r = agent_measure(&row->set, question(BEGIN, 0), values);
	if (r == 0 && row->is_large)
		gpu_settle(row->service);
	if (r == 0)
		r = agent_measure(&row->link, ASK_MEMORY, values);
	if (r < 0)
		return r;
	row->has =
		values[FREE] > (double)row->headroom ? (uint64_t)values[FREE] - row->headroom : 0;
	/* Half a buffer is left for other memory of the service. Otherwise one more buffer would
	 * have no room and be moved in each sweep. */
	row->buffer = 2 * row->has / (2 * BUFFERS_HELD + 1) / step * step;
	if (row->buffer == 0 || row->buffer / sizeof(uint32_t) > UINT32_MAX) {
		bench_complain(
			"the service has %llu bytes of the device, which are too few or too many for this row",
			(unsigned long long)row->has);
		return -ENOSPC;
	}
	return agent_measure(&row->set, question(BEGIN, row->buffer), values);
}

/* Bytes that any order of eviction would have to move both ways, in one sweep. */
static double least_of_sweep(const struct spill_row *row)
{
	const uint64_t working_set = row->buffer * BUFFERS;
	return 2.0 * (double)(working_set > row->has ? working_set - row->has : 0);
}

/* Measures GB/s of that, and the limit of the link. */
static int measure_one(struct spill_row *row, enum operation operation, double *rate_out,
		       double *link_out, double *seconds_out)
{
	double values[AGENT_VALUES];
	int r = agent_measure(&row->link, ASK_RATE, values);
	*link_out = values[RATE];
	if (r == 0)
		r = agent_measure(&row->set, question(operation, 0), values);
	*seconds_out = values[SECONDS];
	*rate_out = least_of_sweep(row) / 1e9 / values[SECONDS];
	return r;
}

/* Each sweep finds the state that the one before it left. */
static int measure_order(const struct bench *bench, struct spill_row *row, enum operation operation,
			 int at)
{
	const double before = moved_by_now(row->service);
	double seconds = 0, all_seconds = 0;
	int r = 0;
	for (unsigned run = 0; run < bench->runs && r == 0; run++) {
		r = measure_one(row, operation, &row->must[at][run], &row->link_rate[at][run],
				&seconds);
		all_seconds += seconds;
	}
	const double moved = moved_by_now(row->service) - before;
	row->moved[at] = moved / 1e9 / all_seconds;
	row->times_least[at] = moved / (least_of_sweep(row) * bench->runs);
	return r;
}

static int measure_sweeps(const struct bench *bench, struct spill_row *row)
{
	double ignored[AGENT_VALUES];
	int r = agent_measure(&row->set, question(SWEEP, 0), ignored);
	if (r == 0)
		r = measure_order(bench, row, SWEEP, IN_ORDER);
	if (r == 0)
		r = measure_order(bench, row, BACK, THERE_AND_BACK);
	return r == 0 ? agent_measure(&row->set, question(CHECK, 0), ignored) : r;
}

static void report_order(struct bench *bench, const struct spill_row *row, int at,
			 struct bench_result must, const char *moved_name)
{
	char note[BENCH_NOTE_BYTES];
	struct bench_result moved = {.name = moved_name, .unit = "GB/s", .note = note};
	(void)snprintf(note, sizeof(note),
		       "rate of all copies that the engine counted: %.2f times the necessary bytes",
		       row->times_least[at]);
	bench_summarise(row->must[at], row->link_rate[at], bench->runs, &must);
	bench_report(bench, &must);
	const double link = statistics_median(row->link_rate[at], bench->runs);
	bench_summarise(&row->moved[at], &link, 1, &moved);
	bench_report(bench, &moved);
}

static void report_spill(struct bench *bench, const struct spill_row *row)
{
	char note[BENCH_NOTE_BYTES];
	const struct bench_result sweep = {.name = "TG15.sweep",
					   .unit = "GB/s",
					   .bound = BENCH_RATIO_AT_LEAST,
					   .target = 0.7,
					   .note = note};
	const struct bench_result back = {
		.name = "TG15.back",
		.unit = "GB/s",
		.note = "the same, in ascending and then descending order"};
	(void)snprintf(
		note, sizeof(note),
		"%.0f MiB of buffers on %.0f MiB: necessary copies, both ways; baseline: pinned copies, both ways",
		(double)(row->buffer * BUFFERS) / MIB, (double)row->has / MIB);
	report_order(bench, row, IN_ORDER, sweep, "TG15.sweep.moved");
	report_order(bench, row, THERE_AND_BACK, back, "TG15.back.moved");
}

static int measure_spill(struct bench *bench, struct spill_row *row)
{
	struct gpu_place place = {.with = GPU_NOBODY};
	char text[GPU_PLACE_BYTES];
	stride = bench->quick ? QUICK_STRIDE : 1;
	gpu_place_write(&place, text);
	int r = agent_start(&link_subject, text, &row->link);
	if (r == 0)
		r = service_that_spills(bench, row);
	if (r < 0)
		return r;
	(void)snprintf(place.with, sizeof(place.with), "%s", row->service->endpoint);
	gpu_place_write(&place, text);
	r = begin_set(row, text);
	if (r == 0)
		r = measure_sweeps(bench, row);
	/* Buffers that always fit into the device would show nothing. */
	if (r == 0 && !(row->moved[IN_ORDER] > 0)) {
		bench_complain("no memory had to be moved");
		r = -EIO;
	}
	return r;
}

int row_gpu_spill(struct bench *bench)
{
	static struct spill_row row;
	row = (struct spill_row){.set = AGENT_INIT, .link = AGENT_INIT};
	if (!gpu_row_possible(bench, "TG15", 1))
		return 0;
	int r = measure_spill(bench, &row);
	if (r < 0)
		bench_complain("the measurement failed: %s", strerror(-r));
	else
		report_spill(bench, &row);
	spill_row_end(&row);
	return r;
}
