/* A hostile kernel on the CPU device: native code in the engine, which calls the kernel of the
 * system by itself. Prints "call NAME RESULT" for each call, and "none" where there is no such
 * code for this kind of processor. */
#include "processes/programs/worker.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
/* A row: the number of the call, its first three arguments, the result. A child ends at once. */
static const char source[] =
	"SYCL_KERNEL void calls(SYCL_GLOBAL(long) rows, long forks)\n"
	"{\n"
	"	SYCL_GLOBAL(long) row = rows + 5 * sycl_global_id(0);\n"
	"	long result = row[0], a = row[1], b = row[2], c = row[3];\n"
	"	if ((long)sycl_global_id(0) < forks)\n"
	"		__asm__ volatile(\"xor %%r10d, %%r10d\\n\\txor %%r8d, %%r8d\\n\\tsyscall\\n\\t\"\n"
	"				 \"test %%rax, %%rax\\n\\tjnz 1f\\n\\tmov $231, %%eax\\n\\t\"\n"
	"				 \"xor %%edi, %%edi\\n\\tsyscall\\n1:\"\n"
	"				 : \"+a\"(result), \"+D\"(a) : \"S\"(b), \"d\"(c)\n"
	"				 : \"rcx\", \"r8\", \"r10\", \"r11\", \"memory\");\n"
	"	else\n"
	"		__asm__ volatile(\"xor %%r10d, %%r10d\\n\\txor %%r8d, %%r8d\\n\\tsyscall\"\n"
	"				 : \"+a\"(result), \"+D\"(a) : \"S\"(b), \"d\"(c)\n"
	"				 : \"rcx\", \"r8\", \"r10\", \"r11\", \"memory\");\n"
	"	row[4] = result;\n"
	"}\n";

enum { FORKS = 3, ROW = 5, OWN = -1 };

/* The arguments are wrong wherever the call would otherwise do something. */
static const struct {
	const char *name;
	int64_t words[4];
} calls[] = {
	{"fork", {SYS_fork}},
	{"vfork", {SYS_vfork}},
	{"clone", {SYS_clone, SIGCHLD}},
	{"execve", {SYS_execve}},
	{"execveat", {SYS_execveat, OWN}},
	{"clone3", {SYS_clone3}},
	{"ptrace", {SYS_ptrace, 2}},
	{"process_vm_readv", {SYS_process_vm_readv, 1}},
	{"mount", {SYS_mount}},
	{"unshare", {SYS_unshare, CLONE_NEWUSER}},
	{"keyctl", {SYS_keyctl, 0, -3}},
	{"add_key", {SYS_add_key}},
	{"bpf", {SYS_bpf}},
	{"userfaultfd", {SYS_userfaultfd, 1}},
	{"io_uring_setup", {SYS_io_uring_setup, 1}},
	{"perf_event_open", {SYS_perf_event_open}},
};

enum { CALLS = sizeof(calls) / sizeof(*calls) };

static void run_calls(struct worker *worker, int64_t *rows)
{
	const int64_t forks = FORKS;
	sycl_kernel kernel = worker_kernel(worker, source, "calls");
	sycl_handler handler = NULL;
	sycl_event event = NULL;
	worker_must(sycl_handler_begin(worker->queue, &handler), "sycl_handler_begin");
	worker_must(sycl_handler_set_usm(handler, 0, rows), "sycl_handler_set_usm");
	worker_must(sycl_handler_set_value(handler, 1, sizeof(forks), &forks),
		    "sycl_handler_set_value");
	worker_must(sycl_handler_parallel_for(handler, kernel, sycl_range1(CALLS)),
		    "sycl_handler_parallel_for");
	worker_must(sycl_handler_submit(handler, &event), "sycl_handler_submit");
	worker_must(sycl_event_wait(event), "sycl_event_wait");
	worker_must(sycl_event_release(event), "sycl_event_release");
	worker_must(sycl_kernel_release(kernel), "sycl_kernel_release");
}

int worker_calls(struct worker *worker)
{
	sycl_context context = NULL;
	sycl_device device = NULL;
	void *rows = NULL;
	worker_connect(worker);
	worker_must(sycl_queue_get_context(worker->queue, &context), "sycl_queue_get_context");
	worker_must(sycl_queue_get_device(worker->queue, &device), "sycl_queue_get_device");
	worker_must(sycl_usm_malloc(context, device, SYCL_USM_SHARED, sizeof(int64_t) * ROW * CALLS,
				    0, &rows),
		    "sycl_usm_malloc");
	for (size_t i = 0; i < CALLS; i++)
		memcpy((int64_t *)rows + i * ROW, calls[i].words, sizeof(calls[i].words));
	run_calls(worker, rows);
	for (size_t i = 0; i < CALLS; i++)
		worker_say("call %s %lld", calls[i].name,
			   (long long)((int64_t *)rows)[i * ROW + 4]);
	worker_must(sycl_free(worker->queue, rows), "sycl_free");
	worker_must(sycl_device_release(device), "sycl_device_release");
	worker_must(sycl_context_release(context), "sycl_context_release");
	worker_disconnect(worker);
	worker_say("ok");
	return 0;
}
#else
int worker_calls(struct worker *worker)
{
	(void)worker;
	worker_say("none");
	return 0;
}
#endif
