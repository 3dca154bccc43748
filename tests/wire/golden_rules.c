/* The faults that golden.c finds in a text, and a check that each text has a test. */
#include "golden.h"

#include "command.pb-c.h"
#include "listing.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(golden_texts, .timeout = 10);

Test(golden_texts, that_are_garbled_are_complained_of)
{
	static const struct {
		const char *text, *complaint;
	} rows[] = {
		{"Launch\n08 02 | kernel = 2\n12 03 01 ac 02 | global = 1, 300\n", NULL},
		{"Launch\n2a 02 | arguments:\n\t08 08 | accessor = 8\n2a 00 | arguments:\n", NULL},
		{"Ping\n", NULL},
		{"", "the first line names no message"},
		{"Ping", "the first line names no message"},
		{"Launched\n", "the first line names no message"},
		{"Launch\n08 02 | kernel = 2", "the last line does not end"},
		{"Launch\n\n", "no ' | ' between bytes and field"},
		{"Launch\n08 02 kernel = 2\n", "no ' | ' between bytes and field"},
		{"Launch\n0802 | kernel = 2\n",
		 "the bytes are not written as two hexadecimal digits each"},
		{"Launch\n08 0g | kernel = 2\n",
		 "the bytes are not written as two hexadecimal digits each"},
		{"Launch\n08 2 | kernel = 2\n",
		 "the bytes are not written as two hexadecimal digits each"},
		{"Launch\n08 02 | kernels = 2\n", "the message has no field of this name"},
		{"Launch\n08 02 | kernel: 2\n", "no ' = ' behind a field's name"},
		{"Launch\n08 02 | kernel = two\n", "the value is none of the field's type"},
		{"Launch\n08 02 | kernel = \n", "the value is none of the field's type"},
		{"Launch\n08 02 | kernel = 2 \n", "the value is none of the field's type"},
		{"Launch\n40 01 | splittable = yes\n", "the value is none of the field's type"},
		{"Launch\n12 03 01 ac 02 | global = 1,300\n",
		 "the value is none of the field's type"},
		{"Launch\n\t08 02 | kernel = 2\n", "a line is indented too far"},
		{"Launch\n2a 00 | arguments:\n\t\t08 08 | accessor = 8\n",
		 "a line is indented too far"},
		{"Launch\n2a 00 | arguments = 1\n", "no ':' behind a message's name"},
		{"Launch\n08 02 | kernel = 3\n", "the fields are sent in other bytes"},
		{"Launch\n08 03 | kernel = 2\n", "the fields are sent in other bytes"},
		{"Launch\n08 02 40 01 | kernel = 2\n", "the fields are sent in other bytes"},
		{"Launch\n08 | kernel = 2\n", "the fields are sent in other bytes"},
		{"Launch\n08 02 | kernel = 2\n08 02 | kernel = 2\n",
		 "the fields are sent in other bytes"},
		{"Launch\n40 01 | splittable = true\n08 02 | kernel = 2\n",
		 "the fields are sent in other bytes"},
		{"Launch\n08 82 00 | kernel = 2\n", "the fields are sent in other bytes"},
		{"Launch\n08 02 40 | kernel = 2\n01 | splittable = true\n",
		 "the bytes of a line are not those of its field"},
		{"Launch\n08 02 | kernel = 0x2\n",
		 "the bytes of a line are not those of its field"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *complaint = golden_complaint(rows[i].text),
			   *expected = rows[i].complaint;
		cr_expect(complaint == expected ||
				  (complaint && expected && strcmp(complaint, expected) == 0),
			  "\"%s\": %s", rows[i].text, complaint ? complaint : "nothing is wrong");
	}
}

/* The decoder of the texts, with bytes that protobuf-c would not send. */
Test(golden_texts, are_not_made_of_damaged_bytes)
{
	static char text[GOLDEN_TEXT_MAX];
	static const struct {
		uint8_t bytes[12];
		size_t count;
	} rows[] = {
		{{0x08}, 1},                         /* no number */
		{{0x08, 0x80}, 2},                   /* half a number */
		{{0x88}, 1},                         /* half a key */
		{{0x09, 1, 0, 0, 0, 0, 0, 0, 0}, 9}, /* kernel as eight bytes */
		{{0x12, 0x02, 0x01}, 3},             /* longer than the bytes that follow */
		{{0x12, 0x01, 0x80}, 3},             /* a packed field with half a value */
		{{0x2a, 0x02, 0x08}, 3},             /* arguments that end behind the message */
		{{0x80, 0xe5, 0x08, 0x01}, 4},       /* a field that does not exist */
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect(ne(ptr,
			     golden_print(&sycl__v1__launch__descriptor, rows[i].bytes,
					  rows[i].count, text),
			     NULL),
			  "row %zu", i);
}

/* Any number but 0 from a peer is true. */
Test(golden_split, any_number_but_0_is_yes)
{
	static const uint8_t large[] = {0x40, 0xff, 0xff, 0xff, 0xff, 0xff,
					0xff, 0xff, 0xff, 0xff, 0x01};
	static const uint8_t zero[] = {0x40, 0x80, 0x80, 0x00};
	Sycl__V1__Launch *message = sycl__v1__launch__unpack(NULL, sizeof(large), large);
	cr_assert_not_null(message);
	cr_expect_eq(message->splittable, 1);
	sycl__v1__launch__free_unpacked(message, NULL);
	message = sycl__v1__launch__unpack(NULL, sizeof(zero), zero);
	cr_assert_not_null(message);
	cr_expect_eq(message->splittable, 0);
	sycl__v1__launch__free_unpacked(message, NULL);
}

/* Calls visit(path, suite, name) for each golden/SUITE/NAME. Returns the number of calls. */
static unsigned for_each_text(void (*visit)(const char *path, const char *suite, const char *name))
{
	unsigned count = 0;
	DIR *folder = opendir(GOLDEN_FOLDER);
	cr_assert(ne(ptr, folder, NULL));
	for (struct dirent *suite; (suite = readdir(folder));) {
		if (suite->d_name[0] == '.')
			continue;
		char path[1024];
		(void)snprintf(path, sizeof(path), "%s/%s", GOLDEN_FOLDER, suite->d_name);
		DIR *texts = opendir(path);
		cr_assert(ne(ptr, texts, NULL), "%s is no folder", path);
		for (struct dirent *text; (text = readdir(texts));) {
			if (text->d_name[0] == '.')
				continue;
			(void)snprintf(path, sizeof(path), "%s/%s/%s", GOLDEN_FOLDER, suite->d_name,
				       text->d_name);
			visit(path, suite->d_name, text->d_name);
			count++;
		}
		(void)closedir(texts);
	}
	(void)closedir(folder);
	return count;
}

static char tests[65536];

static void expect_test(const char *path, const char *suite, const char *name)
{
	char test[512];
	const char *end = strstr(name, ".txt");
	cr_assert(end && strcmp(end, ".txt") == 0, "%s: no .txt", path);
	(void)snprintf(test, sizeof(test), "\nTest(golden_%s, %.*s_bytes_never_change)", suite,
		       (int)(end - name), name);
	cr_expect(ne(ptr, strstr(tests, test), NULL), "%s has no line in golden_tests.c", path);
}

Test(golden_texts, that_are_not_there_are_not_read)
{
	static char text[GOLDEN_TEXT_MAX];
	cr_expect(not(golden_load(GOLDEN_FOLDER "/group/none.txt", text)));
	cr_expect(not(golden_load(FIELDS_FILE, text)), "longer than there is room for");
	cr_expect(golden_load(GOLDEN_FOLDER "/group/launch.txt", text));
}

Test(golden_texts, have_a_test_each)
{
	FILE *file = fopen(GOLDEN_TESTS, "re");
	cr_assert(ne(ptr, file, NULL));
	size_t size = fread(tests, 1, sizeof(tests) - 1, file);
	(void)fclose(file);
	cr_assert(lt(sz, size, sizeof(tests) - 1));
	unsigned lines = 0;
	for (const char *at = tests; (at = strstr(at, "\nTest(")); at++)
		lines++;
	cr_assert(gt(uint, lines, 200));
	cr_expect(eq(uint, for_each_text(expect_test), lines));
}

enum { SHOWN_MAX = 4096 };

static const ProtobufCFieldDescriptor *shown[SHOWN_MAX];
static unsigned shown_count;

static void collect_fields(const char *path, const char *suite, const char *name)
{
	(void)suite, (void)name;
	static char text[GOLDEN_TEXT_MAX];
	static struct golden golden;
	cr_assert(golden_load(path, text) && !golden_read(text, &golden), "%s", path);
	for (unsigned i = 0; i < golden.field_count; i++) {
		cr_assert(lt(uint, shown_count, SHOWN_MAX));
		shown[shown_count++] = golden.fields[i];
	}
}

static bool is_shown(const ProtobufCFieldDescriptor *field)
{
	for (unsigned i = 0; i < shown_count; i++) {
		if (shown[i] == field)
			return true;
	}
	return false;
}

Test(golden_texts, show_every_field_of_every_message)
{
	const ProtobufCMessageDescriptor *types[LISTING_TYPES_MAX];
	unsigned count = listing_types(types);
	cr_assert(gt(uint, count, 100));
	(void)for_each_text(collect_fields);
	for (unsigned i = 0; i < count; i++) {
		for (unsigned k = 0; k < types[i]->n_fields; k++)
			cr_expect(is_shown(&types[i]->fields[k]), "no text has %s of %s",
				  types[i]->fields[k].name, types[i]->name);
	}
}
