/* The records that sycl_print writes into a stream, which the library converts to text
 * (client/lib/base/stream_text.h). */
#include "cuda/kernels_run.h"

TestSuite(portable_stream, .timeout = 120);

enum { WORDS = 1024, ITEMS = 40 };

static const char source[] =
	"void say(SYCL_STREAM out, uint i) { sycl_print(out, \"item %u\", i); }\n"
	"SYCL_KERNEL void print(SYCL_STREAM out) { say(out, (uint)sycl_global_linear_id()); }\n"
	"SYCL_KERNEL void values(SYCL_STREAM out) {\n"
	"  sycl_print(out, \"%d %lu %g\", -2, 0x123456789aul, 1.5f);\n"
	"  sycl_print(out, \"12345678\"); sycl_print(out, \"\");\n"
	"}\n";

static void run_into(struct run *run, const char *name, uint64_t items, uint32_t room,
		     uint32_t *words)
{
	struct backend_kernel *kernel = run_kernel(run, name);
	memset(words, 0, WORDS * 4);
	words[2] = room;
	struct backend_memory *memory = run_memory(run, words, WORDS * 4);
	const struct backend_argument argument = global_argument(memory);
	const struct backend_command command = launch_command(kernel, 1, &items, &argument, 1);
	run_command(run, &command);
	fixture_read(&run->fixture, memory, 0, words, WORDS * 4);
	run->fixture.ops->memory_free(memory);
	run->fixture.ops->kernel_free(kernel);
}

Test(portable_stream, E14_records_are_whole_and_apart)
{
	static uint32_t words[WORDS];
	uint64_t seen = 0;
	struct run run;

	run_open(&run, BACKEND_SOURCE_PORTABLE, source, "", "print");
	run_into(&run, "print", ITEMS, (WORDS - 4) * 4, words);
	cr_assert_eq(words[0], ITEMS * 32);
	cr_assert_eq(words[1], 0);
	for (uint32_t i = 0; i < ITEMS; i++) {
		const uint32_t *record = words + 4 + 8 * i;
		cr_assert_eq(record[0], 32);
		cr_assert_eq(record[1], 1);
		cr_assert_eq(record[2], 7);
		cr_assert_eq(record[3], 2);
		cr_assert_lt(record[4], ITEMS);
		cr_assert_eq(record[5], 0);
		cr_assert_eq(memcmp(record + 6, "item %u", 8), 0);
		seen |= UINT64_C(1) << record[4];
	}
	cr_assert_eq(seen, (UINT64_C(1) << ITEMS) - 1);
	run_close(&run);
}

/* There is room for five of them: nothing is written behind it. */
Test(portable_stream, what_finds_no_room_is_counted)
{
	static uint32_t words[WORDS];
	struct run run;

	run_open(&run, BACKEND_SOURCE_PORTABLE, source, "", "print");
	run_into(&run, "print", ITEMS, 5 * 32 + 16, words);
	cr_assert_eq(words[1], ITEMS - 5);
	for (uint32_t i = 4 + 5 * 8; i < WORDS; i++)
		cr_assert_eq(words[i], 0, "word %u", i);
	run_close(&run);
}

Test(portable_stream, E14_values_keep_their_kinds)
{
	static uint32_t words[WORDS];
	struct run run;

	run_open(&run, BACKEND_SOURCE_PORTABLE, source, "", "print");
	run_into(&run, "values", 1, (WORDS - 4) * 4, words);
	const uint32_t *record = words + 4;
	cr_assert_eq(words[0], 56 + 24 + 16);
	cr_assert_eq(record[0], 16 + 24 + 16);
	cr_assert_eq(record[1], 3);
	cr_assert_eq(record[2], 9);
	cr_assert_eq(record[3], 0x321);
	cr_assert_eq(record[4], 0xfffffffe);
	cr_assert_eq(record[5], 0xffffffff);
	cr_assert_eq(record[6], 0x3456789a);
	cr_assert_eq(record[7], 0x12);
	cr_assert_eq(record[8], 0x3fc00000);
	cr_assert_eq(memcmp(record + 10, "%d %lu %g", 9), 0);
	record += record[0] / 4;
	cr_assert_eq(record[0], 24);
	cr_assert_eq(memcmp(record + 4, "12345678", 8), 0);
	record += record[0] / 4;
	cr_assert_eq(record[0], 16);
	cr_assert_eq(record[2], 0);
	run_close(&run);
}
