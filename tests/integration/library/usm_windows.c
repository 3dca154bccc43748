/* Windows of memory that the second-level cache keeps, a property of queues (R6). The results are
 * the same, and impossible windows are refused. */
#include "library/usm.h"

#include <math.h>

TestSuite(usm_windows, .timeout = 120, .init = usm_test_begin, .fini = usm_test_end);

static uint64_t window_bytes(void)
{
	uint64_t bytes = 0;
	MUST(sycl_device_get_info(device, SYCL_DEVICE_INFO_L2_WINDOW_BYTES, sizeof(bytes), &bytes,
				  NULL));
	return bytes;
}

static void fill_and_check(uint32_t *words, sycl_kernel fill, uint32_t value)
{
	sycl_event event = NULL;
	usm_run(&(struct usm_run){.on = queue, .kernel = fill, .to = words, .value = &value},
		&event);
	MUST(sycl_event_wait(event));
	MUST(sycl_event_release(event));
	cr_assert(usm_are(queue, words, value));
}

Test(usm_windows, R6_a_queue_has_a_window_and_gives_it_up)
{
	struct sycl_l2_window window = SYCL_L2_WINDOW_INIT;
	uint32_t *words = usm_words(SYCL_USM_DEVICE);
	window.pointer = words;
	window.size_bytes = 64;
	if (window_bytes() == 0) {
		cr_assert(eq(int, sycl_queue_set_l2_window(queue, &window),
			     SYCL_ERROR_FEATURE_NOT_SUPPORTED));
		MUST(sycl_queue_set_l2_window(queue, NULL));
		usm_give(words);
		return;
	}
	sycl_kernel fill = portable_kernel(queue, "fill_u32");
	fill_and_check(words, fill, 5);
	MUST(sycl_queue_set_l2_window(queue, &window));
	for (uint32_t i = 0; i < 20; i++)
		fill_and_check(words, fill, i);
	window.hit = SYCL_L2_STREAMING;
	window.miss = SYCL_L2_NORMAL;
	window.hit_ratio = 0.5f;
	MUST(sycl_queue_set_l2_window(queue, &window));
	fill_and_check(words, fill, 77);
	MUST(sycl_queue_set_l2_window(queue, NULL));
	fill_and_check(words, fill, 78);
	MUST(sycl_queue_set_l2_window(queue, &window));
	usm_give(words); /* the window's memory is freed first */
	words = usm_words(SYCL_USM_DEVICE);
	fill_and_check(words, fill, 79);
	usm_give(words);
	MUST(sycl_kernel_release(fill));
}

static void expect_invalid(const struct sycl_l2_window *window)
{
	cr_expect(eq(int, sycl_queue_set_l2_window(queue, window), SYCL_ERROR_INVALID), "%s",
		  sycl_get_last_error_text());
}

Test(usm_windows, R6_a_window_that_cannot_be_is_refused)
{
	if (window_bytes() == 0)
		return;
	uint32_t *words = usm_words(SYCL_USM_DEVICE), on_host = 0;
	struct sycl_l2_window good = SYCL_L2_WINDOW_INIT;
	good.pointer = words;
	good.size_bytes = 64;
	struct sycl_l2_window bad[] = {good, good, good, good, good, good,
				       good, good, good, good, good};
	bad[0].struct_bytes = 8;
	bad[1].size_bytes = 0;
	bad[2].size_bytes = window_bytes() + 1;
	bad[3].pointer = NULL;
	bad[4].pointer = &on_host;
	bad[5].hit_ratio = NAN;
	bad[6].hit_ratio = 1.5f;
	bad[7].hit_ratio = -1;
	bad[8].miss = SYCL_L2_PERSISTING;
	bad[9].hit = (sycl_l2_use)7;
	bad[10].reserved = 1;
	for (uint32_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		expect_invalid(&bad[i]);
	MUST(sycl_queue_set_l2_window(queue, &good));
	MUST(sycl_queue_set_l2_window(queue, NULL));
	usm_give(words);
}
