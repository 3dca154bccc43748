/*
 * Threads that copy parts of much memory of the program: helper threads, and threads that the
 * library starts for copies.
 */
#include "library/own_pages.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static sem_t both;
static _Atomic uint32_t met;

/* The first thread waits until another one is here as well. */
static void own_pages_wait_for_another_thread(uint32_t part)
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

/* Two threads of a connection copy at one time: each of two parts waits until the other one is
 * touched. */
static void copy_by_two(const struct sycl_open_options *options)
{
	sycl_platform helped = NULL;
	MUST(sycl_platform_open_with(service.endpoint, options, &helped));
	sycl_queue its = fake_queue(helped, 0);
	own_pages_make();
	(void)sem_init(&both, 0, 0);
	met = 0;
	sycl_buffer buffer = own_pages_borrow(helped);
	own_pages_guard(0, own_pages_wait_for_another_thread);
	own_pages_guard(1, own_pages_wait_for_another_thread);
	own_pages_submit_increment(its, buffer);
	cr_assert(eq(u32, met, 2));
	cr_assert(ne(int, sem_trywait(&both), 0),
		  "one thread copied both, and waited for itself in vain");
	MUST(sycl_queue_wait_for(its, LONG_NS));
	met = 0;
	own_pages_guard(0, own_pages_wait_for_another_thread);
	own_pages_guard(1, own_pages_wait_for_another_thread);
	MUST(sycl_buffer_release(buffer));
	cr_assert(eq(u32, met, 2));
	cr_assert(ne(int, sem_trywait(&both), 0));
	cr_assert(eq(u32, own_pages_first_wrong(own_host, 1), OWN_WORDS));
	MUST(sycl_queue_release(its));
	MUST(sycl_platform_release(helped));
	own_pages_drop();
}

Test(client_own_pages, helper_threads_copy_parts_both_ways)
{
	struct sycl_open_options options = SYCL_OPEN_OPTIONS_INIT;
	options.helper_threads = 2;
	options.copy_threads = SYCL_COPY_THREADS_NONE;
	copy_by_two(&options);
}

/* This counts for the calling thread only, because the engine starts threads, too. */
static _Thread_local bool forbid_threads;
static _Thread_local uint32_t threads_made, threads_refused;

/* This replaces the function of the C library. */
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

/* The kernel lists a thread for a moment after it was joined. */
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
	own_pages_make();
	sycl_buffer buffer = own_pages_borrow(by);
	own_pages_submit_increment(its, buffer);
	MUST(sycl_buffer_release(buffer));
	cr_assert(eq(u32, own_pages_first_wrong(own_host, 1), OWN_WORDS));
	MUST(sycl_queue_release(its));
	own_pages_drop();
}

Test(client_own_pages, there_are_as_many_copy_threads_as_the_parts_want_and_what_is_small_has_none)
{
	struct sycl_open_options options = SYCL_OPEN_OPTIONS_INIT;
	sycl_platform many = NULL;
	options.copy_threads = 16;
	threads_made = 0; /* do not count the service's */
	MUST(sycl_platform_open_with(service.endpoint, &options, &many));
	static uint32_t words[1 << 20];
	sycl_buffer small = NULL;
	MUST(sycl_buffer_create(many, words, sizeof(words), SYCL_HOST_BORROWED, &small));
	MUST(sycl_buffer_release(small));
	cr_assert(zero(u32, threads_made));
	there_and_back(many);
	/* More were made if some were idle for so long that they ended. */
	cr_assert(ge(u32, threads_made, OWN_PARTS - 1));
	cr_assert(le(u32, count_copy_threads(), OWN_PARTS - 1));
	MUST(sycl_platform_release(many));
	copy_threads_are_gone();
}

Test(client_own_pages, with_helper_threads_there_are_no_more_than_that_many_together)
{
	struct sycl_open_options options = SYCL_OPEN_OPTIONS_INIT;
	sycl_platform helped = NULL;
	options.copy_threads = 2;
	options.helper_threads = 2;
	threads_made = 0; /* do not count the service's */
	MUST(sycl_platform_open_with(service.endpoint, &options, &helped));
	there_and_back(helped);
	cr_assert(eq(u32, threads_made, 2), "the helpers");
	MUST(sycl_platform_release(helped));
}

Test(client_own_pages, a_process_with_one_processor_gets_no_copy_threads)
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
	threads_made = 0; /* do not count the service's */
	there_and_back(platform);
	cr_assert(zero(u32, threads_made));
}

Test(client_own_pages, where_there_are_processors_copy_threads_come_by_themselves)
{
	cpu_set_t all;
	cr_assert(zero(int, unsetenv("SYCLD_COPY_THREADS")));
	cr_assert(zero(int, sched_getaffinity(0, sizeof(all), &all)));
	threads_made = 0; /* do not count the service's */
	there_and_back(platform);
	/* A control group may permit fewer processors. */
	if (CPU_COUNT(&all) < 4)
		cr_assert(zero(u32, threads_made));
	else
		cr_assert(le(u32, count_copy_threads(), OWN_PARTS - 1));
}

/* A process without room for another thread copies with one thread. */
Test(client_own_pages, copy_threads_that_cannot_be_started_are_not_missed)
{
	struct sycl_open_options options = SYCL_OPEN_OPTIONS_INIT;
	sycl_platform alone = NULL;
	options.copy_threads = 4;
	threads_made = 0; /* do not count the service's */
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

/* A child has none of its parent's threads. Its own connection has its own threads. */
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
