#include "events/events.h"

#include "connection.h"
#include "json.h"
#include "names.h"
#include "protocol_limits.h"
#include "units.h"
#include "users.h"
#include "words/since.h"
#include "words/wrong_word.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PAUSE_NS 250000000ull

enum { ANSWER_MS = 2000, MESSAGE_BYTES = 512, TIME_BYTES = UNIT_TEXT_BYTES + 8 };
enum { STATUS_OK = 0, STATUS_FAILED = 1, STATUS_NO_SERVICE = 3 };

/* Writes "2026-01-31T12:00:00.123Z", and returns text_out. */
static const char *time_text(uint64_t unix_ms, char text_out[TIME_BYTES])
{
	char seconds[UNIT_TEXT_BYTES];
	(void)format_time(unix_ms / 1000, seconds);
	size_t length = strcspn(seconds, "Z");
	(void)snprintf(text_out, TIME_BYTES, "%.*s.%03uZ", (int)length, seconds,
		       (unsigned)(unix_ms % 1000));
	return text_out;
}

/* The name of the event's own user stands before the text. In the text the name of any other user
 * follows "uid N". */
static void print_event_text(const Sycl__V1__EventFacts *event)
{
	static const char sign[] = "uid ";
	const char *text = event->text;
	for (const char *at; (at = strstr(text, sign));) {
		char *end;
		bool is_word = at == event->text || !isalnum((unsigned char)at[-1]);
		unsigned long uid = strtoul(at + strlen(sign), &end, 10);
		is_word = is_word && isdigit((unsigned char)at[strlen(sign)]) && uid < UINT32_MAX;
		const char *name = is_word ? user_name((uint32_t)uid) : NULL;
		(void)printf("%.*s", (int)(end - text), text);
		if (name && !(event->of_user && event->uid == uid))
			(void)printf(" (%s)", name);
		text = end;
	}
	(void)puts(text);
}

static void print_event(const Sycl__V1__EventFacts *event)
{
	char text[TIME_BYTES], user[USER_TEXT_BYTES] = "-";
	if (event->of_user)
		(void)user_text(event->uid, user);
	(void)printf("%s  %-14s  %-14s  ", time_text(event->unix_ms, text),
		     value_name(&sycl__v1__event_kind__descriptor, (int)event->kind), user);
	print_event_text(event);
}

static int events_set_number(json_t *object, const char *key, bool is_known, uint64_t number)
{
	return json_object_set_new(object, key,
				   is_known ? json_integer((json_int_t)number) : json_null());
}

/* False: no memory. */
static bool print_event_json(const Sycl__V1__EventFacts *event)
{
	char text[TIME_BYTES];
	json_t *object = json_object();
	const char *kind = value_name(&sycl__v1__event_kind__descriptor, (int)event->kind);
	int r = events_set_number(object, "number", true, event->number);
	r |= json_object_set_new(object, "time", json_string(time_text(event->unix_ms, text)));
	r |= json_object_set_new(object, "kind", json_string(kind));
	r |= events_set_number(object, "uid", event->of_user, event->uid);
	const char *name = event->of_user ? user_name(event->uid) : NULL;
	r |= json_object_set_new(object, "user", name ? json_string(name) : json_null());
	r |= events_set_number(object, "session", event->session > 0, event->session);
	r |= events_set_number(object, "pid", event->pid > 0, event->pid);
	r |= json_object_set_new(object, "kernel",
				 *event->kernel ? json_string(event->kernel) : json_null());
	r |= json_object_set_new(object, "text", json_string(event->text));
	if (r == 0)
		r = json_dumpf(object, stdout, JSON_COMPACT | JSON_DIGITS);
	(void)putchar('\n');
	json_decref(object);
	return r == 0;
}

/* Returns `after` of the next query. An answer with events never leads below its last event: the
 * same events would come again. */
static uint64_t events_next_number(const Sycl__V1__AdminReply *reply, uint64_t after)
{
	uint64_t last = reply->events_last;
	if (reply->n_events > 0) {
		uint64_t newest = reply->events[reply->n_events - 1]->number;
		return last > newest ? last : newest;
	}
	/* A lower number is from another service, which counts from 1 on. */
	return last < after ? 0 : last;
}

static bool event_is_chosen(const Sycl__V1__EventFacts *event, const struct events_choice *choice)
{
	const struct filter *filter = &choice->filter;
	if ((filter->of_user && !(event->of_user && event->uid == filter->uid)) ||
	    (filter->of_group && !(event->of_user && user_is_in_group(event->uid, filter->gid))) ||
	    (filter->of_session && event->session != filter->session))
		return false;
	return event->unix_ms / 1000 >= choice->since_unix_seconds &&
	       (choice->kind == 0 || (int)event->kind == choice->kind);
}

/* As in the catalog of the journal (systemd/sycld.catalog), by kind. */
static const char *const message_ids[] = {
	[SYCL__V1__EVENT_KIND__EVENT_KIND_ENGINE_STARTED] = "b6d0d0021bd642709280d860d441b7b5",
	[SYCL__V1__EVENT_KIND__EVENT_KIND_ENGINE_ENDED] = "3ee91155fbc7400a8192c96c03a1fd58",
	[SYCL__V1__EVENT_KIND__EVENT_KIND_FAULT] = "aaf637aee4be4e8595f6a9f61d5a6c6f",
	[SYCL__V1__EVENT_KIND__EVENT_KIND_ORDER] = "2a839cd2c78c420f9c83eb73e73709b2",
	[SYCL__V1__EVENT_KIND__EVENT_KIND_SESSION_OPENED] = "7b3cae78564c4cdfab149aad735365df",
	[SYCL__V1__EVENT_KIND__EVENT_KIND_SESSION_CLOSED] = "f0679fc0c0c34de19acd0f46cddec118",
	[SYCL__V1__EVENT_KIND__EVENT_KIND_SPILL] = "7806b88880e94984987b1a8fd1e6c8bd",
};

/* A service that the library has started writes its log into its folder. A user's service that
 * systemd has started writes into that user's journal. */
static void print_place_of_log(const char *runtime_directory, const struct events_choice *choice)
{
	Sycl__V1__VersionQuery query = SYCL__V1__VERSION_QUERY__INIT;
	Sycl__V1__AdminRequest request = SYCL__V1__ADMIN_REQUEST__INIT;
	struct answer answer;
	char path[MESSAGE_BYTES] = "", message[MESSAGE_BYTES], since[UNIT_TEXT_BYTES];
	bool is_own = false;
	request.protocol = PROTOCOL_VERSION;
	request.body_case = SYCL__V1__ADMIN_REQUEST__BODY_VERSION;
	request.version = &query;
	if (service_request(runtime_directory, &request, ANSWER_MS, &answer, message,
			    MESSAGE_BYTES) == 0) {
		const Sycl__V1__ServiceFacts *service = answer.reply->service;
		is_own = service->mode == SYCL__V1__SERVICE_MODE__SERVICE_MODE_USER;
		(void)snprintf(path, sizeof(path), "%s/sycld.log", service->runtime_directory);
		answer_free(&answer);
	}
	if (is_own && access(path, F_OK) == 0) {
		(void)fprintf(stderr, ". Earlier ones are in its log: %s\n", path);
		return;
	}
	/* journalctl takes UTC in this form. */
	(void)format_time(choice->since_unix_seconds, since);
	since[strcspn(since, "T")] = ' ';
	since[strcspn(since, "Z")] = '\0';
	(void)fprintf(stderr, ". The journal has: journalctl %s-u sycld --since '%s UTC'%s%s\n",
		      is_own ? "--user " : "", since, choice->kind ? " MESSAGE_ID=" : "",
		      choice->kind ? message_ids[choice->kind] : "");
}

/* The service keeps events in memory: a restart, or many others, leave none of long ago. Those are
 * in the log. */
static void print_where_older_events_are(const char *runtime_directory,
					 const Sycl__V1__AdminReply *reply,
					 const struct events_choice *choice)
{
	char oldest[UNIT_TEXT_BYTES];
	uint64_t oldest_seconds = reply->n_events > 0 ? reply->events[0]->unix_ms / 1000 : 0;
	if (choice->since_unix_seconds == 0 ||
	    (reply->n_events > 0 && oldest_seconds < choice->since_unix_seconds))
		return;
	(void)fflush(stdout);
	if (reply->n_events > 0)
		(void)fprintf(stderr, "syclctl: the service has no events from before %s",
			      format_time(oldest_seconds, oldest));
	else
		(void)fputs("syclctl: the service has no events", stderr);
	print_place_of_log(runtime_directory, choice);
}

/* Sends one query. Returns the number of events that it brought, or a negative errno with a
 * message. */
static int print_new(const char *runtime_directory, const struct events_choice *choice,
		     bool is_first, uint64_t *after, char message[MESSAGE_BYTES])
{
	Sycl__V1__EventsQuery query = SYCL__V1__EVENTS_QUERY__INIT;
	Sycl__V1__AdminRequest request = SYCL__V1__ADMIN_REQUEST__INIT;
	struct answer answer;
	bool good = true;
	query.after = *after;
	request.protocol = PROTOCOL_VERSION;
	request.body_case = SYCL__V1__ADMIN_REQUEST__BODY_EVENTS;
	request.events = &query;
	int r = service_request(runtime_directory, &request, ANSWER_MS, &answer, message,
				MESSAGE_BYTES);
	if (r < 0)
		return r;
	if (is_first)
		print_where_older_events_are(runtime_directory, answer.reply, choice);
	for (size_t i = 0; i < answer.reply->n_events && good; i++) {
		const Sycl__V1__EventFacts *event = answer.reply->events[i];
		if (!event_is_chosen(event, choice))
			continue;
		if (choice->json)
			good = print_event_json(event);
		else
			print_event(event);
	}
	*after = events_next_number(answer.reply, *after);
	r = (int)answer.reply->n_events;
	answer_free(&answer);
	(void)snprintf(message, MESSAGE_BYTES, "the events could not be written");
	return good && fflush(stdout) == 0 && !ferror(stdout) ? r : -EPIPE;
}

bool events_read(const char *since, const char *kind, time_t now, struct events_choice *choice_out,
		 const char **wrong_out)
{
	*wrong_out = "--since needs a time: yesterday, 2h, 2026-01-31 or '2026-01-31 12:00'";
	choice_out->since_unix_seconds = 0;
	if (since && !since_read(since, now, &choice_out->since_unix_seconds))
		return false;
	choice_out->kind = 0;
	for (int i = 1; kind && i <= SYCL__V1__EVENT_KIND__EVENT_KIND_SPILL; i++)
		if (strcmp(kind, value_name(&sycl__v1__event_kind__descriptor, i)) == 0)
			choice_out->kind = i;
	if (kind && choice_out->kind == 0)
		*wrong_out = wrong_choice("kind of event", kind, EVENT_KINDS);
	return !kind || choice_out->kind > 0;
}

int events_follow(const char *runtime_directory, const struct events_choice *choice)
{
	char message[MESSAGE_BYTES];
	uint64_t after = 0;
	bool was_there = false;
	for (;;) {
		int count = print_new(runtime_directory, choice, !was_there, &after, message);
		/* After a first answer, the service may end, be absent, or start again. */
		bool is_away =
			was_there && (count == -ENOENT || count == -ETIMEDOUT || count == -EIO);
		if (count < 0 && !is_away) {
			(void)fprintf(stderr, "syclctl: %s\n", message);
			return count == -ENOENT ? STATUS_NO_SERVICE : STATUS_FAILED;
		}
		was_there = true;
		if (choice->once && count <= 0)
			return STATUS_OK;
		if (count > 0)
			continue;
		const struct timespec pause = {.tv_nsec = PAUSE_NS};
		(void)nanosleep(&pause, NULL);
	}
}
