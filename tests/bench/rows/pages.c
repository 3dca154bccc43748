/*
 * Buffers over the program's own pages, on the processor, where nothing is moved to a device: only
 * the library's copies are measured. In: from the creation of a buffer until a kernel that needs
 * all of it has ended. Out: its release. They are measured with the library's copy threads, if
 * there are processors for some, and without. The baselines are one copy of as many bytes in one
 * thread, and the same kernel on memory that is shared anyway.
 */
#include "harness/client.h"
#include "harness/compare.h"
#include "harness/statistics.h"

#include "clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { IN, OUT, IN_ALONE, OUT_ALONE, SHARED, VALUES, TRIPS = 5 };

#define WHOLE_BYTES (256ull << 20)
#define QUICK_BYTES (9ull << 20)

static const char source[] =
	"SYCL_KERNEL void ends(SYCL_GLOBAL(uint) y, ulong last, uint value) { y[0] += value; y[last] += value; }";

struct pages_client {
	struct client plain, alone;
	uint32_t *words;
	uint64_t bytes;
};

static int open_pages_client(const char *endpoint, void **state_out)
{
	struct pages_client *mine = calloc(1, sizeof(*mine));
	if (!mine)
		return -ENOMEM;
	*state_out = mine;
	return client_open(&mine->plain, endpoint, source, "ends") &&
			       client_open_copying(&mine->alone, endpoint, SYCL_COPY_THREADS_NONE,
						   source, "ends")
		       ? 0
		       : -EIO;
}

static void bench_pages_close_client(void *state)
{
	struct pages_client *mine = state;
	client_close(&mine->plain);
	client_close(&mine->alone);
	free(mine->words);
	free(mine);
}

static bool use_buffer_ends(struct client *client, sycl_buffer buffer, uint64_t bytes)
{
	const uint32_t one = 1;
	const uint64_t last = bytes / sizeof(uint32_t) - 1;
	sycl_handler handler;
	return client_good(sycl_handler_begin(client->queue, &handler), "sycl_handler_begin") &&
	       client_good(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE),
			   "accessor") &&
	       client_good(sycl_handler_set_value(handler, 1, sizeof(last), &last), "value") &&
	       client_good(sycl_handler_set_value(handler, 2, sizeof(one), &one), "value") &&
	       client_good(sycl_handler_single_task(handler, client->kernel),
			   "sycl_handler_single_task") &&
	       client_good(sycl_handler_submit(handler, NULL), "sycl_handler_submit") &&
	       client_wait(client);
}

/* The sums of the kernel must have been written back. */
static bool trip(struct pages_client *mine, struct client *client, double *in_ms, double *out_ms)
{
	sycl_buffer buffer;
	uint32_t before = mine->words[mine->bytes / sizeof(uint32_t) - 1];
	uint64_t start = clock_now_ns();
	if (!client_good(sycl_buffer_create(client->platform, mine->words, mine->bytes,
					    SYCL_HOST_BORROWED, &buffer),
			 "sycl_buffer_create"))
		return false;
	bool good = use_buffer_ends(client, buffer, mine->bytes);
	uint64_t middle = clock_now_ns();
	good = client_good(sycl_buffer_release(buffer), "sycl_buffer_release") && good;
	*in_ms = (double)(middle - start) / 1e6;
	*out_ms = (double)(clock_now_ns() - middle) / 1e6;
	if (good && mine->words[mine->bytes / sizeof(uint32_t) - 1] != before + 1) {
		bench_complain("a buffer's contents have not come back");
		return false;
	}
	return good;
}

static bool trips(struct pages_client *mine, struct client *client, double *in_out, double *out_out)
{
	double in[TRIPS], out[TRIPS];
	bool good = true;
	for (int i = 0; i < TRIPS && good; i++)
		good = trip(mine, client, &in[i], &out[i]);
	if (!good)
		return false;
	*in_out = statistics_median(in, TRIPS);
	*out_out = statistics_median(out, TRIPS);
	return true;
}

static bool shared(struct pages_client *mine, double *out)
{
	double samples[TRIPS];
	sycl_buffer buffer;
	const uint32_t zero = 0;
	if (!client_good(sycl_buffer_create(mine->plain.platform, NULL, mine->bytes, SYCL_HOST_NONE,
					    &buffer),
			 "buffer"))
		return false;
	bool good = client_good(sycl_queue_fill(mine->plain.queue, buffer, 0, mine->bytes, &zero,
						sizeof(zero), NULL),
				"sycl_queue_fill") &&
		    client_wait(&mine->plain);
	for (int i = 0; i < TRIPS && good; i++) {
		sycl_host_accessor accessor;
		uint64_t start = clock_now_ns();
		good = use_buffer_ends(&mine->plain, buffer, mine->bytes) &&
		       client_good(sycl_host_accessor_create(buffer, SYCL_ACCESS_READ, &accessor),
				   "host accessor");
		samples[i] = (double)(clock_now_ns() - start) / 1e6;
		if (good)
			(void)sycl_host_accessor_release(accessor);
	}
	(void)sycl_buffer_release(buffer);
	if (good)
		*out = statistics_median(samples, TRIPS);
	return good;
}

static bool need_words(struct pages_client *mine, uint64_t bytes)
{
	if (mine->bytes == bytes)
		return true;
	free(mine->words);
	mine->words = malloc(bytes);
	mine->bytes = mine->words ? bytes : 0;
	if (mine->words)
		memset(mine->words, 1, bytes);
	return mine->words != NULL;
}

static int measure_client_pages(void *state, uint64_t bytes, double values_out[AGENT_VALUES])
{
	struct pages_client *mine = state;
	return need_words(mine, bytes) &&
			       trips(mine, &mine->plain, &values_out[IN], &values_out[OUT]) &&
			       trips(mine, &mine->alone, &values_out[IN_ALONE],
				     &values_out[OUT_ALONE]) &&
			       shared(mine, &values_out[SHARED])
		       ? 0
		       : -EIO;
}

/* One copy, between existing pages. */
static int bench_pages_open_copier(const char *argument, void **state_out)
{
	(void)argument;
	*state_out = calloc(1, sizeof(struct pages_client));
	return *state_out ? 0 : -ENOMEM;
}

static void bench_pages_close_copier(void *state)
{
	struct pages_client *mine = state;
	free(mine->words);
	free(mine);
}

static int bench_pages_measure_copier(void *state, uint64_t bytes, double values_out[AGENT_VALUES])
{
	struct pages_client *mine = state;
	double samples[TRIPS];
	if (!need_words(mine, 2 * bytes))
		return -ENOMEM;
	uint8_t *from = (uint8_t *)mine->words, *to = from + bytes;
	for (int i = 0; i < TRIPS; i++) {
		from[i] = (uint8_t)(i + 3);
		uint64_t start = clock_now_ns();
		memcpy(to, from, bytes);
		samples[i] = (double)(clock_now_ns() - start) / 1e6;
		if (to[i] != i + 3) /* reading it prevents the compiler from removing the copy */
			return -EIO;
	}
	for (int i = 0; i < VALUES; i++)
		values_out[i] = statistics_median(samples, TRIPS);
	return 0;
}

int row_pages(struct bench *bench)
{
	static const struct agent_subject client = {open_pages_client, measure_client_pages,
						    bench_pages_close_client};
	static const struct agent_subject copier = {
		bench_pages_open_copier, bench_pages_measure_copier, bench_pages_close_copier};
	static const char *const names[VALUES] = {"pages.in", "pages.out", "pages.in.alone",
						  "pages.out.alone", "pages.shared"};
	uint64_t bytes = bench->quick ? QUICK_BYTES : WHOLE_BYTES;
	struct comparison comparison = {
		.service = &client, .direct = &copier, .count = bytes, .warm_up = bytes};
	struct compared *compared = malloc(sizeof(*compared));
	if (!compared)
		return -ENOMEM;
	int r = bench_compare(bench, &comparison, compared);
	for (int value = 0; value < VALUES && r == 0; value++) {
		struct bench_result result = {.name = names[value], .unit = "ms"};
		if (value == IN)
			result.note =
				"the program's own pages, 256 MiB; baseline: one copy of as many bytes";
		bench_summarise(compared->service[value], compared->direct[value], compared->runs,
				&result);
		bench_report(bench, &result);
	}
	free(compared);
	return r;
}
