/*
 * A client that continues whatever happens to the service (`worker chaos`). It works and checks its
 * results until the first error, connects anew, and so on. It fails if a result is wrong, or if it
 * gets an error that the disturbances cannot cause. After each session it prints what it did. The
 * first line of stdin reports the end of the disturbances: then it ends its session. The second
 * line reports that all others have done so: then everything must work, until another line ends
 * that. The same follows once more, with more memory than there is.
 */
#include "processes/programs/chaos.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	WORDS = 4096,
	BYTES = WORDS * 4,
	LAUNCHES_MAX = 24,
	ROUNDS_MAX = 40,
	DEVICES_MAX = 8,
	SOURCE_BYTES = 1024,
	CALM_ROUNDS = 3,
	CALM_TRIES = 2000,
	FULL_ROUNDS = 20,
	KINDS = 7, /* number of kinds of rounds; after the last one all rounds use pieces */
	PIECES_KIND = KINDS - 1,
	REFUSED_MS = 20,
	REST_MS_MAX = 80,
	WEIGHT_MAX = 1000
};

static const char portable[] =
	"SYCL_KERNEL void add(SYCL_GLOBAL(uint) data, uint n) { data[0] += n; }\n";
static const char ptx[] =
	".version 7.8\n.target sm_60\n.address_size 64\n"
	".visible .entry add(.param .u64 data, .param .u32 n)\n{\n"
	"\t.reg .u32 %r<4>; .reg .u64 %rd<4>;\n"
	"\tld.param.u64 %rd1, [data]; ld.param.u32 %r1, [n]; cvta.to.global.u64 %rd1, %rd1;\n"
	"\tld.global.u32 %r2, [%rd1]; add.u32 %r2, %r2, %r1; st.global.u32 [%rd1], %r2;\n\tret;\n}\n";

/* The errors that a killed engine, a lost device, an exceeded limit or an operator can cause. */
static bool can_happen(sycl_result r)
{
	return r == SYCL_ERROR_CONNECTION_LOST || r == SYCL_ERROR_DEVICE_LOST ||
	       r == SYCL_ERROR_QUOTA || r == SYCL_ERROR_MEMORY_ALLOCATION ||
	       r == SYCL_ERROR_DEPENDENCY_FAILED;
}

/* Ends early when the disturbances have ended. */
static bool rest(uint32_t milliseconds)
{
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
	return poll(&in, 1, (int)milliseconds) > 0;
}

static bool is_calm(void)
{
	return rest(0);
}

/* A session of any class and weight. A better one than the service allows is not refused. */
static sycl_result connect(struct chaos *chaos)
{
	struct sycl_open_options options = SYCL_OPEN_OPTIONS_INIT;
	options.session_class = worker_random(chaos->worker, SYCL_SESSION_CLASS_BEST_EFFORT + 1);
	options.weight = worker_random(chaos->worker, WEIGHT_MAX + 1);
	return sycl_platform_open_with(chaos->worker->endpoint, &options, &chaos->platform);
}

static sycl_result choose_device(struct chaos *chaos, uint32_t *backend_out)
{
	sycl_device devices[DEVICES_MAX];
	uint32_t count = 0, backends[DEVICES_MAX];
	sycl_result r = sycl_device_get_devices(chaos->platform, SYCL_DEVICE_TYPE_ALL, DEVICES_MAX,
						devices, &count);
	if (r)
		return r;
	worker_check(count > 0 && count <= DEVICES_MAX, "a number of devices that there are not");
	uint32_t chosen = worker_random(chaos->worker, count), tried = 0;
	for (uint32_t i = 0; i < count && r == 0; i++)
		r = sycl_device_get_info(devices[i], SYCL_DEVICE_INFO_BACKEND, sizeof(*backends),
					 &backends[i], NULL);
	for (; r == 0 && chaos->wants_gpu && backends[chosen] != SYCL_BACKEND_KIND_CUDA;
	     chosen = (chosen + 1) % count)
		worker_check(tried++ < count, "no GPU among the devices");
	for (uint32_t i = 0; i < count; i++)
		if (i != chosen || r)
			(void)sycl_device_release(devices[i]);
	if (r)
		return r;
	chaos->device = devices[chosen];
	*backend_out = backends[chosen];
	return 0;
}

/* Sometimes it is a source that no cache has, but not for OpenCL. A real compiler with this low
 * priority may take a minute for it on a busy machine. */
static void write_source(struct chaos *chaos, uint32_t backend, char text[SOURCE_BYTES])
{
	bool is_cuda = backend == SYCL_BACKEND_KIND_CUDA;
	uint32_t number = !is_cuda || worker_random(chaos->worker, 4)
				  ? 0
				  : worker_random(chaos->worker, 1u << 30);
	(void)snprintf(text, SOURCE_BYTES, "%s// %u %u\n", is_cuda ? ptx : portable, number,
		       number ? (unsigned)getpid() : 0);
}

static sycl_result take_kernel(struct chaos *chaos, uint32_t backend)
{
	char source[SOURCE_BYTES];
	write_source(chaos, backend, source);
	if (backend != SYCL_BACKEND_KIND_CUDA)
		return sycl_kernel_from_source(chaos->queue, source, "add", &chaos->kernel);
	sycl_kernel_bundle bundle = NULL;
	sycl_result r = sycl_kernel_bundle_from_source(chaos->queue, SYCL_SOURCE_PTX, source, NULL,
						       &bundle);
	if (r == 0)
		r = sycl_kernel_create(bundle, "add", &chaos->kernel);
	if (bundle) /* otherwise its own error would replace the failure */
		(void)sycl_kernel_bundle_release(bundle);
	return r;
}

static sycl_result begin_connection(struct chaos *chaos, uint32_t pieces)
{
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	uint32_t backend = 0;
	options.properties = worker_random(chaos->worker, 2) ? SYCL_QUEUE_IN_ORDER : 0;
	sycl_result r = connect(chaos);
	if (r == 0)
		r = choose_device(chaos, &backend);
	if (r == 0)
		r = sycl_queue_create(NULL, chaos->device, &options, &chaos->queue);
	if (r == 0)
		r = sycl_queue_get_context(chaos->queue, &chaos->context);
	if (r == 0)
		r = take_kernel(chaos, backend);
	if (r == 0)
		r = sycl_buffer_create(chaos->platform, NULL, BYTES, SYCL_HOST_NONE, &chaos->here);
	if (r == 0)
		r = sycl_buffer_create(chaos->platform, NULL, BYTES, SYCL_HOST_NONE, &chaos->there);
	return r ? r : chaos_pieces_begin(chaos, pieces);
}

/* A release after an error may report it again. */
static void end_connection(struct chaos *chaos)
{
	chaos_graph_end(chaos);
	chaos_native_end(chaos);
	chaos_pieces_end(chaos);
	if (chaos->here)
		(void)sycl_buffer_release(chaos->here);
	if (chaos->there)
		(void)sycl_buffer_release(chaos->there);
	if (chaos->kernel)
		(void)sycl_kernel_release(chaos->kernel);
	if (chaos->context)
		(void)sycl_context_release(chaos->context);
	if (chaos->queue)
		(void)sycl_queue_release(chaos->queue);
	if (chaos->device)
		(void)sycl_device_release(chaos->device);
	if (chaos->platform)
		(void)sycl_platform_release(chaos->platform);
	chaos->here = chaos->there = NULL;
	chaos->kernel = NULL;
	chaos->context = NULL;
	chaos->queue = NULL;
	chaos->device = NULL;
	chaos->platform = NULL;
}

sycl_result chaos_add(struct chaos *chaos, sycl_buffer buffer, uint32_t n,
		      sycl_handler *handler_out)
{
	sycl_result r = sycl_handler_begin(chaos->queue, handler_out);
	if (r)
		return r;
	worker_must(sycl_handler_set_accessor(*handler_out, 0, buffer, SYCL_ACCESS_READ_WRITE),
		    "accessor");
	worker_must(sycl_handler_set_value(*handler_out, 1, sizeof(n), &n), "value");
	worker_must(sycl_handler_single_task(*handler_out, chaos->kernel), "single_task");
	return 0;
}

static sycl_result launch_one(struct chaos *chaos, uint32_t n)
{
	sycl_handler handler = NULL;
	sycl_result r = chaos_add(chaos, chaos->here, n, &handler);
	return r ? r : sycl_handler_submit(handler, NULL);
}

void chaos_compare(const uint32_t *words, uint64_t bytes, struct chaos_contents contents,
		   const char *whose)
{
	uint64_t count = bytes / sizeof(*words);
	bool right = words[0] == contents.first;
	for (uint64_t i = 1; i < count; i++)
		right &= words[i] == contents.rest;
	if (!right)
		worker_say("%s: wanted %u %u, found %u %u %u", whose, contents.first, contents.rest,
			   words[0], words[1], words[count - 1]);
	worker_check(right, "the result is wrong");
}

sycl_result chaos_look(sycl_buffer buffer, uint64_t bytes, struct chaos_contents contents)
{
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	sycl_result r = sycl_host_accessor_create(buffer, SYCL_ACCESS_READ, &accessor);
	if (r)
		return r;
	worker_must(sycl_host_accessor_get_pointer(accessor, &pointer), "pointer");
	chaos_compare(pointer, bytes, contents, "a buffer's");
	return sycl_host_accessor_release(accessor);
}

static sycl_result chaos_program_round_trip(struct chaos *chaos)
{
	uint32_t rest = worker_random(chaos->worker, 1u << 30), first = rest;
	uint32_t launches = 1 + worker_random(chaos->worker, LAUNCHES_MAX);
	sycl_result r =
		sycl_queue_fill(chaos->queue, chaos->here, 0, BYTES, &rest, sizeof(rest), NULL);
	for (uint32_t i = 0; i < launches && r == 0; i++) {
		uint32_t n = worker_random(chaos->worker, 1000);
		first += n;
		r = launch_one(chaos, n);
	}
	if (r == 0)
		r = sycl_queue_copy(chaos->queue, chaos->here, 0, chaos->there, 0, BYTES, NULL);
	return r ? r : chaos_look(chaos->there, BYTES, (struct chaos_contents){first, rest});
}

static sycl_result round_of(struct chaos *chaos, uint32_t kind)
{
	switch (kind) {
	case 0:
		return chaos_graph_round(chaos);
	case 1:
		return chaos_usm_round(chaos);
	case 2:
		return chaos_native_round(chaos);
	case 3:
		return chaos_program_round_trip(chaos);
	default:
		return chaos_pieces_round(chaos);
	}
}

static void say_what_was_done(struct chaos *chaos)
{
	const struct chaos_did *did = &chaos->did;
	worker_say(
		"did %llu rounds %llu graphs %llu launches %llu updates %llu pieces %llu usm %llu native",
		(unsigned long long)did->rounds, (unsigned long long)did->graphs,
		(unsigned long long)did->launches, (unsigned long long)did->updates,
		(unsigned long long)did->pieces, (unsigned long long)did->usm,
		(unsigned long long)did->native);
	chaos->did = (struct chaos_did){.rounds = 0};
}

static void session(struct chaos *chaos)
{
	uint32_t pieces = 1 + worker_random(chaos->worker, CHAOS_PIECES_MAX);
	uint32_t rounds = 1 + worker_random(chaos->worker, ROUNDS_MAX);
	sycl_result r = begin_connection(chaos, pieces);
	for (uint32_t i = 0; i < rounds && r == 0; i++) {
		r = round_of(chaos, worker_random(chaos->worker, KINDS));
		chaos->did.rounds += r == 0;
		/* Five clients that never pause would use every processor all the time, and
		 * everything beside them would wait. */
		if (r == 0)
			(void)rest(worker_random(chaos->worker, REST_MS_MAX));
	}
	chaos->sessions++;
	if (r == 0)
		return;
	chaos->errors++;
	if (!can_happen(r))
		worker_must(r, "an error that nothing here can lead to");
	/* A client that is refused at once waits before it connects again. */
	(void)rest(REFUSED_MS);
}

/* Everything works now. But a device that could not be opened for lack of memory is tried again
 * some seconds later. Until then it reports the reason. */
static void begin_in_calm(struct chaos *chaos, uint32_t pieces)
{
	sycl_result r = begin_connection(chaos, pieces);
	for (int i = 0; r == SYCL_ERROR_MEMORY_ALLOCATION && i < CALM_TRIES; i++) {
		end_connection(chaos);
		(void)poll(NULL, 0, REFUSED_MS);
		r = begin_connection(chaos, pieces);
	}
	worker_must(r, "when all was calm, to connect");
}

static void round_in_calm(struct chaos *chaos, uint32_t kind)
{
	worker_must(round_of(chaos, kind), "when all was calm");
	chaos->did.rounds++;
}

/* Rounds of every kind. They use so little memory that all clients have room beside each other. */
static void work_in_calm(struct chaos *chaos)
{
	begin_in_calm(chaos, CHAOS_PIECES_WHEN_CALM);
	for (uint32_t i = 0; i < CALM_ROUNDS; i++)
		for (uint32_t kind = 0; kind < KINDS; kind++)
			round_in_calm(chaos, kind);
}

/* Rounds with more memory than a device has room for. */
static void work_in_full(struct chaos *chaos)
{
	chaos->wants_gpu = true;
	begin_in_calm(chaos, CHAOS_PIECES_MAX);
	for (uint32_t i = 0; i < FULL_ROUNDS; i++)
		round_in_calm(chaos, PIECES_KIND);
}

static void work_on_request(struct chaos *chaos, void work(struct chaos *chaos))
{
	worker_check(worker_next_line(), "its input ended");
	work(chaos);
	worker_say("worked");
	worker_check(worker_next_line(), "its input ended");
	end_connection(chaos);
	say_what_was_done(chaos);
	worker_say("quiet");
}

int worker_chaos(struct worker *worker)
{
	struct chaos chaos = {.worker = worker};
	worker_say("ready");
	while (!is_calm()) {
		session(&chaos);
		end_connection(&chaos);
		say_what_was_done(&chaos);
	}
	worker_check(worker_next_line(), "its input ended");
	worker_say("quiet");
	work_on_request(&chaos, work_in_calm);
	work_on_request(&chaos, work_in_full);
	worker_say("ok %llu sessions, %llu errors", (unsigned long long)chaos.sessions,
		   (unsigned long long)chaos.errors);
	return 0;
}
