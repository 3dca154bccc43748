/* The service never waits for the reader of its log: a pipe, socket or terminal whose reader
 * pauses. */
#include "base/log.h"

#include "cleanup.h"
#include "base/log_queue.h"
#include "base/user_names.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MANY = 20000, TEXT_BYTES = 4 << 20 };

static uv_loop_t loop;
static uv_async_t alive; /* the service's loop is like this: it has other handles */
static int reader = -1;

TestSuite(log, .timeout = 60);

/* Makes `writer` the standard error; only the test reads [0]. */
static void open_log_with(int theirs, int writer)
{
	reader = theirs;
	cr_assert(eq(int, fcntl(reader, F_SETFL, O_NONBLOCK), 0));
	cr_assert(eq(int, dup2(writer, STDERR_FILENO), STDERR_FILENO));
	close_fd(&writer);
	cr_assert(eq(int, uv_loop_init(&loop), 0));
	cr_assert(eq(int, uv_async_init(&loop, &alive, NULL), 0));
	cr_assert(eq(int, log_open(&loop), 0));
}

static void open_pipe(void)
{
	int pair[2];
	cr_assert(eq(int, pipe2(pair, O_CLOEXEC), 0));
	open_log_with(pair[0], pair[1]);
}

/* Reads everything that is available and appends it to the text. */
static void read_more(char *text)
{
	size_t used = strlen(text);
	ssize_t count = 0;
	while ((count = read(reader, text + used, TEXT_BYTES - used - 1)) > 0)
		used += (size_t)count;
	text[used] = '\0';
}

static void write_many(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		log_info("test", "line %u", i);
}

/* Runs the loop and reads until the text ends with these words. */
static void read_until(char *text, const char *words)
{
	for (;;) {
		read_more(text);
		size_t bytes = strlen(text), end = strlen(words);
		if (bytes >= end && strcmp(text + bytes - end, words) == 0)
			return;
		(void)uv_run(&loop, UV_RUN_NOWAIT);
	}
}

/* Returns the text behind the time, which must have its form: "2026-01-31T12:00:00.123Z ". */
static const char *without_time(const char *line)
{
	static const char form[] = "0000-00-00T00:00:00.000Z ";
	for (size_t i = 0; i < sizeof(form) - 1; i++)
		cr_assert(form[i] == '0' ? line[i] >= '0' && line[i] <= '9' : line[i] == form[i],
			  "%s", line);
	return line + sizeof(form) - 1;
}

Test(log, a_known_name_follows_its_uid, .init = open_pipe)
{
	char *text = calloc(1, TEXT_BYTES);
	cr_assert(ne(ptr, text, NULL));
	user_names_keep(1001, "al\nice");
	user_names_keep(1002, "");
	user_names_keep(10010, "bob");
	log_info("test",
		 "pid 3 of uid 1001: (uid 10010, pid 4), uid 1002, uid 77, druid 1001, --uid 1001");
	log_write_with(LOG_LEVEL_INFO, "test", &(struct log_fields){.kind = 4}, "uid 1001: drain");
	read_until(text, "drain\n");
	cr_expect(ne(ptr,
		     strstr(text,
			    "test: pid 3 of uid 1001 (al?ice): (uid 10010 (bob), pid 4), uid 1002, "
			    "uid 77, druid 1001, --uid 1001\n"),
		     NULL),
		  "%s", text);
	cr_expect(ne(ptr, strstr(text, "test: uid 1001 (al?ice): drain\n"), NULL), "%s", text);
	/* Cut where there is no more room. */
	char cut[20];
	user_names_add("pid 3 of uid 10010", cut, sizeof(cut));
	cr_expect(eq(str, cut, "pid 3 of uid 10010 "));
	user_names_add("pid 3 of uid 100100", cut, sizeof(cut));
	cr_expect(eq(str, cut, "pid 3 of uid 100100"));
	free(text);
}

/* Checks lines in order, and gaps that report how many lines they replace; the sum is the number of
 * written lines. */
static void check_lines(char *text, unsigned count)
{
	static const char kept[] = "sycld: test: line ", lost[] = "sycld: log: ";
	unsigned next = 0;
	char *rest = NULL;
	for (char *at = strtok_r(text, "\n", &rest); at; at = strtok_r(NULL, "\n", &rest)) {
		const char *line = without_time(at);
		if (strncmp(line, lost, sizeof(lost) - 1) == 0) {
			next += (unsigned)strtoul(line + sizeof(lost) - 1, NULL, 10);
			continue;
		}
		cr_assert(zero(int, strncmp(line, kept, sizeof(kept) - 1)), "%s", line);
		cr_assert(eq(uint, (unsigned)strtoul(line + sizeof(kept) - 1, NULL, 10), next));
		next++;
	}
	cr_expect(eq(uint, next, count));
}

static void check_paused_reader(void)
{
	CLEANUP(free_pointer) char *text = calloc(1, TEXT_BYTES);
	char last[64];
	cr_assert(ne(ptr, text, NULL));
	int flags = fcntl(STDERR_FILENO, F_GETFL);
	write_many(MANY); /* returns, though no process reads */
	cr_expect(eq(int, fcntl(STDERR_FILENO, F_GETFL), flags),
		  "others have this description, too");
	read_until(text, " keep up\n");
	log_info("test", "line %u", MANY);
	(void)snprintf(last, sizeof(last), "sycld: test: line %u\n", MANY);
	read_until(text, last);
	cr_expect(ne(ptr, strstr(text, " lines are lost here"), NULL));
	check_lines(text, MANY + 1);
}

Test(log, a_pipe_whose_reader_pauses_is_not_waited_for)
{
	open_pipe();
	check_paused_reader();
}

Test(log, a_socket_whose_reader_pauses_is_not_waited_for)
{
	int pair[2];
	cr_assert(eq(int, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0));
	open_log_with(pair[0], pair[1]);
	check_paused_reader();
}

Test(log, a_terminal_that_is_stopped_is_not_waited_for)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
		cr_skip_test("no terminals here");
	int terminal = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	cr_assert(ge(int, terminal, 0));
	open_log_with(master, terminal);
	write_many(MANY);
}

Test(log, lines_are_there_at_once_as_long_as_there_is_room)
{
	char text[256] = "";
	open_pipe();
	log_info("test", "line 0");
	cr_assert(gt(int, (int)read(reader, text, sizeof(text) - 1), 0));
	cr_expect_str_eq(without_time(text), "sycld: test: line 0\n");
}

/* Returns the line that is written with this JOURNAL_STREAM. */
static const char *line_with_stream(unsigned long long device, unsigned long long inode)
{
	static char text[4096];
	char stream[64];
	(void)snprintf(stream, sizeof(stream), "%llu:%llu", device, inode);
	cr_assert(eq(int, setenv("JOURNAL_STREAM", stream, 1), 0));
	log_init();
	log_info("test", "line");
	*text = '\0';
	read_until(text, "line\n");
	return text;
}

/* The variable was inherited from another program and does not apply to this standard error. */
Test(log, lines_are_the_journals_only_where_they_go_to_the_journal)
{
	struct stat facts;
	open_pipe();
	cr_assert(eq(int, fstat(STDERR_FILENO, &facts), 0));
	cr_expect(eq(str, (char *)(uintptr_t)line_with_stream(facts.st_dev, facts.st_ino),
		     "<6>test: line\n"));
	const char *line = line_with_stream(facts.st_dev, facts.st_ino + 1);
	cr_expect(eq(str, (char *)(uintptr_t)without_time(line), "sycld: test: line\n"));
}

Test(log, nothing_is_lost_that_has_room_in_the_queue)
{
	CLEANUP(free_pointer) char *text = calloc(1, TEXT_BYTES);
	cr_assert(ne(ptr, text, NULL));
	open_pipe();
	cr_assert(gt(int, fcntl(reader, F_SETPIPE_SZ, 4096), 0));
	write_many(1000);
	read_until(text, "line 999\n");
	cr_expect(eq(ptr, strstr(text, "lost"), NULL));
	check_lines(text, 1000);
}

Test(log, a_forked_child_writes_by_itself_and_not_what_waits_in_its_parent)
{
	CLEANUP(free_pointer) char *text = calloc(1, TEXT_BYTES);
	cr_assert(ne(ptr, text, NULL));
	open_pipe();
	write_many(MANY);
	read_more(text); /* there is room again */
	*text = '\0';
	pid_t pid = fork();
	if (pid == 0) {
		log_info("child", "is here");
		log_finish();
		_exit(0);
	}
	cr_assert(eq(int, (int)waitpid(pid, NULL, 0), (int)pid));
	read_more(text);
	cr_expect_str_eq(without_time(text), "sycld: child: is here\n");
}

Test(log, the_end_does_not_wait_for_a_reader_that_pauses)
{
	open_pipe();
	write_many(MANY);
	log_finish();
	log_info("test", "nor does what comes after it");
}

Test(log, lines_that_wait_at_the_end_are_written_if_there_is_a_reader)
{
	CLEANUP(free_pointer) char *text = calloc(1, TEXT_BYTES);
	cr_assert(ne(ptr, text, NULL));
	open_pipe();
	cr_assert(gt(int, fcntl(reader, F_SETPIPE_SZ, 4096), 0));
	write_many(160); /* more than the pipe has room for, and less than twice as much */
	read_more(text);
	cr_assert(eq(ptr, strstr(text, "line 159\n"), NULL), "it waits");
	log_finish();
	read_more(text);
	check_lines(text, 160);
}

/* Then it cannot be opened anew. */
Test(log, a_pipe_of_another_user_is_not_waited_for)
{
	if (geteuid() != 0)
		cr_skip_test("only root can become another user");
	int pair[2];
	cr_assert(eq(int, pipe2(pair, O_CLOEXEC), 0));
	cr_assert(eq(int, setresuid(65534, 65534, 65534), 0));
	open_log_with(pair[0], pair[1]);
	check_paused_reader();
}

Test(log, a_reader_that_is_gone_costs_nothing)
{
	(void)signal(SIGPIPE, SIG_IGN);
	open_pipe();
	close_fd(&reader);
	write_many(MANY);
	log_finish();
}
