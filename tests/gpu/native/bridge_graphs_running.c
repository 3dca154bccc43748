/* Launches of graphs with native commands that are in flight while handles are released or the
 * service ends. */
#include "native/bridge_nodes.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Words that both the program and its GPU can access: each launch that begins increments them. */
static volatile uint32_t *seen_begin(struct bridge_node *node)
{
	void *words = NULL;
	CUcontext popped = NULL;
	NATIVE_MUST(NATIVE(cuCtxPushCurrent)(node->test->context));
	NATIVE_MUST(NATIVE(cuMemHostAlloc)(&words, BRIDGE_BYTES, CU_MEMHOSTALLOC_DEVICEMAP));
	NATIVE_MUST(NATIVE(cuMemHostGetDevicePointer)(&node->seen, words, 0));
	NATIVE_MUST(NATIVE(cuCtxPopCurrent)(&popped));
	memset(words, 0, BRIDGE_BYTES);
	return words;
}

static void seen_end(const struct bridge_node *node, volatile uint32_t *words)
{
	CUcontext popped = NULL;
	NATIVE_MUST(NATIVE(cuCtxPushCurrent)(node->test->context));
	NATIVE_MUST(NATIVE(cuMemFreeHost)((void *)(uintptr_t)words));
	NATIVE_MUST(NATIVE(cuCtxPopCurrent)(&popped));
}

static bool has_begun(void *context)
{
	volatile uint32_t *words = context;
	return words[0] > 0;
}

/* Launches once and waits until it has begun; the captured work is behind the word. */
static sycl_event launch_and_see(struct bridge_test *test, sycl_executable_graph executable,
				 volatile uint32_t *words)
{
	sycl_event event = NULL;
	MUST(sycl_queue_graph(test->queue, executable, 0, NULL, &event));
	cr_assert(wait_until(has_begun, (void *)(uintptr_t)words, SOON),
		  "the launch has not begun");
	return event;
}

Test(gpu_bridge_graphs, K9_N1_S8_an_executable_released_while_it_runs_lasts_as_long_as_that)
{
	struct bridge_test test;
	bridge_begin(&test, 1);
	struct bridge_node node = {.test = &test, .way = WAITS};
	volatile uint32_t *words = seen_begin(&node);
	sycl_buffer buffer = bridge_buffer(&test, SYCL_SHARE_VMM);
	bridge_finish(native_gated_fill(&test.gate, test.queue, buffer, 1));
	sycl_executable_graph executable = bridge_node_finalized(&node, buffer);
	sycl_event behind = NULL, event = launch_and_see(&test, executable, words);
	native_increment(&test.gate, test.queue, buffer, &behind);
	MUST(sycl_executable_graph_release(executable));
	native_expect_open(event);
	native_expect_open(behind);
	bridge_expect_alive("graph_execs", 1);
	cr_assert_eq(atomic_load(&node.ends), 0);
	*test.word = 1;
	bridge_finish(event);
	bridge_expect_alive("graph_execs", 0);
	cr_assert_eq(atomic_load(&node.ends), 1);
	bridge_finish(behind);
	order_expect(buffer, 6);
	MUST(sycl_buffer_release(buffer));
	seen_end(&node, words);
	bridge_end(&test);
}

/* The last handle is that of the executable graph, and its launch keeps the connection. */
Test(gpu_bridge_graphs, N1_S8_a_connection_ends_with_its_last_launch)
{
	struct bridge_test test;
	bridge_begin(&test, 1);
	struct bridge_node node = {.test = &test, .way = WAITS};
	struct private_service *service = test.service;
	volatile uint32_t *words = seen_begin(&node);
	sycl_buffer buffer = bridge_buffer(&test, SYCL_SHARE_VMM);
	sycl_executable_graph executable = bridge_node_finalized(&node, buffer);
	MUST(sycl_event_release(launch_and_see(&test, executable, words)));
	native_gate_end(&test.gate);
	MUST(sycl_buffer_detach(buffer));
	MUST(sycl_queue_release(test.queue));
	for (uint32_t i = 0; i < test.device_count; i++)
		MUST(sycl_device_release(test.devices[i]));
	MUST(sycl_platform_release(test.connection));
	MUST(sycl_executable_graph_release(executable));
	cr_assert_eq(private_service_sessions(service), 1);
	bridge_expect_alive("graph_execs", 1);
	*test.word = 1;
	cr_assert(private_service_wait_sessions(service, 0, SOON));
	cr_assert_eq(atomic_load(&node.ends), 1);
	bridge_expect_no_misuse();
	(void)private_service_free(service);
}

Test(gpu_bridge_graphs, L9_S8_launches_of_one_executable_are_one_after_the_other)
{
	struct bridge_test test;
	bridge_begin(&test, 2);
	struct bridge_node node = {.test = &test, .way = WAITS};
	volatile uint32_t *words = seen_begin(&node);
	sycl_buffer buffer = bridge_buffer(&test, SYCL_SHARE_VMM),
		    other = bridge_buffer(&test, SYCL_SHARE_VMM);
	sycl_queue beside = NULL;
	sycl_event second = NULL;
	MUST(sycl_queue_create(NULL, test.devices[0], NULL, &beside));
	sycl_executable_graph executable = bridge_node_finalized(&node, buffer);
	sycl_event first = launch_and_see(&test, executable, words);
	MUST(sycl_queue_graph(beside, executable, 0, NULL, &second));
	/* Meanwhile other groups run, and the second launch does not. */
	bridge_finish(native_gated_fill(&test.gate, test.queue, other, 2));
	native_expect_open(first);
	native_expect_open(second);
	cr_assert_eq(words[0], 1u);
	*test.word = 1;
	bridge_finish(first);
	bridge_finish(second);
	cr_assert_eq(words[0], 2u);
	order_expect(buffer, 5);
	cr_assert_eq(atomic_load(&node.calls), 1);
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_buffer_release(other));
	MUST(sycl_queue_release(beside));
	seen_end(&node, words);
	bridge_end(&test);
}

/* A launch that the driver refuses ends, and the next one works as usual. */
Test(gpu_bridge_graphs, M9_S8_a_launch_that_the_driver_refuses_fails_alone)
{
	struct bridge_test test;
	bridge_begin(&test, 0);
	if (!order_library()) {
		bridge_end(&test);
		cr_skip_test("only the double of the driver can be made to fail");
	}
	struct bridge_node node = {.test = &test, .way = CAPTURES};
	sycl_event event = NULL, behind = NULL;
	sycl_buffer buffer = bridge_buffer(&test, SYCL_SHARE_VMM),
		    lost = bridge_buffer(&test, SYCL_SHARE_VMM);
	sycl_executable_graph executable = bridge_node_finalized(&node, lost),
			      other = bridge_node_finalized(&node, buffer);
	bridge_finish(native_gated_fill(&test.gate, test.queue, buffer, 1));
	bridge_finish(native_gated_fill(&test.gate, test.queue, lost, 1));
	cr_assert_eq(bridge_double()->command("fail cuGraphLaunch 1 2"), 0);
	MUST(sycl_queue_graph(test.queue, executable, 0, NULL, &event));
	native_increment(&test.gate, test.queue, lost, &behind);
	cr_assert_eq(sycl_event_wait(event), SYCL_ERROR_MEMORY_ALLOCATION, "%s",
		     sycl_get_last_error_text());
	cr_assert_eq(sycl_event_wait(behind), SYCL_ERROR_DEPENDENCY_FAILED);
	MUST(sycl_queue_graph(test.queue, other, 0, NULL, NULL));
	order_expect(buffer, 3);
	(void)sycl_queue_wait(test.queue);
	MUST(sycl_event_release(event));
	MUST(sycl_event_release(behind));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_executable_graph_release(other));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_buffer_detach(lost));
	bridge_end(&test);
}

/* --------------------------------- a service that ends ---------------------------------- */

static bool node_has_ended(void *context)
{
	const struct bridge_node *node = context;
	return atomic_load(&node->ends) > 0;
}

static bool is_lost(sycl_result result)
{
	return result == SYCL_ERROR_CONNECTION_LOST || result == SYCL_ERROR_DEVICE_LOST;
}

static void release_all(struct bridge_test *test)
{
	(void)sycl_free(test->queue, (void *)(uintptr_t)test->gate.word);
	MUST(sycl_kernel_release(test->gate.fill));
	MUST(sycl_kernel_release(test->gate.increment));
	MUST(sycl_queue_release(test->queue));
	for (uint32_t i = 0; i < test->device_count; i++)
		MUST(sycl_device_release(test->devices[i]));
	MUST(sycl_platform_release(test->connection));
}

/* Runs in a separate process: launches are in flight when the service ends. Exit status 0: the loss
 * was reported, and nothing is left. */
static void bridge_graphs_running_lose_service(struct private_service *service, int begun)
{
	struct bridge_test test;
	bridge_connect(&test, service, 1);
	struct bridge_node node = {.test = &test, .way = WAITS},
			   unused = {.test = &test, .way = CAPTURES};
	volatile uint32_t *words = seen_begin(&node);
	sycl_buffer buffer = bridge_buffer(&test, SYCL_SHARE_VMM);
	sycl_executable_graph executable = bridge_node_finalized(&node, buffer),
			      other = bridge_node_finalized(&unused, buffer);
	sycl_event second = NULL, first = launch_and_see(&test, executable, words);
	MUST(sycl_queue_graph(test.queue, executable, 0, NULL, &second));
	if (write(begun, "b", 1) != 1)
		_exit(2);
	if (!is_lost(sycl_event_wait(first)) || !is_lost(sycl_event_wait(second)))
		_exit(3);
	/* Its work continues in this process, and keeps what it needs. */
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_event_release(first));
	MUST(sycl_event_release(second));
	(void)sycl_buffer_release(buffer);
	if (atomic_load(&node.ends) != 0)
		_exit(4);
	*test.word = 1;
	if (!wait_until(node_has_ended, &node, SOON))
		_exit(5);
	MUST(sycl_executable_graph_release(other));
	release_all(&test);
	if (words[0] != 1 || atomic_load(&node.calls) != 1)
		_exit(6);
	if (order_library() &&
	    (bridge_double()->count("graph_execs") || bridge_double()->count("graphs") ||
	     bridge_double()->count("misuse")))
		_exit(7);
	_exit(0);
}

Test(gpu_bridge_graphs, N5_S8_launches_under_way_when_the_service_goes_leave_nothing)
{
	struct private_service *service = bridge_service();
	int ends[2], status = 0;
	char byte;
	cr_assert_eq(pipe(ends), 0);
	pid_t child = fork();
	cr_assert_geq(child, 0);
	if (child == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		bridge_graphs_running_lose_service(service, ends[1]);
	}
	(void)close(ends[1]);
	cr_assert_eq(read(ends[0], &byte, 1), 1, "its launch has not begun");
	(void)close(ends[0]);
	cr_assert_eq(kill(processes_engine(service), SIGKILL), 0);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%x", status);
	(void)private_service_free(service);
}
