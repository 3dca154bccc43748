/* The object of an engine, and its handles in the loop. The object is freed when its last handle is
 * closed. */
#include "engine/handles.h"

#include "account/claims.h"
#include "base/foreign_socket.h"
#include "cleanup.h"
#include "engine/log.h"
#include "engine/sharing.h"
#include "service/supervisor.h"
#include "service/tenant.h"
#include "memory_region.h"

#include <errno.h>
#include <stdlib.h>

void engine_destroy(struct engine *engine)
{
	engine_claims_fini(&engine->claims);
	(void)memory_region_free(engine->flight);
	engine->log = engine_log_free(engine->log);
	(void)engine_share_free(engine->share);
	foreign_socket_close(&engine->control);
	close_fd(&engine->pidfd);
	free(engine);
}

static void on_engine_handle_closed(uv_handle_t *handle)
{
	struct engine *engine = handle->data;
	if (--engine->open_handles == 0)
		engine_destroy(engine);
}

static void engine_close_handle(uv_handle_t *handle)
{
	if (!uv_is_closing(handle))
		uv_close(handle, on_engine_handle_closed);
}

static void on_control_poll_closed(uv_handle_t *handle)
{
	free(handle);
}

void engine_close_control_poll(struct engine *engine)
{
	if (engine->control_poll)
		uv_close((uv_handle_t *)engine->control_poll, on_control_poll_closed);
	engine->control_poll = NULL;
	engine->control_events = 0;
}

void engine_close_handles(struct engine *engine)
{
	engine_close_control_poll(engine);
	engine->log = engine_log_free(engine->log);
	engine_close_handle((uv_handle_t *)&engine->exit_poll);
	engine_close_handle((uv_handle_t *)&engine->deadline);
	engine_close_handle((uv_handle_t *)&engine->idle);
}

int engine_open_control_poll(struct engine *engine)
{
	uv_poll_t *poll = calloc(1, sizeof(*poll));
	if (!poll)
		return -ENOMEM;
	int r = uv_poll_init(&engine->tenant->supervisor->loop, poll, engine->control);
	if (r < 0) {
		free(poll);
		return r;
	}
	poll->data = engine;
	engine->control_poll = poll;
	return 0;
}

int engine_open_handles(struct engine *engine, uv_loop_t *loop)
{
	int r = uv_poll_init(loop, &engine->exit_poll, engine->pidfd);
	if (r < 0)
		return r;
	engine->open_handles++;
	engine->exit_poll.data = engine;
	(void)uv_timer_init(loop, &engine->deadline);
	(void)uv_timer_init(loop, &engine->idle);
	engine->open_handles += 2;
	engine->deadline.data = engine;
	engine->idle.data = engine;
	return 0;
}

struct engine *engine_new(struct tenant *tenant)
{
	struct engine *engine = calloc(1, sizeof(*engine));
	if (!engine)
		return NULL;
	engine->tenant = tenant;
	engine->pidfd = -1;
	engine->control = -1;
	for (unsigned i = 0; i < CONFIGURATION_LIMITS; i++)
		engine->limits_sent[i] = UINT64_MAX;
	TAILQ_INIT(&engine->waiting);
	TAILQ_INIT(&engine->silent);
	TAILQ_INIT(&engine->sessions);
	return engine;
}

void engine_drop(struct engine *engine)
{
	engine_close_control_poll(engine);
	if (engine->open_handles)
		engine_close_handles(engine);
	else
		engine_destroy(engine);
}
