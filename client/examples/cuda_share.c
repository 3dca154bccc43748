/*
 * Two processes share one buffer in the memory of an NVIDIA GPU. The parent fills the buffer and
 * sends 96 bytes through a pipe to its child, which has its own connection. The child's kernel
 * doubles the values without a copy, and the parent reads the result. Exit 0: the result is right;
 * 77: no such device here; 1: any other failure.
 */
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <syclclient.h>
#include <unistd.h>

#define N 1000u

static const char source[] =
	"SYCL_KERNEL void twice(SYCL_GLOBAL(uint) values) { values[sycl_global_id(0)] *= 2; }";

static int32_t only_cuda(sycl_device device, void *unused)
{
	uint32_t backend = 0;
	(void)unused;
	(void)sycl_device_get_info(device, SYCL_DEVICE_INFO_BACKEND, sizeof(backend), &backend,
				   NULL);
	return backend == SYCL_BACKEND_KIND_CUDA ? sycl_default_selector(device, NULL) : -1;
}

static int print_failure(const char *who)
{
	return fprintf(stderr, "%s: %s\n%s", who, sycl_get_last_error_text(), sycl_get_build_log()),
	       1;
}

/* The child. The imported buffer is the parent's own, so the command groups of both are ordered as
 * if one process had sent them. */
static int use_shared_buffer(const char *endpoint, int from_parent, int to_parent)
{
	struct sycl_shared_memory shared;
	sycl_platform platform;
	sycl_device device;
	sycl_queue queue;
	sycl_kernel twice;
	sycl_buffer buffer;
	sycl_handler group;
	if (read(from_parent, &shared, sizeof(shared)) != (ssize_t)sizeof(shared))
		return 1; /* the parent has printed the error */
	sycl_result r = sycl_platform_open(endpoint, &platform);
	if (r == 0)
		r = sycl_device_select(platform, only_cuda, NULL, &device);
	if (r == 0)
		r = sycl_queue_create(NULL, device, NULL, &queue);
	if (r == 0)
		r = sycl_kernel_from_source(queue, source, "twice", &twice);
	if (r == 0)
		r = sycl_buffer_import(device, &shared, &buffer);
	if (r == 0)
		r = sycl_handler_begin(queue, &group);
	if (r == 0)
		r = sycl_handler_set_accessor(group, 0, buffer, SYCL_ACCESS_READ_WRITE);
	if (r == 0)
		r = sycl_handler_parallel_for(group, twice, sycl_range1(N));
	if (r == 0)
		r = sycl_queue_submit(queue, group, NULL);
	if (r == 0)
		r = sycl_queue_wait(queue);
	if (r != 0)
		return print_failure("child");
	return write(to_parent, "d", 1) == 1 ? 0 : 1;
}

static int share_buffer(const char *endpoint, int from_child, int to_child)
{
	static uint32_t values[N];
	for (uint32_t i = 0; i < N; i++)
		values[i] = i;
	sycl_platform platform;
	sycl_device device;
	sycl_buffer buffer;
	struct sycl_shared_memory shared = SYCL_SHARED_MEMORY_INIT;
	sycl_result r = sycl_platform_open(endpoint, &platform);
	if (r == 0 && sycl_device_select(platform, only_cuda, NULL, &device) != 0)
		return fprintf(stderr, "no CUDA device here (\"syclctl devices\" says why): %s\n",
			       sycl_get_last_error_text()),
		       77;
	/* A buffer shared in this way is described by bytes only. SYCL_SHARE_VMM needs a
	 * descriptor, and so a Unix socket. */
	if (r == 0)
		r = sycl_buffer_create_exportable(device, values, sizeof(values), SYCL_HOST_CONST,
						  SYCL_SHARE_CUDA_IPC, &buffer);
	if (r == SYCL_ERROR_FEATURE_NOT_SUPPORTED)
		return print_failure("this GPU shares nothing"), 77;
	if (r == 0)
		r = sycl_buffer_export(buffer, &shared);
	if (r != 0)
		return print_failure("parent");
	char done;
	sycl_host_accessor access;
	void *bytes;
	if (write(to_child, &shared, sizeof(shared)) != (ssize_t)sizeof(shared) ||
	    read(from_child, &done, 1) != 1)
		return fprintf(stderr, "the child did not answer\n"), 1;
	/* An accessor reads what other processes wrote. A release would write back only what this
	 * process' own groups wrote. */
	if (r == 0)
		r = sycl_host_accessor_create(buffer, SYCL_ACCESS_READ, &access);
	if (r == 0)
		r = sycl_host_accessor_get_pointer(access, &bytes);
	if (r != 0)
		return print_failure("parent");
	const uint32_t *doubled = bytes;
	uint32_t wrong = 0;
	for (uint32_t i = 0; i < N; i++)
		wrong += doubled[i] != 2 * i;
	printf("%u values doubled by another process, %u of them wrong\n", N, wrong);
	return wrong != 0;
}

int main(int argc, char **argv)
{
	const char *endpoint =
		argc > 1 ? argv[1] : NULL; /* NULL: the library finds a service, or starts one */
	int down[2], up[2], status = 0;
	if (pipe(down) != 0 || pipe(up) != 0)
		return perror("pipe"), 1;
	pid_t child = fork(); /* before the connection: handles do not survive a fork */
	if (child < 0)
		return perror("fork"), 1;
	close(down[child == 0]);
	close(up[child != 0]);
	if (child == 0)
		return use_shared_buffer(endpoint, down[0], up[1]);
	int result = share_buffer(endpoint, up[0], down[1]);
	close(down[1]);
	(void)waitpid(child, &status, 0);
	return result == 0 && status != 0 ? 1 : result;
}
