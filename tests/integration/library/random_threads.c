#include "library/random_threads_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	DEVICES_MAX = 16,
	LAST_STEPS = 8 /* this many steps of a round stay free: one turn may take several */
};

struct threads_world threads_world;

void threads_fail(const char *file, int line, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	(void)fprintf(stderr, "%s:%d: ", file, line);
	(void)vfprintf(stderr, format, arguments);
	(void)fputc('\n', stderr);
	va_end(arguments);
	abort();
}

void threads_need(sycl_result result, const char *what, const char *file, int line)
{
	if (result)
		threads_fail(file, line, "%s: %s: %s", what, sycl_result_name(result),
			     sycl_get_last_error_text());
}

uint32_t threads_next(struct worker *worker, uint32_t below)
{
	worker->random = worker->random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((worker->random >> 33) % below);
}

const struct place *threads_place(struct worker *worker)
{
	const uint32_t which = threads_next(worker, SHARED_QUEUES + 1);
	return which < SHARED_QUEUES ? &threads_world.places[which] : &worker->own;
}

uint32_t threads_step(struct worker *worker)
{
	const uint32_t name = history_next(&threads_world.history, worker->number);
	history_at(&threads_world.history, name)->follows = worker->follows;
	worker->follows = 0;
	return name;
}

void threads_check_event(struct worker *worker, sycl_event event, bool fails)
{
	sycl_result result = sycl_event_wait(event);
	CHECK((result != 0) == fails, "thread %u: a group %s: %s", worker->number,
	      fails ? "should have failed" : "failed", sycl_result_name(result));
	worker->checks++;
}

/* Returns the note with a reference for the caller, or an empty note. */
static struct note read_note(struct worker *worker)
{
	(void)pthread_mutex_lock(&threads_world.lock);
	struct note note = threads_world.notes[threads_next(worker, NOTES)];
	if (note.event)
		NEED(sycl_event_retain(note.event));
	(void)pthread_mutex_unlock(&threads_world.lock);
	return note;
}

/* The note takes over the event's reference. */
static void write_note(struct worker *worker, struct note note)
{
	(void)pthread_mutex_lock(&threads_world.lock);
	struct note *at = &threads_world.notes[threads_next(worker, NOTES)], old = *at;
	*at = note;
	(void)pthread_mutex_unlock(&threads_world.lock);
	if (old.event)
		NEED(sycl_event_release(old.event));
}

struct threads_group threads_begin(struct worker *worker, bool lives)
{
	struct threads_group group = {.place = threads_place(worker)};
	NEED(sycl_handler_begin(group.place->queue, &group.handler));
	if (threads_next(worker, 5))
		return group;
	struct note note = read_note(worker);
	if (!note.event)
		return group;
	/* The name is enough: it shows that the other thread's submission had returned. */
	if (note.name && (note.name - 1) / HISTORY_STEPS != worker->number)
		worker->follows = note.name;
	if (threads_next(worker, 2) && !(lives && note.fails)) {
		NEED(sycl_handler_depends_on(group.handler, note.event));
		group.fails = note.fails;
	}
	if (threads_next(worker, 4) == 0 && !worker->holds)
		threads_check_event(worker, note.event, note.fails);
	NEED(sycl_event_release(note.event));
	return group;
}

void threads_submit(struct worker *worker, struct threads_group *group, uint32_t name)
{
	sycl_event event = NULL;
	worker->groups++;
	worker->failures += group->fails;
	const uint32_t dice = worker->holds + threads_next(worker, 8);
	NEED(sycl_handler_submit(group->handler, dice < 3 ? &event : NULL));
	if (dice == 0)
		threads_check_event(worker, event, group->fails);
	if (dice == 0)
		NEED(sycl_event_release(event));
	else if (event)
		write_note(worker,
			   (struct note){.event = event, .name = name, .fails = group->fails});
}

/* Makes a queue beside another one, of any kind, with the kernels of that one. */
static struct place place_beside(const struct place *other, uint32_t properties)
{
	struct place place = *other;
	sycl_device device = NULL;
	sycl_context context = NULL;
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	options.properties = properties;
	NEED(sycl_queue_get_device(other->queue, &device));
	NEED(sycl_queue_get_context(other->queue, &context));
	NEED(sycl_queue_create(context, device, &options, &place.queue));
	NEED(sycl_context_release(context));
	NEED(sycl_device_release(device));
	return place;
}

static void replace_own(struct worker *worker)
{
	if (worker->own.queue)
		NEED(sycl_queue_release(worker->own.queue));
	worker->own = place_beside(&threads_world.places[threads_next(worker, SHARED_QUEUES)],
				   threads_next(worker, 2) ? SYCL_QUEUE_IN_ORDER : 0);
}

/* Some of the groups that it waits for have failed. The first thread that waits gets the error. */
static void wait_for_queue(struct worker *worker)
{
	sycl_result result = sycl_queue_wait(threads_place(worker)->queue);
	CHECK(result == 0 || result == SYCL_ERROR_DEPENDENCY_FAILED || result == SYCL_ERROR_RUNTIME,
	      "thread %u: %s", worker->number, sycl_result_name(result));
}

static void barrier(struct worker *worker)
{
	sycl_event event = NULL;
	NEED(sycl_queue_barrier(threads_place(worker)->queue, &event));
	worker->groups++;
	if (threads_next(worker, 4) == 0)
		threads_check_event(worker, event, false);
	write_note(worker, (struct note){.event = event});
}

static void run_random_step(struct worker *worker)
{
	const uint32_t dice = threads_next(worker, 100);
	if (dice < 50)
		threads_do_log(worker);
	else if (dice < 86)
		threads_do_stripe(worker);
	else if (dice < 95)
		threads_do_baton(worker);
	else if (dice < 97)
		barrier(worker);
	else if (dice < 98)
		wait_for_queue(worker);
	else
		replace_own(worker);
}

static void *run_worker(void *context)
{
	struct worker *worker = context;
	const struct history *history = &threads_world.history;
	for (uint32_t which = 0; which < HISTORY_LOGS; which++)
		NEED(sycl_buffer_create_sub(threads_world.logs[which], 0, LOG_BYTES,
					    &worker->alias[which]));
	while (history->counts[worker->number] + LAST_STEPS < HISTORY_STEPS)
		run_random_step(worker);
	threads_end_snapshots(worker);
	threads_end_stripes(worker);
	for (uint32_t which = 0; which < HISTORY_LOGS; which++)
		NEED(sycl_buffer_release(worker->alias[which]));
	return NULL;
}

static sycl_buffer zeroed(uint64_t bytes)
{
	sycl_buffer buffer = NULL;
	void *zeros = calloc(1, bytes);
	CHECK(zeros, "no memory");
	NEED(sycl_buffer_create(threads_world.platform, zeros, bytes, SYCL_HOST_CONST, &buffer));
	free(zeros);
	return buffer;
}

static void find_logs(void)
{
	for (uint32_t which = 0; which < HISTORY_LOGS; which++) {
		sycl_host_accessor accessor = NULL;
		void *pointer = NULL;
		NEED(sycl_host_accessor_create(threads_world.logs[which], SYCL_ACCESS_READ,
					       &accessor));
		NEED(sycl_host_accessor_get_pointer(accessor, &pointer));
		memcpy(threads_world.found[which], pointer, LOG_BYTES);
		NEED(sycl_host_accessor_release(accessor));
		NEED(sycl_buffer_release(threads_world.logs[which]));
	}
}

static void check_baton(void)
{
	struct threads_world *world = &threads_world;
	if (!world->baton_last)
		return;
	threads_check_event(&world->workers[0], world->baton_last, false);
	CHECK(memcmp(world->baton, world->baton_words, sizeof(world->baton_words)) == 0,
	      "shared memory is not what the groups made of it, one behind the other's event");
}

/* Runs all threads from the first step to the last, and checks the results. Groups of the round
 * before may still be in flight. */
static void play_round(void)
{
	struct threads_world *world = &threads_world;
	memset(&world->history, 0, sizeof(world->history));
	for (uint32_t i = 0; i < NOTES; i++)
		world->notes[i].name = 0; /* steps have new names from now on */
	for (uint32_t which = 0; which < HISTORY_LOGS; which++)
		world->logs[which] = zeroed(LOG_BYTES);
	for (uint32_t i = 0; i < HISTORY_THREADS; i++) {
		world->workers[i].follows = 0;
		CHECK(pthread_create(&world->workers[i].thread, NULL, run_worker,
				     &world->workers[i]) == 0,
		      "no thread");
	}
	for (uint32_t i = 0; i < HISTORY_THREADS; i++)
		(void)pthread_join(world->workers[i].thread, NULL);
	find_logs();
	const char *wrong =
		history_check(&world->history, (const uint32_t(*)[HISTORY_LOG_WORDS])world->found);
	CHECK(!wrong, "%s", wrong);
	check_baton();
}

static sycl_queue queue_on(uint32_t which)
{
	sycl_device devices[DEVICES_MAX], mine[DEVICES_MAX];
	uint32_t count = 0, mine_count = 0;
	sycl_queue queue = NULL;
	NEED(sycl_device_get_devices(threads_world.platform, SYCL_DEVICE_TYPE_ALL, DEVICES_MAX,
				     devices, &count));
	for (uint32_t i = 0; i < count && i < DEVICES_MAX; i++)
		if (portable_engine_has(devices[i]))
			mine[mine_count++] = devices[i];
	CHECK(mine_count > 0, "there is no device to test");
	NEED(sycl_queue_create(NULL, mine[which % mine_count], NULL, &queue));
	for (uint32_t i = 0; i < count && i < DEVICES_MAX; i++)
		NEED(sycl_device_release(devices[i]));
	return queue;
}

static void make_baton(sycl_queue queue)
{
	sycl_device device = NULL;
	uint32_t has = 0;
	NEED(sycl_queue_get_device(queue, &device));
	NEED(sycl_device_has(device, SYCL_ASPECT_USM_SHARED_ALLOCATIONS, &has));
	NEED(sycl_device_release(device));
	if (!has)
		return;
	void *pointer = NULL;
	NEED(sycl_malloc_shared(queue, sizeof(threads_world.baton_words), 0, &pointer));
	memset(pointer, 0, sizeof(threads_world.baton_words));
	threads_world.baton = pointer;
}

static void random_threads_world_begin(uint64_t seed, uint32_t helper_threads)
{
	struct threads_world *world = &threads_world;
	struct sycl_open_options options = SYCL_OPEN_OPTIONS_INIT;
	*world = (struct threads_world){.lock = PTHREAD_MUTEX_INITIALIZER,
					.baton_lock = PTHREAD_MUTEX_INITIALIZER};
	options.helper_threads = helper_threads;
	NEED(sycl_platform_open_with(portable_engine_endpoint(), &options, &world->platform));
	for (uint32_t i = 0; i < SHARED_QUEUES; i++) {
		struct place *place = &world->places[i];
		/* Both kinds on each device, where there are two, and both in one context. */
		if (i >= SHARED_QUEUES / 2) {
			*place = place_beside(&world->places[i - SHARED_QUEUES / 2],
					      SYCL_QUEUE_IN_ORDER);
			continue;
		}
		place->queue = queue_on(i);
		place->fill = portable_engine_kernel(place->queue, "fill_u32");
		place->increment = portable_engine_kernel(place->queue, "increment_u32");
		place->copy = portable_engine_kernel(place->queue, "copy_u32");
		place->append = portable_engine_kernel(place->queue, "append_u32");
	}
	for (uint32_t i = 0; i < QUILTS; i++)
		world->quilts[i] = zeroed((uint64_t)HISTORY_THREADS * STRIPE_BYTES);
	for (uint32_t i = 0; i < HISTORY_THREADS; i++) {
		world->workers[i].number = i;
		world->workers[i].random = (seed * HISTORY_THREADS + i) * 2654435761u + 12345;
		replace_own(&world->workers[i]);
	}
	make_baton(world->places[0].queue);
}

static void random_threads_world_end(void)
{
	struct threads_world *world = &threads_world;
	for (uint32_t i = 0; i < NOTES; i++)
		if (world->notes[i].event)
			NEED(sycl_event_release(world->notes[i].event));
	if (world->baton_last)
		NEED(sycl_event_release(world->baton_last));
	if (world->baton)
		NEED(sycl_free(world->places[0].queue, world->baton));
	for (uint32_t i = 0; i < QUILTS; i++)
		NEED(sycl_buffer_release(world->quilts[i]));
	for (uint32_t i = 0; i < HISTORY_THREADS; i++)
		NEED(sycl_queue_release(world->workers[i].own.queue));
	for (uint32_t i = 0; i < SHARED_QUEUES; i++) {
		(void)sycl_queue_wait(
			world->places[i].queue); /* each failure has been checked by its event */
		NEED(sycl_queue_release(world->places[i].queue));
		if (i >= SHARED_QUEUES / 2)
			continue;
		NEED(sycl_kernel_release(world->places[i].fill));
		NEED(sycl_kernel_release(world->places[i].increment));
		NEED(sycl_kernel_release(world->places[i].copy));
		NEED(sycl_kernel_release(world->places[i].append));
	}
	NEED(sycl_platform_release(world->platform));
}

void random_threads_run(uint64_t seed, uint64_t groups, uint32_t helper_threads,
			struct random_threads_result *result_out)
{
	struct random_threads_result result = {.groups = 0};
	random_threads_world_begin(seed, helper_threads);
	while (result.groups < groups) {
		play_round();
		result = (struct random_threads_result){.groups = 0};
		for (uint32_t i = 0; i < HISTORY_THREADS; i++) {
			result.groups += threads_world.workers[i].groups;
			result.failures += threads_world.workers[i].failures;
			result.checks += threads_world.workers[i].checks;
		}
	}
	random_threads_world_end();
	*result_out = result;
}
