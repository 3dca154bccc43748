#include "native/fixture.h"

#include <dlfcn.h>
#include <stdatomic.h>

/*
 * native_fill (word, out, value, looks): out[i] = value when the word is not 0; value + 1000000 if
 * that never happens. native_increment (out): out[i] += 1.
 */
const char native_ptx[] =
	".version 7.8\n.target sm_75\n.address_size 64\n"
	".visible .entry native_fill(.param .u64 word, .param .u64 out, .param .u32 value, .param .u32 looks)\n{\n"
	"\t.reg .b32 %r<8>;\n\t.reg .b64 %p<4>;\n\t.reg .pred %q;\n"
	"\tmov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;\n"
	"\tld.param.u64 %p1, [word]; cvta.to.global.u64 %p1, %p1;\n"
	"\tld.param.u64 %p2, [out]; cvta.to.global.u64 %p2, %p2; mul.wide.u32 %p3, %r1, 4; add.u64 %p2, %p2, %p3;\n"
	"\tld.param.u32 %r4, [value]; ld.param.u32 %r5, [looks];\n"
	"look:\n\tld.volatile.global.u32 %r6, [%p1]; setp.ne.u32 %q, %r6, 0; @%q bra leave;\n"
	"\tsub.u32 %r5, %r5, 1; setp.ne.u32 %q, %r5, 0; @%q bra look;\n"
	"\tadd.u32 %r4, %r4, 1000000;\n"
	"leave:\n\tst.global.u32 [%p2], %r4;\n\tret;\n}\n"
	".visible .entry native_increment(.param .u64 out)\n{\n"
	"\t.reg .b32 %r<5>;\n\t.reg .b64 %p<3>;\n"
	"\tmov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;\n"
	"\tld.param.u64 %p1, [out]; cvta.to.global.u64 %p1, %p1; mul.wide.u32 %p2, %r1, 4; add.u64 %p1, %p1, %p2;\n"
	"\tld.global.u32 %r4, [%p1]; add.u32 %r4, %r4, 1; st.global.u32 [%p1], %r4;\n\tret;\n}\n";

void *native_symbol(const char *name)
{
	static void *library;
	const char *path = order_library();

	if (!library)
		library = dlopen(path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	cr_assert_not_null(library, "%s", dlerror());
	void *symbol = dlsym(library, name);
	cr_assert_not_null(symbol, "%s", name);
	return symbol;
}

static sycl_kernel native_fixture_make_kernel(sycl_queue queue, const char *name)
{
	sycl_kernel_bundle bundle = NULL;
	sycl_kernel kernel = NULL;

	MUST(sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_PTX, native_ptx, NULL, &bundle));
	MUST(sycl_kernel_create(bundle, name, &kernel));
	MUST(sycl_kernel_bundle_release(bundle));
	return kernel;
}

void native_gate_begin(struct native_gate *gate, sycl_queue queue)
{
	void *word = NULL;

	*gate = (struct native_gate){.queue = queue};
	MUST(sycl_malloc_host(queue, sizeof(uint32_t), 0, &word));
	gate->word = word;
	native_gate_set(gate, true);
	gate->fill = native_fixture_make_kernel(queue, "native_fill");
	gate->increment = native_fixture_make_kernel(queue, "native_increment");
}

void native_gate_end(struct native_gate *gate)
{
	MUST(sycl_kernel_release(gate->fill));
	MUST(sycl_kernel_release(gate->increment));
	MUST(sycl_free(gate->queue, (void *)(uintptr_t)gate->word));
}

void native_gate_set(const struct native_gate *gate, bool is_open)
{
	*gate->word = is_open;
	atomic_thread_fence(memory_order_seq_cst);
}

/* Into the buffer, or into the words if there is none. */
static sycl_event gated_fill(const struct native_gate *gate, sycl_queue queue, sycl_buffer buffer,
			     uint32_t *words, uint32_t value)
{
	const uint32_t looks = ORDER_LOOKS;
	sycl_handler handler = NULL;
	sycl_event event = NULL;

	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_usm(handler, 0, (const void *)(uintptr_t)gate->word));
	if (buffer)
		MUST(sycl_handler_set_accessor(handler, 1, buffer, SYCL_ACCESS_WRITE));
	else
		MUST(sycl_handler_set_usm(handler, 1, words));
	MUST(sycl_handler_set_value(handler, 2, sizeof(value), &value));
	MUST(sycl_handler_set_value(handler, 3, sizeof(looks), &looks));
	MUST(sycl_handler_parallel_for(handler, gate->fill, sycl_range1(ORDER_ITEMS)));
	MUST(sycl_handler_submit(handler, &event));
	return event;
}

sycl_event native_gated_fill(const struct native_gate *gate, sycl_queue queue, sycl_buffer buffer,
			     uint32_t value)
{
	return gated_fill(gate, queue, buffer, NULL, value);
}

sycl_event native_gated_fill_usm(const struct native_gate *gate, sycl_queue queue, uint32_t *words,
				 uint32_t value)
{
	return gated_fill(gate, queue, NULL, words, value);
}

void native_increment(const struct native_gate *gate, sycl_queue queue, sycl_buffer buffer,
		      sycl_event *event_out)
{
	sycl_handler handler = NULL;

	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_parallel_for(handler, gate->increment, sycl_range1(ORDER_ITEMS)));
	MUST(sycl_handler_submit(handler, event_out));
}

void native_expect_open(sycl_event event)
{
	sycl_command_status status = SYCL_COMMAND_COMPLETE;

	MUST(sycl_event_get_status(event, &status));
	cr_assert_neq(status, SYCL_COMMAND_COMPLETE);
	cr_assert_eq(sycl_event_wait_for(event, 1000000), SYCL_ERROR_TIMEOUT);
}
