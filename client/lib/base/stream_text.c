#include "base/stream_text.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_HEAD_BYTES 16u
#define VALUES_MAX        8u
#define WIDTH_MAX         255 /* larger widths are cut, so that no output is padded by megabytes */
#define FORMAT_BYTES_MAX  1024u

enum kind { KIND_SIGNED = 1, KIND_UNSIGNED = 2, KIND_FLOAT = 3, KIND_DOUBLE = 4 };

struct record {
	uint32_t bytes, count, length, kinds;
	const unsigned char *values;
	const char *format;
};

static uint32_t text_word_at(const unsigned char *at)
{
	uint32_t word;
	memcpy(&word, at, sizeof(word));
	return word;
}

static bool read_record(const unsigned char *at, size_t left, struct record *record)
{
	if (left < RECORD_HEAD_BYTES)
		return false;
	record->bytes = text_word_at(at);
	record->count = text_word_at(at + 4);
	record->length = text_word_at(at + 8);
	record->kinds = text_word_at(at + 12);
	if (record->count > VALUES_MAX || record->length > FORMAT_BYTES_MAX ||
	    record->bytes > left ||
	    record->bytes != RECORD_HEAD_BYTES + 8 * record->count + (record->length + 7) / 8 * 8)
		return false;
	record->values = at + RECORD_HEAD_BYTES;
	record->format = (const char *)record->values + (size_t)8 * record->count;
	return true;
}

struct value {
	enum kind kind;
	uint64_t bits;
};

static struct value value_at(const struct record *record, uint32_t index)
{
	struct value value = {.kind = (enum kind)(record->kinds >> (4 * index) & 15)};
	memcpy(&value.bits, record->values + (size_t)8 * index, sizeof(value.bits));
	return value;
}

static double as_real(const struct value *value)
{
	double real;
	float narrow;
	uint32_t word = (uint32_t)value->bits;
	switch (value->kind) {
	case KIND_FLOAT:
		memcpy(&narrow, &word, sizeof(narrow));
		return (double)narrow;
	case KIND_DOUBLE:
		memcpy(&real, &value->bits, sizeof(real));
		return real;
	case KIND_SIGNED:
		return (double)(int64_t)value->bits;
	default:
		return (double)value->bits;
	}
}

/*
 * Rounds a real number out of range to the nearest integer, because C leaves that cast undefined.
 */
static uint64_t as_integer(const struct value *value)
{
	double real;
	if (value->kind != KIND_FLOAT && value->kind != KIND_DOUBLE)
		return value->bits;
	real = as_real(value);
	if (isnan(real))
		return 0;
	if (real < 0)
		return real <= -9223372036854775808.0 ? (uint64_t)INT64_MIN
						      : (uint64_t)(int64_t)real;
	return real >= 18446744073709551616.0 ? UINT64_MAX : (uint64_t)real;
}

/* One parsed conversion: at most "%-+ #0255.255llX". */
struct conversion {
	char flags[6];
	int width, precision; /* precision -1: none */
	char letter;
};

static const char *text_read_number(const char *at, const char *end, int *number_out)
{
	int number = 0;
	for (; at < end && isdigit((unsigned char)*at); at++)
		number = number > WIDTH_MAX ? WIDTH_MAX + 1 : number * 10 + (*at - '0');
	*number_out = number > WIDTH_MAX ? WIDTH_MAX : number;
	return at;
}

/* `at` is behind the '%'. NULL: the format ends inside. */
static const char *read_conversion(const char *at, const char *end, struct conversion *conversion)
{
	size_t flags = 0;
	*conversion = (struct conversion){.precision = -1};
	for (; at < end && *at && strchr("-+ #0", *at); at++)
		if (!strchr(conversion->flags, *at) && flags < sizeof(conversion->flags) - 1)
			conversion->flags[flags++] = *at;
	at = text_read_number(at, end, &conversion->width);
	if (at < end && *at == '.')
		at = text_read_number(at + 1, end, &conversion->precision);
	while (at < end && *at && strchr("hlLjztq", *at))
		at++;
	if (at == end || !*at)
		return NULL;
	conversion->letter = *at;
	return at + 1;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void print_stream_value(FILE *out, const struct conversion *conversion,
			       const struct value *value)
{
	char format[64];
	char precision[16] = "", width[16] = "";
	if (conversion->width > 0)
		(void)snprintf(width, sizeof(width), "%d", conversion->width);
	if (conversion->precision >= 0)
		(void)snprintf(precision, sizeof(precision), ".%d", conversion->precision);
	bool integer = strchr("diouxX", conversion->letter) != NULL;
	(void)snprintf(format, sizeof(format), "%%%s%s%s%s%c", conversion->flags, width, precision,
		       integer ? "ll" : "", conversion->letter);
	if (strchr("di", conversion->letter))
		(void)fprintf(out, format, (long long)as_integer(value));
	else if (integer)
		(void)fprintf(out, format, (unsigned long long)as_integer(value));
	else
		(void)fprintf(out, format, as_real(value));
}
#pragma GCC diagnostic pop

static void put_conversion(FILE *out, const struct conversion *conversion,
			   const struct value *value)
{
	switch (conversion->letter) {
	case 'c':
		(void)fputc((int)(as_integer(value) & 255), out);
		break;
	case 'p':
		(void)fprintf(out, "0x%llx", (unsigned long long)as_integer(value));
		break;
	case 'd':
	case 'i':
	case 'o':
	case 'u':
	case 'x':
	case 'X':
	case 'a':
	case 'A':
	case 'e':
	case 'E':
	case 'f':
	case 'F':
	case 'g':
	case 'G':
		print_stream_value(out, conversion, value);
		break;
	default: /* an unknown conversion: only its letter is printed, without flags */
		(void)fprintf(out, "%%%c", conversion->letter);
		break;
	}
}

/*
 * A conversion without a value, or an incomplete one at the end of the format, is printed as it is.
 */
static void print_record(FILE *out, const struct record *record)
{
	const char *at = record->format, *end = at + record->length;
	uint32_t next = 0;
	while (at < end) {
		struct conversion conversion;
		const char *behind;
		if (*at != '%') {
			(void)fputc(*at++, out);
			continue;
		}
		if (end - at > 1 && at[1] == '%') {
			(void)fputc('%', out);
			at += 2;
			continue;
		}
		behind = read_conversion(at + 1, end, &conversion);
		if (!behind || next >= record->count) {
			(void)fputc(*at++, out);
			continue;
		}
		struct value value = value_at(record, next++);
		put_conversion(out, &conversion, &value);
		at = behind;
	}
}

char *stream_text(const unsigned char *records, size_t bytes, size_t *bytes_out)
{
	char *text = NULL;
	size_t count = 0, at = 0;
	struct record record;
	FILE *out = open_memstream(&text, &count);
	if (!out)
		return NULL;
	while (at < bytes && read_record(records + at, bytes - at, &record)) {
		print_record(out, &record);
		at += record.bytes;
	}
	int failed = ferror(out);
	if (fclose(out) != 0 || failed) {
		free(text);
		return NULL;
	}
	*bytes_out = count;
	return text;
}
