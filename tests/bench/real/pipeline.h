/*
 * The frames of TR9 by one, two or three processes. Each has its kernels; what is between two
 * processes stays on the device, in memory that they share. A page of host memory counts the frames
 * that each has handed on.
 */
#ifndef SYCL_BENCH_REAL_PIPELINE_H
#define SYCL_BENCH_REAL_PIPELINE_H

#include "harness/agent.h"
#include "real/program.h"

enum { PIPELINE_STAGES = 3, PIPELINE_DEPTH = 4 /* frames on their way, at most */ };

struct pipeline;

/* Shared with the processes that are forked later; NULL: no memory. */
struct pipeline *pipeline_create(unsigned stages, enum real_scale scale);
/* Accepts NULL; returns it. */
struct pipeline *pipeline_free(struct pipeline *pipeline);
/* Before each measurement, while no stage measures. */
void pipeline_begin(struct pipeline *pipeline);

/* The process that is forked next is this stage. */
void pipeline_choose(struct pipeline *pipeline, unsigned stage);
enum pipeline_body { PIPELINE_SERVICE, PIPELINE_CUDA, PIPELINE_BODIES };
extern const struct agent_subject pipeline_stages[PIPELINE_BODIES];

/* What a measurement is asked: all stages the same. */
uint64_t pipeline_request(unsigned size, unsigned depth, unsigned milliseconds);
/* What the last stage answers: frames a second; us from a frame's begin until it is out. */
enum { PIPELINE_RATE, PIPELINE_P50, PIPELINE_P99 };

#endif
