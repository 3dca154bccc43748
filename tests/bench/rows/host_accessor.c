/*
 * TC5: a host accessor on a buffer whose contents a kernel has just written on the processor,
 * compared with a copy of as many bytes. The service's side fails, so that there is no figure, if
 * it reads other contents or the engine has moved any.
 */
#include "harness/client.h"
#include "harness/compare.h"
#include "harness/statistics.h"

#include "clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ACCESSES = 50, COPIES = 5, P50 = 0, P99 = 1 };

#define WHOLE_BYTES (256ull << 20)
#define QUICK_BYTES (1ull << 20)

/* Both ends are written, and the accessor must show both. */
static const char source[] =
	"SYCL_KERNEL void ends(SYCL_GLOBAL(uint) y, ulong last, uint value) { y[0] = value; y[last] = value; }";

struct accessor_client {
	struct client client;
	sycl_buffer buffer;
	uint64_t bytes;
};

static int open_accessor_client(const char *endpoint, void **state_out)
{
	struct accessor_client *mine = calloc(1, sizeof(*mine));
	if (!mine)
		return -ENOMEM;
	*state_out = mine;
	return client_open(&mine->client, endpoint, source, "ends") ? 0 : -EIO;
}

static void bench_host_accessor_drop_buffer(struct accessor_client *mine)
{
	if (mine->buffer)
		(void)sycl_buffer_release(mine->buffer);
	mine->buffer = NULL;
}

static void bench_host_accessor_close_client(void *state)
{
	struct accessor_client *mine = state;
	bench_host_accessor_drop_buffer(mine);
	client_close(&mine->client);
	free(mine);
}

static bool bench_host_accessor_make_buffer(struct accessor_client *mine, uint64_t bytes)
{
	const uint32_t pattern = 1;
	if (mine->buffer && mine->bytes == bytes)
		return true;
	bench_host_accessor_drop_buffer(mine);
	mine->bytes = bytes;
	/* It is filled, so that every page exists. */
	return client_good(sycl_buffer_create(mine->client.platform, NULL, bytes, SYCL_HOST_NONE,
					      &mine->buffer),
			   "sycl_buffer_create") &&
	       client_good(sycl_queue_fill(mine->client.queue, mine->buffer, 0, bytes, &pattern,
					   sizeof(pattern), NULL),
			   "sycl_queue_fill") &&
	       client_wait(&mine->client);
}

static bool write_ends(struct accessor_client *mine, uint32_t value)
{
	sycl_handler handler;
	uint64_t last = mine->bytes / sizeof(uint32_t) - 1;
	return client_good(sycl_handler_begin(mine->client.queue, &handler),
			   "sycl_handler_begin") &&
	       client_good(
		       sycl_handler_set_accessor(handler, 0, mine->buffer, SYCL_ACCESS_READ_WRITE),
		       "accessor") &&
	       client_good(sycl_handler_set_value(handler, 1, sizeof(last), &last), "value") &&
	       client_good(sycl_handler_set_value(handler, 2, sizeof(value), &value), "value") &&
	       client_good(sycl_handler_single_task(handler, mine->client.kernel),
			   "sycl_handler_single_task") &&
	       client_good(sycl_handler_submit(handler, NULL), "sycl_handler_submit") &&
	       client_wait(&mine->client);
}

/* Measures from the request to the pointer. The kernel is known to have ended. */
static bool access_once(struct accessor_client *mine, uint32_t value, double *us_out)
{
	sycl_host_accessor accessor;
	void *pointer = NULL;
	uint64_t last = mine->bytes / sizeof(uint32_t) - 1;
	if (!write_ends(mine, value))
		return false;
	uint64_t start = clock_now_ns();
	if (!client_good(sycl_host_accessor_create(mine->buffer, SYCL_ACCESS_READ_WRITE, &accessor),
			 "host accessor"))
		return false;
	bool good = client_good(sycl_host_accessor_get_pointer(accessor, &pointer), "its pointer");
	*us_out = (double)(clock_now_ns() - start) / 1000;
	const uint32_t *words = pointer;
	if (good && (words[0] != value || words[last] != value)) {
		bench_complain("a host accessor shows other contents than the kernel wrote");
		good = false;
	}
	return client_good(sycl_host_accessor_release(accessor), "sycl_host_accessor_release") &&
	       good;
}

static bool moved_nothing(const struct accessor_client *mine)
{
	struct sycl_usage usage = SYCL_USAGE_INIT;
	if (!client_good(sycl_platform_get_usage(mine->client.platform, &usage),
			 "sycl_platform_get_usage"))
		return false;
	if (usage.bytes_to_host || usage.bytes_to_device)
		bench_complain("the engine has copied a buffer that lies on the host");
	return !usage.bytes_to_host && !usage.bytes_to_device;
}

static void summarise(double *samples, size_t count, double values_out[AGENT_VALUES])
{
	statistics_sort(samples, count);
	values_out[P50] = statistics_percentile(samples, count, 0.5);
	values_out[P99] = statistics_percentile(samples, count, 0.99);
}

static int measure_client_accesses(void *state, uint64_t bytes, double values_out[AGENT_VALUES])
{
	struct accessor_client *mine = state;
	double samples[ACCESSES];
	bool good = bench_host_accessor_make_buffer(mine, bytes);
	for (uint32_t i = 0; i < ACCESSES && good; i++)
		good = access_once(mine, i + 2, &samples[i]);
	if (!good || !moved_nothing(mine))
		return -EIO;
	summarise(samples, ACCESSES, values_out);
	return 0;
}

/* The cost without memory that both share: a copy, into existing pages. */
struct copier {
	uint8_t *from, *to;
	uint64_t bytes;
};

static int bench_host_accessor_open_copier(const char *argument, void **state_out)
{
	(void)argument;
	*state_out = calloc(1, sizeof(struct copier));
	return *state_out ? 0 : -ENOMEM;
}

static void bench_host_accessor_close_copier(void *state)
{
	struct copier *copier = state;
	free(copier->from);
	free(copier->to);
	free(copier);
}

static int bench_host_accessor_measure_copier(void *state, uint64_t bytes,
					      double values_out[AGENT_VALUES])
{
	struct copier *copier = state;
	double samples[COPIES];
	if (copier->bytes != bytes) {
		free(copier->from);
		free(copier->to);
		copier->from = malloc(bytes);
		copier->to = malloc(bytes);
		copier->bytes = bytes;
		if (!copier->from || !copier->to)
			return -ENOMEM;
		memset(copier->from, 1, bytes);
		memset(copier->to, 2, bytes);
	}
	for (int i = 0; i < COPIES; i++) {
		copier->from[i] = (uint8_t)(i + 3);
		uint64_t start = clock_now_ns();
		memcpy(copier->to, copier->from, bytes);
		samples[i] = (double)(clock_now_ns() - start) / 1000;
		/* Reading the result keeps the compiler from removing the copy. */
		if (copier->to[i] != i + 3)
			return -EIO;
	}
	summarise(samples, COPIES, values_out);
	return 0;
}

static const struct agent_subject client_subject = {open_accessor_client, measure_client_accesses,
						    bench_host_accessor_close_client};
static const struct agent_subject copier_subject = {bench_host_accessor_open_copier,
						    bench_host_accessor_measure_copier,
						    bench_host_accessor_close_copier};

int row_host_accessor(struct bench *bench)
{
	uint64_t bytes = bench->quick ? QUICK_BYTES : WHOLE_BYTES;
	struct comparison comparison = {.service = &client_subject,
					.direct = &copier_subject,
					.count = bytes,
					.warm_up = bytes};
	struct compared *compared = malloc(sizeof(*compared));
	if (!compared)
		return -ENOMEM;
	int r = bench_compare(bench, &comparison, compared);
	for (int value = P50; value <= P99 && r == 0; value++) {
		struct bench_result result = {
			.name = value == P50 ? "TC5.p50" : "TC5.p99",
			.unit = "us",
			.target = 50,
			.note = "no bytes were copied; baseline: a copy of as many bytes"};
		result.bound = value == P50 ? BENCH_VALUE_AT_MOST : BENCH_NO_TARGET;
		bench_summarise(compared->service[value], compared->direct[value], compared->runs,
				&result);
		bench_report(bench, &result);
	}
	free(compared);
	return r;
}
