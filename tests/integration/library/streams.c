/* Text that kernels print arrives at the program that launched them. */
#include "library/portable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(streams, .init = portable_begin, .fini = portable_end, .timeout = 120);

static const char source[] =
	"void say(SYCL_STREAM out, int i) { sycl_print(out, \"item %d of %u\\n\", i, (uint)sycl_global_range(0)); }\n"
	"SYCL_KERNEL void print(SYCL_STREAM out, int only) {\n"
	"  int i = (int)sycl_global_id(0);\n"
	"  if (only < 0 || i == only) say(out, i);\n"
	"}\n"
	"SYCL_KERNEL void types(SYCL_STREAM out, float x) {\n"
	"  short s = -3; uchar c = 200;\n"
	"  sycl_print(out, \"%d %d %ld %lu|%5.2f|%x%%\\n\", s, c, -4l, 5ul, x, 255u);\n"
	"  sycl_print(out, \"no values\\n\");\n"
	"  sycl_print(out, \"%d%d%d%d%d%d%d%d\", 1, 2, 3, 4, 5, 6, 7, 8);\n"
	"}\n";

static sycl_kernel streams_kernel_of(const char *name)
{
	sycl_kernel kernel = NULL;
	MUST(sycl_kernel_from_source(queue, source, name, &kernel));
	return kernel;
}

static void launch_with_stream(sycl_kernel kernel, sycl_buffer stream, uint64_t items,
			       const void *value)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, stream, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_set_value(handler, 1, 4, value));
	MUST(sycl_handler_parallel_for(handler, kernel, sycl_range1(items)));
	MUST(sycl_handler_submit(handler, NULL));
}

static char *text_of(sycl_buffer stream, uint64_t *lost)
{
	uint64_t bytes = 0, again = 0;
	MUST(sycl_stream_read(stream, 0, NULL, &bytes, NULL));
	char *text = malloc(bytes);
	MUST(sycl_stream_read(stream, bytes, text, &again, lost));
	cr_assert(eq(u64, again, bytes));
	cr_assert(eq(sz, strlen(text) + 1, bytes));
	return text;
}

Test(streams, E14_every_work_item_prints_whole_lines)
{
	enum { ITEMS = 100 };
	sycl_kernel print = streams_kernel_of("print");
	sycl_buffer stream = NULL;
	bool seen[ITEMS] = {false};
	uint64_t lost = 7;
	int all = -1, lines = 0;

	MUST(sycl_stream_create(platform, 1 << 16, &stream));
	launch_with_stream(print, stream, ITEMS, &all);
	char *text = text_of(stream, &lost), *rest = text;
	cr_assert(eq(u64, lost, 0));
	for (char *line; (line = strsep(&rest, "\n")) && *line; lines++) {
		int item = -1, of = 0;
		cr_assert(eq(int, sscanf(line, "item %d of %d", &item, &of), 2), "%s", line);
		cr_assert(ge(int, item, 0));
		cr_assert(lt(int, item, ITEMS));
		cr_assert(eq(int, of, ITEMS));
		cr_assert(eq(int, seen[item], false), "item %d twice", item);
		seen[item] = true;
	}
	cr_assert(eq(int, lines, ITEMS));
	free(text);
	/* Text that was read is removed; the next launch writes from the beginning. */
	text = text_of(stream, NULL);
	cr_assert(eq(str, text, ""));
	free(text);
	int third = 3;
	launch_with_stream(print, stream, ITEMS, &third);
	text = text_of(stream, NULL);
	cr_assert(eq(str, text, "item 3 of 100\n"));
	free(text);
	MUST(sycl_buffer_release(stream));
	MUST(sycl_kernel_release(print));
}

Test(streams, E14_values_of_every_type)
{
	sycl_kernel types = streams_kernel_of("types");
	sycl_buffer stream = NULL;
	const float x = 2.125f;
	MUST(sycl_stream_create(platform, 4096, &stream));
	launch_with_stream(types, stream, 1, &x);
	char *text = text_of(stream, NULL);
	cr_assert(eq(str, text, "-3 200 -4 5| 2.12|ff%\nno values\n12345678"));
	free(text);
	MUST(sycl_buffer_release(stream));
	MUST(sycl_kernel_release(types));
}

/* Statements that do not fit are counted, and the others are complete. */
Test(streams, a_full_stream_counts_what_it_loses)
{
	enum { ITEMS = 1000 };
	sycl_kernel print = streams_kernel_of("print");
	sycl_buffer stream = NULL;
	uint64_t lost = 0;
	int all = -1, lines = 0;

	MUST(sycl_stream_create(platform, 1000, &stream));
	launch_with_stream(print, stream, ITEMS, &all);
	launch_with_stream(print, stream, ITEMS, &all);
	char *text = text_of(stream, &lost);
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	cr_assert(gt(int, lines, 0));
	cr_assert(eq(u64, lost + (uint64_t)lines, 2 * ITEMS));
	free(text);
	MUST(sycl_buffer_release(stream));
	MUST(sycl_kernel_release(print));
}

Test(streams, M12_what_is_no_stream_is_refused)
{
	sycl_buffer stream = NULL, words = words_buffer(platform, 5);
	uint64_t bytes = 0;
	char text[8];

	REFUSED(sycl_stream_read(words, 0, NULL, &bytes, NULL), SYCL_ERROR_INVALID);
	REFUSED(sycl_stream_create(platform, 8, &stream), SYCL_ERROR_INVALID);
	REFUSED(sycl_stream_create(platform, SYCL_STREAM_BYTES_MAX + 1, &stream),
		SYCL_ERROR_INVALID);
	MUST(sycl_stream_create(platform, 100, &stream));
	REFUSED(sycl_stream_read(stream, 1, NULL, &bytes, NULL), SYCL_ERROR_INVALID);
	REFUSED(sycl_stream_read(stream, 0, NULL, NULL, NULL), SYCL_ERROR_INVALID);
	MUST(sycl_stream_read_for(stream, LONG_NS, sizeof(text), text, &bytes, NULL));
	cr_assert(eq(u64, bytes, 1));
	MUST(sycl_buffer_release(stream));
	MUST(sycl_buffer_release(words));
}
