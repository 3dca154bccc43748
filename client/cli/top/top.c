#include "top/top.h"

#include "connection.h"
#include "json.h"
#include "protocol_limits.h"
#include "top/screen.h"
#include "words/filter.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { TIMEOUT_MS = 2000, MESSAGE_BYTES = 512, SECOND_MS = 1000 };

static int64_t top_now_ms(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * SECOND_MS + now.tv_nsec / 1000000;
}

static int top_ask(const struct top_words *words, struct answer *answer_out,
		   char message_out[MESSAGE_BYTES])
{
	Sycl__V1__AdminRequest request = SYCL__V1__ADMIN_REQUEST__INIT;
	Sycl__V1__StatusQuery query = SYCL__V1__STATUS_QUERY__INIT;
	request.protocol = PROTOCOL_VERSION;
	request.body_case = SYCL__V1__ADMIN_REQUEST__BODY_STATUS;
	request.status = &query;
	int r = service_request(words->runtime_directory, &request, TIMEOUT_MS, answer_out,
				message_out, MESSAGE_BYTES);
	if (r == 0)
		filter_apply(&cli_filter, answer_out->reply);
	return r;
}

static int top_complain(int r, const char *message)
{
	(void)fprintf(stderr, "syclctl: %s\n", message);
	return r;
}

static bool print_line(const Sycl__V1__AdminReply *reply)
{
	json_t *status = json_of_status(reply);
	if (!status)
		return false;
	bool printed = json_dumpf(status, stdout, JSON_COMPACT | JSON_DIGITS) == 0;
	json_decref(status);
	return printed && putchar('\n') != EOF && fflush(stdout) == 0;
}

static int run_json(const struct top_words *words)
{
	char message[MESSAGE_BYTES];
	for (;;) {
		struct answer answer;
		int r = top_ask(words, &answer, message);
		if (r < 0)
			return top_complain(r, message);
		bool printed = print_line(answer.reply);
		answer_free(&answer);
		if (!printed)
			return top_complain(-EIO, "the answer could not be written");
		struct timespec pause = {.tv_sec = words->seconds ? words->seconds : 1};
		(void)nanosleep(&pause, NULL);
	}
}

/* Handles keys until the next answer is due. False: the user has ended the program. */
static bool handle_keys(struct top_view *view, struct answer *answer, const char *note,
			bool *is_paused, unsigned seconds)
{
	int64_t due_ms = top_now_ms() + (int64_t)seconds * SECOND_MS;
	for (;;) {
		int64_t left_ms = due_ms - top_now_ms();
		if (!*is_paused && left_ms <= 0)
			return true;
		switch (top_screen_key(view, *is_paused ? -1 : (int)left_ms)) {
		case TOP_KEY_QUIT:
			return false;
		case TOP_KEY_PAUSE:
			*is_paused = !*is_paused;
			break;
		case TOP_KEY_DRAW:
			/* A new filter may show rows that this answer no longer has. */
			if (!*is_paused && view->word[0] == '\0')
				due_ms = top_now_ms();
			break;
		case TOP_KEY_NONE:
			continue;
		}
		top_arrange(view, answer->reply);
		top_screen_draw(answer->reply, view, note, *is_paused);
	}
}

static int run_screen(const struct top_words *words, struct answer *answer)
{
	struct top_view view = {.sort = TOP_BY_USED};
	char message[MESSAGE_BYTES];
	const char *note = NULL;
	bool is_paused = false;
	for (;;) {
		top_arrange(&view, answer->reply);
		top_screen_draw(answer->reply, &view, note, is_paused);
		if (!handle_keys(&view, answer, note, &is_paused,
				 words->seconds ? words->seconds : 1))
			return 0;
		struct answer next;
		/* While a service restarts, the last answer stays on the screen, with a note. */
		note = top_ask(words, &next, message) < 0 ? message : NULL;
		if (note)
			continue;
		answer_free(answer);
		*answer = next;
	}
}

int top_run(const struct top_words *words)
{
	struct answer answer;
	char message[MESSAGE_BYTES];
	if (words->json)
		return run_json(words);
	int r = top_ask(words, &answer, message);
	if (r < 0)
		return top_complain(r, message);
	if (top_screen_open()) {
		r = run_screen(words, &answer);
		top_screen_close();
	} else {
		r = top_complain(-ENOTTY,
				 "top needs a terminal; 'top --json' writes an object a line");
	}
	answer_free(&answer);
	return r;
}
