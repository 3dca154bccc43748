/*
 * Buffers over much memory of the program's own: what goes in and out of them in parts. Pages that
 * cannot be touched at first show when a part is copied, and by which thread.
 */
#include "library/test.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(client_own_pages, .timeout = 120, .init = with_service, .fini = without_service);

/* Two whole parts and an odd rest. */
enum { PART = 4 << 20, SIZE = 2 * PART + 12345 * 4, WORDS = SIZE / 4, PARTS = 3 };

/* The program's memory, page-aligned. */
static uint32_t *host;

/* Runs when a guarded part is touched for the first time; after that the part is accessible. */
static void (*on_touch)(uint32_t part);
static _Atomic uint32_t touched;

static void touch(int number, siginfo_t *info, void *context)
{
	uintptr_t at = (uintptr_t)info->si_addr - (uintptr_t)host;
	(void)context;
	if (at >= PARTS * (uintptr_t)PART) {
		(void)signal(number, SIG_DFL); /* no page of this test */
		return;
	}
	atomic_fetch_add(&touched, 1);
	on_touch((uint32_t)(at / PART));
	(void)mprotect((uint8_t *)host + at / PART * PART, PART, PROT_READ | PROT_WRITE);
}

static void make_pages(void)
{
	struct sigaction action = {.sa_sigaction = touch, .sa_flags = SA_SIGINFO | SA_NODEFER};
	host = mmap(NULL, (size_t)PARTS * PART, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	cr_assert(ne(ptr, host, MAP_FAILED));
	for (uint32_t i = 0; i < WORDS; i++)
		host[i] = i;
	(void)sigaction(SIGSEGV, &action, NULL);
}

static void guard(uint32_t part, void (*touched_first)(uint32_t part))
{
	on_touch = touched_first;
	(void)mprotect((uint8_t *)host + (size_t)part * PART, PART, PROT_NONE);
}

static void drop_pages(void)
{
	(void)signal(SIGSEGV, SIG_DFL);
	(void)munmap(host, (size_t)PARTS * PART);
}

static sycl_buffer borrow(sycl_platform of)
{
	sycl_buffer buffer = NULL;
	MUST(sycl_buffer_create(of, host, SIZE, SYCL_HOST_BORROWED, &buffer));
	return buffer;
}

static void submit_increment(sycl_queue to, sycl_buffer buffer)
{
	sycl_kernel kernel = fake_kernel(to, "increment_u32");
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(to, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_parallel_for(handler, kernel, sycl_range1(WORDS)));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_kernel_release(kernel));
}

/* The first word that is not its index and `more`; WORDS: none. */
static uint32_t first_wrong(const uint32_t *words, uint32_t more)
{
	uint32_t i = 0;
	while (i < WORDS && words[i] == i + more)
		i++;
	return i;
}

Test(client_own_pages, D9_D11_contents_go_in_and_out_in_parts)
{
	struct fake_counters counters;
	make_pages();
	sycl_buffer buffer = borrow(platform);
	submit_increment(queue, buffer);
	submit_increment(queue, buffer);
	MUST(sycl_buffer_release(buffer));
	cr_assert(eq(u32, first_wrong(host, 2), WORDS));
	fake_counters(FAKE_ANY_DEVICE, &counters);
	cr_assert(eq(u64, counters.writes, PARTS));
	cr_assert(eq(u64, counters.reads, PARTS));
	cr_assert(eq(u64, counters.bytes_written, SIZE));
	cr_assert(eq(u64, counters.bytes_read, SIZE));
	drop_pages();
}

static bool first_part_was_there;

static void see_first_part(uint32_t part)
{
	(void)part;
	first_part_was_there = fake_wait_ended(FAKE_ANY_DEVICE, 1, LONG_NS);
}

Test(client_own_pages, the_device_has_one_part_before_the_last_one_is_read)
{
	struct fake_counters counters;
	make_pages();
	guard(PARTS - 1, see_first_part);
	sycl_buffer buffer = borrow(platform);
	cr_assert(eq(u32, touched, 0), "nobody wants it yet");
	submit_increment(queue, buffer);
	cr_assert(eq(u32, touched, 1));
	cr_assert(first_part_was_there);
	MUST(sycl_buffer_release(buffer));
	cr_assert(eq(u32, first_wrong(host, 1), WORDS));
	fake_counters(FAKE_ANY_DEVICE, &counters);
	cr_assert(eq(u64, counters.launches, 1));
	drop_pages();
}

static uint64_t reads_then;

static void count_reads(uint32_t part)
{
	struct fake_counters counters;
	fake_counters(FAKE_ANY_DEVICE, &counters);
	reads_then = counters.reads;
	(void)part;
}

/* A lane for each direction: moves go one after the other, and beside kernels. */
static void with_copy_lanes(void)
{
	fake_reset();
	for (uint32_t i = 0; i < 3; i++)
		fake_device_options(
			i, (struct fake_device_options){.features = BACKEND_FEATURE_COPY_LANES});
	with_service();
}

TestSuite(client_own_pages_lanes, .timeout = 120, .init = with_copy_lanes, .fini = without_service);

Test(client_own_pages_lanes, D9_one_part_is_written_back_while_the_device_gives_others)
{
	bool seen = false;
	/* A program that gets no processor for that long reads nothing; that does not happen every
	 * time. */
	for (int i = 0; i < 20 && !seen; i++) {
		make_pages();
		sycl_buffer buffer = borrow(platform);
		submit_increment(queue, buffer);
		MUST(sycl_queue_wait_for(queue, LONG_NS));
		struct fake_counters before;
		fake_counters(FAKE_ANY_DEVICE, &before);
		fake_delay(0, 50000000);
		guard(0, count_reads);
		MUST(sycl_buffer_release(buffer));
		fake_delay(0, 0);
		seen = reads_then - before.reads < PARTS;
		cr_assert(gt(u64, reads_then, before.reads));
		cr_assert(eq(u32, first_wrong(host, 1), WORDS));
		drop_pages();
	}
	cr_assert(seen);
}

Test(client_own_pages_lanes, D9_parts_come_and_go_beside_a_kernel_of_another_group)
{
	sycl_kernel hold = fake_kernel(queue, "hold");
	sycl_queue other = fake_queue(platform, 0);
	make_pages();
	submit_hold(other, hold, 0, NULL, SYCL_ACCESS_READ, NULL);
	sycl_buffer buffer = borrow(platform);
	submit_increment(queue, buffer);
	MUST(sycl_buffer_release(buffer)); /* the gate is closed all the while */
	cr_assert(eq(u32, first_wrong(host, 1), WORDS));
	cr_assert(eq(int, sycl_queue_wait_for(other, SHORT_NS), SYCL_ERROR_TIMEOUT));
	fake_gate_open(0);
	MUST(sycl_queue_wait_for(other, LONG_NS));
	MUST(sycl_queue_release(other));
	MUST(sycl_kernel_release(hold));
	drop_pages();
}

static sem_t both;
static _Atomic uint32_t met;

/* The first one waits until another thread is here as well. */
static void meet(uint32_t part)
{
	struct timespec until;
	(void)part;
	if (atomic_fetch_add(&met, 1) == 1) {
		(void)sem_post(&both);
		return;
	}
	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 20;
	(void)sem_timedwait(&both, &until);
}

/* Two of a connection's threads copy at one time: each of two parts waits for the other one to be
 * touched. */
static void copy_by_two(const struct sycl_open_options *options)
{
	sycl_platform helped = NULL;
	MUST(sycl_platform_open_with(service.endpoint, options, &helped));
	sycl_queue its = fake_queue(helped, 0);
	make_pages();
	(void)sem_init(&both, 0, 0);
	met = 0;
	sycl_buffer buffer = borrow(helped);
	guard(0, meet);
	guard(1, meet);
	submit_increment(its, buffer);
	cr_assert(eq(u32, met, 2));
	cr_assert(ne(int, sem_trywait(&both), 0),
		  "one thread copied both, and waited for itself in vain");
	MUST(sycl_queue_wait_for(its, LONG_NS));
	met = 0;
	guard(0, meet);
	guard(1, meet);
	MUST(sycl_buffer_release(buffer));
	cr_assert(eq(u32, met, 2));
	cr_assert(ne(int, sem_trywait(&both), 0));
	cr_assert(eq(u32, first_wrong(host, 1), WORDS));
	MUST(sycl_queue_release(its));
	MUST(sycl_platform_release(helped));
	drop_pages();
}

Test(client_own_pages, helper_threads_copy_parts_both_ways)
{
	struct sycl_open_options options = SYCL_OPEN_OPTIONS_INIT;
	options.helper_threads = 2;
	options.copy_threads = SYCL_COPY_THREADS_NONE;
	copy_by_two(&options);
}

/* A time of the calling thread, because the engine starts threads, too. */
static _Thread_local bool forbid_threads;
static _Thread_local uint32_t threads_made, threads_refused;

/* In front of the C library's. */
__attribute__((visibility("default"))) int pthread_create(pthread_t *thread,
							  const pthread_attr_t *attributes,
							  void *(*run)(void *), void *argument)
{
	typedef int create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	create *real;
	*(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
	threads_refused += forbid_threads;
	threads_made += !forbid_threads;
	return forbid_threads ? EAGAIN : real(thread, attributes, run, argument);
}

/* Threads of this process with the name of copy threads. */
static uint32_t count_copy_threads(void)
{
	uint32_t count = 0;
	DIR *tasks = opendir("/proc/self/task");
	cr_assert(ne(ptr, tasks, NULL));
	for (const struct dirent *task; (task = readdir(tasks)) != NULL;) {
		char path[300], name[32] = "";
		(void)snprintf(path, sizeof(path), "/proc/self/task/%s/comm", task->d_name);
		FILE *file = fopen(path, "re");
		count +=
			file && fgets(name, sizeof(name), file) && strcmp(name, "sycl-copy\n") == 0;
		if (file)
			(void)fclose(file);
	}
	(void)closedir(tasks);
	return count;
}

/* The kernel shows a thread for a moment after it was joined. */
static void copy_threads_are_gone(void)
{
	while (count_copy_threads() > 0)
		(void)sched_yield();
}

Test(client_own_pages, copy_threads_copy_parts_both_ways_and_end_with_the_connection)
{
	struct sycl_open_options options = SYCL_OPEN_OPTIONS_INIT;
	options.copy_threads = 1;
	copy_by_two(&options);
	copy_threads_are_gone();
	cr_assert(zero(int, setenv("SYCLD_COPY_THREADS", "16", 1)));
	options.copy_threads = 0;
	copy_by_two(&options);
	copy_threads_are_gone();
}

static void there_and_back(sycl_platform by)
{
	sycl_queue its = fake_queue(by, 0);
	make_pages();
	sycl_buffer buffer = borrow(by);
	submit_increment(its, buffer);
	MUST(sycl_buffer_release(buffer));
	cr_assert(eq(u32, first_wrong(host, 1), WORDS));
	MUST(sycl_queue_release(its));
	drop_pages();
}

Test(client_own_pages, there_are_as_many_copy_threads_as_the_parts_want_and_what_is_small_has_none)
{
	struct sycl_open_options options = SYCL_OPEN_OPTIONS_INIT;
	sycl_platform many = NULL;
	options.copy_threads = 16;
	threads_made = 0; /* the service has its own */
	MUST(sycl_platform_open_with(service.endpoint, &options, &many));
	static uint32_t words[1 << 20];
	sycl_buffer small = NULL;
	MUST(sycl_buffer_create(many, words, sizeof(words), SYCL_HOST_BORROWED, &small));
	MUST(sycl_buffer_release(small));
	cr_assert(zero(u32, threads_made));
	there_and_back(many);
	/* More were made if some had rested for so long that they ended. */
	cr_assert(ge(u32, threads_made, PARTS - 1));
	cr_assert(le(u32, count_copy_threads(), PARTS - 1));
	MUST(sycl_platform_release(many));
	copy_threads_are_gone();
}

Test(client_own_pages, with_helper_threads_there_are_no_more_than_that_many_together)
{
	struct sycl_open_options options = SYCL_OPEN_OPTIONS_INIT;
	sycl_platform helped = NULL;
	options.copy_threads = 2;
	options.helper_threads = 2;
	threads_made = 0; /* the service has its own */
	MUST(sycl_platform_open_with(service.endpoint, &options, &helped));
	there_and_back(helped);
	cr_assert(eq(u32, threads_made, 2), "the helpers");
	MUST(sycl_platform_release(helped));
}

Test(client_own_pages, nobody_who_may_use_one_processor_only_gets_copy_threads)
{
	cpu_set_t all, one;
	int first = 0;
	cr_assert(zero(int, unsetenv("SYCLD_COPY_THREADS")));
	cr_assert(zero(int, sched_getaffinity(0, sizeof(all), &all)));
	while (!CPU_ISSET(first, &all))
		first++;
	CPU_ZERO(&one);
	CPU_SET(first, &one);
	cr_assert(zero(int, sched_setaffinity(0, sizeof(one), &one)));
	threads_made = 0; /* the service has its own */
	there_and_back(platform);
	cr_assert(zero(u32, threads_made));
}

Test(client_own_pages, where_there_are_processors_copy_threads_come_by_themselves)
{
	cpu_set_t all;
	cr_assert(zero(int, unsetenv("SYCLD_COPY_THREADS")));
	cr_assert(zero(int, sched_getaffinity(0, sizeof(all), &all)));
	threads_made = 0; /* the service has its own */
	there_and_back(platform);
	/* A control group may have less. */
	if (CPU_COUNT(&all) < 4)
		cr_assert(zero(u32, threads_made));
	else
		cr_assert(le(u32, count_copy_threads(), PARTS - 1));
}

/* A process without room for another thread copies alone. */
Test(client_own_pages, copy_threads_that_cannot_be_started_are_not_missed)
{
	struct sycl_open_options options = SYCL_OPEN_OPTIONS_INIT;
	sycl_platform alone = NULL;
	options.copy_threads = 4;
	threads_made = 0; /* the service has its own */
	MUST(sycl_platform_open_with(service.endpoint, &options, &alone));
	forbid_threads = true;
	there_and_back(alone);
	cr_assert(gt(u32, threads_refused, 0));
	cr_assert(zero(u32, threads_made));
	forbid_threads = false;
	there_and_back(alone);
	cr_assert(gt(u32, threads_made, 0));
	MUST(sycl_platform_release(alone));
}

/* A child has none of its parent's, and its own connection's are its own. */
Test(client_own_pages, a_forked_child_copies_by_threads_of_its_own)
{
	struct sycl_open_options options = SYCL_OPEN_OPTIONS_INIT;
	sycl_platform parents = NULL;
	int status = -1;
	options.copy_threads = 2;
	MUST(sycl_platform_open_with(service.endpoint, &options, &parents));
	there_and_back(parents);
	pid_t child = fork();
	cr_assert(ge(int, child, 0));
	if (child == 0) {
		sycl_platform its = NULL;
		bool good = count_copy_threads() == 0 &&
			    sycl_platform_release(parents) == SYCL_ERROR_FORKED;
		threads_made = 0;
		MUST(sycl_platform_open_with(service.endpoint, &options, &its));
		there_and_back(its);
		good = good && threads_made >= 2;
		MUST(sycl_platform_release(its));
		copy_threads_are_gone();
		_exit(good ? 0 : 1);
	}
	cr_assert(eq(int, waitpid(child, &status, 0), child));
	cr_assert(zero(int, status));
	there_and_back(parents);
	MUST(sycl_platform_release(parents));
}

Test(client_own_pages, D1_a_host_accessor_sees_what_nobody_else_has_wanted)
{
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	make_pages();
	sycl_buffer buffer = borrow(platform);
	MUST(sycl_host_accessor_create(buffer, SYCL_ACCESS_READ_WRITE, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	cr_assert(eq(u32, first_wrong(pointer, 0), WORDS));
	((uint32_t *)pointer)[WORDS - 1] = 7;
	MUST(sycl_host_accessor_release(accessor));
	MUST(sycl_buffer_release(buffer));
	cr_assert(eq(u32, first_wrong(host, 0), WORDS - 1));
	cr_assert(eq(u32, host[WORDS - 1], 7));
	drop_pages();
}

/* The memory is the program's again, so a later group must not read it. */
Test(client_own_pages, D14_D16_contents_outlive_the_memory_that_they_came_from)
{
	sycl_kernel copy = fake_kernel(queue, "copy_u32");
	sycl_handler handler = NULL;
	sycl_buffer result = NULL;
	uint32_t *words = calloc(WORDS, sizeof(*words));
	cr_assert(ne(ptr, words, NULL));
	make_pages();
	MUST(sycl_buffer_create(platform, words, SIZE, SYCL_HOST_BORROWED, &result));
	sycl_buffer buffer = borrow(platform);
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, result, SYCL_ACCESS_WRITE_NO_INIT));
	MUST(sycl_handler_set_accessor(handler, 1, buffer, SYCL_ACCESS_READ));
	MUST(sycl_handler_parallel_for(handler, copy, sycl_range1(WORDS)));
	MUST(sycl_buffer_detach(buffer));
	drop_pages();
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_buffer_release(result));
	cr_assert(eq(u32, first_wrong(words, 0), WORDS));
	free(words);
	MUST(sycl_kernel_release(copy));
}

Test(client_own_pages, D14_final_data_comes_from_an_unused_buffer)
{
	uint32_t *words = calloc(WORDS, sizeof(*words));
	cr_assert(ne(ptr, words, NULL));
	make_pages();
	sycl_buffer buffer = borrow(platform);
	MUST(sycl_buffer_set_final_data(buffer, words));
	MUST(sycl_buffer_release(buffer));
	cr_assert(eq(u32, first_wrong(words, 0), WORDS));
	free(words);
	drop_pages();
}

Test(client_own_pages, D9_a_deadline_leaves_the_memory_as_it_is)
{
	sycl_kernel hold = fake_kernel(queue, "hold");
	make_pages();
	sycl_buffer buffer = borrow(platform);
	submit_increment(queue, buffer);
	submit_hold(queue, hold, 0, buffer, SYCL_ACCESS_READ_WRITE, NULL);
	cr_assert(eq(int, sycl_buffer_release_for(buffer, SHORT_NS), SYCL_ERROR_TIMEOUT));
	cr_assert(eq(u32, first_wrong(host, 0), WORDS));
	fake_gate_open(0);
	MUST(sycl_buffer_release_for(buffer, LONG_NS));
	cr_assert(eq(u32, first_wrong(host, 1), WORDS));
	MUST(sycl_kernel_release(hold));
	drop_pages();
}

/* The last part's contents were lost, and the first one is as good as the device could make it. */
Test(client_own_pages, D17_M9_a_part_that_was_lost_keeps_the_others_from_being_written)
{
	sycl_kernel fail = fake_kernel(queue, "fail");
	sycl_handler handler = NULL;
	make_pages();
	sycl_buffer buffer = borrow(platform), end = NULL;
	MUST(sycl_buffer_create_sub(buffer, 2 * PART, SIZE - 2 * PART, &end));
	submit_increment(queue, buffer);
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_require(handler, end, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_single_task(handler, fail));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_buffer_release(end));
	cr_assert(ne(int, sycl_buffer_release(buffer), SYCL_SUCCESS));
	cr_assert(eq(u32, first_wrong(host, 0), WORDS));
	(void)sycl_queue_wait_for(queue, LONG_NS);
	MUST(sycl_kernel_release(fail));
	drop_pages();
}

static sycl_result submit_it(sycl_host_task task, void *user_data)
{
	(void)task;
	return sycl_handler_submit(user_data, NULL);
}

static void run_host_task(sycl_queue on, sycl_buffer requires, sycl_host_task_function *function,
			  void *user_data)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(on, &handler));
	if (requires)
		MUST(sycl_handler_require(handler, requires, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_host_task(handler, function, user_data, NULL));
	MUST(sycl_handler_submit(handler, NULL));
}

/* The group is begun before the release, and submitted by a host task that runs while the release
 * waits. */
Test(client_own_pages, D9_a_group_that_comes_while_the_release_waits_comes_after_it)
{
	sycl_kernel kernel = fake_kernel(queue, "increment_u32");
	sycl_handler late = NULL;
	make_pages();
	sycl_buffer buffer = borrow(platform);
	submit_increment(queue, buffer);
	MUST(sycl_handler_begin(queue, &late));
	MUST(sycl_handler_set_accessor(late, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_parallel_for(late, kernel, sycl_range1(WORDS)));
	run_host_task(queue, buffer, submit_it, late);
	MUST(sycl_buffer_release(buffer));
	cr_assert(eq(u32, first_wrong(host, 1), WORDS));
	MUST(sycl_queue_wait_for(queue, LONG_NS));
	MUST(sycl_kernel_release(kernel));
	drop_pages();
}

/* Without a fixture: a service with its own limits. */
Test(client_own_pages_limits, D9_without_room_for_parts_the_contents_come_first, .timeout = 120)
{
	struct session_limits limits;
	struct client_service small;
	sycl_platform narrow = NULL;
	session_limits_init(&limits);
	limits.groups_in_flight = 2;
	client_service_start(&small, &limits);
	MUST(sycl_platform_open(small.endpoint, &narrow));
	sycl_queue its = fake_queue(narrow, 0);
	make_pages();
	sycl_buffer buffer = borrow(narrow);
	submit_increment(its, buffer);
	MUST(sycl_queue_wait_for(its, LONG_NS));
	cr_assert(eq(u32, first_wrong(host, 0), WORDS));
	MUST(sycl_buffer_release(buffer));
	cr_assert(eq(u32, first_wrong(host, 1), WORDS));
	MUST(sycl_queue_release(its));
	MUST(sycl_platform_release(narrow));
	client_service_stop(&small);
	drop_pages();
}

static uint32_t word_seen;
static int engine_away[2], task_begun[2]; /* pipes */

/* On the engine's thread: until the host task has begun, or for a moment. */
static void be_away(int number)
{
	struct pollfd begun = {.fd = task_begun[0], .events = POLLIN};
	(void)number;
	if (write(engine_away[1], "", 1) == 1)
		(void)poll(&begun, 1, SHORT_NS / 1000000);
}

static void send_engine_away(pthread_t engine)
{
	char byte;
	cr_assert(eq(int, pipe(engine_away), 0));
	cr_assert(eq(int, pipe(task_begun), 0));
	(void)signal(SIGUSR2, be_away);
	cr_assert(eq(int, pthread_kill(engine, SIGUSR2), 0));
	cr_assert(eq(int, (int)read(engine_away[0], &byte, 1), 1));
}

static sycl_result read_first(sycl_host_task task, void *user_data)
{
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	(void)task;
	cr_assert(eq(int, (int)write(task_begun[1], "", 1), 1));
	MUST(sycl_host_accessor_create(user_data, SYCL_ACCESS_READ, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	word_seen = *(uint32_t *)pointer;
	return sycl_host_accessor_release(accessor);
}

/* All earlier requests are answered, and no host task has run. */
static void let_the_service_answer(sycl_platform of)
{
	struct sycl_usage usage = SYCL_USAGE_INIT;
	for (int i = 0; i < 3; i++)
		MUST(sycl_platform_get_usage(of, &usage));
}

/* The session has room for two more objects, which is less than the parts. A host task has its turn
 * all the while. */
Test(client_own_pages_limits, D1_K1_a_host_task_may_use_a_buffer_whose_parts_find_no_room,
     .timeout = 60)
{
	enum { OBJECTS = 64 };
	struct session_limits limits;
	struct client_service small;
	sycl_platform narrow = NULL;
	sycl_buffer fillers[OBJECTS];
	uint32_t count = 0;
	session_limits_init(&limits);
	limits.objects = OBJECTS;
	client_service_start(&small, &limits);
	MUST(sycl_platform_open(small.endpoint, &narrow));
	sycl_queue its = fake_queue(narrow, 0);
	sycl_kernel kernel = fake_kernel(its, "increment_u32");
	make_pages();
	sycl_buffer buffer = borrow(narrow);
	run_host_task(its, NULL, read_first, buffer);
	while (sycl_buffer_create(narrow, NULL, 4, SYCL_HOST_NONE, &fillers[count]) == SYCL_SUCCESS)
		count++;
	cr_assert(gt(u32, count, 2));
	for (int i = 0; i < 2; i++)
		MUST(sycl_buffer_release(fillers[--count]));
	let_the_service_answer(narrow);
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(its, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_parallel_for(handler, kernel, sycl_range1(WORDS)));
	send_engine_away(small.thread);
	MUST(sycl_handler_submit(handler, NULL));
	let_the_service_answer(narrow);
	MUST(sycl_queue_wait_for(its, LONG_NS));
	cr_assert(eq(u32, word_seen, 1));
	MUST(sycl_buffer_release(buffer));
	cr_assert(eq(u32, first_wrong(host, 1), WORDS));
	while (count > 0)
		MUST(sycl_buffer_release(fillers[--count]));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_queue_release(its));
	MUST(sycl_platform_release(narrow));
	client_service_stop(&small);
	drop_pages();
}

static int report = -1;

static void notify_and_stay(uint32_t part)
{
	(void)part;
	if (write(report, "", 1) != 1)
		_exit(1);
	for (;;)
		(void)pause();
}

/* In a process of its own: the engine has the first parts, and the last one never comes. */
static void be_killed(void)
{
	sycl_platform its_platform = NULL;
	MUST(sycl_platform_open(service.endpoint, &its_platform));
	sycl_queue its = fake_queue(its_platform, 0);
	make_pages();
	guard(PARTS - 1, notify_and_stay);
	submit_increment(its, borrow(its_platform));
	_exit(1);
}

Test(client_own_pages, who_dies_between_two_parts_holds_up_nobody)
{
	int ends[2];
	char byte = 0;
	cr_assert(eq(int, pipe(ends), 0));
	pid_t child = fork();
	if (child == 0) {
		report = ends[1];
		be_killed();
	}
	(void)close(ends[1]);
	cr_assert(eq(int, (int)read(ends[0], &byte, 1), 1));
	cr_assert(eq(int, kill(child, SIGKILL), 0));
	cr_assert(eq(int, waitpid(child, NULL, 0), child));
	(void)close(ends[0]);
	make_pages();
	sycl_buffer buffer = borrow(platform);
	submit_increment(queue, buffer);
	MUST(sycl_buffer_release(buffer));
	cr_assert(eq(u32, first_wrong(host, 1), WORDS));
	drop_pages();
	/* without_service checks that the devices have nothing left of either. */
}
