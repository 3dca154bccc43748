/* Mapped parts of buffers that lie in memory of the host: on a device that works there nothing is
 * copied. */
#include "driver.h"

TestSuite(maps, .init = with_driver, .fini = without_driver);

static const char source[] =
	"__kernel void step(__global uint *x) { x[get_global_id(0)] += STEP; }\n";

static cl_mem host_buffer(cl_uint *words)
{
	cl_int code = 0;
	cl_mem buffer = clCreateBuffer(cl_context_made,
				       CL_MEM_ALLOC_HOST_PTR | (words ? CL_MEM_COPY_HOST_PTR : 0),
				       WORD_BYTES, words, &code);
	CL(code);
	return buffer;
}

static cl_uint *mapped(cl_mem buffer, cl_map_flags flags, size_t offset, size_t bytes)
{
	cl_int code = 0;
	cl_uint *words = clEnqueueMapBuffer(cl_queue, buffer, CL_TRUE, flags, offset, bytes, 0,
					    NULL, NULL, &code);
	CL(code);
	return words;
}

static void unmap(cl_mem buffer, void *pointer)
{
	CL(clEnqueueUnmapMemObject(cl_queue, buffer, pointer, 0, NULL, NULL));
}

static void step_all(cl_kernel step, cl_mem buffer)
{
	const size_t global = WORDS;
	CL(clSetKernelArg(step, 0, sizeof(cl_mem), &buffer));
	CL(clEnqueueNDRangeKernel(cl_queue, step, 1, NULL, &global, NULL, 0, NULL, NULL));
	CL(clFinish(cl_queue));
}

/* What a kernel writes appears at an address that was mapped before. With a copy it would not. */
Test(maps, memory_of_the_host_is_mapped_without_a_copy)
{
	SKIP_ON_CUDA("does not work in the memory of the host");
	static cl_uint words[WORDS];
	words[700] = 5;
	cl_kernel step = kernel_of(source, "step");
	cl_mem buffer = host_buffer(words);
	const volatile cl_uint *seen = mapped(buffer, CL_MAP_READ, 0, WORD_BYTES);
	cr_assert(eq(u32, seen[700], 5));
	step_all(step, buffer);
	cr_assert(eq(u32, seen[700], 7));
	unmap(buffer, (void *)(uintptr_t)seen);
	CL(clReleaseMemObject(buffer));
	CL(clReleaseKernel(step));
}

Test(maps, kernels_and_reads_see_what_was_written_there)
{
	static cl_uint words[WORDS];
	cl_kernel step = kernel_of(source, "step");
	cl_mem buffer = host_buffer(NULL);
	cl_uint *all = mapped(buffer, CL_MAP_WRITE_INVALIDATE_REGION, 0, WORD_BYTES);
	for (cl_uint i = 0; i < WORDS; i++)
		all[i] = i;
	unmap(buffer, all);
	step_all(step, buffer);
	cl_uint *half = mapped(buffer, CL_MAP_READ | CL_MAP_WRITE, WORD_BYTES / 2, WORD_BYTES / 2);
	cr_assert(half == all + WORDS / 2);
	cr_assert(eq(u32, half[1], WORDS / 2 + 3));
	half[1] = 9;
	unmap(buffer, half);
	step_all(step, buffer);
	read_words(buffer, words);
	cr_assert(eq(u32, words[1], 5));
	cr_assert(eq(u32, words[WORDS / 2 + 1], 11));
	CL(clReleaseMemObject(buffer));
	CL(clReleaseKernel(step));
}

Test(maps, a_part_of_such_a_buffer_lies_inside_it)
{
	static cl_uint words[WORDS];
	const cl_buffer_region region = {2048, 1024};
	const cl_uint pattern = 9;
	cl_int code = 0;
	cl_mem buffer = host_buffer(words);
	cl_mem part = clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
	CL(code);
	CL(clEnqueueFillBuffer(cl_queue, part, &pattern, sizeof(pattern), 0, 1024, 0, NULL, NULL));
	cl_uint *of_part = mapped(part, CL_MAP_READ | CL_MAP_WRITE, 512, 512);
	cl_uint *whole = mapped(buffer, CL_MAP_READ, 0, WORD_BYTES);
	cr_assert(of_part == whole + 640);
	cr_assert(eq(u32, of_part[0], 9));
	cr_assert(eq(u32, whole[511], 0));
	of_part[0] = 8;
	unmap(part, of_part);
	unmap(buffer, whole);
	read_words(buffer, words);
	cr_assert(eq(u32, words[639], 9));
	cr_assert(eq(u32, words[640], 8));
	CL(clReleaseMemObject(part));
	CL(clReleaseMemObject(buffer));
}

/* A usual way to have memory that devices reach fast: the source of writes to another buffer. */
Test(maps, a_mapped_part_may_be_the_programs_end_of_other_commands)
{
	SKIP_ON_CUDA("does not work in the memory of the host");
	static cl_uint words[WORDS];
	cl_mem buffer = host_buffer(NULL), other = buffer_of(NULL);
	cl_uint *all = mapped(buffer, CL_MAP_READ | CL_MAP_WRITE, 0, WORD_BYTES);
	for (cl_uint i = 0; i < WORDS; i++)
		all[i] = i;
	CL(clEnqueueWriteBuffer(cl_queue, other, CL_TRUE, 0, WORD_BYTES, all, 0, NULL, NULL));
	all[5] = 0;
	CL(clEnqueueReadBuffer(cl_queue, other, CL_TRUE, 0, WORD_BYTES / 2, all, 0, NULL, NULL));
	cr_assert(eq(u32, all[5], 5));
	CL(clEnqueueCopyBuffer(cl_queue, other, buffer, 0, WORD_BYTES / 2, 64, 0, NULL, NULL));
	CL(clFinish(cl_queue));
	unmap(buffer, all);
	read_words(buffer, words);
	cr_assert(eq(u32, words[WORDS / 2], 0));
	cr_assert(eq(u32, words[WORDS - 1], WORDS - 1));
	CL(clReleaseMemObject(buffer));
	CL(clReleaseMemObject(other));
}
