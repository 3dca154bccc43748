/* Records of a stream as text: conversions, and records that no sycl_print has written. */
#include "base/stream_text.h"

#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(client_stream, .timeout = 20);

enum { SIGNED = 1, UNSIGNED = 2, FLOAT = 3, DOUBLE = 4 };

struct records {
	unsigned char bytes[8192];
	size_t count;
};

static void add_stream_record(struct records *records, const char *format, uint32_t count,
			      uint32_t kinds, const uint64_t *values)
{
	uint32_t length = (uint32_t)strlen(format), padded = (length + 7) / 8 * 8;
	const uint32_t head[] = {16 + 8 * count + padded, count, length, kinds};
	unsigned char *at = records->bytes + records->count;
	memcpy(at, head, sizeof(head));
	memcpy(at + 16, values, (size_t)8 * count);
	memset(at + 16 + 8 * count, 0, padded);
	memcpy(at + 16 + 8 * count, format, length);
	records->count += head[0];
}

static uint64_t bits_of(double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static uint64_t float_bits(float value)
{
	uint32_t bits;
	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static void expect_stream_text(const struct records *records, const char *text)
{
	size_t bytes = 0;
	char *made = stream_text(records->bytes, records->count, &bytes);
	cr_assert(ne(ptr, made, NULL));
	cr_assert(eq(str, made, (char *)(uintptr_t)text));
	cr_assert(eq(sz, bytes, strlen(text)));
	free(made);
}

static void expect_one(const char *format, uint32_t kind, uint64_t value, const char *text)
{
	struct records records = {.count = 0};
	add_stream_record(&records, format, 1, kind, &value);
	expect_stream_text(&records, text);
}

Test(client_stream, numbers_are_written_as_printf_writes_them)
{
	expect_one("%d", SIGNED, (uint64_t)-5, "-5");
	expect_one("%ld|", SIGNED, (uint64_t)INT64_MIN, "-9223372036854775808|");
	expect_one("[%5u]", UNSIGNED, 42, "[   42]");
	expect_one("[%-5u]", UNSIGNED, 42, "[42   ]");
	expect_one("%08.3f", FLOAT, float_bits(2.5f), "0002.500");
	expect_one("%g", DOUBLE, bits_of(0.25), "0.25");
	expect_one("%#x", UNSIGNED, 255, "0xff");
	expect_one("%+d", SIGNED, 7, "+7");
	expect_one("%c%%", SIGNED, 'x', "x%");
	expect_one("%p", UNSIGNED, 0x1234, "0x1234");
}

/* If a conversion does not fit the kind of the value, the value is printed. */
Test(client_stream, kinds_that_differ_are_converted)
{
	expect_one("%d", FLOAT, float_bits(-3.75f), "-3");
	expect_one("%f", SIGNED, (uint64_t)-2, "-2.000000");
	expect_one("%u", DOUBLE, bits_of(1e30), "18446744073709551615");
	expect_one("%d", DOUBLE, bits_of(-1e30), "-9223372036854775808");
	expect_one("%d", DOUBLE, bits_of((double)__builtin_nan("")), "0");
	expect_one("%d", 9, 12, "12");
}

Test(client_stream, what_is_no_conversion_stands_for_itself)
{
	expect_one("%n|%s", SIGNED, 1, "%n|%s"); /* the second has no value */
	expect_one("%", SIGNED, 1, "%");
	expect_one("%5.3l", SIGNED, 1, "%5.3l");
	expect_one("%d %d", SIGNED, 1, "1 %d");
	expect_one("100%%", SIGNED, 1, "100%");
	expect_one("%y", SIGNED, 1, "%y");
}

/* A width of millions would cause an output of gigabytes. */
Test(client_stream, widths_are_bounded)
{
	struct records records = {.count = 0};
	const uint64_t values[] = {1, 2};
	size_t bytes = 0;
	add_stream_record(&records, "%999999999d%.999999999f", 2, SIGNED | SIGNED << 4, values);
	char *made = stream_text(records.bytes, records.count, &bytes);
	cr_assert(ne(ptr, made, NULL));
	cr_assert(le(sz, bytes, 600));
	free(made);
}

Test(client_stream, several_records_and_values)
{
	struct records records = {.count = 0};
	const uint64_t values[] = {1, 2, float_bits(3.0f), bits_of(4.0), 5, 6, 7, 8};
	add_stream_record(&records, "none\n", 0, 0, values);
	add_stream_record(&records, "%d %u %g %g %d %d %d %d\n", 8, 0x11114321, values);
	add_stream_record(&records, "", 0, 0, values);
	add_stream_record(&records, "end", 0, 0, values);
	expect_stream_text(&records, "none\n1 2 3 4 5 6 7 8\nend");
}

/* A stream may be cut anywhere, or any word may be changed. It is read inside of its bounds, up to
 * the first invalid record. */
Test(client_stream, damaged_records_end_the_text)
{
	struct records whole = {.count = 0};
	const uint64_t value = 7;
	size_t bytes = 0;
	add_stream_record(&whole, "a%d", 1, SIGNED, &value);
	add_stream_record(&whole, "b%d", 1, SIGNED, &value);
	for (size_t cut = 0; cut < whole.count; cut++) {
		unsigned char *exact = malloc(cut + 1);
		memcpy(exact, whole.bytes, cut);
		char *made = stream_text(exact, cut, &bytes);
		cr_assert(ne(ptr, made, NULL));
		cr_assert(eq(str, made, cut < whole.count / 2 ? "" : "a7"), "%zu bytes", cut);
		free(made);
		free(exact);
	}
	for (size_t at = 0; at < whole.count; at += 4) {
		static const uint32_t values[] = {0, 1, 9, 0xffffffff, 0x7fffffff, 1025};
		for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
			struct records broken = whole;
			memcpy(broken.bytes + at, &values[i], 4);
			char *made = stream_text(broken.bytes, broken.count, &bytes);
			cr_assert(ne(ptr, made, NULL));
			cr_assert(lt(sz, bytes, 100));
			free(made);
		}
	}
}
