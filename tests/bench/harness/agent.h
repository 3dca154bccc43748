/*
 * A measuring process: a fork of syclbench with the service's client or with OpenCL in it, never
 * both. So neither disturbs the other, and syclbench itself has no state of either. It answers one
 * question at a time and sleeps between.
 */
#ifndef SYCL_BENCH_AGENT_H
#define SYCL_BENCH_AGENT_H

#include <stdint.h>
#include <sys/types.h>

enum { AGENT_VALUES = 80 };
/* Of questions that are about one of several parts: below it is the count. */
#define AGENT_PART_SHIFT 32

struct agent_subject {
	/* In the agent's process. `argument` is agent_start's. 0 or negative, having said why. */
	int (*open)(const char *argument, void **state_out);
	/* `count`: how many, or what, by the row's own rule. */
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

/* Forks; `open` runs in the agent at once, and what it says comes with the first answer. 0 or a
 * negative errno. */
int agent_start(const struct agent_subject *subject, const char *argument, struct agent *agent_out);
/* Send a request and wait for the answer. -EPIPE: the agent failed, and has said why on stderr. */
int agent_measure(struct agent *agent, uint64_t count, double values_out[AGENT_VALUES]);
/* Send a request without waiting, and wait for that answer later. */
int agent_request(struct agent *agent, uint64_t count);
int agent_answer(struct agent *agent, double values_out[AGENT_VALUES]);
/* Lets it close and end; waits for that. Also for one that never started. */
void agent_end(struct agent *agent);

#endif
