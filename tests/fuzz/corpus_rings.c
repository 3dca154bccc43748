/* Seeds of ring_consume: rings as an honest writer leaves them, and each of its rules violated
 * once. */
#include "corpus.h"

#include "command.pb-c.h"
#include "ring.h"
#include "ring_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BITS = 10, BYTES = 1 << BITS, HALF = BYTES / 2 };

static struct {
	struct ring_input input;
	_Alignas(8) uint8_t ring[BYTES];
} file;

static _Atomic uint64_t head_word, tail_word;
static struct ring_writer writer;

static void begin_ring_file(uint64_t position)
{
	memset(&file, 0, sizeof(file));
	file.input.position = position;
	file.input.ring_bits = BITS - RING_INPUT_BITS_MIN;
	head_word = tail_word = position;
	ring_writer_init(&writer, file.ring, BYTES, &head_word, &tail_word);
	writer.head = writer.tail = writer.reserved_end = position;
}

static void save(const char *name)
{
	char concurrent[128];
	seed("ring_consume", name, &file, sizeof(file));
	(void)snprintf(concurrent, sizeof(concurrent), "%s_changing", name);
	file.input.mode |= RING_INPUT_CONCURRENT;
	seed("ring_consume", concurrent, &file, sizeof(file));
	file.input.mode &= (uint8_t)~RING_INPUT_CONCURRENT;
}

static void save_published(const char *name)
{
	file.input.word = head_word;
	save(name);
}

static void put_record(const void *bytes, uint32_t count)
{
	void *payload;
	if (ring_writer_reserve(&writer, RING_RECORD_MESSAGE, count, &payload) < 0)
		abort();
	memcpy(payload, bytes, count);
	ring_writer_commit(&writer);
}

static void put_head(uint64_t place, uint32_t payload_bytes, uint16_t kind, uint16_t reserved)
{
	struct ring_record head = {
		.payload_bytes = payload_bytes, .kind = kind, .reserved = reserved};
	memcpy(file.ring + place, &head, sizeof(head));
}

size_t pack_example_group(uint8_t *bytes)
{
	uint64_t global[] = {4096, 4096}, local[] = {16, 16};
	Sycl__V1__Argument arguments[2] = {SYCL__V1__ARGUMENT__INIT, SYCL__V1__ARGUMENT__INIT};
	arguments[0].value_case = SYCL__V1__ARGUMENT__VALUE_ACCESSOR;
	arguments[1].value_case = SYCL__V1__ARGUMENT__VALUE_LOCAL_BYTES;
	arguments[1].local_bytes = 1024;
	Sycl__V1__Requirement requirement = SYCL__V1__REQUIREMENT__INIT;
	requirement.buffer = 0x0300000100000001ull;
	requirement.mode = 7;
	Sycl__V1__EventRef event = SYCL__V1__EVENT_REF__INIT;
	event.queue = 0x0200000100000001ull;
	event.group = 41;
	Sycl__V1__Launch launch = SYCL__V1__LAUNCH__INIT;
	launch.kernel = 0x0500000100000001ull;
	launch.n_global = launch.n_local = 2;
	launch.global = global;
	launch.local = local;
	launch.n_arguments = 2;
	launch.arguments = (Sycl__V1__Argument *[]){&arguments[0], &arguments[1]};
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.queue = 0x0200000100000001ull;
	group.group = 42;
	group.n_requirements = 1;
	group.requirements = (Sycl__V1__Requirement *[]){&requirement};
	group.n_depends_on = 1;
	group.depends_on = (Sycl__V1__EventRef *[]){&event};
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_LAUNCH;
	group.launch = &launch;
	return sycl__v1__command_group__pack(&group, bytes);
}

/* A Command around the group. */
static uint32_t pack_command(uint8_t *bytes)
{
	uint8_t group[256];
	size_t size = pack_example_group(group);
	if (size >= 128)
		abort();
	bytes[0] = 10 << 3 | 2;
	bytes[1] = (uint8_t)size;
	memcpy(bytes + 2, group, size);
	return (uint32_t)size + 2;
}

static void seed_honest(void)
{
	uint8_t command[256];
	uint32_t size = pack_command(command);
	begin_ring_file(0);
	save_published("empty");
	put_record(command, size);
	save_published("one_record");
	for (int i = 0; i < 4; i++)
		put_record(command, size);
	save_published("five_records");
	begin_ring_file(BYTES - 40);
	put_record(command, size);
	save_published("pad_then_record");
	begin_ring_file(UINT64_MAX - 39);
	put_record(command, size);
	save_published("position_wraps_at_64_bits");
	static uint8_t large[HALF - 8];
	begin_ring_file(8);
	put_record(large, sizeof(large));
	save_published("largest_record");
	begin_ring_file(BYTES - HALF + 8);
	put_record(large, sizeof(large));
	save_published("largest_pad");
	begin_ring_file(0);
	for (int i = 0; i < BYTES / 8; i++)
		put_record(large, 0);
	save_published("full_of_empty_records");
	begin_ring_file(0);
	put_head(0, 8, RING_RECORD_RESUBMIT, 0);
	file.input.word = 16;
	save("resubmit_record");
}

static void seed_broken(const char *name, uint64_t published, uint32_t payload_bytes, uint16_t kind,
			uint16_t reserved)
{
	begin_ring_file(0);
	put_head(0, payload_bytes, kind, reserved);
	file.input.word = published;
	save(name);
}

static void seed_hostile(void)
{
	seed_broken("head_beyond_ring", BYTES + 8, 8, RING_RECORD_MESSAGE, 0);
	seed_broken("head_far_beyond_ring", 1ull << 63, 8, RING_RECORD_MESSAGE, 0);
	seed_broken("head_went_back", UINT64_MAX - 7, 8, RING_RECORD_MESSAGE, 0);
	seed_broken("head_between_records", 20, 8, RING_RECORD_MESSAGE, 0);
	seed_broken("record_longer_than_published", 16, 64, RING_RECORD_MESSAGE, 0);
	seed_broken("record_longer_than_half", BYTES, HALF, RING_RECORD_MESSAGE, 0);
	seed_broken("record_of_four_gigabytes", BYTES, UINT32_MAX, RING_RECORD_MESSAGE, 0);
	seed_broken("unknown_kind", 16, 8, 3, 0);
	seed_broken("reserved_bits", 16, 8, RING_RECORD_MESSAGE, 1);
	seed_broken("pad_at_the_start", BYTES, BYTES - 8, RING_RECORD_PAD, 0);
	seed_broken("pad_in_the_middle", 32, 8, RING_RECORD_PAD, 0);
	begin_ring_file(0);
	put_record("x", 1);
	file.ring[12] = 1;
	save_published("padding_not_zero");
	begin_ring_file(BYTES - 16);
	put_head(BYTES - 16, 32, RING_RECORD_MESSAGE, 0);
	file.input.word = BYTES + 24;
	save("record_over_the_end");
	begin_ring_file(BYTES - 16);
	put_head(BYTES - 16, 8, RING_RECORD_PAD, 0);
	file.input.word = BYTES;
	save("pad_and_nothing_behind");
	begin_ring_file(BYTES - 16);
	put_head(BYTES - 16, 8, RING_RECORD_PAD, 0);
	put_head(0, BYTES - 8, RING_RECORD_PAD, 0);
	file.input.word = 2 * BYTES - 16;
	save("pad_behind_pad");
}

/* The ring's bytes are the script of the writer. */
static void seed_writer(const char *name, uint8_t first, uint8_t step)
{
	begin_ring_file(BYTES * 3 + 64);
	file.input.mode = RING_INPUT_WRITER;
	file.input.word = file.input.position;
	for (unsigned i = 0; i < 256; i++)
		file.ring[i] = (uint8_t)(first + i * step);
	save(name);
}

void make_ring_seeds(void)
{
	seed_honest();
	seed_hostile();
	seed_writer("writer_small_records", 1, 0);
	seed_writer("writer_growing_records", 0, 1);
	seed_writer("writer_reader_follows", 0xf1, 0);
	seed_writer("writer_tail_between_records", 0xff, 0);
	seed_writer("writer_mixed", 7, 37);
}
