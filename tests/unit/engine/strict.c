/* When an engine forbids processes, and what it does if it cannot. The tests run in children,
 * because filters cannot be removed. The scheduler is invented. */
#include "process/strict.h"

#include "process/abort.h"
#include "process/engine.h"
#include "process/filter.h"
#include "session/engine_state.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* How a child ends: sycl-engine's own end is 1. */
enum { ENDED = 1, MAY_FORK = 40, MAY_NOT_FORK = 41, NO_FILTER = 100, TEXT_BYTES = 512 };

static struct engine engine;
static char error_text[TEXT_BYTES];

TestSuite(engine_strict, .timeout = 20);

static int discover_error;
static bool needs_no_processes = true;

/* One device like CUDA's. */
int scheduler_discover(struct scheduler *scheduler,
		       const struct scheduler_platform_info **platforms_out,
		       uint32_t *platform_count_out,
		       const struct scheduler_device_info **devices_out, uint32_t *device_count_out)
{
	static struct backend_device_facts facts = {.available = true};
	static const struct scheduler_device_info device = {.facts = &facts};
	(void)scheduler;
	facts.needs_no_processes = needs_no_processes;
	if (discover_error)
		return discover_error;
	*platforms_out = NULL;
	*platform_count_out = 0;
	*devices_out = &device;
	*device_count_out = 1;
	return 0;
}

/* What the flight page gets. */
void engine_abort_record(const char *words)
{
	(void)dprintf(STDERR_FILENO, "page: %s\n", words);
}

static void install_first(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || engine_filter_install() < 0)
		_exit(NO_FILTER);
}

static int strict_open_devices(void)
{
	strict_devices_opened(&engine);
	long pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		_exit(0);
	return pid < 0 && errno == EPERM ? MAY_NOT_FORK : MAY_FORK;
}

/* Runs `child` in a separate process with its standard error in error_text. Returns its result. */
static int strict_in_child(int (*child)(void))
{
	int pipes[2], status = 0;
	ssize_t count, used = 0;
	cr_assert(zero(int, pipe2(pipes, O_CLOEXEC)));
	pid_t pid = fork();
	cr_assert(ge(int, pid, 0));
	if (pid == 0) {
		(void)dup2(pipes[1], STDERR_FILENO);
		_exit(child());
	}
	(void)close(pipes[1]);
	while ((count = read(pipes[0], error_text + used, (size_t)(TEXT_BYTES - 1 - used))) > 0)
		used += count;
	error_text[used] = '\0';
	(void)close(pipes[0]);
	cr_assert(eq(int, waitpid(pid, &status, 0), pid));
	cr_assert(WIFEXITED(status), "ended by signal %d", WTERMSIG(status));
	return WEXITSTATUS(status);
}

static int honest(void)
{
	install_first();
	if (strict_state(&engine) != SYCL__V1__FILTER_STATE__FILTER_STATE_BASIC_START)
		return ENDED;
	int result = strict_open_devices();
	return strict_state(&engine) == SYCL__V1__FILTER_STATE__FILTER_STATE_STRICT ? result
										    : ENDED;
}

Test(engine_strict, processes_are_forbidden_once_devices_are_open)
{
	cr_expect(eq(int, strict_in_child(honest), MAY_NOT_FORK));
	cr_expect(eq(str, error_text, ""));
}

static int with_a_driver_that_forks(void)
{
	needs_no_processes = false;
	install_first();
	int result = strict_open_devices();
	return strict_state(&engine) == SYCL__V1__FILTER_STATE__FILTER_STATE_BASIC_DRIVER ? result
											  : ENDED;
}

static int with_the_setting(void)
{
	engine.options.filter_is_basic = true;
	install_first();
	int result = strict_open_devices();
	return strict_state(&engine) == SYCL__V1__FILTER_STATE__FILTER_STATE_BASIC_SETTING ? result
											   : ENDED;
}

static int without_filters(void)
{
	return strict_state(&engine) == SYCL__V1__FILTER_STATE__FILTER_STATE_NONE ? MAY_FORK
										  : ENDED;
}

Test(engine_strict, reports_say_why_processes_are_not_forbidden)
{
	cr_expect(eq(int, strict_in_child(with_a_driver_that_forks), MAY_FORK));
	cr_expect(eq(int, strict_in_child(with_the_setting), MAY_FORK));
	cr_expect(eq(int, strict_in_child(without_filters), MAY_FORK));
}

/* Two rendezvous: the filter is set, and the thread may end. */
static void *filter_itself(void *rendezvous)
{
	struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog whole = {.len = 1, .filter = code};
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &whole) < 0)
		_exit(NO_FILTER);
	(void)pthread_barrier_wait(rendezvous);
	(void)pthread_barrier_wait(rendezvous);
	return NULL;
}

static int beside_a_filtered_thread(void)
{
	pthread_barrier_t rendezvous;
	pthread_t thread;
	install_first();
	if (pthread_barrier_init(&rendezvous, NULL, 2) != 0 ||
	    pthread_create(&thread, NULL, filter_itself, &rendezvous) != 0)
		return NO_FILTER;
	(void)pthread_barrier_wait(&rendezvous);
	int result = strict_open_devices();
	(void)pthread_barrier_wait(&rendezvous);
	(void)pthread_join(thread, NULL);
	return result;
}

Test(engine_strict, an_engine_ends_if_a_thread_has_a_filter_of_its_own)
{
	cr_expect(eq(int, strict_in_child(beside_a_filtered_thread), ENDED));
	cr_expect(strstr(error_text, "page: cannot forbid processes: a thread has set a filter"),
		  "%s", error_text);
	cr_expect(strstr(error_text, "sycl-engine: cannot forbid processes: a thread"), "%s",
		  error_text);
}

/* All threads' calls of seccomp fail with this error from now on. */
static void answer_seccomp(int error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog whole = {.len = sizeof(code) / sizeof(*code), .filter = code};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &whole) != 0)
		_exit(NO_FILTER);
}

static int refusal;

static int with_a_refused_filter(void)
{
	install_first();
	answer_seccomp(refusal);
	return strict_open_devices();
}

/* EINVAL and ENOSYS are also the answers of a kernel without filters. */
Test(engine_strict, an_engine_ends_if_the_filter_is_refused)
{
	static const int errors[] = {EINVAL, ENOSYS, ENOMEM, EACCES};
	for (unsigned i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		refusal = errors[i];
		cr_expect(eq(int, strict_in_child(with_a_refused_filter), ENDED), "%s",
			  strerror(errors[i]));
		cr_expect(strstr(error_text, "page: cannot forbid processes: "), "%s: \"%s\"",
			  strerror(errors[i]), error_text);
	}
}

Test(engine_strict, an_engine_ends_if_its_devices_cannot_be_listed)
{
	discover_error = -ENOMEM;
	cr_expect(eq(int, strict_in_child(honest), ENDED));
	cr_expect(strstr(error_text, "page: cannot forbid processes: its devices"), "%s",
		  error_text);
}

/* The kernel answers as one without filters, from the start on. */
static int on_an_old_kernel(void)
{
	answer_seccomp(refusal);
	return engine_filter_install() == -ENOSYS ? strict_open_devices() : NO_FILTER;
}

Test(engine_strict, it_goes_on_where_the_kernel_has_no_filters)
{
	static const int errors[] = {EINVAL, ENOSYS};
	for (unsigned i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		refusal = errors[i];
		cr_expect(eq(int, strict_in_child(on_an_old_kernel), MAY_FORK));
		cr_expect(eq(str, error_text, ""));
	}
}

/* The kernel has filters, and does not accept this one. */
static int with_a_bad_start(void)
{
	answer_seccomp(refusal);
	return engine_filter_install() == -refusal ? ENDED : MAY_FORK;
}

Test(engine_strict, the_first_filter_is_needed_where_the_kernel_has_filters)
{
	refusal = ENOMEM;
	cr_expect(eq(int, strict_in_child(with_a_bad_start), ENDED));
}

Test(engine_strict, it_goes_on_where_the_operator_leaves_processes_to_drivers)
{
	engine.options.filter_is_basic = true;
	cr_expect(eq(int, strict_in_child(beside_a_filtered_thread), MAY_FORK));
	cr_expect(eq(str, error_text, ""));
}
