/* sycld-exporter over its sockets, against a service with the stand-in engine. */
#include "supervisor/harness.h"

#include "cleanup.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(exporter, .timeout = 240);

#define TOKEN "0123456789abcdef0123456789abcdef"

enum { ANSWER_BYTES = 1 << 20, OTHER_UID = 64123, PER_ADDRESS = 16 };

static struct service service;
static int session = -1;
static pid_t exporter;
static uint16_t port;
static char web[HARNESS_PATH_BYTES + 16];
static char answer[ANSWER_BYTES];

static void start_exporter(void)
{
	char token_file[HARNESS_PATH_BYTES + 16], line[32] = "";
	int ends[2];
	(void)snprintf(token_file, sizeof(token_file), "%s/token", service.folder);
	(void)snprintf(web, sizeof(web), "%s/web.sock", service.folder);
	write_file(token_file, TOKEN "\n");
	cr_assert(eq(int, chmod(token_file, 0600), 0));
	cr_assert(eq(int, pipe2(ends, O_CLOEXEC), 0));
	exporter = fork();
	if (exporter == 0) {
		(void)dup2(ends[1], STDOUT_FILENO);
		(void)execl(EXPORTER_PROGRAM, EXPORTER_PROGRAM, "--runtime-dir", service.runtime,
			    "--listen", "127.0.0.1:0", "--unix", web, "--token-file", token_file,
			    NULL);
		_exit(127);
	}
	(void)close(ends[1]);
	FILE *said = fdopen(ends[0], "r");
	cr_assert(fgets(line, sizeof(line), said) && sscanf(line, "port %hu", &port) == 1);
	(void)fclose(said);
}

static void exporter_test_begin(void)
{
	const char *arguments[] = {NULL};
	service_prepare(&service, "double");
	service_start(&service, arguments);
	free(client_open(&service, &session));
	start_exporter();
}

static void exporter_test_end(void)
{
	int status = 0;
	(void)kill(exporter, SIGTERM);
	cr_expect(waitpid(exporter, &status, 0) == exporter && status == 0);
	cr_expect(access(web, F_OK) != 0);
	close_fd(&session);
	if (service.pid)
		(void)service_stop(&service);
	service_free(&service);
}

static int dial(bool local)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	struct sockaddr_in in = {.sin_family = AF_INET,
				 .sin_port = htons(port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(local ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	memcpy(un.sun_path, web, strlen(web) + 1);
	int r = local ? connect(fd, (const struct sockaddr *)&un, sizeof(un))
		      : connect(fd, (const struct sockaddr *)&in, sizeof(in));
	cr_assert(eq(int, r, 0), "%s", strerror(errno));
	return fd;
}

/* Sends the text and reads to the end, into `answer`. Returns the status; 0: the connection closed
 * without one. */
static int exchange(bool local, const char *request)
{
	CLEANUP(close_fd) int fd = dial(local);
	size_t have = 0;
	ssize_t count = send(fd, request, strlen(request), MSG_NOSIGNAL);
	cr_assert(count >= 0 || errno == EPIPE || errno == ECONNRESET);
	while ((count = recv(fd, answer + have, sizeof(answer) - 1 - have, 0)) > 0)
		have += (size_t)count;
	answer[have] = '\0';
	return have > 12 && memcmp(answer, "HTTP/1.1 ", 9) == 0 ? atoi(answer + 9) : 0;
}

static int get(bool local, const char *path, const char *headers)
{
	char request[1024];
	(void)snprintf(request, sizeof(request),
		       "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s\r\n", path,
		       headers);
	return exchange(local, request);
}

static bool says(const char *text)
{
	return strstr(answer, text) != NULL;
}

static bool metrics_say(void *text)
{
	return get(true, "/metrics", "") == 200 && says(text);
}

static void wait_for_metric(const char *text)
{
	cr_assert(wait_until(metrics_say, (void *)(uintptr_t)text), "%s in %s", text, answer);
}

Test(exporter, metrics_have_the_session_and_later_that_the_service_is_gone,
     .init = exporter_test_begin, .fini = exporter_test_end)
{
	wait_for_metric("\nsycld_up 1\n");
	cr_expect(says("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
	cr_expect(says(",state=\"open\"} 1\n"));
	cr_expect(eq(int, get(true, "/metrics", "Accept: application/openmetrics-text\r\n"), 200));
	cr_expect(says("Content-Type: application/openmetrics-text; version=1.0.0"));
	cr_expect(says("\n# EOF\n"));
	close_fd(&session);
	(void)service_stop(&service);
	wait_for_metric("\nsycld_up 0\n");
	cr_expect(not(says("sycld_user")));
}

static bool faults_are_shown(void *text)
{
	return get(true, "/status.json", "") == 200 && says(text);
}

/* A fault has its time, and stays after a restart of the service, which has forgotten it. */
Test(exporter, a_fault_is_shown_with_its_time, .init = exporter_test_begin,
     .fini = exporter_test_end)
{
	static const char listed[] = "\"faults\":[{\"time_ms\":";
	static const char wanted[] = "offender: 'doomed_kernel', group 40 of session 1";
	const char *arguments[] = {NULL};
	wait_for_metric("\nsycld_up 1\n");
	cr_assert(gt(long, (long)send(session, "crash", strlen("crash"), MSG_NOSIGNAL), 0));
	cr_assert(wait_until(faults_are_shown, (void *)(uintptr_t)listed), "%s", answer);
	cr_expect(says(wanted), "%s", answer);
	cr_expect(eq(int, get(false, "/status.json", ""), 200));
	cr_expect(says("\"faults\":[]"), "%s", answer);
	(void)service_stop(&service);
	wait_for_metric("\nsycld_up 0\n");
	service_start(&service, arguments);
	wait_for_metric("\nsycld_up 1\n");
	cr_assert(eq(int, get(true, "/status.json", ""), 200));
	cr_expect(says(listed) && says(wanted), "%s", answer);
}

Test(exporter, over_tcp_only_the_token_shows_users, .init = exporter_test_begin,
     .fini = exporter_test_end)
{
	wait_for_metric("\nsycld_up 1\n");
	cr_expect(eq(int, get(false, "/metrics", ""), 200));
	cr_expect(says("\nsycld_up 1\n") && !says("sycld_user_sessions{"));
	cr_expect(eq(int, get(false, "/status.json", ""), 200));
	cr_expect(says("\"viewer\":\"nobody\"") && says("\"sessions\":[]"));
	cr_expect(eq(int, get(false, "/metrics", "Authorization: Bearer " TOKEN "\r\n"), 200));
	cr_expect(says(",state=\"open\"} 1\n"));
	cr_expect(eq(int, get(false, "/status.json", "Authorization: Bearer " TOKEN "\r\n"), 200));
	cr_expect(says("\"viewer\":\"all\"") && !says("\"sessions\":[]"));
	cr_expect(eq(int, get(false, "/history.json", "Authorization: Bearer " TOKEN "\r\n"), 200));
	cr_expect(eq(int, get(false, "/metrics", "Authorization: Bearer " TOKEN "0\r\n"), 401));
	cr_expect(says("WWW-Authenticate: Bearer"));
}

/* This is the request of a foreign page whose name was made to lead here. */
Test(exporter, a_strange_name_of_the_host_is_refused, .init = exporter_test_begin,
     .fini = exporter_test_end)
{
	cr_expect(eq(int,
		     exchange(false, "GET /status.json HTTP/1.1\r\nHost: evil.example:9477\r\n"
				     "Connection: close\r\n\r\n"),
		     403));
	cr_expect(eq(int,
		     exchange(false, "GET /status.json HTTP/1.1\r\nHost: localhost.evil.example\r\n"
				     "Connection: close\r\n\r\n"),
		     403));
}

Test(exporter, the_page_brings_its_own_rules, .init = exporter_test_begin,
     .fini = exporter_test_end)
{
	cr_assert(eq(int, get(false, "/", ""), 200));
	cr_expect(says("Content-Security-Policy: default-src 'none'; style-src 'sha256-"));
	cr_expect(says("X-Content-Type-Options: nosniff\r\n"));
	cr_expect(says("Cache-Control: no-store\r\n"));
	cr_expect(says("<title>sycld</title>"));
	/* The page contains nothing from outside, and no markup in the names that others chose. */
	static const char *const none[] = {
		"@STYLE@", "@SCRIPT@", "src=", "innerHTML", "insertAdjacent", "https:"};
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		cr_expect(eq(int, says(none[i]), false), "%s", none[i]);
	const char *http = strstr(answer, "http:");
	cr_assert(ne(ptr, (void *)(uintptr_t)http, NULL));
	cr_expect(strncmp(http, "http://www.w3.org/2000/svg\"", 27) == 0 &&
		  !strstr(http + 5, "http:"));
}

Test(exporter, only_small_requests_that_read_are_answered, .init = exporter_test_begin,
     .fini = exporter_test_end)
{
	static char large[64 << 10];
	cr_expect(eq(int,
		     exchange(true, "POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n"
				    "Connection: close\r\n\r\n"),
		     405));
	cr_expect(eq(int, get(true, "/no", ""), 404));
	cr_expect(eq(int, get(true, "/../etc/passwd", ""), 404));
	memset(large, 'a', sizeof(large) - 1);
	memcpy(large, "GET /", 5);
	int status = exchange(true, large);
	cr_expect(status == 414 || status == 431 || status == 400 || status == 0, "%d", status);
	status = exchange(true,
			  "GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello");
	cr_expect(status == 0 || status >= 400, "%d", status);
	status = exchange(true, "\x01\x02 rubbish\r\n\r\n");
	cr_expect(status == 0 || status >= 400, "%d", status);
	cr_expect(eq(int, get(true, "/metrics", ""), 200));
}

static bool connection_is_refused(void *local)
{
	CLEANUP(close_fd) int fd = dial(local != NULL);
	char byte;
	const struct timeval second = {.tv_sec = 1};
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof(second));
	ssize_t count = recv(fd, &byte, 1, 0);
	return count == 0 || (count < 0 && errno == ECONNRESET);
}

Test(exporter, one_address_has_few_connections, .init = exporter_test_begin,
     .fini = exporter_test_end)
{
	int held[PER_ADDRESS];
	for (unsigned i = 0; i < PER_ADDRESS; i++)
		held[i] = dial(false);
	cr_expect(wait_until(connection_is_refused, NULL));
	/* Other clients are still served. */
	cr_expect(eq(int, get(true, "/metrics", ""), 200));
	for (unsigned i = 0; i < PER_ADDRESS; i++)
		close_fd(&held[i]);
}

static bool local_is_answered(void *context)
{
	(void)context;
	return get(true, "/metrics", "") == 200;
}

Test(exporter, one_user_has_few_connections_to_the_unix_socket, .init = exporter_test_begin,
     .fini = exporter_test_end)
{
	int held[PER_ADDRESS];
	for (unsigned i = 0; i < PER_ADDRESS; i++)
		held[i] = dial(true);
	cr_expect(wait_until(connection_is_refused, &held));
	cr_expect(eq(int, get(false, "/metrics", ""), 200));
	for (unsigned i = 0; i < PER_ADDRESS; i++)
		close_fd(&held[i]);
	cr_expect(wait_until(local_is_answered, NULL));
}

/* What a child with another user reads: 0 if it is correct. */
static int other_user_reads(void)
{
	if (setgroups(0, NULL) < 0 || setresgid(OTHER_UID, OTHER_UID, OTHER_UID) < 0 ||
	    setresuid(OTHER_UID, OTHER_UID, OTHER_UID) < 0)
		return 1;
	if (get(true, "/status.json", "") != 200 || !says("\"viewer\":\"user\"") ||
	    !says("\"viewer_uid\":64123") || !says("\"sessions\":[]") || !says("\"tenants\":[]"))
		return 2;
	return get(true, "/metrics", "") == 200 && !says("sycld_user_sessions{") ? 0 : 3;
}

Test(exporter, another_user_sees_rows_of_that_user_only, .init = exporter_test_begin,
     .fini = exporter_test_end)
{
	int status = 0;
	if (geteuid() != 0)
		cr_skip_test("only root can become another user");
	wait_for_metric(",state=\"open\"} 1\n");
	cr_assert(eq(int, chmod(service.folder, 0755), 0));
	pid_t child = fork();
	if (child == 0)
		_exit(other_user_reads());
	cr_assert(waitpid(child, &status, 0) == child);
	cr_expect(eq(int, status, 0));
}

/* Holds all connections that a user may have over loopback, until the pipe ends. */
static void other_user_holds(int ready, int until)
{
	int held[PER_ADDRESS];
	char byte;
	if (setresuid(OTHER_UID, OTHER_UID, OTHER_UID) < 0)
		_exit(1);
	for (unsigned i = 0; i < PER_ADDRESS; i++)
		held[i] = dial(false);
	bool is_refused = wait_until(connection_is_refused, NULL);
	if (!is_refused || write(ready, "", 1) != 1)
		_exit(2);
	(void)!read(until, &byte, 1);
	for (unsigned i = 0; i < PER_ADDRESS; i++)
		close_fd(&held[i]);
	_exit(0);
}

/* Prometheus is a user of its own, and comes from the same address. */
Test(exporter, one_user_does_not_lock_others_out_over_loopback, .init = exporter_test_begin,
     .fini = exporter_test_end)
{
	int ready[2], until[2], status = 0;
	char byte;
	if (geteuid() != 0)
		cr_skip_test("only root can become another user");
	cr_assert(pipe2(ready, O_CLOEXEC) == 0 && pipe2(until, O_CLOEXEC) == 0);
	pid_t child = fork();
	if (child == 0) {
		(void)close(until[1]);
		other_user_holds(ready[1], until[0]);
	}
	close_fd(&ready[1]);
	cr_assert(eq(long, (long)read(ready[0], &byte, 1), 1L));
	cr_expect(eq(int, get(false, "/metrics", ""), 200));
	close_fd(&until[1]);
	cr_assert(waitpid(child, &status, 0) == child);
	cr_expect(zero(int, status));
	close_fd(&ready[0]);
	close_fd(&until[0]);
}

Test(exporter, no_address_beyond_loopback_without_a_token)
{
	struct outcome outcome = run_program(
		0, (const char *const[]){EXPORTER_PROGRAM, "--listen", "0.0.0.0:0", NULL});
	cr_expect(eq(int, outcome.status, 1));
	cr_expect(strstr(outcome.error, "needs a token") != NULL);
	outcome_free(&outcome);
}
