/* Clients of an NVIDIA GPU whose kernels fail in every way that a device supports (F12, M10). */
#include "processes/programs/worker.h"

#include <stdlib.h>
#include <string.h>

/* Each is one launch of one work-item; `size` is the depth of the stack. */
static const char source[] =
	"extern \"C\" __device__ void __assertfail(const char *, const char *, unsigned, const char *, unsigned long);\n"
	"extern \"C\" __global__ void works(unsigned *p, unsigned n) { for (unsigned i = 0; i < n; i++) p[0] += 1; }\n"
	"extern \"C\" __global__ void illegal(unsigned *p, unsigned n) { *(volatile unsigned *)16 = p[0] + n; }\n"
	"extern \"C\" __global__ void misaligned(unsigned *p, unsigned n)\n"
	"{ *(volatile unsigned long long *)((char *)p + 1) = n; }\n"
	"extern \"C\" __global__ void asserts(unsigned *p, unsigned n)\n"
	"{ if (p[0] != n + 1) __assertfail(\"p[0] == n + 1\", \"kernel\", 6, \"asserts\", 1); }\n"
	"extern \"C\" __global__ void traps(unsigned *p, unsigned n) { p[0] = n; __trap(); }\n"
	"static __device__ __noinline__ unsigned deeper(volatile unsigned *p, unsigned n)\n"
	"{\n"
	"	unsigned room[256];\n"
	"	for (unsigned i = 0; i < 256; i++) room[i] = p[0] + i;\n"
	"	unsigned below = n == 0 ? 0 : deeper(p, n - 1);\n"
	"	return below + room[(n + below) % 256];\n"
	"}\n"
	"extern \"C\" __global__ void recurses(unsigned *p, unsigned n) { p[1] = deeper(p, n * 100000); }\n";

static bool gpu_program_is_cuda(sycl_device device)
{
	uint32_t backend = 0;
	worker_must(sycl_device_get_info(device, SYCL_DEVICE_INFO_BACKEND, sizeof(backend),
					 &backend, NULL),
		    "backend");
	return backend == SYCL_BACKEND_KIND_CUDA;
}

static int32_t gpu_program_choose_cuda(sycl_device device, void *unused)
{
	(void)unused;
	return gpu_program_is_cuda(device) ? 1 : -1;
}

/* Returns false if there is none, and prints that. */
static bool connect_cuda(struct worker *worker)
{
	worker_must(sycl_platform_open(worker->endpoint, &worker->platform), "sycl_platform_open");
	sycl_device device;
	if (sycl_device_select(worker->platform, gpu_program_choose_cuda, NULL, &device) != 0) {
		worker_say("none");
		return false;
	}
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	options.properties = SYCL_QUEUE_IN_ORDER;
	worker_must(sycl_queue_create(NULL, device, &options, &worker->queue), "sycl_queue_create");
	worker_must(sycl_device_release(device), "sycl_device_release");
	return true;
}

static sycl_kernel kernel_named(struct worker *worker, const char *name)
{
	sycl_kernel_bundle bundle = NULL;
	sycl_kernel kernel = NULL;
	sycl_result r = sycl_kernel_bundle_from_source(worker->queue, SYCL_SOURCE_CUDA_CPP, source,
						       NULL, &bundle);
	if (r != 0)
		worker_say("log %s", sycl_get_build_log());
	worker_must(r, "sycl_kernel_bundle_from_source");
	worker_must(sycl_kernel_create(bundle, name, &kernel), "sycl_kernel_create");
	worker_must(sycl_kernel_bundle_release(bundle), "sycl_kernel_bundle_release");
	return kernel;
}

static sycl_event launch_add(struct worker *worker, sycl_kernel kernel, sycl_buffer buffer,
			     uint32_t n)
{
	sycl_handler h;
	sycl_event event;
	worker_must(sycl_handler_begin(worker->queue, &h), "sycl_handler_begin");
	worker_must(sycl_handler_set_accessor(h, 0, buffer, SYCL_ACCESS_READ_WRITE), "accessor");
	worker_must(sycl_handler_set_value(h, 1, sizeof(n), &n), "value");
	worker_must(sycl_handler_single_task(h, kernel), "single_task");
	worker_must(sycl_handler_submit(h, &event), "sycl_handler_submit");
	return event;
}

static void expect_first(sycl_buffer buffer, uint32_t expected)
{
	sycl_host_accessor accessor;
	void *bytes = NULL;
	worker_must(sycl_host_accessor_create(buffer, SYCL_ACCESS_READ, &accessor),
		    "sycl_host_accessor_create");
	worker_must(sycl_host_accessor_get_pointer(accessor, &bytes), "pointer");
	worker_check(*(const uint32_t *)bytes == expected, "the result is wrong");
	worker_must(sycl_host_accessor_release(accessor), "sycl_host_accessor_release");
}

/* Does `--count` pieces of checked work after each line of stdin, and prints "stepped" after
 * each. */
int worker_gpu_steps(struct worker *worker)
{
	if (!connect_cuda(worker))
		return 0;
	sycl_kernel kernel = kernel_named(worker, "works");
	static uint32_t zero[64];
	sycl_buffer buffer;
	worker_must(
		sycl_buffer_create(worker->platform, zero, sizeof(zero), SYCL_HOST_CONST, &buffer),
		"buffer");
	worker_must(sycl_event_wait(launch_add(worker, kernel, buffer, 3)), "the first launch");
	worker_say("ready");
	uint32_t expected = 3;
	while (worker_next_line()) {
		for (uint64_t i = 0; i < worker->count; i++, expected += 3) {
			sycl_event event = launch_add(worker, kernel, buffer, 3);
			sycl_result r = sycl_event_wait(event);
			if (r != 0) {
				worker_say_result(r);
				worker_check(sycl_queue_wait(worker->queue) == r,
					     "a later wait says something else");
				worker_say("ok");
				return 0;
			}
			worker_must(sycl_event_release(event), "sycl_event_release");
		}
		expect_first(buffer, expected);
		worker_say("stepped");
	}
	worker_say("ok");
	return 0;
}

static int launch_fault(struct worker *worker, sycl_kernel kernel)
{
	static uint32_t zero[64];
	sycl_buffer buffer;
	worker_must(
		sycl_buffer_create(worker->platform, zero, sizeof(zero), SYCL_HOST_CONST, &buffer),
		"buffer");
	worker_say("ready");
	worker_check(worker_next_line(), "no line came");
	sycl_event event = launch_add(worker, kernel, buffer, 1);
	sycl_result r = sycl_event_wait(event);
	struct sycl_error_detail detail = SYCL_ERROR_DETAIL_INIT;
	worker_must(sycl_get_last_error(&detail), "sycl_get_last_error");
	worker_say("native %d", detail.native_code);
	worker_say_result(r);
	worker_check(sycl_queue_wait(worker->queue) == r, "a later wait says something else");
	worker_say("ok");
	return 0;
}

static int fault(struct worker *worker, const char *name)
{
	return connect_cuda(worker) ? launch_fault(worker, kernel_named(worker, name)) : 0;
}

int worker_gpu_illegal(struct worker *worker)
{
	return fault(worker, "illegal");
}

int worker_gpu_misaligned(struct worker *worker)
{
	return fault(worker, "misaligned");
}

int worker_gpu_asserts(struct worker *worker)
{
	return fault(worker, "asserts");
}

int worker_gpu_traps(struct worker *worker)
{
	return fault(worker, "traps");
}

int worker_gpu_recurses(struct worker *worker)
{
	return fault(worker, "recurses");
}
