/* OpenCL's programs and kernels as bundles and kernels, and both in host tasks (J9 - J13, J19, I13
 * for OpenCL). */
#include "library/opencl.h"

#include <string.h>

TestSuite(opencl_programs, .init = with_opencl, .fini = without_opencl, .timeout = 120);

static const char scale_source[] =
	"__kernel void scale(__global uint *to, uint value, uint more)\n"
	"{ to[get_global_id(0)] = to[get_global_id(0)] * value + more; }\n"
	"__kernel void clear(__global uint *to) { to[get_global_id(0)] = 0; }";

static const char caller_source[] =
	"uint other(uint x);\n"
	"__kernel void call(__global uint *to) { to[get_global_id(0)] = other(to[get_global_id(0)]); }";
static const char other_source[] = "uint other(uint x); uint other(uint x) { return x + 40; }";

static void one_to_all(sycl_queue queue, sycl_kernel kernel, sycl_buffer buffer)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_parallel_for(handler, kernel, sycl_range1(N)));
	MUST(sycl_handler_submit(handler, NULL));
}

static sycl_buffer twos(void)
{
	uint32_t words[N];
	sycl_buffer buffer = NULL;
	for (int i = 0; i < N; i++)
		words[i] = 2;
	MUST(sycl_buffer_create(platform, words, sizeof(words), SYCL_HOST_CONST, &buffer));
	return buffer;
}

static uint32_t first_of(sycl_buffer buffer)
{
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	MUST(sycl_host_accessor_create(buffer, SYCL_ACCESS_READ, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	uint32_t first = ((const uint32_t *)pointer)[0];
	for (int i = 1; i < N; i++)
		cr_assert(eq(u32, ((const uint32_t *)pointer)[i], first));
	MUST(sycl_host_accessor_release(accessor));
	return first;
}

Test(opencl_programs, J2_J5_J9_a_kernel_with_arguments_that_are_set_already)
{
	uint32_t three = 3, ten = 10, five = 5;
	cl_int code = CL_SUCCESS;
	sycl_kernel kernel = NULL;
	sycl_handler handler = NULL;
	cl_kernel listed = NULL;
	cl_program program = program_of(scale_source, "");
	cl_kernel native = clCreateKernel(program, "scale", &code);
	CL(code);
	CL(clSetKernelArg(native, 1, sizeof(three), &three));
	CL(clSetKernelArg(native, 2, sizeof(ten), &ten));
	sycl_context context = native_context();
	sycl_queue queue = queue_in(context);
	sycl_buffer buffer = twos();
	MUST(sycl_opencl_make_kernel(context, native, &kernel));
	cr_assert(eq(u32, sycl_opencl_get_reference_count_kernel(native), 2));
	MUST(sycl_opencl_get_native_kernel(kernel, &listed));
	cr_assert(eq(ptr, listed, native));
	cr_assert(eq(u32, sycl_opencl_get_reference_count_kernel(native), 3));
	CL(clReleaseKernel(listed));
	one_to_all(queue, kernel, buffer);
	cr_assert(eq(u32, first_of(buffer), 16)); /* 2 * 3 + 10 */
	/* One argument is set to a new value, for this group only. */
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_set_value(handler, 2, sizeof(five), &five));
	MUST(sycl_handler_parallel_for(handler, kernel, sycl_range1(N)));
	MUST(sycl_handler_submit(handler, NULL));
	cr_assert(eq(u32, first_of(buffer), 53)); /* 16 * 3 + 5 */
	one_to_all(queue, kernel, buffer);
	cr_assert(eq(u32, first_of(buffer), 169)); /* 53 * 3 + 10: the argument is as before */
	/* An argument beyond the kernel's number is an error, as always. */
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_set_value(handler, 3, sizeof(five), &five));
	MUST(sycl_handler_parallel_for(handler, kernel, sycl_range1(N)));
	FAILS(sycl_handler_submit(handler, NULL), SYCL_ERROR_KERNEL_ARGUMENT);
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_queue_release(queue));
	MUST(sycl_context_release(context));
	LET_GO(sycl_opencl_get_reference_count_kernel, native, 1);
	CL(clReleaseKernel(native));
	LET_GO(sycl_opencl_get_reference_count_program, program, 1);
	CL(clReleaseProgram(program));
}

Test(opencl_programs, J9_a_kernel_of_another_context_is_refused)
{
	cl_int code = CL_SUCCESS;
	sycl_kernel kernel = NULL;
	sycl_context plain = NULL;
	MUST(sycl_context_create(1, &device, &plain));
	cl_program program = program_of(scale_source, "");
	cl_kernel native = clCreateKernel(program, "clear", &code);
	CL(code);
	FAILS(sycl_opencl_make_kernel(plain, native, &kernel), SYCL_ERROR_INVALID);
	FAILS(sycl_opencl_make_kernel(plain, NULL, &kernel), SYCL_ERROR_INVALID);
	MUST(sycl_context_release(plain));
	LET_GO(sycl_opencl_get_reference_count_kernel, native, 1);
	CL(clReleaseKernel(native));
	CL(clReleaseProgram(program));
}

static cl_program_binary_type opencl_programs_type_of(cl_program program)
{
	cl_program_binary_type type = CL_PROGRAM_BINARY_TYPE_NONE;
	CL(clGetProgramBuildInfo(program, cl_device_of_test, CL_PROGRAM_BINARY_TYPE, sizeof(type),
				 &type, NULL));
	return type;
}

static cl_program compiled(const char *source)
{
	cl_program program = program_of(source, NULL);
	CL(clCompileProgram(program, 1, &cl_device_of_test, "", 0, NULL, NULL, NULL, NULL));
	return program;
}

static void ends_as(sycl_kernel_bundle bundle, sycl_bundle_state state, cl_program program)
{
	sycl_bundle_state is;
	MUST(sycl_kernel_bundle_get_state(bundle, &is));
	cr_assert(eq(int, is, state));
	cr_assert(eq(u32, sycl_opencl_get_reference_count_program(program), 2));
	MUST(sycl_kernel_bundle_release(bundle));
	LET_GO(sycl_opencl_get_reference_count_program, program, 1);
}

/* Programs of three kinds become bundles of three states. Each conversion works or fails with its
 * reason. */
Test(opencl_programs, J2_J10_J11_states_of_bundles_and_kinds_of_programs)
{
	sycl_kernel_bundle bundle = NULL;
	sycl_context context = native_context();
	cl_program source = program_of(scale_source, NULL);
	MUST(sycl_opencl_make_kernel_bundle(context, SYCL_BUNDLE_INPUT, source, &bundle));
	ends_as(bundle, SYCL_BUNDLE_INPUT, source);
	cr_assert(eq(u32, opencl_programs_type_of(source), CL_PROGRAM_BINARY_TYPE_NONE));
	MUST(sycl_opencl_make_kernel_bundle(context, SYCL_BUNDLE_OBJECT, source, &bundle));
	ends_as(bundle, SYCL_BUNDLE_OBJECT, source);
	cr_assert(eq(u32, opencl_programs_type_of(source), CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT));
	/* Now it has a binary. */
	FAILS(sycl_opencl_make_kernel_bundle(context, SYCL_BUNDLE_INPUT, source, &bundle),
	      SYCL_ERROR_INVALID);
	MUST(sycl_opencl_make_kernel_bundle(context, SYCL_BUNDLE_OBJECT, source, &bundle));
	ends_as(bundle, SYCL_BUNDLE_OBJECT, source);
	MUST(sycl_opencl_make_kernel_bundle(context, SYCL_BUNDLE_EXECUTABLE, source,
					    &bundle)); /* linked: another program */
	ends_as(bundle, SYCL_BUNDLE_EXECUTABLE, source);
	CL(clReleaseProgram(source));

	cl_program fresh = program_of(scale_source, NULL);
	MUST(sycl_opencl_make_kernel_bundle(context, SYCL_BUNDLE_EXECUTABLE, fresh, &bundle));
	ends_as(bundle, SYCL_BUNDLE_EXECUTABLE, fresh);
	cr_assert(eq(u32, opencl_programs_type_of(fresh), CL_PROGRAM_BINARY_TYPE_EXECUTABLE));
	MUST(sycl_opencl_make_kernel_bundle(context, SYCL_BUNDLE_EXECUTABLE, fresh, &bundle));
	ends_as(bundle, SYCL_BUNDLE_EXECUTABLE, fresh);
	FAILS(sycl_opencl_make_kernel_bundle(context, SYCL_BUNDLE_OBJECT, fresh, &bundle),
	      SYCL_ERROR_INVALID);
	FAILS(sycl_opencl_make_kernel_bundle(context, SYCL_BUNDLE_INPUT, fresh, &bundle),
	      SYCL_ERROR_INVALID);
	cr_assert(eq(u32, sycl_opencl_get_reference_count_program(fresh), 1));
	CL(clReleaseProgram(fresh));

	cl_program broken = program_of("__kernel void x(", NULL);
	FAILS(sycl_opencl_make_kernel_bundle(context, SYCL_BUNDLE_EXECUTABLE, broken, &bundle),
	      SYCL_ERROR_INVALID);
	cr_assert(ne(int, sycl_opencl_get_error_code(), CL_SUCCESS));
	LET_GO(sycl_opencl_get_reference_count_program, broken, 1);
	CL(clReleaseProgram(broken));
	MUST(sycl_context_release(context));
}

Test(opencl_programs, J11_a_program_of_another_context_is_refused)
{
	sycl_kernel_bundle bundle = NULL;
	sycl_context plain = NULL;
	MUST(sycl_context_create(1, &device, &plain));
	cl_program program = program_of(scale_source, "");
	FAILS(sycl_opencl_make_kernel_bundle(plain, SYCL_BUNDLE_EXECUTABLE, program, &bundle),
	      SYCL_ERROR_INVALID);
	FAILS(sycl_opencl_make_kernel_bundle(plain, SYCL_BUNDLE_EXECUTABLE, NULL, &bundle),
	      SYCL_ERROR_INVALID);
	MUST(sycl_context_release(plain));
	LET_GO(sycl_opencl_get_reference_count_program, program, 1);
	CL(clReleaseProgram(program));
}

static void launch_and_compare(sycl_kernel_bundle bundle, const char *name, uint32_t wanted)
{
	sycl_context context = NULL;
	sycl_kernel kernel = NULL;
	MUST(sycl_kernel_bundle_get_context(bundle, &context));
	sycl_queue queue = queue_in(context);
	sycl_buffer buffer = twos();
	MUST(sycl_kernel_create(bundle, name, &kernel));
	one_to_all(queue, kernel, buffer);
	cr_assert(eq(u32, first_of(buffer), wanted));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_queue_release(queue));
	MUST(sycl_context_release(context));
}

Test(opencl_programs, J1_J10_J19_an_executable_runs_and_gives_its_program)
{
	sycl_kernel_bundle bundle = NULL;
	cl_program listed[2] = {NULL};
	uint32_t count = 0;
	sycl_context context = native_context();
	cl_program program = program_of(scale_source, "");
	MUST(sycl_opencl_make_kernel_bundle(context, SYCL_BUNDLE_EXECUTABLE, program, &bundle));
	MUST(sycl_opencl_get_native_kernel_bundle(bundle, 2, listed, &count));
	cr_assert(eq(u32, count, 1));
	cr_assert(eq(ptr, listed[0], program));
	CL(clReleaseProgram(listed[0]));
	launch_and_compare(bundle, "clear", 0);
	MUST(sycl_kernel_bundle_release(bundle));
	CL(clReleaseProgram(program));
	MUST(sycl_context_release(context));
}

Test(opencl_programs, J10_an_input_is_built_and_objects_are_linked)
{
	sycl_kernel_bundle input = NULL, built = NULL, object = NULL, executable = NULL;
	sycl_context context = native_context();
	cl_program source = program_of(scale_source, NULL), second = program_of(scale_source, NULL);
	MUST(sycl_opencl_make_kernel_bundle(context, SYCL_BUNDLE_INPUT, source, &input));
	FAILS(sycl_kernel_bundle_build(input, "-DX", &built), SYCL_ERROR_FEATURE_NOT_SUPPORTED);
	MUST(sycl_kernel_bundle_build(input, NULL, &built));
	launch_and_compare(built, "clear", 0);
	MUST(sycl_kernel_bundle_release(input));
	MUST(sycl_opencl_make_kernel_bundle(context, SYCL_BUNDLE_INPUT, second, &input));
	MUST(sycl_kernel_bundle_compile(input, NULL, &object));
	MUST(sycl_kernel_bundle_link(1, &object, NULL, &executable));
	launch_and_compare(executable, "clear", 0);
	MUST(sycl_kernel_bundle_release(input));
	MUST(sycl_kernel_bundle_release(object));
	MUST(sycl_kernel_bundle_release(executable));
	MUST(sycl_kernel_bundle_release(built));
	LET_GO(sycl_opencl_get_reference_count_program, source, 1);
	LET_GO(sycl_opencl_get_reference_count_program, second, 1);
	CL(clReleaseProgram(source));
	CL(clReleaseProgram(second));
	MUST(sycl_context_release(context));
}

Test(opencl_programs, J12_several_programs_are_linked_into_one_bundle)
{
	sycl_kernel_bundle bundle = NULL;
	sycl_context context = native_context();
	cl_program programs[2] = {program_of(caller_source, NULL), compiled(other_source)};
	MUST(sycl_opencl_create_bundle(context, 0, NULL, SYCL_BUNDLE_EXECUTABLE, 2, programs,
				       &bundle));
	for (int i = 0; i < 2; i++)
		cr_assert(eq(u32, sycl_opencl_get_reference_count_program(programs[i]), 2));
	launch_and_compare(bundle, "call", 42);
	MUST(sycl_kernel_bundle_release(bundle));
	for (int i = 0; i < 2; i++)
		LET_GO(sycl_opencl_get_reference_count_program, programs[i], 1);
	/* A single object lacks a function. The backend reports the error, and nothing is kept. */
	FAILS(sycl_opencl_create_bundle(context, 1, &device, SYCL_BUNDLE_EXECUTABLE, 1, programs,
					&bundle),
	      SYCL_ERROR_BUILD);
	LET_GO(sycl_opencl_get_reference_count_program, programs[0], 1);
	FAILS(sycl_opencl_create_bundle(context, 0, NULL, SYCL_BUNDLE_EXECUTABLE, 0, programs,
					&bundle),
	      SYCL_ERROR_INVALID);
	FAILS(sycl_opencl_create_bundle(context, 2, &device, SYCL_BUNDLE_EXECUTABLE, 1, programs,
					&bundle),
	      SYCL_ERROR_INVALID);
	for (int i = 0; i < 2; i++)
		CL(clReleaseProgram(programs[i]));
	MUST(sycl_context_release(context));
}

Test(opencl_programs, J13_kernels_of_several_programs_are_one_bundle)
{
	static const char second_source[] =
		"__kernel void fives(__global uint *to) { to[get_global_id(0)] = 5; }\n"
		"__kernel void unnamed(__global uint *to) { to[get_global_id(0)] = 6; }";
	cl_int code = CL_SUCCESS;
	uint32_t count = 0;
	cl_program listed[4] = {NULL};
	sycl_kernel_bundle bundle = NULL;
	sycl_kernel kernel = NULL;
	int has = 1;
	sycl_context context = native_context();
	cl_program programs[2] = {program_of(scale_source, ""), program_of(second_source, "")};
	cl_kernel kernels[3] = {clCreateKernel(programs[0], "clear", &code),
				clCreateKernel(programs[1], "fives", &code),
				clCreateKernel(programs[0], "scale", &code)};
	CL(code);
	uint32_t before[2] = {sycl_opencl_get_reference_count_program(programs[0]),
			      sycl_opencl_get_reference_count_program(programs[1])};
	MUST(sycl_opencl_create_bundle_from_kernels(context, 0, NULL, 3, kernels, &bundle));
	MUST(sycl_opencl_get_native_kernel_bundle(bundle, 4, listed, &count));
	cr_assert(eq(u32, count, 2));
	for (uint32_t i = 0; i < count; i++) {
		cr_assert(eq(ptr, listed[i], programs[i]));
		CL(clReleaseProgram(listed[i]));
		cr_assert(eq(u32, sycl_opencl_get_reference_count_program(programs[i]),
			     before[i] + 1));
	}
	MUST(sycl_kernel_bundle_get_kernel_count(bundle, &count));
	cr_assert(eq(u32, count, 3));
	MUST(sycl_kernel_bundle_has_kernel(bundle, "unnamed", NULL, &has));
	cr_assert(eq(int, has, 0));
	launch_and_compare(bundle, "clear", 0);
	launch_and_compare(bundle, "fives", 5);
	FAILS(sycl_kernel_create(bundle, "none", &kernel), SYCL_ERROR_KERNEL);
	MUST(sycl_kernel_bundle_release(bundle));
	for (int i = 0; i < 3; i++)
		CL(clReleaseKernel(kernels[i]));
	for (int i = 0; i < 2; i++) {
		LET_GO(sycl_opencl_get_reference_count_program, programs[i], 1);
		CL(clReleaseProgram(programs[i]));
	}
	MUST(sycl_context_release(context));
}

struct seen {
	sycl_result results[5];
	cl_mem memory;
	cl_command_queue queue;
	cl_context context;
	cl_device_id device;
	uint32_t words[N];
	cl_int code;
	void *pointer;
};

static sycl_result read_natives(sycl_host_task task, void *user_data)
{
	struct seen *seen = user_data;
	uint64_t numbers[4] = {0};
	seen->results[0] =
		sycl_host_task_get_native_memory(task, SYCL_BACKEND_KIND_OPENCL, 0, &numbers[0]);
	seen->results[1] =
		sycl_host_task_get_native_queue(task, SYCL_BACKEND_KIND_OPENCL, &numbers[1]);
	seen->results[2] =
		sycl_host_task_get_native_context(task, SYCL_BACKEND_KIND_OPENCL, &numbers[2]);
	seen->results[3] =
		sycl_host_task_get_native_device(task, SYCL_BACKEND_KIND_OPENCL, &numbers[3]);
	seen->results[4] =
		sycl_host_task_get_native_queue(task, SYCL_BACKEND_KIND_CUDA, &numbers[1]);
	cr_expect(ne(int, sycl_host_task_get_pointer(task, 0, &seen->pointer), 0));
	seen->memory = SYCL_OPENCL_HANDLE(cl_mem, numbers[0]);
	seen->queue = SYCL_OPENCL_HANDLE(cl_command_queue, numbers[1]);
	seen->context = SYCL_OPENCL_HANDLE(cl_context, numbers[2]);
	seen->device = SYCL_OPENCL_HANDLE(cl_device_id, numbers[3]);
	uint32_t nine = 9;
	seen->code = clEnqueueReadBuffer(seen->queue, seen->memory, CL_TRUE, 0, sizeof(seen->words),
					 seen->words, 0, NULL, NULL);
	if (seen->code == CL_SUCCESS)
		seen->code = clEnqueueFillBuffer(seen->queue, seen->memory, &nine, sizeof(nine), 0,
						 sizeof(seen->words), 0, NULL, NULL);
	if (seen->code == CL_SUCCESS)
		seen->code = clFinish(seen->queue);
	return SYCL_SUCCESS;
}

/* The host task's memory contains what the group before it wrote. The group after it reads what the
 * task wrote. */
Test(opencl_programs, J1_J4_a_host_task_uses_the_queues_native_objects)
{
	static struct seen seen;
	sycl_handler handler = NULL;
	sycl_context context = native_context();
	sycl_queue queue = queue_in(context);
	sycl_buffer buffer = twos();
	sycl_kernel kernel = NULL;
	sycl_kernel_bundle bundle = NULL;
	cl_program program =
		program_of("__kernel void x(__global uint *to) { to[get_global_id(0)] += 5; }", "");
	MUST(sycl_opencl_make_kernel_bundle(context, SYCL_BUNDLE_EXECUTABLE, program, &bundle));
	MUST(sycl_kernel_create(bundle, "x", &kernel));
	one_to_all(queue, kernel, buffer);
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_host_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_host_task_native(handler, read_natives, &seen, NULL));
	MUST(sycl_handler_submit(handler, NULL));
	one_to_all(queue, kernel, buffer);
	cr_assert(eq(u32, first_of(buffer), 14));
	for (int i = 0; i < 4; i++)
		cr_assert(eq(int, seen.results[i], 0), "%d", i);
	cr_assert(eq(int, seen.results[4], SYCL_ERROR_BACKEND_MISMATCH));
	cr_assert(eq(int, seen.code, CL_SUCCESS));
	for (int i = 0; i < N; i++)
		cr_assert(eq(u32, seen.words[i], 7));
	cr_assert(eq(ptr, seen.context, cl_context_of_test));
	cr_assert(eq(ptr, seen.device, cl_device_of_test));
	CL(clReleaseMemObject(seen.memory));
	CL(clReleaseCommandQueue(seen.queue));
	CL(clReleaseContext(seen.context));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_kernel_bundle_release(bundle));
	CL(clReleaseProgram(program));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_queue_release(queue));
	MUST(sycl_context_release(context));
}
