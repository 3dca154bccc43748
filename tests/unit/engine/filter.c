/* The system calls of an engine's process once it serves. The tests run in children, because the
 * filter cannot be removed. */
#include "process/filter.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <errno.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* AddressSanitizer's leak checker is a tracer. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FINDS_LEAKS
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define FINDS_LEAKS
#endif

TestSuite(engine_filter, .timeout = 20);

/* Runs `child` in a separate process and returns its result. */
static int engine_filter_in_child(int (*child)(void))
{
	int status = 0;
	pid_t pid = fork();
	cr_assert(ge(int, pid, 0));
	if (pid == 0)
		_exit(child());
	cr_assert(eq(int, waitpid(pid, &status, 0), pid));
	cr_assert(WIFEXITED(status), "ended by signal %d", WTERMSIG(status));
	return WEXITSTATUS(status);
}

static void install(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || engine_filter_install() < 0)
		_exit(100);
}

enum { NO_CLOCK = 9999 };

/* All calls that the filter refuses. Each one changes nothing if it is allowed. */
static const struct call {
	const char *name;
	long number, arguments[4];
} calls[] = {
	{"process_vm_readv", SYS_process_vm_readv, {0}},
#ifndef FINDS_LEAKS
	{"ptrace", SYS_ptrace, {-1, -1}},
#endif
	{"process_vm_writev", SYS_process_vm_writev, {0}},
	{"kcmp", SYS_kcmp, {-1, -1}},
	{"mount", SYS_mount, {0}},
	{"umount2", SYS_umount2, {0, -1}},
	{"pivot_root", SYS_pivot_root, {-1, -1}},
	{"chroot", SYS_chroot, {-1}},
	{"open_tree", SYS_open_tree, {-1, 0, -1}},
	{"move_mount", SYS_move_mount, {-1, 0, -1}},
	{"fsopen", SYS_fsopen, {0}},
	{"fsconfig", SYS_fsconfig, {-1, -1}},
	{"fsmount", SYS_fsmount, {-1, -1}},
	{"fspick", SYS_fspick, {-1, 0, -1}},
	{"unshare", SYS_unshare, {CLONE_FILES}},
	{"setns", SYS_setns, {-1}},
	{"add_key", SYS_add_key, {0}},
	{"request_key", SYS_request_key, {0}},
	{"keyctl", SYS_keyctl, {-1}},
	{"bpf", SYS_bpf, {-1}},
	{"perf_event_open", SYS_perf_event_open, {0}},
	{"userfaultfd", SYS_userfaultfd, {-1}},
	{"io_uring_setup", SYS_io_uring_setup, {0}},
	{"io_uring_enter", SYS_io_uring_enter, {-1}},
	{"io_uring_register", SYS_io_uring_register, {-1}},
	{"init_module", SYS_init_module, {0}},
	{"finit_module", SYS_finit_module, {-1}},
	{"delete_module", SYS_delete_module, {0}},
	{"kexec_load", SYS_kexec_load, {0, 0, 0, -1}},
	{"swapon", SYS_swapon, {0}},
	{"swapoff", SYS_swapoff, {0}},
	{"reboot", SYS_reboot, {0}},
	{"acct", SYS_acct, {-1}},
	{"quotactl", SYS_quotactl, {-1}},
	{"syslog", SYS_syslog, {-1}},
	{"fanotify_init", SYS_fanotify_init, {-1, -1}},
	{"open_by_handle_at", SYS_open_by_handle_at, {-1}},
	{"settimeofday", SYS_settimeofday, {-1}},
	{"clock_settime", SYS_clock_settime, {NO_CLOCK}},
	{"adjtimex", SYS_adjtimex, {0}},
	{"clock_adjtime", SYS_clock_adjtime, {NO_CLOCK}},
	{"sethostname", SYS_sethostname, {0, -1}},
	{"setdomainname", SYS_setdomainname, {0, -1}},
#ifdef SYS_mount_setattr
	{"mount_setattr", SYS_mount_setattr, {-1, 0, -1}},
#endif
#ifdef SYS_kexec_file_load
	{"kexec_file_load", SYS_kexec_file_load, {-1, -1, 0, 0}},
#endif
#ifdef SYS_iopl
	{"iopl", SYS_iopl, {-1}},
	{"ioperm", SYS_ioperm, {-1, 0, 1}},
	{"modify_ldt", SYS_modify_ldt, {-1}},
#endif
};

enum { CALLS = sizeof(calls) / sizeof(*calls) };

static int errno_of(const struct call *call)
{
	const long *a = call->arguments;
	return syscall(call->number, a[0], a[1], a[2], a[3], 0) < 0 ? errno : 0;
}

/* Returns the first call that is not refused, from 1 on. */
static int call_all(void)
{
	install();
	for (int i = 0; i < CALLS; i++)
		if (errno_of(&calls[i]) != EPERM)
			return i + 1;
	return 0;
}

static int call_all_without(void)
{
	int other = 0;
	for (int i = 0; i < CALLS; i++)
		other += errno_of(&calls[i]) != EPERM;
	return other;
}

Test(engine_filter, what_no_engine_needs_is_refused)
{
	int i = engine_filter_in_child(call_all);
	cr_assert(eq(int, i, 0), "%s", i > 0 && i <= CALLS ? calls[i - 1].name : "no filter");
	/* Without the filter many give another error, also if this user has no rights. */
	cr_assert(gt(int, engine_filter_in_child(call_all_without), CALLS / 3));
}

static long clone_with(unsigned long flags)
{
	return syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
}

static int make_namespaces(void)
{
	static const unsigned long flags[] = {CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID,
					      CLONE_NEWNET, CLONE_NEWIPC};
	install();
	for (unsigned i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		long pid = clone_with(flags[i]);
		if (pid == 0)
			_exit(0);
		if (pid > 0 || errno != EPERM)
			return (int)i + 1;
	}
	/* A call whose arguments the filter cannot read fails as if it did not exist. */
	return syscall(SYS_clone3, NULL, 0) < 0 && errno == ENOSYS ? 0 : 99;
}

Test(engine_filter, a_process_with_namespaces_of_its_own_cannot_be_made)
{
	cr_assert(eq(int, engine_filter_in_child(make_namespaces), 0));
}

static void *see(void *errno_out)
{
	*(int *)errno_out = errno_of(&calls[0]);
	return NULL;
}

struct early {
	pthread_mutex_t gate;
	int seen;
};

static void *wait_and_see(void *context)
{
	struct early *early = context;
	(void)pthread_mutex_lock(&early->gate);
	(void)see(&early->seen);
	return NULL;
}

/* A standby has such threads of a driver. */
static int with_an_early_thread(void)
{
	struct early early = {.gate = PTHREAD_MUTEX_INITIALIZER, .seen = 0};
	pthread_t thread;
	(void)pthread_mutex_lock(&early.gate);
	if (pthread_create(&thread, NULL, wait_and_see, &early) != 0)
		return 1;
	install();
	(void)pthread_mutex_unlock(&early.gate);
	(void)pthread_join(thread, NULL);
	return early.seen == EPERM ? 0 : 2;
}

Test(engine_filter, threads_that_were_there_before_have_it_too)
{
	cr_assert(eq(int, engine_filter_in_child(with_an_early_thread), 0));
}

/* PoCL runs `ld` for each kernel, and drivers start threads. */
static int threads_and_programs(void)
{
	char *arguments[] = {"true", NULL};
	char *environment[] = {NULL};
	pthread_t thread;
	pid_t pid;
	int seen = 0, status = -1;
	install();
	if (pthread_create(&thread, NULL, see, &seen) != 0 || pthread_join(thread, NULL) != 0 ||
	    seen != EPERM)
		return 1;
	if (posix_spawnp(&pid, "true", NULL, NULL, arguments, environment) != 0 ||
	    waitpid(pid, &status, 0) != pid)
		return 2;
	return status == 0 ? 0 : 3;
}

Test(engine_filter, threads_and_programs_can_be_started)
{
	cr_assert(eq(int, engine_filter_in_child(threads_and_programs), 0));
}

static bool child_is_refused(long pid)
{
	if (pid == 0)
		_exit(0);
	return pid < 0 && errno == EPERM;
}

static int no_processes(void)
{
	char *words[] = {"true", NULL};
	pthread_t thread;
	int seen = 0;
	install();
	if (engine_filter_forbid_processes() < 0)
		return 100;
	if (pthread_create(&thread, NULL, see, &seen) != 0 || pthread_join(thread, NULL) != 0 ||
	    seen != EPERM)
		return 1;
	if (!child_is_refused(clone_with(0)) ||
	    !child_is_refused(clone_with(CLONE_VM | CLONE_VFORK)))
		return 2;
	if (!child_is_refused(fork()))
		return 3;
	if (execve("/proc/none", words, words) == 0 || errno != EPERM)
		return 4;
	if (syscall(SYS_execveat, -1, "none", words, words, 0) == 0 || errno != EPERM)
		return 5;
	/* The first filter is still in force. */
	return errno_of(&calls[0]) == EPERM && syscall(SYS_clone3, NULL, 0) < 0 && errno == ENOSYS
		       ? 0
		       : 6;
}

Test(engine_filter, the_stricter_one_leaves_threads_and_no_processes)
{
	cr_assert(eq(int, engine_filter_in_child(no_processes), 0));
}

/* A thread that existed before, like a driver's. */
static void *wait_and_fork(void *context)
{
	struct early *early = context;
	(void)pthread_mutex_lock(&early->gate);
	early->seen = child_is_refused(clone_with(0));
	return NULL;
}

static int early_thread_forks(void)
{
	struct early early = {.gate = PTHREAD_MUTEX_INITIALIZER, .seen = 0};
	pthread_t thread;
	(void)pthread_mutex_lock(&early.gate);
	if (pthread_create(&thread, NULL, wait_and_fork, &early) != 0)
		return 1;
	install();
	if (engine_filter_forbid_processes() < 0)
		return 100;
	(void)pthread_mutex_unlock(&early.gate);
	(void)pthread_join(thread, NULL);
	return early.seen ? 0 : 2;
}

Test(engine_filter, the_stricter_one_holds_for_threads_that_were_there_before)
{
	cr_assert(eq(int, engine_filter_in_child(early_thread_forks), 0));
}
