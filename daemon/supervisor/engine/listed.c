#include "engine/listed.h"

#include "account/claims.h"
#include "base/log.h"
#include "engine/succession.h"
#include "service/engine_state.h"
#include "service/open_sessions.h"
#include "service/supervisor.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

static struct succession *succession_of(const struct engine *engine)
{
	return engine->tenant->supervisor->succession;
}

static void log_failure_once(struct succession *succession, int r)
{
	if (r < 0 && r != -EBADF && !succession->list_has_failed)
		log_warning("service",
			    "the list of open sessions for the next service cannot be written: %s",
			    strerror(-r));
	succession->list_has_failed |= r < 0;
}

void engine_list_session(struct engine *engine, uint64_t session)
{
	struct succession *succession = succession_of(engine);
	int r = open_sessions_add(&succession->open, session, (uint32_t)engine->pid);
	log_failure_once(succession, r);
	if (r == 0 || !engine->sessions_listed)
		return;
	engine->sessions_listed = false;
	succession_write_now(engine->tenant->supervisor);
	/* The written state says that this engine's sessions are all listed. The next service would
	 * refuse the engine for the one that is not. */
	if (succession->has_failed)
		(void)open_sessions_set_valid(&succession->open, false);
}

void engine_unlist_session(struct engine *engine, uint64_t session)
{
	struct succession *succession = succession_of(engine);
	log_failure_once(succession, open_sessions_remove(&succession->open, session));
}

static bool is_of_another_engine(void *context, uint64_t session, uint32_t pid)
{
	const struct engine *engine = context;
	(void)session;
	return pid != (uint32_t)engine->pid;
}

void engine_unlist_sessions(struct engine *engine)
{
	struct succession *succession = succession_of(engine);
	log_failure_once(succession,
			 open_sessions_filter(&succession->open, is_of_another_engine, engine));
}

bool engine_may_return_with(const struct engine *engine, uint64_t session)
{
	return !engine->sessions_listed ||
	       open_sessions_has(&succession_of(engine)->open, session, (uint32_t)engine->pid);
}

static bool has_returned_or_is_of_another(void *context, uint64_t session, uint32_t pid)
{
	struct engine *engine = context;
	return pid != (uint32_t)engine->pid || engine_session(engine, session);
}

void engine_settle_list(struct engine *engine)
{
	struct succession *succession = succession_of(engine);
	const struct session *session;
	bool all = succession->open.is_open;
	(void)open_sessions_filter(&succession->open, has_returned_or_is_of_another, engine);
	TAILQ_FOREACH (session, &engine->sessions, link)
		all = open_sessions_add(&succession->open, session->id, (uint32_t)engine->pid) ==
			      0 &&
		      all;
	engine->sessions_listed = all;
}
