/* Commands of the OpenCL driver: buffers, kernels, events. */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(commands, .init = with_driver, .fini = without_driver);

static const char source[] =
	"__kernel void step(__global uint *x, uint n) { x[get_global_id(0)] += n * STEP; }\n"
	"__kernel void turn(__global const uint *x, __global uint *y, __local uint *l) {\n"
	"  uint i = get_local_id(0), n = get_local_size(0), g = get_group_id(0) * n;\n"
	"  l[i] = x[g + i]; barrier(CLK_LOCAL_MEM_FENCE); y[g + i] = l[n - 1 - i]; }\n"
	"__kernel void place(__global uint *x) { x[get_global_id(1) * 32 + get_global_id(0)] =\n"
	"  get_global_id(1) * 1000 + get_global_id(0); }\n";

static void fill_words(cl_uint *words)
{
	for (cl_uint i = 0; i < WORDS; i++)
		words[i] = i;
}

Test(commands, kernels_take_buffers_values_and_local_memory)
{
	static cl_uint words[WORDS];
	const size_t global = WORDS, local = 64;
	const cl_uint n = 5;
	fill_words(words);
	cl_mem from = buffer_of(words), to = buffer_of(NULL);
	cl_kernel step = kernel_of(source, "step"), turn = kernel_of(source, "turn");
	REFUSES(clEnqueueNDRangeKernel(cl_queue, step, 1, NULL, &global, NULL, 0, NULL, NULL),
		CL_INVALID_KERNEL_ARGS);
	CL(clSetKernelArg(step, 0, sizeof(cl_mem), &from));
	CL(clSetKernelArg(step, 1, sizeof(n), &n));
	REFUSES(clSetKernelArg(step, 2, sizeof(n), &n), CL_INVALID_ARG_INDEX);
	REFUSES(clSetKernelArg(step, 1, 8, &global), CL_INVALID_ARG_SIZE);
	CL(clSetKernelArg(turn, 0, sizeof(cl_mem), &from));
	CL(clSetKernelArg(turn, 1, sizeof(cl_mem), &to));
	CL(clSetKernelArg(turn, 2, local * sizeof(cl_uint), NULL));
	CL(clEnqueueNDRangeKernel(cl_queue, step, 1, NULL, &global, NULL, 0, NULL, NULL));
	CL(clEnqueueNDRangeKernel(cl_queue, turn, 1, NULL, &global, &local, 0, NULL, NULL));
	read_words(to, words);
	for (cl_uint i = 0; i < WORDS; i++)
		cr_assert(eq(u32, words[i], i / 64 * 64 + 63 - i % 64 + 10));
	CL(clReleaseKernel(step));
	CL(clReleaseKernel(turn));
	CL(clReleaseMemObject(from));
	CL(clReleaseMemObject(to));
}

Test(commands, ranges_have_opencls_order_and_offsets)
{
	static cl_uint words[WORDS];
	const size_t global[2] = {16, 32}, offset[2] = {16, 0}, zero[2] = {0, 1}, odd[2] = {5, 1};
	cl_mem buffer = buffer_of(words);
	cl_kernel place = kernel_of(source, "place");
	CL(clSetKernelArg(place, 0, sizeof(cl_mem), &buffer));
	CL(clEnqueueNDRangeKernel(cl_queue, place, 2, offset, global, NULL, 0, NULL, NULL));
	CL(clEnqueueNDRangeKernel(cl_queue, place, 2, NULL, zero, NULL, 0, NULL, NULL));
	REFUSES(clEnqueueNDRangeKernel(cl_queue, place, 2, NULL, global, odd, 0, NULL, NULL),
		CL_INVALID_WORK_GROUP_SIZE);
	REFUSES(clEnqueueNDRangeKernel(cl_queue, place, 4, NULL, global, NULL, 0, NULL, NULL),
		CL_INVALID_WORK_DIMENSION);
	read_words(buffer, words);
	for (cl_uint i = 0; i < WORDS; i++)
		cr_assert(eq(u32, words[i], i % 32 < 16 ? 0 : i / 32 * 1000 + i % 32));
	CL(clReleaseKernel(place));
	CL(clReleaseMemObject(buffer));
}

Test(commands, required_sizes_have_opencls_order)
{
	const char *text = "__kernel __attribute__((reqd_work_group_size(8, 4, 1)))\n"
			   "void place(__global uint *x) { x[0] = get_local_size(0); }";
	const size_t global[2] = {8, 8}, wrong[2] = {4, 8};
	static cl_uint words[WORDS];
	size_t sizes[3] = {0};
	char attributes[128] = "";
	cl_mem buffer = buffer_of(words);
	cl_kernel place = kernel_of(text, "place");
	CL(clGetKernelInfo(place, CL_KERNEL_ATTRIBUTES, sizeof(attributes), attributes, NULL));
	cr_assert(eq(str, attributes, "reqd_work_group_size(8,4,1)"));
	CL(clGetKernelWorkGroupInfo(place, NULL, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof(sizes),
				    sizes, NULL));
	cr_assert(eq(sz, sizes[0], 8));
	cr_assert(eq(sz, sizes[1], 4));
	CL(clSetKernelArg(place, 0, sizeof(cl_mem), &buffer));
	REFUSES(clEnqueueNDRangeKernel(cl_queue, place, 2, NULL, global, wrong, 0, NULL, NULL),
		CL_INVALID_WORK_GROUP_SIZE);
	CL(clEnqueueNDRangeKernel(cl_queue, place, 2, NULL, global, NULL, 0, NULL, NULL));
	read_words(buffer, words);
	cr_assert(eq(u32, words[0], 8));
	CL(clReleaseKernel(place));
	CL(clReleaseMemObject(buffer));
}

Test(commands, maps_fills_copies_and_boxes_move_what_they_say)
{
	static cl_uint words[WORDS], box[4];
	const size_t buffer_origin[3] = {8, 1, 0}, host_origin[3] = {0, 0, 0},
		     region[3] = {8, 2, 1};
	const cl_uint pattern = 3;
	cl_int code = 0;
	fill_words(words);
	cl_mem buffer = buffer_of(words);
	CL(clEnqueueFillBuffer(cl_queue, buffer, &pattern, 4, 0, 64, 0, NULL, NULL));
	CL(clEnqueueCopyBuffer(cl_queue, buffer, buffer, 0, 128, 8, 0, NULL, NULL));
	REFUSES(clEnqueueCopyBuffer(cl_queue, buffer, buffer, 0, 4, 8, 0, NULL, NULL),
		CL_MEM_COPY_OVERLAP);
	CL(clEnqueueReadBufferRect(cl_queue, buffer, CL_TRUE, buffer_origin, host_origin, region,
				   128, 0, 0, 0, box, 0, NULL, NULL));
	const cl_uint expected[4] = {34, 35, 66, 67};
	cr_assert(eq(int, memcmp(box, expected, sizeof(box)), 0));
	cl_uint *mapped = clEnqueueMapBuffer(cl_queue, buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE,
					     4096 - 64, 64, 0, NULL, NULL, &code);
	CL(code);
	cr_assert(eq(u32, mapped[0], 1008));
	mapped[0] = 77;
	CL(clEnqueueUnmapMemObject(cl_queue, buffer, mapped, 0, NULL, NULL));
	REFUSES(clEnqueueUnmapMemObject(cl_queue, buffer, mapped, 0, NULL, NULL), CL_INVALID_VALUE);
	read_words(buffer, words);
	cr_assert(eq(u32, words[15], 3));
	cr_assert(eq(u32, words[16], 16));
	cr_assert(eq(u32, words[33], 3));
	cr_assert(eq(u32, words[1008], 77));
	CL(clReleaseMemObject(buffer));
}

Test(commands, parts_share_the_bytes_of_their_buffer)
{
	static cl_uint words[WORDS];
	const cl_buffer_region region = {2048, 1024}, beyond = {2048, 4096}, crooked = {4, 1024};
	const cl_uint pattern = 9;
	cl_int code = 0;
	fill_words(words);
	cl_mem buffer = buffer_of(words);
	cl_mem part = clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
	CL(code);
	(void)clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &beyond, &code);
	REFUSES(code, CL_INVALID_VALUE);
	(void)clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &crooked, &code);
	REFUSES(code, CL_MISALIGNED_SUB_BUFFER_OFFSET);
	(void)clCreateSubBuffer(part, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
	REFUSES(code, CL_INVALID_MEM_OBJECT);
	CL(clEnqueueFillBuffer(cl_queue, part, &pattern, 4, 0, 1024, 0, NULL, NULL));
	read_words(buffer, words);
	cr_assert(eq(u32, words[511], 511));
	cr_assert(eq(u32, words[512], 9));
	cr_assert(eq(u32, words[768], 768));
	CL(clReleaseMemObject(buffer));
	CL(clReleaseMemObject(part));
}

Test(commands, a_user_event_holds_up_and_ends_what_waits_for_it)
{
	static cl_uint words[WORDS];
	const cl_uint pattern = 1;
	cl_int code = 0, status = 0;
	cl_event done = NULL, failed = NULL;
	cl_command_queue queue = out_of_order_queue();
	cl_mem buffer = buffer_of(words), other = buffer_of(words);
	cl_event gate = clCreateUserEvent(cl_context_made, &code);
	CL(code);
	cl_event bad = clCreateUserEvent(cl_context_made, &code);
	CL(code);
	CL(clEnqueueFillBuffer(queue, buffer, &pattern, 4, 0, WORD_BYTES, 1, &gate, &done));
	CL(clEnqueueFillBuffer(queue, other, &pattern, 4, 0, WORD_BYTES, 1, &bad, &failed));
	CL(clGetEventInfo(done, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL));
	cr_assert(gt(int, status, CL_COMPLETE));
	REFUSES(clSetUserEventStatus(gate, CL_RUNNING), CL_INVALID_VALUE);
	CL(clSetUserEventStatus(gate, CL_COMPLETE));
	REFUSES(clSetUserEventStatus(gate, CL_COMPLETE), CL_INVALID_OPERATION);
	CL(clWaitForEvents(1, &done));
	CL(clSetUserEventStatus(bad, -5));
	REFUSES(clWaitForEvents(1, &failed), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
	CL(clGetEventInfo(failed, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status,
			  NULL));
	cr_assert(lt(int, status, 0));
	read_words(buffer, words);
	cr_assert(eq(u32, words[7], 1));
	CL(clReleaseEvent(gate));
	CL(clReleaseEvent(bad));
	CL(clReleaseEvent(done));
	CL(clReleaseEvent(failed));
	CL(clReleaseMemObject(buffer));
	CL(clReleaseMemObject(other));
	CL(clReleaseCommandQueue(queue));
}

/* The write is submitted before its source is written. */
Test(commands, a_write_sees_what_an_earlier_read_brings)
{
	static cl_uint words[WORDS], between[WORDS];
	cl_int code = 0;
	fill_words(words);
	cl_mem from = buffer_of(words), to = buffer_of(NULL);
	cl_event gate = clCreateUserEvent(cl_context_made, &code);
	CL(code);
	CL(clEnqueueReadBuffer(cl_queue, from, CL_FALSE, 0, WORD_BYTES, between, 1, &gate, NULL));
	CL(clEnqueueWriteBuffer(cl_queue, to, CL_FALSE, 0, WORD_BYTES, between, 0, NULL, NULL));
	CL(clSetUserEventStatus(gate, CL_COMPLETE));
	read_words(to, words);
	cr_assert(eq(u32, words[100], 100));
	CL(clReleaseEvent(gate));
	CL(clReleaseMemObject(from));
	CL(clReleaseMemObject(to));
}

/* The second read needs nothing that the first one or the kernel touches. */
Test(commands, a_read_that_blocks_waits_for_all_of_its_queue)
{
	const char *text = "__kernel void slow(__global uint *x) {\n"
			   "  volatile uint n = 0;\n"
			   "  for (uint i = 0; i < 100000000; i++) n = n * 3 + 1;\n"
			   "  x[0] = n == 12345 ? 8 : 7; }\n";
	static cl_uint words[WORDS], slow_words[WORDS], others[WORDS];
	const size_t one = 1;
	fill_words(words);
	cl_mem touched = buffer_of(words), other = buffer_of(words);
	cl_kernel slow = kernel_of(text, "slow");
	CL(clSetKernelArg(slow, 0, sizeof(cl_mem), &touched));
	CL(clEnqueueNDRangeKernel(cl_queue, slow, 1, NULL, &one, NULL, 0, NULL, NULL));
	CL(clEnqueueReadBuffer(cl_queue, touched, CL_FALSE, 0, WORD_BYTES, slow_words, 0, NULL,
			       NULL));
	read_words(other, others);
	cr_assert(eq(u32, slow_words[0], 7));
	cr_assert(eq(u32, slow_words[9], 9));
	cr_assert(eq(u32, others[9], 9));
	CL(clReleaseKernel(slow));
	CL(clReleaseMemObject(touched));
	CL(clReleaseMemObject(other));
}

/* A launch that the service refuses when its turn comes. */
static void check_is_refused(cl_kernel step, cl_uint dimensions, const size_t *global,
			     const size_t *local)
{
	static cl_uint words[WORDS];
	const cl_uint n = 1;
	cl_event event = NULL;
	cl_command_queue queue = out_of_order_queue();
	cl_mem buffer = buffer_of(words);
	CL(clSetKernelArg(step, 0, sizeof(cl_mem), &buffer));
	CL(clSetKernelArg(step, 1, sizeof(n), &n));
	CL(clEnqueueNDRangeKernel(queue, step, dimensions, NULL, global, local, 0, NULL, &event));
	REFUSES(clWaitForEvents(1, &event), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
	CL(clReleaseEvent(event));
	CL(clReleaseMemObject(buffer));
	CL(clReleaseCommandQueue(queue));
}

/* PoCL would abort, and end whatever else the user has in the service. */
Test(commands, more_work_groups_than_the_device_can_count_are_refused)
{
	static cl_uint words[WORDS];
	const size_t many = (size_t)1 << 33, least = (size_t)1 << 32, most = SIZE_MAX,
		     flat[3] = {1 << 12, 1 << 12, 1 << 12}, ones[3] = {1, 1, 1}, global = WORDS;
	const cl_uint n = 1;
	SKIP_ON_CUDA("counts more work-groups");
	fill_words(words);
	cl_kernel step = kernel_of(source, "step");
	check_is_refused(step, 1, &many, ones);
	check_is_refused(step, 1, &least, ones);
	check_is_refused(step, 1, &most, ones);
	check_is_refused(step, 1, &most, NULL);
	check_is_refused(step, 3, flat, ones);
	cl_mem buffer = buffer_of(words);
	CL(clSetKernelArg(step, 0, sizeof(cl_mem), &buffer));
	CL(clSetKernelArg(step, 1, sizeof(n), &n));
	CL(clEnqueueNDRangeKernel(cl_queue, step, 1, NULL, &global, NULL, 0, NULL, NULL));
	read_words(buffer, words);
	cr_assert(eq(u32, words[100], 102));
	CL(clReleaseKernel(step));
	CL(clReleaseMemObject(buffer));
}

/* The same with boxes: the lower half of each row goes there and back to another place. */
Test(commands, a_box_that_is_written_sees_what_an_earlier_read_brings)
{
	static cl_uint words[WORDS], between[WORDS];
	const size_t origin[3] = {0, 0, 0}, shifted[3] = {64, 1, 0}, region[3] = {64, 4, 1};
	cl_int code = 0;
	fill_words(words);
	cl_mem from = buffer_of(words), to = buffer_of(words);
	cl_event gate = clCreateUserEvent(cl_context_made, &code);
	CL(code);
	CL(clEnqueueReadBufferRect(cl_queue, from, CL_FALSE, origin, origin, region, 128, 0, 128, 0,
				   between, 1, &gate, NULL));
	CL(clEnqueueWriteBufferRect(cl_queue, to, CL_FALSE, shifted, origin, region, 128, 0, 128, 0,
				    between, 0, NULL, NULL));
	CL(clSetUserEventStatus(gate, CL_COMPLETE));
	read_words(to, words);
	cr_assert(eq(u32, words[32 + 16], 0));
	cr_assert(eq(u32, words[32 + 31], 15));
	cr_assert(eq(u32, words[64], 64)); /* between the rows */
	cr_assert(eq(u32, words[64 + 16], 32));
	CL(clReleaseEvent(gate));
	CL(clReleaseMemObject(from));
	CL(clReleaseMemObject(to));
}

static void CL_CALLBACK complete_gate(cl_event event, cl_int status, void *gate)
{
	(void)event;
	(void)clSetUserEventStatus(*(cl_event *)gate, status);
}

Test(commands, callbacks_are_called_when_a_command_ends)
{
	cl_event marker = NULL;
	cl_int code = 0;
	cl_event gate = clCreateUserEvent(cl_context_made, &code);
	CL(code);
	CL(clEnqueueMarkerWithWaitList(cl_queue, 0, NULL, &marker));
	CL(clSetEventCallback(marker, CL_COMPLETE, complete_gate, &gate));
	REFUSES(clSetEventCallback(marker, 17, complete_gate, &gate), CL_INVALID_VALUE);
	CL(clWaitForEvents(1, &gate));
	CL(clReleaseEvent(marker));
	CL(clReleaseEvent(gate));
}

Test(commands, a_barrier_holds_up_later_commands_of_an_out_of_order_queue)
{
	cl_int code = 0, status = 0;
	cl_event later = NULL;
	cl_command_queue queue = out_of_order_queue();
	cl_event gate = clCreateUserEvent(cl_context_made, &code);
	CL(code);
	CL(clEnqueueBarrierWithWaitList(queue, 1, &gate, NULL));
	CL(clEnqueueMarkerWithWaitList(queue, 0, NULL, &later));
	CL(clGetEventInfo(later, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL));
	cr_assert(gt(int, status, CL_COMPLETE));
	CL(clSetUserEventStatus(gate, CL_COMPLETE));
	CL(clFinish(queue));
	CL(clGetEventInfo(later, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL));
	cr_assert(eq(int, status, CL_COMPLETE));
	CL(clReleaseEvent(later));
	CL(clReleaseEvent(gate));
	CL(clReleaseCommandQueue(queue));
}

Test(commands, times_are_in_order)
{
	cl_ulong times[4] = {0};
	const cl_uint pattern = 1;
	cl_event event = NULL;
	cl_mem buffer = buffer_of(NULL);
	CL(clEnqueueFillBuffer(cl_queue, buffer, &pattern, 4, 0, WORD_BYTES, 0, NULL, &event));
	CL(clWaitForEvents(1, &event));
	for (cl_uint i = 0; i < 4; i++)
		CL(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_QUEUED + i, sizeof(*times),
					   &times[i], NULL));
	for (int i = 0; i < 3; i++)
		cr_assert(le(u64, times[i], times[i + 1]));
	CL(clReleaseEvent(event));
	CL(clReleaseMemObject(buffer));
}

Test(commands, a_failed_build_has_a_log)
{
	if (driver_has_kept_only())
		cr_skip_test("there is no compiler");
	const char *broken = "__kernel void k( {";
	char log[2048] = "";
	cl_int code = 0;
	cl_program bad = clCreateProgramWithSource(cl_context_made, 1, &broken, NULL, &code);
	REFUSES(clBuildProgram(bad, 0, NULL, NULL, NULL, NULL), CL_BUILD_PROGRAM_FAILURE);
	CL(clGetProgramBuildInfo(bad, cl_device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL));
	cr_assert(gt(sz, strlen(log), 0));
	CL(clReleaseProgram(bad));
}

Test(commands, programs_have_headers_and_are_linked)
{
	const char *user =
		"#include \"word.h\"\n"
		"uint twice(uint x); __kernel void k(__global uint *x) { *x = twice(WORD); }";
	const char *texts[3] = {user, "uint twice(uint x) { return x * 2; }", "#define WORD 21\n"};
	const char *name = "word.h";
	cl_program parts[3];
	cl_int code = 0;
	cl_uint word = 0;
	for (int i = 0; i < 3; i++) {
		parts[i] = clCreateProgramWithSource(cl_context_made, 1, &texts[i], NULL, &code);
		CL(code);
	}
	CL(clCompileProgram(parts[0], 0, NULL, NULL, 1, &parts[2], &name, NULL, NULL));
	CL(clCompileProgram(parts[1], 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
	cl_program linked =
		clLinkProgram(cl_context_made, 0, NULL, NULL, 2, parts, NULL, NULL, &code);
	CL(code);
	cl_kernel kernel = clCreateKernel(linked, "k", &code);
	CL(code);
	cl_mem buffer = buffer_of(NULL);
	CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &buffer));
	CL(clEnqueueTask(cl_queue, kernel, 0, NULL, NULL));
	CL(clEnqueueReadBuffer(cl_queue, buffer, CL_TRUE, 0, 4, &word, 0, NULL, NULL));
	cr_assert(eq(u32, word, 42));
	for (int i = 0; i < 3; i++)
		CL(clReleaseProgram(parts[i]));
	CL(clReleaseProgram(linked));
	CL(clReleaseKernel(kernel));
	CL(clReleaseMemObject(buffer));
}

Test(commands, a_binary_makes_the_program_again)
{
	cl_int code = 0;
	size_t bytes = 0, kernels = 0;
	cl_program built = built_program(source);
	CL(clGetProgramInfo(built, CL_PROGRAM_BINARY_SIZES, sizeof(bytes), &bytes, NULL));
	unsigned char *binary = malloc(bytes);
	const unsigned char *constant = binary;
	CL(clGetProgramInfo(built, CL_PROGRAM_BINARIES, sizeof(binary), &binary, NULL));
	cl_program again = clCreateProgramWithBinary(cl_context_made, 1, &cl_device, &bytes,
						     &constant, NULL, &code);
	CL(code);
	CL(clBuildProgram(again, 0, NULL, NULL, NULL, NULL));
	CL(clGetProgramInfo(again, CL_PROGRAM_NUM_KERNELS, sizeof(kernels), &kernels, NULL));
	cr_assert(eq(sz, kernels, 3));
	binary[0] ^= 1;
	(void)clCreateProgramWithBinary(cl_context_made, 1, &cl_device, &bytes, &constant, NULL,
					&code);
	REFUSES(code, CL_INVALID_BINARY);
	CL(clReleaseProgram(built));
	CL(clReleaseProgram(again));
	free(binary);
}

/* What the program's standard output has got while this runs. */
static void read_output(FILE *file, char *text, size_t room)
{
	cr_assert(eq(int, fflush(stdout), 0));
	rewind(file);
	text[fread(text, 1, room - 1, file)] = '\0';
}

Test(commands, R9_what_kernels_print_comes_to_standard_output_with_the_wait)
{
	SKIP_ON_CUDA("has no printf");
	const char *text = "__kernel void say(int n) {\n"
			   "  printf(\"%d: %s %.2f\\n\", n, \"hello\", 1.5f); }";
	char seen[256] = "";
	const size_t one = 1;
	cl_event event = NULL;
	cl_kernel say = kernel_of(text, "say");
	FILE *file = tmpfile();
	cr_assert(file != NULL);
	int kept = dup(STDOUT_FILENO);
	cr_assert(ge(int, kept, 0));
	cr_assert(ge(int, dup2(fileno(file), STDOUT_FILENO), 0));
	for (int n = 1; n <= 2; n++) {
		CL(clSetKernelArg(say, 0, sizeof(n), &n));
		CL(clEnqueueNDRangeKernel(cl_queue, say, 1, NULL, &one, NULL, 0, NULL, &event));
		if (n == 1)
			CL(clFinish(cl_queue));
		else
			CL(clWaitForEvents(1, &event));
		CL(clReleaseEvent(event));
	}
	read_output(file, seen, sizeof(seen));
	cr_assert(ge(int, dup2(kept, STDOUT_FILENO), 0));
	cr_assert(eq(str, seen, "1: hello 1.50\n2: hello 1.50\n"));
	(void)close(kept);
	(void)fclose(file);
	CL(clReleaseKernel(say));
}
