#include "simulator/run.h"

#include "simulator/device.h"

#include "cleanup.h"
#include "clock.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { OPEN_MOST = 4096, CHUNK = 4096, ROOM = 64, WINDOW_NS = 1000000000 };

enum event_kind { EVENT_ASK, EVENT_RECORDED, EVENT_DONE, EVENT_SEEN, EVENT_AGAIN };

struct event {
	uint64_t at_ns,
		number; /* number: of events at one time the one that was made first comes first */
	enum event_kind kind;
	uint32_t client;
	struct sim_job *job;
};

struct client {
	uint32_t kind, open, asked;
};

struct chunk {
	struct chunk *next;
	struct sim_job jobs[CHUNK];
};

struct sim {
	const struct sim_trace *trace;
	struct sim_result *result;
	struct sim_policy_state *policy;
	struct sim_device device;
	struct client *clients;
	struct event *heap;
	uint32_t heap_count, heap_room, recorded;
	uint64_t now_ns, numbers, again_ns, random, busy_step_ns;
	uint64_t *latency_room; /* by kind */
	struct chunk *chunks;
	struct sim_job *free_jobs;
	uint64_t open;
	int failed; /* 0 or a negative errno */
};

static bool is_before(const struct event *a, const struct event *b)
{
	return a->at_ns < b->at_ns || (a->at_ns == b->at_ns && a->number < b->number);
}

static void add_event(struct sim *sim, uint64_t at_ns, enum event_kind kind, uint32_t client,
		      struct sim_job *job)
{
	if (sim->heap_count == sim->heap_room) {
		uint32_t room = sim->heap_room ? 2 * sim->heap_room : 1024;
		struct event *heap = realloc(sim->heap, room * sizeof(*heap));
		if (!heap) {
			sim->failed = -ENOMEM;
			return;
		}
		sim->heap = heap;
		sim->heap_room = room;
	}
	struct event event = {.at_ns = at_ns,
			      .number = ++sim->numbers,
			      .kind = kind,
			      .client = client,
			      .job = job};
	uint32_t at = sim->heap_count++;
	for (; at > 0 && is_before(&event, &sim->heap[(at - 1) / 2]); at = (at - 1) / 2)
		sim->heap[at] = sim->heap[(at - 1) / 2];
	sim->heap[at] = event;
}

/* There must be one. */
static struct event take_first_event(struct sim *sim)
{
	struct event first = sim->heap[0], last = sim->heap[--sim->heap_count];
	uint32_t at = 0;
	for (;;) {
		uint32_t child = 2 * at + 1;
		if (child >= sim->heap_count)
			break;
		if (child + 1 < sim->heap_count &&
		    is_before(&sim->heap[child + 1], &sim->heap[child]))
			child++;
		if (!is_before(&sim->heap[child], &last))
			break;
		sim->heap[at] = sim->heap[child];
		at = child;
	}
	sim->heap[at] = last;
	return first;
}

/* Above 0, up to 1. */
static double chance(struct sim *sim)
{
	sim->random ^= sim->random << 13;
	sim->random ^= sim->random >> 7;
	sim->random ^= sim->random << 17;
	return ((double)(sim->random >> 11) + 1) / 9007199254740992.0;
}

static struct sim_job *take_job(struct sim *sim)
{
	if (!sim->free_jobs) {
		struct chunk *chunk = calloc(1, sizeof(*chunk));
		if (!chunk) {
			sim->failed = -ENOMEM;
			return NULL;
		}
		chunk->next = sim->chunks;
		sim->chunks = chunk;
		for (uint32_t i = 0; i < CHUNK; i++) {
			chunk->jobs[i].next = sim->free_jobs;
			sim->free_jobs = &chunk->jobs[i];
		}
	}
	struct sim_job *job = sim->free_jobs;
	sim->free_jobs = job->next;
	*job = (struct sim_job){.next = NULL};
	return job;
}

static void arrive(struct sim *sim, struct sim_job *job)
{
	job->arrived_ns = sim->now_ns;
	sim->clients[job->client].open++;
	sim->open++;
	sim->result->kinds[job->kind].asked++;
	sim_policy_arrive(sim->policy, job, sim->now_ns);
}

/* The engine keeps lanes for the latency class. Otherwise its commands would be behind others in
 * one lane. */
static uint32_t lane_of(const struct sim_kind *kind, uint32_t wanted)
{
	if (kind->class == FAIR_QUEUE_LATENCY)
		return wanted % SIM_LANES_LATENCY;
	return SIM_LANES_LATENCY + wanted % (SIM_LANES - SIM_LANES_LATENCY);
}

/* Makes the next job of a client that submits continuously. */
static void request_next_job(struct sim *sim, uint32_t index)
{
	struct client *client = &sim->clients[index];
	const struct sim_kind *kind = &sim->trace->kinds[client->kind];
	if (client->open >= OPEN_MOST) {
		sim->result->kinds[client->kind].refused++;
		return;
	}
	struct sim_job *job = take_job(sim);
	if (!job)
		return;
	uint32_t lane = client->asked++ % kind->lanes;
	double takes_ns = (double)kind->takes_ns * (1 + (2 * chance(sim) - 1) * kind->spread / 100);
	job->client = index;
	job->kind = client->kind;
	job->width = kind->width;
	job->takes_ns = takes_ns > 1 ? (uint64_t)takes_ns : 1;
	job->device_lane = lane_of(kind, index * kind->lanes + lane);
	job->group.lane = job->device_lane;
	job->group.shape = 1 + client->kind;
	job->group.memory_bytes = kind->memory_bytes;
	arrive(sim, job);
}

static void ask_again(struct sim *sim, uint32_t index)
{
	const struct sim_kind *kind = &sim->trace->kinds[sim->clients[index].kind];
	if (sim->now_ns >= kind->until_ns)
		return;
	if (kind->manner == SIM_DEPTH) {
		while (sim->clients[index].open < kind->depth && !sim->failed)
			request_next_job(sim, index);
		return;
	}
	request_next_job(sim, index);
	double wait_ns =
		(double)kind->every_ns * (kind->manner == SIM_RATE ? -log(chance(sim)) : 1);
	add_event(sim, sim->now_ns + (wait_ns > 1 ? (uint64_t)wait_ns : 1), EVENT_ASK, index, NULL);
}

static void next_recorded(struct sim *sim, int only)
{
	const struct sim_trace *trace = sim->trace;
	while (sim->recorded < trace->group_count && only != SIM_EVERYBODY &&
	       trace->groups[sim->recorded].kind != (uint32_t)only)
		sim->recorded++;
	if (sim->recorded < trace->group_count)
		add_event(sim, trace->groups[sim->recorded].at_ns, EVENT_RECORDED, 0, NULL);
}

static void arrive_recorded(struct sim *sim, int only)
{
	const struct sim_group *group = &sim->trace->groups[sim->recorded++];
	struct sim_job *job = take_job(sim);
	if (!job)
		return;
	job->client = sim->trace->kinds[group->kind].first_client;
	job->kind = group->kind;
	job->width = group->width;
	job->takes_ns = group->takes_ns;
	job->device_lane = group->lane;
	job->group.lane = group->lane;
	job->group.shape = group->shape ? ((uint64_t)group->kind + 1) << 32 | group->shape : 0;
	job->group.memory_bytes = group->memory_bytes;
	arrive(sim, job);
	next_recorded(sim, only);
}

static void keep_latency(struct sim *sim, const struct sim_job *job)
{
	struct sim_kind_result *result = &sim->result->kinds[job->kind];
	uint64_t *room = &sim->latency_room[job->kind];
	if (result->latency_count == *room) {
		uint64_t more = *room ? 2 * *room : 1024;
		double *values = realloc(result->latency_us, more * sizeof(*values));
		if (!values) {
			sim->failed = -ENOMEM;
			return;
		}
		result->latency_us = values;
		*room = more;
	}
	result->latency_us[result->latency_count++] =
		(double)(sim->now_ns - job->arrived_ns) / 1000;
}

/* Ends a job whose end has been detected. */
static void seen(struct sim *sim, struct sim_job *job)
{
	struct sim_kind_result *result = &sim->result->kinds[job->kind];
	uint64_t busy_ns = job->takes_ns * job->width / SIM_WIDTH, window = sim->now_ns / WINDOW_NS;
	uint32_t client = job->client;
	result->ended++;
	result->busy_ns += busy_ns;
	result->window_ns[window < SIM_WINDOWS_MAX ? window : SIM_WINDOWS_MAX - 1] += busy_ns;
	sim->result->ended++;
	sim->open--;
	sim->clients[client].open--;
	keep_latency(sim, job);
	sim_policy_end(sim->policy, job, sim->now_ns, job->group.timed ? job->takes_ns : 0);
	job->next = sim->free_jobs;
	sim->free_jobs = job;
	if (sim->trace->kinds[sim->clients[client].kind].manner == SIM_DEPTH)
		ask_again(sim, client);
}

static void decide(struct sim *sim)
{
	struct sim_job *jobs[ROOM];
	uint64_t again_ns, begun_ns = clock_now_ns();
	uint32_t count;
	do {
		count = sim_policy_step(sim->policy, sim->now_ns, jobs, ROOM, &again_ns);
		for (uint32_t i = 0; i < count; i++)
			sim_device_send(&sim->device, jobs[i]);
		sim->result->decisions++;
	} while (count == ROOM);
	sim->busy_step_ns += clock_now_ns() - begun_ns;
	struct sim_job *job;
	while ((job = sim_device_begin(&sim->device)))
		add_event(sim, sim->now_ns + job->takes_ns, EVENT_DONE, 0, job);
	if (again_ns < sim->again_ns || sim->again_ns <= sim->now_ns) {
		sim->again_ns = again_ns;
		if (again_ns != UINT64_MAX)
			add_event(sim, again_ns, EVENT_AGAIN, 0, NULL);
	}
}

static void handle(struct sim *sim, const struct event *event, int only)
{
	switch (event->kind) {
	case EVENT_ASK:
		ask_again(sim, event->client);
		break;
	case EVENT_RECORDED:
		arrive_recorded(sim, only);
		break;
	case EVENT_DONE:
		sim_device_end(&sim->device, event->job);
		add_event(sim, sim->now_ns + sim->trace->notice_ns, EVENT_SEEN, 0, event->job);
		break;
	case EVENT_SEEN:
		seen(sim, event->job);
		break;
	case EVENT_AGAIN:
		break;
	}
}

static void begin_clients(struct sim *sim, int only)
{
	const struct sim_trace *trace = sim->trace;
	for (uint32_t i = 0; i < trace->kind_count; i++) {
		const struct sim_kind *kind = &trace->kinds[i];
		for (uint32_t k = 0; k < kind->count; k++)
			sim->clients[kind->first_client + k].kind = i;
		if (kind->manner == SIM_RECORDED || (only != SIM_EVERYBODY && i != (uint32_t)only))
			continue;
		/* They do not all begin at once, because real clients do not either. */
		for (uint32_t k = 0; k < kind->count; k++)
			add_event(sim,
				  kind->from_ns + (uint64_t)((double)kind->every_ns * chance(sim)),
				  EVENT_ASK, kind->first_client + k, NULL);
	}
	next_recorded(sim, only);
}

static void run_events(struct sim *sim, int only)
{
	while (sim->heap_count > 0 && sim->heap[0].at_ns < sim->trace->length_ns && !sim->failed) {
		sim->now_ns = sim->heap[0].at_ns;
		while (sim->heap_count > 0 && sim->heap[0].at_ns == sim->now_ns) {
			struct event event = take_first_event(sim);
			handle(sim, &event, only);
		}
		decide(sim);
	}
}

static void end_sim(struct sim *sim)
{
	sim->policy = sim_policy_close(sim->policy);
	while (sim->chunks) {
		struct chunk *next = sim->chunks->next;
		free(sim->chunks);
		sim->chunks = next;
	}
	free(sim->heap);
	free(sim->clients);
	free(sim->latency_room);
}

int sim_run(const struct sim_trace *trace, enum sim_policy policy, int only,
	    struct sim_result *result_out)
{
	struct sim sim = {.trace = trace,
			  .result = result_out,
			  .again_ns = UINT64_MAX,
			  .random = trace->seed * 0x9e3779b97f4a7c15u | 1};
	memset(result_out, 0, sizeof(*result_out));
	sim.clients = calloc(trace->client_count, sizeof(*sim.clients));
	sim.latency_room = calloc(trace->kind_count, sizeof(*sim.latency_room));
	result_out->kinds = calloc(trace->kind_count, sizeof(*result_out->kinds));
	result_out->kind_count = result_out->kinds ? trace->kind_count : 0;
	sim.failed = sim.clients && sim.latency_room && result_out->kinds
			     ? sim_policy_open(policy, trace, &sim.policy)
			     : -ENOMEM;
	if (!sim.failed) {
		begin_clients(&sim, only);
		run_events(&sim, only);
	}
	result_out->window_ns = WINDOW_NS;
	result_out->window_count = (uint32_t)(trace->length_ns / WINDOW_NS);
	if (result_out->window_count > SIM_WINDOWS_MAX)
		result_out->window_count = SIM_WINDOWS_MAX;
	result_out->never_ended = sim.open;
	result_out->step_ns = result_out->decisions
				      ? (double)sim.busy_step_ns / (double)result_out->decisions
				      : 0;
	end_sim(&sim);
	if (sim.failed)
		sim_result_end(result_out);
	return sim.failed;
}

void sim_result_end(struct sim_result *result)
{
	for (uint32_t i = 0; i < result->kind_count; i++)
		free(result->kinds[i].latency_us);
	free(result->kinds);
	result->kinds = NULL;
	result->kind_count = 0;
}
