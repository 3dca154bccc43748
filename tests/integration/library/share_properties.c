/* Launch properties, on the fake devices of share.c, which defines the suite. */
#include "library/share_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Returns the last launch that ended, from the fake device's log. */
static struct fake_log_entry last_launch(void)
{
	struct fake_log_entry entries[64];
	uint32_t count = fake_log_read(entries, 64);
	for (uint32_t i = count; i-- > 0;)
		if (entries[i].kind == BACKEND_COMMAND_LAUNCH)
			return entries[i];
	return (struct fake_log_entry){.device = UINT32_MAX};
}

Test(client_share, launch_properties_reach_the_device)
{
	sycl_kernel kernel = fake_kernel(queue, "noop");
	sycl_handler handler = NULL;
	cr_assert(eq(int, fake_log_start(64), 0));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_cooperative(handler));
	MUST(sycl_handler_set_cluster_size(handler, sycl_range2(2, 4)));
	MUST(sycl_handler_parallel_for_nd(handler, kernel, sycl_range2(32, 32), sycl_range2(8, 8)));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_queue_wait_for(queue, LONG_NS));
	struct fake_log_entry launch = last_launch();
	cr_assert(eq(str, launch.what, "noop"));
	cr_assert(launch.cooperative);
	cr_assert(eq(u32, launch.cluster[0], 2));
	cr_assert(eq(u32, launch.cluster[1], 4));
	/* In an empty range nothing runs, whatever the properties are. */
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_cooperative(handler));
	MUST(sycl_handler_set_cluster_size(handler, sycl_range1(2)));
	MUST(sycl_handler_parallel_for_nd(handler, kernel, sycl_range1(0), sycl_range1(8)));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_queue_wait_for(queue, LONG_NS));
	MUST(sycl_kernel_release(kernel));
}

static sycl_result submit_in_clusters(sycl_kernel kernel, sycl_range cluster, bool in_groups)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	sycl_result result = sycl_handler_set_cluster_size(handler, cluster);
	if (result) {
		MUST(sycl_handler_discard(handler));
		return result;
	}
	MUST(in_groups ? sycl_handler_parallel_for_nd(handler, kernel, sycl_range1(48),
						      sycl_range1(8))
		       : sycl_handler_parallel_for(handler, kernel, sycl_range1(48)));
	return sycl_handler_submit(handler, NULL);
}

Test(client_share, launch_properties_that_do_not_fit_are_refused)
{
	sycl_kernel kernel = fake_kernel(queue, "noop");
	sycl_buffer buffer = share_exportable(SYCL_SHARE_VMM, 1);
	sycl_range odd = sycl_range1(2);
	cr_assert(eq(int, submit_in_clusters(kernel, sycl_range1(3), true), 0), "6 work-groups");
	cr_assert(eq(int, submit_in_clusters(kernel, sycl_range1(4), true), SYCL_ERROR_ND_RANGE));
	cr_assert(eq(int, submit_in_clusters(kernel, sycl_range1(2), false), SYCL_ERROR_ND_RANGE));
	cr_assert(
		eq(int, submit_in_clusters(kernel, sycl_range2(1, 2), true), SYCL_ERROR_ND_RANGE));
	cr_assert(eq(int, submit_in_clusters(kernel, sycl_range1(0), true), SYCL_ERROR_ND_RANGE));
	cr_assert(eq(int, submit_in_clusters(kernel, sycl_range1(9), true), SYCL_ERROR_ND_RANGE));
	cr_assert(
		eq(int, submit_in_clusters(kernel, sycl_range2(4, 4), true), SYCL_ERROR_ND_RANGE));
	odd.dimensions = 4;
	cr_assert(eq(int, submit_in_clusters(kernel, odd, true), SYCL_ERROR_ND_RANGE));
	odd = sycl_range1(2);
	odd.reserved = 1;
	cr_assert(eq(int, submit_in_clusters(kernel, odd, true), SYCL_ERROR_INVALID));
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_cooperative(handler));
	MUST(sycl_handler_update_host(handler, buffer));
	cr_assert(eq(int, sycl_handler_submit(handler, NULL), SYCL_ERROR_ND_RANGE),
		  "no launch at all");
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_cooperative(handler));
	MUST(sycl_handler_set_splittable(handler));
	MUST(sycl_handler_parallel_for_nd(handler, kernel, sycl_range1(48), sycl_range1(8)));
	cr_assert(eq(int, sycl_handler_submit(handler, NULL), SYCL_ERROR_INVALID),
		  "at one time, and in parts");
	MUST(sycl_queue_wait_for(queue, LONG_NS));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(kernel));
}
