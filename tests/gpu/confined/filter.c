/* The unit's filters of system calls. The kernel asks all filters of a process and takes the
 * strictest answer, so each setting has a filter of its own. */
#include "confined.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

/* On x86-64 the same calls have other numbers for programs with short pointers. */
#define X32_NUMBERS 0x40000000u
#define SET_ID      ((uint32_t)(S_ISUID | S_ISGID))
#define NEW_NAMESPACES                                                                             \
	((uint32_t)(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |  \
		    CLONE_NEWPID | CLONE_NEWNET))
#define REFUSE(error) (SECCOMP_RET_ERRNO | (uint32_t)(error))

/* Short names for the kernel's macros, whose results are read as one instruction each. */
#define LOAD(member)                                                                               \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, member))
#define LOAD_VALUE(index)                                                                          \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS,                                                         \
		 (uint32_t)(offsetof(struct seccomp_data, args) + (index) * sizeof(uint64_t)))
#define IF_EQUAL(value, then, otherwise)                                                           \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), then, otherwise)
#define IF_ANY_BIT(value, then, otherwise)                                                         \
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (uint32_t)(value), then, otherwise)
#define ANSWER(value) BPF_STMT(BPF_RET | BPF_K, (value))

enum { PROGRAM_MAX = 2048 };

struct program {
	struct sock_filter code[PROGRAM_MAX];
	unsigned short length;
};

static void program_add(struct program *program, const struct sock_filter *code, size_t count)
{
	if (program->length + count > PROGRAM_MAX)
		abort();
	memcpy(program->code + program->length, code, count * sizeof(*code));
	program->length = (unsigned short)(program->length + count);
}

#define ADD(program, ...)                                                                          \
	do {                                                                                       \
		const struct sock_filter added[] = {__VA_ARGS__};                                  \
		program_add(program, added, sizeof(added) / sizeof(*added));                       \
	} while (0)

/* Calls of other architectures are the subject of filter_architecture alone. */
static void program_begin(struct program *program)
{
	program->length = 0;
	ADD(program, LOAD(arch), IF_EQUAL(OWN_ARCHITECTURE, 1, 0), ANSWER(SECCOMP_RET_ALLOW),
	    LOAD(nr));
}

static void program_refuse(struct program *program, long call, int error)
{
	ADD(program, IF_EQUAL(call, 0, 1), ANSWER(REFUSE(error)));
}

static int program_install(struct program *program, uint32_t otherwise)
{
	ADD(program, ANSWER(otherwise));
	struct sock_fprog filter = {.len = program->length, .filter = program->code};
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0 ? errno : 0;
}

/* Installs a filter that permits what it does not name. `returned` and errno are of a call that
 * it must refuse. */
static void filter_report(struct setting *setting, int installed, long returned, int error)
{
	if (installed)
		setting_refused(setting, "seccomp", installed);
	else if (returned >= 0 || errno != error)
		setting_refused(setting, "the filter is set and has no effect", errno);
	else
		setting_applied(setting, "by a filter, tried: %s", strerror(error));
}

void filter_architecture(struct confined *confined, struct setting *setting)
{
	struct program program = {.length = 0};
	(void)confined;
	ADD(&program, LOAD(arch), IF_EQUAL(OWN_ARCHITECTURE, 1, 0), ANSWER(REFUSE(EPERM)),
	    LOAD(nr));
	ADD(&program, BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_NUMBERS, 0, 1),
	    ANSWER(REFUSE(EPERM)));
	int installed = program_install(&program, SECCOMP_RET_ALLOW);
	filter_report(setting, installed, syscall((long)X32_NUMBERS + SYS_getpid), EPERM);
}

void filter_families(struct confined *confined, struct setting *setting)
{
	struct program program;
	(void)confined;
	if (strcmp(setting->value, "AF_UNIX") != 0) {
		setting_refused(setting, "confined knows AF_UNIX only", EINVAL);
		return;
	}
	program_begin(&program);
	ADD(&program, IF_EQUAL(SYS_socket, 1, 0), IF_EQUAL(SYS_socketpair, 0, 3), LOAD_VALUE(0),
	    IF_EQUAL(AF_UNIX, 1, 0), ANSWER(REFUSE(EAFNOSUPPORT)));
	int installed = program_install(&program, SECCOMP_RET_ALLOW);
	int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	filter_report(setting, installed, made, EAFNOSUPPORT);
}

/* A filter cannot read the flags of clone3; the C library then uses clone. */
void filter_namespaces(struct confined *confined, struct setting *setting)
{
	struct program program;
	(void)confined;
	program_begin(&program);
	program_refuse(&program, SYS_unshare, EPERM);
	program_refuse(&program, SYS_setns, EPERM);
	program_refuse(&program, SYS_clone3, ENOSYS);
	ADD(&program, IF_EQUAL(SYS_clone, 0, 3), LOAD_VALUE(0), IF_ANY_BIT(NEW_NAMESPACES, 0, 1),
	    ANSWER(REFUSE(EPERM)));
	int installed = program_install(&program, SECCOMP_RET_ALLOW);
	filter_report(setting, installed, unshare(CLONE_NEWUSER), EPERM);
}

void filter_realtime(struct confined *confined, struct setting *setting)
{
	struct program program;
	const struct sched_param lowest = {.sched_priority = 1};
	(void)confined;
	program_begin(&program);
	ADD(&program, IF_EQUAL(SYS_sched_setscheduler, 0, 5), LOAD_VALUE(1),
	    IF_EQUAL(SCHED_OTHER, 3, 0), IF_EQUAL(SCHED_BATCH, 2, 0), IF_EQUAL(SCHED_IDLE, 1, 0),
	    ANSWER(REFUSE(EPERM)));
	int installed = program_install(&program, SECCOMP_RET_ALLOW);
	filter_report(setting, installed, sched_setscheduler(0, SCHED_FIFO, &lowest), EPERM);
}

/* Which value of a call has a mode, and which one says that a file is made (-1: always). */
static const struct {
	long call;
	int mode, flags;
} mode_calls[] = {
#ifdef SYS_chmod
	{SYS_chmod, 1, -1},   {SYS_mkdir, 1, -1},    {SYS_creat, 1, -1},
	{SYS_mknod, 1, -1},   {SYS_open, 2, 1},
#endif
	{SYS_fchmod, 1, -1},  {SYS_fchmodat, 2, -1}, {SYS_mkdirat, 2, -1},
	{SYS_mknodat, 2, -1}, {SYS_openat, 3, 2},
};

void filter_set_id(struct confined *confined, struct setting *setting)
{
	struct program program;
	(void)confined;
	program_begin(&program);
	program_refuse(&program, SYS_openat2, ENOSYS);
	for (size_t i = 0; i < sizeof(mode_calls) / sizeof(*mode_calls); i++) {
		bool asks = mode_calls[i].flags >= 0;
		ADD(&program, IF_EQUAL(mode_calls[i].call, 0, asks ? 6 : 4));
		if (asks)
			ADD(&program, LOAD_VALUE((unsigned)mode_calls[i].flags),
			    IF_ANY_BIT(O_CREAT, 0, 3));
		ADD(&program, LOAD_VALUE((unsigned)mode_calls[i].mode), IF_ANY_BIT(SET_ID, 0, 1),
		    ANSWER(REFUSE(EPERM)), LOAD(nr));
	}
	int installed = program_install(&program, SECCOMP_RET_ALLOW);
	filter_report(setting, installed, chmod(confined->run, 04755), EPERM);
}

void filter_personality(struct confined *confined, struct setting *setting)
{
	struct program program;
	(void)confined;
	program_begin(&program);
	ADD(&program, IF_EQUAL(SYS_personality, 0, 4), LOAD_VALUE(0), IF_EQUAL(0, 2, 0),
	    IF_EQUAL(UINT32_MAX, 1, 0), ANSWER(REFUSE(EPERM)));
	int installed = program_install(&program, SECCOMP_RET_ALLOW);
	filter_report(setting, installed, syscall(SYS_personality, 8ul), EPERM);
}

void filter_clock(struct confined *confined, struct setting *setting)
{
	struct program program;
	(void)confined;
	program_begin(&program);
	program_refuse(&program, SYS_adjtimex, EPERM);
	program_refuse(&program, SYS_clock_adjtime, EPERM);
	program_refuse(&program, SYS_clock_settime, EPERM);
	program_refuse(&program, SYS_settimeofday, EPERM);
	int installed = program_install(&program, SECCOMP_RET_ALLOW);
	filter_report(setting, installed, syscall(SYS_settimeofday, NULL, NULL), EPERM);
}

void filter_host(struct confined *confined, struct setting *setting)
{
	struct program program;
	(void)confined;
	program_begin(&program);
	program_refuse(&program, SYS_sethostname, EPERM);
	program_refuse(&program, SYS_setdomainname, EPERM);
	int installed = program_install(&program, SECCOMP_RET_ALLOW);
	filter_report(setting, installed, syscall(SYS_sethostname, NULL, (size_t)0), EPERM);
}

/* The file has a line for each call: its number and its name. */
void filter_calls(struct confined *confined, struct setting *setting)
{
	struct program program;
	char line[128];
	unsigned count = 0;
	if (!confined->calls) {
		setting_absent(setting, "no list of these calls was made (system_calls.sh)");
		return;
	}
	program_begin(&program);
	while (fgets(line, sizeof(line), confined->calls)) {
		char *end = NULL;
		unsigned long number = strtoul(line, &end, 10);
		if (end == line)
			continue;
		ADD(&program, IF_EQUAL(number, 0, 1), ANSWER(SECCOMP_RET_ALLOW));
		count++;
	}
	(void)fclose(confined->calls);
	int installed = program_install(&program, REFUSE(EPERM));
	filter_report(setting, installed, syscall(SYS_swapoff, NULL), EPERM);
	if (!installed)
		setting_applied(setting, "by a filter that permits %u calls", count);
}

void filter_error_number(struct confined *confined, struct setting *setting)
{
	const struct setting *calls = confined_find(confined, "SystemCallFilter");
	if (calls && strcmp(calls->state, "applied") == 0)
		setting_applied(setting, "by that filter");
	else
		setting_absent(setting, "there is no such filter");
}
