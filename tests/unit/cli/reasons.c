/* The sentences about sessions. */
#include "show/tables.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>

#include <stdio.h>

static Sycl__V1__SessionFacts session = SYCL__V1__SESSION_FACTS__INIT;
static Sycl__V1__SessionPresent present = SYCL__V1__SESSION_PRESENT__INIT;

/* A session of user 1001 whose kernel has run for ten seconds. */
static void reasons_set_up(void)
{
	present.activity = SYCL__V1__SESSION_ACTIVITY__SESSION_ACTIVITY_RUNNING;
	present.running_ns = 10000000000;
	present.used_permille = 1000;
	present.backend = SYCL__V1__BACKEND__BACKEND_OPENCL;
	session.session = 3;
	session.uid = 1001;
	session.phase = SYCL__V1__SESSION_PHASE__SESSION_PHASE_OPEN;
	session.reported = true;
	session.present = &present;
	cr_redirect_stdout();
}

static void must_print(const char *text)
{
	Sycl__V1__SessionFacts *list[] = {&session};
	Sycl__V1__AdminReply reply = SYCL__V1__ADMIN_REPLY__INIT;
	reply.n_sessions = 1;
	reply.sessions = list;
	show_reasons(&reply);
	(void)fputs(".", stdout); /* an empty output could not be compared */
	(void)fflush(stdout);
	cr_assert_stdout_eq_str(text);
}

TestSuite(cli_reasons, .init = reasons_set_up, .timeout = 20);

Test(cli_reasons, a_session_that_runs_has_none)
{
	must_print(".");
}

Test(cli_reasons, a_kernel_without_time_is_behind_others)
{
	present.used_permille = 0;
	must_print("  session 3 has a kernel on the device that has used no time in the last "
		   "second: other commands may be before it (opencl:0)\n.");
}

Test(cli_reasons, a_kernel_that_has_just_begun_is_behind_nothing)
{
	present.used_permille = 0;
	present.running_ns = 1000000000;
	must_print(".");
}

Test(cli_reasons, a_kernel_that_outlives_its_session_is_named_with_what_ends_it)
{
	session.ended = true;
	must_print(
		"  session 3 has ended, and its kernel still runs: the limit orphan_seconds ends "
		"the user's engine, 'syclctl kill --uid 1001' does at once\n.");
}
