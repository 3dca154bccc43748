#include "order/fixture.h"

#include "gpu/driver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

/*
 * chain: see fixture.h. meet (words, seen, place, wanted, looks): increments the count, waits until
 * `wanted` have done so, and stores the count that it read. A work-group that waits in vain marks
 * the second word, after which none waits. crowd (words, looks): how many run now, the largest
 * number so far, how many have ended.
 */
static const char ptx[] =
	".version 7.8\n.target sm_75\n.address_size 64\n"
	".visible .entry chain(.param .u64 to, .param .u64 from, .param .u64 log, .param .u32 value)\n{\n"
	"\t.reg .b32 %r<10>;\n\t.reg .b64 %p<5>;\n"
	"\tmov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;\n"
	"\tmul.wide.u32 %p1, %r1, 4; ld.param.u32 %r4, [value];\n"
	"\tld.param.u64 %p2, [to]; cvta.to.global.u64 %p2, %p2; add.u64 %p2, %p2, %p1;\n"
	"\tld.param.u64 %p3, [from]; cvta.to.global.u64 %p3, %p3; add.u64 %p3, %p3, %p1;\n"
	"\tld.param.u64 %p4, [log]; cvta.to.global.u64 %p4, %p4; add.u64 %p4, %p4, %p1;\n"
	"\tld.global.u32 %r5, [%p2]; ld.global.u32 %r6, [%p3]; mad.lo.u32 %r5, %r5, 31, %r6; add.u32 %r5, %r5, %r4;\n"
	"\tst.global.u32 [%p2], %r5;\n"
	"\tld.global.u32 %r7, [%p4]; mad.lo.u32 %r7, %r7, 31, %r5; st.global.u32 [%p4], %r7;\n\tret;\n}\n"
	".visible .entry meet(.param .u64 words, .param .u64 seen, .param .u32 place, .param .u32 wanted, .param .u32 looks)\n{\n"
	"\t.reg .b32 %r<8>;\n\t.reg .b64 %p<4>;\n\t.reg .pred %q;\n"
	"\tld.param.u64 %p1, [words]; cvta.to.global.u64 %p1, %p1; ld.param.u64 %p2, [seen]; cvta.to.global.u64 %p2, %p2;\n"
	"\tld.param.u32 %r1, [place]; mul.wide.u32 %p3, %r1, 4; add.u64 %p2, %p2, %p3;\n"
	"\tld.param.u32 %r2, [wanted]; ld.param.u32 %r3, [looks];\n"
	"\tatom.global.add.u32 %r4, [%p1], 1;\n"
	"look:\n\tld.volatile.global.u32 %r5, [%p1]; setp.ge.u32 %q, %r5, %r2; @%q bra leave;\n"
	"\tld.volatile.global.u32 %r6, [%p1+4]; setp.ne.u32 %q, %r6, 0; @%q bra leave;\n"
	"\tsub.u32 %r3, %r3, 1; setp.ne.u32 %q, %r3, 0; @%q bra look;\n"
	"\tmov.u32 %r6, 1; st.volatile.global.u32 [%p1+4], %r6;\n"
	"leave:\n\tst.global.u32 [%p2], %r5;\n\tret;\n}\n"
	".visible .entry crowd(.param .u64 words, .param .u32 looks)\n{\n"
	"\t.reg .b32 %r<6>;\n\t.reg .b64 %p<2>;\n\t.reg .pred %q;\n"
	"\tld.param.u64 %p1, [words]; cvta.to.global.u64 %p1, %p1; ld.param.u32 %r1, [looks];\n"
	"\tatom.global.add.u32 %r2, [%p1], 1; add.u32 %r2, %r2, 1; atom.global.max.u32 %r3, [%p1+4], %r2;\n"
	"look:\n\tld.volatile.global.u32 %r4, [%p1]; sub.u32 %r1, %r1, 1; setp.ne.u32 %q, %r1, 0; @%q bra look;\n"
	"\tatom.global.add.u32 %r5, [%p1+8], 1; atom.global.add.u32 %r2, [%p1], -1;\n\tret;\n}\n";

const char *order_library(void)
{
	return getenv("SYCLD_TEST_CUDA_LIBRARY");
}

/* Only this process has it, and it ends with the process. Tests share it at their begin; a test
 * that must be alone does not. */
static void take_turn(int how)
{
	static int lock = -1;
	if (lock < 0) {
		lock = open(TEST_CACHE "/gpu_order.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0666);
		cr_assert_geq(lock, 0, "%s: %s", TEST_CACHE, strerror(errno));
		cr_assert_eq(flock(lock, how), 0);
	}
}

void order_alone(void)
{
	take_turn(LOCK_EX);
}

static void find_devices(struct order *order)
{
	sycl_platform all[32];
	uint32_t count = 0, backend = 0;
	MUST(sycl_platform_get_platforms(order->connection, 32, all, &count));
	cr_assert_leq(count, 32u);
	for (uint32_t i = 0; i < count; i++) {
		MUST(sycl_platform_get_info(all[i], SYCL_PLATFORM_INFO_BACKEND, sizeof(backend),
					    &backend, NULL));
		if (backend == SYCL_BACKEND_KIND_CUDA)
			MUST(sycl_platform_get_devices(all[i], SYCL_DEVICE_TYPE_GPU,
						       ORDER_DEVICES_MAX, order->devices,
						       &order->device_count));
		MUST(sycl_platform_release(all[i]));
	}
	if (order->device_count > ORDER_DEVICES_MAX)
		order->device_count = ORDER_DEVICES_MAX;
}

void order_begin(struct order *order, const char *options, uint32_t devices)
{
	char words[4096];
	const char *library = order_library();
	*order = (struct order){.connection = NULL};
	take_turn(LOCK_SH);
	(void)snprintf(words, sizeof(words), "%s%s%s", options, library ? " cuda:library=" : "",
		       library ? library : "");
	cr_assert_eq(setenv("SYCLD_BACKEND_OPTIONS", words, 1), 0);
	cr_assert_eq(setenv("XDG_CACHE_HOME", TEST_CACHE, 1), 0);
	MUST(sycl_platform_open("embedded:", &order->connection));
	find_devices(order);
	if (order->device_count >= devices) {
		MUST(sycl_context_create(devices, order->devices, &order->context));
		return;
	}
	order_end(order);
	cr_skip_test("fewer than %u GPUs with a CUDA driver", devices);
}

void order_end(struct order *order)
{
	if (order->context)
		MUST(sycl_context_release(order->context));
	for (uint32_t i = 0; i < order->device_count; i++)
		MUST(sycl_device_release(order->devices[i]));
	MUST(sycl_platform_release(order->connection));
}

int order_attribute(int attribute)
{
	struct gpu_driver driver;
	int value = 0, device = 0;
	cr_assert(gpu_driver_open(&driver, order_library(), true));
	cr_assert_eq(driver.device_get(&device, 0), 0);
	cr_assert_eq(driver.device_attribute(&value, attribute, device), 0);
	return value;
}

sycl_queue order_queue(const struct order *order, uint32_t device, bool in_order)
{
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	sycl_queue queue = NULL;
	options.properties = in_order ? SYCL_QUEUE_IN_ORDER : 0;
	MUST(sycl_queue_create(order->context, order->devices[device], &options, &queue));
	return queue;
}

sycl_kernel order_kernel(sycl_queue queue, const char *name)
{
	sycl_kernel_bundle bundle = NULL;
	sycl_kernel kernel = NULL;
	MUST(sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_PTX, ptx, NULL, &bundle));
	MUST(sycl_kernel_create(bundle, name, &kernel));
	MUST(sycl_kernel_bundle_release(bundle));
	return kernel;
}

sycl_buffer order_buffer(const struct order *order, sycl_queue queue)
{
	const uint32_t zero = 0;
	sycl_buffer buffer = NULL;
	MUST(sycl_buffer_create(order->connection, NULL, ORDER_ITEMS * sizeof(zero), SYCL_HOST_NONE,
				&buffer));
	MUST(sycl_queue_fill(queue, buffer, 0, ORDER_ITEMS * sizeof(zero), &zero, sizeof(zero),
			     NULL));
	return buffer;
}

void *order_memory(sycl_queue queue, uint64_t size_bytes)
{
	void *memory = NULL;
	MUST(sycl_malloc_device(queue, size_bytes, 0, &memory));
	MUST(sycl_queue_memset(queue, memory, 0, size_bytes, 0, NULL, NULL));
	MUST(sycl_queue_wait(queue));
	return memory;
}

void order_fetch(sycl_queue queue, void *to, const void *from, uint64_t size_bytes)
{
	MUST(sycl_queue_wait(queue));
	MUST(sycl_queue_memcpy(queue, to, from, size_bytes, 0, NULL, NULL));
	MUST(sycl_queue_wait(queue));
}

void order_submit(sycl_queue queue, sycl_kernel chain, const sycl_buffer *buffers,
		  uint32_t *const *logs, const struct order_step *step, sycl_event after,
		  sycl_event *event_out)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffers[step->to], SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_set_accessor(handler, 1, buffers[step->from], SYCL_ACCESS_READ));
	MUST(sycl_handler_set_usm(handler, 2, logs[step->log]));
	MUST(sycl_handler_set_value(handler, 3, sizeof(step->value), &step->value));
	if (after)
		MUST(sycl_handler_depends_on(handler, after));
	MUST(sycl_handler_parallel_for(handler, chain, sycl_range1(ORDER_ITEMS)));
	MUST(sycl_handler_submit(handler, event_out));
}

void order_model_step(struct order_model *model, const struct order_step *step)
{
	uint32_t *to = &model->buffers[step->to], *log = &model->logs[step->log];
	*to = *to * 31 + model->buffers[step->from] + step->value;
	*log = *log * 31 + *to;
}

struct order_step order_random_step(unsigned *seed)
{
	uint32_t to = (uint32_t)rand_r(seed) % ORDER_BUFFERS;
	uint32_t further = 1 + (uint32_t)rand_r(seed) % (ORDER_BUFFERS - 1);
	return (struct order_step){.to = to,
				   .from = (to + further) % ORDER_BUFFERS,
				   .log = (uint32_t)rand_r(seed) % ORDER_LOGS,
				   .value = (uint32_t)rand_r(seed)};
}

void order_expect(sycl_buffer buffer, uint32_t value)
{
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	MUST(sycl_host_accessor_create(buffer, SYCL_ACCESS_READ, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	const uint32_t *words = pointer;
	for (uint32_t i = 0; i < ORDER_ITEMS; i++)
		cr_assert_eq(words[i], value, "word %u is %u, not %u", i, words[i], value);
	MUST(sycl_host_accessor_release(accessor));
}

void order_expect_log(sycl_queue queue, const uint32_t *log, uint32_t value)
{
	uint32_t words[ORDER_ITEMS];
	order_fetch(queue, words, log, sizeof(words));
	for (uint32_t i = 0; i < ORDER_ITEMS; i++)
		cr_assert_eq(words[i], value, "word %u of the log is %u, not %u", i, words[i],
			     value);
}
