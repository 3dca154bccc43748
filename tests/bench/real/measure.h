/* The work of the measuring processes of the TR rows (agent.h): steps of a program, timed or
 * counted. */
#ifndef SYCL_BENCH_REAL_MEASURE_H
#define SYCL_BENCH_REAL_MEASURE_H

#include "harness/agent.h"
#include "real/program.h"

/* Sets the program that processes run if they start from now on. */
void real_choose(const struct real_program *program, enum real_scale scale);

/* REAL_DRIVER: the body in plain OpenCL, by the driver to the service. */
enum real_body { REAL_SERVICE, REAL_SERVICE_GPU, REAL_OPENCL, REAL_DRIVER, REAL_CUDA, REAL_BODIES };

/* The request is for that many steps of each variant at most. The answer is in us, REAL_ANSWERS of
 * each variant in turn. */
enum { REAL_P50, REAL_P99, REAL_MEAN, REAL_ANSWERS };
enum { REAL_SAMPLES_MAX = 20000, REAL_SAMPLES_LEAST = 3 };
extern const struct agent_subject real_times[REAL_BODIES];
/* The parts of these, for processes that run more than one program. They are as the calls of an
 * agent's subject. close may also be called after open has failed, if there is a state. */
int real_open(const struct real_program *program, enum real_scale scale,
	      const struct layer_body *body, const char *where, void **state_out);
void real_close(void *state);
/* `samples`: room for `most` of them. */
bool real_measure_variant(struct real *real, const struct real_variant *variant, uint64_t most,
			  double *samples, double values_out[REAL_ANSWERS]);
/* Runs the first variant as often as possible, for so many milliseconds. */
int real_measure_rate(void *state, uint64_t milliseconds, double values_out[AGENT_VALUES]);

/* The request is for as many steps of the first variant as that many milliseconds allow. The answer
 * is GPU_ANSWER_COUNT and the like (gpu/compare.h). */
extern const struct agent_subject real_rates[REAL_BODIES];

#endif
