/*
 * A bell is not rung for a side that is awake, in either direction. The test counts the rings while
 * one side submits or completes a hundred commands and the other one does not sleep.
 */
#include "processes/client.h"

#include "clock.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(processes_wakes, .timeout = 280);

enum { COMMANDS = 100, BYTES = 4096 };

/* The sum of the counts of all eventfds of this process. No thread reads a session's bell, so this
 * is how often it was rung. */
static uint64_t rings(void)
{
	DIR *folder = opendir("/proc/self/fdinfo");
	const struct dirent *entry;
	uint64_t sum = 0;
	unsigned found = 0;
	cr_assert(folder != NULL);
	while ((entry = readdir(folder))) {
		char path[300], line[128];
		unsigned long long count;
		(void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%s", entry->d_name);
		FILE *file = isdigit((unsigned char)*entry->d_name) ? fopen(path, "re") : NULL;
		while (file && fgets(line, sizeof(line), file))
			if (sscanf(line, "eventfd-count: %llx", &count) == 1) {
				sum += count;
				found++;
			}
		if (file)
			(void)fclose(file);
	}
	(void)closedir(folder);
	cr_assert_gt(found, 0, "no bell is open");
	return sum;
}

static void submit_fills(const struct client *client, sycl_buffer buffer)
{
	const uint32_t pattern = 7;
	for (int i = 0; i < COMMANDS; i++)
		cr_assert_eq(sycl_queue_fill(client->queue, buffer, 0, BYTES, &pattern,
					     sizeof(pattern), NULL),
			     0, "%s", sycl_get_last_error_text());
}

static struct client begin_client(const struct private_service *service, sycl_buffer *buffer_out)
{
	struct client client = client_open(service);
	cr_assert_eq(sycl_buffer_create(client.platform, NULL, BYTES, SYCL_HOST_NONE, buffer_out),
		     0);
	submit_fills(&client, *buffer_out);
	cr_assert_eq(sycl_queue_wait(client.queue), 0);
	return client;
}

static bool is_stopped(void *pid)
{
	char path[64], line[512] = "";
	(void)snprintf(path, sizeof(path), "/proc/%ld/stat", (long)*(pid_t *)pid);
	FILE *file = fopen(path, "re");
	cr_assert(file && fgets(line, sizeof(line), file));
	(void)fclose(file);
	const char *name_end = strrchr(line, ')');
	return name_end && name_end[1] == ' ' && name_end[2] == 'T';
}

/* A stopped process cannot sleep again. Its bell rings once if it slept when it was stopped. */
Test(processes_wakes, an_engine_that_is_awake_is_not_rung_for)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service("[service]\nstandby = no\n", false);
	sycl_buffer buffer;
	struct client client = begin_client(service, &buffer);
	pid_t engine = processes_engine(service);
	cr_assert_eq(kill(engine, SIGSTOP), 0);
	cr_assert(wait_until(is_stopped, &engine, SOON));
	uint64_t before = rings();
	submit_fills(&client, buffer);
	uint64_t after = rings();
	cr_assert_eq(kill(engine, SIGCONT), 0);
	cr_expect_leq(after - before, 1);
	cr_expect_eq(sycl_queue_wait(client.queue), 0);
	(void)sycl_buffer_release(buffer);
	client_close(&client);
}

static json_int_t completed(const struct private_service *service)
{
	json_t *status = private_service_status(service),
	       *sessions = json_object_get(status, "sessions");
	json_int_t count = json_integer_value(
		json_object_get(json_array_get(sessions, 0), "command_groups_completed"));
	json_decref(status);
	return count;
}

static bool all_have_completed(void *service)
{
	return completed(service) >= 2 * COMMANDS;
}

/* A client that does not wait is awake. It has waited before, which shows that its bell rings when
 * it sleeps. */
Test(processes_wakes, a_client_that_is_awake_is_not_rung_for)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service("[service]\nstandby = no\n", false);
	sycl_buffer buffer;
	struct client client = begin_client(service, &buffer);
	json_int_t before = processes_claimed(service, "wakes_sent");
	submit_fills(&client, buffer);
	cr_assert(wait_until(all_have_completed, service, SOON));
	cr_expect_eq(processes_claimed(service, "wakes_sent"), before);
	cr_expect_eq(sycl_queue_wait(client.queue), 0);
	(void)sycl_buffer_release(buffer);
	client_close(&client);
}
