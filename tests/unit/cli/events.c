/* How `syclctl events` continues after an answer. The service is invented. */
#include "events.h"

#include "connection.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <errno.h>
#include <stdio.h>

enum { QUERIES_MAX = 4, EVENTS_MAX = 2, FAILED = 1 };

/* What the service answers to one query. */
struct script {
	size_t events;
	uint64_t first_number, last;
};

static const struct script *script;
static unsigned script_length, queries;
static uint64_t asked[QUERIES_MAX]; /* `after` of each query */

TestSuite(cli_events, .timeout = 20);

/* Beyond the script the request fails, so that the follower ends. */
int service_request(const char *runtime_directory, const Sycl__V1__AdminRequest *request,
		    int timeout_ms, struct answer *answer_out, char *message_out,
		    size_t message_bytes)
{
	static Sycl__V1__AdminReply reply;
	static Sycl__V1__EventFacts rows[EVENTS_MAX], *list[EVENTS_MAX];
	(void)runtime_directory;
	(void)timeout_ms;
	cr_assert(lt(uint, queries, QUERIES_MAX));
	asked[queries] = request->events->after;
	if (queries++ >= script_length) {
		(void)snprintf(message_out, message_bytes, "the script has ended");
		return -EPROTO;
	}
	const struct script *now = &script[queries - 1];
	sycl__v1__admin_reply__init(&reply);
	for (size_t i = 0; i < now->events; i++) {
		sycl__v1__event_facts__init(&rows[i]);
		rows[i].number = now->first_number + i;
		list[i] = &rows[i];
	}
	reply.events = list;
	reply.n_events = now->events;
	reply.events_last = now->last;
	*answer_out = (struct answer){.reply = &reply};
	return 0;
}

void answer_free(struct answer *answer)
{
	*answer = (struct answer){.reply = NULL};
}

static int follow(const struct script *answers, unsigned count, bool once)
{
	script = answers;
	script_length = count;
	return events_follow(NULL, false, once);
}

/* Without a counter for the user, a service may give kept events and no last number. */
Test(cli_events, events_come_once_although_the_last_number_is_lower)
{
	static const struct script answers[] = {{2, 7, 0}, {0, 0, 0}};
	cr_assert(zero(int, follow(answers, 2, true)));
	cr_assert(eq(uint, queries, 2));
	cr_expect(zero(u64, asked[0]));
	cr_expect(eq(u64, asked[1], 8));
}

Test(cli_events, a_last_number_above_the_events_is_taken)
{
	static const struct script answers[] = {{1, 7, 9}, {0, 0, 9}};
	cr_assert(zero(int, follow(answers, 2, true)));
	cr_assert(eq(uint, queries, 2));
	cr_expect(eq(u64, asked[1], 9));
}

Test(cli_events, a_lower_number_without_events_begins_anew)
{
	static const struct script answers[] = {{1, 300, 300}, {0, 0, 5}};
	cr_assert(eq(int, follow(answers, 2, false), FAILED));
	cr_assert(eq(uint, queries, 3));
	cr_expect(eq(u64, asked[1], 300));
	cr_expect(zero(u64, asked[2]));
}
