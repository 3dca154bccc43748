#include "cuda/clock_simulation.h"

#include <math.h>

#define CALL_NS  600  /* of a record, on the host */
#define WAY_NS   1500 /* at least, until the GPU stamps */
#define NOISE_NS 300.0
#define LOST_NS  60000
#define BACK_NS  1500 /* until the host can read it */

static double random_part(struct simulation *simulation)
{
	simulation->random = simulation->random * 6364136223846793005ull + 1442695040888963407ull;
	return (double)(simulation->random >> 11) / 9007199254740992.0;
}

/* Mostly short; one in a hundred is late by up to 20 us. */
static uint64_t way(struct simulation *simulation)
{
	double ns = WAY_NS + (double)simulation->slow_ns -
		    NOISE_NS * log(1.0 - random_part(simulation));
	if (random_part(simulation) < 0.01)
		ns += 20000.0 * random_part(simulation);
	return (uint64_t)ns;
}

/* The time that the crystal has gained, to parts of a nanosecond. */
static long double gained(const struct simulation *simulation, uint64_t host_ns)
{
	int64_t passed = (int64_t)(host_ns - simulation->since_ns);
	return (long double)passed * (long double)simulation->drift +
	       (long double)simulation->since_device_part;
}

static int64_t clock_simulation_device_time(const struct simulation *simulation, uint64_t host_ns)
{
	int64_t passed = (int64_t)(host_ns - simulation->since_ns);
	return simulation->since_device_ns + passed + (int64_t)floorl(gained(simulation, host_ns));
}

static struct simulated_event stamp(const struct simulation *simulation, uint64_t host_ns)
{
	int64_t device_ns = clock_simulation_device_time(simulation, host_ns);
	return (struct simulated_event){.device_ns = device_ns - device_ns % simulation->tick_ns,
					.host_ns = host_ns,
					.due_ns = host_ns + BACK_NS + simulation->slow_ns};
}

static uint64_t source_now(void *context)
{
	struct simulation *simulation = context;
	simulation->now_ns += 25;
	if (simulation->losing > 0 && --simulation->losing == 0)
		simulation->now_ns += LOST_NS;
	return simulation->now_ns;
}

static int source_record(void *context, void *mark)
{
	struct simulation *simulation = context;
	if (random_part(simulation) < simulation->preempted)
		simulation->now_ns += (uint64_t)(30000.0 * random_part(simulation));
	uint64_t at = simulation->now_ns + simulation->hold_ns + way(simulation);
	/* A stream runs one operation after the other. */
	if (at < simulation->recorded_ns)
		at = simulation->recorded_ns;
	simulation->recorded_ns = at;
	*(struct simulated_event *)mark = stamp(simulation, at);
	simulation->now_ns += CALL_NS;
	simulation->records++;
	return 0;
}

static int source_happened(void *context, void *mark)
{
	const struct simulation *simulation = context;
	const struct simulated_event *event = mark;
	return event->due_ns <= simulation->now_ns;
}

static int source_elapsed(void *context, void *from, void *to, float *milliseconds_out)
{
	struct simulation *simulation = context;
	const struct simulated_event *first = from, *second = to;
	simulation->now_ns += 150;
	*milliseconds_out = (float)((double)(second->device_ns - first->device_ns) / 1e6);
	return 0;
}

void simulation_forget(struct simulation *simulation)
{
	simulation->error_min_ns = INT64_MAX;
	simulation->error_max_ns = INT64_MIN;
	simulation->naive_error_ns = simulation->duration_error_ns = 0;
}

void simulation_init(struct simulation *simulation, uint64_t seed, double drift)
{
	*simulation = (struct simulation){.tick_ns = 32,
					  .now_ns = 4000000000ull,
					  .drift = drift,
					  .since_device_ns = 1700000000000000000,
					  .random = seed};
	simulation->since_ns = simulation->now_ns;
	simulation->first = stamp(simulation, simulation->now_ns);
	struct cuda_clock_source source = {
		.context = simulation,
		.now = source_now,
		.record = source_record,
		.happened = source_happened,
		.elapsed = source_elapsed,
	};
	for (unsigned i = 0; i < CUDA_CLOCK_MARKS; i++)
		source.marks[i] = &simulation->marks[i];
	cuda_bases_init(&simulation->bases, &source, WAY_NS + BACK_NS);
	simulation_forget(simulation);
}

void simulation_pass(struct simulation *simulation, uint64_t ns)
{
	simulation->now_ns += ns;
}

void simulation_set_drift(struct simulation *simulation, double drift)
{
	long double gain = gained(simulation, simulation->now_ns);
	simulation->since_device_ns = clock_simulation_device_time(simulation, simulation->now_ns);
	simulation->since_device_part = (double)(gain - floorl(gain));
	simulation->since_ns = simulation->now_ns;
	simulation->drift = drift;
}

static void judge(struct simulation *simulation, const struct simulated_event *start,
		  const struct simulated_event *end, uint64_t converted_start,
		  uint64_t converted_end)
{
	int64_t error = (int64_t)(converted_end - end->host_ns);
	if (error < simulation->error_min_ns)
		simulation->error_min_ns = error;
	if (error > simulation->error_max_ns)
		simulation->error_max_ns = error;
	int64_t duration_error = (int64_t)(converted_end - converted_start) -
				 (int64_t)(end->host_ns - start->host_ns);
	duration_error = duration_error < 0 ? -duration_error : duration_error;
	if (duration_error > simulation->duration_error_ns)
		simulation->duration_error_ns = duration_error;
	/* One constant base, as in an example of the driver's manual. */
	float milliseconds = (float)((double)(end->device_ns - simulation->first.device_ns) / 1e6);
	int64_t naive = cuda_clock_elapsed_ns(milliseconds) -
			(end->device_ns - simulation->first.device_ns);
	naive = naive < 0 ? -naive : naive;
	if (naive > simulation->naive_error_ns)
		simulation->naive_error_ns = naive;
}

void simulation_command(struct simulation *simulation, uint64_t duration_ns)
{
	struct cuda_bases *bases = &simulation->bases;
	uint64_t converted_start = 0, converted_end = 0;

	if (simulation->wander > 0.0)
		simulation_set_drift(simulation,
				     simulation->drift +
					     simulation->wander *
						     (2.0 * random_part(simulation) - 1.0));
	(void)cuda_bases_prepare(bases);
	struct simulated_event start =
		stamp(simulation, simulation->now_ns + simulation->hold_ns + way(simulation));
	struct simulated_event end = stamp(simulation, start.host_ns + duration_ns);
	simulation->now_ns = end.due_ns;
	if (cuda_bases_times(bases, &start, &end, &converted_start, &converted_end) == 0)
		judge(simulation, &start, &end, converted_start, converted_end);
	if (converted_end > simulation->now_ns)
		simulation->waits++;
	simulation->last_end = end;
	simulation->last_told_end = converted_end;
}

void simulation_follower(struct simulation *simulation, uint64_t duration_ns)
{
	struct cuda_bases *bases = &simulation->bases;
	uint64_t converted_start = 0, converted_end = 0;

	(void)cuda_bases_prepare(bases);
	struct simulated_event start = stamp(simulation, simulation->last_end.host_ns);
	struct simulated_event end = stamp(simulation, start.host_ns + duration_ns);
	if (simulation->now_ns < end.due_ns)
		simulation->now_ns = end.due_ns;
	if (cuda_bases_times(bases, &start, &end, &converted_start, &converted_end) == 0)
		simulation->out_of_order += converted_start < simulation->last_told_end ||
					    converted_end < converted_start;
	simulation->last_end = end;
	simulation->last_told_end = converted_end;
}

void simulation_commands(struct simulation *simulation, unsigned count, uint64_t duration_ns,
			 uint64_t pause_ns)
{
	for (unsigned i = 0; i < count; i++) {
		simulation_command(simulation, duration_ns);
		simulation_pass(simulation, pause_ns);
	}
}
