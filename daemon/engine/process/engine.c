#include "process/engine.h"
#include "process/lost.h"
#include "process/turn.h"
#include "session/engine_state.h"
#include "flight_page.h"
#include "graph/run.h"
#include "processors.h"
#include "command/command.h"
#include "graph/instance.h"
#include "process/arrival.h"
#include "process/deadline.h"
#include "session/hooks.h"
#include "session/session.h"
#include "session/shares.h"
#include "spin_pace.h"
#include "switches.h"
#include "wake.h"

#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define HELLO_TIMEOUT_NS 10000000000ull
#define GROUPS_KEPT      1024u /* kept in any case; pool.h has the rule for more */

static struct session *work_session(struct work *work)
{
	if (work->kind == WORK_GROUP)
		return list_entry(work, struct group, work)->queue->object.session;
	if (work->kind == WORK_GRAPH_NODE)
		return list_entry(work, struct graph_node_run, work)
			->run->group->queue->object.session;
	return list_entry(work, struct host_accessor, work)->object.session;
}

/* What a command has printed goes first, then its end. */
static void on_task_done(void *context, void *owner, struct task *task,
			 const struct task_outcome *outcome)
{
	(void)context;
	struct work *work = owner;
	struct session *session = work_session(work);
	if (outcome->output_bytes > 0 || outcome->output_is_cut)
		reply_output(session, outcome->output, outcome->output_bytes,
			     outcome->output_is_cut);
	if (work->kind == WORK_GROUP) {
		struct group *group = list_entry(work, struct group, work);
		if (group->is_host_task && !outcome->fault.status && task_held(task))
			host_task_granted(group);
		else
			group_done(group, outcome);
	} else if (work->kind == WORK_GRAPH_NODE) {
		(void)graph_node_task_changed(list_entry(work, struct graph_node_run, work), task,
					      outcome);
	} else {
		struct host_accessor *accessor = list_entry(work, struct host_accessor, work);
		host_accessor_done(accessor, outcome);
	}
	session_step(session);
}

/* Only for groups: a node of a graph has no early event. */
static void on_task_early(void *context, void *owner)
{
	(void)context;
	struct group *group = list_entry((struct work *)owner, struct group, work);
	struct session *session = group->queue->object.session;
	host_task_early(group);
	session_step(session);
}

static void on_buffer_freed(void *context, void *owner)
{
	(void)context;
	struct buffer *buffer = owner;
	if (!buffer)
		return; /* a temporary of a graph: it had no data of a client */
	struct session *session = buffer->object.session;
	buffer->sched = NULL;
	object_unref(&buffer->object);
	session_step(session);
}

static void on_program_loaded(void *context, void *owner, struct sched_program *program,
			      const char *kernel_names, const struct backend_fault *fault)
{
	(void)context;
	(void)program;
	struct bundle *bundle = owner;
	struct session *session = bundle->object.session;
	bundle_loaded(bundle, kernel_names, fault);
	session_step(session);
}

static void on_kernel_created(void *context, void *owner, struct sched_kernel *sched,
			      const struct backend_kernel_facts *facts,
			      const struct backend_fault *fault)
{
	(void)context;
	(void)sched;
	struct kernel *kernel = owner;
	struct session *session = kernel->object.session;
	kernel_created(kernel, facts, fault);
	session_step(session);
}

static void on_process_lost(void *context, enum backend_kind kind,
			    const struct backend_fault *fault)
{
	engine_lose(context, kind, fault);
}

static void on_buffer_exported(void *context, void *owner,
			       const struct backend_shared_memory *shared,
			       const struct backend_fault *fault)
{
	(void)context;
	session_step(buffer_exported(owner, shared, fault));
}

static void on_buffer_imported(void *context, void *owner, struct sched_buffer *sched,
			       const struct backend_fault *fault)
{
	(void)context;
	(void)sched;
	session_step(buffer_imported(owner, fault));
}

static void on_event_ready(void *context, void *owner, struct sched_event *sched,
			   const uint8_t *handle, const struct backend_fault *fault)
{
	(void)context;
	(void)sched;
	event_share_ready(owner, handle, fault);
}

static void on_occupancy_known(void *context, void *owner,
			       const struct backend_occupancy *occupancy,
			       const struct backend_fault *fault)
{
	(void)context;
	session_step(occupancy_known(owner, occupancy, fault));
}

static void on_graph_built(void *context, void *owner, struct sched_graph *sched,
			   const struct backend_fault *fault)
{
	(void)context;
	(void)sched;
	session_step(graph_instance_built(owner, fault));
}

static void on_native_answered(void *context, void *owner, uint64_t native,
			       const struct backend_fault *fault)
{
	(void)context;
	session_step(native_answered(owner, native, fault));
}

static void on_usm_ready(void *context, void *owner, void *address,
			 const struct backend_fault *fault)
{
	(void)context;
	session_step(usm_allocated(owner, address, fault));
}

static void on_host_ready(void *context, void *owner, const struct backend_fault *fault)
{
	(void)context;
	session_step(usm_registered(owner, fault));
}

static void on_scheduler_room_wanted(void *context, const uint8_t *uuid, uint64_t bytes,
				     const struct room_figures *figures)
{
	struct engine *engine = context;
	if (engine->observer.room_wanted)
		engine->observer.room_wanted(engine->observer.context, uuid, bytes, figures);
	else
		scheduler_room_answer(engine->scheduler, 0);
}

static void on_scheduler_room_made(void *context, uint64_t request,
				   const struct room_figures *figures)
{
	struct engine *engine = context;
	if (engine->observer.room_made)
		engine->observer.room_made(engine->observer.context, request, figures);
}

static void on_scheduler_spilled(void *context, const struct scheduler_spilled *spilled)
{
	struct engine *engine = context;
	if (engine->observer.spilled)
		engine->observer.spilled(engine->observer.context, spilled);
}

static void wake_front(void *context)
{
	struct engine *engine = context;
	wake_ring_bell(engine->wake);
}

static const struct scheduler_callbacks callbacks = {
	.on_task_done = on_task_done,
	.on_buffer_freed = on_buffer_freed,
	.on_program_loaded = on_program_loaded,
	.on_kernel_created = on_kernel_created,
	.on_buffer_exported = on_buffer_exported,
	.on_buffer_imported = on_buffer_imported,
	.on_event_ready = on_event_ready,
	.on_task_early = on_task_early,
	.on_occupancy = on_occupancy_known,
	.on_graph_built = on_graph_built,
	.on_native = on_native_answered,
	.on_usm_ready = on_usm_ready,
	.on_host_ready = on_host_ready,
	.on_room_wanted = on_scheduler_room_wanted,
	.on_room_made = on_scheduler_room_made,
	.on_spilled = on_scheduler_spilled,
	.wake_front = wake_front,
	.on_process_lost = on_process_lost,
};

static const struct session_hooks session_hooks = {
	.object_kinds = command_object_kinds,
	.run_command = session_command,
	.run_resubmit = command_resubmit,
	.awaits_graph = graph_instance_awaits,
	.needs_dimensions = bundle_needs_dimensions,
	.end_late_builds = bundle_end_late_builds,
	.abandon_host_tasks = command_abandon_host_tasks,
	.arena_ended = graph_instance_arena_ended,
	.add_bell = engine_add_bell,
	.remove_bell = engine_remove_bell,
	.review_deadlines = engine_deadline_review,
};

static int make_flight_page(struct engine *engine)
{
	int r = memory_region_create_published("sycl-flight", sizeof(struct flight_page),
					       &engine->flight);
	if (r < 0)
		return r;
	struct flight_page *page = engine->flight->address;
	page->layout = FLIGHT_LAYOUT;
	page->entry_count = FLIGHT_ENTRIES;
	page->magic = FLIGHT_MAGIC;
	return 0;
}

static int engine_make_loop(struct engine *engine)
{
	int r = uv_loop_init(&engine->loop);
	if (r < 0)
		return r;
	engine->loop_made = true;
	engine->bells = epoll_create1(EPOLL_CLOEXEC);
	if (engine->bells < 0)
		return -errno;
	engine->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (engine->wake < 0)
		return -errno;
	r = engine_add_bell(engine, engine->wake, NULL);
	if (r == 0)
		r = engine_arrival_open(engine);
	if (r < 0)
		return r;
	(void)uv_prepare_init(&engine->loop, &engine->prepare);
	(void)uv_idle_init(&engine->loop, &engine->busy);
	(void)uv_timer_init(&engine->loop, &engine->end_timer);
	(void)uv_timer_init(&engine->loop, &engine->held_timer);
	(void)uv_timer_init(&engine->loop, &engine->fair_queue_timer);
	(void)uv_timer_init(&engine->loop, &engine->deadline_timer);
	engine->prepare.data = engine;
	engine->busy.data = engine;
	engine->end_timer.data = engine;
	engine->held_timer.data = engine;
	engine->fair_queue_timer.data = engine;
	engine->deadline_timer.data = engine;
	r = uv_poll_init(&engine->loop, &engine->bells_poll, engine->bells);
	if (r < 0)
		return r;
	engine->bells_poll.data = engine;
	engine_turn_start(engine);
	return 0;
}

static int make_scheduler(struct engine *engine, const struct engine_options *options)
{
	if (options->cache_directory) {
		engine->cache_directory = strdup(options->cache_directory);
		if (!engine->cache_directory)
			return -ENOMEM;
	}
	struct scheduler_config config = {
		.backends = backend_registry(),
		.cache_directory = engine->cache_directory,
		.backend_options = options->backend_options,
		.never_inline = switch_is_off(SWITCH_INLINE),
		.always_inline = switch_is_on(SWITCH_INLINE_ALL),
		.never_window = engine->never_window,
		.never_fair_queue = engine->never_fair_queue,
		.never_whole = engine->never_express,
		.never_keep_reads = switch_is_off(SWITCH_KEEP_READS),
		.always_stretches = switch_is_on(SWITCH_STRETCH_ALL),
		.never_early = switch_is_off(SWITCH_EARLY),
		.spills = switch_is_on(SWITCH_SPILL) ||
			  (options->spills && !switch_is_off(SWITCH_SPILL)),
		.slice_ns = options->slice_us * 1000u,
		.devices = options->devices,
		.front_polls = engine->may_spin,
		.flight_page = engine->flight->address,
	};
	int r = scheduler_create(&config, &callbacks, engine, &engine->scheduler);
	if (r < 0 || !engine->builds)
		return r;
	r = build_service_set_options(engine->builds, options->backend_options);
	if (r < 0)
		return r;
	return build_service_attach(engine->builds, &engine->loop, engine->cache_directory);
}

static void init_engine(struct engine *engine, const struct engine_options *options)
{
	engine->options = *options;
	engine->hooks = &session_hooks;
	engine->device_quota.most_bytes = options->limits.tenant_device_bytes;
	engine->never_window = switch_is_off(SWITCH_WINDOW);
	engine->never_fair_queue = switch_is_off(SWITCH_GATE);
	engine->never_instance = switch_is_off(SWITCH_GRAPH);
	engine->never_expect = switch_is_off(SWITCH_EXPECT);
	engine->never_express = switch_is_off(SWITCH_EXPRESS);
	engine->never_burst = switch_is_off(SWITCH_BURST);
	engine->never_stretch = engine->never_burst || switch_is_off(SWITCH_STRETCH);
	engine->never_keep = engine->never_express || switch_is_off(SWITCH_KEEP);
	engine->never_keep_graphs = engine->never_keep || switch_is_off(SWITCH_KEEP_GRAPHS);
	engine->keeps_at_once = switch_is_on(SWITCH_KEEP_ALL);
	/* With two processors, polling takes one from the client, or from a device that computes on
	 * the CPU. */
	engine->may_spin = processors_here() > 2;
	engine->spin_ns[0] = engine->spin_ns[1] = SPIN_PACE_MAX_NS;
	engine->options.cache_directory = NULL;
	engine->options.backend_options = NULL;
	if (!engine->options.hello_timeout_ns)
		engine->options.hello_timeout_ns = HELLO_TIMEOUT_NS;
	engine->end = options->end_with_last_session ? ENGINE_END_DRAIN : ENGINE_END_NO;
	engine->bells = engine->wake = engine->expect_timer = -1;
	list_init(&engine->sessions);
	pool_init(&engine->groups, sizeof(struct group), _Alignof(struct group), GROUPS_KEPT);
	list_init(&engine->hot);
	list_init(&engine->woken);
	list_init(&engine->held);
	list_init(&engine->notify);
	list_init(&engine->doomed);
	list_init(&engine->shared_memories);
	list_init(&engine->event_shares);
}

int engine_create(const struct engine_options *options, struct build_service *builds,
		  struct engine **engine_out)
{
	struct engine *engine = calloc(1, sizeof(*engine));
	if (!engine) {
		(void)build_service_free(builds);
		return -ENOMEM;
	}
	init_engine(engine, options);
	engine->builds = builds;
	engine->record = malloc(PACKET_BYTES_MAX);
	int r = engine->record ? 0 : -ENOMEM;
	if (r == 0)
		r = decode_arena_init(&engine->decode, DECODE_BYTES_MAX);
	if (r == 0)
		r = group_scratch_init(&engine->scratch);
	if (r == 0)
		r = make_flight_page(engine);
	if (r == 0)
		r = engine_make_loop(engine);
	if (r == 0)
		r = make_scheduler(engine, options);
	if (r < 0) {
		(void)engine_free(engine);
		return r;
	}
	*engine_out = engine;
	return 0;
}

static void close_engine_handle(uv_handle_t *handle)
{
	if (handle->data)
		uv_close(handle, NULL);
}

struct engine *engine_free(struct engine *engine)
{
	if (!engine)
		return NULL;
	if (engine->session_count && engine->scheduler) {
		engine_stop(engine, 0);
		(void)engine_run(engine);
	}
	engine->scheduler = scheduler_free(engine->scheduler);
	shares_fini(engine);
	engine->builds = build_service_free(engine->builds);
	if (engine->loop_made) {
		close_engine_handle((uv_handle_t *)&engine->prepare);
		close_engine_handle((uv_handle_t *)&engine->busy);
		close_engine_handle((uv_handle_t *)&engine->end_timer);
		close_engine_handle((uv_handle_t *)&engine->held_timer);
		close_engine_handle((uv_handle_t *)&engine->fair_queue_timer);
		close_engine_handle((uv_handle_t *)&engine->deadline_timer);
		close_engine_handle((uv_handle_t *)&engine->bells_poll);
		(void)uv_run(&engine->loop, UV_RUN_DEFAULT);
		(void)uv_loop_close(&engine->loop);
	}
	close_fd(&engine->expect_timer);
	close_fd(&engine->bells);
	close_fd(&engine->wake);
	(void)memory_region_free(engine->flight);
	(void)memory_region_free(engine->grants);
	(void)memory_region_free(engine->claims);
	pool_fini(&engine->groups);
	group_scratch_fini(&engine->scratch);
	decode_arena_fini(&engine->decode);
	free(engine->record);
	free(engine->cache_directory);
	free(engine);
	return NULL;
}

void engine_observe(struct engine *engine, const struct engine_observer *observer)
{
	engine->observer = *observer;
}

uv_loop_t *engine_loop(struct engine *engine)
{
	return &engine->loop;
}

struct scheduler *engine_scheduler(struct engine *engine)
{
	return engine->scheduler;
}

struct flight_page *engine_flight(const struct engine *engine)
{
	return engine->flight->address;
}

int engine_flight_fd(const struct engine *engine)
{
	return engine->flight->fd;
}

int engine_add_session(struct engine *engine, int socket, int pidfd,
		       const struct session_peer *peer)
{
	if (engine->end >= ENGINE_END_STOP) {
		close_fd(&socket);
		close_fd(&pidfd);
		return -ESHUTDOWN;
	}
	return session_create(engine, socket, pidfd, peer, NULL);
}

int engine_refuse_session(struct engine *engine, int socket, int pidfd,
			  const struct session_peer *peer, const char *text)
{
	return session_create(engine, socket, pidfd, peer, text);
}
