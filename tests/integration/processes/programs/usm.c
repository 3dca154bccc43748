/* USM of every kind that the device has. One connection finds or starts its service, and a second
 * one uses its path. */
#include "processes/programs/worker.h"

static const char source[] =
	"SYCL_KERNEL void sums(SYCL_GLOBAL(uint) d, SYCL_GLOBAL(const uint) h, SYCL_GLOBAL(uint) s)\n"
	"{ ulong i = sycl_global_id(0); d[i] = h[i] + 1; s[i] += d[i]; }";

static void *usm_program_allocate_usm(sycl_queue queue, sycl_usm_kind kind, uint64_t bytes)
{
	sycl_context context = NULL;
	sycl_device device = NULL;
	void *pointer = NULL;
	worker_must(sycl_queue_get_context(queue, &context), "sycl_queue_get_context");
	worker_must(sycl_queue_get_device(queue, &device), "sycl_queue_get_device");
	worker_must(sycl_usm_malloc(context, device, kind, bytes, 0, &pointer), "sycl_usm_malloc");
	worker_must(sycl_device_release(device), "sycl_device_release");
	worker_must(sycl_context_release(context), "sycl_context_release");
	return pointer;
}

/* Small pieces, which share pages, and large ones. */
static void use_usm(sycl_queue queue, uint64_t words)
{
	uint32_t *device =
		usm_program_allocate_usm(queue, SYCL_USM_DEVICE, words * sizeof(uint32_t));
	uint32_t *host = usm_program_allocate_usm(queue, SYCL_USM_HOST, words * sizeof(uint32_t));
	uint32_t *shared =
		usm_program_allocate_usm(queue, SYCL_USM_SHARED, words * sizeof(uint32_t));
	sycl_kernel kernel = NULL;
	sycl_handler handler = NULL;
	sycl_event event = NULL;
	for (uint64_t i = 0; i < words; i++) {
		host[i] = (uint32_t)i;
		shared[i] = 1000;
	}
	worker_must(sycl_kernel_from_source(queue, source, "sums", &kernel),
		    "sycl_kernel_from_source");
	worker_must(sycl_handler_begin(queue, &handler), "sycl_handler_begin");
	worker_must(sycl_handler_set_usm(handler, 0, device), "device USM");
	worker_must(sycl_handler_set_usm(handler, 1, host), "host USM");
	worker_must(sycl_handler_set_usm(handler, 2, shared), "shared USM");
	worker_must(sycl_handler_parallel_for(handler, kernel, sycl_range1(words)),
		    "sycl_handler_parallel_for");
	worker_must(sycl_handler_submit(handler, NULL), "sycl_handler_submit");
	worker_must(
		sycl_queue_memcpy(queue, host, device, words * sizeof(uint32_t), 0, NULL, &event),
		"sycl_queue_memcpy");
	worker_must(sycl_event_wait(event), "sycl_event_wait");
	for (uint64_t i = 0; i < words; i++) {
		worker_check(host[i] == i + 1, "host USM has not what the device copied");
		worker_check(shared[i] == 1001 + i, "shared USM has not what the kernel wrote");
	}
	worker_must(sycl_event_release(event), "sycl_event_release");
	worker_must(sycl_kernel_release(kernel), "sycl_kernel_release");
	worker_must(sycl_free(queue, shared), "sycl_free");
	worker_must(sycl_free(queue, host), "sycl_free");
	worker_must(sycl_free(queue, device), "sycl_free");
}

int worker_usm(struct worker *worker)
{
	char endpoint[128];
	worker_connect(worker);
	worker_must(sycl_platform_get_info(worker->platform, SYCL_PLATFORM_INFO_ENDPOINT,
					   sizeof(endpoint), endpoint, NULL),
		    "the endpoint");
	struct worker second = {.endpoint = endpoint};
	worker_connect(&second);
	for (uint64_t i = 0; i < worker->count; i++) {
		use_usm(worker->queue, 8);
		use_usm(second.queue, 8);
		use_usm(worker->queue, 10000);
		use_usm(second.queue, 10000);
	}
	worker_disconnect(&second);
	worker_disconnect(worker);
	worker_say("ok");
	return 0;
}
