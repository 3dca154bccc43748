/* What the tests of the OpenCL driver share. */
#include "driver.h"
#include "private_service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

cl_platform_id cl_platform;
cl_device_id cl_device;
cl_context cl_context_made;
cl_command_queue cl_queue;

static struct private_service *service;
static char vendors[128];

/* Makes a folder for the loader with this driver, and PoCL if `pocl`. */
static void make_vendors(const char *folder, bool pocl)
{
	char path[192];
	const char *const libraries[] = {SYCLCL_LIBRARY, "libpocl.so.2"};
	cr_assert(eq(int, mkdir(folder, 0755), 0));
	for (int i = 0; i < (pocl ? 2 : 1); i++) {
		(void)snprintf(path, sizeof(path), "%s/%d.icd", folder, i);
		FILE *file = fopen(path, "w");
		cr_assert(file != NULL);
		cr_assert(gt(int, fprintf(file, "%s\n", libraries[i]), 0));
		cr_assert(eq(int, fclose(file), 0));
	}
	(void)setenv("OCL_ICD_VENDORS", folder, 1);
}

bool driver_is_cuda(void)
{
	return getenv("SYCLD_TEST_OPENCL") != NULL;
}

bool driver_has_kept_only(void)
{
	const char *cuda = getenv("SYCLD_TEST_OPENCL");
	return cuda && (strcmp(cuda, "real") == 0 || getenv("SYCLD_TEST_OPENCL_KEPT"));
}

/* The driver's session lasts until its process ends, which is after the service. */
#define NO_DRAIN "[service]\ndrain_seconds = 0\n"

/*
 * SYCLD_TEST_OPENCL names the double of NVIDIA's driver, or is "real": then the one device is
 * CUDA's. On a GPU, and with SYCLD_TEST_OPENCL_KEPT, nothing is translated: what the tests build
 * must have been kept.
 */
static void start_service(void)
{
	const char *cuda = getenv("SYCLD_TEST_OPENCL");
	bool real = cuda && strcmp(cuda, "real") == 0;
	bool kept = driver_has_kept_only();
	char text[512];
	if (!cuda) {
		cr_assert(eq(int, private_service_start(NO_DRAIN, NULL, &service), 0));
		return;
	}
	if (!real && access("/usr/lib/clc/nvptx64--nvidiacl.bc", R_OK) < 0)
		cr_skip_test("libclc, with which the service builds for CUDA, is not installed");
	(void)snprintf(text, sizeof(text), NO_DRAIN "[cuda]\n%s%s\n%s\n",
		       real ? "" : "library = ", real ? "" : cuda,
		       kept ? "clang = /nonexistent/clang" : "");
	(void)setenv("OCL_ICD_VENDORS", "/nonexistent", 1);
	cr_assert(eq(int, private_service_start(text, NULL, &service), 0));
}

void with_driver(void)
{
	const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE,
						  0};
	cl_int code = 0;
	start_service();
	(void)snprintf(vendors, sizeof(vendors), "%s/vendors", service->directory);
	make_vendors(vendors, false);
	(void)setenv("SYCLD_ENDPOINT", service->endpoint, 1);
	CL(clGetPlatformIDs(1, &cl_platform, NULL));
	CL(clGetDeviceIDs(cl_platform, CL_DEVICE_TYPE_ALL, 1, &cl_device, NULL));
	cl_context_made = clCreateContext(NULL, 1, &cl_device, NULL, NULL, &code);
	CL(code);
	cl_queue =
		clCreateCommandQueueWithProperties(cl_context_made, cl_device, properties, &code);
	CL(code);
}

void with_driver_for_all(void)
{
	char folder[] = "/tmp/sycld-vendors.XXXXXX", all[64];
	cr_assert(mkdtemp(folder) != NULL);
	(void)snprintf(all, sizeof(all), "%s/all", folder);
	make_vendors(all, true);
	with_driver();
	(void)snprintf(vendors, sizeof(vendors), "%s/1.icd", all);
	(void)unlink(vendors);
	(void)snprintf(vendors, sizeof(vendors), "%s/0.icd", all);
	(void)unlink(vendors);
	(void)rmdir(all);
	(void)rmdir(folder);
}

struct private_service *driver_service(void)
{
	return service;
}

void without_driver(void)
{
	if (!service)
		return;
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
