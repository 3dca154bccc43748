/*
 * An OpenCL program as anybody writes it; of sycld it knows the platform's name. What it does is
 * its first argument. It says "ready" when its first results are right, goes on until a line comes
 * or its input ends, does `count` rounds more, and says "ok". If a call of OpenCL fails it says
 * "failed CALL CODE" and ends with 3.
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <syclclient.h>

enum { PLATFORMS_MAX = 8, LAUNCHES = 10, KEPT = 1000, NAME_BYTES = 256, FAILED = 3 };

static struct {
	unsigned long count, bytes;
	const char *platform; /* the start of its name */
} options = {.count = 20, .bytes = 4096, .platform = "sycld: "};

static void say(const char *line)
{
	(void)printf("%s\n", line);
	(void)fflush(stdout);
}

static void must(cl_int code, const char *call)
{
	char line[NAME_BYTES];
	if (code == CL_SUCCESS)
		return;
	(void)snprintf(line, sizeof(line), "failed %s %d", call, code);
	say(line);
	_exit(FAILED);
}

static bool is_called_on(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	return poll(&input, 1, 0) > 0;
}

static cl_uint platforms_of_the_loader(cl_platform_id platforms[PLATFORMS_MAX])
{
	cl_uint count = 0;
	/* A loader without platforms answers with an error. */
	if (clGetPlatformIDs(PLATFORMS_MAX, platforms, &count) != CL_SUCCESS)
		return 0;
	return count < PLATFORMS_MAX ? count : PLATFORMS_MAX;
}

static int list(void)
{
	cl_platform_id platforms[PLATFORMS_MAX];
	cl_uint count = platforms_of_the_loader(platforms);
	for (cl_uint i = 0; i < count; i++) {
		char name[NAME_BYTES], line[2 * NAME_BYTES];
		cl_uint devices = 0;
		must(clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof(name), name, NULL),
		     "clGetPlatformInfo");
		must(clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 0, NULL, &devices),
		     "clGetDeviceIDs");
		(void)snprintf(line, sizeof(line), "platform %s, devices %u", name, devices);
		say(line);
	}
	say("ok");
	return 0;
}

struct work {
	cl_context context;
	cl_command_queue queue;
	cl_program program;
	cl_kernel kernel;
	cl_mem buffer;
	cl_uint *words, expected;
};

static cl_device_id device_of_the_platform(void)
{
	cl_platform_id platforms[PLATFORMS_MAX];
	cl_uint count = platforms_of_the_loader(platforms);
	for (cl_uint i = 0; i < count; i++) {
		char name[NAME_BYTES];
		cl_device_id device;
		must(clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof(name), name, NULL),
		     "clGetPlatformInfo");
		if (strncmp(name, options.platform, strlen(options.platform)) != 0)
			continue;
		must(clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL),
		     "clGetDeviceIDs");
		return device;
	}
	say("failed, no such platform");
	_exit(FAILED);
}

static struct work work_begin(void)
{
	static const char *source = "kernel void advance(global uint *x, uint by)"
				    "{ x[get_global_id(0)] += by; }";
	struct work work = {.words = calloc(1, options.bytes)};
	cl_device_id device = device_of_the_platform();
	cl_int code = CL_SUCCESS;
	if (!work.words)
		_exit(FAILED);
	work.context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
	must(code, "clCreateContext");
	work.queue = clCreateCommandQueueWithProperties(work.context, device, NULL, &code);
	must(code, "clCreateCommandQueueWithProperties");
	work.program = clCreateProgramWithSource(work.context, 1, &source, NULL, &code);
	must(code, "clCreateProgramWithSource");
	must(clBuildProgram(work.program, 0, NULL, "", NULL, NULL), "clBuildProgram");
	work.kernel = clCreateKernel(work.program, "advance", &code);
	must(code, "clCreateKernel");
	work.buffer = clCreateBuffer(work.context, CL_MEM_COPY_HOST_PTR, options.bytes, work.words,
				     &code);
	must(code, "clCreateBuffer");
	must(clSetKernelArg(work.kernel, 0, sizeof(cl_mem), &work.buffer), "clSetKernelArg");
	return work;
}

static void work_round(struct work *work)
{
	size_t items = options.bytes / sizeof(cl_uint);
	for (cl_uint by = 1; by <= LAUNCHES; by++) {
		must(clSetKernelArg(work->kernel, 1, sizeof(by), &by), "clSetKernelArg");
		must(clEnqueueNDRangeKernel(work->queue, work->kernel, 1, NULL, &items, NULL, 0,
					    NULL, NULL),
		     "clEnqueueNDRangeKernel");
		work->expected += by;
	}
	must(clEnqueueReadBuffer(work->queue, work->buffer, CL_TRUE, 0, options.bytes, work->words,
				 0, NULL, NULL),
	     "clEnqueueReadBuffer");
	for (size_t i = 0; i < items; i++) {
		if (work->words[i] == work->expected)
			continue;
		say("failed, a result is wrong");
		_exit(FAILED);
	}
}

static void work_end(struct work *work)
{
	(void)clReleaseMemObject(work->buffer);
	(void)clReleaseKernel(work->kernel);
	(void)clReleaseProgram(work->program);
	(void)clReleaseCommandQueue(work->queue);
	(void)clReleaseContext(work->context);
	free(work->words);
}

static int work(void)
{
	struct work work = work_begin();
	work_round(&work);
	say("ready");
	while (!is_called_on())
		work_round(&work);
	for (unsigned long i = 0; i < options.count; i++)
		work_round(&work);
	work_end(&work);
	say("ok");
	return 0;
}

/* Handles of another type, and none. The loader reads each handle itself, so values that never were
 * one end the program before the driver is called. */
static void misuse(struct work *work)
{
	cl_mem no_buffer = (cl_mem)(void *)work->queue;
	(void)clReleaseMemObject(no_buffer);
	(void)clReleaseKernel((cl_kernel)(void *)work->context);
	(void)clReleaseEvent(NULL);
	(void)clSetKernelArg((cl_kernel)(void *)work->buffer, 0, sizeof(cl_mem), &no_buffer);
	(void)clEnqueueNDRangeKernel((cl_command_queue)(void *)work->buffer,
				     (cl_kernel)(void *)work->queue, 1, NULL, NULL, NULL, 0, NULL,
				     NULL);
}

/* Sends without end, waits for nothing, keeps some of what it makes, and does not look at what
 * calls answer. */
static void *run_wild(void *context)
{
	struct work *work = context;
	const size_t items = options.bytes / sizeof(cl_uint);
	for (unsigned long i = 0;; i++) {
		cl_event event = NULL;
		cl_mem more = clCreateBuffer(work->context, 0, 1 << 16, NULL, NULL);
		(void)clEnqueueNDRangeKernel(work->queue, work->kernel, 1, NULL, &items, NULL, 0,
					     NULL, &event);
		if (more && (i % 2 == 0 || i > KEPT))
			(void)clReleaseMemObject(more);
		if (event && (i % 2 == 0 || i > KEPT))
			(void)clReleaseEvent(event);
		if (i % 1000 == 0)
			misuse(work);
	}
	return NULL;
}

static int wild(void)
{
	struct work work = work_begin();
	pthread_t threads[2];
	const cl_uint by = 1;
	work_round(&work);
	must(clSetKernelArg(work.kernel, 1, sizeof(by), &by), "clSetKernelArg");
	say("ready");
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, run_wild, &work) != 0)
			return 1;
	while (!is_called_on())
		(void)usleep(1000);
	_exit(0);
}

/* An engine in this process, and then the platforms of the loader. */
static int embedded(void)
{
	sycl_platform opened = NULL;
	if (sycl_platform_open("embedded:", &opened) != SYCL_SUCCESS) {
		say(sycl_get_last_error_text());
		return 1;
	}
	(void)list();
	(void)sycl_platform_release(opened);
	return 0;
}

static bool take_option(const char *name, const char *text)
{
	unsigned long number = strtoul(text, NULL, 10);
	if (strcmp(name, "--count") == 0)
		options.count = number;
	else if (strcmp(name, "--bytes") == 0)
		options.bytes = number;
	else if (strcmp(name, "--platform") == 0)
		options.platform = text;
	else if (strcmp(name, "--uid") == 0)
		return setresgid((gid_t)number, (gid_t)number, (gid_t)number) == 0 &&
		       setresuid((uid_t)number, (uid_t)number, (uid_t)number) == 0;
	else
		return false;
	return true;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*act)(void);
	} commands[] = {{"list", list}, {"work", work}, {"wild", wild}, {"embedded", embedded}};
	for (int i = 2; i + 1 < argc; i += 2)
		if (!take_option(argv[i], argv[i + 1]))
			return 2;
	for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(*commands); i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].act();
	(void)fprintf(stderr, "usage: opencl_program list | work | wild | embedded "
			      "[--count N] [--bytes N] [--platform START] [--uid N]\n");
	return 2;
}
