/*
 * The engine's turn, run before the loop sleeps. It handles completions of devices and records of
 * clients, then the wake-ups and ends that follow from both. A session is visited only while it is
 * hot. An idle one costs nothing, and an idle engine does not wake up at all.
 */
#include "clock.h"
#include "process/arrival.h"
#include "process/engine.h"
#include "process/turn.h"
#include "session/engine_state.h"
#include "flight_page.h"
#include "session/session.h"
#include "spin_pace.h"

#include <sys/epoll.h>
#include <unistd.h>

#define BELLS_AT_ONCE    64
#define NS_PER_MS        1000000u
#define LOOK_NS          8000u /* time of turns without system calls; a bell waits as long */
#define COUNT_CLIENTS_NS 5000000u
#define TURN_RECORDS                                                                               \
	256u /* of all sessions: then tasks are sent to devices, and completions are reported */

/* Keeps the loop from sleeping; the turn itself is in prepare. */
static void on_loop_idle(uv_idle_t *idle)
{
	(void)idle;
}

/* Timers only wake the loop: the next turn does the work. */
static void on_wake_timer(uv_timer_t *timer)
{
	(void)timer;
}

static uint32_t run_session(struct engine *engine, struct session *session)
{
	if (session_has_nothing(session))
		return 0;
	bool shared = !engine->never_window &&
		      contention_has_others(&engine->contention, session, engine->now_ns);
	uint32_t done = session_turn(session, shared);
	if (done > 0) {
		contention_note(&engine->contention, session, engine->now_ns);
		engine->last_read = session;
		session->read_ns = engine->now_ns;
	}
	return done;
}

static bool session_is_active(const struct engine *engine, const struct session *session)
{
	return session->read_ns != 0 &&
	       engine->now_ns - session->read_ns < CONTENTION_REMEMBERED_NS;
}

/* Counts the active clients from time to time. Their number decides how long each may spin. A
 * client reads its time at the next wait. */
static void review_spinners(struct engine *engine)
{
	uint32_t clients = 0;
	if (!engine->may_spin || engine->now_ns - engine->clients_ns < COUNT_CLIENTS_NS)
		return;
	engine->clients_ns = engine->now_ns;
	for (struct list *link = engine->sessions.next; link != &engine->sessions;
	     link = link->next)
		clients += session_is_active(engine, list_entry(link, struct session, link));
	scheduler_set_clients(engine->scheduler, clients);
	uint32_t spin_ns = (uint32_t)scheduler_client_spin_most_ns(engine->scheduler);
	for (struct list *link = engine->sessions.next; link != &engine->sessions;
	     link = link->next) {
		struct session *session = list_entry(link, struct session, link);
		if (session->header && session->spin_ns != spin_ns) {
			session->spin_ns = spin_ns;
			atomic_store_explicit(&session->header->client_spin_ns, spin_ns,
					      memory_order_relaxed);
		}
	}
}

/* Takes sessions in the order in which they rang, so that records of one program in two sessions
 * are mostly read in the program's order. */
static void take_woken_sessions(struct engine *engine)
{
	while (!list_empty(&engine->woken)) {
		struct list *link = engine->woken.previous;
		list_remove(link);
		list_push_back(engine->hot.next, link);
	}
}

/* A session that had its turn comes last in the next turn, so that no session starves. */
static bool run_sessions(struct engine *engine)
{
	uint32_t records = 0;
	take_woken_sessions(engine);
	const struct list *last = engine->hot.previous;
	struct list *link = &engine->hot, *next = engine->hot.next;
	while (link != last && next != &engine->hot && records < TURN_RECORDS) {
		link = next;
		next = link->next;
		uint32_t done = run_session(engine, list_entry(link, struct session, hot_link));
		records += done;
		if (done == 0)
			continue;
		list_remove(link);
		list_push_back(&engine->hot, link);
		if (engine->hot.next != link)
			scheduler_send_between(engine->scheduler);
	}
	return records > 0;
}

static void send_wakes(struct engine *engine)
{
	while (!list_empty(&engine->notify)) {
		struct session *session =
			list_entry(engine->notify.next, struct session, notify_link);
		list_remove(&session->notify_link);
		session_wake_client(session);
	}
}

static void close_doomed_sessions(struct engine *engine)
{
	while (!list_empty(&engine->doomed))
		session_close(list_entry(engine->doomed.next, struct session, doomed_link));
}

/* Called when groups of held sessions have ended, or enough time has passed. */
static void continue_held_sessions(struct engine *engine)
{
	struct list *next;
	for (struct list *link = engine->held.next; link != &engine->held; link = next) {
		struct session *session = list_entry(link, struct session, hot_link);
		next = link->next;
		if (session_is_held(session))
			continue;
		list_remove(link);
		session_make_hot(session);
	}
}

/* Lets sessions sleep that have nothing to read. False: some sessions have records to read. */
static bool sleep_sessions(struct engine *engine)
{
	struct list *next;
	take_woken_sessions(engine);
	for (struct list *link = engine->hot.next; link != &engine->hot; link = next) {
		next = link->next;
		(void)session_sleep(list_entry(link, struct session, hot_link));
	}
	return list_empty(&engine->hot);
}

static bool sessions_have_more_records(const struct engine *engine)
{
	for (const struct list *link = engine->hot.next; link != &engine->hot; link = link->next) {
		if (list_entry(link, const struct session, hot_link)->has_more_records)
			return true;
	}
	return false;
}

/* Devices' threads write the flight page. A report may wait until the next event. */
static void report_opened_devices(struct engine *engine)
{
	const struct flight_page *page = engine->flight->address;
	uint64_t open = atomic_load_explicit(&page->open_devices, memory_order_relaxed);
	if (open == engine->reported_devices)
		return;
	scheduler_devices_opened(engine->scheduler, open & ~engine->reported_devices);
	engine->reported_devices = open;
	if (engine->observer.devices_opened)
		engine->observer.devices_opened(engine->observer.context, open);
}

/*
 * This report may wait as well: the supervisor polls the devices that engines need from time to
 * time anyway.
 */
static void report_wanted_devices(struct engine *engine)
{
	uint32_t watch;
	if (engine->grants && scheduler_wants_watch(engine->scheduler, &watch) &&
	    engine->observer.wants_device)
		engine->observer.wants_device(engine->observer.context, watch);
}

/* Returns true if the turn has done work. */
static bool run_turn(struct engine *engine)
{
	bool busy = scheduler_progress(engine->scheduler);
	engine->now_ns = scheduler_now_ns(engine->scheduler);
	report_opened_devices(engine);
	review_spinners(engine);
	if (!list_empty(&engine->held))
		continue_held_sessions(engine);
	busy |= run_sessions(engine);
	close_doomed_sessions(engine);
	scheduler_flush(engine->scheduler);
	report_wanted_devices(engine);
	send_wakes(engine);
	return busy;
}

/* True if the next turn must follow at once. That is so if this turn has done work, as replies
 * bring new requests. It is so afterwards while spinning has been useful lately. */
static bool is_worth_spinning(struct engine *engine, bool busy)
{
	uint64_t now = engine->now_ns;
	if (!engine->may_spin)
		return false;
	uint64_t most_ns = scheduler_spin_most_ns(engine->scheduler);
	if (busy) {
		const uint64_t quiet_ns = engine->quiet_since_ns ? now - engine->quiet_since_ns : 0;
		uint64_t *spin_ns = &engine->spin_ns[engine->quiet_is_idle];
		if (quiet_ns > 0)
			*spin_ns = spin_pace_update(*spin_ns, quiet_ns, most_ns);
		if (quiet_ns > most_ns)
			engine_arrival_note(engine, quiet_ns);
		engine->expect_until_ns = 0;
		engine->quiet_since_ns = 0;
		return true;
	}
	if (!engine->quiet_since_ns) {
		engine->quiet_since_ns = now;
		engine->quiet_is_idle = scheduler_idle(engine->scheduler);
	}
	if (engine_arrival_is_due(engine))
		return true;
	if (list_empty(&engine->hot) && scheduler_idle(engine->scheduler))
		return false;
	uint64_t quiet_ns = now - engine->quiet_since_ns;
	return quiet_ns < engine->spin_ns[engine->quiet_is_idle] && quiet_ns < most_ns;
}

/* Sets a timer if tasks wait for admission, as no completion may come that would admit them. */
static void set_fair_queue_timer(struct engine *engine)
{
	uint64_t again_ns = scheduler_again_ns(engine->scheduler);
	if (again_ns == UINT64_MAX)
		return;
	uint64_t now_ns = clock_now_ns(), rest_ns = again_ns > now_ns ? again_ns - now_ns : 0;
	(void)uv_timer_start(&engine->fair_queue_timer, on_wake_timer, rest_ns / NS_PER_MS + 1, 0);
}

static void on_prepare(uv_prepare_t *prepare)
{
	struct engine *engine = prepare->data;
	scheduler_awake(engine->scheduler);
	bool again;
	uint64_t begun_ns = 0;
	/*
	 * A client often sends its next record within a microsecond of a completion, and the loop
	 * takes as long. A short command is complete by the next turn. After a loss there is no
	 * further turn, because it would report failures before the flight page has the cause.
	 */
	do {
		again = is_worth_spinning(engine, run_turn(engine));
		if (begun_ns == 0)
			begun_ns = engine->now_ns;
	} while (again && engine->now_ns - begun_ns < LOOK_NS && !engine_is_lost(engine) &&
		 list_empty(&engine->doomed));

	bool awake = again || sessions_have_more_records(engine);
	if (!awake)
		awake = !sleep_sessions(engine);
	/* Falling asleep may have moved replies, and a violation may have been found. */
	send_wakes(engine);
	awake |= !list_empty(&engine->doomed);
	if (!awake && pool_is_large(&engine->groups))
		awake = pool_trim_idle(&engine->groups, clock_now_ns());
	/* From here on devices wake this thread. Before, a wake-up would have been useless. */
	if (!awake)
		awake = !scheduler_sleep(engine->scheduler);
	if (!awake && !list_empty(&engine->held))
		(void)uv_timer_start(&engine->held_timer, on_wake_timer,
				     READ_AHEAD_HELD_NS / 1000000, 0);
	if (!awake) {
		set_fair_queue_timer(engine);
		engine_arrival_sleep(engine);
	}
	if (awake)
		(void)uv_idle_start(&engine->busy, on_loop_idle);
	else
		(void)uv_idle_stop(&engine->busy);
	if (engine_finished(engine))
		uv_stop(&engine->loop);
}

/* A device's thread has messages, which the next turn takes, or the engine has to stop. */
static void on_engine_bell(struct engine *engine)
{
	if (atomic_load(&engine->wanted) &&
	    atomic_exchange(&engine->wanted, 0) & ENGINE_WANTED_STOP)
		engine_stop(engine, 0);
}

static void on_bells(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	struct engine *engine = poll->data;
	struct epoll_event rung[BELLS_AT_ONCE];
	int count;
	do {
		count = epoll_wait(engine->bells, rung, BELLS_AT_ONCE, 0);
		for (int i = 0; i < count; i++)
			if (!rung[i].data.ptr)
				on_engine_bell(engine);
			else if (rung[i].data.ptr == engine)
				engine_arrival_due(engine);
			else
				session_make_hot(rung[i].data.ptr);
	} while (count == BELLS_AT_ONCE);
}

void engine_turn_start(struct engine *engine)
{
	(void)uv_prepare_start(&engine->prepare, on_prepare);
	(void)uv_poll_start(&engine->bells_poll, UV_READABLE, on_bells);
}

/*
 * Edge-triggered and never read: a peer could make a read of a shared eventfd block. The engine's
 * own bell is one, too. A uv_async_t would wait until the thread that sent has left the call, and
 * the wake-up may have taken that thread's processor.
 */
int engine_add_bell(struct engine *engine, int bell, struct session *session)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.ptr = session};
	return epoll_ctl(engine->bells, EPOLL_CTL_ADD, bell, &event) < 0 ? -errno : 0;
}

void engine_remove_bell(struct engine *engine, int bell)
{
	(void)epoll_ctl(engine->bells, EPOLL_CTL_DEL, bell, NULL);
}
