/*
 * Whose process a number is, also where /proc hides the processes of other users: then the kernel's
 * answer to a signal distinguishes those from processes that do not exist.
 */
#include "process_uids.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

enum { USER = 65534, NO_PROCESS = 4194304, CANNOT = 77 }; /* above the most that there can be */

TestSuite(process_uids, .timeout = 20);

Test(process_uids, of_a_process_that_is_shown)
{
	cr_expect(zero(int, process_has_uid(getpid(), geteuid())));
	cr_expect(eq(int, process_has_uid(getpid(), geteuid() + 1), -ESRCH));
	cr_expect(eq(int, process_has_uid(NO_PROCESS, geteuid()), -ENOENT));
}

/* As a user to whom /proc shows that user's own processes only. The number of the failed check. */
static int ask_as_user(pid_t root)
{
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("proc", "/proc", "proc", 0, "hidepid=2") < 0)
		return CANNOT;
	if (setgroups(0, NULL) < 0 || setresgid(USER, USER, USER) < 0 ||
	    setresuid(USER, USER, USER) < 0)
		return CANNOT;
	if (process_has_uid(root, USER) != -ESRCH)
		return 1;
	if (process_has_uid(NO_PROCESS, USER) != -ENOENT)
		return 2;
	return process_has_uid(0, USER) == -ENOENT ? 0 : 3;
}

Test(process_uids, a_hidden_process_is_anothers)
{
	int status;
	if (geteuid() != 0)
		cr_skip_test("SKIPPED: hiding processes needs root");
	pid_t root = getpid(), child = fork();
	if (child == 0)
		_exit(ask_as_user(root));
	cr_assert(eq(int, waitpid(child, &status, 0), child));
	if (WEXITSTATUS(status) == CANNOT)
		cr_skip_test("SKIPPED: /proc cannot be mounted here");
	cr_expect(zero(int, WEXITSTATUS(status)));
}
