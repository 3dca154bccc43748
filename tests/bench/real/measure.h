/* What the measuring processes of the TR rows do (agent.h): steps of a program, timed or counted.
 */
#ifndef SYCL_BENCH_REAL_MEASURE_H
#define SYCL_BENCH_REAL_MEASURE_H

#include "harness/agent.h"
#include "real/program.h"

/* Which program the processes that start from now on run. */
void real_choose(const struct real_program *program, enum real_scale scale);

enum real_body { REAL_SERVICE, REAL_SERVICE_GPU, REAL_OPENCL, REAL_CUDA, REAL_BODIES };

/* Asked for so many steps of each variant at most: us, REAL_ANSWERS of each variant in turn. */
enum { REAL_P50, REAL_P99, REAL_MEAN, REAL_ANSWERS };
enum { REAL_SAMPLES_MAX = 20000, REAL_SAMPLES_LEAST = 3 };
extern const struct agent_subject real_times[REAL_BODIES];
/* What these are made of, for processes that run more than one program. As the calls of an agent's
 * subject; close also after open has failed, where there is a state. */
int real_open(const struct real_program *program, enum real_scale scale,
	      const struct layer_body *body, const char *where, void **state_out);
void real_close(void *state);
/* `samples`: room for `most` of them. */
bool real_measure_variant(struct real *real, const struct real_variant *variant, uint64_t most,
			  double *samples, double values_out[REAL_ANSWERS]);
/* The first variant as often as it goes, for so many milliseconds. */
int real_measure_rate(void *state, uint64_t milliseconds, double values_out[AGENT_VALUES]);

/* Asked for as many steps of the first variant as so many milliseconds allow: GPU_ANSWER_COUNT and
 * its like (gpu/compare.h). */
extern const struct agent_subject real_rates[REAL_BODIES];

#endif
