/*
 * Random programs over a few cells of USM, which only events order, against a serial model (B19).
 * Queues are in order and out of order, on one device, and on two of one context. With SYCLD_LONG
 * there are ten thousand programs.
 */
#include "library/usm.h"

#include "amount.h"

#include <stdlib.h>

TestSuite(usm_programs, .timeout = 1800, .init = usm_test_begin, .fini = usm_test_end);

enum { CELLS = 6, STEPS = 24, QUEUES = 3, CELL_WORDS = 16, PROGRAMS = 100, PROGRAMS_LONG = 10000 };

static const sycl_usm_kind kinds[] = {SYCL_USM_DEVICE, SYCL_USM_HOST, SYCL_USM_SHARED};

enum what { COPY, COPY_KERNEL, INCREMENT, FILL, STEP_KINDS };

struct dag {
	uint64_t random;
	sycl_context context; /* of all queues and cells */
	sycl_queue queues[QUEUES];
	sycl_device devices[QUEUES];
	sycl_kernel increment[QUEUES], copy[QUEUES];
	uint32_t *cells[CELLS];
	sycl_device owners[CELLS]; /* NULL: every device can access it */
	uint32_t model[CELLS];
	sycl_event writer[CELLS];         /* the last writer, or NULL */
	sycl_event readers[CELLS][STEPS]; /* readers since then */
	uint32_t reader_count[CELLS];
	sycl_event all[STEPS];
	uint32_t count;
};

static uint32_t draw_random(struct dag *dag, uint32_t below)
{
	dag->random ^= dag->random << 13;
	dag->random ^= dag->random >> 7;
	dag->random ^= dag->random << 17;
	return (uint32_t)((dag->random >> 33) % below);
}

static void depend(struct dag *dag, sycl_handler handler, uint32_t cell, bool writes)
{
	if (dag->writer[cell])
		MUST(sycl_handler_depends_on(handler, dag->writer[cell]));
	for (uint32_t i = 0; writes && i < dag->reader_count[cell]; i++)
		MUST(sycl_handler_depends_on(handler, dag->readers[cell][i]));
}

static void wrote(struct dag *dag, uint32_t cell, sycl_event event)
{
	dag->writer[cell] = event;
	dag->reader_count[cell] = 0;
}

/* Returns true if kernels and fills of the queue can access the cell. Copies can access all of the
 * context. */
static bool reaches(const struct dag *dag, uint32_t q, uint32_t cell)
{
	return !dag->owners[cell] || dag->owners[cell] == dag->devices[q];
}

static void set_action(struct dag *dag, sycl_handler handler, enum what what, uint32_t q,
		       uint32_t to, uint32_t from, uint32_t value)
{
	switch (what) {
	case COPY:
		MUST(sycl_handler_memcpy(handler, dag->cells[to], dag->cells[from],
					 CELL_WORDS * 4ul));
		break;
	case COPY_KERNEL:
		MUST(sycl_handler_set_usm(handler, 0, dag->cells[to]));
		MUST(sycl_handler_set_usm(handler, 1, dag->cells[from]));
		MUST(sycl_handler_parallel_for(handler, dag->copy[q], sycl_range1(CELL_WORDS)));
		break;
	case INCREMENT:
		MUST(sycl_handler_set_usm(handler, 0, dag->cells[to]));
		MUST(sycl_handler_parallel_for(handler, dag->increment[q],
					       sycl_range1(CELL_WORDS)));
		break;
	default:
		MUST(sycl_handler_usm_fill(handler, dag->cells[to], CELL_WORDS * 4ul, &value,
					   sizeof(value)));
	}
}

static void submit_random_step(struct dag *dag)
{
	uint32_t q = draw_random(dag, QUEUES), to = draw_random(dag, CELLS),
		 value = draw_random(dag, 1000);
	uint32_t from = (to + 1 + draw_random(dag, CELLS - 1)) % CELLS;
	enum what what = (enum what)draw_random(dag, STEP_KINDS);
	sycl_handler handler = NULL;
	sycl_event event = NULL;
	if (!reaches(dag, q, to) || (what == COPY_KERNEL && !reaches(dag, q, from)))
		what = COPY;
	bool reads = what == COPY || what == COPY_KERNEL;
	MUST(sycl_handler_begin(dag->queues[q], &handler));
	depend(dag, handler, to, true);
	if (reads)
		depend(dag, handler, from, false);
	set_action(dag, handler, what, q, to, from, value);
	MUST(sycl_handler_submit(handler, &event));
	dag->all[dag->count++] = event;
	dag->model[to] = reads ? dag->model[from] : what == INCREMENT ? dag->model[to] + 1 : value;
	wrote(dag, to, event);
	if (reads)
		dag->readers[from][dag->reader_count[from]++] = event;
}

static void run_program(struct dag *dag, uint32_t number)
{
	uint32_t got[CELL_WORDS];
	dag->count = 0;
	for (uint32_t i = 0; i < CELLS; i++)
		wrote(dag, i, NULL);
	for (uint32_t i = 0; i < STEPS; i++)
		submit_random_step(dag);
	MUST(sycl_event_wait_all(dag->count, dag->all, LONG_NS));
	for (uint32_t i = 0; i < CELLS; i++) {
		sycl_event read = NULL;
		MUST(sycl_queue_memcpy(dag->queues[0], got, dag->cells[i], sizeof(got), 0, NULL,
				       &read));
		MUST(sycl_event_wait(read));
		MUST(sycl_event_release(read));
		for (uint32_t w = 0; w < CELL_WORDS; w++)
			cr_assert(eq(u32, got[w], dag->model[i]), "program %u, cell %u", number, i);
	}
	for (uint32_t i = 0; i < dag->count; i++)
		MUST(sycl_event_release(dag->all[i]));
}

/* Makes cells of all kinds. Those of a device belong to the devices of the first and of the last
 * queue in turn. */
static void make_cells(struct dag *dag)
{
	static const uint32_t zero = 0;
	for (uint32_t i = 0; i < CELLS; i++) {
		sycl_usm_kind kind = kinds[i % 3];
		uint32_t q = i < CELLS / 2 ? 0 : QUEUES - 1;
		void *cell = NULL;
		MUST(sycl_usm_malloc(dag->context, dag->devices[q], kind, CELL_WORDS * 4ul, 0,
				     &cell));
		dag->cells[i] = cell;
		dag->owners[i] = kind == SYCL_USM_DEVICE ? dag->devices[q] : NULL;
		MUST(sycl_queue_usm_fill(dag->queues[q], cell, CELL_WORDS * 4ul, &zero,
					 sizeof(zero), 0, NULL, NULL));
		MUST(sycl_queue_wait(dag->queues[q]));
	}
}

/* `second`: the device of two of the queues; it may be the first one's, too. */
static void run_programs(sycl_context of, sycl_device second)
{
	static struct dag dag = {.random = 88172645463325252ull};
	const sycl_device devices[QUEUES] = {device, second, second};
	const uint32_t programs = getenv("SYCLD_LONG") ? PROGRAMS_LONG : PROGRAMS;
	dag.context = of;
	for (uint32_t q = 0; q < QUEUES; q++) {
		struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
		options.properties = q == 1 ? SYCL_QUEUE_IN_ORDER : 0;
		dag.devices[q] = devices[q];
		MUST(sycl_queue_create(of, devices[q], &options, &dag.queues[q]));
		dag.increment[q] = portable_kernel(dag.queues[q], "increment_u32");
		dag.copy[q] = portable_kernel(dag.queues[q], "copy_u32");
	}
	make_cells(&dag);
	for (uint32_t i = 0; i < programs; i++)
		run_program(&dag, i);
	amount_say(programs, "programs over USM");
	for (uint32_t i = 0; i < CELLS; i++)
		MUST(sycl_usm_free(of, dag.cells[i]));
	for (uint32_t q = 0; q < QUEUES; q++) {
		MUST(sycl_kernel_release(dag.increment[q]));
		MUST(sycl_kernel_release(dag.copy[q]));
		MUST(sycl_queue_release(dag.queues[q]));
	}
}

Test(usm_programs, B19_random_programs_that_only_events_order)
{
	run_programs(context, device);
}

Test(usm_programs, B19_B20_random_programs_on_two_devices_of_one_context)
{
	sycl_device second = usm_other_device();
	const sycl_device devices[] = {device, second};
	sycl_context both = NULL;
	MUST(sycl_context_create(second == device ? 1 : 2, devices, &both));
	run_programs(both, second);
	MUST(sycl_context_release(both));
	MUST(sycl_device_release(second));
}
