/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A linked list in shared USM. This program builds the list, a kernel follows the same pointers and
 * changes it, and this program reads the result. The only argument is an endpoint. Exit 77: the
 * device has no shared USM.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <syclclient.h>

enum { NODES = 1000 };

/* The list as the kernel uses it. A pointer is 64 bits, which portable sources cast to
 * SYCL_GLOBAL(struct node). */
struct node {
	struct node *next;
	uint32_t value, doubled;
};

static const char source[] =
	"struct node { ulong next; uint value, doubled; };\n"
	"SYCL_KERNEL void walk(SYCL_GLOBAL(uint) sum, SYCL_GLOBAL(struct node) head)\n"
	"{\n"
	"	while (head) {\n"
	"		head->doubled = 2 * head->value;\n"
	"		*sum += head->value;\n"
	"		head = (SYCL_GLOBAL(struct node))head->next;\n"
	"	}\n"
	"}\n";

static void check(sycl_result result, const char *what)
{
	if (result == SYCL_SUCCESS)
		return;
	(void)fprintf(stderr, "usm_list: %s: %s\n%s", what, sycl_get_last_error_text(),
		      sycl_get_build_log());
	exit(result == SYCL_ERROR_FEATURE_NOT_SUPPORTED ? 77 : 1);
}

/* Each node is a separate allocation, at any address. */
static struct node *make_list(sycl_queue queue)
{
	struct node *head = NULL;
	for (uint32_t i = 0; i < NODES; i++) {
		void *pointer = NULL;
		check(sycl_malloc_shared(queue, sizeof(struct node), 0, &pointer), "no shared USM");
		struct node *node = pointer;
		*node = (struct node){.next = head, .value = i};
		head = node;
	}
	return head;
}

static void free_list(sycl_queue queue, struct node *head)
{
	while (head) {
		struct node *next = head->next;
		check(sycl_free(queue, head), "free");
		head = next;
	}
}

static void walk(sycl_queue queue, uint32_t *sum, struct node *head)
{
	sycl_kernel kernel;
	sycl_handler handler;
	sycl_event walked;
	check(sycl_kernel_from_source(queue, source, "walk", &kernel), "the kernel");
	check(sycl_handler_begin(queue, &handler), "a command group");
	check(sycl_handler_set_usm(handler, 0, sum), "the sum");
	check(sycl_handler_set_usm(handler, 1, head), "the list");
	check(sycl_handler_single_task(handler, kernel), "one work-item");
	check(sycl_queue_submit(queue, handler, &walked), "submit");
	/* Until then the list is the kernel's. */
	check(sycl_event_wait(walked), "the kernel");
	uint64_t start_ns = 0, end_ns = 0;
	check(sycl_event_get_profiling(walked, SYCL_PROFILING_START, &start_ns), "the start");
	check(sycl_event_get_profiling(walked, SYCL_PROFILING_END, &end_ns), "the end");
	(void)printf("the walk took %" PRIu64 " us on the device\n", (end_ns - start_ns) / 1000);
	check(sycl_event_release(walked), "the event");
	check(sycl_kernel_release(kernel), "the kernel");
}

int main(int argc, char **argv)
{
	sycl_platform platform;
	sycl_queue queue;
	void *pointer = NULL;
	check(sycl_platform_open(argc > 1 ? argv[1] : NULL, &platform), "cannot connect");
	check(sycl_queue_create_default_with(platform, SYCL_QUEUE_ENABLE_PROFILING, &queue),
	      "no queue");
	check(sycl_malloc_shared(queue, sizeof(uint32_t), 0, &pointer), "no shared USM");
	uint32_t *sum = pointer, wanted = NODES * (NODES - 1) / 2;
	struct node *head = make_list(queue);
	bool good = true;
	*sum = 0;
	walk(queue, sum, head);
	for (const struct node *node = head; node; node = node->next)
		good = good && node->doubled == 2 * node->value;
	good = good && *sum == wanted;
	(void)printf("%d nodes, their sum is %" PRIu32 ": %s\n", NODES, *sum,
		     good ? "right" : "wrong");
	free_list(queue, head);
	check(sycl_free(queue, sum), "free");
	check(sycl_queue_release(queue), "the queue");
	check(sycl_platform_release(platform), "the connection");
	return good ? 0 : 1;
}
