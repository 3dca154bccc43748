/* A random mixture of work on a few buffers. The host does the same work for comparison. */
#include "processes/programs/worker.h"

#include <string.h>

enum { BUFFERS = 4, ELEMENTS = 4096 };

static const char source[] =
	"SYCL_KERNEL void scale(SYCL_GLOBAL(uint) y, uint a, uint b)\n"
	"{ ulong i = sycl_global_id(0); y[i] = y[i] * a + b; }\n"
	"SYCL_KERNEL void add(SYCL_GLOBAL(const uint) x, SYCL_GLOBAL(uint) y)\n"
	"{ ulong i = sycl_global_id(0); y[i] += x[i]; }\n";

struct mix {
	struct worker *worker;
	sycl_kernel scale, add;
	sycl_buffer buffers[BUFFERS];
	uint32_t given[BUFFERS]
		      [ELEMENTS]; /* memory given to the buffer, written back at its release */
	uint32_t wanted[BUFFERS][ELEMENTS]; /* its expected contents */
};

static void submit_handler(sycl_handler handler)
{
	worker_must(sycl_handler_submit(handler, NULL), "sycl_handler_submit");
}

static void do_scale(struct mix *mix, uint32_t y)
{
	uint32_t a = 1 + 2 * worker_random(mix->worker, 1000), b = worker_random(mix->worker, 1000);
	sycl_handler h;
	worker_must(sycl_handler_begin(mix->worker->queue, &h), "sycl_handler_begin");
	worker_must(sycl_handler_set_accessor(h, 0, mix->buffers[y], SYCL_ACCESS_READ_WRITE),
		    "accessor");
	worker_must(sycl_handler_set_value(h, 1, sizeof(a), &a), "value");
	worker_must(sycl_handler_set_value(h, 2, sizeof(b), &b), "value");
	worker_must(sycl_handler_parallel_for(h, mix->scale, sycl_range1(ELEMENTS)),
		    "parallel_for");
	submit_handler(h);
	for (uint32_t i = 0; i < ELEMENTS; i++)
		mix->wanted[y][i] = mix->wanted[y][i] * a + b;
}

static void do_add(struct mix *mix, uint32_t y)
{
	uint32_t x = (y + 1 + worker_random(mix->worker, BUFFERS - 1)) % BUFFERS;
	sycl_handler h;
	worker_must(sycl_handler_begin(mix->worker->queue, &h), "sycl_handler_begin");
	worker_must(sycl_handler_set_accessor(h, 0, mix->buffers[x], SYCL_ACCESS_READ), "accessor");
	worker_must(sycl_handler_set_accessor(h, 1, mix->buffers[y], SYCL_ACCESS_READ_WRITE),
		    "accessor");
	worker_must(sycl_handler_parallel_for(h, mix->add, sycl_range1(ELEMENTS)), "parallel_for");
	submit_handler(h);
	for (uint32_t i = 0; i < ELEMENTS; i++)
		mix->wanted[y][i] += mix->wanted[x][i];
}

/* Chooses a part of at least one element. */
static void random_part(struct mix *mix, uint32_t *first_out, uint32_t *count_out)
{
	uint32_t count = 1 + worker_random(mix->worker, ELEMENTS);
	*first_out = worker_random(mix->worker, ELEMENTS - count + 1);
	*count_out = count;
}

static void mix_program_do_fill(struct mix *mix, uint32_t y)
{
	uint32_t first, count, pattern = worker_random(mix->worker, 1u << 30);
	random_part(mix, &first, &count);
	worker_must(sycl_queue_fill(mix->worker->queue, mix->buffers[y], first * 4ull, count * 4ull,
				    &pattern, sizeof(pattern), NULL),
		    "sycl_queue_fill");
	for (uint32_t i = first; i < first + count; i++)
		mix->wanted[y][i] = pattern;
}

static void mix_program_do_copy(struct mix *mix, uint32_t y)
{
	uint32_t x = (y + 1 + worker_random(mix->worker, BUFFERS - 1)) % BUFFERS, first, count;
	random_part(mix, &first, &count);
	uint32_t to = worker_random(mix->worker, ELEMENTS - count + 1);
	worker_must(sycl_queue_copy(mix->worker->queue, mix->buffers[x], first * 4ull,
				    mix->buffers[y], to * 4ull, count * 4ull, NULL),
		    "sycl_queue_copy");
	memcpy(mix->wanted[y] + to, mix->wanted[x] + first, count * 4ul);
}

static void do_host(struct mix *mix, uint32_t y)
{
	bool writes = worker_random(mix->worker, 2);
	sycl_host_accessor accessor;
	void *pointer = NULL;
	worker_must(sycl_host_accessor_create(mix->buffers[y],
					      writes ? SYCL_ACCESS_READ_WRITE : SYCL_ACCESS_READ,
					      &accessor),
		    "sycl_host_accessor_create");
	worker_must(sycl_host_accessor_get_pointer(accessor, &pointer),
		    "sycl_host_accessor_get_pointer");
	uint32_t *words = pointer;
	bool right = words && memcmp(words, mix->wanted[y], ELEMENTS * 4ul) == 0;
	worker_check(right, "a host accessor shows wrong contents");
	if (right && writes) {
		uint32_t at = worker_random(mix->worker, ELEMENTS),
			 value = worker_random(mix->worker, 1u << 30);
		words[at] = mix->wanted[y][at] = value;
	}
	worker_must(sycl_host_accessor_release(accessor), "sycl_host_accessor_release");
}

static void begin_mix(struct mix *mix)
{
	mix->scale = worker_kernel(mix->worker, source, "scale");
	mix->add = worker_kernel(mix->worker, source, "add");
	for (uint32_t b = 0; b < BUFFERS; b++) {
		for (uint32_t i = 0; i < ELEMENTS; i++)
			mix->given[b][i] = mix->wanted[b][i] = worker_random(mix->worker, 1u << 30);
		worker_must(sycl_buffer_create(mix->worker->platform, mix->given[b], ELEMENTS * 4ul,
					       SYCL_HOST_BORROWED, &mix->buffers[b]),
			    "sycl_buffer_create");
	}
}

/* Releasing a buffer writes the devices' results back. */
static void end_mix(struct mix *mix)
{
	for (uint32_t b = 0; b < BUFFERS; b++) {
		worker_must(sycl_buffer_release(mix->buffers[b]), "sycl_buffer_release");
		worker_check(memcmp(mix->given[b], mix->wanted[b], ELEMENTS * 4ul) == 0,
			     "wrong contents written back");
	}
	worker_must(sycl_kernel_release(mix->scale), "sycl_kernel_release");
	worker_must(sycl_kernel_release(mix->add), "sycl_kernel_release");
}

static void run_mix(struct worker *worker, uint64_t count)
{
	static void (*const actions[])(struct mix * mix, uint32_t y) = {
		do_scale, do_add, mix_program_do_fill, mix_program_do_copy, do_host};
	struct mix mix = {.worker = worker};
	begin_mix(&mix);
	for (uint64_t i = 0; i < count; i++)
		actions[worker_random(worker, sizeof(actions) / sizeof(*actions))](
			&mix, worker_random(worker, BUFFERS));
	end_mix(&mix);
}

int worker_mix(struct worker *worker)
{
	worker_connect(worker);
	run_mix(worker, worker->count);
	worker_disconnect(worker);
	worker_say("ok");
	return 0;
}

int worker_steps(struct worker *worker)
{
	worker_connect(worker);
	run_mix(worker, worker->count);
	worker_say("ready");
	while (worker_next_line()) {
		run_mix(worker, worker->count);
		worker_say("done");
	}
	worker_disconnect(worker);
	worker_say("ok");
	return 0;
}

int worker_open(struct worker *worker)
{
	worker_say("waiting");
	worker_check(worker_next_line(), "no line came");
	worker_connect(worker);
	run_mix(worker, 20);
	worker_say("worked");
	/* Stays connected, so that all sessions of the test exist at the same time. */
	while (worker_next_line())
		;
	worker_disconnect(worker);
	worker_say("ok");
	return 0;
}
