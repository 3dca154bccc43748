/* The state that must remain when all clients of the chaos test have ended, and the state that must
 * not. */
#include "processes/chaos.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

/* Returns true if there is no engine and no standby, and counts the open descriptors of the
 * service. */
static bool is_alone(void *descriptors_out)
{
	json_t *status = private_service_status(chaos.fake.service);
	const json_t *tenants = json_object_get(status, "tenants");
	const json_t *standby = json_object_get(json_object_get(status, "service"), "standby");
	bool alone = json_is_null(standby);
	for (size_t i = 0; i < json_array_size(tenants); i++)
		alone &= json_integer_value(
				 json_object_get(json_array_get(tenants, i), "engine_pid")) == 0;
	json_decref(status);
	if (alone)
		*(int *)descriptors_out = process_count_descriptors(chaos.fake.service->sycld.pid);
	return alone;
}

struct open_files {
	int before, now;
};

/* It may briefly have the connection of the latest request, too. */
static bool has_no_more_open(void *context)
{
	struct open_files *files = context;
	return is_alone(&files->now) && files->now <= files->before;
}

unsigned chaos_count_files(void)
{
	DIR *folder = opendir(chaos.fake.service->runtime);
	const struct dirent *entry;
	unsigned count = 0;
	cr_assert(folder != NULL);
	while ((entry = readdir(folder)) != NULL)
		count += strncmp(entry->d_name, "accounts", strlen("accounts")) != 0;
	(void)closedir(folder);
	return count;
}

int chaos_count_descriptors(void)
{
	int descriptors = -1;
	cr_assert(wait_until(is_alone, &descriptors, SOON));
	return descriptors;
}

void chaos_expect_nothing_left(int descriptors, unsigned files)
{
	int now = -1;
	struct open_files open_now = {.before = descriptors, .now = -1};
	cr_assert(private_service_wait_sessions(chaos.fake.service, 0, SOON),
		  "a session outlives its client");
	cr_assert(wait_until(is_alone, &now, SOON), "an engine outlives its sessions");
	for (unsigned i = 0; i < chaos.engine_count; i++)
		cr_assert(wait_until(chaos_is_gone, &chaos.engines[i], SOON),
			  "engine %d is still there", (int)chaos.engines[i].pid);
	cr_assert(wait_until(has_no_more_open, &open_now, SOON),
		  "descriptors of the service: %d before, %d now", descriptors, open_now.now);
	cr_assert_leq(chaos_count_files(), files);
}

/* The disturbances end processes by no signal but KILL. A sanitizer would end an engine by ABRT:
 * engines have no stderr. */
void chaos_expect_no_complaints(void)
{
	static const char *const complaints[] = {"killed by signal 3", "killed by signal 4",
						 "killed by signal 5", "killed by signal 6",
						 "killed by signal 7", "killed by signal 8",
						 "killed by signal 11"};
	for (size_t i = 0; i < sizeof(complaints) / sizeof(*complaints); i++) {
		bool complains = private_service_has_logged(chaos.fake.service, complaints[i]);
		if (complains)
			private_service_print_log(chaos.fake.service);
		cr_assert(!complains, "the service or an engine has said '%s'", complaints[i]);
	}
}
