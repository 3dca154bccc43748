/* Settings that a process inherits, and its control group. */
#include "confined.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static int file_write(const char *path, const char *text)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);
	if (file < 0)
		return errno;
	int error = write(file, text, strlen(text)) < 0 ? errno : 0;
	(void)close(file);
	return error;
}

/* A machine with both versions of control groups has version 2 in the second folder. */
static const char *group_tree(void)
{
	static const char *const trees[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
	char path[64];
	for (size_t i = 0; i < sizeof(trees) / sizeof(*trees); i++) {
		(void)snprintf(path, sizeof(path), "%s/cgroup.controllers", trees[i]);
		if (access(path, F_OK) == 0)
			return trees[i];
	}
	return NULL;
}

static bool group_name(struct confined *confined)
{
	const char *tree = group_tree();
	(void)snprintf(confined->group, sizeof(confined->group), "%s/sycld-confined.%d",
		       tree ? tree : "", confined->number);
	return tree;
}

void confine_group(struct confined *confined, struct setting *setting)
{
	char path[PATH_MAX + 32];
	if (!group_name(confined)) {
		confined->group[0] = '\0';
		setting_absent(setting, "no control groups of version 2 are mounted");
		return;
	}
	int error = mkdir(confined->group, 0755) < 0 ? errno : 0;
	if (!error) {
		(void)snprintf(path, sizeof(path), "%s/cgroup.procs", confined->group);
		error = file_write(path, "0");
		if (error)
			(void)rmdir(confined->group);
	}
	if (error) {
		setting_refused(setting, confined->group, error);
		confined->group[0] = '\0';
		return;
	}
	setting_applied(setting, "in the group %s", confined->group);
}

void confine_group_memory(struct confined *confined, struct setting *setting)
{
	char path[PATH_MAX + 32], text[32];
	long pages = sysconf(_SC_PHYS_PAGES), percent = strtol(setting->value, NULL, 10);
	if (!confined->group[0]) {
		setting_absent(setting, "there is no control group");
		return;
	}
	(void)snprintf(path, sizeof(path), "%s/memory.max", confined->group);
	(void)snprintf(text, sizeof(text), "%lld",
		       (long long)pages * sysconf(_SC_PAGESIZE) / 100 * percent);
	int error = file_write(path, text);
	if (error)
		setting_refused(setting, "the group's memory.max", error);
	else
		setting_applied(setting, "memory.max is %s", text);
}

/* The service makes groups only in one that has this mark. */
void confine_delegate(struct confined *confined, struct setting *setting)
{
	char path[PATH_MAX + 32], text[128] = "";
	if (!confined->group[0]) {
		setting_absent(setting, "there is no control group");
		return;
	}
	if (setxattr(confined->group, "trusted.delegate", "1", 1, 0) < 0) {
		setting_refused(setting, "the attribute trusted.delegate", errno);
		return;
	}
	(void)snprintf(path, sizeof(path), "%s/cgroup.controllers", confined->group);
	FILE *file = fopen(path, "re");
	if (file && !fgets(text, sizeof(text), file))
		text[0] = '\0';
	if (file)
		(void)fclose(file);
	text[strcspn(text, "\n")] = '\0';
	setting_applied(setting, "with these controllers: %s", text[0] ? text : "none");
}

static int group_remove_one(const char *path, const struct stat *status, int type,
			    struct FTW *place)
{
	(void)status, (void)place;
	if (type == FTW_DP)
		(void)rmdir(path);
	return 0;
}

void confined_remove_group(struct confined *confined)
{
	if (group_name(confined))
		(void)nftw(confined->group, group_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void confine_limit(struct confined *confined, struct setting *setting)
{
	static const struct {
		const char *name;
		int resource;
	} kinds[] = {{"LimitNOFILE", RLIMIT_NOFILE},
		     {"LimitMEMLOCK", RLIMIT_MEMLOCK},
		     {"LimitCORE", RLIMIT_CORE}};
	(void)confined;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(kinds[i].name, setting->name) != 0)
			continue;
		rlim_t value = strcmp(setting->value, "infinity") == 0
				       ? RLIM_INFINITY
				       : strtoul(setting->value, NULL, 10);
		struct rlimit limit = {.rlim_cur = value, .rlim_max = value}, before;
		char what[80];
		(void)getrlimit((__rlimit_resource_t)kinds[i].resource, &before);
		(void)snprintf(what, sizeof(what), "setrlimit beyond %llu",
			       (unsigned long long)before.rlim_max);
		if (setrlimit((__rlimit_resource_t)kinds[i].resource, &limit) < 0)
			setting_refused(setting, what, errno);
		else
			setting_applied(setting, "by setrlimit");
	}
}

void confine_oom(struct confined *confined, struct setting *setting)
{
	(void)confined;
	int error = file_write("/proc/self/oom_score_adj", setting->value);
	if (error)
		setting_refused(setting, "/proc/self/oom_score_adj", error);
	else
		setting_applied(setting, "in /proc/self/oom_score_adj");
}

void confine_mask(struct confined *confined, struct setting *setting)
{
	(void)confined;
	(void)umask((mode_t)strtoul(setting->value, NULL, 8));
	setting_applied(setting, "by umask");
}

/* RuntimeDirectory=, CacheDirectory= and their modes. The folders have other names here, because
 * the machine may have a service of its own. */
void confine_folder(struct confined *confined, struct setting *setting)
{
	const char *folder = setting->name[0] == 'R' ? confined->run : confined->cache;
	if (strstr(setting->name, "Mode")) {
		if (chmod(folder, (mode_t)strtoul(setting->value, NULL, 8)) < 0)
			setting_refused(setting, folder, errno);
		else
			setting_applied(setting, "%s", folder);
		return;
	}
	if (mkdir(folder, 0755) < 0 && errno != EEXIST)
		setting_refused(setting, folder, errno);
	else
		setting_applied(setting, "%s", folder);
}

static bool capability_is_named(int number, const char *names)
{
	static const struct {
		const char *name;
		int number;
	} known[] = {{"CAP_SETUID", CAP_SETUID},
		     {"CAP_SETGID", CAP_SETGID},
		     {"CAP_SETPCAP", CAP_SETPCAP},
		     {"CAP_KILL", CAP_KILL}};
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (known[i].number == number && strstr(names, known[i].name))
			return true;
	return false;
}

void confine_capabilities(struct confined *confined, struct setting *setting)
{
	unsigned kept = 0, lacks = 0;
	(void)confined;
	for (int i = 0; i < 64; i++) {
		int there = prctl(PR_CAPBSET_READ, i, 0, 0, 0);
		bool is_named = capability_is_named(i, setting->value);
		if (is_named) {
			kept += there == 1;
			lacks += there != 1;
		} else if (there == 1 && prctl(PR_CAPBSET_DROP, i, 0, 0, 0) < 0) {
			setting_refused(setting, "PR_CAPBSET_DROP", errno);
			return;
		}
	}
	if (lacks)
		setting_applied(setting, "%u are left; the container itself lacks %u of these",
				kept, lacks);
	else
		setting_applied(setting, "these %u are left", kept);
}

void confine_privileges(struct confined *confined, struct setting *setting)
{
	(void)confined;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		setting_refused(setting, "PR_SET_NO_NEW_PRIVS", errno);
	else
		setting_applied(setting, "by PR_SET_NO_NEW_PRIVS");
}

/* The service reports in a third of this time. confined.c counts the reports. */
void confine_watchdog(struct confined *confined, struct setting *setting)
{
	confined->watchdog_seconds = (unsigned)strtoul(setting->value, NULL, 10);
}
