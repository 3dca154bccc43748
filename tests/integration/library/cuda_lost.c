/* A CUDA device that fails in an engine that is a thread of the application: the session ends, the
 * application goes on. */
#include "fake_cuda.h"
#include "syclclient.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(client_cuda_lost, .timeout = 60);

#define SIZE_BYTES 4096
#define COPIES_NS  60000000000ull

#define MUST(call)                                                                                 \
	do {                                                                                       \
		sycl_result must_ = (call);                                                        \
		cr_assert(eq(int, must_, 0), "%s: %s: %s", #call, sycl_result_name(must_),         \
			  sycl_get_last_error_text());                                             \
	} while (0)

static const struct fake_cuda_control *fake;
static sycl_platform connection;
static sycl_device device;
static sycl_queue queue;
static sycl_buffer buffer;

static int32_t cuda_lost_is_cuda(sycl_device candidate, void *unused)
{
	uint32_t backend = 0;
	(void)unused;
	MUST(sycl_device_get_info(candidate, SYCL_DEVICE_INFO_BACKEND, sizeof(backend), &backend,
				  NULL));
	return backend == SYCL_BACKEND_KIND_CUDA ? 1 : -1;
}

static void open_lost_device(void)
{
	cr_assert(eq(int,
		     setenv("SYCLD_BACKEND_OPTIONS",
			    "cuda:library=" FAKE_CUDA_LIBRARY " cuda:fill_kernel=no", 1),
		     0));
	cr_assert(eq(int, setenv("OCL_ICD_VENDORS", "/nonexistent", 1), 0));
	void *library = dlopen(FAKE_CUDA_LIBRARY, RTLD_NOW);
	cr_assert(ne(ptr, library, NULL), "%s", dlerror());
	fake_cuda_control_function *control;
	*(void **)(&control) = dlsym(library, FAKE_CUDA_CONTROL_SYMBOL);
	fake = control();
	MUST(sycl_platform_open("embedded:", &connection));
	MUST(sycl_device_select(connection, cuda_lost_is_cuda, NULL, &device));
	MUST(sycl_queue_create(NULL, device, NULL, &queue));
	MUST(sycl_buffer_create(connection, NULL, SIZE_BYTES, SYCL_HOST_NONE, &buffer));
}

static void release_all(void)
{
	(void)sycl_buffer_release(buffer);
	MUST(sycl_queue_release(queue));
	MUST(sycl_device_release(device));
	MUST(sycl_platform_release(connection));
}

static void expect_lost(sycl_result result, int native)
{
	struct sycl_error_detail detail = SYCL_ERROR_DETAIL_INIT;
	cr_assert(eq(int, result, SYCL_ERROR_DEVICE_LOST), "%s", sycl_get_last_error_text());
	MUST(sycl_get_last_error(&detail));
	cr_expect(eq(int, detail.native_code, native), "%s", sycl_get_last_error_text());
	cr_expect(eq(u32, detail.backend, SYCL_BACKEND_KIND_CUDA));
	cr_expect(ne(ptr, strstr(detail.text, "the device failed: "), NULL), "%s", detail.text);
}

/* A fill, which is the driver's memset here, does not end on the device. Then every call of the
 * driver fails. */
Test(client_cuda_lost, F12_I11_the_session_ends_and_the_application_goes_on)
{
	uint32_t pattern = 7;
	sycl_event event = NULL;
	open_lost_device();
	MUST(sycl_queue_fill(queue, buffer, 0, SIZE_BYTES, &pattern, sizeof(pattern), &event));
	MUST(sycl_event_wait(event));
	MUST(sycl_event_release(event));
	cr_assert(eq(int, fake->command("gate close memset"), 0));
	MUST(sycl_queue_fill(queue, buffer, 0, SIZE_BYTES, &pattern, sizeof(pattern), &event));
	cr_assert(fake->wait_count("held memset", 1, COPIES_NS));
	cr_assert(eq(int, fake->command("lose 719"), 0));
	expect_lost(sycl_event_wait(event), 719);
	cr_expect(ne(ptr, strstr(sycl_get_last_error_text(), "this session"), NULL), "%s",
		  sycl_get_last_error_text());
	expect_lost(sycl_queue_wait(queue), 719);
	MUST(sycl_event_release(event));
	release_all();

	/* The driver of this process has failed for good. Another session gets that error, and no
	 * call hangs. */
	MUST(sycl_platform_open("embedded:", &connection));
	cr_expect(eq(int, sycl_device_select(connection, cuda_lost_is_cuda, NULL, &device),
		     SYCL_ERROR_RUNTIME));
	MUST(sycl_platform_release(connection));
}
