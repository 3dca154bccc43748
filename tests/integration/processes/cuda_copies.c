/* Copies between buffers and host USM through a service, counted by the double of NVIDIA's driver.
 * Each is one call of the driver, without memory in between (D20). */
#include "processes/fake_service.h"

#include "syclclient.h"

#include <stdlib.h>
#include <string.h>

TestSuite(processes_cuda_copies, .timeout = 240);

/* More than a kernel copies, and more than any arena has left. */
enum { BYTES = 24 << 20, TURNS = 4, HALF = BYTES / 2 };

static struct fake_service fake = FAKE_SERVICE_INIT;
static sycl_platform platform;
static sycl_device device;
static sycl_queue queue;
static sycl_buffer buffer;
static uint8_t *in, *out;

#define MUST(call)                                                                                 \
	do {                                                                                       \
		sycl_result must_ = (call);                                                        \
		cr_assert_eq(must_, 0, "%s: %s: %s", #call, sycl_result_name(must_),               \
			     sycl_get_last_error_text());                                          \
	} while (0)

static int32_t cuda_copies_is_cuda(sycl_device of, void *unused)
{
	uint32_t backend = 0;
	(void)unused;
	MUST(sycl_device_get_info(of, SYCL_DEVICE_INFO_BACKEND, sizeof(backend), &backend, NULL));
	return backend == SYCL_BACKEND_KIND_CUDA ? 1 : -1;
}

static void *host_memory(void)
{
	void *memory = NULL;
	MUST(sycl_malloc_host(queue, BYTES, 0, &memory));
	return memory;
}

static void cuda_copies_start(const char *resubmit)
{
	cr_assert_eq(setenv("SYCLD_RESUBMIT", resubmit, 1), 0);
	fake_service_start(&fake, "", "[service]\nstandby = no\n", false);
	MUST(sycl_platform_open(fake.service->endpoint, &platform));
	MUST(sycl_device_select(platform, cuda_copies_is_cuda, NULL, &device));
	MUST(sycl_queue_create(NULL, device, NULL, &queue));
	MUST(sycl_buffer_create(platform, NULL, BYTES, SYCL_HOST_NONE, &buffer));
	in = host_memory();
	out = host_memory();
}

static void cuda_copies_stop(void)
{
	MUST(sycl_free(queue, in));
	MUST(sycl_free(queue, out));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_queue_release(queue));
	MUST(sycl_device_release(device));
	MUST(sycl_platform_release(platform));
	fake_service_end(&fake);
}

static void cuda_copies_end_event(sycl_event event)
{
	MUST(sycl_event_wait_for(event, SOON));
	MUST(sycl_event_release(event));
}

static struct sycl_usage usage(void)
{
	struct sycl_usage usage = SYCL_USAGE_INIT;
	MUST(sycl_platform_get_usage(platform, &usage));
	return usage;
}

static long long count(const char *what)
{
	return fake_service_say(&fake, processes_engine(fake.service), what);
}

/* Copies in, and out twice. A buffer whose contents are on the host already would not need the
 * second copy. */
static void copy_and_count(void)
{
	/* Registers the arenas and makes the buffer's memory. */
	sycl_event event = NULL;
	MUST(sycl_queue_copy_from_host(queue, in, buffer, 0, BYTES, &event));
	cuda_copies_end_event(event);
	const struct sycl_usage before = usage();
	const long long copies = count("count copies"), pageable = count("count pageable_copies");
	for (unsigned turn = 0; turn < TURNS; turn++) {
		memset(in, (int)turn + 1, BYTES);
		MUST(sycl_queue_copy_from_host(queue, in, buffer, 0, BYTES, &event));
		cuda_copies_end_event(event);
		for (int again = 0; again < 2; again++) {
			memset(out, 0, BYTES);
			MUST(sycl_queue_copy_to_host(queue, buffer, 0, out, BYTES, &event));
			cuda_copies_end_event(event);
			cr_assert_eq(memcmp(in, out, BYTES), 0, "turn %u", turn);
		}
	}
	cr_assert_eq(count("count copies") - copies, 3 * TURNS);
	cr_assert_eq(count("count pageable_copies") - pageable, 0);
	cr_assert_eq(count("count misuse"), 0);
	cr_assert_eq(usage().arena_bytes, before.arena_bytes, "memory in between was taken");
}

Test(processes_cuda_copies, D20_each_copy_of_host_usm_is_one_copy_of_the_driver)
{
	cuda_copies_start("0");
	copy_and_count();
	cr_assert_eq(usage().groups_resubmitted, 0);
	cuda_copies_stop();
}

Test(processes_cuda_copies, D20_B15_the_same_by_shapes)
{
	cuda_copies_start("1");
	copy_and_count();
	/* All copies but the first two of each direction. */
	cr_assert_eq(usage().groups_resubmitted, 1 + 3 * TURNS - 4);
	cuda_copies_stop();
}

Test(processes_cuda_copies, D20_E3_a_box_of_host_usm_is_one_copy_of_the_driver)
{
	enum { ROW = 4096, PITCH = 8192, ROWS = 1024 };
	struct sycl_copy_rect rect = SYCL_COPY_RECT_INIT;
	sycl_event event = NULL;
	cuda_copies_start("1");
	rect.width_bytes = ROW;
	rect.rows = ROWS;
	rect.source_row_pitch_bytes = PITCH;
	rect.destination_row_pitch_bytes = ROW;
	memset(in, 7, BYTES);
	MUST(sycl_queue_copy_rect_from_host(queue, in, buffer, &rect, &event));
	cuda_copies_end_event(event);
	const long long copies = count("count copies"), pageable = count("count pageable_copies");
	memset(in, 9, BYTES);
	MUST(sycl_queue_copy_rect_from_host(queue, in, buffer, &rect, &event));
	cuda_copies_end_event(event);
	MUST(sycl_queue_copy_to_host(queue, buffer, 0, out, ROW * ROWS, &event));
	cuda_copies_end_event(event);
	cr_assert_eq(count("count copies") - copies, 2);
	cr_assert_eq(count("count pageable_copies") - pageable, 0);
	cr_assert_eq(out[0], 9);
	cr_assert_eq(out[ROW * ROWS - 1], 9);
	cuda_copies_stop();
}

Test(processes_cuda_copies, L2_D20_copies_of_host_usm_are_nodes_of_the_drivers_graph)
{
	sycl_context context = NULL;
	sycl_graph graph = NULL;
	sycl_executable_graph executable = NULL;
	sycl_event event = NULL;
	cuda_copies_start("1");
	MUST(sycl_queue_get_context(queue, &context));
	MUST(sycl_graph_create(context, device, NULL, &graph));
	MUST(sycl_graph_begin_recording(graph, 1, &queue));
	MUST(sycl_queue_copy_from_host(queue, in, buffer, 0, HALF, NULL));
	MUST(sycl_queue_copy_to_host(queue, buffer, 0, out, HALF, NULL));
	MUST(sycl_graph_end_recording(graph, 0, NULL));
	MUST(sycl_graph_finalize(graph, NULL, &executable));
	for (int turn = 1; turn <= TURNS; turn++) {
		memset(in, turn, HALF);
		MUST(sycl_queue_graph(queue, executable, 0, NULL, &event));
		cuda_copies_end_event(event);
		cr_assert_eq(memcmp(in, out, HALF), 0, "launch %d", turn);
	}
	cr_assert_gt(count("count graph_launches"), 0, "it was replayed node by node");
	cr_assert_eq(count("count misuse"), 0);
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_graph_release(graph));
	MUST(sycl_context_release(context));
	cuda_copies_stop();
}
