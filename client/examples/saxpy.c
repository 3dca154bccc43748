/* y <- a * x + y on the default device of the service. */
#include <stdio.h>
#include <syclclient.h>

static const char source[] =
	"SYCL_KERNEL void saxpy(SYCL_GLOBAL(const float) x, SYCL_GLOBAL(float) y, float a)\n"
	"{ ulong i = sycl_global_id(0); y[i] += a * x[i]; }";

int main(void)
{
	/* clang-format off */
	float x[1000], y[1000], a = 2;
	for (int i = 0; i < 1000; i++) x[i] = (float)i, y[i] = 1;
	sycl_platform platform; sycl_queue queue; sycl_kernel saxpy; sycl_buffer bx, by;
	sycl_result r = sycl_platform_open(NULL, &platform); /* finds the service, or starts one */
	if (r == 0) r = sycl_queue_create_default(platform, &queue);
	if (r == 0) r = sycl_kernel_from_source(queue, source, "saxpy", &saxpy);
	if (r == 0) r = sycl_buffer_create(platform, x, sizeof(x), SYCL_HOST_CONST, &bx);
	if (r == 0) r = sycl_buffer_create(platform, y, sizeof(y), SYCL_HOST_BORROWED, &by);
	if (r == 0) r = SYCL_LAUNCH(queue, saxpy, sycl_range1(1000), NULL,
				    SYCL_READ(bx), SYCL_READ_WRITE(by), SYCL_VALUE(a));
	if (r == 0) r = sycl_buffer_release(by); /* waits, and y has the result */
	if (r != 0) return fprintf(stderr, "%s\n%s", sycl_get_last_error_text(), sycl_get_build_log()), 1;
	/* clang-format on */
	printf("y[999] = %g\n", (double)y[999]);
	return y[999] == 1999 ? 0 : 1;
}
