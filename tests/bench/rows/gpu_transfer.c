/*
 * TG7, TG8: 256 MiB to the device for a kernel that needs all of it, and back. The memory is the
 * application's own pages, or memory that client and service share. The baseline is pageable and
 * pinned memory of a process with its own context.
 */
#include "harness/client.h"
#include "harness/statistics.h"
#include "gpu/client.h"
#include "gpu/compare.h"
#include "gpu/direct.h"
#include "gpu/subjects.h"

#include "clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { UP, DOWN, TRIPS_MAX = 16, IN_FLIGHT = 8 };

#define TRANSFER_BYTES ((size_t)256 << 20)
#define QUICK_BYTES    ((size_t)4 << 20)

/* The trips of one size, in nanoseconds each, up to the device and down to the host. */
struct trips {
	size_t bytes;
	unsigned count;
	double up_ns[TRIPS_MAX], down_ns[TRIPS_MAX];
};

/* `count` of the request: trips, and a bit that requests fewer bytes. */
enum { QUICK_BIT = 1 << 8 };

static struct trips trips_of(uint64_t count)
{
	struct trips trips = {.bytes = count & QUICK_BIT ? QUICK_BYTES : TRANSFER_BYTES};
	trips.count = (unsigned)(count & ~(uint64_t)QUICK_BIT);
	return trips;
}

/* Answers GB/s of the median trip. */
static void answer_rates(const struct trips *trips, double values_out[AGENT_VALUES])
{
	values_out[UP] = (double)trips->bytes / statistics_median(trips->up_ns, trips->count);
	values_out[DOWN] = (double)trips->bytes / statistics_median(trips->down_ns, trips->count);
}

/* Every page differs, and the last word shows that all of it was copied both ways. */
static void gpu_transfer_fill_words(uint32_t *words, size_t bytes, uint32_t seed)
{
	for (size_t i = 0; i < bytes / sizeof(*words); i += 1024)
		words[i] = seed + (uint32_t)(i / 1024);
	words[bytes / sizeof(*words) - 1] = seed ^ 0x5a5a5a5au;
}

static bool words_are_back(const uint32_t *words, size_t bytes, uint32_t seed)
{
	size_t middle = bytes / sizeof(*words) / 2048 * 1024;
	bool good = words[0] == seed + 1 && words[middle] == seed + (uint32_t)(middle / 1024) &&
		    words[bytes / sizeof(*words) - 1] == (seed ^ 0x5a5a5a5au);
	if (!good)
		bench_complain("what came back is not what was sent");
	return good;
}

/* Submits a kernel that needs all of the buffer, and writes it. */
static bool submit_alone(struct gpu_client *client, sycl_buffer buffer)
{
	const uint32_t one = 1, words = GPU_BLOCK;
	sycl_handler handler;
	return client_good(sycl_handler_begin(client->queue, &handler), "sycl_handler_begin") &&
	       client_good(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE),
			   "accessor") &&
	       client_good(sycl_handler_set_value(handler, 1, sizeof(one), &one), "value") &&
	       client_good(sycl_handler_set_value(handler, 2, sizeof(words), &words), "number") &&
	       client_good(sycl_handler_parallel_for_nd(handler, client->add,
							sycl_range1(GPU_BLOCK),
							sycl_range1(GPU_BLOCK)),
			   "sycl_handler_parallel_for_nd") &&
	       client_good(sycl_handler_submit(handler, NULL), "sycl_handler_submit");
}

static bool submit_on(struct gpu_client *client, sycl_buffer buffer)
{
	return submit_alone(client, buffer) && gpu_client_wait(client);
}

/* A buffer over the application's own pages, from its creation to its release. */
static bool trip_through_pages(struct gpu_client *client, uint32_t *words, struct trips *trips,
			       unsigned trip)
{
	sycl_buffer buffer;
	gpu_transfer_fill_words(words, trips->bytes, trip);
	uint64_t start = clock_now_ns();
	if (!client_good(sycl_buffer_create(client->platform, words, trips->bytes,
					    SYCL_HOST_BORROWED, &buffer),
			 "buffer"))
		return false;
	bool good = submit_on(client, buffer);
	uint64_t there = clock_now_ns();
	good = client_good(sycl_buffer_release(buffer), "sycl_buffer_release") && good;
	trips->up_ns[trip] = (double)(there - start);
	trips->down_ns[trip] = (double)(clock_now_ns() - there);
	return good && words_are_back(words, trips->bytes, trip);
}

static int client_pages(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	struct trips trips = trips_of(count);
	uint32_t *words = malloc(trips.bytes);
	if (!words)
		return -ENOMEM;
	memset(words, 1, trips.bytes);
	bool good = true;
	for (unsigned trip = 0; trip < trips.count && good; trip++)
		good = trip_through_pages(state, words, &trips, trip);
	free(words);
	answer_rates(&trips, values_out);
	return good ? 0 : -EIO;
}

/* Returns the pointer of a host accessor; NULL: it failed. */
static uint32_t *host_words(sycl_buffer buffer, sycl_access_mode mode,
			    sycl_host_accessor *accessor_out)
{
	void *words = NULL;
	if (!client_good(sycl_host_accessor_create(buffer, mode, accessor_out),
			 "sycl_host_accessor_create"))
		return NULL;
	(void)client_good(sycl_host_accessor_get_pointer(*accessor_out, &words),
			  "sycl_host_accessor_get_pointer");
	return words;
}

static bool trip_through_arena(struct gpu_client *client, sycl_buffer buffer, struct trips *trips,
			       unsigned trip)
{
	sycl_host_accessor accessor;
	uint32_t *words = host_words(buffer, SYCL_ACCESS_WRITE_NO_INIT, &accessor);
	if (!words)
		return false;
	gpu_transfer_fill_words(words, trips->bytes, trip);
	(void)sycl_host_accessor_release(accessor);
	uint64_t start = clock_now_ns();
	if (!submit_on(client, buffer))
		return false;
	uint64_t there = clock_now_ns();
	words = host_words(buffer, SYCL_ACCESS_READ, &accessor);
	trips->up_ns[trip] = (double)(there - start);
	trips->down_ns[trip] = (double)(clock_now_ns() - there);
	bool good = words && words_are_back(words, trips->bytes, trip);
	if (words)
		(void)sycl_host_accessor_release(accessor);
	return good;
}

static int client_arena(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	struct gpu_client *client = state;
	struct trips trips = trips_of(count);
	sycl_buffer buffer;
	if (!client_good(sycl_buffer_create(client->platform, NULL, trips.bytes, SYCL_HOST_NONE,
					    &buffer),
			 "buffer"))
		return -EIO;
	bool good = true;
	for (unsigned trip = 0; trip < trips.count && good; trip++)
		good = trip_through_arena(client, buffer, &trips, trip);
	(void)sycl_buffer_release(buffer);
	answer_rates(&trips, values_out);
	return good ? 0 : -EIO;
}

static bool write_words(sycl_buffer buffer, size_t bytes, uint32_t seed)
{
	sycl_host_accessor accessor;
	uint32_t *words = host_words(buffer, SYCL_ACCESS_WRITE_NO_INIT, &accessor);
	if (!words)
		return false;
	gpu_transfer_fill_words(words, bytes, seed);
	return client_good(sycl_host_accessor_release(accessor), "sycl_host_accessor_release");
}

static bool gpu_transfer_read_words(sycl_buffer buffer, size_t bytes, uint32_t seed)
{
	sycl_host_accessor accessor;
	const uint32_t *words = host_words(buffer, SYCL_ACCESS_READ, &accessor);
	bool good = words && words_are_back(words, bytes, seed);
	if (words)
		(void)sycl_host_accessor_release(accessor);
	return good;
}

/* All buffers are copied up, then a wait, then all are copied down, then a wait. */
static bool stream_through_arena(struct gpu_client *client, const sycl_buffer *buffers,
				 struct trips *trips, unsigned trip)
{
	bool good = true;
	for (unsigned i = 0; i < IN_FLIGHT && good; i++)
		good = write_words(buffers[i], trips->bytes, trip + i);
	uint64_t start = clock_now_ns();
	for (unsigned i = 0; i < IN_FLIGHT && good; i++)
		good = submit_alone(client, buffers[i]);
	good = good && gpu_client_wait(client);
	uint64_t there = clock_now_ns();
	for (unsigned i = 0; i < IN_FLIGHT && good; i++)
		good = client_good(sycl_queue_update_host(client->queue, buffers[i], NULL),
				   "sycl_queue_update_host");
	good = good && gpu_client_wait(client);
	trips->up_ns[trip] = (double)(there - start) / IN_FLIGHT;
	trips->down_ns[trip] = (double)(clock_now_ns() - there) / IN_FLIGHT;
	for (unsigned i = 0; i < IN_FLIGHT && good; i++)
		good = gpu_transfer_read_words(buffers[i], trips->bytes, trip + i);
	return good;
}

static int client_arena_stream(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	struct gpu_client *client = state;
	struct trips trips = trips_of(count);
	sycl_buffer buffers[IN_FLIGHT] = {NULL};
	bool good = true;
	for (unsigned i = 0; i < IN_FLIGHT && good; i++)
		good = client_good(sycl_buffer_create(client->platform, NULL, trips.bytes,
						      SYCL_HOST_NONE, &buffers[i]),
				   "buffer");
	for (unsigned trip = 0; trip < trips.count && good; trip++)
		good = stream_through_arena(client, buffers, &trips, trip);
	for (unsigned i = 0; i < IN_FLIGHT; i++)
		if (buffers[i])
			(void)sycl_buffer_release(buffers[i]);
	answer_rates(&trips, values_out);
	return good ? 0 : -EIO;
}

#define GOOD(call) gpu_driver_good(&direct->driver, direct->driver.call, #call)

static bool direct_trip(struct gpu_direct *direct, gpu_address there, uint32_t *words,
			struct trips *trips, unsigned trip)
{
	gpu_address own = direct->data;
	gpu_transfer_fill_words(words, trips->bytes, trip);
	uint64_t start = clock_now_ns();
	bool good = GOOD(copy_in(there, words, trips->bytes, direct->stream));
	direct->data = there;
	good = good && gpu_direct_launch(direct, direct->add, 1, GPU_BLOCK) &&
	       gpu_direct_wait(direct);
	direct->data = own;
	uint64_t middle = clock_now_ns();
	good = good && GOOD(copy_out(words, there, trips->bytes, direct->stream)) &&
	       gpu_direct_wait(direct);
	trips->up_ns[trip] = (double)(middle - start);
	trips->down_ns[trip] = (double)(clock_now_ns() - middle);
	return good && words_are_back(words, trips->bytes, trip);
}

static int direct_trips(struct gpu_direct *direct, uint32_t *words, struct trips *trips,
			double values_out[AGENT_VALUES])
{
	gpu_address there = 0;
	bool good = GOOD(memory_allocate(&there, trips->bytes));
	for (unsigned trip = 0; trip < trips->count && good; trip++)
		good = direct_trip(direct, there, words, trips, trip);
	if (there)
		(void)direct->driver.memory_free(there);
	answer_rates(trips, values_out);
	return good ? 0 : -EIO;
}

static int direct_pageable(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	struct trips trips = trips_of(count);
	uint32_t *words = malloc(trips.bytes);
	if (!words)
		return -ENOMEM;
	memset(words, 1, trips.bytes);
	int r = direct_trips(state, words, &trips, values_out);
	free(words);
	return r;
}

static int direct_pinned(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	struct gpu_direct *direct = state;
	struct trips trips = trips_of(count);
	void *words = NULL;
	if (!GOOD(host_allocate(&words, trips.bytes, 0)))
		return -EIO;
	int r = direct_trips(direct, words, &trips, values_out);
	(void)direct->driver.host_free(words);
	return r;
}

/* The same pages are used repeatedly, and the driver has not registered them. */
static bool direct_stream_trip(struct gpu_direct *direct, gpu_address there, uint32_t *words,
			       struct trips *trips, unsigned trip)
{
	gpu_address own = direct->data;
	bool good = true;
	gpu_transfer_fill_words(words, trips->bytes, trip);
	uint64_t start = clock_now_ns();
	direct->data = there;
	for (unsigned i = 0; i < IN_FLIGHT && good; i++)
		good = GOOD(copy_in(there, words, trips->bytes, direct->stream)) &&
		       (i + 1 < IN_FLIGHT || gpu_direct_launch(direct, direct->add, 1, GPU_BLOCK));
	good = good && gpu_direct_wait(direct);
	direct->data = own;
	uint64_t middle = clock_now_ns();
	for (unsigned i = 0; i < IN_FLIGHT && good; i++)
		good = GOOD(copy_out(words, there, trips->bytes, direct->stream));
	good = good && gpu_direct_wait(direct);
	trips->up_ns[trip] = (double)(middle - start) / IN_FLIGHT;
	trips->down_ns[trip] = (double)(clock_now_ns() - middle) / IN_FLIGHT;
	return good && words_are_back(words, trips->bytes, trip);
}

static int direct_pinned_stream(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	struct gpu_direct *direct = state;
	struct trips trips = trips_of(count);
	gpu_address there = 0;
	void *words = NULL;
	bool good = GOOD(host_allocate(&words, trips.bytes, 0)) &&
		    GOOD(memory_allocate(&there, trips.bytes));
	for (unsigned trip = 0; trip < trips.count && good; trip++)
		good = direct_stream_trip(direct, there, words, &trips, trip);
	if (there)
		(void)direct->driver.memory_free(there);
	if (words)
		(void)direct->driver.host_free(words);
	answer_rates(&trips, values_out);
	return good ? 0 : -EIO;
}

static int gpu_transfer_run_row(struct bench *bench, const char *row,
				const struct agent_subject *client,
				const struct agent_subject *direct,
				const struct bench_result forms[2])
{
	const unsigned quick = bench->quick ? QUICK_BIT : 0;
	const struct gpu_comparison comparison = {
		.client = client,
		.direct = direct,
		.agents = 1,
		.sum = GPU_SUM_FIRST,
		.sides = 1u << GPU_SIDE_SERVICE | 1u << GPU_SIDE_DIRECT,
		.count = quick | 5,
		.warm_up = quick | 2,
	};
	if (!gpu_row_possible(bench, row, 1))
		return 0;
	struct gpu_compared *compared = malloc(sizeof(*compared));
	int r = compared ? gpu_compare(bench, &comparison, compared) : -ENOMEM;
	for (int way = UP; way <= DOWN && r == 0; way++)
		gpu_report(bench, compared, way, GPU_SIDE_SERVICE, GPU_SIDE_DIRECT, forms[way]);
	free(compared);
	return r;
}

int row_gpu_pages(struct bench *bench)
{
	static const struct agent_subject client = {subject_gpu_client_open, client_pages,
						    subject_gpu_client_close};
	static const struct agent_subject direct = {subject_gpu_direct_open, direct_pageable,
						    subject_gpu_direct_close};
	static const struct bench_result forms[2] = {
		{.name = "TG7.up",
		 .unit = "GB/s",
		 .bound = BENCH_RATIO_AT_LEAST,
		 .target = 1.5,
		 .note = "the program's own pages, 256 MiB; baseline: pageable memory"},
		{.name = "TG7.down", .unit = "GB/s", .bound = BENCH_RATIO_AT_LEAST, .target = 1.5},
	};
	static const struct agent_subject alone = {subject_gpu_client_open_alone, client_pages,
						   subject_gpu_client_close};
	static const struct bench_result form_alone[2] = {
		{.name = "TG7.up_alone", .unit = "GB/s", .note = "the same without copy threads"},
		{.name = "TG7.down_alone", .unit = "GB/s"},
	};
	int r = gpu_transfer_run_row(bench, "TG7", &client, &direct, forms);
	return r < 0 ? r : gpu_transfer_run_row(bench, "TG7", &alone, &direct, form_alone);
}

int row_gpu_arena(struct bench *bench)
{
	static const struct agent_subject client = {subject_gpu_client_open, client_arena,
						    subject_gpu_client_close};
	static const struct agent_subject direct = {subject_gpu_direct_open, direct_pinned,
						    subject_gpu_direct_close};
	static const struct agent_subject client_stream = {
		subject_gpu_client_open, client_arena_stream, subject_gpu_client_close};
	static const struct agent_subject direct_stream = {
		subject_gpu_direct_open, direct_pinned_stream, subject_gpu_direct_close};
	static const struct bench_result forms[2] = {
		{.name = "TG8.up",
		 .unit = "GB/s",
		 .bound = BENCH_RATIO_AT_LEAST,
		 .target = 0.98,
		 .note = "shared memory, eight buffers of 256 MiB in flight; baseline: pinned memory, eight copies"},
		{.name = "TG8.down", .unit = "GB/s", .bound = BENCH_RATIO_AT_LEAST, .target = 0.98},
	};
	static const struct bench_result form_one[2] = {
		{.name = "TG8.up_one", .unit = "GB/s", .note = "one of 256 MiB at a time"},
		{.name = "TG8.down_one", .unit = "GB/s"},
	};
	int r = gpu_transfer_run_row(bench, "TG8", &client_stream, &direct_stream, forms);
	return r < 0 ? r : gpu_transfer_run_row(bench, "TG8", &client, &direct, form_one);
}
