/* What the tests of the OpenCL driver share. */
#include "driver.h"
#include "private_service.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

cl_platform_id cl_platform;
cl_device_id cl_device;
cl_context cl_context_made;
cl_command_queue cl_queue;

static struct private_service *service;
static char vendors[128];

/* The loader's folder has the driver alone. The service's engine inherits another one, with PoCL.
 */
static void name_driver(void)
{
	char path[192];
	(void)snprintf(vendors, sizeof(vendors), "%s/vendors", service->directory);
	cr_assert(eq(int, mkdir(vendors, 0755), 0));
	(void)snprintf(path, sizeof(path), "%s/syclcl.icd", vendors);
	FILE *file = fopen(path, "w");
	cr_assert(file != NULL);
	cr_assert(gt(int, fprintf(file, "%s\n", SYCLCL_LIBRARY), 0));
	cr_assert(eq(int, fclose(file), 0));
	(void)setenv("OCL_ICD_VENDORS", vendors, 1);
	(void)setenv("SYCLD_ENDPOINT", service->endpoint, 1);
}

void with_driver(void)
{
	const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE,
						  0};
	cl_int code = 0;
	cr_assert(eq(int, private_service_start(NULL, NULL, &service), 0));
	name_driver();
	CL(clGetPlatformIDs(1, &cl_platform, NULL));
	CL(clGetDeviceIDs(cl_platform, CL_DEVICE_TYPE_ALL, 1, &cl_device, NULL));
	cl_context_made = clCreateContext(NULL, 1, &cl_device, NULL, NULL, &code);
	CL(code);
	cl_queue =
		clCreateCommandQueueWithProperties(cl_context_made, cl_device, properties, &code);
	CL(code);
}

void without_driver(void)
{
	CL(clReleaseCommandQueue(cl_queue));
	CL(clReleaseContext(cl_context_made));
	service = private_service_free(service);
}

cl_command_queue out_of_order_queue(void)
{
	const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES,
						  CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
	cl_int code = 0;
	cl_command_queue queue =
		clCreateCommandQueueWithProperties(cl_context_made, cl_device, properties, &code);
	CL(code);
	return queue;
}

cl_mem buffer_of(const cl_uint *words)
{
	cl_int code = 0;
	cl_mem buffer = clCreateBuffer(cl_context_made, words ? CL_MEM_COPY_HOST_PTR : 0,
				       WORD_BYTES, (void *)(uintptr_t)words, &code);
	CL(code);
	return buffer;
}

void read_words(cl_mem buffer, cl_uint *words)
{
	CL(clEnqueueReadBuffer(cl_queue, buffer, CL_TRUE, 0, WORD_BYTES, words, 0, NULL, NULL));
}

cl_program built_program(const char *source)
{
	cl_int code = 0;
	cl_program program = clCreateProgramWithSource(cl_context_made, 1, &source, NULL, &code);
	CL(code);
	CL(clBuildProgram(program, 0, NULL, "-DSTEP=2", NULL, NULL));
	return program;
}

cl_kernel kernel_of(const char *source, const char *name)
{
	cl_int code = 0;
	cl_program program = built_program(source);
	cl_kernel kernel = clCreateKernel(program, name, &code);
	CL(code);
	CL(clReleaseProgram(program));
	return kernel;
}
