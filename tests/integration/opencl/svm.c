/* Shared virtual memory of the OpenCL driver: the same pages in the program and in the engine. */
#include "driver.h"

#include <stdint.h>
#include <string.h>

TestSuite(svm, .init = with_driver, .fini = without_driver);

static const char list_source[] =
	"typedef struct node { __global struct node *next; uint value; } node;\n"
	"__kernel void k(__global node *n) { for (; n; n = n->next) n->value *= 2; }";

struct node {
	struct node *next;
	cl_uint value;
};

static void *allocated(size_t bytes)
{
	void *pointer = clSVMAlloc(cl_context_made, CL_MEM_READ_WRITE, bytes, 0);
	cr_assert(ne(ptr, pointer, NULL));
	return pointer;
}

Test(svm, pointers_in_memory_are_those_of_the_program)
{
	struct node *first = allocated(sizeof(*first)), *second = allocated(sizeof(*second));
	cl_kernel kernel = kernel_of(list_source, "k");
	*second = (struct node){NULL, 3};
	*first = (struct node){second, 2};
	CL(clSetKernelArgSVMPointer(kernel, 0, first));
	CL(clEnqueueTask(cl_queue, kernel, 0, NULL, NULL));
	CL(clEnqueueSVMMap(cl_queue, CL_TRUE, CL_MAP_READ, first, sizeof(*first), 0, NULL, NULL));
	cr_assert(eq(u32, first->value, 4));
	cr_assert(eq(u32, second->value, 6));
	CL(clEnqueueSVMUnmap(cl_queue, first, 0, NULL, NULL));
	CL(clFinish(cl_queue));
	CL(clReleaseKernel(kernel));
	clSVMFree(cl_context_made, first);
	clSVMFree(cl_context_made, second);
}

Test(svm, copies_and_fills)
{
	cl_uint *words = allocated(WORD_BYTES), plain[WORDS], pattern = 7;
	CL(clEnqueueSVMMemFill(cl_queue, words, &pattern, 4, WORD_BYTES, 0, NULL, NULL));
	CL(clEnqueueSVMMemcpy(cl_queue, CL_TRUE, plain, words, WORD_BYTES, 0, NULL, NULL));
	cr_assert(eq(u32, plain[WORDS - 1], 7));
	plain[0] = 9;
	CL(clEnqueueSVMMemcpy(cl_queue, CL_TRUE, words + 1, plain, 4, 0, NULL, NULL));
	cr_assert(eq(u32, words[1], 9));
	CL(clEnqueueSVMMemcpy(cl_queue, CL_TRUE, plain + 2, plain, 4, 0, NULL, NULL));
	cr_assert(eq(u32, plain[2], 9));
	REFUSES(clEnqueueSVMMemcpy(cl_queue, CL_TRUE, words, words + 1, 8, 0, NULL, NULL),
		CL_MEM_COPY_OVERLAP);
	REFUSES(clEnqueueSVMMemFill(cl_queue, words, &pattern, 3, 6, 0, NULL, NULL),
		CL_INVALID_VALUE);
	clSVMFree(cl_context_made, words);
}

/* Such a buffer has no contents of its own. */
Test(svm, a_buffer_over_it_is_the_same_memory)
{
	cl_int code = 0;
	cl_uint *words = allocated(WORD_BYTES), value = 5, read = 0;
	cl_bool uses = CL_FALSE;
	const cl_buffer_region half = {WORD_BYTES / 2, WORD_BYTES / 2};
	memset(words, 0, WORD_BYTES);
	cl_mem buffer =
		clCreateBuffer(cl_context_made, CL_MEM_USE_HOST_PTR, WORD_BYTES, words, &code);
	CL(code);
	CL(clGetMemObjectInfo(buffer, CL_MEM_USES_SVM_POINTER, sizeof(uses), &uses, NULL));
	cr_assert(eq(u32, uses, CL_TRUE));
	cl_mem part = clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &half, &code);
	CL(code);
	CL(clEnqueueWriteBuffer(cl_queue, part, CL_TRUE, 0, 4, &value, 0, NULL, NULL));
	CL(clFinish(cl_queue));
	cr_assert(eq(u32, words[WORDS / 2], 5));
	cl_kernel kernel = kernel_of("__kernel void k(__global uint *x) { x[0] += 1; }", "k");
	CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &part));
	CL(clEnqueueTask(cl_queue, kernel, 0, NULL, NULL));
	CL(clEnqueueReadBuffer(cl_queue, buffer, CL_TRUE, WORD_BYTES / 2, 4, &read, 0, NULL, NULL));
	cr_assert(eq(u32, read, 6));
	cr_assert(eq(u32, words[WORDS / 2], 6));
	void *mapped = clEnqueueMapBuffer(cl_queue, buffer, CL_TRUE, CL_MAP_READ, 0, WORD_BYTES, 0,
					  NULL, NULL, &code);
	CL(code);
	cr_assert(eq(ptr, mapped, words));
	CL(clEnqueueUnmapMemObject(cl_queue, buffer, mapped, 0, NULL, NULL));
	CL(clFinish(cl_queue));
	CL(clReleaseKernel(kernel));
	CL(clReleaseMemObject(part));
	CL(clReleaseMemObject(buffer));
	(void)clCreateBuffer(cl_context_made, CL_MEM_USE_HOST_PTR, 2 * sizeof(cl_uint[WORDS]),
			     words, &code);
	cr_assert(eq(int, code, CL_INVALID_BUFFER_SIZE));
	clSVMFree(cl_context_made, words);
}

static void CL_CALLBACK free_all(cl_command_queue queue, cl_uint count, void **pointers,
				 void *user_data)
{
	(void)queue;
	for (cl_uint i = 0; i < count; i++)
		clSVMFree(cl_context_made, pointers[i]);
	*(cl_uint *)user_data += count;
}

Test(svm, is_freed_in_the_order_of_a_queue)
{
	void *pointers[2] = {allocated(64), allocated(64)}, *one = allocated(64);
	cl_uint freed = 0;
	CL(clEnqueueSVMFree(cl_queue, 2, pointers, free_all, &freed, 0, NULL, NULL));
	CL(clEnqueueSVMFree(cl_queue, 1, &one, NULL, NULL, 0, NULL, NULL));
	CL(clFinish(cl_queue));
	cr_assert(eq(u32, freed, 2));
	REFUSES(clEnqueueSVMFree(cl_queue, 1, NULL, NULL, NULL, 0, NULL, NULL), CL_INVALID_VALUE);
}

Test(svm, what_is_wrong_is_refused)
{
	cl_uint plain = 0;
	const void *pointer = &plain;
	const cl_bool yes = CL_TRUE;
	cl_kernel kernel = kernel_of(list_source, "k");
	cr_assert(eq(ptr, clSVMAlloc(cl_context_made, CL_MEM_READ_WRITE, 0, 0), NULL));
	cr_assert(eq(ptr, clSVMAlloc(cl_context_made, CL_MEM_READ_WRITE, 64, 3), NULL));
	cr_assert(eq(ptr, clSVMAlloc(cl_context_made, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 64, 0),
		     NULL));
	cr_assert(eq(ptr, clSVMAlloc(cl_context_made, CL_MEM_SVM_ATOMICS, 64, 0), NULL));
	cr_assert(eq(ptr, clSVMAlloc(cl_context_made, CL_MEM_READ_WRITE, SIZE_MAX / 2, 0), NULL));
	cr_assert(eq(ptr, clSVMAlloc(NULL, CL_MEM_READ_WRITE, 64, 0), NULL));
	clSVMFree(cl_context_made, &plain);
	clSVMFree(NULL, &plain);
	REFUSES(clSetKernelArgSVMPointer(kernel, 0, &plain), CL_INVALID_ARG_VALUE);
	REFUSES(clSetKernelArgSVMPointer(kernel, 1, NULL), CL_INVALID_ARG_INDEX);
	REFUSES(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM, sizeof(yes),
				    &yes),
		CL_INVALID_OPERATION);
	REFUSES(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, 3, &plain),
		CL_INVALID_VALUE);
	REFUSES(clEnqueueSVMMap(cl_queue, CL_TRUE, CL_MAP_READ, NULL, 4, 0, NULL, NULL),
		CL_INVALID_VALUE);
	REFUSES(clEnqueueSVMMigrateMem(cl_queue, 1, &pointer, NULL, 0, 0, NULL, NULL),
		CL_INVALID_VALUE);
	CL(clReleaseKernel(kernel));
}
