#include "health.h"

#include "users.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct line {
	char *text;
	size_t bytes, length;
};

/* Adds a part to the line. A line without room for the part ends in "...". */
__attribute__((format(printf, 2, 3))) static void line_add(struct line *line, const char *format,
							   ...)
{
	char part[160];
	va_list arguments;
	va_start(arguments, format);
	(void)vsnprintf(part, sizeof(part), format, arguments);
	va_end(arguments);
	size_t room = line->bytes - line->length;
	int wanted =
		snprintf(line->text + line->length, room, "%s%s", line->length ? "; " : "", part);
	if (wanted >= 0 && (size_t)wanted < room)
		line->length += (size_t)wanted;
	else if (line->bytes > sizeof("..."))
		(void)snprintf(line->text + line->bytes - sizeof("..."), sizeof("..."), "...");
}

static void add_service(struct line *line, const Sycl__V1__ServiceFacts *service)
{
	if (service->stopping)
		line_add(line, "the service is stopping");
	if (service->drained)
		line_add(line, "no new session is accepted");
}

static void health_add_devices(struct line *line, const Sycl__V1__AdminReply *reply)
{
	for (size_t i = 0; i < reply->n_devices; i++) {
		const Sycl__V1__KnownDevice *device = reply->devices[i];
		if (device->facts && !device->facts->available)
			line_add(line, "device %u is not available", device->facts->device);
		if (device->facts && device->disputed)
			line_add(line, "engines differ about device %u", device->facts->device);
	}
}

static bool engine_has_failed(const Sycl__V1__EngineFacts *engine)
{
	return engine->last_failure && *engine->last_failure;
}

static void add_engines(struct line *line, const Sycl__V1__AdminReply *reply)
{
	char user[USER_TEXT_BYTES];
	for (size_t i = 0; i < reply->n_engines; i++) {
		const Sycl__V1__EngineFacts *engine = reply->engines[i];
		(void)user_text(engine->uid, user);
		if (engine->state == SYCL__V1__ENGINE_STATE__ENGINE_STATE_NOT_ANSWERING)
			line_add(line, "the engine of %s does not answer", user);
		if (engine->state == SYCL__V1__ENGINE_STATE__ENGINE_STATE_STARTING &&
		    engine_has_failed(engine))
			line_add(line, "the engine of %s restarts after a failure", user);
		if (engine->filter == SYCL__V1__FILTER_STATE__FILTER_STATE_NONE)
			line_add(line, "the engine of %s has no filter of system calls", user);
		if (engine->drained && (i == 0 || reply->engines[i - 1]->uid != engine->uid))
			line_add(line, "%s is drained", user);
	}
}

static void add_sessions(struct line *line, const Sycl__V1__AdminReply *reply)
{
	size_t paused = 0, full = 0, starting = 0;
	for (size_t i = 0; i < reply->n_sessions; i++) {
		const Sycl__V1__SessionFacts *session = reply->sessions[i];
		const Sycl__V1__SessionPresent *present = session->present;
		paused += session->paused ? 1 : 0;
		starting +=
			session->phase == SYCL__V1__SESSION_PHASE__SESSION_PHASE_WAITING ? 1 : 0;
		full += present &&
			present->waits_for == SYCL__V1__SESSION_WAIT__SESSION_WAIT_MEMORY;
	}
	if (paused)
		line_add(line, "%zu session%s paused", paused, paused > 1 ? "s are" : " is");
	if (starting)
		line_add(line, "%zu session%s for an engine", starting,
			 starting > 1 ? "s wait" : " waits");
	if (full)
		line_add(line, "device memory is full: %zu session%s for it", full,
			 full > 1 ? "s wait" : " waits");
}

/* Adds what an operator should know although the service works. */
static void add_notes(struct line *line, const Sycl__V1__AdminReply *reply)
{
	unsigned retired = 0, drivers = 0, settings = 0;
	for (size_t i = 0; i < reply->n_engines; i++) {
		const Sycl__V1__EngineFacts *engine = reply->engines[i];
		retired += engine->retired != SYCL__V1__ENGINE_RETIRED__ENGINE_RETIRED_UNSPECIFIED;
		drivers += engine->filter == SYCL__V1__FILTER_STATE__FILTER_STATE_BASIC_DRIVER;
		settings += engine->filter == SYCL__V1__FILTER_STATE__FILTER_STATE_BASIC_SETTING;
	}
	if (retired)
		line_add(line, "%u engine%s no new sessions", retired,
			 retired > 1 ? "s get" : " gets");
	if (drivers)
		line_add(line, "no strict filter in %u engine%s: a driver needs processes", drivers,
			 drivers > 1 ? "s" : "");
	if (settings)
		line_add(line, "no strict filter in %u engine%s: filter = basic", settings,
			 settings > 1 ? "s" : "");
}

bool health_text(const Sycl__V1__AdminReply *reply, char *text_out, size_t text_bytes)
{
	struct line line = {.text = text_out, .bytes = text_bytes};
	*text_out = '\0';
	add_service(&line, reply->service);
	health_add_devices(&line, reply);
	add_engines(&line, reply);
	add_sessions(&line, reply);
	bool is_healthy = *text_out == '\0';
	if (is_healthy)
		line_add(&line, "healthy");
	add_notes(&line, reply);
	return is_healthy;
}
