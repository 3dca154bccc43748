/*
 * A measuring process: a fork of syclbench with the service's client or with OpenCL in it, never
 * both. So neither disturbs the other, and syclbench itself has no state of either. It answers one
 * request at a time and sleeps between requests.
 */
#ifndef SYCL_BENCH_AGENT_H
#define SYCL_BENCH_AGENT_H

#include <stdint.h>
#include <sys/types.h>

enum { AGENT_VALUES = 80 };
/* For requests about one of several parts: the count is below this bit. */
#define AGENT_PART_SHIFT 32

struct agent_subject {
	/* Runs in the agent's process. `argument` is that of agent_start. Returns 0, or a negative
	 * errno after a message. */
	int (*open)(const char *argument, void **state_out);
	/* `count`: a number or a kind, by the row's own rule. */
	int (*measure)(void *state, uint64_t count, double values_out[AGENT_VALUES]);
	void (*close)(void *state);
};

struct agent {
	pid_t pid;
	int to, from;
};

#define AGENT_INIT                                                                                 \
	{                                                                                          \
		0, -1, -1                                                                          \
	}

/* Forks. `open` runs in the agent at once, and its result comes with the first answer. 0 or a
 * negative errno. */
int agent_start(const struct agent_subject *subject, const char *argument, struct agent *agent_out);
/* Sends a request and waits for the answer. -EPIPE: the agent failed and printed the reason on
 * stderr. */
int agent_measure(struct agent *agent, uint64_t count, double values_out[AGENT_VALUES]);
/* Sends a request without waiting; the second waits for that answer later. */
int agent_request(struct agent *agent, uint64_t count);
int agent_answer(struct agent *agent, double values_out[AGENT_VALUES]);
/* Lets it close and end, and waits for that. It accepts an agent that never started. */
void agent_end(struct agent *agent);

#endif
