/*
 * A device's driver can do nothing more in this process (M10, F12): only a new process can. The
 * known facts go into the flight page, which outlives the engine. Then the engine ends, and at the
 * hang-up the supervisor and the clients read the page.
 */
#include "process/lost.h"
#include "process/engine.h"
#include "session/engine_state.h"
#include "flight_page.h"
#include "session/session.h"

#include <string.h>
#include <sys/socket.h>

static void record_loss(struct flight_page *page, enum backend_kind kind,
			const struct backend_fault *fault)
{
	if (atomic_load_explicit(&page->fault.known, memory_order_relaxed))
		return;
	page->fault.backend = (uint32_t)kind;
	page->fault.native_code = fault->native_code;
	/* Zeros follow: the page is fresh, and this is written once. */
	memcpy(page->fault.text, fault->text, strnlen(fault->text, sizeof(page->fault.text) - 1));
	atomic_store_explicit(&page->fault.known, FLIGHT_FAULT_DEVICE, memory_order_release);
}

void engine_lose(struct engine *engine, enum backend_kind kind, const struct backend_fault *fault)
{
	record_loss(engine->flight->address, kind, fault);
	if (!engine->options.in_application) {
		engine->end = ENGINE_END_LOST;
		uv_stop(&engine->loop);
		return;
	}
	/* The process belongs to an application, and continues. Its other devices are given up with
	 * the session. */
	for (struct list *link = engine->sessions.next; link != &engine->sessions;
	     link = link->next) {
		struct session *session = list_entry(link, struct session, link);
		session_cut_off(session, STATUS_DEVICE_LOST, "%s", fault->text);
		session_set_close_policy(session, CLOSE_DROP_ALL);
	}
}

void engine_hang_up(struct engine *engine)
{
	for (struct list *link = engine->sessions.next; link != &engine->sessions;
	     link = link->next)
		(void)shutdown(list_entry(link, struct session, link)->socket, SHUT_RDWR);
}

bool engine_is_lost(const struct engine *engine)
{
	return engine->end == ENGINE_END_LOST;
}
