/* The tables of syclctl: alignment, and the columns that are left out if a line has no room. */
#include "show/table.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/redirect.h>

#include <stdio.h>

static const struct column columns[] = {
	{"N", COLUMN_FIGURES},
	{"NAME", COLUMN_TEXT},
	{"LOCAL", COLUMN_FIGURES | COLUMN_MINOR},
	{"CLOCK", COLUMN_FIGURES | COLUMN_MINOR},
};

static void print_with_room(size_t room)
{
	struct table table = {.columns = columns, .column_count = 4};
	table_cell(&table, COLOUR_NONE, "0");
	table_cell(&table, COLOUR_NONE, "a device with a n\xc3\xa4me");
	table_cell(&table, COLOUR_NONE, "64 KiB");
	table_cell(&table, COLOUR_NONE, "1 GHz");
	table_cell(&table, COLOUR_NONE, "10");
	table_cell(&table, COLOUR_NONE, "short");
	table_cell(&table, COLOUR_NONE, "0 B");
	table_cell(&table, COLOUR_NONE, "2 GHz");
	cr_redirect_stdout();
	cr_assert(table_print(&table, false, room));
	cr_assert(eq(int, fflush(stdout), 0));
}

static const char whole[] = "   N  NAME                   LOCAL  CLOCK\n"
			    "   0  a device with a n\xc3\xa4me  64 KiB  1 GHz\n"
			    "  10  short                    0 B  2 GHz\n";

TestSuite(table, .timeout = 10);

Test(table, all_columns_where_any_width_will_do)
{
	print_with_room(0);
	cr_assert_stdout_eq_str(whole);
}

Test(table, all_columns_where_they_just_fit)
{
	print_with_room(41);
	cr_assert_stdout_eq_str(whole);
}

Test(table, the_last_minor_column_is_left_out_first)
{
	print_with_room(40);
	cr_assert_stdout_eq_str("   N  NAME                   LOCAL\n"
				"   0  a device with a n\xc3\xa4me  64 KiB\n"
				"  10  short                    0 B\n");
}

Test(table, then_text_is_cut_at_whole_characters)
{
	print_with_room(25);
	cr_assert_stdout_eq_str("   N  NAME\n"
				"   0  a device with a n\xc3\xa4\xe2\x80\xa6\n"
				"  10  short\n");
}

Test(table, text_keeps_twelve_characters_however_narrow_it_is)
{
	print_with_room(1);
	cr_assert_stdout_eq_str("   N  NAME\n"
				"   0  a device wi\xe2\x80\xa6\n"
				"  10  short\n");
}
