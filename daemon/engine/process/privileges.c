#include "process/privileges.h"
#include "cleanup.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define OOM_SCORE         "500"
#define OOM_SCORE_STANDBY "900"
#define PASSWD_BYTES      16384

/* Without memory the kernel kills a tenant's work before the services of the node. The file may be
 * missing. */
static void set_oom_score(const char *score)
{
	CLEANUP(close_fd) int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (fd >= 0 && write(fd, score, strlen(score)) < 0)
		return; /* a container may forbid the write, and nothing depends on it */
}

static int set_groups(uid_t uid, gid_t gid)
{
	struct passwd entry, *found = NULL;
	char text[PASSWD_BYTES];
	if (getpwuid_r(uid, &entry, text, sizeof(text), &found) == 0 && found)
		return initgroups(found->pw_name, gid) < 0 ? -errno : 0;
	return setgroups(1, &gid) < 0 ? -errno : 0;
}

/* Sets exactly these capabilities in this thread; `kept`: bits of the first 32. */
static int keep_capabilities(uint32_t kept)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct wanted[2] = {{.effective = kept, .permitted = kept}, {0}};
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return -errno;
	if (syscall(SYS_capset, &header, wanted) < 0)
		return -errno;
	struct __user_cap_data_struct left[2] = {{0}, {0}};
	if (syscall(SYS_capget, &header, left) < 0)
		return -errno;
	for (int i = 0; i < 2; i++) {
		if (left[i].effective != wanted[i].effective ||
		    left[i].permitted != wanted[i].permitted || left[i].inheritable)
			return -EPERM;
	}
	return 0;
}

/*
 * A second lock: capabilities of this set can only be gained by executing a file, which
 * no_new_privs forbids. Emptying the set takes CAP_SETPCAP. A service that was started without that
 * capability leaves its engines its own set.
 */
static int empty_bounding_set(void)
{
	for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++) {
		if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0)
			return errno == EPERM ? 0 : -errno;
	}
	return 0;
}

/* The process must have exactly these ids, and must not be able to become root. */
static int verify_ids(uid_t uid, gid_t gid)
{
	uid_t real, effective, saved;
	gid_t real_gid, effective_gid, saved_gid;
	if (getresuid(&real, &effective, &saved) < 0 ||
	    getresgid(&real_gid, &effective_gid, &saved_gid) < 0)
		return -errno;
	if (real != uid || effective != uid || saved != uid || real_gid != gid ||
	    effective_gid != gid || saved_gid != gid)
		return -EPERM;
	if (uid != 0 && (setuid(0) == 0 || seteuid(0) == 0 || setresuid(0, 0, 0) == 0))
		return -EPERM;
	if (uid != 0 && gid != 0 && setresgid(0, 0, 0) == 0)
		return -EPERM;
	return 0;
}

static int limit_process(const char *oom_score)
{
	set_oom_score(oom_score);
	struct rlimit none = {0, 0};
	if (setrlimit(RLIMIT_CORE, &none) < 0)
		return -errno;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : 0;
}

int engine_privileges_limit(void)
{
	return limit_process(OOM_SCORE);
}

/* True also for GPUs of a processor's chip, or of a virtual machine's host. */
static bool name_is_of_nvidia(const char *name)
{
	static const char *const starts[] = {"nvidia", "nvhost", "nvgpu", "nvmap", "dxg"};
	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (strncmp(name, starts[i], strlen(starts[i])) == 0)
			return true;
	return false;
}

static bool devices_have_nvidia(const char *devices)
{
	bool found = false;
	const struct dirent *entry;
	DIR *folder = opendir(devices);
	while (folder && !found && (entry = readdir(folder)))
		found = name_is_of_nvidia(entry->d_name);
	if (folder)
		(void)closedir(folder);
	return found;
}

int engine_privileges_limit_locked(const char *devices, uint64_t bytes)
{
	struct rlimit locked;
	if (devices_have_nvidia(devices))
		return 0;
	if (getrlimit(RLIMIT_MEMLOCK, &locked) < 0)
		return -errno;
	if (locked.rlim_max <= bytes)
		return 0;
	locked.rlim_max = bytes;
	if (locked.rlim_cur > bytes)
		locked.rlim_cur = bytes;
	return setrlimit(RLIMIT_MEMLOCK, &locked) < 0 ? -errno : 0;
}

int engine_privileges_standby(bool change_user)
{
	int r = change_user ? empty_bounding_set() : 0;
	/* Both capabilities must be effective in every thread that a library starts, as each thread
	 * changes its own ids. */
	if (r == 0 && change_user)
		r = keep_capabilities(1u << CAP_SETUID | 1u << CAP_SETGID);
	/* The score is set last. Without CAP_SYS_RESOURCE it could not be lowered below a score
	 * that was set with that capability. */
	return r < 0 ? r : limit_process(OOM_SCORE_STANDBY);
}

int engine_privileges_drop(uid_t uid, gid_t gid)
{
	/* While the file is still writable. */
	set_oom_score(OOM_SCORE);
	int r = empty_bounding_set();
	if (r == 0)
		r = set_groups(uid, gid);
	if (r < 0)
		return r;
	if (setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		return -errno;
	r = keep_capabilities(0);
	if (r < 0)
		return r;
	/* Otherwise the tenant could trace the engine and take its descriptors. */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return -errno;
	return verify_ids(uid, gid);
}
