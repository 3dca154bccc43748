/* A service's answer to the first packet, and the program's error for it: M11, the codes that no
 * other test here causes. */
#include "packet.h"
#include "packet_socket.h"
#include "protocol_limits.h"
#include "status.h"
#include "syclclient.h"

#include "session.pb-c.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(greeting, .timeout = 20);

struct service {
	int listener;
	const Sycl__V1__Packet *answer;
};

/* Accepts one connection, reads its packet and answers. */
static void *serve_greeting(void *context)
{
	const struct service *service = context;
	uint8_t hello[4096];
	int socket = accept4(service->listener, NULL, NULL, SOCK_CLOEXEC);
	if (socket < 0)
		return (void *)1;
	struct packet_fds fds = PACKET_FDS_INIT;
	ssize_t bytes = packet_socket_receive(socket, hello, sizeof(hello), &fds, 0);
	packet_fds_close(&fds);
	int sent = message_send(socket, &service->answer->base, NULL, 0, 0);
	(void)close(socket);
	return bytes > 0 && sent >= 0 ? NULL : (void *)2;
}

static sycl_result open_with_answer(const Sycl__V1__Packet *answer)
{
	char folder[] = "/tmp/sycl-greeting.XXXXXX", path[64], endpoint[80];
	struct service service = {.listener = -1, .answer = answer};
	pthread_t thread;
	void *failed = NULL;
	sycl_platform platform = NULL;
	cr_assert(ne(ptr, mkdtemp(folder), NULL));
	(void)snprintf(path, sizeof(path), "%s/s", folder);
	(void)snprintf(endpoint, sizeof(endpoint), "unix:%s", path);
	cr_assert(eq(int, packet_socket_listen(path, 0600, 1, &service.listener), 0));
	cr_assert(eq(int, pthread_create(&thread, NULL, serve_greeting, &service), 0));
	sycl_result result = sycl_platform_open(endpoint, &platform);
	(void)pthread_join(thread, &failed);
	(void)close(service.listener);
	(void)unlink(path);
	(void)rmdir(folder);
	cr_assert(eq(ptr, failed, NULL));
	cr_assert(eq(ptr, platform, NULL));
	return result;
}

Test(greeting, M11_a_service_of_another_protocol_is_told_as_such)
{
	const uint32_t wrong[] = {0, (PROTOCOL_MAJOR + 1) << 16, PROTOCOL_VERSION + 1, UINT32_MAX};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		Sycl__V1__Welcome welcome = SYCL__V1__WELCOME__INIT;
		Sycl__V1__Packet packet = SYCL__V1__PACKET__INIT;
		welcome.protocol = wrong[i];
		packet.body_case = SYCL__V1__PACKET__BODY_WELCOME;
		packet.welcome = &welcome;
		cr_expect(eq(int, open_with_answer(&packet), SYCL_ERROR_VERSION), "protocol %x",
			  wrong[i]);
		cr_expect(ne(ptr, strstr(sycl_get_last_error_text(), "protocol"), NULL));
	}
}

Test(greeting, a_class_or_a_weight_that_there_is_not_is_no_greeting)
{
	const uint32_t wrong[][2] = {{4, 100}, {UINT32_MAX, 100}, {1, 1001}, {1, UINT32_MAX}};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		Sycl__V1__Welcome welcome = SYCL__V1__WELCOME__INIT;
		Sycl__V1__Packet packet = SYCL__V1__PACKET__INIT;
		welcome.protocol = PROTOCOL_VERSION;
		welcome.session_class = (Sycl__V1__SessionClass)wrong[i][0];
		welcome.weight = wrong[i][1];
		packet.body_case = SYCL__V1__PACKET__BODY_WELCOME;
		packet.welcome = &welcome;
		cr_expect(eq(int, open_with_answer(&packet), SYCL_ERROR_CONNECTION_LOST), "%zu", i);
		cr_expect(ne(ptr, strstr(sycl_get_last_error_text(), "class or weight"), NULL));
	}
}

static sycl_result open_ranked(uint32_t class, uint32_t weight, size_t struct_bytes)
{
	struct sycl_open_options options = SYCL_OPEN_OPTIONS_INIT;
	sycl_platform platform = NULL;
	options.struct_bytes = (uint32_t)struct_bytes;
	options.session_class = class;
	options.weight = weight;
	sycl_result result =
		sycl_platform_open_with("unix:/tmp/sycl-greeting.nobody", &options, &platform);
	cr_assert(eq(ptr, platform, NULL));
	return result;
}

/* Before any request there is no session. */
Test(greeting, classes_and_weights_that_there_are_not_are_refused)
{
	const size_t now = sizeof(struct sycl_open_options),
		     first = offsetof(struct sycl_open_options, session_class);
	cr_expect(eq(int, open_ranked(4, 0, now), SYCL_ERROR_INVALID));
	cr_expect(eq(int, open_ranked(0, 1001, now), SYCL_ERROR_INVALID));
	cr_expect(eq(int, open_ranked(0, 0, now - 1), SYCL_ERROR_INVALID));
	cr_expect(eq(int, open_ranked(3, 1000, now), SYCL_ERROR_CONNECTION_LOST));
	cr_expect(eq(int, open_ranked(4, 1001, first), SYCL_ERROR_CONNECTION_LOST),
		  "of the first size they are not read");
	const size_t second = offsetof(struct sycl_open_options, copy_threads);
	cr_expect(eq(int, open_ranked(4, 0, second), SYCL_ERROR_INVALID), "of the second they are");
	cr_expect(eq(int, open_ranked(3, 1000, second), SYCL_ERROR_CONNECTION_LOST));
	static const char *const bad[] = {"0", "1001", "-1", "+5", "12x", "99999999999999999999"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		cr_assert(zero(int, setenv("SYCLD_WEIGHT", bad[i], 1)));
		cr_expect(eq(int, open_ranked(0, 0, now), SYCL_ERROR_INVALID), "%s", bad[i]);
		cr_expect(eq(int, open_ranked(0, 7, now), SYCL_ERROR_CONNECTION_LOST),
			  "the program's word comes first");
	}
	cr_assert(zero(int, setenv("SYCLD_WEIGHT", "1000", 1)));
	cr_expect(eq(int, open_ranked(0, 0, now), SYCL_ERROR_CONNECTION_LOST));
	cr_assert(zero(int, setenv("SYCLD_CLASS", "Latency", 1)));
	cr_expect(eq(int, open_ranked(0, 0, now), SYCL_ERROR_INVALID));
	cr_expect(eq(int, open_ranked(2, 0, now), SYCL_ERROR_CONNECTION_LOST));
	cr_assert(zero(int, setenv("SYCLD_CLASS", "best-effort", 1)));
	cr_expect(eq(int, open_ranked(0, 0, now), SYCL_ERROR_CONNECTION_LOST));
}

/* Opens the endpoint of the environment. The sentence of a failure is sycl_get_last_error_text. */
static sycl_result open_from_environment(const char *endpoint)
{
	sycl_platform platform = NULL;
	cr_assert(zero(int, setenv("SYCLD_ENDPOINT", endpoint, 1)));
	sycl_result result = sycl_platform_open(NULL, &platform);
	if (!result)
		(void)sycl_platform_release(platform);
	return result;
}

Test(greeting, the_environment_s_endpoint_has_the_syntax_and_the_errors_of_the_argument)
{
	static const char *const wrong[] = {"unix", "tcp:host", "embedded", "/run/sycld/session",
					    " unix:/a"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		cr_expect(eq(int, open_from_environment(wrong[i]), SYCL_ERROR_INVALID), "%s",
			  wrong[i]);
		cr_expect(ne(ptr, strstr(sycl_get_last_error_text(), "SYCLD_ENDPOINT"), NULL), "%s",
			  sycl_get_last_error_text());
	}
	cr_expect(eq(int, open_from_environment("unix:/tmp/sycl-greeting.nobody"),
		     SYCL_ERROR_CONNECTION_LOST));
	cr_expect(ne(ptr, strstr(sycl_get_last_error_text(), "/tmp/sycl-greeting.nobody"), NULL));
	/* An empty value counts as none. So the library looks for a service, and none can be
	 * started there. */
	cr_assert(zero(int, setenv("XDG_RUNTIME_DIR", "/proc/self/fdinfo", 1)));
	cr_expect(ne(int, open_from_environment(""), SYCL_ERROR_INVALID), "%s",
		  sycl_get_last_error_text());
}

static sycl_result open_copied(uint32_t threads, uint32_t check, size_t struct_bytes)
{
	struct sycl_open_options options = SYCL_OPEN_OPTIONS_INIT;
	sycl_platform platform = NULL;
	options.struct_bytes = (uint32_t)struct_bytes;
	options.copy_threads = threads;
	options.check = check;
	return sycl_platform_open_with("unix:/tmp/sycl-greeting.nobody", &options, &platform);
}

Test(greeting, numbers_of_copy_threads_that_there_cannot_be_are_refused)
{
	const size_t now = sizeof(struct sycl_open_options),
		     before = offsetof(struct sycl_open_options, copy_threads);
	cr_expect(eq(int, open_copied(17, 0, now), SYCL_ERROR_INVALID));
	cr_expect(eq(int, open_copied(0, 2, now), SYCL_ERROR_INVALID));
	cr_expect(eq(int, open_copied(0, 1, now), SYCL_ERROR_CONNECTION_LOST));
	cr_expect(eq(int, open_copied(16, 0, now), SYCL_ERROR_CONNECTION_LOST));
	cr_expect(eq(int, open_copied(SYCL_COPY_THREADS_NONE, 0, now), SYCL_ERROR_CONNECTION_LOST));
	cr_expect(eq(int, open_copied(17, 2, before), SYCL_ERROR_CONNECTION_LOST),
		  "of the former size they are not read");
	cr_assert(zero(int, setenv("SYCLD_COPY_THREADS", "many", 1)));
	cr_expect(eq(int, open_copied(0, 0, now), SYCL_ERROR_INVALID));
	cr_expect(eq(int, open_copied(17, 2, before), SYCL_ERROR_INVALID),
		  "who says nothing has the environment's");
	cr_expect(eq(int, open_copied(1, 0, now), SYCL_ERROR_CONNECTION_LOST));
	cr_assert(zero(int, setenv("SYCLD_CHECK", "yes", 1)));
	cr_expect(eq(int, open_copied(1, 0, now), SYCL_ERROR_INVALID));
	cr_expect(eq(int, open_copied(1, 1, now), SYCL_ERROR_CONNECTION_LOST));
}

Test(greeting, M11_the_code_of_a_refusal_is_the_results)
{
	const sycl_result codes[] = {SYCL_ERROR_VERSION, SYCL_ERROR_QUOTA, SYCL_ERROR_PLATFORM,
				     SYCL_ERROR_MEMORY_ALLOCATION};
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		Sycl__V1__SessionError error = SYCL__V1__SESSION_ERROR__INIT;
		Sycl__V1__Packet packet = SYCL__V1__PACKET__INIT;
		char text[] = "not today";
		error.code = codes[i];
		error.text = text;
		packet.body_case = SYCL__V1__PACKET__BODY_ERROR;
		packet.error = &error;
		cr_expect(eq(int, open_with_answer(&packet), codes[i]));
		cr_expect(ne(ptr, strstr(sycl_get_last_error_text(), text), NULL));
	}
}

/* Without a ring there is no session, whatever the answer contains. */
Test(greeting, M11_what_is_no_greeting_is_no_service)
{
	Sycl__V1__Welcome welcome = SYCL__V1__WELCOME__INIT;
	Sycl__V1__Packet packet = SYCL__V1__PACKET__INIT;
	Sycl__V1__Hello hello = SYCL__V1__HELLO__INIT;
	packet.body_case = SYCL__V1__PACKET__BODY_HELLO;
	packet.hello = &hello;
	cr_expect(eq(int, open_with_answer(&packet), SYCL_ERROR_CONNECTION_LOST),
		  "what the program itself says");
	welcome.protocol = PROTOCOL_VERSION;
	packet.body_case = SYCL__V1__PACKET__BODY_WELCOME;
	packet.welcome = &welcome;
	cr_expect(eq(int, open_with_answer(&packet), SYCL_ERROR_CONNECTION_LOST), "no descriptors");
}

/* The library is a part of this program, and there is no engine beside that. */
Test(greeting, M11_without_an_engine_that_is_installed_there_is_no_platform)
{
	sycl_platform none = NULL;
	if (access(INSTALLED_ENGINE, F_OK) == 0)
		cr_skip_test("%s is installed", INSTALLED_ENGINE);
	cr_assert(eq(int, sycl_platform_open("embedded:", &none), SYCL_ERROR_PLATFORM));
	cr_assert(ne(ptr, (void *)strstr(sycl_get_last_error_text(), "libsyclengine.so"), NULL));
	cr_assert(eq(ptr, none, NULL));
}
