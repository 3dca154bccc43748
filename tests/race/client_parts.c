/*
 * Many threads use parts and views of one buffer, each with its own bytes. There are copies in and
 * out, accessors that are requested and waited for later, and blocks that buffers share. All
 * handles of a buffer end once, with the last thread. Every result is checked.
 */
#include "check.h"
#include "library/service.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, PART = 1024, ROUNDS = 60 };

static sycl_platform platform;
static sycl_queue queues[2];
static sycl_buffer shared;
static sycl_host_block block;

/* Copies in, through the host, and out again, while other threads do the same beside. */
static void use_part(sycl_buffer part, unsigned round, unsigned number)
{
	uint8_t in[PART], out[PART];
	sycl_host_accessor accessor = NULL;
	sycl_event event = NULL;
	void *pointer = NULL;
	memset(in, (int)(round + number), sizeof(in));
	MUST(sycl_queue_copy_from_host(queues[round % 2], in, part, 0, sizeof(in), NULL));
	memset(in, 0, sizeof(in));
	MUST(sycl_host_accessor_create_async(part, SYCL_ACCESS_READ_WRITE, 8, PART - 8, &accessor));
	MUST(sycl_queue_fill(queues[(round + 1) % 2], part, PART - 4, 4, "abcd", 4, NULL));
	MUST(sycl_queue_copy_to_host(queues[round % 2], part, 0, out, sizeof(out), &event));
	MUST(sycl_host_accessor_wait(accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	CHECK(((uint8_t *)pointer)[PART - 9] == (uint8_t)(round + number));
	((uint8_t *)pointer)[0] = 0x77;
	MUST(sycl_host_accessor_release(accessor));
	MUST(sycl_event_wait_for(event, LONG_NS));
	MUST(sycl_event_release(event));
	CHECK(out[7] == (uint8_t)(round + number) && out[8] == 0x77 &&
	      memcmp(out + PART - 4, "abcd", 4) == 0);
}

/* The handles of one buffer in this round: each thread releases one of them. */
struct family {
	sycl_buffer handles[THREADS];
	uint8_t host[THREADS * PART];
	pthread_barrier_t made, gone;
};
static struct family family;

static void make_family(void)
{
	memset(family.host, 1, sizeof(family.host));
	MUST(sycl_buffer_create(platform, family.host, sizeof(family.host), SYCL_HOST_BORROWED,
				&family.handles[0]));
	for (uint64_t i = 1; i < THREADS; i++)
		MUST(i % 2 ? sycl_buffer_create_sub(family.handles[0], i * PART, PART,
						    &family.handles[i])
			   : sycl_buffer_reinterpret(family.handles[0], 2,
						     sycl_range1(THREADS * PART / 2),
						     &family.handles[i]));
	MUST(sycl_queue_fill(queues[0], family.handles[0], 0, sizeof(family.host), "\x05", 1,
			     NULL));
}

static void *run_parts_rounds(void *context)
{
	unsigned number = (unsigned)(uintptr_t)context;
	for (unsigned round = 0; round < ROUNDS; round++) {
		sycl_buffer part = NULL, of_block = NULL;
		struct sycl_buffer_options options = SYCL_BUFFER_OPTIONS_INIT;
		if (number == 0)
			make_family();
		(void)pthread_barrier_wait(&family.made);
		MUST(sycl_buffer_release(family.handles[number]));
		(void)pthread_barrier_wait(&family.gone);
		if (number == 0)
			for (size_t i = 0; i < sizeof(family.host); i++)
				CHECK(family.host[i] ==
				      5); /* written back once, by the last release */
		MUST(sycl_buffer_create_sub(shared, number * (uint64_t)PART, PART, &part));
		use_part(part, round, number);
		MUST(sycl_buffer_release(part));
		options.kind = SYCL_HOST_SHARED;
		options.size_bytes = 64;
		options.block = block;
		MUST(sycl_buffer_create_with(platform, &options, &of_block));
		MUST(sycl_host_block_retain(block));
		MUST(sycl_buffer_release(of_block));
		MUST(sycl_host_block_release(block));
	}
	return NULL;
}

int main(void)
{
	struct client_service service;
	pthread_t threads[THREADS];
	client_service_start(&service, NULL);
	MUST(sycl_platform_open(service.endpoint, &platform));
	queues[0] = fake_queue(platform, 0);
	queues[1] = fake_queue(platform, SYCL_QUEUE_IN_ORDER);
	MUST(sycl_buffer_create(platform, NULL, THREADS * PART, SYCL_HOST_NONE, &shared));
	MUST(sycl_host_block_create(NULL, 64, NULL, NULL, &block));
	CHECK(pthread_barrier_init(&family.made, NULL, THREADS) == 0);
	CHECK(pthread_barrier_init(&family.gone, NULL, THREADS) == 0);
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, run_parts_rounds, (void *)i) == 0);
	for (int i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
	(void)pthread_barrier_destroy(&family.made);
	(void)pthread_barrier_destroy(&family.gone);
	MUST(sycl_host_block_release(block));
	MUST(sycl_buffer_release(shared));
	MUST(sycl_queue_release(queues[0]));
	MUST(sycl_queue_release(queues[1]));
	MUST(sycl_platform_release(platform));
	client_service_stop(&service);
	return 0;
}
