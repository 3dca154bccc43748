/*
 * Limits that change while clients work, by `syclctl limit` and by a configuration that is read
 * again. A session above its limit gets an error with the limit's name. Other sessions, of the same
 * user and of another one, are not affected.
 */
#include "processes/client.h"

#include "clock.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(processes_orders_limits, .timeout = 280);

static const uint64_t small_bytes = 4096, large_bytes = 1 << 20;

enum { OTHER_UID = 64301, PATH_BYTES = 256 };

static char last_words[512];

/* Keeps the text of a failure before a later one replaces it. */
static sycl_result orders_limits_keep_failure_text(sycl_result r)
{
	(void)snprintf(last_words, sizeof(last_words), "%s",
		       r < 0 ? sycl_get_last_error_text() : "");
	return r;
}

/* The call is refused, with a sentence that names the limit. */
#define TOLD(result, code, words)                                                                  \
	do {                                                                                       \
		cr_expect_eq(result, code, "%s", last_words);                                      \
		cr_expect(strstr(last_words, words), "'%s' says nothing of '%s'", last_words,      \
			  words);                                                                  \
	} while (0)

static sycl_result orders_limits_make_buffer(const struct client *client, uint64_t bytes,
					     sycl_buffer *buffer_out)
{
	return orders_limits_keep_failure_text(
		sycl_buffer_create(client->platform, NULL, bytes, SYCL_HOST_NONE, buffer_out));
}

static sycl_result begin_fill(const struct client *client, sycl_buffer buffer, uint64_t bytes,
			      sycl_event *event_out)
{
	const uint32_t pattern = 7;
	return orders_limits_keep_failure_text(sycl_queue_fill(
		client->queue, buffer, 0, bytes, &pattern, sizeof(pattern), event_out));
}

static sycl_result await(sycl_event event)
{
	sycl_result r = orders_limits_keep_failure_text(sycl_event_wait(event));
	(void)sycl_event_release(event);
	return r;
}

static sycl_result fill_and_wait(const struct client *client, sycl_buffer buffer, uint64_t bytes)
{
	sycl_event event;
	sycl_result r = begin_fill(client, buffer, bytes, &event);
	return r == 0 ? await(event) : r;
}

/* Makes a buffer of that many bytes, fills it on the device and releases it. */
static sycl_result fill_one_buffer(const struct client *client, uint64_t bytes)
{
	sycl_buffer buffer;
	sycl_result r = orders_limits_make_buffer(client, bytes, &buffer);
	if (r < 0)
		return r;
	r = fill_and_wait(client, buffer, bytes);
	(void)sycl_buffer_release(buffer);
	return r;
}

/*
 * Three command groups cannot end, because a host accessor holds what they write. A fourth one
 * could run at once. Returns its result. All are on one queue, which is out of order.
 */
static sycl_result fourth(const struct client *client)
{
	sycl_buffer held, other;
	sycl_host_accessor accessor;
	sycl_event events[3];
	cr_assert(orders_limits_make_buffer(client, small_bytes, &held) == 0 &&
			  orders_limits_make_buffer(client, small_bytes, &other) == 0,
		  "%s", last_words);
	cr_assert_eq(sycl_host_accessor_create(held, SYCL_ACCESS_READ_WRITE, &accessor), 0, "%s",
		     sycl_get_last_error_text());
	for (int i = 0; i < 3; i++)
		cr_assert_eq(begin_fill(client, held, small_bytes, &events[i]), 0, "%s",
			     last_words);
	sycl_result r = fill_and_wait(client, other, small_bytes);
	char words[sizeof(last_words)];
	memcpy(words, last_words, sizeof(words));
	(void)sycl_host_accessor_release(accessor);
	for (int i = 0; i < 3; i++)
		cr_expect_eq(await(events[i]), 0, "group %d: %s", i, last_words);
	memcpy(last_words, words, sizeof(words));
	(void)sycl_buffer_release(held);
	(void)sycl_buffer_release(other);
	return r;
}

/* Numbers of the current sessions, oldest first. By then engines have received all orders, because
 * this request comes behind them. */
static void numbers(const struct private_service *service, char list[][24], size_t count)
{
	json_t *status = private_service_status(service),
	       *sessions = json_object_get(status, "sessions");
	cr_assert_eq(json_array_size(sessions), count);
	for (size_t i = 0; i < count; i++) {
		json_int_t id =
			json_integer_value(json_object_get(json_array_get(sessions, i), "id"));
		(void)snprintf(list[i], sizeof(list[i]), "%lld", (long long)id);
	}
	json_decref(status);
}

static const char *user(void)
{
	static char text[24];
	(void)snprintf(text, sizeof(text), "%u", (unsigned)geteuid());
	return text;
}

static void configure(const struct private_service *service, const char *text)
{
	FILE *file = fopen(service->configuration, "we");
	cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
	cr_assert_eq(kill(service->sycld.pid, SIGHUP), 0);
}

/* ------------------------------- command groups in flight ------------------------------- */

#define TOO_MANY "3 command groups are in flight, and no more are allowed"

static bool fourth_is_refused(void *client)
{
	return fourth(client) == SYCL_ERROR_QUOTA;
}

static bool fourth_is_done(void *client)
{
	return fourth(client) == 0;
}

Test(processes_orders_limits, B16_groups_in_flight_are_limited_by_an_order)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(NULL, false);
	char ids[2][24];
	struct client one = client_open(service), two = client_open(service);
	numbers(service, ids, 2);
	cr_expect_eq(fourth(&one), 0, "%s", last_words);
	LIMIT(service, "groups_in_flight=3", ids[0]);
	TOLD(fourth(&one), SYCL_ERROR_QUOTA, TOO_MANY);
	cr_expect_eq(fourth(&two), 0, "%s", last_words);
	/* There is room again when those have ended. */
	cr_expect_eq(fill_one_buffer(&one, small_bytes), 0, "%s", last_words);

	LIMIT(service, "groups_in_flight=default", ids[0]);
	LIMIT(service, "groups_in_flight=3", "--uid", user());
	TOLD(fourth(&one), SYCL_ERROR_QUOTA, TOO_MANY);
	TOLD(fourth(&two), SYCL_ERROR_QUOTA, TOO_MANY);
	LIMIT(service, "groups_in_flight=default", "--uid", user());
	cr_expect_eq(fourth(&one), 0, "%s", last_words);
	cr_expect_eq(fourth(&two), 0, "%s", last_words);
	client_close(&one);
	client_close(&two);
}

Test(processes_orders_limits, B16_groups_in_flight_are_limited_by_a_reload)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service("[service]\nstandby = no\n", false);
	char ids[2][24];
	struct client one = client_open(service), two = client_open(service);
	numbers(service, ids, 2);
	LIMIT(service, "groups_in_flight=5", ids[1]); /* a limit of one session comes first */
	cr_expect_eq(fourth(&one), 0, "%s", last_words);
	configure(service, "[service]\nstandby = no\n[limits]\ngroups_in_flight = 3\n");
	cr_assert(wait_until(fourth_is_refused, &one, SOON));
	TOLD(fourth(&one), SYCL_ERROR_QUOTA, TOO_MANY);
	cr_expect_eq(fourth(&two), 0, "%s", last_words);
	configure(service, "[service]\nstandby = no\n");
	cr_expect(wait_until(fourth_is_done, &one, SOON), "%s", last_words);
	client_close(&one);
	client_close(&two);
}

/* Its library counts, too, and reads the limit that holds now. */
Test(processes_orders_limits, B16_more_groups_in_flight_reach_sessions_that_are_open)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(
		"[service]\nstandby = no\n[limits]\ngroups_in_flight = 3\n", false);
	struct client before = client_open(service);
	TOLD(fourth(&before), SYCL_ERROR_QUOTA,
	     "3 command groups of this queue are in flight, as many as are allowed");
	LIMIT(service, "groups_in_flight=4", "--uid", user());
	cr_expect_eq(fourth(&before), 0, "%s", last_words);
	LIMIT(service, "groups_in_flight=3", "--uid", user());
	TOLD(fourth(&before), SYCL_ERROR_QUOTA,
	     "3 command groups of this queue are in flight, as many as are allowed");
	client_close(&before);
}

enum { OBJECTS_FEW = 100, OBJECTS_MANY = 300, SOURCE_FEW_BYTES = 4096 };

/* Makes buffers until one is refused, or so many are there; releases them. */
static unsigned count_buffers(const struct client *client, unsigned most)
{
	static sycl_buffer buffers[OBJECTS_MANY];
	unsigned count = 0;
	while (count < most && orders_limits_make_buffer(client, 64, &buffers[count]) == 0)
		count++;
	char words[sizeof(last_words)];
	memcpy(words, last_words, sizeof(words));
	for (unsigned i = 0; i < count; i++)
		(void)sycl_buffer_release(buffers[i]);
	memcpy(last_words, words, sizeof(words));
	return count;
}

static sycl_result build_long_source(const struct client *client)
{
	static char source[SOURCE_FEW_BYTES + 64];
	sycl_kernel_bundle bundle;
	memset(source, ' ', sizeof(source) - 1);
	memcpy(source, "__kernel void nothing(void) {}", 30);
	sycl_result r = orders_limits_keep_failure_text(sycl_kernel_bundle_from_source(
		client->queue, SYCL_SOURCE_OPENCL_C, source, NULL, &bundle));
	if (r == 0)
		(void)sycl_kernel_bundle_release(bundle);
	return r;
}

static bool many_are_made(void *client)
{
	return count_buffers(client, OBJECTS_MANY) == OBJECTS_MANY;
}

Test(processes_orders_limits, higher_limits_of_a_reload_reach_sessions_that_are_open)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(
		"[service]\nstandby = no\n[limits]\nobjects = 100\nbuffer_bytes = 64K\n"
		"source_bytes = 4K\n",
		false);
	struct client client = client_open(service);
	cr_expect_lt(count_buffers(&client, OBJECTS_FEW), OBJECTS_FEW);
	cr_expect(strstr(last_words, "has all 100 objects"), "%s", last_words);
	TOLD(fill_one_buffer(&client, large_bytes), SYCL_ERROR_QUOTA, "more than the 65536");
	TOLD(build_long_source(&client), SYCL_ERROR_QUOTA, "4096 are allowed");
	configure(service, "[service]\nstandby = no\n[limits]\nobjects = 400\n");
	cr_expect(wait_until(many_are_made, &client, SOON), "%s", last_words);
	cr_expect_eq(fill_one_buffer(&client, large_bytes), 0, "%s", last_words);
	cr_expect_eq(build_long_source(&client), 0, "%s", last_words);
	client_close(&client);
}

/* The first arena takes all that a session may have. */
Test(processes_orders_limits, higher_limits_on_arenas_reach_sessions_that_are_open)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(
		"[service]\nstandby = no\n[limits]\narenas = 1\narena_bytes = 1M\n", false);
	struct client client = client_open(service);
	sycl_buffer kept;
	cr_assert_eq(orders_limits_make_buffer(&client, small_bytes, &kept), 0, "%s", last_words);
	cr_assert_eq(fill_and_wait(&client, kept, small_bytes), 0, "%s", last_words);
	TOLD(fill_one_buffer(&client, 2 * large_bytes), SYCL_ERROR_QUOTA,
	     "all 1 arenas of the session are full");
	LIMIT(service, "arenas=2", "--uid", user());
	TOLD(fill_one_buffer(&client, 2 * large_bytes), SYCL_ERROR_QUOTA,
	     "bytes of shared memory are needed");
	LIMIT(service, "arena_bytes=64M", "--uid", user());
	cr_expect_eq(fill_one_buffer(&client, 2 * large_bytes), 0, "%s", last_words);
	/* Lowered again, the engine enforces it. */
	LIMIT(service, "arena_bytes=4M", "--uid", user());
	cr_expect_eq(fill_one_buffer(&client, 16 * large_bytes), SYCL_ERROR_QUOTA, "%s",
		     last_words);
	cr_expect_eq(fill_and_wait(&client, kept, small_bytes), 0, "%s", last_words);
	(void)sycl_buffer_release(kept);
	client_close(&client);
}

/* ---------------------------------- memory on devices ----------------------------------- */

#define TOO_LARGE                                                                                  \
	"needs more memory on the device than this session, or all of this user's, may have"

static int32_t is_fake(sycl_device device, void *unused)
{
	char name[64];
	(void)unused;
	cr_assert_eq(sycl_device_get_info(device, SYCL_DEVICE_INFO_NAME, sizeof(name), name, NULL),
		     0);
	return strcmp(name, "Fake device 0") == 0 ? 1 : -1;
}

/* Opens a client on a device with memory of its own. */
static struct client fake_open(const struct private_service *service)
{
	struct client client;
	sycl_device device;
	cr_assert_eq(sycl_platform_open(service->endpoint, &client.platform), 0);
	cr_assert_eq(sycl_device_select(client.platform, is_fake, NULL, &device), 0, "%s",
		     sycl_get_last_error_text());
	cr_assert_eq(sycl_queue_create(NULL, device, NULL, &client.queue), 0);
	(void)sycl_device_release(device);
	return client;
}

/* Starts a service; as root it is one for all users. */
static struct private_service *fake_service(const char *configuration)
{
	static const char *const options[] = {"--fake-engine", NULL}, *const system_options[] = {
									      "--fake-engine",
									      "--system", NULL};
	struct private_service *service = NULL;
	cr_assert_eq(private_service_start(configuration, geteuid() == 0 ? system_options : options,
					   &service),
		     0);
	return service;
}

/* As root, checks that another user who connects now can work; otherwise does nothing. */
static void another_user_works(const struct private_service *service)
{
	struct child worker = CHILD_INIT;
	char uid[16], line[LINE_BYTES];
	(void)snprintf(uid, sizeof(uid), "%d", OTHER_UID);
	const char *const arguments[] = {"--uid", uid, NULL};
	if (geteuid() != 0)
		return;
	worker_start_with(&worker, NULL, service->endpoint, "beside", arguments);
	worker_expect(&worker, "ready", line);
	worker_finish(&worker);
}

/* The client keeps data on the device and works with them. It gets more memory only up to the
 * limit. */
Test(processes_orders_limits, B16_memory_on_devices_is_limited_by_an_order)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = fake_service("[service]\nstandby = no\n");
	char ids[2][24];
	struct client one = fake_open(service), two = fake_open(service);
	numbers(service, ids, 2);
	sycl_buffer kept;
	cr_assert_eq(orders_limits_make_buffer(&one, large_bytes, &kept), 0);
	cr_assert_eq(fill_and_wait(&one, kept, large_bytes), 0, "%s", last_words);
	LIMIT(service, "device_bytes=1028K", ids[0]);
	cr_expect_eq(fill_and_wait(&one, kept, large_bytes), 0, "%s", last_words);
	cr_expect_eq(fill_one_buffer(&one, small_bytes), 0, "%s", last_words);
	TOLD(fill_one_buffer(&one, 2 * small_bytes), SYCL_ERROR_QUOTA, TOO_LARGE);
	cr_expect_eq(fill_one_buffer(&two, large_bytes), 0, "%s", last_words);
	LIMIT(service, "device_bytes=default", ids[0]);
	cr_expect_eq(fill_one_buffer(&one, 2 * small_bytes), 0, "%s", last_words);

	/* The limit is for all sessions of a user together: memory that one has is not available to
	 * another. Other users have their own limits. */
	LIMIT(service, "tenant_device_bytes=1028K", "--uid", user());
	cr_expect_eq(fill_one_buffer(&two, small_bytes), 0, "%s", last_words);
	TOLD(fill_one_buffer(&two, 2 * small_bytes), SYCL_ERROR_QUOTA, TOO_LARGE);
	TOLD(fill_one_buffer(&one, 2 * small_bytes), SYCL_ERROR_QUOTA, TOO_LARGE);
	cr_expect_eq(fill_and_wait(&one, kept, large_bytes), 0, "%s", last_words);
	LIMIT(service, "tenant_device_bytes=1", "--uid", user());
	another_user_works(service);
	TOLD(fill_one_buffer(&two, small_bytes), SYCL_ERROR_QUOTA, TOO_LARGE);
	LIMIT(service, "tenant_device_bytes=default", "--uid", user());
	cr_expect_eq(fill_one_buffer(&two, large_bytes), 0, "%s", last_words);
	(void)sycl_buffer_release(kept);
	client_close(&one);
	client_close(&two);
}

/* Makes a control group, and enters it. Skips the test where that is not possible. */
static void enter_new_group(char path[PATH_BYTES], const char **name_out)
{
	char line[LINE_BYTES], mount[LINE_BYTES] = "", procs[PATH_BYTES + 16];
	FILE *file = fopen("/proc/self/mounts", "re");
	while (file && fgets(line, sizeof(line), file)) {
		char type[32], where[128];
		if (sscanf(line, "%*s %127s %31s", where, type) == 2 && !strcmp(type, "cgroup2"))
			(void)snprintf(mount, sizeof(mount), "%s", where);
	}
	if (file)
		(void)fclose(file);
	(void)snprintf(path, PATH_BYTES, "%.128s/sycld-limits-%ld", mount, (long)getpid());
	(void)snprintf(procs, sizeof(procs), "%s/cgroup.procs", path);
	if (!*mount || mkdir(path, 0755) < 0)
		cr_skip_test("SKIPPED: needs a cgroup2 in which a group can be made");
	file = fopen(procs, "we");
	cr_assert(file && fputs("0", file) >= 0 && fclose(file) == 0);
	*name_out = path + strlen(mount);
}

static void leave_group(const char *path)
{
	char procs[PATH_BYTES];
	(void)snprintf(procs, sizeof(procs), "%.*s/cgroup.procs", (int)(strrchr(path, '/') - path),
		       path);
	FILE *file = fopen(procs, "we");
	cr_assert(file && fputs("0", file) >= 0 && fclose(file) == 0);
	(void)rmdir(path);
}

/* The limits of a job are those of its engine, whatever its user may have. */
Test(processes_orders_limits, B16_a_job_has_the_memory_and_the_class_of_its_order)
{
	char path[PATH_BYTES];
	const char *group;
	CLEANUP(private_service_cleanup)
	struct private_service *service = fake_service("[service]\nstandby = no\n");
	struct client outside = fake_open(service);
	uint32_t class = 0;
	enter_new_group(path, &group);
	ORDER(service, "job", "begin", "12", "--uid", user(), "--cgroup", group, "--memory", "4100",
	      "--class", "best-effort");
	struct client inside = fake_open(service);
	cr_expect_eq(fill_one_buffer(&inside, small_bytes), 0, "%s", last_words);
	TOLD(fill_one_buffer(&inside, 2 * small_bytes), SYCL_ERROR_QUOTA, TOO_LARGE);
	cr_expect_eq(fill_one_buffer(&outside, large_bytes), 0, "%s", last_words);
	cr_expect_eq(sycl_platform_get_info(inside.platform, SYCL_PLATFORM_INFO_CLASS,
					    sizeof(class), &class, NULL),
		     0);
	cr_expect_eq(class, SYCL_SESSION_CLASS_BEST_EFFORT);
	ORDER(service, "job", "begin", "12", "--uid", user(), "--cgroup", group);
	json_decref(private_service_status(service)); /* the engine has received it */
	cr_expect_eq(fill_one_buffer(&inside, large_bytes), 0, "%s", last_words);
	client_close(&inside);
	client_close(&outside);
	leave_group(path);
}

static bool two_pages_are_refused(void *client)
{
	return fill_one_buffer(client, 2 * small_bytes) == SYCL_ERROR_QUOTA;
}

static bool two_pages_are_done(void *client)
{
	return fill_one_buffer(client, 2 * small_bytes) == 0;
}

Test(processes_orders_limits, B16_memory_on_devices_is_limited_by_a_reload)
{
	static const char *const limits[] = {"device_bytes", "tenant_device_bytes"};
	CLEANUP(private_service_cleanup)
	struct private_service *service = fake_service("[service]\nstandby = no\n");
	char ids[2][24], text[128];
	struct client one = fake_open(service), two = fake_open(service);
	numbers(service, ids, 2);
	LIMIT(service, "device_bytes=1M", ids[1]); /* a limit of one session comes first */
	for (int i = 0; i < 2; i++) {
		(void)snprintf(text, sizeof(text), "[service]\nstandby = no\n[limits]\n%s = 4K\n",
			       limits[i]);
		cr_expect_eq(fill_one_buffer(&one, 2 * small_bytes), 0, "%s", last_words);
		configure(service, text);
		cr_assert(wait_until(two_pages_are_refused, &one, SOON), "%s", limits[i]);
		TOLD(fill_one_buffer(&one, 2 * small_bytes), SYCL_ERROR_QUOTA, TOO_LARGE);
		cr_expect_eq(fill_one_buffer(&one, small_bytes), 0, "%s", last_words);
		cr_expect_eq(fill_one_buffer(&two, 2 * small_bytes), i == 0 ? 0 : SYCL_ERROR_QUOTA,
			     "%s: %s", limits[i], last_words);
		configure(service, "[service]\nstandby = no\n");
		cr_assert(wait_until(two_pages_are_done, &one, SOON), "%s: %s", limits[i],
			  last_words);
	}
	client_close(&one);
	client_close(&two);
}

/* Released memory may be requested again at once, even if the device takes long to free it. */
Test(processes_orders_limits, B16_who_has_one_buffer_at_a_time_needs_no_more_than_one)
{
	enum { TIMES = 200 };
	CLEANUP(private_service_cleanup)
	struct private_service *service =
		fake_service("[service]\nstandby = no\n[limits]\ndevice_bytes = 4K\n");
	struct client client = fake_open(service);
	for (int i = 0; i < TIMES; i++)
		cr_assert_eq(fill_one_buffer(&client, small_bytes), 0, "%d: %s", i, last_words);
	TOLD(fill_one_buffer(&client, 2 * small_bytes), SYCL_ERROR_QUOTA, TOO_LARGE);
	client_close(&client);
}

/* ------------------------------------ precedence ---------------------------------------- */

/* Returns true if this session may have exactly that much on a device. */
static bool may_use_exactly(const struct client *client, uint64_t bytes)
{
	return fill_one_buffer(client, bytes) == 0 &&
	       fill_one_buffer(client, bytes + sizeof(uint32_t)) == SYCL_ERROR_QUOTA;
}

/* A limit of one session comes first, then that of its user, then that of all users, then
 * sycld.conf. If a limit is removed, the next one applies. */
Test(processes_orders_limits, B16_what_is_taken_back_leaves_what_was_said_of_more)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service =
		fake_service("[service]\nstandby = no\n[limits]\ndevice_bytes = 64K\n");
	char ids[2][24];
	struct client one = fake_open(service), two = fake_open(service);
	numbers(service, ids, 2);
	cr_expect(may_use_exactly(&one, 65536) && may_use_exactly(&two, 65536));
	LIMIT(service, "device_bytes=16K", ids[0]);
	cr_expect(may_use_exactly(&one, 16384) && may_use_exactly(&two, 65536));
	LIMIT(service, "device_bytes=32K", "--uid", user());
	cr_expect(may_use_exactly(&one, 16384) && may_use_exactly(&two, 32768));
	LIMIT(service, "device_bytes=8K", "--all");
	cr_expect(may_use_exactly(&one, 16384) && may_use_exactly(&two, 32768),
		  "that is of those of whom nothing else is said");
	LIMIT(service, "device_bytes=default", ids[0]);
	cr_expect(may_use_exactly(&one, 32768) && may_use_exactly(&two, 32768));
	LIMIT(service, "device_bytes=default", "--uid", user());
	cr_expect(may_use_exactly(&one, 8192) && may_use_exactly(&two, 8192));
	LIMIT(service, "device_bytes=4K", "--uid", user());
	cr_expect(may_use_exactly(&one, 4096) && may_use_exactly(&two, 4096),
		  "nothing is said of it alone any more");
	client_close(&one);
	client_close(&two);
}

Test(processes_orders_limits, B16_what_was_said_of_a_user_is_taken_back_to_the_configuration)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service =
		fake_service("[service]\nstandby = no\n[limits]\ndevice_bytes = 64K\n");
	char ids[1][24];
	struct client client = fake_open(service);
	numbers(service, ids, 1);
	LIMIT(service, "device_bytes=32K", "--uid", user());
	LIMIT(service, "device_bytes=default", "--uid", user());
	cr_expect(may_use_exactly(&client, 65536));
	LIMIT(service, "device_bytes=32K", ids[0]);
	LIMIT(service, "device_bytes=default", ids[0]);
	cr_expect(may_use_exactly(&client, 65536));
	client_close(&client);
}

/* --------------------------- shared memory, buffers, sessions --------------------------- */

Test(processes_orders_limits, arenas_are_limited_together_and_sessions_are)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(NULL, geteuid() == 0);
	struct client one = client_open(service), two = client_open(service);
	cr_assert_eq(fill_one_buffer(&one, small_bytes), 0);
	LIMIT(service, "tenant_arena_bytes=1", "--uid", user());
	/* Its present arenas stay and are sufficient for this; a new one is refused. */
	cr_expect_eq(fill_one_buffer(&one, small_bytes), 0, "%s", last_words);
	TOLD(fill_one_buffer(&two, 64 * large_bytes), SYCL_ERROR_QUOTA,
	     "the arenas of all of this user's sessions may have at most 1 bytes together");
	LIMIT(service, "tenant_arena_bytes=default", "--uid", user());
	cr_expect_eq(fill_one_buffer(&two, 64 * large_bytes), 0, "%s", last_words);
	ORDER(service, "limit", "sessions_per_tenant=2", "--uid", user());
	sycl_platform none;
	TOLD(orders_limits_keep_failure_text(sycl_platform_open(service->endpoint, &none)),
	     SYCL_ERROR_QUOTA, "as many sessions as one may have (2)");
	if (geteuid() == 0) {
		struct child worker = CHILD_INIT;
		char line[LINE_BYTES];
		worker_start_with(&worker, NULL, service->endpoint, "steps",
				  (const char *const[]){"--uid", "64301", NULL});
		worker_expect(&worker, "session", line);
		child_end(&worker);
	}
	ORDER(service, "limit", "sessions_per_tenant=default", "--uid", user());
	struct client three = client_open(service);
	client_close(&one);
	client_close(&two);
	client_close(&three);
}

static bool large_is_refused(void *client)
{
	return fill_one_buffer(client, large_bytes) == SYCL_ERROR_QUOTA;
}

static bool large_is_done(void *client)
{
	return fill_one_buffer(client, large_bytes) == 0;
}

Test(processes_orders_limits, a_configuration_read_again_holds_for_sessions_that_are_open)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service("[service]\nstandby = no\n", false);
	struct client client = client_open(service);
	cr_assert_eq(fill_one_buffer(&client, large_bytes), 0);
	configure(service, "[service]\nstandby = no\n[limits]\nbuffer_bytes = 64K\n");
	cr_expect(wait_until(large_is_refused, &client, SOON));
	TOLD(fill_one_buffer(&client, large_bytes), SYCL_ERROR_QUOTA,
	     "a session's buffers may have at most 65536 bytes together");
	configure(service, "[service]\nstandby = no\n");
	cr_expect(wait_until(large_is_done, &client, SOON));
	client_close(&client);
}
