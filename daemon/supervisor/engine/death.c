#include "engine/death.h"

#include "engine/engine.h"
#include "flight_page.h"
#include "base/events.h"
#include "base/log.h"
#include "base/text.h"
#include "service/supervisor.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

enum { BLAMED_MAX = 4, BLAME_BYTES = 160, STATUS_BYTES = 320 };

struct blamed {
	uint64_t session; /* 0: the page named one of another engine */
	uint64_t queue;
	uint64_t group;
	char what[FLIGHT_KERNEL_NAME_BYTES];
};

struct blame {
	uint64_t count; /* command groups in flight when the engine died */
	bool aborted;   /* `fault` is why it ended itself, as a failed assertion: no command */
	/* The engine ended itself for the reason `fault`: its device failed, or a command exceeded
	 * its deadline. */
	bool gave_up;
	char fault[FLIGHT_FAULT_TEXT_BYTES];
	struct blamed first[BLAMED_MAX];
};

/* Reads the dead engine's page. Another process may have it from the engine and still write to it.
 * So each word is read once. */
static void death_read_flight_page(const struct flight_page *page, struct blame *blame_out)
{
	*blame_out = (struct blame){.count = 0};
	uint32_t known = atomic_load_explicit(&page->fault.known, memory_order_acquire);
	if (known == FLIGHT_FAULT_DEVICE || known == FLIGHT_FAULT_ABORTED) {
		char fault[FLIGHT_FAULT_TEXT_BYTES + 1];
		memcpy(fault, page->fault.text, FLIGHT_FAULT_TEXT_BYTES);
		fault[FLIGHT_FAULT_TEXT_BYTES] = '\0';
		text_copy_printable(blame_out->fault, sizeof(blame_out->fault), fault);
		blame_out->gave_up = known == FLIGHT_FAULT_DEVICE;
		blame_out->aborted = known == FLIGHT_FAULT_ABORTED;
	}
	for (unsigned i = 0; i < FLIGHT_ENTRIES; i++) {
		const struct flight_entry *entry = &page->entries[i];
		uint64_t session = atomic_load_explicit(&entry->session, memory_order_acquire);
		if (session == 0)
			continue;
		if (blame_out->count < BLAMED_MAX) {
			struct blamed *blamed = &blame_out->first[blame_out->count];
			blamed->session = session;
			blamed->queue = entry->queue;
			blamed->group = entry->group;
			char what[FLIGHT_KERNEL_NAME_BYTES + 1];
			memcpy(what, entry->what, FLIGHT_KERNEL_NAME_BYTES);
			what[FLIGHT_KERNEL_NAME_BYTES] = '\0';
			text_copy_printable(blamed->what, sizeof(blamed->what), what);
		}
		blame_out->count++;
	}
	uint64_t more = atomic_load_explicit(&page->more, memory_order_relaxed);
	if (blame_out->count && more < UINT32_MAX)
		blame_out->count += more;
}

/* True if another engine has the session: this engine's page names it, and cannot have run it. */
static bool death_names_foreign_session(const struct engine *engine, uint64_t id)
{
	const struct tenant *tenant;
	struct engine *other;
	TAILQ_FOREACH (tenant, &engine->tenant->supervisor->tenants, link)
		TAILQ_FOREACH (other, &tenant->engines, link)
			if (other != engine && engine_session(other, id))
				return true;
	return false;
}

static int death_describe_blamed(const struct engine *engine, const struct blamed *blamed,
				 char *text, size_t size)
{
	const struct session *session;
	TAILQ_FOREACH (session, &engine->sessions, link)
		if (session->id == blamed->session)
			break;
	if (blamed->session == 0)
		return snprintf(text, size, "'%s', group %llu, with another engine's session",
				blamed->what, (unsigned long long)blamed->group);
	return snprintf(text, size, "'%s', group %llu of session %llu (pid %ld, %s)", blamed->what,
			(unsigned long long)blamed->group, (unsigned long long)blamed->session,
			session ? (long)session->peer.pid : 0,
			session ? session->peer.command : "gone");
}

static void death_report_fault(const struct engine *engine, const struct blamed *blamed,
			       uint64_t count, const char *text)
{
	struct event event = {.kind = EVENT_FAULT,
			      .has_uid = true,
			      .uid = engine->tenant->uid,
			      .session = blamed->session,
			      .pid = engine->pid};
	(void)snprintf(event.kernel, sizeof(event.kernel), "%s", blamed->what);
	event_report(LOG_LEVEL_WARNING, "engine", event, "pid %ld of uid %lu: %s: %s",
		     (long)engine->pid, (unsigned long)engine->tenant->uid,
		     count == 1 ? "offender" : "suspect", text);
}

static void death_log_blame(const struct engine *engine, const struct blame *blame)
{
	for (uint64_t i = 0; i < blame->count && i < BLAMED_MAX; i++) {
		char text[BLAME_BYTES];
		(void)death_describe_blamed(engine, &blame->first[i], text, sizeof(text));
		death_report_fault(engine, &blame->first[i], blame->count, text);
	}
	if (blame->count > BLAMED_MAX)
		log_warning("engine", "pid %ld: and %llu more suspects", (long)engine->pid,
			    (unsigned long long)(blame->count - BLAMED_MAX));
}

static void death_describe_status(const struct engine *engine, int status, char *text, size_t size)
{
	if (engine->kill_reason[0])
		(void)snprintf(text, size, "was killed: %s", engine->kill_reason);
	else if (!engine->is_child)
		(void)snprintf(
			text, size, "has ended%s",
			engine->stop_requested
				? ""
				: "; an earlier service had started it, so its exit status is not known");
	else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT &&
		 *engine_log_last(engine->log))
		/* The C library prints the reason before the abort: "free(): invalid pointer". */
		(void)snprintf(text, size, "was killed by signal %d (%s) after the line: %.200s",
			       SIGABRT, strsignal(SIGABRT), engine_log_last(engine->log));
	else if (WIFSIGNALED(status))
		(void)snprintf(text, size, "was killed by signal %d (%s)", WTERMSIG(status),
			       strsignal(WTERMSIG(status)));
	else
		(void)snprintf(text, size, "exited with status %d", WEXITSTATUS(status));
}

/*
 * Returns why the engine ended itself, if it did so by abort(), or with a failure after it had
 * written down the reason; else "". No command is blamed then. A tenant that forges such a reason
 * hides only its own commands, because no others run in its engine.
 */
static const char *death_own_words(const struct engine *engine, int wait_status,
				   const struct blame *blame)
{
	if (!engine->is_child || engine->kill_reason[0])
		return "";
	if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) != 0 && blame->aborted)
		return blame->fault;
	if (!WIFSIGNALED(wait_status) || WTERMSIG(wait_status) != SIGABRT)
		return "";
	const char *said = engine_log_assertion(engine->log);
	return *said || !blame->aborted ? said : blame->fault;
}

void engine_death_describe(struct engine *engine, int wait_status, struct engine_death *death_out)
{
	char status[STATUS_BYTES];
	death_describe_status(engine, wait_status, status, sizeof(status));
	struct blame blame = {.count = 0};
	if (!engine->stop_requested && engine->flight)
		death_read_flight_page(engine->flight->address, &blame);
	for (uint64_t i = 0; i < blame.count && i < BLAMED_MAX; i++)
		if (death_names_foreign_session(engine, blame.first[i].session))
			blame.first[i].session = 0;
	const char *words = death_own_words(engine, wait_status, &blame);
	if (*words) {
		(void)snprintf(status, sizeof(status), "aborted by itself: %.300s", words);
		blame.count = 0;
	}
	if (blame.gave_up && engine->kill_reason[0])
		(void)snprintf(status, sizeof(status),
			       "was killed: %.60s, after it had given up: %s", engine->kill_reason,
			       blame.fault);
	else if (blame.gave_up)
		(void)snprintf(status, sizeof(status), "ended itself: %s", blame.fault);
	bool clean = WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0 && engine->was_ready;
	if (!engine->is_child) /* an engine without sessions may end by itself */
		clean = engine->sessions_count == 0 && !engine->kill_reason[0];
	bool abnormal = !engine->stop_requested && (!clean || blame.gave_up);
	*death_out = (struct engine_death){.abnormal = abnormal};
	(void)snprintf(death_out->text, sizeof(death_out->text), "%s", status);
	event_report(abnormal ? LOG_LEVEL_WARNING : LOG_LEVEL_INFO, "engine",
		     (struct event){.kind = EVENT_ENGINE_ENDED,
				    .has_uid = true,
				    .uid = engine->tenant->uid,
				    .pid = engine->pid},
		     "pid %ld of uid %lu %s; sessions: %u", (long)engine->pid,
		     (unsigned long)engine->tenant->uid, status, engine->sessions_count);
	if (!abnormal || !engine->flight)
		return;
	death_log_blame(engine, &blame);
	death_out->offender = blame.count == 1 ? blame.first[0].session : 0;
	char who[BLAME_BYTES];
	if (blame.count == 1 &&
	    death_describe_blamed(engine, &blame.first[0], who, sizeof(who)) > 0)
		(void)snprintf(death_out->text, sizeof(death_out->text), "%.255s; offender: %.159s",
			       status, who);
	else if (blame.count > 1)
		(void)snprintf(death_out->text, sizeof(death_out->text),
			       "%.255s; %llu command groups were in flight", status,
			       (unsigned long long)blame.count);
}
