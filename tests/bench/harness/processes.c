#include "harness/processes.h"

#include "process.h"

#include <dirent.h>
#include <stdio.h>
#include <time.h>

void process_group_find(pid_t root, struct process_group *group_out)
{
	group_out->pids[0] = root;
	group_out->count = 1;
	for (int i = 0; i < group_out->count; i++) {
		int room = PROCESS_GROUP_MAX - group_out->count;
		int found = process_children(group_out->pids[i], group_out->pids + group_out->count,
					     room);
		if (found > 0)
			group_out->count += found < room ? found : room;
	}
}

uint64_t process_group_cpu_ns(const struct process_group *group)
{
	uint64_t sum = 0;
	for (int i = 0; i < group->count; i++) {
		clockid_t clock;
		struct timespec time;
		if (clock_getcpuclockid(group->pids[i], &clock) == 0 &&
		    clock_gettime(clock, &time) == 0)
			sum += (uint64_t)time.tv_sec * 1000000000ull + (uint64_t)time.tv_nsec;
	}
	return sum;
}

/* Returns the number behind `name` in a file of /proc, or 0. */
static uint64_t number_in(const char *path, const char *name)
{
	char line[256], format[64];
	unsigned long long number = 0;
	FILE *file = fopen(path, "re");
	if (!file)
		return 0;
	(void)snprintf(format, sizeof(format), "%s: %%llu", name);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, format, &number) == 1)
			break;
	(void)fclose(file);
	return number;
}

static uint64_t wakes_of(pid_t pid)
{
	char path[64];
	uint64_t sum = 0;
	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *folder = opendir(path);
	if (!folder)
		return 0;
	for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
		char status[128];
		if (entry->d_name[0] == '.')
			continue;
		(void)snprintf(status, sizeof(status), "/proc/%d/task/%.32s/status", (int)pid,
			       entry->d_name);
		sum += number_in(status, "voluntary_ctxt_switches");
	}
	(void)closedir(folder);
	return sum;
}

uint64_t process_group_wakes(const struct process_group *group)
{
	uint64_t sum = 0;
	for (int i = 0; i < group->count; i++)
		sum += wakes_of(group->pids[i]);
	return sum;
}

int64_t process_memory_bytes(pid_t pid)
{
	char path[64];
	(void)snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
	return (int64_t)(number_in(path, "Pss_Anon") + number_in(path, "Pss_Shmem")) * 1024;
}

int64_t process_group_memory_bytes(const struct process_group *group)
{
	int64_t sum = 0;
	for (int i = 0; i < group->count; i++)
		sum += process_memory_bytes(group->pids[i]);
	return sum;
}
