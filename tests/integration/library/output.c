/* What kernels print with printf, through a service whose engine several programs share. */
#include "syclclient.h"

#include "private_service.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

enum { PROGRAMS = 3, LAUNCHES = 40, ITEMS = 8, LINES = LAUNCHES * ITEMS };

#define MUST(call)                                                                                 \
	do {                                                                                       \
		sycl_result must_ = (call);                                                        \
		cr_assert(eq(int, must_, 0), "%s: %s: %s\n%s", #call, sycl_result_name(must_),     \
			  sycl_get_last_error_text(), sycl_get_build_log());                       \
	} while (0)

/* Takes long enough that launches of several programs would overlap. */
static const char source[] =
	"__kernel void say(int who, int n) {\n"
	"  volatile int rest = 100000; while (rest > 0) rest--;\n"
	"  printf(\"%d says %d\\n\", who, n * 100 + (int)get_global_id(0)); }\n"
	"__kernel void shout(int lines) {\n"
	"  for (int i = 0; i < lines; i++) printf(\"%063d\\n\", i); }\n"
	"__kernel void keep_quiet(int who, int n) { }\n";
static const char quiet_source[] = "__kernel void keep_quiet(int who, int n) { }\n";

static struct private_service *service;

/* One connection, as a program of its own has. */
struct program {
	int who;
	sycl_platform platform;
	sycl_queue queue;
	sycl_kernel say, shout;
	char *text;
	size_t bytes, cuts;
	bool failed;
};

static void start(void)
{
	cr_assert(eq(int, private_service_start(NULL, NULL, &service), 0));
}

static void end(void)
{
	service = private_service_free(service);
}

TestSuite(output, .init = start, .fini = end, .timeout = 240);

static void program_open(struct program *program, int who)
{
	*program = (struct program){.who = who};
	MUST(sycl_platform_open(service->endpoint, &program->platform));
	MUST(sycl_queue_create_default(program->platform, &program->queue));
	MUST(sycl_kernel_from_source(program->queue, source, "say", &program->say));
	MUST(sycl_kernel_from_source(program->queue, source, "shout", &program->shout));
}

static void program_close(struct program *program)
{
	MUST(sycl_kernel_release(program->say));
	MUST(sycl_kernel_release(program->shout));
	MUST(sycl_queue_release(program->queue));
	MUST(sycl_platform_release(program->platform));
	free(program->text);
}

static void keep(const char *text, uint64_t bytes, uint32_t is_cut, void *context)
{
	struct program *program = context;
	program->text = realloc(program->text, program->bytes + bytes + 1);
	cr_assert(program->text != NULL);
	if (bytes > 0)
		memcpy(program->text + program->bytes, text, bytes);
	program->bytes += bytes;
	program->text[program->bytes] = '\0';
	program->cuts += is_cut;
}

static void output_launch(struct program *program, sycl_kernel kernel, int count, const int *values,
			  sycl_event *event_out)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(program->queue, &handler));
	for (int i = 0; i < count; i++)
		MUST(sycl_handler_set_value(handler, (uint32_t)i, sizeof(int), &values[i]));
	MUST(sycl_handler_parallel_for(handler, kernel,
				       sycl_range1(kernel == program->say ? ITEMS : 1)));
	MUST(sycl_handler_submit(handler, event_out));
}

/* Every number once, and no line of another program. */
static void check_lines(const struct program *program)
{
	bool seen[LAUNCHES * 100] = {false};
	int lines = 0;
	cr_assert(program->text != NULL);
	for (char *at = program->text, *next; (next = strchr(at, '\n')); at = next + 1) {
		int who = 0, number = -1;
		cr_assert(eq(int, sscanf(at, "%d says %d", &who, &number), 2), "%.40s", at);
		cr_assert(eq(int, who, program->who));
		cr_assert(ge(int, number, 0));
		cr_assert(lt(int, number, LAUNCHES * 100));
		cr_assert(not(seen[number]));
		seen[number] = true;
		lines++;
	}
	cr_assert(eq(int, lines, LINES));
}

static void *speak(void *context)
{
	struct program *program = context;
	for (int n = 0; n < LAUNCHES; n++) {
		const int values[] = {program->who, n};
		output_launch(program, program->say, 2, values, NULL);
		if (n % 4 == 0)
			program->failed |= sycl_queue_wait(program->queue) != SYCL_SUCCESS;
	}
	program->failed |= sycl_queue_wait(program->queue) != SYCL_SUCCESS;
	return NULL;
}

Test(output, R9_each_program_gets_what_its_own_kernels_print)
{
	struct program programs[PROGRAMS];
	pthread_t threads[PROGRAMS];
	for (int i = 0; i < PROGRAMS; i++)
		program_open(&programs[i], i + 1);
	for (int i = 0; i < PROGRAMS; i++)
		cr_assert(eq(int, pthread_create(&threads[i], NULL, speak, &programs[i]), 0));
	for (int i = 0; i < PROGRAMS; i++) {
		cr_assert(eq(int, pthread_join(threads[i], NULL), 0));
		cr_assert(not(programs[i].failed));
		MUST(sycl_platform_take_output(programs[i].platform, keep, &programs[i]));
		check_lines(&programs[i]);
		cr_assert(eq(sz, programs[i].cuts, 0));
	}
	for (int i = 0; i < PROGRAMS; i++)
		program_close(&programs[i]);
}

Test(output, R9_the_text_is_there_when_the_group_is_complete_and_is_taken_once)
{
	struct program program;
	program_open(&program, 1);
	for (int n = 0; n < 20; n++) {
		const int values[] = {1, n};
		sycl_event event = NULL;
		size_t before = program.bytes;
		output_launch(&program, program.say, 2, values, &event);
		MUST(sycl_event_wait(event));
		MUST(sycl_platform_take_output(program.platform, keep, &program));
		cr_assert(gt(sz, program.bytes, before));
		before = program.bytes;
		MUST(sycl_platform_take_output(program.platform, keep, &program));
		cr_assert(eq(sz, program.bytes, before));
		MUST(sycl_event_release(event));
	}
	program_close(&program);
}

Test(output, R9_text_beyond_the_limit_is_cut_and_the_next_one_is_whole)
{
	struct program program;
	const int few = 3, many = 20000; /* lines of 64 bytes */
	program_open(&program, 1);
	output_launch(&program, program.shout, 1, &many, NULL);
	MUST(sycl_queue_wait(program.queue));
	MUST(sycl_platform_take_output(program.platform, keep, &program));
	cr_assert(eq(sz, program.bytes, 1 << 20));
	cr_assert(eq(sz, program.cuts, 1));
	output_launch(&program, program.shout, 1, &few, NULL);
	MUST(sycl_queue_wait(program.queue));
	MUST(sycl_platform_take_output(program.platform, keep, &program));
	cr_assert(eq(sz, program.bytes, (1 << 20) + (size_t)few * 64));
	cr_assert(eq(sz, program.cuts, 1));
	program_close(&program);
}

/* A program that leaves while its kernel prints takes nothing from the others. */
Test(output, R9_N4_a_program_that_leaves_lets_the_others_print)
{
	struct program program, leaving;
	const int many = 15000, values[] = {2, 0};
	program_open(&program, 2);
	program_open(&leaving, 1);
	for (int i = 0; i < 4; i++)
		output_launch(&leaving, leaving.shout, 1, &many, NULL);
	program_close(&leaving);
	output_launch(&program, program.say, 2, values, NULL);
	MUST(sycl_queue_wait(program.queue));
	MUST(sycl_platform_take_output(program.platform, keep, &program));
	cr_assert(program.text != NULL);
	cr_assert(eq(int, strncmp(program.text, "2 says ", 7), 0));
	cr_assert(eq(sz, program.bytes, ITEMS * sizeof("2 says 0")));
	program_close(&program);
}

Test(output, R9_nothing_printed_is_nothing_to_take)
{
	struct program program;
	sycl_kernel quiet = NULL;
	const int values[] = {1, 0};
	program_open(&program, 1);
	MUST(sycl_kernel_from_source(program.queue, quiet_source, "keep_quiet", &quiet));
	output_launch(&program, quiet, 2, values, NULL);
	MUST(sycl_queue_wait(program.queue));
	MUST(sycl_platform_take_output(program.platform, keep, &program));
	cr_assert(program.text == NULL);
	cr_assert(eq(int, sycl_platform_take_output(program.platform, NULL, NULL),
		     SYCL_ERROR_INVALID));
	MUST(sycl_kernel_release(quiet));
	program_close(&program);
}
