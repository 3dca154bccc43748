/* See harness.h. */
#include "scheduler/harness.h"

#include "clock.h"
#include "flight_page.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define LOOKS 50

static const char program_text[] =
	"fill_u32\nlinear_id_u32\nincrement_u32\nadd_u32\ncopy_u32\nmix_u32\nnoop\nhold\nfail\n"
	"refuse\nfill_even_u32\ntake\ntake_increment_u32\ntake_and_fail\n"
	"lose_device\nlose_process\nsum_list_u32\n"
	"fill_image\ncopy_image\nmix_image\nsampler_of_image\nsampler_u32\n";

static _Noreturn void give_up(const char *what)
{
	(void)fprintf(stderr, "harness: %s\n", what);
	abort();
}

static void harness_note(struct harness *harness, struct probe *probe)
{
	probe->done = true;
	probe->calls++;
	probe->order = ++harness->order;
}

static void note_launches(struct harness *harness, struct probe *probe, struct task *task)
{
	struct harness_burst *burst = calloc(1, sizeof(*burst));
	if (!burst)
		give_up("no memory");
	for (uint32_t i = 0; i < probe->launches; i++)
		task_launch_fault(task, i, &burst->faults[i]);
	burst->next = harness->bursts;
	harness->bursts = burst;
	probe->launch_faults = burst->faults;
}

static void on_task_done(void *context, void *owner, struct task *task,
			 const struct task_outcome *outcome)
{
	struct probe *probe = owner;
	harness_note(context, probe);
	if (probe->launches)
		note_launches(context, probe, task);
	probe->outcome = *outcome;
	probe->fault = outcome->fault;
}

static void on_buffer_freed(void *context, void *owner)
{
	harness_note(context, owner);
}

static void on_program_loaded(void *context, void *owner, struct sched_program *program,
			      const char *kernel_names, const struct backend_fault *fault)
{
	struct probe *probe = owner;
	(void)program;
	harness_note(context, probe);
	probe->fault = *fault;
	probe->names[0] = '\0';
	for (const char *at = kernel_names; at && *at; at += strlen(at) + 1) {
		if (probe->names[0])
			(void)strncat(probe->names, " ",
				      sizeof(probe->names) - strlen(probe->names) - 1);
		(void)strncat(probe->names, at, sizeof(probe->names) - strlen(probe->names) - 1);
	}
}

static void on_kernel_created(void *context, void *owner, struct sched_kernel *kernel,
			      const struct backend_kernel_facts *facts,
			      const struct backend_fault *fault)
{
	struct probe *probe = owner;
	(void)kernel;
	harness_note(context, probe);
	probe->fault = *fault;
	probe->argument_count = facts ? facts->argument_count : UINT32_MAX;
}

static void on_process_lost(void *context, enum backend_kind kind,
			    const struct backend_fault *fault)
{
	struct harness *harness = context;
	harness_note(harness, &harness->process_lost);
	harness->process_lost.fault = *fault;
	if (kind != BACKEND_KIND_FAKE)
		give_up("another backend lost the process");
}

static void on_buffer_exported(void *context, void *owner,
			       const struct backend_shared_memory *shared,
			       const struct backend_fault *fault)
{
	struct probe *probe = owner;
	harness_note(context, probe);
	probe->fault = *fault;
	probe->shared = shared ? *shared : (struct backend_shared_memory){.descriptor = -1};
}

static void on_buffer_imported(void *context, void *owner, struct sched_buffer *buffer,
			       const struct backend_fault *fault)
{
	/* The end is reported to the owner, too: this has its own place. */
	struct harness *harness = context;
	(void)owner;
	(void)buffer;
	harness->imported.done = true;
	harness->imported.calls++;
	harness->imported.fault = *fault;
}

static void on_event_ready(void *context, void *owner, struct sched_event *event,
			   const uint8_t *handle, const struct backend_fault *fault)
{
	struct probe *probe = owner;
	(void)event;
	harness_note(context, probe);
	probe->fault = *fault;
	if (handle)
		memcpy(probe->handle, handle, sizeof(probe->handle));
}

static void on_task_early(void *context, void *owner)
{
	struct probe *probe = owner;
	(void)context;
	probe->early++;
}

static void on_occupancy(void *context, void *owner, const struct backend_occupancy *occupancy,
			 const struct backend_fault *fault)
{
	struct probe *probe = owner;
	harness_note(context, probe);
	probe->fault = *fault;
	if (occupancy)
		probe->occupancy = *occupancy;
}

static void wake_front(void *context)
{
	struct harness *harness = context;
	uint64_t one = 1;
	atomic_fetch_add(&harness->wakes, 1);
	if (write(harness->bell, &one, sizeof(one)) < 0 && errno != EAGAIN)
		give_up("the bell is broken");
}

static const struct backend_ops *const backends[] = {&backend_fake_ops, NULL};

void harness_start(struct harness *harness, uint32_t devices)
{
	harness_start_with(harness, devices, &(struct scheduler_config){.lanes_per_device = 0});
}

static void on_usm_ready(void *context, void *owner, void *address,
			 const struct backend_fault *fault)
{
	struct probe *probe = owner;
	harness_note(context, probe);
	probe->fault = *fault;
	probe->address = address;
}

static void on_host_ready(void *context, void *owner, const struct backend_fault *fault)
{
	struct probe *probe = owner;
	harness_note(context, probe);
	probe->fault = *fault;
}

static void on_graph_built(void *context, void *owner, struct sched_graph *graph,
			   const struct backend_fault *fault)
{
	struct probe *probe = owner;
	(void)graph;
	harness_note(context, probe);
	probe->fault = *fault;
}

static void on_native(void *context, void *owner, uint64_t native,
		      const struct backend_fault *fault)
{
	struct probe *probe = owner;
	(void)native;
	harness_note(context, probe);
	probe->fault = *fault;
}

static void on_room_wanted(void *context, const uint8_t *uuid, uint64_t bytes,
			   const struct room_figures *figures)
{
	struct harness *harness = context;
	(void)uuid;
	(void)bytes;
	(void)figures;
	harness->rooms_wanted++;
}

static void on_room_made(void *context, uint64_t request, const struct room_figures *figures)
{
	struct harness *harness = context;
	harness->room_request = request;
	harness->room = *figures;
}

static void on_spilled(void *context, const struct scheduler_spilled *spilled)
{
	struct harness *harness = context;
	harness->spilled = *spilled;
	harness->spilled_reports++;
}

void harness_start_with(struct harness *harness, uint32_t devices,
			const struct scheduler_config *given)
{
	static const struct scheduler_callbacks callbacks = {
		.on_task_done = on_task_done,
		.on_buffer_freed = on_buffer_freed,
		.on_program_loaded = on_program_loaded,
		.on_kernel_created = on_kernel_created,
		.wake_front = wake_front,
		.on_process_lost = on_process_lost,
		.on_buffer_exported = on_buffer_exported,
		.on_buffer_imported = on_buffer_imported,
		.on_event_ready = on_event_ready,
		.on_task_early = on_task_early,
		.on_occupancy = on_occupancy,
		.on_usm_ready = on_usm_ready,
		.on_host_ready = on_host_ready,
		.on_graph_built = on_graph_built,
		.on_native = on_native,
		.on_room_wanted = on_room_wanted,
		.on_room_made = on_room_made,
		.on_spilled = on_spilled,
	};
	memset(harness, 0, sizeof(*harness));
	harness->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	harness->flight = calloc(1, sizeof(struct flight_page));
	struct scheduler_config config = *given;
	harness->polls = given->front_polls;
	config.backends = backends;
	config.flight_page = harness->flight;
	if (harness->bell < 0 || !harness->flight ||
	    scheduler_create(&config, &callbacks, harness, &harness->scheduler) < 0)
		give_up("no scheduler");
	for (uint32_t i = 0; i < devices; i++)
		if (scheduler_device(harness->scheduler, i, &harness->devices[i]) < 0)
			give_up("no device");
}

static const char *alive(void)
{
	struct fake_counters counters;
	fake_counters(FAKE_ANY_DEVICE, &counters);
	if (counters.graphs)
		return "a graph is left";
	if (counters.kernels)
		return "a kernel is left";
	if (counters.hosts)
		return "registered memory is left";
	if (counters.events)
		return "an event is left";
	if (counters.programs)
		return "a program is left";
	if (counters.memories || counters.memory_bytes)
		return "a memory is left";
	if (counters.lanes)
		return "a lane is left";
	if (counters.devices)
		return "a device is left";
	return counters.backends ? "a backend is left" : NULL;
}

const char *harness_stop(struct harness *harness)
{
	for (uint32_t i = 0; i < HARNESS_DEVICES; i++) {
		for (uint32_t k = 0; k < 16; k++)
			if (harness->kernels[i][k].kernel)
				sched_kernel_release(harness->kernels[i][k].kernel);
		if (harness->programs[i])
			sched_program_release(harness->programs[i]);
	}
	scheduler_flush(harness->scheduler);
	const char *open = harness_settle(harness) ? NULL : "something is still open";
	const struct flight_page *page = harness->flight;
	for (uint32_t i = 0; i < FLIGHT_ENTRIES && !open; i++)
		if (atomic_load(&page->entries[i].session) != 0 && !harness->process_lost.done)
			open = "the flight page still names something";
	harness->scheduler = scheduler_free(harness->scheduler);
	(void)close(harness->bell);
	free(harness->flight);
	for (struct harness_burst *next; harness->bursts; harness->bursts = next) {
		next = harness->bursts->next;
		free(harness->bursts);
	}
	return open ? open : alive();
}

struct scheduler_counters harness_counters(struct harness *harness)
{
	struct scheduler_counters counters;
	scheduler_counters(harness->scheduler, &counters);
	return counters;
}

void harness_turn(struct harness *harness)
{
	uint64_t count;
	if (read(harness->bell, &count, sizeof(count)) < 0 && errno != EAGAIN)
		give_up("the bell is broken");
	scheduler_progress(harness->scheduler);
}

/* Polls as the engine does if there are enough processors. Returns true if it may have received
 * something. */
static bool poll_front(struct harness *harness)
{
	bool found = false;
	scheduler_awake(harness->scheduler);
	for (int i = 0; i < LOOKS; i++)
		found |= scheduler_progress(harness->scheduler);
	while (!scheduler_sleep(harness->scheduler))
		found |= scheduler_progress(harness->scheduler);
	return found;
}

static bool turn_until(struct harness *harness, bool (*reached)(struct harness *, const void *),
		       const void *what)
{
	uint64_t deadline = clock_deadline_ns(HARNESS_TIMEOUT_NS);
	scheduler_flush(harness->scheduler);
	while (!reached(harness, what)) {
		uint64_t now = clock_now_ns();
		if (now >= deadline)
			return false;
		if (harness->polls && poll_front(harness))
			continue;
		uint64_t again = scheduler_again_ns(harness->scheduler);
		uint64_t until = again < deadline ? again : deadline;
		struct pollfd poll_fd = {.fd = harness->bell, .events = POLLIN};
		if (poll(&poll_fd, 1, until > now ? (int)((until - now) / 1000000u) + 1 : 1) > 0 ||
		    again <= deadline)
			harness_turn(harness);
	}
	return true;
}

static bool probe_done(struct harness *harness, const void *what)
{
	(void)harness;
	return ((const struct probe *)what)->done;
}

static bool nothing_open(struct harness *harness, const void *what)
{
	(void)what;
	return scheduler_idle(harness->scheduler);
}

bool harness_wait(struct harness *harness, const struct probe *probe)
{
	return turn_until(harness, probe_done, probe);
}

bool harness_settle(struct harness *harness)
{
	return turn_until(harness, nothing_open, NULL);
}

static struct probe *scratch(struct harness *harness)
{
	if (harness->scratch_used == sizeof(harness->scratch) / sizeof(harness->scratch[0]))
		give_up("too many objects");
	return &harness->scratch[harness->scratch_used++];
}

static void load_harness_program(struct harness *harness, uint32_t device)
{
	void *binary;
	size_t bytes;
	char *log;
	struct backend_fault fault;
	if (backend_fake_ops.build(NULL, device, BACKEND_SOURCE_BUILTIN, program_text,
				   sizeof(program_text) - 1, "", &binary, &bytes, &log, &fault) < 0)
		give_up(fault.text);
	if (sched_program_load(harness->scheduler, harness->devices[device], binary, bytes,
			       scratch(harness), &harness->programs[device]) < 0)
		give_up("no program");
	free(binary);
}

struct sched_kernel *harness_kernel(struct harness *harness, uint32_t device, const char *name)
{
	if (!harness->programs[device])
		load_harness_program(harness, device);
	uint32_t at = 0;
	while (harness->kernels[device][at].kernel &&
	       strcmp(harness->kernels[device][at].name, name) != 0)
		at++;
	if (!harness->kernels[device][at].kernel) {
		(void)snprintf(harness->kernels[device][at].name,
			       sizeof(harness->kernels[device][at].name), "%s", name);
		if (sched_kernel_create(harness->scheduler, harness->programs[device], name,
					scratch(harness), &harness->kernels[device][at].kernel) < 0)
			give_up("no kernel");
	}
	return harness->kernels[device][at].kernel;
}

static void new_words(struct words *words, uint32_t count, bool initialised, uint32_t first)
{
	size_t bytes = (count * sizeof(uint32_t) + 4095) & ~(size_t)4095;
	*words = (struct words){.count = count};
	words->host = aligned_alloc(4096, bytes ? bytes : 4096);
	if (!words->host)
		give_up("no memory");
	memset(words->host, 0xee, bytes);
	for (uint32_t i = 0; initialised && i < count; i++)
		words->host[i] = first + i;
}

void harness_words_shared(struct harness *harness, struct words *words, uint32_t count,
			  bool initialised, uint32_t first, uint32_t home,
			  enum backend_export_kind kind)
{
	new_words(words, count, initialised, first);
	if (sched_buffer_create_shared(harness->scheduler, harness->devices[home], kind,
				       count * sizeof(uint32_t), words->host, initialised,
				       &words->freed, &words->buffer) < 0)
		give_up("no shared buffer");
}

void harness_words_again(struct words *words, const struct words *of)
{
	new_words(words, of->count, false, 0);
	if (sched_buffer_share(of->buffer, words->host, &words->freed, &words->buffer) < 0)
		give_up("no second buffer");
}

void harness_words(struct harness *harness, struct words *words, uint32_t count, bool initialised,
		   uint32_t first)
{
	new_words(words, count, initialised, first);
	if (sched_buffer_create(harness->scheduler, count * sizeof(uint32_t),
				count ? words->host : NULL, initialised, &words->freed,
				&words->buffer) < 0)
		give_up("no buffer");
}

void harness_words_free(struct harness *harness, struct words *words)
{
	if (words->buffer)
		sched_buffer_release(words->buffer);
	words->buffer = NULL;
	if (!harness_wait(harness, &words->freed))
		give_up("a buffer is not freed");
	free(words->host);
	words->host = NULL;
}

struct task *harness_submit(struct harness *harness, struct task_request *request,
			    struct probe *probe)
{
	struct task *task;
	*probe = (struct probe){.done = false};
	request->owner = probe;
	request->account = harness->account;
	if (task_submit(harness->scheduler, request, &task) < 0)
		give_up("a task could not be submitted");
	probe->task = task;
	probe->launches = request->launch.count;
	return task;
}

static uint32_t fill_requirements(const struct use *uses, uint32_t count,
				  struct task_requirement *requirements)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t words = uses[i].count ? uses[i].count : uses[i].words->count;
		requirements[i] = (struct task_requirement){
			.buffer = uses[i].words->buffer,
			.mode = uses[i].mode,
			.offset_bytes = uses[i].first * sizeof(uint32_t),
			.size_bytes = words * sizeof(uint32_t),
		};
		if (uses[i].sub_buffer) {
			requirements[i].order_offset_bytes = requirements[i].offset_bytes;
			requirements[i].order_size_bytes = requirements[i].size_bytes;
		}
	}
	return count;
}

struct task *harness_launch(struct harness *harness, const struct launch *launch,
			    struct probe *probe)
{
	struct task_requirement requirements[16];
	struct task_argument arguments[17];
	struct task_request request = {
		.device = harness->devices[launch->device],
		.what = launch->kernel,
		.flight_session = launch->session,
		.flight_group = launch->group,
		.home_lane = launch->home_lane,
		.home_is_fixed = launch->home_lane && !launch->shares_home,
		.timed = launch->timed,
		.requirements = requirements,
		.requirement_count =
			fill_requirements(launch->uses, launch->use_count, requirements),
		.after = launch->after,
		.after_count = launch->after_count,
		.after_order_count = launch->after_only_orders ? launch->after_count : 0,
		.action = TASK_LAUNCH,
	};
	uint32_t count = 0;
	for (uint32_t i = 0; i < launch->use_count; i++)
		if (!launch->uses[i].unused)
			arguments[count++] = (struct task_argument){
				.kind = BACKEND_ARGUMENT_GLOBAL,
				.requirement = i,
				.offset_bytes = launch->uses[i].first * sizeof(uint32_t),
			};
	if (launch->has_value)
		arguments[count++] = (struct task_argument){
			.kind = BACKEND_ARGUMENT_VALUE,
			.bytes = &launch->value,
			.size_bytes = sizeof(launch->value),
		};
	request.launch.kernel = harness_kernel(harness, launch->device, launch->kernel);
	request.launch.arguments = arguments;
	request.launch.properties = launch->properties;
	request.launch.splittable = launch->splittable;
	request.launch.count = launch->burst;
	request.launch.values = (const uint8_t *)launch->values;
	request.launch.value_bytes = launch->has_value ? sizeof(uint32_t) : 0;
	request.after_launches = launch->after_launches;
	request.launch.argument_count = count;
	request.launch.dimensions = launch->global ? 3 : 1;
	request.launch.global[0] = launch->items ? launch->items
				   : launch->use_count
					   ? requirements[0].size_bytes / sizeof(uint32_t)
					   : 1;
	if (launch->global)
		memcpy(request.launch.global, launch->global, sizeof(request.launch.global));
	return harness_submit(harness, &request, probe);
}

struct task *harness_hold(struct harness *harness, uint32_t device, uint32_t gate,
			  const struct use *uses, uint32_t use_count, struct probe *probe)
{
	struct use required[16];
	for (uint32_t i = 0; i < use_count; i++) {
		required[i] = uses[i];
		required[i].unused = true;
	}
	struct launch launch = {
		.device = device,
		.kernel = "hold",
		.uses = required,
		.use_count = use_count,
		.has_value = true,
		.value = gate,
		.items = 1,
	};
	return harness_launch(harness, &launch, probe);
}

struct task *harness_host_part(struct harness *harness, struct words *words, uint32_t mode,
			       uint32_t first, uint32_t count, struct probe *probe)
{
	struct task *task;
	*probe = (struct probe){.done = false};
	const struct task_requirement part = {.buffer = words->buffer,
					      .mode = mode,
					      .offset_bytes = first * sizeof(uint32_t),
					      .size_bytes = (count ? count : words->count) *
							    sizeof(uint32_t),
					      .order_offset_bytes = first * sizeof(uint32_t),
					      .order_size_bytes = count * sizeof(uint32_t)};
	if (host_access_submit(harness->scheduler, &part, harness->account, probe, &task) < 0)
		give_up("a host access could not be submitted");
	probe->task = task;
	return task;
}

struct task *harness_host(struct harness *harness, struct words *words, uint32_t mode,
			  struct probe *probe)
{
	return harness_host_part(harness, words, mode, 0, 0, probe);
}

unsigned harness_number(struct harness *harness)
{
	struct scheduler_counters counters;
	scheduler_counters(harness->scheduler, &counters);
	return (unsigned)(counters.tasks_submitted + counters.moves);
}

/* "task N what: after M M; state" */
static bool line_has_edge(const char *line, unsigned from, unsigned to)
{
	char *end;
	if (strncmp(line, "task ", 5) != 0 || strtoul(line + 5, &end, 10) != to)
		return false;
	const char *after = strstr(end, ": after");
	if (!after)
		return false;
	after += strlen(": after");
	for (unsigned long other = strtoul(after, &end, 10); end != after;
	     other = strtoul(after, &end, 10)) {
		if (other == from)
			return true;
		after = end;
	}
	return false;
}

bool harness_edge(struct harness *harness, unsigned from, unsigned to)
{
	char *text = scheduler_dump(harness->scheduler), *rest = text, *line;
	bool found = false;
	while (!found && (line = strsep(&rest, "\n")))
		found = line_has_edge(line, from, to);
	free(text);
	return found;
}

uint32_t harness_count_sent(struct harness *harness)
{
	char *text = scheduler_dump(harness->scheduler);
	uint32_t count = 0;
	for (const char *at = text; (at = strstr(at, "; sent")); at++)
		count++;
	free(text);
	return count;
}
