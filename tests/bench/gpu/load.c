#include "gpu/load.h"

#include "harness/client.h"
#include "clock.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	ATTRIBUTE_MULTIPROCESSORS = 16,
	TRIES = 3,
	BATCHES = 3,
	BATCH = 10,
	FIRST_ROUNDS = 1000,
	ROUNDS_MOST = 1 << 28
};

void load_count(struct load_expected *expected, unsigned blocks, uint32_t rounds)
{
	/* Most calls repeat the one before, so its sum is kept. */
	static unsigned last_blocks;
	static uint32_t last_rounds, last_sum;
	if (last_blocks != blocks || last_rounds != rounds || expected->launches == 0)
		last_sum = load_sum(blocks, rounds);
	last_blocks = blocks;
	last_rounds = rounds;
	expected->blocks = blocks;
	expected->launches++;
	expected->sum += last_sum;
}

static bool expected_matches(const struct load_expected *expected, const struct load_words *words)
{
	if (words->blocks == expected->launches * expected->blocks &&
	    words->sums[0] == expected->sum)
		return true;
	(void)fprintf(
		stderr,
		"%u launches of %u blocks and the sum %u, but the kernels counted %u blocks and %u\n",
		expected->launches, expected->blocks, expected->sum, words->blocks, words->sums[0]);
	return false;
}

/* --------------------------------------- a client --------------------------------------- */

bool load_client_begin(struct load_client *load, const char *place)
{
	const uint32_t zero = 0;
	*load = (struct load_client){.bundle = NULL};
	return gpu_client_open(&load->client, place) &&
	       client_good(sycl_kernel_bundle_from_source(load->client.queue, SYCL_SOURCE_PTX,
							  gpu_load_ptx, NULL, &load->bundle),
			   "the PTX bundle of loads") &&
	       client_good(sycl_kernel_create(load->bundle, LOAD_KERNEL_WORK, &load->work),
			   LOAD_KERNEL_WORK) &&
	       client_good(sycl_buffer_create(load->client.platform, NULL,
					      sizeof(struct load_words), SYCL_HOST_NONE,
					      &load->words),
			   "words") &&
	       client_good(sycl_queue_fill(load->client.queue, load->words, 0,
					   sizeof(struct load_words), &zero, sizeof(zero), NULL),
			   "fill") &&
	       gpu_client_wait(&load->client);
}

void load_client_end(struct load_client *load)
{
	if (load->words)
		(void)sycl_buffer_release(load->words);
	if (load->work)
		(void)sycl_kernel_release(load->work);
	if (load->bundle)
		(void)sycl_kernel_bundle_release(load->bundle);
	gpu_client_close(&load->client);
}

int load_client_open(const char *place, void **load_out)
{
	struct load_client *load = calloc(1, sizeof(*load));
	if (!load)
		return -ENOMEM;
	*load_out = load;
	return load_client_begin(load, place) ? 0 : -EIO;
}

void load_client_close(void *load)
{
	load_client_end(load);
	free(load);
}

bool load_client_submit(struct load_client *load, unsigned blocks, uint32_t rounds,
			sycl_event *event_out)
{
	const uint32_t unused = 0;
	sycl_handler handler;
	return client_good(sycl_handler_begin(load->client.queue, &handler),
			   "sycl_handler_begin") &&
	       client_good(
		       sycl_handler_set_accessor(handler, 0, load->words, SYCL_ACCESS_READ_WRITE),
		       "accessor") &&
	       client_good(sycl_handler_set_value(handler, 1, sizeof(unused), &unused), "value") &&
	       client_good(sycl_handler_set_value(handler, 2, sizeof(rounds), &rounds), "rounds") &&
	       client_good(sycl_handler_parallel_for_nd(handler, load->work,
							sycl_range1((uint64_t)blocks * LOAD_BLOCK),
							sycl_range1(LOAD_BLOCK)),
			   "sycl_handler_parallel_for_nd") &&
	       client_good(sycl_handler_submit(handler, event_out), "sycl_handler_submit");
}

static bool load_client_launch(void *state, unsigned blocks, uint32_t rounds)
{
	struct load_client *load = state;
	load_count(&load->expected, blocks, rounds);
	return load_client_submit(load, blocks, rounds, NULL);
}

static bool load_wait(void *state)
{
	return gpu_client_wait(state);
}

bool load_client_read(struct load_client *load, struct load_words *words_out)
{
	sycl_host_accessor accessor;
	void *words = NULL;
	if (!gpu_client_wait(&load->client) ||
	    !client_good(sycl_host_accessor_create(load->words, SYCL_ACCESS_READ, &accessor),
			 "host accessor"))
		return false;
	bool good = client_good(sycl_host_accessor_get_pointer(accessor, &words), "host pointer") &&
		    expected_matches(&load->expected, words);
	if (good && words_out)
		memcpy(words_out, words, sizeof(*words_out));
	(void)sycl_host_accessor_release(accessor);
	return good;
}

static bool load_client_verify(void *state)
{
	return load_client_read(state, NULL);
}

const struct load_calls load_client_calls = {load_client_launch, load_wait, load_client_verify};

/* -------------------------------------- the driver -------------------------------------- */

#define GOOD(call) gpu_driver_good(&load->direct.driver, load->direct.driver.call, #call)

int load_direct_open(const char *place, void **load_out)
{
	struct load_direct *load = calloc(1, sizeof(*load));
	if (!load)
		return -ENOMEM;
	*load_out = load;
	bool good = gpu_direct_open(&load->direct, place) &&
		    GOOD(module_load(&load->module, gpu_load_ptx)) &&
		    GOOD(module_function(&load->work, load->module, LOAD_KERNEL_WORK)) &&
		    GOOD(memory_allocate(&load->words, sizeof(struct load_words))) &&
		    GOOD(memory_fill(load->words, 0, sizeof(struct load_words) / sizeof(uint32_t),
				     load->direct.stream)) &&
		    gpu_direct_wait(&load->direct);
	return good ? 0 : -EIO;
}

void load_direct_close(void *state)
{
	struct load_direct *load = state;
	if (load->words)
		(void)load->direct.driver.memory_free(load->words);
	if (load->module)
		(void)load->direct.driver.module_unload(load->module);
	gpu_direct_close(&load->direct);
	free(load);
}

static bool load_direct_launch(void *state, unsigned blocks, uint32_t rounds)
{
	struct load_direct *load = state;
	uint32_t unused = 0;
	void *parameters[] = {&load->words, &unused, &rounds};
	load_count(&load->expected, blocks, rounds);
	return GOOD(launch(load->work, blocks, 1, 1, LOAD_BLOCK, 1, 1, 0, load->direct.stream,
			   parameters, NULL));
}

static bool load_direct_wait(void *state)
{
	return gpu_direct_wait(state);
}

static bool load_direct_verify(void *state)
{
	struct load_direct *load = state;
	struct load_words *words = malloc(sizeof(*words));
	bool good = words &&
		    GOOD(copy_out(words, load->words, offsetof(struct load_words, ends_ns),
				  load->direct.stream)) &&
		    gpu_direct_wait(&load->direct) && expected_matches(&load->expected, words);
	free(words);
	return good;
}

const struct load_calls load_direct_calls = {load_direct_launch, load_direct_wait,
					     load_direct_verify};

unsigned load_multiprocessors(struct load_direct *load)
{
	int count = 0;
	return GOOD(device_attribute(&count, ATTRIBUTE_MULTIPROCESSORS, load->direct.device)) &&
			       count > 0
		       ? (unsigned)count
		       : 0;
}

/* Returns nanoseconds for each launch; 0: one has failed. */
static double time_batch(const struct load_calls *calls, void *load, unsigned blocks,
			 uint32_t rounds)
{
	bool good = true;
	uint64_t start = clock_now_ns();
	for (int i = 0; i < BATCH && good; i++)
		good = calls->launch(load, blocks, rounds);
	good = good && calls->wait(load);
	return good ? (double)(clock_now_ns() - start) / BATCH : 0;
}

/* Returns the shortest time of some batches: delays between launches do not belong to the
 * kernel. */
static double time_best(const struct load_calls *calls, void *load, unsigned blocks,
			uint32_t rounds)
{
	double best = INFINITY;
	for (int i = 0; i < BATCHES; i++)
		best = fmin(best, time_batch(calls, load, blocks, rounds));
	return best;
}

uint32_t load_calibrate(const struct load_calls *calls, void *load, unsigned blocks,
			uint64_t wanted_ns, unsigned warm_ms)
{
	uint32_t rounds = FIRST_ROUNDS;
	uint64_t end = clock_now_ns() + (uint64_t)warm_ms * 1000000;
	while (warm_ms > 0 && clock_now_ns() < end)
		if (time_batch(calls, load, blocks, rounds) <= 0)
			return 0;
	for (int i = 0; i < TRIES; i++) {
		double took = time_best(calls, load, blocks, rounds);
		double wanted = took > 0 ? rounds * (double)wanted_ns / took : 0;
		if (!(wanted >= 1))
			return 0;
		rounds = wanted < ROUNDS_MOST ? (uint32_t)wanted : ROUNDS_MOST;
	}
	return calls->verify(load) ? rounds : 0;
}
