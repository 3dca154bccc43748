/* SPIR-V: the facts about kernels in a module, and a module that the test makes and runs if a
 * device accepts it. */
#include "opencl/program/spirv.h"

#include "status.h"
#include "targets/target.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

TestSuite(opencl_spirv, .timeout = 60);

struct module {
	uint32_t words[256];
	uint32_t count, bound;
};

/* One instruction: its number, then its operands. */
static void put_instruction(struct module *module, uint32_t op, uint32_t count,
			    const uint32_t *operands)
{
	module->words[module->count++] = (count + 1) << 16 | op;
	if (count > 0)
		memcpy(module->words + module->count, operands, count * sizeof(uint32_t));
	module->count += count;
}
#define PUT(module, op, ...)                                                                       \
	do {                                                                                       \
		const uint32_t operands_[] = {__VA_ARGS__};                                        \
		put_instruction((module), (op), sizeof(operands_) / sizeof(*operands_),            \
				operands_);                                                        \
	} while (0)
#define FOUR(a, b, c, d)                                                                           \
	((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

enum {
	MAIN = 1,
	GID,
	UINT,
	ULONG,
	VEC3,
	PTR_INPUT,
	VOID,
	PTR_GLOBAL,
	FUNCTION,
	P,
	V,
	LABEL,
	ID3,
	ID,
	ELEMENT,
	FLOAT,
	FLOAT4,
	PTR_CONSTANT,
	PTR_LOCAL,
	OTHER,
	OTHER_TYPE,
	A,
	B,
	C,
	LABEL2,
	BOUND,
};

/*
 * kernel fill(global uint *p, uint v) { p[global id] = v; }, and with `more` kernel other(constant
 * uint *, local uint
 * *, float4) { }.
 */
static void make_module(struct module *module, bool more)
{
	*module =
		(struct module){.words = {OPENCL_SPIRV_MAGIC, 0x00010000, 0, BOUND, 0}, .count = 5};
	PUT(module, 17, 4);    /* OpCapability Addresses */
	PUT(module, 17, 5);    /* Linkage */
	PUT(module, 17, 6);    /* Kernel */
	PUT(module, 17, 11);   /* Int64 */
	PUT(module, 14, 2, 2); /* OpMemoryModel Physical64 OpenCL */
	PUT(module, 15, 6, MAIN, FOUR('f', 'i', 'l', 'l'), 0, GID); /* OpEntryPoint Kernel */
	if (more)
		PUT(module, 15, 6, OTHER, FOUR('o', 't', 'h', 'e'), FOUR('r', 0, 0, 0));
	PUT(module, 3, 3, 102000);    /* OpSource OpenCL_C 1.2 */
	PUT(module, 71, GID, 11, 28); /* OpDecorate BuiltIn GlobalInvocationId */
	PUT(module, 71, GID, 22);     /* Constant */
	PUT(module, 71, GID, 41, FOUR('_', '_', 's', 'p'), FOUR('i', 'r', 'v', '_'),
	    FOUR('B', 'u', 'i', 'l'), FOUR('t', 'I', 'n', 'G'), FOUR('l', 'o', 'b', 'a'),
	    FOUR('l', 'I', 'n', 'v'), FOUR('o', 'c', 'a', 't'), FOUR('i', 'o', 'n', 'I'),
	    FOUR('d', 0, 0, 0), 1);   /* LinkageAttributes Import */
	PUT(module, 21, UINT, 32, 0); /* OpTypeInt */
	PUT(module, 21, ULONG, 64, 0);
	PUT(module, 23, VEC3, ULONG, 3);                   /* OpTypeVector */
	PUT(module, 32, PTR_INPUT, 1, VEC3);               /* OpTypePointer Input */
	PUT(module, 19, VOID);                             /* OpTypeVoid */
	PUT(module, 32, PTR_GLOBAL, 5, UINT);              /* CrossWorkgroup */
	PUT(module, 33, FUNCTION, VOID, PTR_GLOBAL, UINT); /* OpTypeFunction */
	if (more) {
		PUT(module, 22, FLOAT, 32);
		PUT(module, 23, FLOAT4, FLOAT, 4);
		PUT(module, 32, PTR_CONSTANT, 0, UINT);
		PUT(module, 32, PTR_LOCAL, 4, UINT);
		PUT(module, 33, OTHER_TYPE, VOID, PTR_CONSTANT, PTR_LOCAL, FLOAT4);
	}
	PUT(module, 59, PTR_INPUT, GID, 1);       /* OpVariable Input */
	PUT(module, 54, VOID, MAIN, 0, FUNCTION); /* OpFunction */
	PUT(module, 55, PTR_GLOBAL, P);           /* OpFunctionParameter */
	PUT(module, 55, UINT, V);
	PUT(module, 248, LABEL);                     /* OpLabel */
	PUT(module, 61, VEC3, ID3, GID, 2, 32);      /* OpLoad Aligned 32 */
	PUT(module, 81, ULONG, ID, ID3, 0);          /* OpCompositeExtract */
	PUT(module, 70, PTR_GLOBAL, ELEMENT, P, ID); /* OpInBoundsPtrAccessChain */
	PUT(module, 62, ELEMENT, V, 2, 4);           /* OpStore Aligned 4 */
	put_instruction(module, 253, 0, NULL);       /* OpReturn */
	put_instruction(module, 56, 0, NULL);        /* OpFunctionEnd */
	if (more) {
		PUT(module, 54, VOID, OTHER, 0, OTHER_TYPE);
		PUT(module, 55, PTR_CONSTANT, A);
		PUT(module, 55, PTR_LOCAL, B);
		PUT(module, 55, FLOAT4, C);
		PUT(module, 248, LABEL2);
		put_instruction(module, 253, 0, NULL);
		put_instruction(module, 56, 0, NULL);
	}
}

Test(opencl_spirv, E14_a_module_tells_its_kernels_arguments)
{
	struct module module;
	struct backend_argument_facts facts[4] = {0};
	uint32_t count = 0;

	make_module(&module, true);
	const size_t bytes = module.count * 4u;
	cr_assert_eq(opencl_spirv_arguments(module.words, bytes, "fill", facts, 4, &count), 0);
	cr_assert_eq(count, 2);
	cr_assert_eq(facts[0].kind, BACKEND_ARGUMENT_GLOBAL);
	cr_assert_eq(facts[0].address, BACKEND_ADDRESS_GLOBAL);
	cr_assert_eq(facts[1].kind, BACKEND_ARGUMENT_VALUE);
	cr_assert_eq(facts[1].size_bytes, 4);
	cr_assert_eq(opencl_spirv_arguments(module.words, bytes, "other", facts, 4, &count), 0);
	cr_assert_eq(count, 3);
	cr_assert_eq(facts[0].address, BACKEND_ADDRESS_CONSTANT);
	cr_assert_eq(facts[1].kind, BACKEND_ARGUMENT_LOCAL);
	cr_assert_eq(facts[2].kind, BACKEND_ARGUMENT_VALUE);
	cr_assert_eq(facts[2].size_bytes, 16);
	cr_assert_eq(opencl_spirv_arguments(module.words, bytes, "fil", facts, 4, &count), -ENOENT);
	cr_assert_eq(opencl_spirv_arguments(module.words, bytes, "other", facts, 2, &count),
		     -E2BIG);
}

/* A module may be cut anywhere, or any word may be changed: it is read inside of its bounds. */
Test(opencl_spirv, E14_damaged_modules_are_refused_or_read_as_they_are)
{
	struct module module, broken;
	struct backend_argument_facts facts[4] = {0};
	uint32_t count = 0;

	make_module(&module, true);
	for (size_t bytes = 0; bytes < module.count * 4u; bytes++) {
		void *exact = malloc(
			bytes ? bytes
			      : 1); /* a sanitizer detects a read of the first byte behind it */
		memcpy(exact, module.words, bytes);
		(void)opencl_spirv_arguments(exact, bytes, "other", facts, 4, &count);
		cr_assert(bytes % 4 == 0 || opencl_spirv_arguments(exact, bytes, "other", facts, 4,
								   &count) == -EINVAL);
		free(exact);
	}
	for (uint32_t at = 0; at < module.count; at++) {
		static const uint32_t values[] = {0, 1, 0xffffffff, 0x7fffffff, 0x00010038};
		for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
			broken = module;
			broken.words[at] = values[i];
			(void)opencl_spirv_arguments(broken.words, module.count * 4u, "other",
						     facts, 4, &count);
		}
	}
	uint32_t swapped[5] = {0x03022307, 0x00000100, 0, 0x01000000, 0};
	cr_assert_eq(opencl_spirv_arguments(swapped, sizeof(swapped), "fill", facts, 4, &count),
		     -EINVAL);
}

/* The result of a build: 0, or its fault. Both are skipped, not passed, if the device is of the
 * other kind. */
struct spirv {
	struct fixture fixture;
	struct backend_fault fault;
	void *binary;
	size_t binary_bytes;
	char *log;
	int error;
};

static void build_module(struct spirv *spirv, bool wants_spirv)
{
	struct module module;

	*spirv = (struct spirv){.fixture = {.wake_fd = -1}};
	make_module(&module, false);
	fixture_open(&spirv->fixture, 0);
	if (((spirv->fixture.facts->features & BACKEND_FEATURE_SPIRV) != 0) != wants_spirv) {
		fixture_close(&spirv->fixture);
		cr_skip_test("a device that takes %s", wants_spirv ? "no SPIR-V" : "SPIR-V");
	}
	spirv->error = spirv->fixture.ops->build(spirv->fixture.backend, 0, BACKEND_SOURCE_SPIRV,
						 (const char *)module.words, module.count * 4u, "",
						 &spirv->binary, &spirv->binary_bytes, &spirv->log,
						 &spirv->fault);
}

Test(opencl_spirv, E19_a_device_without_SPIR_V_refuses_a_module)
{
	struct spirv spirv;

	build_module(&spirv, false);
	cr_assert_lt(spirv.error, 0);
	cr_assert_eq(spirv.fault.status, STATUS_FEATURE_NOT_SUPPORTED, "%s", spirv.fault.text);
	cr_assert_null(spirv.binary);
	free(spirv.log);
	fixture_close(&spirv.fixture);
}

Test(opencl_spirv, J19_E14_a_module_runs_on_a_device_that_takes_SPIR_V)
{
	enum { COUNT = 100 };
	struct spirv spirv;
	uint32_t got[COUNT];
	const uint64_t global = COUNT;
	const uint32_t value = 77;
	struct backend_kernel *kernel = NULL;

	build_module(&spirv, true);
	struct fixture *fixture = &spirv.fixture;
	cr_assert_eq(spirv.error, 0, "%s\n%s", spirv.fault.text, spirv.log ? spirv.log : "");
	cr_assert_eq(fixture->ops->program_load(fixture->device, spirv.binary, spirv.binary_bytes,
						&fixture->program, &spirv.fault),
		     0, "%s", spirv.fault.text);
	cr_assert_eq(fixture->ops->kernel_create(fixture->program, "fill", &kernel, &spirv.fault),
		     0, "%s", spirv.fault.text);
	struct backend_memory *memory = fixture_memory(fixture, sizeof(got), NULL);
	const struct backend_argument arguments[] = {global_argument(memory),
						     value_argument(&value, 4)};
	const struct backend_command command = launch_command(kernel, 1, &global, arguments, 2);
	fixture_wait(fixture, 0, fixture_submit(fixture, 0, &command));
	fixture_read(fixture, memory, 0, got, sizeof(got));
	for (int i = 0; i < COUNT; i++)
		cr_assert_eq(got[i], 77);
	fixture->ops->memory_free(memory);
	fixture->ops->kernel_free(kernel);
	free(spirv.binary);
	free(spirv.log);
	fixture_close(fixture);
}
