/*
 * The frames of TR9 in one, two or three processes. Each has its kernels. Data between two
 * processes stay on the device, in memory that they share. A page of host memory counts the frames
 * that each has handed on.
 */
#ifndef SYCL_BENCH_REAL_PIPELINE_H
#define SYCL_BENCH_REAL_PIPELINE_H

#include "harness/agent.h"
#include "real/program.h"

enum { PIPELINE_STAGES = 3, PIPELINE_DEPTH = 4 /* frames in flight, at most */ };

struct pipeline;

/* Shared with the processes that are forked later; NULL: no memory. */
struct pipeline *pipeline_create(unsigned stages, enum real_scale scale);
/* Accepts NULL; returns it. */
struct pipeline *pipeline_free(struct pipeline *pipeline);
/* Called before each measurement, while no stage measures. */
void pipeline_begin(struct pipeline *pipeline);

/* The process that is forked next is this stage. */
void pipeline_choose(struct pipeline *pipeline, unsigned stage);
enum pipeline_body { PIPELINE_SERVICE, PIPELINE_CUDA, PIPELINE_BODIES };
extern const struct agent_subject pipeline_stages[PIPELINE_BODIES];

/* Returns the request of a measurement, which is the same for all stages. */
uint64_t pipeline_request(unsigned size, unsigned depth, unsigned milliseconds);
/* The answers of the last stage: frames a second; us from a frame's begin to its output. */
enum { PIPELINE_RATE, PIPELINE_P50, PIPELINE_P99 };

#endif
