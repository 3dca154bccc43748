/* A program outside of the project, linked with the installed library: consumer [ENDPOINT] */
#include <stdio.h>
#include <syclclient.h>

static const char source[] =
	"SYCL_KERNEL void twice(SYCL_GLOBAL(float) x) { ulong i = sycl_global_id(0); x[i] = 2.0f * x[i]; }";

static int consumer_check(sycl_result result, const char *what)
{
	if (result == SYCL_SUCCESS)
		return 0;
	fprintf(stderr, "%s: %s: %s\n%s\n", what, sycl_result_name(result),
		sycl_get_last_error_text(), sycl_get_build_log());
	return 1;
}

int main(int argc, char **argv)
{
	float x[100];
	int i, wrong = 0;
	sycl_platform platform;
	sycl_queue queue;
	sycl_kernel kernel;
	sycl_buffer buffer;
	sycl_handler handler;

	for (i = 0; i < 100; i++)
		x[i] = (float)i;
	if (consumer_check(sycl_platform_open(argc > 1 ? argv[1] : NULL, &platform), "open") ||
	    consumer_check(sycl_queue_create_default(platform, &queue), "queue") ||
	    consumer_check(sycl_kernel_from_source(queue, source, "twice", &kernel), "kernel") ||
	    consumer_check(sycl_buffer_create(platform, x, sizeof(x), SYCL_HOST_BORROWED, &buffer),
			   "buffer") ||
	    consumer_check(sycl_handler_begin(queue, &handler), "handler") ||
	    consumer_check(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE),
			   "accessor") ||
	    consumer_check(sycl_handler_parallel_for(handler, kernel, sycl_range1(100)), "range") ||
	    consumer_check(sycl_queue_submit(queue, handler, NULL), "submit") ||
	    consumer_check(sycl_buffer_release(buffer), "write-back"))
		return 1;
	sycl_kernel_release(kernel);
	sycl_queue_release(queue);
	sycl_platform_release(platform);
	for (i = 0; i < 100; i++)
		wrong += x[i] != 2.0f * (float)i;
	printf("%d wrong\n", wrong);
	return wrong != 0;
}
