#include "library/blocking.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

TestSuite(blocking, .timeout = 120, .init = portable_begin, .fini = portable_end);

enum { FUNCTIONS_MAX = 512, LATE_S = 120 };

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	const char *now; /* NULL: none */
	uint64_t calls;
	bool stop;
	const char *called[FUNCTIONS_MAX];
	uint32_t count;
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool was_called(const char *function)
{
	for (uint32_t i = 0; i < watch.count; i++) {
		if (strcmp(watch.called[i], function) == 0)
			return true;
	}
	return false;
}

void call_begin(const char *function)
{
	(void)pthread_mutex_lock(&watch.lock);
	watch.now = function;
	watch.calls++;
	if (watch.count < FUNCTIONS_MAX && !was_called(function))
		watch.called[watch.count++] = function;
	(void)pthread_mutex_unlock(&watch.lock);
}

void call_end(void)
{
	(void)pthread_mutex_lock(&watch.lock);
	watch.now = NULL;
	(void)pthread_mutex_unlock(&watch.lock);
}

/* Ends the program when one call takes too long: only a failure takes that long. */
static void *watch_calls(void *unused)
{
	(void)pthread_mutex_lock(&watch.lock);
	uint64_t calls = 0;
	while (!watch.stop) {
		struct timespec until;
		(void)clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec += LATE_S;
		(void)pthread_cond_timedwait(&watch.changed, &watch.lock, &until);
		if (watch.now && watch.calls == calls && !watch.stop) {
			(void)fprintf(stderr, "%s waits behind the gate\n", watch.now);
			abort();
		}
		calls = watch.calls;
	}
	(void)pthread_mutex_unlock(&watch.lock);
	return unused;
}

static void close_gate(struct gated *gated)
{
	gated->platform = portable_open(1);
	gated->device = portable_device(gated->platform, 0);
	MUST(sycl_context_create(1, &gated->device, &gated->context));
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	options.properties = SYCL_QUEUE_ENABLE_PROFILING;
	MUST(sycl_queue_create(gated->context, gated->device, &options, &gated->queue));
	MUST(sycl_queue_create(gated->context, gated->device, NULL, &gated->other));
	gated->fill = portable_kernel(gated->queue, "fill_u32");
	gated->increment = portable_kernel(gated->queue, "increment_u32");
	gated->held = words_buffer(gated->platform, 0);
	gated->idle = words_buffer(gated->platform, 0);
	run_increment(gated->queue, gated->increment, gated->held, NULL);
	MUST(sycl_queue_wait(gated->queue));
	run_task(gated->queue, gate_task, &gated->gate, gated->held, SYCL_ACCESS_READ_WRITE, NULL,
		 NULL);
	gate_await(&gated->gate, 1);
	portable_engine_hold(true);
	run_increment(gated->queue, gated->increment, gated->held, &gated->event);
	run_increment(gated->other, gated->increment, gated->idle, NULL);
}

static void open_gate(struct gated *gated)
{
	portable_engine_hold(false);
	gate_open(&gated->gate);
	MUST(sycl_queue_wait(gated->queue));
	MUST(sycl_queue_wait(gated->other));
	MUST(sycl_event_release(gated->event));
	MUST(sycl_buffer_release(gated->held));
	MUST(sycl_buffer_release(gated->idle));
	MUST(sycl_kernel_release(gated->fill));
	MUST(sycl_kernel_release(gated->increment));
	MUST(sycl_queue_release(gated->queue));
	MUST(sycl_queue_release(gated->other));
	MUST(sycl_context_release(gated->context));
	MUST(sycl_device_release(gated->device));
	MUST(sycl_platform_release(gated->platform));
}

#ifdef SYMBOL_MAP
/* Calls that may wait for devices. They are called with nothing to wait for, with a time-out of 0,
 * or not at all. */
static const char *const waits[] = {
	"sycl_buffer_export",        "sycl_buffer_export_for",    "sycl_event_wait",
	"sycl_event_wait_and_throw", "sycl_host_accessor_create", "sycl_host_accessor_wait",
	"sycl_host_image_create",    "sycl_queue_wait",           "sycl_queue_wait_and_throw",
	"sycl_stream_read",          "sycl_queue_get_native", /* of CUDA */
};

/* Checks that every function of the library is in one of the two lists. */
static void check_all_are_there(void)
{
	FILE *file = fopen(SYMBOL_MAP, "re");
	cr_assert(ne(ptr, file, NULL));
	char line[256], name[128];
	uint32_t found = 0;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, " sycl_%100[a-z0-9_];", name + 5) != 1)
			continue;
		memcpy(name, "sycl_", 5);
		bool known = was_called(name);
		for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++)
			known = known || strcmp(waits[i], name) == 0;
		cr_expect(known, "%s: call it in client_blocking_*.c, or list it as one that waits",
			  name);
		found++;
	}
	(void)fclose(file);
	cr_assert(gt(u32, found, 100));
}
#else
/* The list of symbols is not available here. */
static void check_all_are_there(void)
{
}
#endif

Test(blocking, D18_B16_only_those_wait_that_say_so)
{
	struct gated gated = {.gate = GATE_INIT};
	pthread_t watcher;
	(void)pthread_cond_init(&watch.changed, NULL);
	close_gate(&gated);
	cr_assert(eq(int, pthread_create(&watcher, NULL, watch_calls, NULL), 0));
	call_platforms(&gated);
	call_kernels(&gated);
	call_natives(&gated);
	call_queues(&gated);
	call_handlers(&gated);
	call_copies(&gated);
	call_buffers(&gated);
	call_usm(&gated);
	call_images(&gated);
	call_shares(&gated);
	call_graphs(&gated);
	call_events(&gated);
	(void)pthread_mutex_lock(&watch.lock);
	watch.stop = true;
	(void)pthread_cond_signal(&watch.changed);
	(void)pthread_mutex_unlock(&watch.lock);
	(void)pthread_join(watcher, NULL);
	/* The gate has been closed all the time. */
	REFUSED(sycl_event_wait_for(gated.event, 0), SYCL_ERROR_TIMEOUT);
	open_gate(&gated);
	check_all_are_there();
}
