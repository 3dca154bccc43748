#include "engine/groups.h"

#include "base/cgroup.h"
#include "base/log.h"
#include "cleanup.h"
#include "poll_now.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum {
	NAME_BYTES = 128,
	VALUE_BYTES = 64,
	LINE_BYTES = 2 * PATH_MAX,
	STATISTICS_BYTES = 4096,
	CHILDREN_MAX = 16, /* of an engine that is taken; it has one, the build helper */
};

/* Charged memory up to which a group is removed. It is small, because a user may leave as much each
 * time. */
#define FORGOTTEN_BYTES (64ul << 10)
/* The same while there are very many groups. Reading each of them takes the service's time, and one
 * user may have many uids. */
#define FORGOTTEN_BYTES_OF_MANY (16ul << 20)
#define GROUPS_MANY             512
/* For an engine's own threads and build helper, besides those that run kernels: one or two for each
 * processor. */
#define PROCESSES_LEAST 64

#define USER_PREFIX   "uid-"
#define ENGINE_PREFIX "engine-"
#define SERVICE_GROUP "service"

static void group_file_close(FILE **file)
{
	if (*file)
		(void)fclose(*file);
}

static void group_folder_close(DIR **folder)
{
	if (*folder)
		(void)closedir(*folder);
}

static int group_file_write(int folder, const char *path, const char *value)
{
	CLEANUP(close_fd) int fd = openat(folder, path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	return write(fd, value, strlen(value)) < 0 ? -errno : 0;
}

/* False: there is no such file, or no number in it ("max"). */
static bool group_file_read_number(int folder, const char *path, uint64_t *number_out)
{
	char text[VALUE_BYTES], *end;
	CLEANUP(close_fd) int fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
	ssize_t count = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (count <= 0)
		return false;
	text[count] = '\0';
	uint64_t number = strtoull(text, &end, 10);
	if (end == text)
		return false;
	*number_out = number;
	return true;
}

__attribute__((format(printf, 3, 4))) static void group_name_format(char *out, size_t size,
								    const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	(void)vsnprintf(out, size, format, arguments);
	va_end(arguments);
}

static bool groups_find_own_path(char path_out[2 * PATH_MAX])
{
	char mount[PATH_MAX], line[LINE_BYTES];
	CLEANUP(group_file_close) FILE *file = fopen("/proc/self/cgroup", "re");
	if (!cgroup_find_mount(mount))
		return false;
	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, "0::/", 4) != 0)
			continue;
		line[strcspn(line, "\n")] = '\0';
		group_name_format(path_out, 2ul * PATH_MAX, "%s%s", mount, line + 3);
		return true;
	}
	return false;
}

/* True if the group was delegated. Only the manager of the tree may delegate a part of it, and
 * marks that part with an attribute. */
static bool group_is_delegated(int group)
{
	static const char *const marks[] = {"user.delegate", "trusted.delegate"};
	char value[4];
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		if (fgetxattr(group, marks[i], value, sizeof(value)) == 1 && value[0] == '1')
			return true;
	return false;
}

static bool configuration_has_group_limits(const struct configuration *configuration)
{
	return configuration->user_processes || configuration->user_memory_bytes ||
	       configuration->user_cpu_weight;
}

/* Enables each controller separately, so that a missing one does not affect the others. */
static void group_enable_controllers(struct engine_groups *groups,
				     const struct configuration *configuration)
{
	const struct {
		bool is_configured, is_default;
		const char *word, *name;
	} list[] = {
		{configuration->user_processes != 0, groups->processes != 0, "+pids", "processes"},
		{configuration->user_memory_bytes != 0, groups->memory_bytes != 0, "+memory",
		 "memory_bytes"},
		{configuration->user_cpu_weight != 0, groups->serves_many, "+cpu", "cpu_weight"},
	};
	for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++) {
		if (!list[i].is_configured && !list[i].is_default)
			continue;
		int r = group_file_write(groups->base, "cgroup.subtree_control", list[i].word);
		groups->has_limits |= r == 0;
		if (r < 0 && !list[i].is_configured)
			log_info("engine", "users have no default of isolation.%s: %s: %s",
				 list[i].name, list[i].word, strerror(-r));
		if (r < 0 && list[i].is_configured)
			log_warning("engine", "isolation.%s has no effect: %s: %s", list[i].name,
				    list[i].word, strerror(-r));
	}
}

/*
 * Processes: a quarter, because no user may have more than a quarter of the engines, but at least
 * as many as engines themselves need. Memory: three quarters, because a user alone may need most of
 * it. Memory that killed engines have left must not make the kernel end other users' engines.
 */
void engine_groups_set_defaults(struct engine_groups *groups, bool serves_many)
{
	uint64_t all;
	groups->processes = groups->memory_bytes = 0;
	groups->serves_many = serves_many;
	if (!serves_many)
		return;
	if (group_file_read_number(groups->base, "memory.max", &all))
		groups->memory_bytes = all / 4 * 3;
	if (!group_file_read_number(groups->base, "pids.max", &all))
		return;
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t least = PROCESSES_LEAST + 2 * (uint64_t)(processors > 0 ? processors : 1);
	groups->processes = all / 4 > least ? all / 4 : least;
}

void engine_groups_open(struct engine_groups *groups, const struct configuration *configuration,
			bool serves_many)
{
	char path[2 * PATH_MAX], self[32];
	*groups = (struct engine_groups)ENGINE_GROUPS_NONE;
	CLEANUP(close_fd)
	int base = groups_find_own_path(path) ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (base < 0 || !group_is_delegated(base)) {
		if (configuration_has_group_limits(configuration))
			log_warning(
				"engine",
				"no control group was delegated to this service: limits of [isolation] have no effect");
		return;
	}
	group_name_format(self, sizeof(self), "%ld", (long)getpid());
	int r = mkdirat(base, SERVICE_GROUP, 0755) < 0 && errno != EEXIST ? -errno : 0;
	/* A group whose child groups have limits may have no processes itself. */
	if (r == 0)
		r = group_file_write(base, SERVICE_GROUP "/cgroup.procs", self);
	if (r < 0) {
		log_warning("engine", "%s was delegated, and cannot be used: %s%s", path,
			    strerror(-r),
			    r == -EROFS ? " (ReadWritePaths= of the unit does not name it)" : "");
		return;
	}
	groups->base = take_fd(&base);
	engine_groups_set_defaults(groups, serves_many);
	group_enable_controllers(groups, configuration);
	log_info("engine", "engines have control groups in %s", path);
}

static DIR *group_open_folder(int parent, const char *name)
{
	CLEANUP(close_fd) int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	if (folder)
		(void)take_fd(&fd);
	return folder;
}

static bool group_is_users(const struct dirent *entry)
{
	return strncmp(entry->d_name, USER_PREFIX, sizeof(USER_PREFIX) - 1) == 0;
}

/* Without the controller, groups that were kept for their memory no longer count any. */
static void groups_remove_empty(int base)
{
	CLEANUP(group_folder_close) DIR *folder = base < 0 ? NULL : group_open_folder(base, ".");
	const struct dirent *entry;
	while (folder && (entry = readdir(folder)))
		if (group_is_users(entry))
			(void)unlinkat(base, entry->d_name,
				       AT_REMOVEDIR); /* fails while the user has an engine */
}

/* A group with limits accepts no processes, so the service manager could not start the next service
 * in it. */
void engine_groups_close(struct engine_groups *groups)
{
	static const char *const words[] = {"-pids", "-memory", "-cpu"};
	for (size_t i = 0; groups->has_limits && i < sizeof(words) / sizeof(*words); i++)
		(void)group_file_write(groups->base, "cgroup.subtree_control", words[i]);
	groups_remove_empty(groups->base);
	close_fd(&groups->base);
}

/*
 * Without its controller there is no such file; that was logged when the controller was enabled. If
 * a limit is below the group's use, the kernel frees memory within the write, unless the file is
 * open with O_NONBLOCK. So a limit that the group already has is not written.
 */
static void group_set_limit(int base, uid_t uid, const char *file, uint64_t value,
			    const char *without)
{
	char path[NAME_BYTES], text[VALUE_BYTES];
	uint64_t present;
	group_name_format(path, sizeof(path), USER_PREFIX "%lu/%s", (unsigned long)uid, file);
	group_name_format(text, sizeof(text), "%" PRIu64, value);
	if (value && group_file_read_number(base, path, &present) && present == value)
		return;
	(void)group_file_write(base, path, value ? text : without);
}

/* Also sets limits that are not configured. The group may be an earlier engine's, with limits that
 * were revoked. */
static void group_set_limits(const struct engine_groups *groups,
			     const struct configuration *configuration, uid_t uid)
{
	group_set_limit(groups->base, uid, "pids.max",
			configuration->user_processes ? configuration->user_processes
						      : groups->processes,
			"max");
	uint64_t memory_bytes = configuration->user_memory_bytes ? configuration->user_memory_bytes
								 : groups->memory_bytes;
	group_set_limit(groups->base, uid, "memory.max", memory_bytes, "max");
	/* An engine and its build helper are of no use without each other. */
	group_set_limit(groups->base, uid, "memory.oom.group", memory_bytes ? 1 : 0, "0");
	group_set_limit(groups->base, uid, "cpu.weight", configuration->user_cpu_weight, "100");
}

/* Moves the engine's children into the group, too: the build helper. */
static void group_take_children(int base, const char *group, pid_t pid)
{
	char path[NAME_BYTES], number[32];
	group_name_format(path, sizeof(path), "/proc/%ld/task/%ld/children", (long)pid, (long)pid);
	CLEANUP(group_file_close) FILE *file = fopen(path, "re");
	long child;
	for (int i = 0; file && i < CHILDREN_MAX; i++) {
		// NOLINTNEXTLINE(cert-err34-c): the kernel's own numbers
		if (fscanf(file, "%ld", &child) != 1)
			return;
		group_name_format(number, sizeof(number), "%ld", child);
		(void)group_file_write(base, group, number);
	}
}

static bool group_process_has_ended(const struct engine_groups_process *process)
{
	struct pollfd ended = {.fd = process->pidfd, .events = POLLIN};
	return poll_now(&ended, 1) != 0;
}

/*
 * The kernel takes a number. When an engine that is no child has ended, another process may have
 * its number. If that may have happened meanwhile, the process is moved again: all that is in an
 * engine's group ends with the engine. -ESRCH: the engine has ended.
 */
static int group_take_process(int base, const char *group,
			      const struct engine_groups_process *process)
{
	char number[32];
	group_name_format(number, sizeof(number), "%ld", (long)process->pid);
	if (group_process_has_ended(process))
		return -ESRCH;
	int r = group_file_write(base, group, number);
	if (r < 0 || process->is_child || !group_process_has_ended(process))
		return r;
	(void)group_file_write(base, SERVICE_GROUP "/cgroup.procs", number);
	return -ESRCH;
}

void engine_groups_take(const struct engine_groups *groups,
			const struct configuration *configuration, uid_t uid,
			const struct engine_groups_process *process)
{
	char path[NAME_BYTES];
	long pid = (long)process->pid;
	if (groups->base < 0)
		return;
	group_name_format(path, sizeof(path), USER_PREFIX "%lu", (unsigned long)uid);
	(void)mkdirat(groups->base, path, 0755);
	group_set_limits(groups, configuration, uid);
	group_name_format(path, sizeof(path), USER_PREFIX "%lu/" ENGINE_PREFIX "%ld",
			  (unsigned long)uid, pid);
	(void)mkdirat(groups->base, path, 0755);
	group_name_format(path, sizeof(path), USER_PREFIX "%lu/" ENGINE_PREFIX "%ld/cgroup.procs",
			  (unsigned long)uid, pid);
	int r = group_take_process(groups->base, path, process);
	if (r < 0)
		log_warning("engine", "pid %ld of uid %lu has no control group: %s", pid,
			    (unsigned long)uid, strerror(-r));
	else if (process->is_child)
		group_take_children(groups->base, path, process->pid);
}

int engine_groups_kill(const struct engine_groups *groups, uid_t uid, pid_t pid)
{
	char path[NAME_BYTES];
	group_name_format(path, sizeof(path), USER_PREFIX "%lu/" ENGINE_PREFIX "%ld/cgroup.kill",
			  (unsigned long)uid, (long)pid);
	return groups->base < 0 ? -ENOENT : group_file_write(groups->base, path, "1");
}

/* Returns true if one of the engines is in the user's group. */
static bool groups_tidy_user(int base, const char *user,
			     bool (*is_engine)(const void *context, pid_t pid), const void *context)
{
	CLEANUP(group_folder_close) DIR *folder = group_open_folder(base, user);
	bool has_engine = false;
	const struct dirent *entry;
	char path[NAME_BYTES];
	while (folder && (entry = readdir(folder))) {
		if (strncmp(entry->d_name, ENGINE_PREFIX, sizeof(ENGINE_PREFIX) - 1) != 0)
			continue;
		if (is_engine(context,
			      (pid_t)strtol(entry->d_name + sizeof(ENGINE_PREFIX) - 1, NULL, 10))) {
			has_engine = true;
			continue;
		}
		group_name_format(path, sizeof(path), "%.40s/%.40s/cgroup.kill", user,
				  entry->d_name);
		(void)group_file_write(base, path, "1");
		group_name_format(path, sizeof(path), "%.40s/%.40s", user, entry->d_name);
		(void)unlinkat(base, path,
			       /* Fails while a process in the group has not ended; the next call
				* then removes it. */
			       AT_REMOVEDIR);
	}
	return has_engine;
}

/* 0 where it is not counted. */
static uint64_t group_read_bytes(int base, const char *user, const char *file)
{
	char path[NAME_BYTES];
	uint64_t bytes = 0;
	group_name_format(path, sizeof(path), "%.40s/%.40s", user, file);
	(void)group_file_read_number(base, path, &bytes);
	return bytes;
}

static bool group_read_shared_bytes(int base, const char *user, uint64_t *bytes_out)
{
	static const char key[] = "\nshmem ";
	char path[NAME_BYTES], text[STATISTICS_BYTES];
	group_name_format(path, sizeof(path), "%.40s/memory.stat", user);
	CLEANUP(close_fd) int fd = openat(base, path, O_RDONLY | O_CLOEXEC);
	ssize_t count = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	text[count > 0 ? count : 0] = '\0';
	const char *line = strstr(text, key);
	if (!line)
		return false;
	*bytes_out = strtoull(line + sizeof(key) - 1, NULL, 10);
	return true;
}

/*
 * Memory that a client shares with an engine outlives the engine, as long as the client holds its
 * descriptor. It is charged to the user's group, but not to a new group of that name. So the group
 * stays, and the user's next engine gets the rest of the limit.
 */
static bool group_holds_memory(int base, const char *user, bool are_many)
{
	const uint64_t forgotten = are_many ? FORGOTTEN_BYTES_OF_MANY : FORGOTTEN_BYTES;
	uint64_t all = group_read_bytes(base, user, "memory.current");
	uint64_t swapped = group_read_bytes(base, user, "memory.swap.current"), shared;
	if (all + swapped <= forgotten)
		return false;
	/* Most of it may be a cache of files, such as the drivers' libraries. It limits nobody and
	 * may stay for ever. Memory that is shared with clients is counted as shmem. */
	return !group_read_shared_bytes(base, user, &shared) || shared + swapped > forgotten;
}

void engine_groups_tidy(const struct engine_groups *groups,
			bool (*is_engine)(const void *context, pid_t pid), const void *context)
{
	CLEANUP(group_folder_close)
	DIR *folder = groups->base < 0 ? NULL : group_open_folder(groups->base, ".");
	const struct dirent *entry;
	unsigned count = 0;
	while (folder && (entry = readdir(folder)))
		count += group_is_users(entry);
	if (folder)
		rewinddir(folder);
	while (folder && (entry = readdir(folder))) {
		if (!group_is_users(entry))
			continue;
		/* The kernel adds up a group's statistics when they are read. Those of all users
		 * with engines, whenever one engine ends, would take the service's time. */
		if (!groups_tidy_user(groups->base, entry->d_name, is_engine, context) &&
		    !group_holds_memory(groups->base, entry->d_name, count > GROUPS_MANY))
			(void)unlinkat(groups->base, entry->d_name, AT_REMOVEDIR);
	}
}
