#include "order/drain.h"

#include "clock.h"
#include "connection.h"
#include "protocol_limits.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#define SECOND_NS 1000000000ull
#define PAUSE_NS  200000000ull

enum { ANSWER_MS = 2000, MESSAGE_BYTES = 512 };
enum { STATUS_DRAINED = 0, STATUS_FAILED = 1, STATUS_NO_SERVICE = 3, STATUS_LEFT = 4 };

/* Returns how many of the sessions are left, or a negative errno with a message. */
static int count_sessions(const char *runtime_directory, const Sycl__V1__OrderCommand *drain,
			  char message[MESSAGE_BYTES])
{
	Sycl__V1__SessionsQuery query = SYCL__V1__SESSIONS_QUERY__INIT;
	Sycl__V1__AdminRequest request = SYCL__V1__ADMIN_REQUEST__INIT;
	struct answer answer;
	int count = 0;
	request.protocol = PROTOCOL_VERSION;
	request.body_case = SYCL__V1__ADMIN_REQUEST__BODY_SESSIONS;
	request.sessions = &query;
	int r = service_request(runtime_directory, &request, ANSWER_MS, &answer, message,
				MESSAGE_BYTES);
	if (r < 0)
		return r;
	for (size_t i = 0; i < answer.reply->n_sessions; i++)
		count += !drain->of_user || answer.reply->sessions[i]->uid == drain->uid;
	answer_free(&answer);
	return count;
}

int drain_wait(const char *runtime_directory, const Sycl__V1__OrderCommand *drain,
	       uint64_t timeout_seconds)
{
	char message[MESSAGE_BYTES];
	uint64_t until_ns =
		timeout_seconds ? clock_now_ns() + timeout_seconds * SECOND_NS : UINT64_MAX;
	(void)fflush(stdout);
	for (;;) {
		int count = count_sessions(runtime_directory, drain, message);
		if (count == 0)
			return STATUS_DRAINED;
		if (count < 0) {
			(void)fprintf(stderr, "syclctl: %s\n", message);
			return count == -ENOENT ? STATUS_NO_SERVICE : STATUS_FAILED;
		}
		if (clock_now_ns() >= until_ns) {
			(void)fprintf(stderr, "syclctl: %d session%s left\n", count,
				      count == 1 ? " is" : "s are");
			return STATUS_LEFT;
		}
		const struct timespec pause = {.tv_nsec = PAUSE_NS};
		(void)nanosleep(&pause, NULL);
	}
}
