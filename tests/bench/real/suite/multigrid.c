/* One V-cycle for the five-point Laplacian: about sixty kernels over grids of seven sizes. */
#include "real/suite/suite.h"

#include <math.h>
#include <stdlib.h>

enum { GROUP = 64, LEVELS_MOST = 8, COARSEST = 4, COARSEST_SWEEPS = 8, ROW_BYTES = 16 };
enum { START, SMOOTH, RESTRICT, PROLONG };
enum { RIGHT, SOLUTION, OTHER, GRIDS }; /* of each level */

/* clang-format off */
static const char text[] =
	"SYCL_KERNEL void start(SYCL_GLOBAL(const float) b, SYCL_GLOBAL(float) u, uint count)\n"
	"{\n"
	"	uint i = (uint)sycl_global_id(0);\n"
	"	if (i < count)\n		u[i] = 0.2f * b[i];\n"
	"}\n"
	"SYCL_KERNEL void smooth(SYCL_GLOBAL(const float) b, SYCL_GLOBAL(const float) u, SYCL_GLOBAL(float) v, uint side)\n"
	"{\n"
	"	uint i = (uint)sycl_global_id(0), x = i % side, y = i / side;\n"
	"	if (y >= side)\n		return;\n"
	"	float rest = b[i] - 4.0f * u[i];\n"
	"	rest += x > 0u ? u[i - 1u] : 0.0f;\n"
	"	rest += x + 1u < side ? u[i + 1u] : 0.0f;\n"
	"	rest += y > 0u ? u[i - side] : 0.0f;\n"
	"	rest += y + 1u < side ? u[i + side] : 0.0f;\n"
	"	v[i] = u[i] + 0.2f * rest;\n"
	"}\n"
	"SYCL_KERNEL void restrict_rest(SYCL_GLOBAL(const float) b, SYCL_GLOBAL(const float) u, SYCL_GLOBAL(float) coarse, uint side)\n"
	"{\n"
	"	uint i = (uint)sycl_global_id(0), half_side = side / 2u;\n"
	"	float sum = 0.0f;\n"
	"	if (i >= half_side * half_side)\n		return;\n"
	"	for (uint k = 0u; k < 4u; k++) {\n"
	"		uint x = i % half_side * 2u + k % 2u, y = i / half_side * 2u + k / 2u, at = y * side + x;\n"
	"		sum += b[at] - 4.0f * u[at];\n"
	"		sum += x > 0u ? u[at - 1u] : 0.0f;\n"
	"		sum += x + 1u < side ? u[at + 1u] : 0.0f;\n"
	"		sum += y > 0u ? u[at - side] : 0.0f;\n"
	"		sum += y + 1u < side ? u[at + side] : 0.0f;\n"
	"	}\n"
	"	coarse[i] = sum;\n"
	"}\n"
	"SYCL_KERNEL void prolong(SYCL_GLOBAL(const float) coarse, SYCL_GLOBAL(float) u, uint side)\n"
	"{\n"
	"	uint i = (uint)sycl_global_id(0);\n"
	"	if (i < side * side)\n"
	"		u[i] += coarse[i / side / 2u * (side / 2u) + i % side / 2u];\n"
	"}\n";
/* clang-format on */

struct multigrid {
	uint32_t side;
	unsigned levels, buffers[LEVELS_MOST][GRIDS];
	double *expected;
	float *read;
};

/* ----------------------------- the same on the host ----------------------------------- */

static double host_rest(const double *b, const double *u, uint32_t i, uint32_t side)
{
	const uint32_t x = i % side, y = i / side;
	return b[i] - 4 * u[i] + (x > 0 ? u[i - 1] : 0) + (x + 1 < side ? u[i + 1] : 0) +
	       (y > 0 ? u[i - side] : 0) + (y + 1 < side ? u[i + side] : 0);
}

/* An even number of sweeps; the result is in u. */
static void host_smooth(const double *b, double *u, double *v, uint32_t side, unsigned sweeps)
{
	for (unsigned sweep = 0; sweep < sweeps; sweep++) {
		const double *in = sweep % 2 ? v : u;
		double *out = sweep % 2 ? u : v;
		for (uint32_t i = 0; i < side * side; i++)
			out[i] = in[i] + 0.2 * host_rest(b, in, i, side);
	}
}

static void host_restrict(const double *b, const double *u, double *coarse, uint32_t side)
{
	const uint32_t half = side / 2;
	for (uint32_t i = 0; i < half * half; i++) {
		const uint32_t at = i / half * 2 * side + i % half * 2;
		coarse[i] = host_rest(b, u, at, side) + host_rest(b, u, at + 1, side) +
			    host_rest(b, u, at + side, side) + host_rest(b, u, at + side + 1, side);
	}
}

/* From the finest grid down to the coarsest, and up again. */
static bool host_cycle(double *grids[LEVELS_MOST][GRIDS], uint32_t finest, unsigned levels)
{
	for (unsigned l = 0; l < levels; l++) {
		const uint32_t side = finest >> l;
		double *const *g = grids[l];
		for (uint32_t i = 0; i < side * side; i++)
			g[SOLUTION][i] = 0.2 * g[RIGHT][i];
		host_smooth(g[RIGHT], g[SOLUTION], g[OTHER], side,
			    l + 1 < levels ? 2 : COARSEST_SWEEPS);
		if (l + 1 < levels)
			host_restrict(g[RIGHT], g[SOLUTION], grids[l + 1][RIGHT], side);
	}
	for (unsigned l = levels - 1; l-- > 0;) {
		const uint32_t side = finest >> l;
		for (uint32_t i = 0; i < side * side; i++)
			grids[l][SOLUTION][i] +=
				grids[l + 1][SOLUTION][i / side / 2 * (side / 2) + i % side / 2];
		host_smooth(grids[l][RIGHT], grids[l][SOLUTION], grids[l][OTHER], side, 2);
	}
	return true;
}

static bool expect_solution(struct multigrid *grid, const float *right)
{
	double *grids[LEVELS_MOST][GRIDS] = {{NULL}};
	bool good = true;
	for (unsigned i = 0; i < grid->levels * GRIDS && good; i++) {
		const uint32_t side = grid->side >> i / GRIDS;
		grids[i / GRIDS][i % GRIDS] = calloc((size_t)side * side, sizeof(double));
		good = grids[i / GRIDS][i % GRIDS] != NULL;
	}
	for (uint32_t i = 0; i < grid->side * grid->side && good; i++)
		grids[0][RIGHT][i] = right[i];
	good = good && host_cycle(grids, grid->side, grid->levels);
	grid->expected = grids[0][SOLUTION];
	grids[0][SOLUTION] = NULL;
	for (unsigned i = 0; i < grid->levels * GRIDS; i++)
		free(grids[i / GRIDS][i % GRIDS]);
	return good;
}

static bool open_multigrid(struct real *real)
{
	static const uint32_t sides[] = {[REAL_TINY] = 8, [REAL_PROCESSOR] = 64, [REAL_GPU] = 256};
	struct multigrid *grid = real->own;
	const uint32_t count = sides[real->scale] * sides[real->scale];
	float *right = malloc(count * sizeof(*right));
	grid->side = sides[real->scale];
	grid->read = real->body->host(real->layer, ROW_BYTES);
	for (uint32_t side = grid->side; side >= COARSEST; side /= 2)
		grid->levels++;
	bool good = right && grid->read;
	if (good) {
		suite_numbers(right, count, 9);
		good = expect_solution(grid, right);
	}
	for (unsigned i = 0; i < grid->levels * GRIDS && good; i++)
		good = suite_alloc(real, count * sizeof(*right) >> 2 * (i / GRIDS),
				   i == RIGHT ? right : NULL, &grid->buffers[i / GRIDS][i % GRIDS]);
	free(right);
	return good;
}

static bool launch_smooth(struct real *real, const unsigned *b, uint32_t side, unsigned sweeps)
{
	bool good = true;
	for (unsigned sweep = 0; sweep < sweeps && good; sweep++)
		good = suite_launch(real, SMOOTH, side * side, GROUP, 4,
				    BUFFERS_OF(b[RIGHT], b[sweep % 2 ? OTHER : SOLUTION],
					       b[sweep % 2 ? SOLUTION : OTHER]),
				    WORDS_OF(side));
	return good;
}

static bool multigrid_step(struct real *real, const struct real_variant *variant)
{
	const struct multigrid *grid = real->own;
	const unsigned last = grid->levels - 1;
	bool good = true;
	(void)variant;
	for (unsigned l = 0; l <= last && good; l++) {
		const uint32_t side = grid->side >> l, count = side * side;
		const unsigned *b = grid->buffers[l];
		good = suite_launch(real, START, count, GROUP, 2, BUFFERS_OF(b[RIGHT], b[SOLUTION]),
				    WORDS_OF(count)) &&
		       launch_smooth(real, b, side, l < last ? 2 : COARSEST_SWEEPS);
		if (l < last && good)
			good = suite_launch(
				real, RESTRICT, count / 4, GROUP, 4,
				BUFFERS_OF(b[RIGHT], b[SOLUTION], grid->buffers[l + 1][RIGHT]),
				WORDS_OF(side));
	}
	for (unsigned l = last; l-- > 0 && good;) {
		const uint32_t side = grid->side >> l;
		const unsigned *b = grid->buffers[l];
		good = suite_launch(real, PROLONG, side * side, GROUP, 2,
				    BUFFERS_OF(grid->buffers[l + 1][SOLUTION], b[SOLUTION]),
				    WORDS_OF(side)) &&
		       launch_smooth(real, b, side, 2);
	}
	return good &&
	       real->body->read(real->layer, grid->buffers[0][SOLUTION], grid->read, ROW_BYTES);
}

static bool multigrid_verify(struct real *real)
{
	const struct multigrid *grid = real->own;
	double most = 0;
	for (uint32_t i = 0; i < grid->side * grid->side; i++)
		most = fmax(most, fabs(grid->expected[i]));
	return suite_compare_numbers(real, grid->buffers[0][SOLUTION], grid->expected,
				     grid->side * grid->side, 1e-4 * most);
}

const struct real_program suite_multigrid = {
	.source = {text, {"start", "smooth", "restrict_rest", "prolong"}},
	.own_bytes = sizeof(struct multigrid),
	.variants = suite_variant,
	.open = open_multigrid,
	.step = multigrid_step,
	.verify = multigrid_verify,
};
