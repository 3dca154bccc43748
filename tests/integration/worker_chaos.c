/*
 * A client that goes on whatever happens to the service (`worker chaos`): it works and looks at its results until the first
 * error, connects anew, and so on. It fails by itself when a result is wrong, or when it is told of something that what
 * happens to a service cannot be. The first line of stdin says that nothing happens any more: then everything must work.
 */
#include "worker.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	WORDS = 4096,
	BYTES = WORDS * 4,
	LAUNCHES_MAX = 24,
	ROUNDS_MAX = 40,
	DEVICES_MAX = 8,
	CALM_ROUNDS = 3,
	REFUSED_MS = 20,
	REST_MS_MAX = 50
};

static const char portable[] = "SYCL_KERNEL void add(SYCL_GLOBAL(uint) data, uint n) { data[0] += n; }";
static const char ptx[] = ".version 7.8\n.target sm_60\n.address_size 64\n"
			  ".visible .entry add(.param .u64 data, .param .u32 n)\n{\n"
			  "\t.reg .u32 %r<4>; .reg .u64 %rd<4>;\n"
			  "\tld.param.u64 %rd1, [data]; ld.param.u32 %r1, [n]; cvta.to.global.u64 %rd1, %rd1;\n"
			  "\tld.global.u32 %r2, [%rd1]; add.u32 %r2, %r2, %r1; st.global.u32 [%rd1], %r2;\n\tret;\n}\n";

struct chaos {
	struct worker *worker;
	sycl_platform platform;
	sycl_queue queue;
	sycl_kernel kernel;
	sycl_buffer here, there;
	uint64_t sessions, rounds, errors;
};

/* What a killed engine, a lost device, an exceeded limit or an operator can lead to. */
static bool can_happen(sycl_result r)
{
	return r == SYCL_ERROR_CONNECTION_LOST || r == SYCL_ERROR_DEVICE_LOST || r == SYCL_ERROR_QUOTA ||
	       r == SYCL_ERROR_MEMORY_ALLOCATION || r == SYCL_ERROR_DEPENDENCY_FAILED;
}

/* Ends early when all is calm. */
static bool rest(uint32_t milliseconds)
{
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
	return poll(&in, 1, (int)milliseconds) > 0;
}

static bool is_calm(void)
{
	return rest(0);
}

static sycl_result choose_device(struct chaos *chaos, sycl_device *device_out, uint32_t *backend_out)
{
	sycl_device devices[DEVICES_MAX];
	uint32_t count = 0;
	sycl_result r = sycl_device_get_devices(chaos->platform, SYCL_DEVICE_TYPE_ALL, DEVICES_MAX, devices, &count);
	if (r)
		return r;
	worker_check(count > 0 && count <= DEVICES_MAX, "a number of devices that there are not");
	uint32_t chosen = worker_random(chaos->worker, count);
	r = sycl_device_get_info(devices[chosen], SYCL_DEVICE_INFO_BACKEND, sizeof(*backend_out), backend_out, NULL);
	for (uint32_t i = 0; i < count; i++)
		if (i != chosen || r)
			(void)sycl_device_release(devices[i]);
	*device_out = devices[chosen];
	return r;
}

static sycl_result take_kernel(struct chaos *chaos, uint32_t backend)
{
	if (backend != SYCL_BACKEND_KIND_CUDA)
		return sycl_kernel_from_source(chaos->queue, portable, "add", &chaos->kernel);
	sycl_kernel_bundle bundle = NULL;
	sycl_result r = sycl_kernel_bundle_from_source(chaos->queue, SYCL_SOURCE_PTX, ptx, NULL, &bundle);
	if (r == 0)
		r = sycl_kernel_create(bundle, "add", &chaos->kernel);
	if (bundle) /* else it would tell of itself instead of what failed */
		(void)sycl_kernel_bundle_release(bundle);
	return r;
}

static sycl_result begin(struct chaos *chaos)
{
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	sycl_device device = NULL;
	uint32_t backend = 0;
	options.properties = worker_random(chaos->worker, 2) ? SYCL_QUEUE_IN_ORDER : 0;
	sycl_result r = sycl_platform_open(chaos->worker->endpoint, &chaos->platform);
	if (r == 0)
		r = choose_device(chaos, &device, &backend);
	if (r == 0)
		r = sycl_queue_create(NULL, device, &options, &chaos->queue);
	(void)sycl_device_release(device);
	if (r == 0)
		r = take_kernel(chaos, backend);
	if (r == 0)
		r = sycl_buffer_create(chaos->platform, NULL, BYTES, SYCL_HOST_NONE, &chaos->here);
	if (r == 0)
		r = sycl_buffer_create(chaos->platform, NULL, BYTES, SYCL_HOST_NONE, &chaos->there);
	return r;
}

/* What is released after an error may tell of it again. */
static void end(struct chaos *chaos)
{
	if (chaos->here)
		(void)sycl_buffer_release(chaos->here);
	if (chaos->there)
		(void)sycl_buffer_release(chaos->there);
	if (chaos->kernel)
		(void)sycl_kernel_release(chaos->kernel);
	if (chaos->queue)
		(void)sycl_queue_release(chaos->queue);
	if (chaos->platform)
		(void)sycl_platform_release(chaos->platform);
	chaos->here = chaos->there = NULL;
	chaos->kernel = NULL;
	chaos->queue = NULL;
	chaos->platform = NULL;
}

static sycl_result launch(struct chaos *chaos, uint32_t n)
{
	sycl_handler handler = NULL;
	sycl_result r = sycl_handler_begin(chaos->queue, &handler);
	if (r)
		return r;
	worker_must(sycl_handler_set_accessor(handler, 0, chaos->here, SYCL_ACCESS_READ_WRITE), "accessor");
	worker_must(sycl_handler_set_value(handler, 1, sizeof(n), &n), "value");
	worker_must(sycl_handler_single_task(handler, chaos->kernel), "single_task");
	return sycl_handler_submit(handler, NULL);
}

/* All is `rest` but the first word. */
static sycl_result look(struct chaos *chaos, uint32_t first, uint32_t rest)
{
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	sycl_result r = sycl_host_accessor_create(chaos->there, SYCL_ACCESS_READ, &accessor);
	if (r)
		return r;
	worker_must(sycl_host_accessor_get_pointer(accessor, &pointer), "pointer");
	const uint32_t *words = pointer;
	bool right = words[0] == first;
	for (uint32_t i = 1; i < WORDS; i++)
		right &= words[i] == rest;
	if (!right)
		worker_say("wanted %u %u, found %u %u %u", first, rest, words[0], words[1], words[WORDS - 1]);
	worker_check(right, "the result is wrong");
	return sycl_host_accessor_release(accessor);
}

static sycl_result round_trip(struct chaos *chaos)
{
	uint32_t rest = worker_random(chaos->worker, 1u << 30), first = rest;
	uint32_t launches = 1 + worker_random(chaos->worker, LAUNCHES_MAX);
	sycl_result r = sycl_queue_fill(chaos->queue, chaos->here, 0, BYTES, &rest, sizeof(rest), NULL);
	for (uint32_t i = 0; i < launches && r == 0; i++) {
		uint32_t n = worker_random(chaos->worker, 1000);
		first += n;
		r = launch(chaos, n);
	}
	if (r == 0)
		r = sycl_queue_copy(chaos->queue, chaos->here, 0, chaos->there, 0, BYTES, NULL);
	return r ? r : look(chaos, first, rest);
}

static sycl_result session(struct chaos *chaos, uint32_t rounds)
{
	sycl_result r = begin(chaos);
	for (uint32_t i = 0; i < rounds && r == 0; i++) {
		r = round_trip(chaos);
		chaos->rounds += r == 0;
		/* Five that never rest would hold every processor for as long as this lasts, and all that runs beside them waits. */
		if (r == 0)
			(void)rest(worker_random(chaos->worker, REST_MS_MAX));
	}
	chaos->sessions++;
	if (r != 0) {
		chaos->errors++;
		if (!can_happen(r))
			worker_must(r, "an error that nothing here can lead to");
		/* Whoever is refused at once does not ask again at once. */
		(void)rest(REFUSED_MS);
	}
	return r;
}

int worker_chaos(struct worker *worker)
{
	struct chaos chaos = {.worker = worker};
	worker_say("ready");
	while (!is_calm()) {
		(void)session(&chaos, 1 + worker_random(worker, ROUNDS_MAX));
		end(&chaos);
	}
	worker_check(worker_next_line(), "its input ended");
	worker_must(session(&chaos, CALM_ROUNDS), "when all was calm");
	end(&chaos);
	worker_say("ok %llu sessions, %llu rounds, %llu errors", (unsigned long long)chaos.sessions,
		   (unsigned long long)chaos.rounds, (unsigned long long)chaos.errors);
	return 0;
}
