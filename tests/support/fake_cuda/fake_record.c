/* A log for tests: records in a ring, and numbers by name. */
#include "fake.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORDS 8192u
#define NUMBERS 256u

struct number {
	char what[64];
	uint64_t value;
};

static struct fake_cuda_record ring[RECORDS];
static size_t ring_total;
static struct number numbers[NUMBERS];
static size_t number_count;
__thread const char *fake_call_name;

static const char *kind_number(enum fake_cuda_record_kind kind)
{
	switch (kind) {
	case FAKE_CUDA_MISUSE:
		return "misuse";
	case FAKE_CUDA_NULL_STREAM:
		return "null_stream";
	case FAKE_CUDA_IMPLICIT_SYNC:
		return "implicit_sync";
	case FAKE_CUDA_ADVICE:
		return "advice";
	case FAKE_CUDA_PREFETCH:
		return "prefetch";
	case FAKE_CUDA_LAUNCH:
		return "launches";
	case FAKE_CUDA_PEER_COPY:
		return "peer_copies";
	case FAKE_CUDA_WINDOW:
		return "windows";
	case FAKE_CUDA_LAZY_LOAD:
		return "lazy_loads";
	}
	return "unknown";
}

static struct number *number_find(const char *what, bool add)
{
	for (size_t i = 0; i < number_count; i++)
		if (strcmp(numbers[i].what, what) == 0)
			return &numbers[i];
	if (!add || number_count == NUMBERS)
		return NULL;
	(void)snprintf(numbers[number_count].what, sizeof(numbers[0].what), "%s", what);
	return &numbers[number_count++];
}

void fake_number_add(const char *what, int64_t by)
{
	struct number *number = number_find(what, true);

	if (number)
		number->value += (uint64_t)by;
}

uint64_t fake_number(const char *what)
{
	const struct number *number = number_find(what, false);

	return number ? number->value : 0;
}

void fake_record(const struct fake_cuda_record *record)
{
	struct fake_cuda_record *slot = &ring[ring_total++ % RECORDS];
	const struct CUctx_st *context = fake_current();

	*slot = *record;
	slot->thread = (int)gettid();
	if (!slot->call)
		slot->call = fake_call_name ? fake_call_name : "";
	if (record->kind != FAKE_CUDA_PEER_COPY && record->kind != FAKE_CUDA_LAUNCH)
		slot->device = context ? context->device : -1;
	fake_number_add(kind_number(record->kind), 1);
	(void)pthread_cond_broadcast(&fake.changed);
}

void fake_misuse(const char *format, ...)
{
	struct fake_cuda_record record = {.kind = FAKE_CUDA_MISUSE};
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(record.text, sizeof(record.text), format, arguments);
	va_end(arguments);
	fake_record(&record);
	if (fake.strict_print)
		(void)fprintf(stderr, "fake_cuda: misuse in %s: %s\n",
			      fake_call_name ? fake_call_name : "a stream", record.text);
}

size_t fake_records_read(struct fake_cuda_record *records, size_t capacity)
{
	size_t kept = ring_total < RECORDS ? ring_total : RECORDS;
	size_t count = kept < capacity ? kept : capacity;

	for (size_t i = 0; i < count; i++)
		records[i] = ring[(ring_total - count + i) % RECORDS];
	return ring_total;
}
