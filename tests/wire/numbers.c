/*
 * Field numbers are never changed nor used again: fields.txt keeps them all. A new field is
 * appended to that file; a line of it never changes, except that the type of a removed field
 * becomes "reserved".
 */
#include "listing.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(field_numbers, .timeout = 10);

static char kept[LISTING_BYTES_MAX], now[LISTING_BYTES_MAX], complaints[32768];

Test(field_numbers, are_those_that_were_written_down)
{
	FILE *file = fopen(FIELDS_FILE, "re");
	cr_assert(ne(ptr, file, NULL));
	size_t size = fread(kept, 1, sizeof(kept) - 1, file);
	(void)fclose(file);
	cr_assert(gt(sz, size, 1000));
	listing_of_this_build(now);
	cr_assert(eq(uint, listing_compare(kept, now, complaints, sizeof(complaints)), 0), "\n%s",
		  complaints);
}

/* A message that no other refers to must be among the roots of listing.c. */
static unsigned expect_listed_messages(const char *path)
{
	char text[512], name[64];
	unsigned count = 0;
	FILE *file = fopen(path, "re");
	cr_assert(ne(ptr, file, NULL), "%s", path);
	while (fgets(text, sizeof(text), file)) {
		if (sscanf(text, "message %63[A-Za-z]", name) != 1)
			continue;
		cr_expect(ne(ptr, listing_type(name), NULL), "%s: %s is not listed", path, name);
		count++;
	}
	(void)fclose(file);
	return count;
}

Test(field_numbers, are_those_of_every_message)
{
	glob_t files;
	unsigned count = 0;
	cr_assert(eq(int, glob(PROTO_FOLDER "/*.proto", 0, NULL, &files), 0));
	for (size_t i = 0; i < files.gl_pathc; i++)
		count += expect_listed_messages(files.gl_pathv[i]);
	globfree(&files);
	cr_expect(gt(uint, count, 100));
}

static unsigned broken_rules(const char *kept_text, const char *now_text)
{
	return listing_compare(kept_text, now_text, complaints, sizeof(complaints));
}

#define KEPT "# comment\n\nA 1 x uint32\nA 2 y B oneof\nenum E 0 E_NONE\n"

Test(field_numbers, the_comparison_finds_what_may_not_happen)
{
	cr_assert(eq(uint, broken_rules(KEPT, "A 2 y B oneof\nA 1 x uint32\nenum E 0 E_NONE\n"), 0),
		  "%s", complaints);
	/* In each the line is removed and another one added. */
	cr_assert(eq(uint, broken_rules(KEPT, "A 3 x uint32\nA 2 y B oneof\nenum E 0 E_NONE\n"), 2),
		  "another number");
	cr_assert(eq(uint, broken_rules(KEPT, "A 1 x uint64\nA 2 y B oneof\nenum E 0 E_NONE\n"), 2),
		  "another type");
	cr_assert(eq(uint, broken_rules(KEPT, "A 1 z uint32\nA 2 y B oneof\nenum E 0 E_NONE\n"), 2),
		  "another name");
	cr_assert(eq(uint, broken_rules(KEPT, "A 1 x uint32\nA 2 y B\nenum E 0 E_NONE\n"), 2),
		  "out of its oneof");
	cr_assert(eq(uint, broken_rules(KEPT, "A 1 x uint32\nA 2 y B oneof\nenum E 1 E_NONE\n"), 2),
		  "another value");
	cr_assert(eq(uint, broken_rules(KEPT, "A 1 x uint32\nenum E 0 E_NONE\n"), 1), "removed");
	cr_assert(eq(uint, broken_rules(KEPT, KEPT "A 3 z bool\n"), 1), "added");
}

Test(field_numbers, a_reserved_number_is_not_used_again)
{
	cr_assert(eq(uint, broken_rules("A 1 x reserved\nA 2 y bool\n", "A 2 y bool\n"), 0), "%s",
		  complaints);
	cr_assert(ge(uint, broken_rules("A 1 x reserved\nA 2 y bool\n", "A 2 y bool\nA 1 z bool\n"),
		     1));
	cr_assert(ge(uint, broken_rules("A 1 x reserved\nA 1 z bool\n", "A 1 z bool\n"), 1),
		  "one number on two lines");
	cr_assert(ge(uint, broken_rules("A 1 x bool\nA 3 x bool\n", "A 1 x bool\nA 3 x bool\n"), 1),
		  "one name twice");
}
