/*
 * The times of commands on a simulated device (H3, H4). They are derived only from the time of
 * submission and from when the end was read. Its clock begins anywhere, runs by a crystal with an
 * error, and is read in steps.
 */
#include "opencl/driver/timeline.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <math.h>

#define US     1000ull
#define MS     1000000ull
#define SECOND (1000u * MS)
#define LANES  3

TestSuite(opencl_timeline, .timeout = 20);

struct machine {
	struct opencl_timeline timeline;
	uint64_t now_ns, random;
	uint64_t since_ns, since_device; /* the device's clock at one moment of the host's */
	double drift;                    /* from then on, ns per ns */
	uint64_t tick_ns;
	uint64_t lane_free_ns[LANES]; /* when a lane has finished its work */
	unsigned contradictions;
	/* Converted minus true, for all times since the last clear_errors(). */
	double error_min_ns, error_max_ns, duration_error_ns;
};

struct command {
	unsigned lane;
	uint64_t submit_ns, start_ns, end_ns; /* true */
	uint64_t converted_start_ns, converted_end_ns;
};

static double timeline_random_fraction(struct machine *machine)
{
	machine->random = machine->random * 6364136223846793005ull + 1442695040888963407ull;
	return (double)(machine->random >> 11) / 9007199254740992.0;
}

/* At least this long, mostly not much longer, sometimes a lot. */
static uint64_t jitter(struct machine *machine, double least_ns)
{
	double ns = least_ns * (1 - 0.3 * log(1.0 - timeline_random_fraction(machine)));
	if (timeline_random_fraction(machine) < 0.02)
		ns += 100000.0 * timeline_random_fraction(machine);
	return (uint64_t)ns;
}

static uint64_t opencl_timeline_device_time(const struct machine *machine, uint64_t host_ns)
{
	int64_t passed = (int64_t)(host_ns - machine->since_ns);
	uint64_t ns = machine->since_device +
		      (uint64_t)(passed + (int64_t)((double)passed * machine->drift));
	return ns - ns % machine->tick_ns;
}

static void set_device(struct machine *machine, uint64_t device_ns, double drift)
{
	machine->since_ns = machine->now_ns;
	machine->since_device = device_ns;
	machine->drift = drift;
}

static void clear_errors(struct machine *machine)
{
	machine->error_min_ns = 1e18;
	machine->error_max_ns = -1e18;
	machine->duration_error_ns = 0;
	machine->contradictions = 0;
}

static void open_machine(struct machine *machine, uint64_t epoch, double drift, uint64_t tick_ns)
{
	*machine = (struct machine){
		.now_ns = 90000 * SECOND, .random = epoch ^ tick_ns, .tick_ns = tick_ns};
	set_device(machine, epoch, drift);
	opencl_timeline_init(&machine->timeline, tick_ns);
	clear_errors(machine);
}

/* Sends it now. It begins behind the lane's work, and not before the device can have it. */
static struct command submit_timed(struct machine *machine, unsigned lane, uint64_t duration_ns)
{
	struct command command = {.lane = lane, .submit_ns = machine->now_ns};
	machine->now_ns += 500;
	command.start_ns = command.submit_ns + jitter(machine, 4000);
	if (command.start_ns < machine->lane_free_ns[lane])
		command.start_ns = machine->lane_free_ns[lane];
	command.end_ns = command.start_ns + duration_ns;
	machine->lane_free_ns[lane] = command.end_ns + 200;
	return command;
}

static uint64_t clamp(uint64_t value, uint64_t low, uint64_t high)
{
	return value < low ? low : value > high ? high : value;
}

static void judge(struct machine *machine, const struct command *command)
{
	double start = (double)(int64_t)(command->converted_start_ns - command->start_ns);
	double end = (double)(int64_t)(command->converted_end_ns - command->end_ns);
	machine->error_min_ns = fmin(machine->error_min_ns, fmin(start, end));
	machine->error_max_ns = fmax(machine->error_max_ns, fmax(start, end));
	machine->duration_error_ns = fmax(machine->duration_error_ns, fabs(end - start));
}

/* Reads it as complete now, or as soon as it is. */
static void see(struct machine *machine, struct command *command)
{
	if (machine->now_ns < command->end_ns)
		machine->now_ns = command->end_ns + jitter(machine, 3000);
	const struct opencl_stamps stamps = {
		command->submit_ns, machine->now_ns,
		opencl_timeline_device_time(machine, command->start_ns),
		opencl_timeline_device_time(machine, command->end_ns)};
	machine->contradictions += !opencl_timeline_update(&machine->timeline, &stamps);
	uint64_t start = opencl_timeline_host(&machine->timeline, stamps.start);
	uint64_t end = opencl_timeline_host(&machine->timeline, stamps.end);
	/* Reports the times as the backend does. */
	command->converted_start_ns = clamp(start, command->submit_ns, machine->now_ns);
	command->converted_end_ns = clamp(end, command->converted_start_ns, machine->now_ns);
	judge(machine, command);
}

static void run_machine(struct machine *machine, unsigned count, uint64_t duration_ns,
			uint64_t pause_ns)
{
	for (unsigned i = 0; i < count; i++) {
		struct command command = submit_timed(machine, i % LANES, duration_ns);
		see(machine, &command);
		machine->now_ns += pause_ns;
	}
}

static void expect_within(const struct machine *machine, double ns, const char *when)
{
	cr_assert(ge(dbl, machine->error_min_ns, -ns), "%s: from %.0f to %.0f ns", when,
		  machine->error_min_ns, machine->error_max_ns);
	cr_assert(le(dbl, machine->error_max_ns, ns), "%s: from %.0f to %.0f ns", when,
		  machine->error_min_ns, machine->error_max_ns);
}

static const struct {
	uint64_t epoch;
	double drift;
	uint64_t tick_ns;
} kinds[] = {
	{0, 0.0, 1},
	{1700000000000000000ull, 3e-5, 1000},
	{UINT64_MAX - 30 * SECOND, -8e-5, 32}, /* wraps on its way */
	{1ull << 63, 1e-4, 1},
	{500 * SECOND, -2e-6, 1000},
};

/* The way there takes at least 4 us and the way back 3. So an end is only known to be between these
 * two bounds. */
Test(opencl_timeline, H3_H4_any_clock_is_told_as_well_as_the_quickest_way_there_allows)
{
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct machine machine;
		open_machine(&machine, kinds[i].epoch, kinds[i].drift, kinds[i].tick_ns);
		run_machine(&machine, 6, 2000, 0);
		expect_within(&machine, 15000, "first commands");
		clear_errors(&machine);
		run_machine(&machine, 2000, 20000, 100 * US);
		run_machine(&machine, 2000, 20000, 20 * MS);
		expect_within(&machine, 7000 + 2.0 * (double)kinds[i].tick_ns, "in use");
		cr_assert(eq(uint, machine.contradictions, 0), "kind %u", i);
		/* Corrections are distributed. */
		cr_assert(le(dbl, machine.duration_error_ns,
			     20000 / 16.0 + 20000 * 2e-4 + 2.0 * (double)kinds[i].tick_ns));
	}
}

/* Half of a queue's commands wait long, and their ends are read late. Their bounds are wide, and
 * change no estimate. */
Test(opencl_timeline, H3_deep_queues_do_not_move_the_clock)
{
	struct machine machine;
	struct command commands[500];
	open_machine(&machine, 77 * SECOND, 4e-5, 1000);
	run_machine(&machine, 2000, 20000, 10 * MS);
	clear_errors(&machine);
	for (unsigned round = 0; round < 50; round++) {
		for (unsigned i = 0; i < 500; i++)
			commands[i] = submit_timed(&machine, 0, 50 * US);
		machine.now_ns += 100 * MS;
		for (unsigned i = 0; i < 500; i++)
			see(&machine, &commands[i]);
	}
	expect_within(&machine, 12000, "deep queues");
	cr_assert(eq(uint, machine.contradictions, 0));
}

/* The converted times of three lanes are in the true order, in whatever order the ends are read. */
Test(opencl_timeline, H4_lanes_go_together)
{
	enum { COUNT = 900 };
	struct machine machine;
	static struct command commands[COUNT];
	open_machine(&machine, 1ull << 40, -6e-5, 1);
	/* There was no calibration before: corrections happen meanwhile. */
	for (unsigned i = 0; i < COUNT; i += 9) {
		for (unsigned k = 0; k < 9; k++)
			commands[i + k] = submit_timed(&machine, k % LANES, (1 + k) * 10 * US);
		machine.now_ns += (uint64_t)(timeline_random_fraction(&machine) * 300e3);
		for (unsigned lane = LANES;
		     lane-- > 0;) /* one lane after the other, the last one first */
			for (unsigned k = lane; k < 9; k += LANES)
				see(&machine, &commands[i + k]);
	}
	for (unsigned i = 0; i < COUNT; i++)
		for (unsigned k = 0; k < COUNT; k++)
			if (commands[i].end_ns + 1000 < commands[k].start_ns)
				cr_assert(le(u64, commands[i].converted_end_ns,
					     commands[k].converted_start_ns),
					  "%u and %u", i, k);
	cr_assert(eq(uint, machine.contradictions, 0));
}

/* Nothing runs for minutes. The crystals drift apart by the unknown part of their rates. */
Test(opencl_timeline, H3_a_pause_is_bridged_by_the_rate)
{
	struct machine machine;
	open_machine(&machine, 5 * SECOND, 6e-5, 32);
	run_machine(
		&machine, 3000, 20000,
		10 * MS); /* half a minute: by then the error of the rate is about a millionth */
	for (uint64_t pause = SECOND; pause <= 128 * SECOND; pause *= 2) {
		machine.now_ns += pause;
		clear_errors(&machine);
		run_machine(&machine, 1, 20000, 0);
		/* Otherwise the error would be 60 us for each second. The first command's own
		 * bounds are about 10 us apart. */
		expect_within(&machine, 12000, "after a pause");
		cr_assert(eq(uint, machine.contradictions, 0));
	}
}

/* The host's clock is slewed, so the estimated rate is wrong. */
Test(opencl_timeline, H3_a_rate_that_changes_is_followed)
{
	struct machine machine;
	open_machine(&machine, 5 * SECOND, 1e-5, 32);
	run_machine(&machine, 2000, 20000, 10 * MS);
	set_device(&machine, opencl_timeline_device_time(&machine, machine.now_ns), 3e-4);
	clear_errors(&machine);
	run_machine(&machine, 2000, 20000, 10 * MS);
	/* Until the bounds had no room left, drift could not be distinguished from delay. */
	expect_within(&machine, 20000, "while it changes");
	cr_assert(ge(uint, machine.contradictions, 1));
	cr_assert(le(uint, machine.contradictions, 10));
	clear_errors(&machine);
	run_machine(&machine, 2000, 20000, 10 * MS);
	expect_within(&machine, 8000, "afterwards");
	cr_assert(eq(uint, machine.contradictions, 0));
}

Test(opencl_timeline, H3_a_clock_that_was_set_is_followed_at_once)
{
	static const int64_t jumps[] = {
		(int64_t)SECOND,         -(int64_t)SECOND, 3600 * (int64_t)SECOND,
		-3600 * (int64_t)SECOND, INT64_MAX,        INT64_MIN};
	for (unsigned i = 0; i < sizeof(jumps) / sizeof(*jumps); i++) {
		struct machine machine;
		open_machine(&machine, 1ull << 50, 2e-5, 32);
		run_machine(&machine, 500, 20000, MS);
		set_device(&machine,
			   opencl_timeline_device_time(&machine, machine.now_ns) +
				   (uint64_t)jumps[i],
			   2e-5);
		clear_errors(&machine);
		run_machine(&machine, 500, 20000, MS);
		expect_within(&machine, 15000, "set");
		cr_assert(eq(uint, machine.contradictions, 1), "jump %u: %u", i,
			  machine.contradictions);
	}
}

/* The device's clock is read between two readings of the host's (a driver that uses a host's
 * clock): 50 ns are 50 ns. */
Test(opencl_timeline, H4_close_readings_make_close_times)
{
	struct machine machine;
	open_machine(&machine, 3 * SECOND, 4e-5, 1);
	for (unsigned i = 0; i < 2000; i++) {
		uint64_t stamp = opencl_timeline_device_time(&machine, machine.now_ns + 20);
		const struct opencl_stamps reading = {machine.now_ns, machine.now_ns + 50, stamp,
						      stamp};
		cr_assert(opencl_timeline_update(&machine.timeline, &reading));
		machine.now_ns += 50;
		run_machine(&machine, 1, 20000, 10 * MS);
		if (i == 100)
			clear_errors(&machine);
	}
	expect_within(&machine, 60, "close readings");
	cr_assert(eq(uint, machine.contradictions, 0));
}

Test(opencl_timeline, H3_nonsense_of_a_driver_is_not_believed)
{
	struct machine machine;
	open_machine(&machine, 9 * SECOND, 0.0, 1);
	run_machine(&machine, 100, 20000, MS);
	clear_errors(&machine);
	/* Ends before it starts: the estimate does not change. */
	const struct opencl_stamps backwards = {machine.now_ns, machine.now_ns + 10000, 5000, 4000};
	cr_assert(opencl_timeline_update(&machine.timeline, &backwards));
	run_machine(&machine, 100, 20000, MS);
	expect_within(&machine, 7000, "after nonsense");
	cr_assert(eq(uint, machine.contradictions, 0));
}

/* A caller that can prove that a command ended in time need not read the clock for it; another
 * caller must. */
Test(opencl_timeline, what_is_seen_late_tells_nothing_new)
{
	struct machine machine;
	open_machine(&machine, 9 * SECOND, 0.0, 1);
	uint64_t device_ns = opencl_timeline_device_time(&machine, machine.now_ns);
	cr_assert(
		not(opencl_timeline_covers(&machine.timeline, device_ns, machine.now_ns + SECOND)));
	run_machine(&machine, 100, 20000, MS);
	device_ns = opencl_timeline_device_time(&machine, machine.now_ns);
	cr_assert(opencl_timeline_covers(&machine.timeline, device_ns, machine.now_ns + MS));
	cr_assert(not(opencl_timeline_covers(&machine.timeline, device_ns, machine.now_ns)));
}

/* The end of a driver's first command is read late. The first reported time uses the estimate of a
 * later and better measurement. */
Test(opencl_timeline, H4_the_first_times_are_told_by_all_that_is_known)
{
	enum { DEVICE = 1000000000, AHEAD = 100000000, LATE = 800000, CLOSE = 100 };
	struct opencl_timeline timeline;
	opencl_timeline_init(&timeline, 1);
	const struct opencl_stamps late = {.submit_ns = DEVICE + AHEAD - LATE,
					   .seen_ns = DEVICE + AHEAD,
					   .start = DEVICE,
					   .end = DEVICE};
	cr_assert(opencl_timeline_update(&timeline, &late));
	const uint64_t now = DEVICE + 50000;
	const struct opencl_stamps close = {
		.submit_ns = now + AHEAD - CLOSE, .seen_ns = now + AHEAD, .start = now, .end = now};
	cr_assert(opencl_timeline_update(&timeline, &close));
	opencl_timeline_settle(&timeline);
	const uint64_t next = now + 10000, converted_ns = opencl_timeline_host(&timeline, next);
	cr_assert(ge(u64, converted_ns, next + AHEAD - 2 * CLOSE));
	cr_assert(le(u64, converted_ns, next + AHEAD + 2 * CLOSE));
}
