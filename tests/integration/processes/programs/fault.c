/*
 * A client on a CUDA device whose kernels fail on order (`worker fault`). Each line of stdin is an
 * order:
 *
 *   device N         use the N-th CUDA device, from 0; must be the first order
 *   run NAME Q N     submit N launches of it to queue Q
 *   wait Q           wait for queue Q
 *   work N           N checked launches
 *   take N           allocate N MiB of the device's memory, and free them
 *   reload           build another source for the kernels that are not used yet
 *   waiters          begin to wait in every possible way, each in its own thread
 *   waited           end of those waits: a line for each, then "ok"
 *   flood            submit and wait until something fails
 *
 * and is answered with "ok", or with "native NUMBER result CODE NAME SENTENCE" of the failure.
 */
#include "processes/programs/worker.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUEUES = 8, KERNELS = 16, WAITERS = 6, WORDS = 64, NAME_BYTES = 32, ANSWER_BYTES = 800 };

#define ENTRY(name, body)                                                                          \
	".visible .entry " name "(.param .u64 data, .param .u32 n)\n{\n"                           \
	"\t.reg .u32 %r<4>; .reg .u64 %rd<4>;\n"                                                   \
	"\tld.param.u64 %rd1, [data]; ld.param.u32 %r1, [n];\n"                                    \
	"\tcvta.to.global.u64 %rd1, %rd1;\n" body "\tret;\n}\n"

/* clang-format off */
static const char source[] =
	".version 7.8\n.target sm_60\n.address_size 64\n"
	".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);\n"
	ENTRY("works", "\tld.global.u32 %r2, [%rd1]; add.u32 %r2, %r2, %r1; st.global.u32 [%rd1], %r2;\n")
	ENTRY("held", "\tld.global.u32 %r2, [%rd1]; st.global.u32 [%rd1], %r2;\n")
	ENTRY("illegal", "\tmov.u64 %rd2, 16; st.global.u32 [%rd2], %r1;\n")
	ENTRY("misaligned", "\tst.global.u64 [%rd1+1], %rd1;\n")
	ENTRY("traps", "\ttrap;\n")
	ENTRY("asserts", "\t{ .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;\n"
	      "\tst.param.b64 [a], %rd1; st.param.b64 [b], %rd1; st.param.b32 [c], %r1; st.param.b64 [d], %rd1;\n"
	      "\tst.param.b64 [e], %rd1; call.uni __assertfail, (a, b, c, d, e); }\n");
/* clang-format on */

struct waiter {
	const char *kind;
	sycl_result (*wait)(void);
	pthread_t thread;
	char answer[ANSWER_BYTES];
};

static struct {
	sycl_platform platform;
	sycl_device device;
	sycl_queue queues[QUEUES];
	sycl_buffer buffers[QUEUES]; /* one for each queue: groups of two queues need not wait for
					each other */
	sycl_event event;            /* of the last group */
	sycl_kernel_bundle
		bundle;      /* of all kernels: a device loads it once, and before anything runs */
	unsigned generation; /* a program that the device has loaded already is not loaded again */
	uint32_t expected;   /* the count that "work" has reached */
	unsigned kernel_count;
	struct {
		char name[NAME_BYTES];
		sycl_kernel kernel;
	} kernels[KERNELS];
} me;

static int32_t fault_program_is_cuda(sycl_device device, void *unused)
{
	uint32_t backend = 0;
	(void)unused;
	worker_must(sycl_device_get_info(device, SYCL_DEVICE_INFO_BACKEND, sizeof(backend),
					 &backend, NULL),
		    "backend");
	return backend == SYCL_BACKEND_KIND_CUDA ? 1 : -1;
}

static void describe(sycl_result result, char answer[ANSWER_BYTES])
{
	struct sycl_error_detail detail = SYCL_ERROR_DETAIL_INIT;
	if (result == 0) {
		(void)snprintf(answer, ANSWER_BYTES, "ok");
		return;
	}
	worker_must(sycl_get_last_error(&detail), "sycl_get_last_error");
	(void)snprintf(answer, ANSWER_BYTES, "native %d result %d %s %.600s", detail.native_code,
		       (int)result, sycl_result_name(result), sycl_get_last_error_text());
}

static void answer_result(sycl_result result)
{
	char text[ANSWER_BYTES];
	describe(result, text);
	worker_say("%s", text);
}

static sycl_result queue_at(unsigned index)
{
	static uint32_t zero[WORDS];
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	options.properties = SYCL_QUEUE_IN_ORDER;
	worker_check(index < QUEUES, "there are not so many queues");
	if (me.queues[index])
		return 0;
	sycl_result r = sycl_buffer_create(me.platform, zero, sizeof(zero), SYCL_HOST_CONST,
					   &me.buffers[index]);
	return r ? r : sycl_queue_create(NULL, me.device, &options, &me.queues[index]);
}

static sycl_result build_other_bundle(sycl_kernel_bundle *bundle_out)
{
	char text[sizeof(source) + 64];
	(void)snprintf(text, sizeof(text), "%s.visible .entry other_%u()\n{\n\tret;\n}\n", source,
		       me.generation);
	return sycl_kernel_bundle_from_source(me.queues[0], SYCL_SOURCE_PTX, text, NULL,
					      bundle_out);
}

static sycl_result take_kernel(const char *name, sycl_kernel *kernel_out)
{
	sycl_result r = queue_at(0);
	if (r == 0 && !me.bundle)
		r = build_other_bundle(&me.bundle);
	return r ? r : sycl_kernel_create(me.bundle, name, kernel_out);
}

static sycl_result find_kernel(const char *name, sycl_kernel *kernel_out)
{
	for (unsigned i = 0; i < me.kernel_count; i++) {
		*kernel_out = me.kernels[i].kernel;
		if (strcmp(me.kernels[i].name, name) == 0)
			return 0;
	}
	sycl_result r = take_kernel(name, kernel_out);
	if (r)
		return r;
	worker_check(me.kernel_count < KERNELS, "so many kernels");
	(void)snprintf(me.kernels[me.kernel_count].name, NAME_BYTES, "%s", name);
	me.kernels[me.kernel_count++].kernel = *kernel_out;
	return 0;
}

static sycl_result take_memory(uint64_t mebibytes)
{
	void *address = NULL;
	sycl_result r = queue_at(0);
	if (r == 0)
		r = sycl_malloc_device(me.queues[0], mebibytes << 20, 0, &address);
	return r ? r : sycl_free(me.queues[0], address);
}

/* Kernels that are used from now on belong to another bundle, which no session has loaded. */
static sycl_result reload(void)
{
	sycl_kernel_bundle old = me.bundle;
	me.bundle = NULL;
	me.generation++;
	return old ? sycl_kernel_bundle_release(old) : 0;
}

static sycl_result launch_on_queue(sycl_kernel kernel, unsigned queue, uint32_t n)
{
	sycl_handler h;
	sycl_result r = sycl_handler_begin(me.queues[queue], &h);
	if (r)
		return r;
	worker_must(sycl_handler_set_accessor(h, 0, me.buffers[queue], SYCL_ACCESS_READ_WRITE),
		    "accessor");
	worker_must(sycl_handler_set_value(h, 1, sizeof(n), &n), "value");
	worker_must(sycl_handler_single_task(h, kernel), "single_task");
	sycl_event event = NULL;
	r = sycl_handler_submit(h, &event);
	if (r == 0) {
		if (me.event)
			worker_must(sycl_event_release(me.event), "sycl_event_release");
		me.event = event;
	}
	return r;
}

static sycl_result do_run(const char *words)
{
	char name[NAME_BYTES];
	unsigned queue, count;
	sycl_kernel kernel = NULL;
	worker_check(sscanf(words, "%31s %u %u", name, &queue, &count) == 3,
		     "run NAME QUEUE COUNT");
	sycl_result r = queue_at(queue);
	if (r == 0)
		r = find_kernel(name, &kernel);
	for (unsigned i = 0; i < count && r == 0; i++)
		r = launch_on_queue(kernel, queue, 1);
	return r;
}

static sycl_result do_work(unsigned count)
{
	sycl_kernel kernel = NULL;
	sycl_host_accessor accessor = NULL;
	void *bytes = NULL;
	sycl_result r = queue_at(0);
	if (r == 0)
		r = find_kernel("works", &kernel);
	for (unsigned i = 0; i < count && r == 0; i++) {
		r = launch_on_queue(kernel, 0, 3);
		if (r == 0)
			r = sycl_event_wait(me.event);
		me.expected += 3;
	}
	if (r == 0)
		r = sycl_host_accessor_create(me.buffers[0], SYCL_ACCESS_READ, &accessor);
	if (r)
		return r;
	worker_must(sycl_host_accessor_get_pointer(accessor, &bytes), "pointer");
	worker_check(*(const uint32_t *)bytes == me.expected, "the result is wrong");
	worker_must(sycl_host_accessor_release(accessor), "sycl_host_accessor_release");
	return 0;
}

static sycl_result fault_program_wait_event(void)
{
	return sycl_event_wait(me.event);
}

static sycl_result wait_event_long(void)
{
	return sycl_event_wait_for(me.event, 3600000000000ull);
}

static sycl_result wait_queue(void)
{
	return sycl_queue_wait(me.queues[0]);
}

static sycl_result wait_host(void)
{
	sycl_host_accessor accessor;
	return sycl_host_accessor_create(me.buffers[0], SYCL_ACCESS_READ, &accessor);
}

static sycl_result wait_all(void)
{
	const sycl_event events[] = {me.event, me.event};
	return sycl_event_wait_all(2, events, SYCL_FOREVER_NS);
}

/* The program that is built now is loaded when nothing runs. */
static sycl_result wait_build(void)
{
	sycl_kernel_bundle bundle = NULL;
	sycl_kernel kernel = NULL;
	me.generation++;
	sycl_result r = build_other_bundle(&bundle);
	if (r == 0)
		r = sycl_kernel_create(bundle, "works", &kernel);
	return r ? r : sycl_queue_wait(me.queues[0]);
}

static struct waiter waiters[WAITERS] = {
	{.kind = "event", .wait = fault_program_wait_event},
	{.kind = "event_for", .wait = wait_event_long},
	{.kind = "queue", .wait = wait_queue},
	{.kind = "host_accessor", .wait = wait_host},
	{.kind = "events", .wait = wait_all},
	{.kind = "build", .wait = wait_build},
};

static void *wait_thread(void *context)
{
	struct waiter *waiter = context;
	describe(waiter->wait(), waiter->answer);
	return NULL;
}

static sycl_result begin_waiters(void)
{
	for (int i = 0; i < WAITERS; i++)
		worker_check(pthread_create(&waiters[i].thread, NULL, wait_thread, &waiters[i]) ==
				     0,
			     "no thread");
	return 0;
}

static sycl_result end_waiters(void)
{
	for (int i = 0; i < WAITERS; i++) {
		worker_check(pthread_join(waiters[i].thread, NULL) == 0, "no join");
		worker_say("waiter %s %s", waiters[i].kind, waiters[i].answer);
	}
	return 0;
}

static sycl_result flood(void)
{
	sycl_kernel kernel = NULL;
	sycl_result r = queue_at(0);
	if (r == 0)
		r = find_kernel("works", &kernel);
	worker_say("flooding");
	for (uint64_t i = 0; r == 0; i++) {
		r = launch_on_queue(kernel, 0, 1);
		if (r == 0 && i % 16 == 15)
			r = sycl_queue_wait(me.queues[0]);
	}
	return r;
}

/* Selects the device at which `user_data`, a number, has been counted down to 0. */
static int32_t is_cuda_number(sycl_device device, void *user_data)
{
	unsigned *left = user_data;
	if (fault_program_is_cuda(device, NULL) < 0)
		return -1;
	return (*left)-- == 0 ? 1 : -1;
}

static sycl_result select_device(unsigned number)
{
	sycl_device chosen = NULL;
	sycl_result r = sycl_device_select(me.platform, is_cuda_number, &number, &chosen);
	if (r)
		return r;
	worker_must(sycl_device_release(me.device), "sycl_device_release");
	me.device = chosen;
	return 0;
}

static sycl_result obey(const char *line)
{
	char word[NAME_BYTES] = "", name[NAME_BYTES] = "";
	(void)sscanf(line, "%31s %31s", word, name);
	if (strcmp(word, "run") == 0)
		return do_run(line + strlen("run"));
	if (strcmp(word, "wait") == 0)
		return sycl_queue_wait(me.queues[strtoul(name, NULL, 10) % QUEUES]);
	if (strcmp(word, "work") == 0)
		return do_work((unsigned)strtoul(name, NULL, 10));
	if (strcmp(word, "device") == 0)
		return select_device((unsigned)strtoul(name, NULL, 10));
	if (strcmp(word, "take") == 0)
		return take_memory(strtoul(name, NULL, 10));
	if (strcmp(word, "reload") == 0)
		return reload();
	if (strcmp(word, "waiters") == 0)
		return begin_waiters();
	if (strcmp(word, "waited") == 0)
		return end_waiters();
	worker_check(strcmp(word, "flood") == 0, "not an order");
	return flood();
}

/* Prints "ready SESSION", or the failure; then it executes orders. */
int worker_fault(struct worker *worker)
{
	char line[256];
	uint64_t session = 0;
	sycl_result r = sycl_platform_open(worker->endpoint, &me.platform);
	if (r == 0)
		r = sycl_platform_get_info(me.platform, SYCL_PLATFORM_INFO_SESSION, sizeof(session),
					   &session, NULL);
	if (r == 0)
		r = sycl_device_select(me.platform, fault_program_is_cuda, NULL, &me.device);
	if (r == 0)
		worker_say("ready %llu", (unsigned long long)session);
	else
		answer_result(r);
	while (fgets(line, sizeof(line), stdin))
		answer_result(obey(line));
	worker_say("ok");
	return 0;
}
