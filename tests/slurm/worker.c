/*
 * A program of a job: worker TURNS. Adds 1 to each number of a buffer TURNS times, checks the
 * result, and prints "verified, class CLASS". TURNS 0: until its standard input ends. Exit status
 * 75: there was no service.
 */
#include <syclclient.h>

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ITEMS = 1 << 14, PAUSE_MS = 20, NO_SERVICE = 75 };

static const char source[] = "SYCL_KERNEL void step(SYCL_GLOBAL(uint) x)\n"
			     "{ ulong i = sycl_global_id(0); uint v = x[i];\n"
			     "  for (uint n = 0; n < 1000; n++) v = v * 1664525u + 1013904223u;\n"
			     "  x[i] += 1u + (v == 0u && x[i] == 4000000000u ? 1u : 0u); }";

struct work {
	sycl_platform platform;
	sycl_queue queue;
	sycl_kernel step;
	sycl_buffer buffer;
	uint32_t *numbers;
	size_t count;
};

static sycl_result work_prepare(struct work *work)
{
	sycl_result r = sycl_platform_open(NULL, &work->platform);
	if (r == 0)
		r = sycl_queue_create_default(work->platform, &work->queue);
	if (r == 0)
		r = sycl_kernel_from_source(work->queue, source, "step", &work->step);
	if (r == 0)
		r = sycl_buffer_create(work->platform, work->numbers,
				       work->count * sizeof(*work->numbers), SYCL_HOST_BORROWED,
				       &work->buffer);
	return r;
}

static bool input_has_ended(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	char byte;
	return poll(&input, 1, PAUSE_MS) > 0 && read(STDIN_FILENO, &byte, 1) <= 0;
}

static sycl_result work_turn(const struct work *work)
{
	sycl_result r = SYCL_LAUNCH(work->queue, work->step, sycl_range1(work->count), NULL,
				    SYCL_READ_WRITE(work->buffer));
	return r == 0 ? sycl_queue_wait(work->queue) : r;
}

int main(int argc, char **argv)
{
	unsigned long most = argc > 1 ? strtoul(argv[1], NULL, 10) : 1, turns = 0;
	uint32_t class = 0;
	struct work work = {.count = ITEMS};
	work.numbers = calloc(work.count, sizeof(*work.numbers));
	sycl_result r = work.numbers ? work_prepare(&work) : SYCL_ERROR_MEMORY_ALLOCATION;
	while (r == 0 && (most > 0 ? turns < most : !input_has_ended())) {
		r = work_turn(&work);
		turns += r == 0;
	}
	if (r == 0)
		r = sycl_platform_get_info(work.platform, SYCL_PLATFORM_INFO_CLASS, sizeof(class),
					   &class, NULL);
	if (r == 0)
		r = sycl_buffer_release(work.buffer);
	for (size_t i = 0; r == 0 && i < work.count; i++)
		if (work.numbers[i] != turns) {
			(void)fprintf(stderr, "number %zu is %u after %lu turns\n", i,
				      work.numbers[i], turns);
			return 1;
		}
	if (r != 0) {
		(void)fprintf(stderr, "after %lu turns: %s\n", turns, sycl_get_last_error_text());
		return work.platform ? 1 : NO_SERVICE;
	}
	(void)printf("verified, class %u\n", class);
	free(work.numbers);
	return 0;
}
