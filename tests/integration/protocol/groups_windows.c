/* Windows of memory that the second-level cache keeps (R6): which are accepted, which launches have
 * them, and the calls to the device. */
#include "protocol/groups_fixture.h"
#include "resubmit.h"

#include <math.h>
#include <string.h>

enum {
	FIRST_USM = 20,
	BYTES = 8192,
	PERSISTING = BACKEND_L2_PERSISTING,
	STREAMING = BACKEND_L2_STREAMING
};

static struct fake_log_entry records[256];

static void start_with_features(uint32_t features)
{
	fake_reset();
	for (uint32_t i = 0; i < 3; i++)
		fake_device_options(i, (struct fake_device_options){
					       .features = features | BACKEND_FEATURE_QUIET_LOAD});
	groups_start();
	cr_assert(eq(int, fake_log_start(256), 0));
}

static uint64_t groups_windows_allocate_usm(uint32_t index, uint32_t kind)
{
	Sycl__V1__UsmAllocate message = SYCL__V1__USM_ALLOCATE__INIT;
	message.allocation = raw_id(OBJECT_USM, FIRST_USM + index);
	message.context = raw_id(OBJECT_CONTEXT, CONTEXT);
	message.device = device;
	message.kind = (Sycl__V1__UsmKind)kind;
	message.size_bytes = BYTES;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_USM_ALLOCATE;
	command.usm_allocate = &message;
	const Sycl__V1__Reply *reply = raw_reply_to(client, raw_send(client, &command));
	cr_assert(eq(ptr, reply->status, NULL), "%s", reply->status ? reply->status->text : "");
	return reply->usm_allocated->address;
}

static void groups_windows_free_usm(uint32_t index)
{
	Sycl__V1__UsmFree message = SYCL__V1__USM_FREE__INIT;
	message.allocation = raw_id(OBJECT_USM, FIRST_USM + index);
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_USM_FREE;
	command.usm_free = &message;
	(void)raw_send(client, &command);
}

struct window {
	uint64_t address, size_bytes;
	float ratio;
	uint32_t hit, miss;
};

static uint64_t send_window(uint64_t queue, const struct window *window)
{
	Sycl__V1__QueueWindow message = SYCL__V1__QUEUE_WINDOW__INIT;
	message.queue = queue;
	message.usm_address = window->address;
	message.size_bytes = window->size_bytes;
	message.hit_ratio = window->ratio;
	message.hit = window->hit;
	message.miss = window->miss;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_QUEUE_WINDOW;
	command.queue_window = &message;
	return raw_send(client, &command);
}

static void expect_window_taken(bool ordered, struct window window)
{
	const Sycl__V1__Reply *reply =
		raw_reply_to(client, send_window(groups_queue(ordered), &window));
	cr_assert(eq(ptr, reply->status, NULL), "%s", reply->status ? reply->status->text : "");
}

static void refuse(struct window window, int32_t code, const char *words)
{
	const Sycl__V1__Reply *reply =
		raw_reply_to(client, send_window(groups_queue(false), &window));
	cr_assert(ne(ptr, reply->status, NULL), "it was taken");
	cr_expect(eq(i32, reply->status->code, code), "%s", reply->status->text);
	cr_expect(ne(ptr, strstr(reply->status->text, words), NULL), "said: %s",
		  reply->status->text);
}

/* Returns the window of the latest launch. */
static struct backend_l2_window read_window(bool ordered)
{
	cr_assert(eq(u32, groups_wait(ordered), 0));
	struct backend_l2_window window = {.size_bytes = UINT64_MAX};
	uint32_t count = fake_log_read(records, 256);
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(records[i].what, "fill_u32") == 0)
			window = records[i].window;
	cr_assert(ne(u64, window.size_bytes, UINT64_MAX), "no launch");
	return window;
}

/* Launches once and returns the window of that launch. */
static struct backend_l2_window launch_and_read_window(bool ordered)
{
	struct build build;
	build_fill(&build, BUFFER, 9);
	(void)build_submit(&build, ordered);
	return read_window(ordered);
}

/* The same by a shape, which is defined first. */
static struct backend_l2_window launch_again_and_read_window(bool defined)
{
	struct {
		struct resubmit_record head;
		uint32_t value;
	} again = {.head = {.shape = 1, .generation = 1, .rest_bytes = sizeof(again.value)},
		   .value = 9};
	struct build build;
	build_fill(&build, BUFFER, 9);
	build.group.shape = build.group.shape_generation = 1;
	if (!defined)
		(void)build_submit(&build, false);
	again.head.group = groups_number(false);
	(void)raw_send_bytes(client, RING_RECORD_RESUBMIT, &again,
			     sizeof(again.head) + sizeof(again.value));
	return read_window(false);
}

/* The device's thread gets the change some time later. */
static void expect_applied(uint64_t bytes)
{
	struct fake_counters counters;
	do {
		raw_round_trip(client);
		fake_counters(FAKE_ANY_DEVICE, &counters);
	} while (counters.l2_wanted_bytes != bytes);
}

Test(groups, R6_a_queues_launches_have_its_window, .timeout = 60)
{
	start_with_features(FAKE_FEATURES_ALL);
	uint64_t address = groups_windows_allocate_usm(0, BACKEND_USM_DEVICE);
	cr_assert(eq(u64, launch_and_read_window(false).size_bytes, 0));
	expect_window_taken(false,
			    (struct window){address + 16, 4096, 0.25f, PERSISTING, STREAMING});
	struct backend_l2_window window = launch_and_read_window(false);
	cr_expect(eq(u64, window.address, address + 16));
	cr_expect(eq(u64, window.size_bytes, 4096));
	cr_expect(eq(flt, window.hit_ratio, 0.25f));
	cr_expect(eq(int, (int)window.hit, PERSISTING));
	cr_expect(eq(int, (int)window.miss, STREAMING));
	cr_expect(eq(u64, launch_and_read_window(true).size_bytes, 0), "another queue");
	expect_applied(4096);
	expect_window_taken(true, (struct window){address, 64, 1, PERSISTING, 0});
	expect_applied(4096 + 64);
	expect_window_taken(false, (struct window){address, 128, 1, STREAMING, 0});
	expect_applied(64);
	cr_expect(eq(u64, launch_and_read_window(false).size_bytes, 128));
	expect_window_taken(false, (struct window){.size_bytes = 0});
	cr_expect(eq(u64, launch_and_read_window(false).size_bytes, 0));
	(void)raw_release(client, groups_queue(true));
	expect_applied(0);
	groups_stop();
}

/* A launch carries a window only if the window was good and its memory exists. */
Test(groups, R6_launches_of_a_shape_have_the_window_that_the_queue_has_by_then, .timeout = 60)
{
	start_with_features(FAKE_FEATURES_ALL);
	uint64_t address = groups_windows_allocate_usm(0, BACKEND_USM_DEVICE);
	cr_assert(eq(u64, launch_again_and_read_window(false).size_bytes, 0));
	cr_assert(eq(u64, launch_again_and_read_window(true).size_bytes, 0));
	expect_window_taken(false, (struct window){address, 4096, 1, PERSISTING, STREAMING});
	cr_expect(eq(u64, launch_again_and_read_window(true).size_bytes, 4096));
	expect_window_taken(false, (struct window){.size_bytes = 0});
	cr_expect(eq(u64, launch_again_and_read_window(true).size_bytes, 0));
	groups_stop();
}

Test(groups, R6_windows_that_cannot_be_are_refused, .timeout = 60)
{
	start_with_features(FAKE_FEATURES_ALL);
	const uint64_t address = groups_windows_allocate_usm(0, BACKEND_USM_DEVICE),
		       other = groups_windows_allocate_usm(1, BACKEND_USM_DEVICE);
	expect_window_taken(false, (struct window){address, 1024, 1, PERSISTING, STREAMING});
	refuse((struct window){address, FAKE_L2_WINDOW_BYTES + 1, 1, PERSISTING, 0}, STATUS_INVALID,
	       "up to 4096");
	refuse((struct window){address, UINT64_MAX, 1, PERSISTING, 0}, STATUS_INVALID,
	       "up to 4096");
	static const float ratios[] = {-0.01f, 1.01f, -1e30f,   1e30f,
				       NAN,    -NAN,  INFINITY, -INFINITY};
	for (uint32_t i = 0; i < sizeof(ratios) / sizeof(*ratios); i++)
		refuse((struct window){address, 64, ratios[i], PERSISTING, 0}, STATUS_INVALID,
		       "hit ratio is 0 to 1");
	refuse((struct window){address, 64, 1, 3, 0}, STATUS_INVALID,
	       "normal, streaming or persisting");
	refuse((struct window){address, 64, 1, UINT32_MAX, 0}, STATUS_INVALID,
	       "normal, streaming or persisting");
	refuse((struct window){address, 64, 1, PERSISTING, PERSISTING}, STATUS_INVALID,
	       "misses are normal or streaming");
	refuse((struct window){0, 64, 1, PERSISTING, 0}, STATUS_INVALID, "not inside any USM");
	refuse((struct window){address + BYTES - 63, 64, 1, PERSISTING, 0}, STATUS_INVALID,
	       "not inside any USM");
	refuse((struct window){address - 1, 64, 1, PERSISTING, 0}, STATUS_INVALID,
	       "not inside any USM");
	refuse((struct window){UINT64_MAX - 16, 64, 1, PERSISTING, 0}, STATUS_INVALID,
	       "not inside any USM");
	cr_expect(eq(u64, launch_and_read_window(false).size_bytes, 1024),
		  "the one that was there stays");
	groups_windows_free_usm(0);
	cr_expect(eq(u64, launch_and_read_window(false).size_bytes, 0), "its memory has gone");
	refuse((struct window){address, 64, 1, PERSISTING, 0}, STATUS_INVALID,
	       "not inside any USM");
	expect_window_taken(false, (struct window){other, 64, 0, PERSISTING, 0});
	groups_stop();
}

Test(groups, R6_a_device_without_windows_says_so)
{
	start_with_features(FAKE_FEATURES_ALL & ~(uint32_t)BACKEND_FEATURE_USM);
	refuse((struct window){4096, 64, 1, PERSISTING, 0}, STATUS_FEATURE_NOT_SUPPORTED,
	       "has no windows");
	expect_window_taken(false, (struct window){.size_bytes = 0});
	groups_stop();
}

Test(groups, R6_a_window_of_no_queue_closes_the_session)
{
	start_with_features(FAKE_FEATURES_ALL);
	(void)send_window(raw_id(OBJECT_BUFFER, BUFFER),
			  &(struct window){4096, 64, 1, PERSISTING, 0});
	groups_expect_closed("names no queue");
}
