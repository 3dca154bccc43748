/* Kernels of the CPU device in sizes of work-groups that were not launched before, and a source
 * that would run code where it is built. */
#include "processes/programs/worker.h"

#include "clock.h"

#include <stdio.h>
#include <unistd.h>

enum { ITEMS = 960, NAME_BYTES = 64, SOURCE_BYTES = 1024 };

/* A kernel that was never built, so nothing of it is in a cache. */
static sycl_kernel new_kernel(struct worker *worker, const char *body)
{
	char name[NAME_BYTES], source[SOURCE_BYTES];
	(void)snprintf(name, sizeof(name), "new_%ld_%llu", (long)getpid(),
		       (unsigned long long)clock_now_ns());
	(void)snprintf(source, sizeof(source), "SYCL_KERNEL void %s(SYCL_GLOBAL(uint) y)\n%s", name,
		       body);
	return worker_kernel(worker, source, name);
}

/* Each work-item reads what another one of its group has written. */
static const char turn[] =
	"{\n"
	"	uint size = (uint)sycl_local_range(0), id = (uint)sycl_local_id(0);\n"
	"	ulong group = sycl_global_id(0) - id;\n"
	"	y[group + (id + 1) % size] = 1000 * size + id;\n"
	"	sycl_group_barrier();\n"
	"	y[group + id] += 1;\n"
	"}\n";

static void launch_size(struct worker *worker, sycl_kernel kernel, uint32_t *y, uint32_t size)
{
	sycl_handler handler = NULL;
	sycl_event event = NULL;
	worker_must(sycl_handler_begin(worker->queue, &handler), "sycl_handler_begin");
	worker_must(sycl_handler_set_usm(handler, 0, y), "sycl_handler_set_usm");
	worker_must(sycl_handler_parallel_for_nd(handler, kernel, sycl_range1(ITEMS),
						 sycl_range1(size)),
		    "sycl_handler_parallel_for_nd");
	worker_must(sycl_handler_submit(handler, &event), "sycl_handler_submit");
	worker_must(sycl_event_wait(event), "sycl_event_wait");
	worker_must(sycl_event_release(event), "sycl_event_release");
	for (uint32_t i = 0; i < ITEMS; i++)
		worker_check(y[i] == 1000 * size + (i % size + size - 1) % size + 1,
			     "a result is wrong");
}

int worker_sizes(struct worker *worker)
{
	static const uint32_t sizes[] = {1, 2, 3, 5, 8, 12, 20, 32, 60, 96};
	sycl_context context = NULL;
	sycl_device device = NULL;
	void *y = NULL;
	worker_connect(worker);
	worker_must(sycl_queue_get_context(worker->queue, &context), "sycl_queue_get_context");
	worker_must(sycl_queue_get_device(worker->queue, &device), "sycl_queue_get_device");
	worker_must(
		sycl_usm_malloc(context, device, SYCL_USM_SHARED, sizeof(uint32_t) * ITEMS, 0, &y),
		"sycl_usm_malloc");
	sycl_kernel kernel = new_kernel(worker, turn);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		launch_size(worker, kernel, y, sizes[i]);
	worker_must(sycl_kernel_release(kernel), "sycl_kernel_release");
	worker_must(sycl_free(worker->queue, y), "sycl_free");
	worker_must(sycl_device_release(device), "sycl_device_release");
	worker_must(sycl_context_release(context), "sycl_context_release");
	worker_disconnect(worker);
	worker_say("ok");
	return 0;
}

/* When the result is loaded, the loader calls address 8. The kernel is not launched. */
int worker_loads(struct worker *worker)
{
	static const char loads[] =
		"{\n"
		"	__asm__ volatile(\".pushsection .init_array,\\\"aw\\\"\\n\"\n"
		"			 \".quad 8\\n.popsection\");\n"
		"	y[0] = 1;\n"
		"}\n";
	worker_connect(worker);
	sycl_kernel kernel = new_kernel(worker, loads);
	worker_must(sycl_kernel_release(kernel), "sycl_kernel_release");
	worker_disconnect(worker);
	worker_say("ok");
	return 0;
}
