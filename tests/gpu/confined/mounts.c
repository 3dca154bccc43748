/* Namespaces, and what the service finds in the file system. */
#include "confined.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/mount.h>
#include <net/if.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

/* <sys/mount.h> and <linux/mount.h> cannot both be included with every C library. */
enum {
	PLAIN_READ_ONLY = 1,
	PLAIN_NO_SET_ID = 2,
	PLAIN_NO_EXEC = 8,
	PLAIN_BIND = 4096,
	PLAIN_ALL_BELOW = 16384,
	PLAIN_PRIVATE = 1 << 18
};

static int mount_plain(const char *source, const char *path, const char *type, unsigned long flags,
		       const char *options)
{
	return syscall(SYS_mount, source, path, type, flags, options) < 0 ? errno : 0;
}

static int mount_change(const char *path, bool all_below, bool read_only)
{
	struct mount_attr change = {0};
	*(read_only ? &change.attr_set : &change.attr_clr) = MOUNT_ATTR_RDONLY;
	long r = syscall(SYS_mount_setattr, AT_FDCWD, path, all_below ? AT_RECURSIVE : 0, &change,
			 sizeof(change));
	return r < 0 ? errno : 0;
}

/* Makes a mount of its own of what is at `path`, which is not read-only. */
static int mount_open(const char *path)
{
	int error = mount_plain(path, path, NULL, PLAIN_BIND | PLAIN_ALL_BELOW, NULL);
	return error ? error : mount_change(path, true, false);
}

static int mount_read_only(const char *path)
{
	int error = mount_plain(path, path, NULL, PLAIN_BIND | PLAIN_ALL_BELOW, NULL);
	return error ? error : mount_change(path, true, true);
}

/* An error that says that there is nothing at the path. */
static bool is_absence(int error)
{
	return error == ENOENT || error == ENOTDIR;
}

static int tree_take(const char *path)
{
	return (int)syscall(SYS_open_tree, AT_FDCWD, path,
			    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
}

static int tree_put(int tree, const char *path)
{
	long r = syscall(SYS_move_mount, tree, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH);
	return r < 0 ? errno : 0;
}

static void folders_make(const char *path)
{
	char part[PATH_MAX];
	for (size_t i = 1; path[i] && i < sizeof(part) - 1; i++) {
		if (path[i] != '/' && path[i + 1])
			continue;
		size_t length = path[i + 1] ? i : i + 1;
		memcpy(part, path, length);
		part[length] = '\0';
		(void)mkdir(part, 0755);
	}
}

static bool is_below(const char *path, const char *folder)
{
	size_t length = strlen(folder);
	return path && strncmp(path, folder, length) == 0 && path[length] == '/';
}

/* Replaces a folder by an empty one. What --keep names stays where it is. */
static int folder_cover(const struct confined *confined, const char *folder, const char *options,
			bool read_only)
{
	int tree = is_below(confined->keep, folder) ? tree_take(confined->keep) : -1;
	int error = mount_plain("tmpfs", folder, "tmpfs", PLAIN_NO_SET_ID, options);
	if (!error && tree >= 0) {
		folders_make(confined->keep);
		error = tree_put(tree, confined->keep);
	}
	if (tree >= 0)
		(void)close(tree);
	return !error && read_only ? mount_change(folder, true, true) : error;
}

/* Each of the paths, which end with NULL, by `change`. Returns the first error. */
static int each_path(int (*change)(const char *path), ...)
{
	va_list paths;
	int error = 0;
	va_start(paths, change);
	for (const char *path = va_arg(paths, const char *); path && !error;
	     path = va_arg(paths, const char *)) {
		error = change(path);
		if (is_absence(error))
			error = 0;
	}
	va_end(paths);
	return error;
}

static bool needs_mounts(const struct confined *confined, struct setting *setting)
{
	if (!confined->has_mounts)
		setting_refused(setting, "there is no own mount namespace", EPERM);
	return !confined->has_mounts;
}

static void mounts_report(struct setting *setting, int error, const char *what)
{
	if (error)
		setting_refused(setting, what, error);
	else
		setting_applied(setting, "%s", what);
}

void confine_mounts(struct confined *confined, struct setting *setting)
{
	int error = unshare(CLONE_NEWNS) < 0 ? errno : 0;
	if (!error)
		error = mount_plain("none", "/", NULL, PLAIN_ALL_BELOW | PLAIN_PRIVATE, NULL);
	confined->has_mounts = !error;
	mounts_report(setting, error, "a mount namespace");
}

void confine_network(struct confined *confined, struct setting *setting)
{
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	(void)confined;
	int error = unshare(CLONE_NEWNET) < 0 ? errno : 0;
	int any = error ? -1 : socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (any >= 0) {
		(void)ioctl(any, SIOCSIFFLAGS, &request);
		(void)close(any);
	}
	mounts_report(setting, error, "a network namespace with a loopback device only");
}

void confine_hostname(struct confined *confined, struct setting *setting)
{
	(void)unshare(CLONE_NEWUTS);
	filter_host(confined, setting);
}

/* Everything but /dev, /proc, /sys and the service's own folders. */
void confine_system(struct confined *confined, struct setting *setting)
{
	static const char *const others[] = {"/dev", "/proc", "/sys"};
	if (needs_mounts(confined, setting))
		return;
	int error = mount_change("/", true, true);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		(void)mount_change(others[i], true, false);
	if (!error)
		error = mount_open(confined->run);
	if (!error)
		error = mount_open(confined->cache);
	if (!error && (access("/usr", W_OK) == 0 || errno != EROFS))
		error = EBUSY;
	mounts_report(setting, error, "a read-only file system, tried: /usr");
}

/* Before Linux 5.8 the option changed the machine's own /proc. */
void confine_proc(struct confined *confined, struct setting *setting)
{
	struct utsname kernel = {.release = ""};
	char *end = kernel.release;
	if (needs_mounts(confined, setting))
		return;
	(void)uname(&kernel);
	unsigned long major = strtoul(kernel.release, &end, 10);
	unsigned long minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
	if (major < 5 || (major == 5 && minor < 8)) {
		setting_refused(setting, "this kernel would change every /proc", EOPNOTSUPP);
		return;
	}
	mounts_report(
		setting,
		mount_plain("proc", "/proc", "proc", PLAIN_NO_SET_ID | PLAIN_NO_EXEC, "hidepid=2"),
		"/proc with hidepid=invisible");
}

void confine_control_groups(struct confined *confined, struct setting *setting)
{
	if (!needs_mounts(confined, setting))
		mounts_report(setting, mount_read_only("/sys/fs/cgroup"),
			      "/sys/fs/cgroup is read-only");
}

/* The control group has another name here. */
void confine_writable(struct confined *confined, struct setting *setting)
{
	if (needs_mounts(confined, setting))
		return;
	if (!confined->group[0])
		setting_absent(setting, "there is no control group");
	else
		mounts_report(setting, mount_open(confined->group), confined->group);
}

void confine_tunables(struct confined *confined, struct setting *setting)
{
	if (needs_mounts(confined, setting))
		return;
	mounts_report(setting,
		      each_path(mount_read_only, "/sys", "/proc/sys", "/proc/sysrq-trigger",
				"/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi", NULL),
		      "/sys and parts of /proc are read-only");
}

static int folder_hide(const char *path)
{
	return mount_plain("tmpfs", path, "tmpfs", PLAIN_READ_ONLY | PLAIN_NO_SET_ID, "mode=000");
}

static int file_hide(const char *path)
{
	return mount_plain("/dev/null", path, NULL, PLAIN_BIND, NULL);
}

void confine_modules(struct confined *confined, struct setting *setting)
{
	if (!needs_mounts(confined, setting))
		mounts_report(setting, each_path(folder_hide, "/usr/lib/modules", NULL),
			      "no right, and no /usr/lib/modules");
}

void confine_kernel_logs(struct confined *confined, struct setting *setting)
{
	if (!needs_mounts(confined, setting))
		mounts_report(setting, each_path(file_hide, "/proc/kmsg", "/proc/kallsyms", NULL),
			      "no right, and no /proc/kmsg");
}

void confine_home(struct confined *confined, struct setting *setting)
{
	static const char *const folders[] = {"/home", "/root", "/run/user"};
	int error = 0;
	if (needs_mounts(confined, setting))
		return;
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders) && !error; i++) {
		error = folder_cover(confined, folders[i], "mode=755", true);
		if (is_absence(error))
			error = 0;
	}
	mounts_report(setting, error, "/home, /root and /run/user are empty");
}

void confine_temporary(struct confined *confined, struct setting *setting)
{
	if (needs_mounts(confined, setting))
		return;
	int error = folder_cover(confined, "/tmp", "mode=1777", false);
	if (!error)
		error = folder_cover(confined, "/var/tmp", "mode=1777", false);
	mounts_report(setting, error, "own /tmp and /var/tmp");
}

static void node_add(struct confined *confined, const char *path, struct setting *setting)
{
	if (confined->nodes_count == NODES_MAX || strlen(path) >= sizeof(confined->nodes->path))
		return;
	struct node *node = &confined->nodes[confined->nodes_count++];
	(void)snprintf(node->path, sizeof(node->path), "%s", path);
	node->setting = setting;
	node->tree = -1;
}

/* The walk through /dev has no argument of its own. */
static struct {
	struct confined *confined;
	struct setting *setting;
	unsigned major;
} walk;

static int node_visit(const char *path, const struct stat *status, int type, struct FTW *place)
{
	(void)place;
	if (type == FTW_F && S_ISCHR(status->st_mode) && major(status->st_rdev) == walk.major)
		node_add(walk.confined, path, walk.setting);
	return 0;
}

/* char-NAME: the device files of the driver with this name. */
void confine_device(struct confined *confined, struct setting *setting)
{
	char line[128], name[64];
	FILE *file = fopen("/proc/devices", "re");
	(void)snprintf(name, sizeof(name), " %s", setting->value + strlen("char-"));
	name[1 + strcspn(name + 1, " ")] = '\0';
	setting_absent(setting, "this machine has no such device");
	while (file && fgets(line, sizeof(line), file) && line[0] != 'B') {
		char *end = line;
		unsigned number = (unsigned)strtoul(line, &end, 10);
		line[strcspn(line, "\n")] = '\0';
		if (end == line || strcmp(end, name) != 0)
			continue;
		walk.confined = confined, walk.setting = setting, walk.major = number;
		(void)nftw("/dev", node_visit, 16, FTW_PHYS);
	}
	if (file)
		(void)fclose(file);
}

static void node_report(struct node *node, int error)
{
	struct setting *setting = node->setting;
	if (!setting)
		return;
	bool is_next = strcmp(setting->state, "applied") == 0;
	if (error)
		setting_refused(setting, node->path, error);
	else
		setting_applied(setting, "%s%s%s", is_next ? setting->note : "",
				is_next ? ", " : "", node->path);
}

/* Two drivers may have one number, so a file may be there already. It is not opened: that could
 * wake the device. */
static int node_put(struct node *node)
{
	struct stat status;
	if (node->tree < 0)
		return 0; /* closed allows it, and the machine has none */
	if (fstat(node->tree, &status) < 0)
		return errno;
	int error = 0;
	if (access(node->path, F_OK) < 0) {
		folders_make(node->path);
		if (!S_ISDIR(status.st_mode) &&
		    (rmdir(node->path) < 0 || mknod(node->path, S_IFREG | 0600, 0) < 0))
			error = errno;
		if (!error)
			error = tree_put(node->tree, node->path);
	}
	node_report(node, error);
	return error;
}

/* systemd refuses opening in a program of the control group. Here the other files are not there. */
void confine_devices(struct confined *confined, struct setting *setting)
{
	static const char *const always[] = {"/dev/null",   "/dev/zero",    "/dev/full",
					     "/dev/random", "/dev/urandom", "/dev/tty",
					     "/dev/pts",    "/dev/shm"};
	if (needs_mounts(confined, setting))
		return;
	for (size_t i = 0; i < sizeof(always) / sizeof(*always); i++)
		node_add(confined, always[i], NULL);
	for (size_t i = 0; i < confined->nodes_count; i++)
		confined->nodes[i].tree = tree_take(confined->nodes[i].path);
	int error = mount_plain("tmpfs", "/dev", "tmpfs", PLAIN_NO_SET_ID, "mode=755");
	for (size_t i = 0; i < confined->nodes_count; i++) {
		if (!error)
			error = node_put(&confined->nodes[i]);
		if (confined->nodes[i].tree >= 0)
			(void)close(confined->nodes[i].tree);
	}
	if (!error && symlink("/proc/self/fd", "/dev/fd") < 0)
		error = errno;
	mounts_report(setting, error, "a /dev with no other devices");
}
