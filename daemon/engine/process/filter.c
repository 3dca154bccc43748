#include "process/filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FINDS_LEAKS
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define FINDS_LEAKS
#endif

/* On x86-64 the same calls have other numbers for programs with short pointers. */
#define X32_NUMBERS 0x40000000u
#define NEW_NAMESPACES                                                                             \
	((uint32_t)(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |  \
		    CLONE_NEWPID | CLONE_NEWNET))

/* The flags that make a child a thread of this process. AddressSanitizer reads this process from a
 * child that no tracer follows. */
#ifdef FINDS_LEAKS
#define NO_PROCESS ((uint32_t)(CLONE_THREAD | CLONE_UNTRACED))
#else
#define NO_PROCESS ((uint32_t)CLONE_THREAD)
#endif

enum { REFUSED_MAX = 64, PROGRAM_MAX = REFUSED_MAX + 16 };

static const uint16_t refused[] = {
#ifndef FINDS_LEAKS /* AddressSanitizer finds leaks as a tracer. */
	SYS_ptrace,
#endif
	SYS_process_vm_readv,
	SYS_process_vm_writev,
	SYS_kcmp,
	SYS_mount,
	SYS_umount2,
	SYS_pivot_root,
	SYS_chroot,
	SYS_open_tree,
	SYS_move_mount,
	SYS_fsopen,
	SYS_fsconfig,
	SYS_fsmount,
	SYS_fspick,
	SYS_unshare,
	SYS_setns,
	SYS_add_key,
	SYS_request_key,
	SYS_keyctl,
	SYS_bpf,
	SYS_perf_event_open,
	SYS_userfaultfd,
	SYS_io_uring_setup,
	SYS_io_uring_enter,
	SYS_io_uring_register,
	SYS_init_module,
	SYS_finit_module,
	SYS_delete_module,
	SYS_kexec_load,
	SYS_swapon,
	SYS_swapoff,
	SYS_reboot,
	SYS_acct,
	SYS_quotactl,
	SYS_syslog,
	SYS_fanotify_init,
	SYS_open_by_handle_at,
	SYS_settimeofday,
	SYS_clock_settime,
	SYS_adjtimex,
	SYS_clock_adjtime,
	SYS_sethostname,
	SYS_setdomainname,
#ifdef SYS_mount_setattr
	SYS_mount_setattr,
#endif
#ifdef SYS_kexec_file_load
	SYS_kexec_file_load,
#endif
#ifdef SYS_iopl
	SYS_iopl,
	SYS_ioperm,
	SYS_modify_ldt,
#endif
};

/* Used if no driver needs another process. clone has its flags in a register; clone3 is refused
 * already. */
static const uint16_t refused_processes[] = {
#ifdef SYS_fork
	SYS_fork,
	SYS_vfork,
#endif
	SYS_execve,
	SYS_execveat,
};

enum {
	REFUSED = sizeof(refused) / sizeof(*refused),
	REFUSED_PROCESSES = sizeof(refused_processes) / sizeof(*refused_processes)
};

_Static_assert((int)REFUSED <= (int)REFUSED_MAX, "each has its instruction");

struct program {
	struct sock_filter code[PROGRAM_MAX];
	unsigned short length;
};

static void program_add(struct program *program, struct sock_filter instruction)
{
	program->code[program->length++] = instruction;
}

static void program_load(struct program *program, uint32_t offset)
{
	program_add(program, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset));
}

static void program_answer(struct program *program, int error)
{
	program_add(program, (struct sock_filter)BPF_STMT(
				     BPF_RET | BPF_K, error ? SECCOMP_RET_ERRNO | (uint32_t)error
							    : SECCOMP_RET_ALLOW));
}

/* Compares the loaded value. Returns at once if the value is equal (`if_so` true) or not equal
 * (`if_so` false). */
static void program_answer_if(struct program *program, bool if_so, uint16_t comparison,
			      uint32_t value, int error)
{
	const struct sock_filter jump =
		BPF_JUMP(BPF_JMP | comparison | BPF_K, value, if_so ? 0 : 1, if_so ? 1 : 0);
	program_add(program, jump);
	program_answer(program, error);
}

/* Refuses the listed calls. The number of the call is loaded. */
static void refuse_listed(struct program *program, const uint16_t *calls, unsigned count)
{
	/* Jumps over the rest of the list, and its return. */
	for (unsigned i = 0; i < count; i++) {
		const struct sock_filter jump =
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i], (uint8_t)(count - i), 0);
		program_add(program, jump);
	}
	const struct sock_filter past = BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0);
	program_add(program, past);
	program_answer(program, EPERM);
}

/* Only clone goes on. Then the lower half of its first argument is loaded: all flags are there, and
 * both kinds of processors put that half first. */
static void load_clone_flags(struct program *program)
{
	const struct sock_filter is_clone = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0);
	program_add(program, is_clone);
	program_answer(program, 0);
	program_load(program, offsetof(struct seccomp_data, args[0]));
}

#ifdef OWN_ARCHITECTURE
static void program_make(struct program *program)
{
	program_load(program, offsetof(struct seccomp_data, arch));
	program_answer_if(program, false, BPF_JEQ, OWN_ARCHITECTURE, EPERM);
	program_load(program, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
	program_answer_if(program, true, BPF_JGE, X32_NUMBERS, EPERM);
#endif
	program_answer_if(program, true, BPF_JEQ, SYS_clone3, ENOSYS);
	refuse_listed(program, refused, REFUSED);
	load_clone_flags(program);
	program_answer_if(program, true, BPF_JSET, NEW_NAMESPACES, EPERM);
	program_answer(program, 0);
}

/* Other kinds of calls are refused by the first filter: the kernel applies both. */
static void program_make_processes(struct program *program)
{
	program_load(program, offsetof(struct seccomp_data, nr));
	refuse_listed(program, refused_processes, REFUSED_PROCESSES);
	load_clone_flags(program);
	program_answer_if(program, true, BPF_JSET, NO_PROCESS, 0);
	program_answer(program, EPERM);
}

static int program_install(struct program *program, unsigned long flags)
{
	struct sock_fprog whole = {.len = program->length, .filter = program->code};
	long r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags | SECCOMP_FILTER_FLAG_TSYNC,
			 &whole);
	if (r < 0)
		return -errno;
	return r > 0 ? -ESRCH : 0; /* a thread has a filter of its own */
}

/* A kernel with filters reads the program, and there is none. */
static bool kernel_has_filters(void)
{
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, NULL) < 0 &&
	       errno == EFAULT;
}

static bool is_filtered; /* written before any code of the user runs */

int engine_filter_install(void)
{
	struct program program = {.length = 0};
	program_make(&program);
	int r = program_install(&program, 0);
	if ((r == -EINVAL || r == -ENOSYS) && !kernel_has_filters())
		return -ENOSYS;
	is_filtered = r == 0;
	return r;
}

bool engine_filter_is_installed(void)
{
	return is_filtered;
}

/* A driver that forks is an honest one: what is hostile calls the kernel. */
static void log_fork(void)
{
	static const char text[] =
		"sycl-engine: a library tried to start a process, which is refused here. If a "
		"driver needs it, set 'filter = basic' in [isolation] of sycld.conf\n";
	static atomic_flag is_logged = ATOMIC_FLAG_INIT;
	if (!atomic_flag_test_and_set(&is_logged))
		(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
}

int engine_filter_forbid_processes(void)
{
	struct program program = {.length = 0};
	/* Later errors are never taken for a kernel without filters: code in this process may have
	 * caused them. */
	if (!is_filtered)
		return -ENOSYS;
	program_make_processes(&program);
	int r = program_install(&program, SECCOMP_FILTER_FLAG_LOG);
	if (r == -EINVAL) /* before Linux 4.14 */
		r = program_install(&program, 0);
	if (r == -ENOSYS)
		r = -EINVAL;
	/* Without memory for it only the sentence in the log is missing. */
	if (r == 0)
		(void)pthread_atfork(log_fork, NULL, NULL);
	return r;
}
#else
int engine_filter_install(void)
{
	return -ENOSYS;
}

int engine_filter_forbid_processes(void)
{
	return -ENOSYS;
}

bool engine_filter_is_installed(void)
{
	return false;
}
#endif
