/* 'syclctl top' on a terminal of tmux. The test reads its screen. */
#include "supervisor/harness.h"

#include "cleanup.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SCREEN_BYTES = 65536 };

static struct service service;
static int client = -1;
static char terminal[HARNESS_PATH_BYTES * 2];

static void begin_top(void)
{
	if (access("/usr/bin/tmux", X_OK) != 0)
		cr_skip_test("tmux is not installed");
	service_prepare(&service, "double");
	service_start(&service, NULL);
	CLEANUP(free_pointer) char *facts = client_open(&service, &client);
	cr_assert(ne(ptr, facts, NULL));
	(void)snprintf(terminal, sizeof(terminal), "%s/tmux", service.folder);
	(void)setenv("LC_ALL", "C.UTF-8", 1);
}

static struct outcome tmux(const char *a, const char *b, const char *c, const char *d)
{
	const char *arguments[] = {
		"/usr/bin/tmux", "-S", terminal, "-f", "/dev/null", a, b, c, d, NULL};
	return run_program(0, arguments);
}

static void clean_top(void)
{
	struct outcome killed = tmux("kill-server", NULL, NULL, NULL);
	outcome_free(&killed);
	close_fd(&client);
	cr_assert(eq(int, service_stop(&service), 0));
	service_free(&service);
}

TestSuite(top, .init = begin_top, .fini = clean_top, .timeout = 120);

static void start_top(const char *columns, const char *rows)
{
	char command[HARNESS_PATH_BYTES * 3];
	(void)snprintf(command, sizeof(command), "%s top --runtime-dir %s", SYCLCTL_PROGRAM,
		       service.runtime);
	const char *arguments[] = {"/usr/bin/tmux", "-S", terminal, "-f",    "/dev/null", "-u",
				   "new-session",   "-d", "-x",     columns, "-y",        rows,
				   command,         NULL};
	struct outcome started = run_program(0, arguments);
	cr_assert(eq(int, started.status, 0), "%s", started.error);
	outcome_free(&started);
}

struct wanted {
	const char *text;
	bool is_absent;
	char screen[SCREEN_BYTES];
};

static bool screen_has(void *context)
{
	struct wanted *wanted = context;
	struct outcome capture = tmux("capture-pane", "-p", NULL, NULL);
	(void)snprintf(wanted->screen, sizeof(wanted->screen), "%s", capture.out);
	outcome_free(&capture);
	return (strstr(wanted->screen, wanted->text) == NULL) == wanted->is_absent;
}

static const char *must_come(const char *text)
{
	static struct wanted wanted;
	wanted = (struct wanted){.text = text};
	cr_assert(wait_until(screen_has, &wanted), "no '%s' on:\n%s", text, wanted.screen);
	return wanted.screen;
}

static void must_go(const char *text)
{
	static struct wanted wanted;
	wanted = (struct wanted){.text = text, .is_absent = true};
	cr_assert(wait_until(screen_has, &wanted), "'%s' stays on:\n%s", text, wanted.screen);
}

static void press(const char *keys)
{
	struct outcome sent = tmux("send-keys", keys, NULL, NULL);
	cr_assert(eq(int, sent.status, 0), "%s", sent.error);
	outcome_free(&sent);
}

static bool is_gone(void *context)
{
	(void)context;
	struct outcome asked = tmux("has-session", NULL, NULL, NULL);
	bool gone = asked.status != 0;
	outcome_free(&asked);
	return gone;
}

Test(top, N6_the_present_fits_on_80_columns_and_24_rows)
{
	start_top("80", "24");
	must_come("double_k");
	const char *screen = must_come("q quit");
	cr_expect(ne(ptr, strstr(screen, "health: healthy"), NULL), "%s", screen);
	cr_expect(ne(ptr, strstr(screen, "running"), NULL), "%s", screen);
	cr_expect(ne(ptr, strstr(screen, "25 %"), NULL), "%s", screen);
	cr_expect(ne(ptr, strstr(screen, "8.0 KiB"), NULL), "%s", screen);
	cr_expect(eq(ptr, strstr(screen, "WAIT P50"), NULL), "%s", screen);
	press("q");
	cr_assert(wait_until(is_gone, NULL), "q does not end it");
}

Test(top, N6_a_larger_terminal_shows_more)
{
	struct outcome ordered = run_program(
		0, (const char *const[]){SYCLCTL_PROGRAM, "--runtime-dir", service.runtime, "limit",
					 "share_max=20%", "--all", NULL});
	cr_assert(eq(int, ordered.status, 0), "%s", ordered.error);
	outcome_free(&ordered);
	start_top("160", "40");
	must_come("WAIT P50       P99    SHARE GRANTED");
	must_come("double_kernel");
	must_come("cuda:1");
}

Test(top, N6_keys_sort_filter_and_pause)
{
	start_top("80", "24");
	must_come("sort: used");
	press("s");
	must_come("sort: memory");
	press("r");
	must_come("least first");
	press("/");
	must_come("filter:");
	press("zzz");
	must_come("filter: zzz_");
	press("Enter");
	must_go("double_k");
	press("/");
	press("Escape");
	must_come("double_k");
	press("p");
	must_come("p go on");
	press("p");
	must_come("p pause");
}

Test(top, N6_a_service_that_ends_is_named_and_its_last_answer_stays)
{
	start_top("80", "24");
	must_come("double_k");
	cr_assert(eq(int, service_stop(&service), 0));
	must_come("no service");
	service_start(&service, NULL);
	must_come("health: healthy");
}

Test(top, N6_json_is_an_object_in_each_line)
{
	char command[HARNESS_PATH_BYTES * 3];
	(void)snprintf(command, sizeof(command), "%s top --json --runtime-dir %s | head -n 2",
		       SYCLCTL_PROGRAM, service.runtime);
	const char *arguments[] = {"/bin/sh", "-c", command, NULL};
	struct outcome outcome = run_program(0, arguments);
	char *save = NULL, *line = strtok_r(outcome.out, "\n", &save);
	for (int i = 0; i < 2; i++, line = strtok_r(NULL, "\n", &save)) {
		cr_assert(ne(ptr, line, NULL));
		json_t *parsed = json_loads(line, 0, NULL);
		cr_assert(json_is_object(parsed), "%s", line);
		cr_expect(json_is_array(json_object_get(parsed, "devices_now")));
		json_decref(parsed);
	}
	outcome_free(&outcome);
	const char *plain[] = {SYCLCTL_PROGRAM, "top", "--runtime-dir", service.runtime, NULL};
	outcome = run_program(0, plain);
	cr_expect(eq(int, outcome.status, 1));
	cr_expect(ne(ptr, strstr(outcome.error, "needs a terminal"), NULL), "%s", outcome.error);
	outcome_free(&outcome);
}
