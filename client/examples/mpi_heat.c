/*
 * Heat diffusion on a grid whose rows are spread over the ranks of an MPI program. Each rank uses
 * the service of its own node, and neighbours exchange their edges. The edges are buffers of their
 * own, in memory that the program shares with the engine: MPI sends them from there and receives
 * into there, without a further copy.
 *
 *	mpi_heat [ROWS [COLUMNS [STEPS]]]	rows of each rank, the same for any number of ranks
 *
 * Rank 0 computes the whole grid again and compares, if it is small enough. Exit status 0: equal.
 */
#include <mpi.h>
#include <syclclient.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EDGES = 2, CHECK_MOST = 1 << 24, FIRST = 0, LAST = 1 };

static const char source[] =
	"SYCL_KERNEL void step(SYCL_GLOBAL(const float) before, SYCL_GLOBAL(const float) above,\n"
	"	SYCL_GLOBAL(const float) below, SYCL_GLOBAL(float) after,\n"
	"	SYCL_GLOBAL(float) first, SYCL_GLOBAL(float) last, uint rows, uint columns)\n"
	"{\n"
	"	ulong at = sycl_global_id(0);\n"
	"	uint row = (uint)(at / columns), column = (uint)(at % columns);\n"
	"	float here = before[at];\n"
	"	float up = row > 0u ? before[at - columns] : above[column];\n"
	"	float down = row + 1u < rows ? before[at + columns] : below[column];\n"
	"	float left = column > 0u ? before[at - 1u] : here;\n"
	"	float right = column + 1u < columns ? before[at + 1u] : here;\n"
	"	float next = here + 0.2f * (up + down + left + right - 4.0f * here);\n"
	"	after[at] = next;\n"
	"	if (row == 0u) first[column] = next;\n"
	"	if (row + 1u == rows) last[column] = next;\n"
	"}";

/* A rank's part, and what it exchanges. */
struct part {
	int rank, ranks;
	uint32_t rows, columns, steps;
	sycl_platform platform;
	sycl_queue queue;
	sycl_kernel step;
	sycl_buffer grid[2];           /* by turns before and after a step */
	sycl_buffer own[EDGES];        /* this rank's first and last row */
	sycl_buffer neighbours[EDGES]; /* the row above the first, the row below the last */
	double exchange_seconds;
};

static float heat_at_start(uint64_t row, uint32_t column)
{
	return (float)((row * 31 + (uint64_t)column * 17) % 101);
}

static _Noreturn void give_up(void)
{
	(void)MPI_Abort(MPI_COMM_WORLD, 1);
	exit(1);
}

static void must(sycl_result r, const char *what)
{
	if (r == 0)
		return;
	(void)fprintf(stderr, "%s: %s\n%s", what, sycl_get_last_error_text(), sycl_get_build_log());
	give_up();
}

static sycl_buffer buffer_of_rows(const struct part *part, uint64_t row, uint64_t rows)
{
	sycl_buffer buffer = NULL;
	size_t bytes = rows * part->columns * sizeof(float);
	float *values = malloc(bytes);
	if (!values)
		give_up();
	for (uint64_t i = 0; i < rows * part->columns; i++)
		values[i] = heat_at_start(row + i / part->columns, (uint32_t)(i % part->columns));
	must(sycl_buffer_create(part->platform, values, bytes, SYCL_HOST_CONST, &buffer), "buffer");
	free(values);
	return buffer;
}

static void part_prepare(struct part *part)
{
	uint64_t begin = (uint64_t)part->rank * part->rows;
	must(sycl_platform_open(NULL, &part->platform), "service");
	must(sycl_queue_create_default(part->platform, &part->queue), "queue");
	must(sycl_kernel_from_source(part->queue, source, "step", &part->step), "kernel");
	part->grid[0] = buffer_of_rows(part, begin, part->rows);
	part->grid[1] = buffer_of_rows(part, begin, part->rows);
	part->own[FIRST] = buffer_of_rows(part, begin, 1);
	part->own[LAST] = buffer_of_rows(part, begin + part->rows - 1, 1);
	/* At the ends of the grid no heat passes: the neighbour is the edge itself. */
	part->neighbours[FIRST] = buffer_of_rows(part, begin > 0 ? begin - 1 : 0, 1);
	part->neighbours[LAST] =
		buffer_of_rows(part, begin + part->rows - (part->rank + 1 == part->ranks), 1);
}

/* Exchanges one edge with a neighbour, in the memory that the engine sees. */
static void exchange_edge(struct part *part, int edge, int other)
{
	sycl_host_accessor sent = NULL, received = NULL;
	void *from = NULL, *to = NULL;
	int count = (int)part->columns;
	must(sycl_host_accessor_create(part->own[edge], SYCL_ACCESS_READ, &sent), "own edge");
	must(sycl_host_accessor_get_pointer(sent, &from), "own edge");
	must(sycl_host_accessor_create(part->neighbours[edge], SYCL_ACCESS_WRITE, &received),
	     "neighbour's edge");
	must(sycl_host_accessor_get_pointer(received, &to), "neighbour's edge");
	double began = MPI_Wtime();
	if (other >= 0 && other < part->ranks)
		(void)MPI_Sendrecv(from, count, MPI_FLOAT, other, 0, to, count, MPI_FLOAT, other, 0,
				   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else
		memcpy(to, from, (size_t)count * sizeof(float));
	part->exchange_seconds += MPI_Wtime() - began;
	must(sycl_host_accessor_release(sent), "own edge");
	must(sycl_host_accessor_release(received), "neighbour's edge");
}

/* Even ranks begin with the neighbour below, so that each exchange has two that wait for it. */
static void part_exchange(struct part *part)
{
	int first_is_last = part->rank % 2 == 0;
	for (int i = 0; i < EDGES; i++) {
		int edge = i ^ first_is_last ? LAST : FIRST;
		exchange_edge(part, edge, edge == LAST ? part->rank + 1 : part->rank - 1);
	}
}

static void part_step(struct part *part, uint32_t step)
{
	sycl_buffer before = part->grid[step % 2], after = part->grid[(step + 1) % 2];
	must(SYCL_LAUNCH(part->queue, part->step, sycl_range1((uint64_t)part->rows * part->columns),
			 NULL, SYCL_READ(before), SYCL_READ(part->neighbours[FIRST]),
			 SYCL_READ(part->neighbours[LAST]), SYCL_WRITE(after),
			 SYCL_WRITE(part->own[FIRST]), SYCL_WRITE(part->own[LAST]),
			 SYCL_VALUE(part->rows), SYCL_VALUE(part->columns)),
	     "step");
	part_exchange(part);
}

static void reference_step(const float *before, float *after, uint64_t rows, uint32_t columns)
{
	for (uint64_t row = 0; row < rows; row++)
		for (uint32_t column = 0; column < columns; column++) {
			uint64_t at = row * columns + column;
			float here = before[at];
			float up = row > 0 ? before[at - columns] : here;
			float down = row + 1 < rows ? before[at + columns] : here;
			float left = column > 0 ? before[at - 1] : here;
			float right = column + 1 < columns ? before[at + 1] : here;
			after[at] = here + 0.2f * (up + down + left + right - 4.0f * here);
		}
}

/* Returns the largest difference from the whole grid, computed here. */
static double reference_difference(const struct part *part, const float *all)
{
	uint64_t rows = (uint64_t)part->rows * (uint64_t)part->ranks, count = rows * part->columns;
	float *grids[2] = {calloc(count, sizeof(float)), calloc(count, sizeof(float))};
	double largest = 0;
	if (!grids[0] || !grids[1])
		give_up();
	for (uint64_t i = 0; i < count; i++)
		grids[0][i] = heat_at_start(i / part->columns, (uint32_t)(i % part->columns));
	for (uint32_t step = 0; step < part->steps; step++)
		reference_step(grids[step % 2], grids[(step + 1) % 2], rows, part->columns);
	for (uint64_t i = 0; i < count; i++)
		largest = fmax(largest, fabs((double)(all[i] - grids[part->steps % 2][i])));
	free(grids[0]);
	free(grids[1]);
	return largest;
}

/* Rank 0 gets all rows. Returns the largest difference there, 0 elsewhere; -1: not checked. */
static double part_check(const struct part *part)
{
	uint64_t count = (uint64_t)part->rows * part->columns;
	if (count * (uint64_t)part->ranks > CHECK_MOST)
		return -1;
	sycl_host_accessor accessor = NULL;
	void *rows = NULL;
	float *all = part->rank ? NULL : malloc(count * (uint64_t)part->ranks * sizeof(float));
	must(sycl_host_accessor_create(part->grid[part->steps % 2], SYCL_ACCESS_READ, &accessor),
	     "result");
	must(sycl_host_accessor_get_pointer(accessor, &rows), "result");
	(void)MPI_Gather(rows, (int)count, MPI_FLOAT, all, (int)count, MPI_FLOAT, 0,
			 MPI_COMM_WORLD);
	must(sycl_host_accessor_release(accessor), "result");
	double difference = part->rank ? 0 : reference_difference(part, all);
	free(all);
	return difference;
}

static uint32_t number_at(int argc, char **argv, int at, uint32_t otherwise)
{
	unsigned long number = argc > at ? strtoul(argv[at], NULL, 10) : 0;
	return number > 0 && number <= UINT32_MAX ? (uint32_t)number : otherwise;
}

int main(int argc, char **argv)
{
	struct part part = {.rank = 0};
	(void)MPI_Init(&argc, &argv);
	(void)MPI_Comm_rank(MPI_COMM_WORLD, &part.rank);
	(void)MPI_Comm_size(MPI_COMM_WORLD, &part.ranks);
	part.rows = number_at(argc, argv, 1, 256);
	part.columns = number_at(argc, argv, 2, 256);
	part.steps = number_at(argc, argv, 3, 100);
	part_prepare(&part);
	/* The first step opens the device and builds the kernel. */
	part_step(&part, 0);
	(void)MPI_Barrier(MPI_COMM_WORLD);
	part.exchange_seconds = 0;
	double began = MPI_Wtime();
	for (uint32_t step = 1; step < part.steps; step++)
		part_step(&part, step);
	must(sycl_queue_wait(part.queue), "queue");
	(void)MPI_Barrier(MPI_COMM_WORLD);
	double seconds = MPI_Wtime() - began, difference = part_check(&part);
	int failed = difference > 1e-3;
	if (part.rank == 0)
		(void)printf(
			"%d ranks of %u x %u, %u steps: %.1f us a step, of which %.1f us MPI; %s\n",
			part.ranks, part.rows, part.columns, part.steps,
			1e6 * seconds / (part.steps - 1),
			1e6 * part.exchange_seconds / (part.steps - 1),
			difference < 0 ? "not verified: too large"
			: failed       ? "WRONG"
				       : "verified");
	(void)MPI_Finalize();
	return failed;
}
