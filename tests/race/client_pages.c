/*
 * Much memory of the program under many threads. Two groups are the first users of buffers at one
 * time, and each needs both buffers. Releases happen beside submissions. Helper threads copy parts
 * and run host tasks, and the library starts copy threads by itself. Connections end right after a
 * copy. Every word is checked.
 */
#include "check.h"
#include "library/service.h"

#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 2, SIZE = (8 << 20) + 4096, WORDS = SIZE / 4 };

static struct client_service service;
static int rounds = 4;

/* The state that all threads of a round share. */
struct round {
	sycl_queue queue;
	sycl_kernel add;
	sycl_buffer buffers[2];
	uint32_t *words[2];
	pthread_barrier_t begin;
};

struct part {
	struct round *round;
	uint32_t first; /* the buffer that it names first */
};

static sycl_result count_task(sycl_host_task task, void *user_data)
{
	(void)task;
	(*(uint32_t *)user_data)++;
	return SYCL_SUCCESS;
}

/* A group that adds one buffer to the other, and an unrelated host task. */
static void *use_both(void *context)
{
	const struct part *part = context;
	struct round *round = part->round;
	uint32_t calls = 0;
	sycl_handler handler = NULL;
	sycl_event event = NULL;
	(void)pthread_barrier_wait(&round->begin);
	MUST(sycl_handler_begin(round->queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, round->buffers[part->first],
				       SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_set_accessor(handler, 1, round->buffers[!part->first], SYCL_ACCESS_READ));
	MUST(sycl_handler_parallel_for(handler, round->add, sycl_range1(WORDS)));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_buffer_release(round->buffers[part->first]));
	MUST(sycl_handler_begin(round->queue, &handler));
	MUST(sycl_handler_host_task(handler, count_task, &calls, NULL));
	MUST(sycl_handler_submit(handler, &event));
	MUST(sycl_event_wait(event));
	MUST(sycl_event_release(event));
	CHECK(calls == 1);
	return NULL;
}

/* Both began as 1. The first group made 2 of one buffer, and the other group made 3 of the
 * other. */
static void check_round(const struct round *round)
{
	uint32_t first = round->words[0][0], second = round->words[1][0];
	CHECK((first == 2 && second == 3) || (first == 3 && second == 2));
	for (uint32_t i = 0; i < WORDS; i++)
		CHECK(round->words[0][i] == first && round->words[1][i] == second);
}

static void one_round(sycl_platform platform, struct round *round)
{
	pthread_t threads[THREADS];
	struct part parts[THREADS];
	for (uint32_t b = 0; b < 2; b++) {
		for (uint32_t i = 0; i < WORDS; i++)
			round->words[b][i] = 1;
		MUST(sycl_buffer_create(platform, round->words[b], SIZE, SYCL_HOST_BORROWED,
					&round->buffers[b]));
		/* Each thread releases one buffer, and the other thread's group may still be to
		 * come. */
		MUST(sycl_buffer_retain(round->buffers[b]));
	}
	(void)pthread_barrier_init(&round->begin, NULL, THREADS);
	for (uint32_t i = 0; i < THREADS; i++) {
		parts[i] = (struct part){round, i};
		CHECK(pthread_create(&threads[i], NULL, use_both, &parts[i]) == 0);
	}
	for (uint32_t i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
	(void)pthread_barrier_destroy(&round->begin);
	for (uint32_t b = 0; b < 2; b++)
		MUST(sycl_buffer_release(round->buffers[b]));
	check_round(round);
}

static void many_rounds(uint32_t helpers)
{
	struct sycl_open_options options = SYCL_OPEN_OPTIONS_INIT;
	struct round round = {.queue = NULL};
	round.words[0] = malloc(SIZE);
	round.words[1] = malloc(SIZE);
	CHECK(round.words[0] && round.words[1]);
	options.helper_threads = helpers;
	for (int i = 0; i < rounds; i++) {
		sycl_platform platform = NULL;
		MUST(sycl_platform_open_with(service.endpoint, &options, &platform));
		round.queue = fake_queue(platform, 0);
		round.add = fake_kernel(round.queue, "add_u32");
		one_round(platform, &round);
		one_round(platform, &round);
		MUST(sycl_kernel_release(round.add));
		MUST(sycl_queue_release(round.queue));
		MUST(sycl_platform_release(platform));
	}
	free(round.words[0]);
	free(round.words[1]);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		rounds = atoi(argv[1]);
	client_service_start(&service, NULL);
	/* No copy threads; some, for any number of processors; some beside helper threads. */
	CHECK(setenv("SYCLD_COPY_THREADS", "0", 1) == 0);
	many_rounds(0);
	many_rounds(3);
	CHECK(setenv("SYCLD_COPY_THREADS", "4", 1) == 0);
	many_rounds(0);
	many_rounds(2);
	client_service_stop(&service);
	return 0;
}
