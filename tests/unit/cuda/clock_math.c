/* The times of events on a GPU, over an hour and a day (H2, H8). */
#include "cuda/clock_simulation.h"

#include "sanitized.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define MS     1000000ull
#define SECOND (1000u * MS)
#define HOUR   (3600u * SECOND)
#define DAY    (24u * HOUR)

/* Two times are reported with an error of at most +-0.5 us each. */
#define BAND_NS 1000

/* Under a sanitizer fewer machines are simulated, because they are all alike to it. A build without
 * one simulates every one of them. */
#define LESS (SANITIZED ? 10 : 1)

TestSuite(cuda_clock, .timeout = 120);

static int64_t band(const struct simulation *simulation)
{
	return simulation->error_max_ns - simulation->error_min_ns;
}

static void use_over_a_day(struct simulation *simulation)
{
	simulation_commands(simulation, 200, 5000, 20000);
	simulation_commands(simulation, 2000, 100000, MS);
	simulation_commands(simulation, 600, 100000, SECOND);
	simulation_pass(simulation, HOUR);
	simulation_set_drift(simulation, simulation->drift + 3e-7); /* it is warmer now */
	simulation_commands(simulation, 1000, 100000, MS);
	simulation_pass(simulation, DAY);
	simulation_set_drift(simulation, simulation->drift - 2e-7);
	simulation_commands(simulation, 1000, 100000, MS);
}

Test(cuda_clock, H2_H8_times_agree_to_half_a_microsecond_over_an_hour_and_a_day)
{
	static const double drifts[] = {0.0, 8e-6, -2e-5, 5e-5, -9e-5};
	for (unsigned i = 0; i < sizeof(drifts) / sizeof(*drifts); i++) {
		struct simulation simulation;
		simulation_init(&simulation, 1000 + i, drifts[i]);
		use_over_a_day(&simulation);
		cr_assert(le(i64, band(&simulation), BAND_NS), "drift %g: from %lld to %lld ns",
			  drifts[i], (long long)simulation.error_min_ns,
			  (long long)simulation.error_max_ns);
		/* All of them are close to the true times, because the delay to the GPU is
		 * included. */
		cr_assert(ge(i64, simulation.error_min_ns, -1000));
		cr_assert(le(i64, simulation.error_max_ns, 1500));
		cr_assert(le(i64, simulation.duration_error_ns,
			     64)); /* the GPU's ticks, at both ends */
		cr_assert(eq(uint, simulation.waits,
			     0)); /* no command ended after its end was observed */
	}
}

/*
 * The same on two hundred machines. Their crystals have different errors, which change. Threads are
 * interrupted between reading the clock and querying the GPU. Sometimes the delay is ten times as
 * long for a whole burst.
 */
Test(cuda_clock, H2_H8_on_two_hundred_machines)
{
	for (uint64_t seed = 0; seed < 200 / LESS; seed++) {
		struct simulation simulation;
		simulation_init(&simulation, 4000 + seed,
				((double)(seed * 37 % 181) - 90.0) * 1e-6);
		simulation.wander = 3e-9;
		simulation.preempted = seed % 3 * 0.003;
		use_over_a_day(&simulation);
		cr_assert(le(i64, band(&simulation), BAND_NS), "machine %llu: from %lld to %lld ns",
			  (unsigned long long)seed, (long long)simulation.error_min_ns,
			  (long long)simulation.error_max_ns);
		cr_assert(le(i64, simulation.duration_error_ns, 64));
		cr_assert(eq(uint, simulation.waits, 0));
	}
}

/* Ten minutes in which the GPU becomes warm and the host's clock is corrected by half a millionth
 * each minute. */
Test(cuda_clock, H8_crystals_that_change_while_they_are_used)
{
	static const uint64_t pauses[] = {5 * MS, 100 * MS, SECOND, 3 * SECOND};
	for (uint64_t seed = 0; seed < 40 / LESS; seed++) {
		struct simulation simulation;
		double drift = ((double)(seed * 7 % 41) - 20.0) * 1e-6;
		simulation_init(&simulation, 5000 + seed, drift);
		uint64_t begin = simulation.now_ns, passed = 0;
		while ((passed = simulation.now_ns - begin) < 600 * SECOND) {
			double warm = passed < 60 * SECOND ? (double)passed * 5e-17 : 3e-6;
			double corrected = passed / (64 * SECOND) % 2 ? 5e-7 : 0.0;
			simulation_set_drift(&simulation,
					     drift + warm + (seed % 2 ? corrected : -corrected));
			simulation_commands(&simulation, 1, 100000, pauses[seed % 4]);
		}
		cr_assert(le(i64, band(&simulation), BAND_NS), "machine %llu: from %lld to %lld ns",
			  (unsigned long long)seed, (long long)simulation.error_min_ns,
			  (long long)simulation.error_max_ns);
	}
}

/*
 * One time in five another process has the GPU, for up to two milliseconds. As long as all bursts
 * are late, there is no better estimate than the earlier one. Before the first burst in time there
 * is no estimate.
 */
Test(cuda_clock, H8_time_slices_cost_a_microsecond)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct simulation simulation;
		uint64_t random = seed;
		simulation_init(&simulation, 6000 + seed, 2e-5);
		for (unsigned i = 0; i < 3000; i++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			simulation.hold_ns = random >> 60 < 3 ? (random >> 20) % (2 * MS) : 0;
			simulation_commands(&simulation, 1, 100000, seed % 2 ? 20 * MS : MS);
			if (i == 500)
				simulation_forget(&simulation);
		}
		cr_assert(le(i64, band(&simulation), 2 * BAND_NS),
			  "machine %llu: from %lld to %lld ns", (unsigned long long)seed,
			  (long long)simulation.error_min_ns, (long long)simulation.error_max_ns);
	}
}

/* A measurement between two commands corrects the clock, but never so that the second command began
 * too early. */
Test(cuda_clock, a_command_never_begins_before_the_one_that_it_followed_has_ended)
{
	static struct simulation simulation;
	for (uint64_t seed = 1; seed <= 50; seed++) {
		simulation_init(&simulation, seed, seed % 2 ? 30e-6 : -30e-6);
		for (unsigned i = 0; i < 400; i++) {
			simulation.hold_ns = i % 8 ? 0 : 20000;
			simulation_command(&simulation, 5000);
			for (unsigned j = 0; j < 4; j++) {
				simulation_pass(&simulation, (i * j % 5) * MS);
				simulation_follower(&simulation, 3000);
			}
			simulation_pass(&simulation, (i % 7) * 50 * MS);
		}
		cr_assert(eq(u32, simulation.out_of_order, 0), "seed %llu",
			  (unsigned long long)seed);
	}
}

/* Wherever the thread is interrupted, the clock advances, and the GPU is still queried. */
Test(cuda_clock, H8_a_thread_that_loses_its_processor_stops_no_clock)
{
	for (unsigned reading = 1; reading <= 400; reading++) {
		struct simulation simulation;
		simulation_init(&simulation, 8000, 2e-5);
		simulation.losing = reading;
		simulation_commands(&simulation, 100, 10000, 50 * MS);
		simulation_forget(&simulation);
		unsigned before = simulation.records;
		simulation_commands(&simulation, 200, 10000, 50 * MS);
		cr_assert(gt(uint, simulation.records, before), "at reading %u", reading);
		cr_assert(le(i64, band(&simulation), BAND_NS), "at reading %u", reading);
	}
}

Test(cuda_clock, H8_one_base_for_ever_would_be_wrong)
{
	struct simulation simulation;
	simulation_init(&simulation, 5, 1e-5);
	simulation_commands(&simulation, 1000, 100000, MS);
	cr_assert(le(i64, simulation.naive_error_ns, 500), "%lld",
		  (long long)simulation.naive_error_ns);
	simulation_pass(&simulation, HOUR);
	simulation_commands(&simulation, 1000, 100000, MS);
	cr_assert(gt(i64, simulation.naive_error_ns, 50000), "%lld",
		  (long long)simulation.naive_error_ns);
	simulation_pass(&simulation, DAY);
	simulation_commands(&simulation, 1000, 100000, MS);
	cr_assert(gt(i64, simulation.naive_error_ns, 1000000), "%lld",
		  (long long)simulation.naive_error_ns);
	cr_assert(le(i64, band(&simulation), BAND_NS));
}

Test(cuda_clock, H8_ten_minutes_of_probes)
{
	struct simulation simulation;
	simulation_init(&simulation, 9, -1.2e-5);
	simulation_commands(&simulation, 6000, 100000, 100 * MS);
	cr_assert(le(i64, band(&simulation), BAND_NS), "from %lld to %lld ns",
		  (long long)simulation.error_min_ns, (long long)simulation.error_max_ns);
}

/* The GPU's clocks are slow while it is idle. So the delay to it and back is longer for a while,
 * and then shorter again. */
Test(cuda_clock, H8_a_gpu_that_rests_answers_later)
{
	static const uint64_t pauses[] = {5 * MS, 20 * MS, 300 * MS, 2 * SECOND};
	for (uint64_t seed = 0; seed < 40 / LESS; seed++) {
		struct simulation simulation;
		uint64_t random = seed;
		simulation_init(&simulation, 7000 + seed, ((double)(seed * 7 % 41) - 20.0) * 1e-6);
		simulation.wander = 1e-9;
		simulation.tick_ns = seed % 8 < 4 ? 32 : 1000; /* such drivers exist, too: the time
								  of a stamp may have that error */
		for (unsigned i = 0; i < 6000; i++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			uint64_t step = random >> 56;
			simulation.slow_ns = random & 1u << 20 ? simulation.slow_ns + step
							       : simulation.slow_ns - step;
			simulation.slow_ns = simulation.slow_ns > 1u << 20 ? 0
					     : simulation.slow_ns > 1200   ? 1200
									   : simulation.slow_ns;
			simulation_commands(&simulation, 1, 10000, pauses[seed % 4]);
		}
		cr_assert(le(i64, band(&simulation), BAND_NS + simulation.tick_ns),
			  "machine %llu: from %lld to %lld ns", (unsigned long long)seed,
			  (long long)simulation.error_min_ns, (long long)simulation.error_max_ns);
	}
}

Test(cuda_clock, H8_pauses_of_every_length)
{
	struct simulation simulation;
	simulation_init(&simulation, 17, 2e-5);
	for (uint64_t pause = MS; pause < HOUR; pause += pause / 2)
		simulation_commands(&simulation, 20, 30000, pause);
	cr_assert(le(i64, band(&simulation), BAND_NS), "from %lld to %lld ns",
		  (long long)simulation.error_min_ns, (long long)simulation.error_max_ns);
}

Test(cuda_clock, H8_a_late_burst_does_not_move_the_clock)
{
	struct simulation simulation;
	simulation_init(&simulation, 23, 1e-5);
	simulation_commands(&simulation, 5000, 100000, MS);
	simulation_forget(&simulation);
	/* Now the GPU serves another process half of the time, in slices of 2 ms. */
	for (unsigned i = 0; i < 2000; i++) {
		simulation.hold_ns = i % 2 == 0 ? 0 : 2 * MS;
		simulation_commands(&simulation, 1, 100000, 7 * MS);
	}
	cr_assert(le(i64, band(&simulation), BAND_NS), "from %lld to %lld ns",
		  (long long)simulation.error_min_ns, (long long)simulation.error_max_ns);
}

Test(cuda_clock, H8_without_a_base_near_the_host_says_when)
{
	struct simulation simulation;
	simulation_init(&simulation, 31, 1e-5);
	simulation_commands(&simulation, 100, 100000, MS);
	simulation_pass(&simulation, HOUR);
	/* A burst does not come back. Then the end is when it was observed, and the duration is the
	 * GPU's. */
	uint64_t converted_start = 0, converted_end = 0;
	struct simulated_event start = {.device_ns = simulation.since_device_ns + (int64_t)HOUR};
	struct simulated_event end = {.device_ns = start.device_ns + 64000};
	simulation.hold_ns = DAY;
	cr_assert(eq(int, cuda_bases_prepare(&simulation.bases), 0));
	uint64_t before = simulation.now_ns;
	cr_assert(eq(
		int,
		cuda_bases_times(&simulation.bases, &start, &end, &converted_start, &converted_end),
		0));
	cr_assert(ge(u64, converted_end, before));
	cr_assert(le(u64, converted_end, before + 100));
	cr_assert(eq(u64, converted_end - converted_start, 64000));
}

Test(cuda_clock, H8_a_host_clock_that_changes_its_rate_is_followed)
{
	struct simulation simulation;
	simulation_init(&simulation, 41, 1e-5);
	simulation_commands(&simulation, 5000, 100000, MS);
	simulation_set_drift(&simulation,
			     1e-4); /* the host's clock was set, so the GPU seems too fast */
	simulation_commands(&simulation, 3000, 100000, MS);
	cr_assert(eq(uint, simulation.waits, 0));
	simulation_forget(&simulation);
	simulation_commands(&simulation, 3000, 100000, MS);
	cr_assert(le(i64, band(&simulation), BAND_NS), "from %lld to %lld ns",
		  (long long)simulation.error_min_ns, (long long)simulation.error_max_ns);
}

Test(cuda_clock, H8_an_unused_clock_does_nothing)
{
	struct simulation simulation;
	simulation_init(&simulation, 3, 0.0);
	cr_assert(eq(uint, simulation.records, 0));
	simulation_commands(&simulation, 10000, 20000, 80000); /* a second */
	/* At most four bursts a second, and some more at first. */
	cr_assert(le(uint, simulation.records, 30 * CUDA_CLOCK_BURST), "%u", simulation.records);
	unsigned before = simulation.records;
	simulation_commands(&simulation, 10000, 20000, 80000);
	cr_assert(le(uint, simulation.records - before, 6 * CUDA_CLOCK_BURST));
}

Test(cuda_clock, H2_rounding_of_the_driver)
{
	/* Floats of milliseconds: 15 ns at half a second, 31 us at ten minutes, 4 ms at a day. */
	cr_assert(le(i64, cuda_clock_rounding_ns(500 * (int64_t)MS), 20));
	cr_assert(ge(i64, cuda_clock_rounding_ns(600 * (int64_t)SECOND), 31000));
	cr_assert(ge(i64, cuda_clock_rounding_ns((int64_t)DAY), 4000000));
	cr_assert(eq(i64, cuda_clock_elapsed_ns(1.5f), 1500000));
	cr_assert(eq(i64, cuda_clock_elapsed_ns(-0.25f), -250000));
}

Test(cuda_clock, H8_a_device_clock_that_was_set_is_followed_at_once)
{
	static const int64_t jumps[] = {(int64_t)HOUR, -(int64_t)HOUR, (int64_t)DAY,
					2 * (int64_t)SECOND, -2 * (int64_t)SECOND};
	for (size_t i = 0; i < sizeof(jumps) / sizeof(*jumps); i++) {
		struct simulation simulation;
		simulation_init(&simulation, 50 + i, 1e-5);
		simulation_commands(&simulation, 1000, 100000, MS);
		simulation.since_device_ns += jumps[i];
		simulation_pass(&simulation, 300 * MS);
		simulation_commands(&simulation, 1000, 100000, MS);
		cr_assert(le(i64, band(&simulation), BAND_NS), "jump %lld: from %lld to %lld ns",
			  (long long)jumps[i], (long long)simulation.error_min_ns,
			  (long long)simulation.error_max_ns);
	}
}
