/*
 * A session for the page: launches a kernel repeatedly until its standard input ends. Prints
 * "ready" after the first one.
 */
#include <syclclient.h>

#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

enum { ITEMS = 1 << 14, TURNS = 5, PAUSE_MS = 50 };

static const char source[] =
	"SYCL_KERNEL void spin(SYCL_GLOBAL(float) x)\n"
	"{ ulong i = sycl_global_id(0); float v = x[i];\n"
	"  for (int n = 0; n < 2000; n++) v = v * 0.999f + 0.001f; x[i] = v; }";

static sycl_result prepare(sycl_queue *queue_out, sycl_kernel *spin_out, sycl_buffer *x_out)
{
	static float x[ITEMS];
	sycl_platform platform;
	sycl_result r = sycl_platform_open(NULL, &platform);
	if (r == 0)
		r = sycl_queue_create_default(platform, queue_out);
	if (r == 0)
		r = sycl_kernel_from_source(*queue_out, source, "spin", spin_out);
	if (r == 0)
		r = sycl_buffer_create(platform, x, sizeof(x), SYCL_HOST_CONST, x_out);
	return r;
}

/* Checks within the pause between two turns, which leaves most of the device to others. */
static bool input_has_ended(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	char byte;
	return poll(&input, 1, PAUSE_MS) > 0 && read(STDIN_FILENO, &byte, 1) <= 0;
}

int main(void)
{
	sycl_queue queue;
	sycl_kernel spin;
	sycl_buffer x;
	sycl_result r = prepare(&queue, &spin, &x);
	for (unsigned long turn = 0; r == 0 && !input_has_ended(); turn++) {
		for (int i = 0; r == 0 && i < TURNS; i++)
			r = SYCL_LAUNCH(queue, spin, sycl_range1(ITEMS), NULL, SYCL_READ_WRITE(x));
		if (r == 0)
			r = sycl_queue_wait(queue);
		if (r == 0 && turn == 0) {
			(void)puts("ready");
			(void)fflush(stdout);
		}
	}
	if (r != 0)
		(void)fprintf(stderr, "%s\n", sycl_get_last_error_text());
	return r != 0;
}
