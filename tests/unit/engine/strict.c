/* When an engine forbids processes, and what it does if it cannot. The tests run in children,
 * because filters cannot be removed. The scheduler is invented. */
#include "process/strict.h"

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

/* One device like CUDA's. */
int scheduler_discover(struct scheduler *scheduler,
		       const struct scheduler_platform_info **platforms_out,
		       uint32_t *platform_count_out,
		       const struct scheduler_device_info **devices_out, uint32_t *device_count_out)
{
	static const struct backend_device_facts facts = {.available = true,
							  .needs_no_processes = true};
	static const struct scheduler_device_info device = {.facts = &facts};
	(void)scheduler;
	*platforms_out = NULL;
	*platform_count_out = 0;
	*devices_out = &device;
	*device_count_out = 1;
	return 0;
}

static void install_first(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || engine_filter_install() < 0)
		_exit(NO_FILTER);
}

static int open_devices(void)
{
	strict_devices_opened(&engine);
	long pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		_exit(0);
	return pid < 0 && errno == EPERM ? MAY_NOT_FORK : MAY_FORK;
}

/* Runs `child` in a separate process with its standard error in error_text. Returns its result. */
static int in_child(int (*child)(void))
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
	(void)close(pipes[0]);
	cr_assert(eq(int, waitpid(pid, &status, 0), pid));
	cr_assert(WIFEXITED(status), "ended by signal %d", WTERMSIG(status));
	return WEXITSTATUS(status);
}

static int honest(void)
{
	install_first();
	return open_devices();
}

Test(engine_strict, processes_are_forbidden_once_devices_are_open)
{
	cr_expect(eq(int, in_child(honest), MAY_NOT_FORK));
	cr_expect(eq(str, error_text, ""));
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
	int result = open_devices();
	(void)pthread_barrier_wait(&rendezvous);
	(void)pthread_join(thread, NULL);
	return result;
}

Test(engine_strict, an_engine_ends_if_a_thread_has_a_filter_of_its_own)
{
	cr_expect(eq(int, in_child(beside_a_filtered_thread), ENDED));
	cr_expect(strstr(error_text, "a thread has set a filter") != NULL, "%s", error_text);
}

Test(engine_strict, it_goes_on_where_the_operator_leaves_processes_to_drivers)
{
	engine.options.filter_is_basic = true;
	cr_expect(eq(int, in_child(beside_a_filtered_thread), MAY_FORK));
	cr_expect(eq(str, error_text, ""));
}
