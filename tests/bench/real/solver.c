/*
 * TR1, TR2: conjugate gradients for the five-point Laplacian on a square. An iteration is five
 * kernels over six buffers, and a read of the residual's square, by which a solver decides when to
 * stop.
 */
#include "real/program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	GROUP = 256,
	SIDE = 128,
	SIDE_TINY = 16,
	ITERATIONS = 100,
	COMPARED = 10,
	CELLS = SIDE * SIDE
};
enum { PRODUCT, STEP_LENGTH, UPDATE, CORRECTION, DIRECTION_KERNEL };
enum { SOLUTION, RESIDUAL, DIRECTION, APPLIED, PARTS, NUMBERS, BUFFERS };
enum { SQUARE, NUMBERS_COUNT = 4 };

#define SUM_OF_GROUP                                                                               \
	"	sycl_group_barrier();\n"                                                                 \
	"	for (uint step = 128u; step > 0u; step /= 2u) {\n"                                       \
	"		if (l < step)\n"                                                                        \
	"			sums[l] += sums[l + step];\n"                                                          \
	"		sycl_group_barrier();\n"                                                                \
	"	}\n"                                                                                     \
	"	if (l == 0u)\n"                                                                          \
	"		parts[(uint)sycl_group_id(0)] = sums[0];\n"

/* numbers: the residual's square, the length of the step, the correction of the direction. */
/* clang-format off */
static const char text[] =
	"SYCL_KERNEL void product(SYCL_GLOBAL(const float) p, SYCL_GLOBAL(float) q, SYCL_GLOBAL(float) parts, uint side)\n"
	"{\n"
	"	SYCL_LOCAL_ARRAY(float, sums, 256);\n"
	"	uint i = (uint)sycl_global_id(0), l = (uint)sycl_local_id(0), x = i % side, y = i / side;\n"
	"	float v = 4.0f * p[i];\n"
	"	if (x > 0u)\n		v -= p[i - 1u];\n"
	"	if (x + 1u < side)\n		v -= p[i + 1u];\n"
	"	if (y > 0u)\n		v -= p[i - side];\n"
	"	if (y + 1u < side)\n		v -= p[i + side];\n"
	"	q[i] = v;\n"
	"	sums[l] = p[i] * v;\n" SUM_OF_GROUP
	"}\n"
	"SYCL_KERNEL void step_length(SYCL_GLOBAL(const float) parts, SYCL_GLOBAL(float) numbers, uint count)\n"
	"{\n"
	"	float sum = 0.0f;\n"
	"	for (uint i = 0u; i < count; i++)\n		sum += parts[i];\n"
	"	numbers[1] = numbers[0] / sum;\n"
	"}\n"
	"SYCL_KERNEL void update(SYCL_GLOBAL(float) x, SYCL_GLOBAL(float) r, SYCL_GLOBAL(const float) p,\n"
	"	SYCL_GLOBAL(const float) q, SYCL_GLOBAL(float) parts, SYCL_GLOBAL(const float) numbers)\n"
	"{\n"
	"	SYCL_LOCAL_ARRAY(float, sums, 256);\n"
	"	uint i = (uint)sycl_global_id(0), l = (uint)sycl_local_id(0);\n"
	"	float length = numbers[1], rest = r[i] - length * q[i];\n"
	"	x[i] += length * p[i];\n"
	"	r[i] = rest;\n"
	"	sums[l] = rest * rest;\n" SUM_OF_GROUP
	"}\n"
	"SYCL_KERNEL void correction(SYCL_GLOBAL(const float) parts, SYCL_GLOBAL(float) numbers, uint count)\n"
	"{\n"
	"	float sum = 0.0f;\n"
	"	for (uint i = 0u; i < count; i++)\n		sum += parts[i];\n"
	"	numbers[2] = sum / numbers[0];\n"
	"	numbers[0] = sum;\n"
	"}\n"
	"SYCL_KERNEL void direction(SYCL_GLOBAL(const float) r, SYCL_GLOBAL(float) p, SYCL_GLOBAL(const float) numbers)\n"
	"{\n"
	"	uint i = (uint)sycl_global_id(0);\n"
	"	p[i] = r[i] + numbers[2] * p[i];\n"
	"}\n";
/* clang-format on */

struct solver {
	uint32_t side, cells;
	unsigned buffers[BUFFERS], graph;
	unsigned iteration; /* of this solve */
	float square;       /* the value that was read last */
	double expected[COMPARED];
	float *right, *solution, *numbers; /* of the host */
};

static void laplacian_apply(uint32_t side, const double *p, double *q)
{
	for (uint32_t i = 0; i < side * side; i++) {
		const uint32_t x = i % side, y = i / side;
		q[i] = 4 * p[i] - (x > 0 ? p[i - 1] : 0) - (x + 1 < side ? p[i + 1] : 0) -
		       (y > 0 ? p[i - side] : 0) - (y + 1 < side ? p[i + side] : 0);
	}
}

static double dot(uint32_t count, const double *a, const double *b)
{
	double sum = 0;
	for (uint32_t i = 0; i < count; i++)
		sum += a[i] * b[i];
	return sum;
}

/* Computes the first few residuals, in double precision. */
static bool expect_residuals(struct solver *solver)
{
	static double r[CELLS], p[CELLS], q[CELLS];
	const uint32_t cells = solver->cells;
	for (uint32_t i = 0; i < cells; i++)
		r[i] = p[i] = solver->right[i];
	double square = dot(cells, r, r);
	for (int k = 0; k < COMPARED; k++) {
		laplacian_apply(solver->side, p, q);
		const double length = square / dot(cells, p, q), before = square;
		for (uint32_t i = 0; i < cells; i++)
			r[i] -= length * q[i];
		square = dot(cells, r, r);
		for (uint32_t i = 0; i < cells; i++)
			p[i] = r[i] + square / before * p[i];
		solver->expected[k] = square;
	}
	return square > 0;
}

static bool begin_solve(struct real *real)
{
	struct solver *solver = real->own;
	const uint64_t bytes = solver->cells * sizeof(float);
	double square = 0;
	for (uint32_t i = 0; i < solver->cells; i++) {
		square += (double)solver->right[i] * solver->right[i];
		solver->solution[i] = 0;
	}
	solver->numbers[SQUARE] = solver->square = (float)square;
	solver->iteration = 0;
	return real->body->write(real->layer, solver->buffers[SOLUTION], solver->solution, bytes) &&
	       real->body->write(real->layer, solver->buffers[RESIDUAL], solver->right, bytes) &&
	       real->body->write(real->layer, solver->buffers[DIRECTION], solver->right, bytes) &&
	       real->body->write(real->layer, solver->buffers[NUMBERS], solver->numbers,
				 NUMBERS_COUNT * sizeof(float)) &&
	       real->body->sync(real->layer);
}

static bool launch_iteration(struct real *real)
{
	const struct solver *solver = real->own;
	const unsigned *b = solver->buffers;
	const uint32_t cells = solver->cells, parts = cells / GROUP;
	const struct layer_launch all[] = {
		{PRODUCT,
		 cells,
		 GROUP,
		 3,
		 1,
		 {b[DIRECTION], b[APPLIED], b[PARTS]},
		 6,
		 {solver->side}},
		{STEP_LENGTH, 1, 1, 2, 1, {b[PARTS], b[NUMBERS]}, 2, {parts}},
		{UPDATE,
		 cells,
		 GROUP,
		 6,
		 0,
		 {b[SOLUTION], b[RESIDUAL], b[DIRECTION], b[APPLIED], b[PARTS], b[NUMBERS]},
		 1 | 2 | 16,
		 {0}},
		{CORRECTION, 1, 1, 2, 1, {b[PARTS], b[NUMBERS]}, 2, {parts}},
		{DIRECTION_KERNEL,
		 cells,
		 GROUP,
		 3,
		 0,
		 {b[RESIDUAL], b[DIRECTION], b[NUMBERS]},
		 2,
		 {0}},
	};
	bool good = true;
	for (unsigned i = 0; i < sizeof(all) / sizeof(*all) && good; i++)
		good = real->body->launch(real->layer, &all[i]);
	return good;
}

static bool open_solver(struct real *real)
{
	struct solver *solver = real->own;
	solver->side = real->scale == REAL_TINY ? SIDE_TINY : SIDE;
	solver->cells = solver->side * solver->side;
	const uint64_t bytes = solver->cells * sizeof(float);
	solver->right = real->body->host(real->layer, bytes);
	solver->solution = real->body->host(real->layer, bytes);
	solver->numbers = real->body->host(real->layer, NUMBERS_COUNT * sizeof(float));
	if (!solver->right || !solver->solution || !solver->numbers)
		return false;
	for (uint32_t i = 0; i < solver->cells; i++)
		solver->right[i] = 1 + (float)(i * 7919 % 101) / 101;
	bool good = expect_residuals(solver);
	for (int i = 0; i < BUFFERS && good; i++)
		good = real->body->alloc(real->layer, bytes, &solver->buffers[i]);
	return good && begin_solve(real) && real->body->record_begin(real->layer) &&
	       launch_iteration(real) && real->body->record_end(real->layer, &solver->graph);
}

static bool solver_prepare(struct real *real, const struct real_variant *variant)
{
	const struct solver *solver = real->own;
	(void)variant;
	return solver->iteration < ITERATIONS || begin_solve(real);
}

static bool step_launches(struct real *real, const struct real_variant *variant)
{
	struct solver *solver = real->own;
	(void)variant;
	return launch_iteration(real) && real->body->read(real->layer, solver->buffers[NUMBERS],
							  &solver->square, sizeof(float));
}

static bool step_graph(struct real *real, const struct real_variant *variant)
{
	struct solver *solver = real->own;
	(void)variant;
	return real->body->graph(real->layer, solver->graph) &&
	       real->body->read(real->layer, solver->buffers[NUMBERS], &solver->square,
				sizeof(float));
}

/* After a while, rounding makes a solve in single precision differ. */
static bool solver_check(struct real *real, const struct real_variant *variant)
{
	struct solver *solver = real->own;
	const unsigned k = solver->iteration++;
	(void)variant;
	if (k >= COMPARED)
		return isfinite(solver->square) || real_wrong("iteration %u: no number", k);
	return fabs(solver->square - solver->expected[k]) <= 1e-3 * solver->expected[k] ||
	       real_wrong("iteration %u: a residual of %g instead of %g", k, solver->square,
			  solver->expected[k]);
}

/* Computes the residual from the solution itself. */
static bool solver_verify(struct real *real)
{
	static double x[CELLS], q[CELLS];
	struct solver *solver = real->own;
	double left = 0, whole = 0;
	if (!real->body->read(real->layer, solver->buffers[SOLUTION], solver->solution,
			      solver->cells * sizeof(float)))
		return false;
	for (uint32_t i = 0; i < solver->cells; i++)
		x[i] = solver->solution[i];
	laplacian_apply(solver->side, x, q);
	for (uint32_t i = 0; i < solver->cells; i++) {
		left += (solver->right[i] - q[i]) * (solver->right[i] - q[i]);
		whole += (double)solver->right[i] * solver->right[i];
	}
	return fabs(sqrt(left) - sqrt(solver->square)) <= 1e-3 * sqrt(whole) ||
	       real_wrong("after %u iterations the residual is %g, and not %g", solver->iteration,
			  left, solver->square);
}

static const struct real_variant launches[] = {{.name = "", .target_p50 = 0.60, .target_p99 = 0.70},
					       {.name = NULL}};
static const struct real_variant graph[] = {{.name = "", .target_p50 = 0.85, .target_p99 = 1.0},
					    {.name = NULL}};

#define SOLVER(variants_of, step_function)                                                         \
	{                                                                                          \
		.source = {text, {"product", "step_length", "update", "correction", "direction"}}, \
		.own_bytes = sizeof(struct solver), .variants = (variants_of),                     \
		.open = open_solver, .prepare = solver_prepare, .check = solver_check,             \
		.step = (step_function), .verify = solver_verify                                   \
	}

const struct real_program real_solver_launches = SOLVER(launches, step_launches);
const struct real_program real_solver_graph = SOLVER(graph, step_graph);
