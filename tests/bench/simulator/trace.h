/*
 * The load of clients on a device over time, as text: recorded groups, kinds of clients that submit
 * continuously, or both. docs/traces.md has the format. Everything is checked: a bad line is
 * reported with its number and the error.
 */
#ifndef SYCL_BENCH_SIM_TRACE_H
#define SYCL_BENCH_SIM_TRACE_H

#include "fair_queue/fair_queue.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
	SIM_KINDS_MAX = 4096,
	SIM_NAME_BYTES = 34,
	SIM_ERROR_BYTES = 200,
	SIM_CLIENTS_MAX = 100000,
	SIM_GROUPS_MAX = 4000000,
	SIM_LANES = 32,
	SIM_LANES_LATENCY = 8,
	SIM_WIDTH = 100
};

/* How clients of a kind request work. */
enum sim_manner { SIM_RECORDED, SIM_DEPTH, SIM_RATE, SIM_EVERY };

/* Clients that are alike. */
struct sim_kind {
	char name[SIM_NAME_BYTES];
	enum fair_queue_class class;
	uint32_t weight, count, lanes; /* count: clients */
	enum sim_manner manner;
	uint32_t depth;    /* DEPTH: groups that each keeps waiting or running */
	uint64_t every_ns; /* RATE: mean time between two of a client's requests; EVERY: the time */
	uint64_t takes_ns; /* time on the device, alone on its part of it */
	uint32_t spread;   /* percent: takes_ns varies by that much in both directions, uniformly */
	uint32_t width;    /* percent of the device that a group fills */
	uint64_t memory_bytes;
	uint64_t from_ns, until_ns;
	uint32_t first_client; /* of all clients */
};

/* A recorded group; they are in the order of their times. */
struct sim_group {
	uint32_t kind, lane, width;
	uint64_t at_ns, takes_ns, shape, memory_bytes;
};

struct sim_trace {
	struct sim_kind *kinds;
	uint32_t kind_count, kind_room, client_count;
	struct sim_group *groups;
	uint32_t group_count, group_room;
	uint64_t length_ns, notice_ns; /* length of the run; delay until an end is noticed */
	uint64_t memory_bytes;         /* of the device */
	uint64_t seed;
};

/* Returns 0, or a negative errno and the error: "line 3: ...". The caller ends the trace. */
int sim_trace_read(FILE *file, struct sim_trace *trace_out, char error[SIM_ERROR_BYTES]);
/* The same of a text. */
int sim_trace_parse(const char *text, struct sim_trace *trace_out, char error[SIM_ERROR_BYTES]);
/* It accepts one that was never read, if it is all zero. */
void sim_trace_end(struct sim_trace *trace);

#endif
