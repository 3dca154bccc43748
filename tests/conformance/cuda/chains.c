/*
 * Chains of the CUDA backend with a driver. Kernels of every shape take turns in the same
 * templates, none is refused, and the device itself writes completions.
 */
#include "targets/target.h"

#include "cuda/device/device.h"
#include "cuda/lane/lane.h"
#include "cuda/program/pace.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* This makes chains long, whatever time this machine took for earlier launches. */
static const struct cuda_pace short_and_known = {.period_ns = 1000, .items = UINT64_MAX};

#define COUNT 1000u

TestSuite(cuda_chains, .timeout = 120);

static void fill_with(struct fixture *fixture, struct backend_memory *memory, uint32_t value)
{
	static uint32_t words[COUNT];

	for (uint32_t i = 0; i < COUNT; i++)
		words[i] = value;
	fixture_write(fixture, memory, 0, words, sizeof(words));
}

static uint32_t read_last(struct fixture *fixture, struct backend_memory *memory)
{
	uint32_t word = 0;

	fixture_read(fixture, memory, (COUNT - 1) * 4ull, &word, 4);
	return word;
}

/* Describes runs of words in the memory: "3 from 0, 4 from 512, ...". */
static void describe(const uint32_t *words, char *text, size_t bytes)
{
	size_t used = 0;

	for (uint32_t i = 0; i < COUNT && used < bytes; i++)
		if (i == 0 || words[i] != words[i - 1])
			used += (size_t)snprintf(text + used, bytes - used, "%s%u from %u",
						 i ? ", " : "", words[i], i);
}

/*
 * Checks that all words are `value`. Otherwise the message has the wrong words, their values when
 * they are read again, and those read on a lane behind everything of the writing lane. So it
 * distinguishes wrong results from early reads.
 */
static void cuda_chain_list_expect_words(struct fixture *fixture, struct backend_memory *memory,
					 uint32_t value, uint32_t lane, const char *when,
					 uint32_t round)
{
	static uint32_t words[COUNT], again[COUNT], behind[COUNT];
	static char text[3][512];
	bool is_right = true;

	fixture_read(fixture, memory, 0, words, sizeof(words));
	for (uint32_t i = 0; i < COUNT; i++)
		is_right = is_right && words[i] == value;
	if (is_right)
		return;
	fixture_read(fixture, memory, 0, again, sizeof(again));
	const struct backend_command command = {
		.kind = BACKEND_COMMAND_READ,
		.transfer = {.memory = memory, .size_bytes = sizeof(behind), .host = behind},
	};
	fixture_wait(fixture, lane, fixture_submit(fixture, lane, &command));
	describe(words, text[0], sizeof(text[0]));
	describe(again, text[1], sizeof(text[1]));
	describe(behind, text[2], sizeof(text[2]));
	cr_assert_fail(
		"%s, round %u: %u expected; read: %s; once more: %s; behind the kernels: %s; %llu chains",
		when, round, value, text[0], text[1], text[2],
		(unsigned long long)fixture->device->lanes->chains_sent);
}

enum { MANY = 400 };

/* Kernels with one, two and three parameters, pointers and values, from different modules, and
 * different grids. */
struct shapes {
	struct backend_memory *dst, *src;
	struct backend_kernel *fill, *add, *mix, *increment;
};

static struct shapes make_shapes(struct fixture *fixture)
{
	return (struct shapes){
		.dst = fixture_memory(fixture, COUNT * 4, NULL),
		.src = fixture_memory(fixture, COUNT * 4, NULL),
		.fill = fixture_kernel(fixture, "fill_u32"),
		.add = fixture_kernel(fixture, "add_u32"),
		.mix = fixture_kernel(fixture, "mix_u32"),
		.increment = fixture_kernel(fixture, "increment_u32"),
	};
}

static void free_shapes(const struct fixture *fixture, const struct shapes *shapes)
{
	fixture->ops->kernel_free(shapes->fill);
	fixture->ops->kernel_free(shapes->add);
	fixture->ops->kernel_free(shapes->mix);
	fixture->ops->kernel_free(shapes->increment);
	fixture->ops->memory_free(shapes->dst);
	fixture->ops->memory_free(shapes->src);
}

/* Submits the next of them in turn; `expected` is the value of the last word afterwards, if `src`
 * has 5. */
static uint64_t submit_shape(struct fixture *fixture, const struct shapes *shapes, uint32_t number,
			     uint32_t *expected)
{
	const uint64_t global = COUNT, one = 1;
	const uint32_t value = number * 7;
	const struct backend_argument arguments[] = {global_argument(shapes->dst),
						     global_argument(shapes->src),
						     value_argument(&value, sizeof(value))},
				      fill_arguments[] = {arguments[0], arguments[2]};
	struct backend_command command;

	switch (number % 5) {
	case 0:
		command = launch_command(shapes->fill, 1, &global, fill_arguments, 2);
		*expected = value;
		break;
	case 1:
		command = launch_command(shapes->mix, 1, &global, arguments, 3);
		*expected = *expected * 31 + 5 + value;
		break;
	case 2:
		command = launch_command(shapes->increment, 1, &global, arguments, 1);
		*expected += 1;
		break;
	case 3:
		command = launch_command(shapes->increment, 1, &one, arguments,
					 1); /* only the first word */
		break;
	default:
		command = launch_command(shapes->add, 1, &global, arguments, 2);
		*expected += 5;
		break;
	}
	*cuda_kernel_pace(command.launch.kernel) = short_and_known;
	return fixture_submit(fixture, 1, &command);
}

Test(cuda_chains, one_template_serves_kernels_of_every_shape)
{
	struct fixture fixture = {.wake_fd = -1};
	uint32_t expected = 0;
	uint64_t sequence = 0;

	fixture_open(&fixture, 0);
	const struct shapes shapes = make_shapes(&fixture);
	fill_with(&fixture, shapes.src, 5);
	for (uint32_t i = 0; i < MANY; i++) {
		sequence = submit_shape(&fixture, &shapes, i, &expected);
		if (i % 37 == 36) {
			fixture.ops->flush(fixture.device);
			fixture_progress(&fixture);
		}
	}
	fixture_wait(&fixture, 1, sequence);
	cr_assert_eq(read_last(&fixture, shapes.dst), expected);
	cr_assert_eq(fixture.device->lanes->chains_refused, 0);
	/* 16 + 16 + 4 + 1, ten times, and the rest. */
	cr_assert_gt(fixture.device->lanes->chains_sent, 0);
	cr_assert_leq(fixture.device->lanes->chains_sent, 50);
	struct backend_sendings sendings;
	fixture.ops->sendings(fixture.device, &sendings);
	cr_assert_eq(sendings.chains, fixture.device->lanes->chains_sent);
	cr_assert_eq(sendings.chain_launches, MANY);
	cr_assert_eq(sendings.refused, 0);
	free_shapes(&fixture, &shapes);
	fixture_close(&fixture);
}

Test(cuda_chains, every_number_of_launches_runs_each_once)
{
	struct fixture fixture = {.wake_fd = -1};
	const uint64_t global = COUNT;
	uint32_t expected = 0;

	fixture_open(&fixture, 0);
	struct backend_memory *dst = fixture_memory(&fixture, COUNT * 4, NULL);
	struct backend_kernel *kernel = fixture_kernel(&fixture, "increment_u32");
	const struct backend_argument argument = global_argument(dst);
	const struct backend_command command = launch_command(kernel, 1, &global, &argument, 1);
	fill_with(&fixture, dst, 0);
	for (uint32_t count = 1; count <= 35; count++) {
		uint64_t sequence = 0;
		*cuda_kernel_pace(kernel) = short_and_known;
		for (uint32_t i = 0; i < count; i++)
			sequence = fixture_submit(&fixture, 2, &command);
		fixture_wait(&fixture, 2, sequence);
		expected += count;
		cuda_chain_list_expect_words(&fixture, dst, expected, 2, "increments", count);
	}
	cr_assert_eq(fixture.device->lanes->chains_refused, 0);
	fixture.ops->kernel_free(kernel);
	fixture.ops->memory_free(dst);
	fixture_close(&fixture);
}

/* A kernel that is freed between two uses of a template does not affect it. */
Test(cuda_chains, a_template_outlives_the_kernels_that_ran_in_it)
{
	struct fixture fixture = {.wake_fd = -1};
	const uint64_t global = COUNT;
	const uint32_t value = 3;

	fixture_open(&fixture, 0);
	struct backend_memory *dst = fixture_memory(&fixture, COUNT * 4, NULL);
	fill_with(&fixture, dst, 0xabcd);
	for (uint32_t round = 0; round < 5; round++) {
		struct backend_program *program = fixture_build(
			&fixture, conformance_target.source_kind, conformance_target.source, "");
		struct backend_kernel *fill = NULL, *increment = NULL;
		struct backend_fault fault = {0};
		cr_assert_eq(fixture.ops->kernel_create(program, "fill_u32", &fill, &fault), 0,
			     "%s", fault.text);
		cr_assert_eq(
			fixture.ops->kernel_create(program, "increment_u32", &increment, &fault), 0,
			"%s", fault.text);
		fixture.ops->program_free(program);
		const struct backend_argument arguments[] = {global_argument(dst),
							     value_argument(&value, sizeof(value))};
		const struct backend_command first = launch_command(fill, 1, &global, arguments, 2),
					     second = launch_command(increment, 1, &global,
								     arguments, 1);
		(void)fixture_submit(&fixture, 1, &first);
		uint64_t sequence = fixture_submit(&fixture, 1, &second);
		/* It is freed while in flight. */
		fixture.ops->kernel_free(fill);
		fixture.ops->kernel_free(increment);
		fixture_wait(&fixture, 1, sequence);
		cuda_chain_list_expect_words(&fixture, dst, 4, 1, "fill and increment", round);
	}
	cr_assert_eq(fixture.device->lanes->chains_refused, 0);
	fixture.ops->memory_free(dst);
	fixture_close(&fixture);
}

/* Waits until a word has a value, without a query of the backend: only the device writes it. */
static void await_word(struct fixture *fixture, const _Atomic uint32_t *word, uint32_t value)
{
	fixture->ops->flush(fixture->device);
	while (atomic_load_explicit(word, memory_order_acquire) != value)
		(void)nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
}

Test(cuda_chains, the_device_writes_completions_of_launches_copies_and_nops)
{
	struct fixture fixture = {.wake_fd = -1};
	const uint64_t global = COUNT;
	const size_t bytes = 4096;
	struct backend_host *host = NULL;
	struct backend_fault fault = {0};

	fixture_open(&fixture, 0);
	cr_assert(fixture.facts->features & BACKEND_FEATURE_COMPLETION);
	_Atomic uint32_t *slots =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq((void *)slots, MAP_FAILED);
	cr_assert_eq(
		fixture.ops->host_register(fixture.device, (void *)slots, bytes, &host, &fault), 0,
		"%s", fault.text);
	struct backend_memory *dst = fixture_memory(&fixture, COUNT * 4, NULL);
	struct backend_kernel *kernel = fixture_kernel(&fixture, "increment_u32");
	const struct backend_argument argument = global_argument(dst);
	const struct backend_command commands[] = {
		launch_command(kernel, 1, &global, &argument, 1),
		{.kind = BACKEND_COMMAND_FILL,
		 .fill = {.memory = dst,
			  .size_bytes = COUNT * 4,
			  .pattern = "\0\0\0\0",
			  .pattern_bytes = 4}},
		{.kind = BACKEND_COMMAND_NOP},
		launch_command(kernel, 1, &global, &argument, 1),
	};
	struct test_lane *lane = &fixture.lanes[1];
	for (uint32_t i = 0; i < 40; i++) {
		const struct backend_direct_completion completion = {
			.host = host, .offset_bytes = (i % 7) * 4ull, .value = i + 100};
		cr_assert_eq(fixture.ops->submit(lane->lane, &commands[i % 4], NULL, 0,
						 lane->next_sequence++, &completion, &fault),
			     0, "%s", fault.text);
		if (i % 3 == 2)
			await_word(&fixture, &slots[i % 7], i + 100);
	}
	await_word(&fixture, &slots[39 % 7], 139);
	fixture_wait(&fixture, 1, lane->next_sequence - 1);
	cr_assert_eq(lane->seen_count, 40);
	fixture.ops->kernel_free(kernel);
	fixture.ops->memory_free(dst);
	fixture.ops->host_unregister(host);
	fixture_close(&fixture);
	(void)munmap((void *)slots, bytes);
}
