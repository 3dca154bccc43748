/* Lines of one user's engines go into the log up to a bound. The engines share it, whatever their
 * number and the length of their lines. */
#include "engine/log.h"

#include "cleanup.h"
#include "base/log.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	LINES_MOST = ENGINE_LOG_WINDOW_BYTES / ENGINE_LOG_LINE_COST,
	SAID_BYTES = 32768,
	ROUNDS = 64
};

static uv_loop_t loop;
static FILE *written; /* standard error */

TestSuite(engine_log, .timeout = 60);

static void open_log(void)
{
	written = tmpfile();
	cr_assert(ne(ptr, written, NULL));
	cr_assert(eq(int, dup2(fileno(written), STDERR_FILENO), STDERR_FILENO));
	cr_assert(eq(int, uv_loop_init(&loop), 0));
}

/* The interval does not end during the test. */
static struct engine_log_window endless_window(void)
{
	return (struct engine_log_window){.until_ms = UINT64_MAX, .room = ENGINE_LOG_WINDOW_BYTES};
}

/* An engine prints "a" in very many lines and ends. Its socket takes only a part of that. */
static void shout(struct engine_log_window *window, const char *whose)
{
	static char said[SAID_BYTES];
	int ours = -1, theirs = -1;
	for (size_t i = 0; i < sizeof(said); i++)
		said[i] = i % 2 ? '\n' : 'a';
	cr_assert(eq(int, engine_log_pair(&ours, &theirs), 0));
	struct engine_log *log = engine_log_open(&loop, ours, whose, window);
	cr_assert(ne(ptr, log, NULL));
	for (int i = 0; i < ROUNDS; i++) {
		ssize_t count = write(theirs, said, sizeof(said));
		(void)count; /* full: the rest is lost */
		(void)uv_run(&loop, UV_RUN_NOWAIT);
	}
	close_fd(&theirs);
	engine_log_finish(log);
	(void)engine_log_free(log);
	(void)uv_run(&loop, UV_RUN_NOWAIT);
}

static unsigned count_of(const char *words)
{
	char line[1024];
	unsigned count = 0;
	rewind(written);
	while (fgets(line, sizeof(line), written))
		count += strstr(line, words) != NULL;
	return count;
}

Test(engine_log, engines_of_one_user_share_a_window_and_a_new_one_gets_no_other)
{
	open_log();
	struct engine_log_window window = endless_window();
	shout(&window, "the first");
	unsigned first = count_of("the first says: a");
	cr_expect(gt(uint, first, 0u));
	cr_expect(le(uint, first, (unsigned)LINES_MOST));
	shout(&window, "the second");
	cr_expect(zero(uint, count_of("the second says: a")));
	cr_expect(eq(uint, count_of("writes more than the log keeps"), 1u),
		  "once, not for each engine");
}

Test(engine_log, another_user_has_a_window_of_its_own)
{
	open_log();
	struct engine_log_window first = endless_window(), second = endless_window();
	shout(&first, "the first");
	shout(&second, "the second");
	cr_expect(gt(uint, count_of("the second says: a"), 0u));
}

Test(engine_log, a_window_that_is_over_is_followed_by_another)
{
	open_log();
	struct engine_log_window window = endless_window();
	shout(&window, "the first");
	window.until_ms = 0;
	shout(&window, "the second");
	cr_expect(gt(uint, count_of("the second says: a"), 0u));
}

/* The last line reports how it ended, also if its user has no room left in the log. */
Test(engine_log, an_assertion_is_seen_though_the_window_is_full)
{
	open_log();
	struct engine_log_window window = {.until_ms = UINT64_MAX, .room = 0};
	int ours = -1, theirs = -1;
	cr_assert(eq(int, engine_log_pair(&ours, &theirs), 0));
	struct engine_log *log = engine_log_open(&loop, ours, "it", &window);
	cr_assert(gt(int, (int)write(theirs, "Assertion x\n", strlen("Assertion x\n")), 0));
	close_fd(&theirs);
	engine_log_finish(log);
	cr_expect(eq(str, (char *)(uintptr_t)engine_log_assertion(log),
		     (char *)(uintptr_t) "Assertion x"));
	cr_expect(zero(uint, count_of("says: Assertion")));
	(void)engine_log_free(log);
	(void)uv_run(&loop, UV_RUN_NOWAIT);
}
