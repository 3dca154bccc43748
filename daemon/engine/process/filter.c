#include "process/filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
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

enum { REFUSED = sizeof(refused) / sizeof(*refused) };

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

#ifdef OWN_ARCHITECTURE
/* The lower half of the first argument: all flags of clone are there, and both kinds of processors
 * put that half first. */
static void refuse_namespaces(struct program *program)
{
	program_load(program, offsetof(struct seccomp_data, args[0]));
	program_answer_if(program, true, BPF_JSET, NEW_NAMESPACES, EPERM);
	program_answer(program, 0);
}

static void program_make(struct program *program)
{
	program_load(program, offsetof(struct seccomp_data, arch));
	program_answer_if(program, false, BPF_JEQ, OWN_ARCHITECTURE, EPERM);
	program_load(program, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
	program_answer_if(program, true, BPF_JGE, X32_NUMBERS, EPERM);
#endif
	program_answer_if(program, true, BPF_JEQ, SYS_clone3, ENOSYS);
	/* Jumps over the rest of the list, and its return. */
	for (unsigned i = 0; i < REFUSED; i++) {
		const struct sock_filter jump =
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, refused[i], (uint8_t)(REFUSED - i), 0);
		program_add(program, jump);
	}
	const struct sock_filter past = BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0);
	program_add(program, past);
	program_answer(program, EPERM);
	const struct sock_filter is_clone = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0);
	program_add(program, is_clone);
	program_answer(program, 0);
	refuse_namespaces(program);
}

int engine_filter_install(void)
{
	struct program program = {.length = 0};
	program_make(&program);
	struct sock_fprog whole = {.len = program.length, .filter = program.code};
	long r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &whole);
	if (r < 0)
		return errno == EINVAL ? -ENOSYS : -errno;
	return r > 0 ? -ESRCH : 0; /* a thread has a filter of its own */
}
#else
int engine_filter_install(void)
{
	return -ENOSYS;
}
#endif
