/* The union of access modes, against the table of the specification. */
#include "access_mode.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(access_modes, .timeout = 10);

enum {
	RO = ACCESS_MODE_READ,
	WO = ACCESS_MODE_WRITE,
	RW = ACCESS_MODE_READ_WRITE,
	WNI = ACCESS_MODE_WRITE_NO_INIT,
	RWNI = ACCESS_MODE_READ_WRITE_NO_INIT
};

static const uint32_t modes[] = {RO, WO, RW, WNI, RWNI};
enum { MODES = sizeof(modes) / sizeof(modes[0]) };

/* The ten rows as the specification writes them; x + x = x is stated beside the table. */
static const struct row {
	uint32_t a, b, together;
} table[] = {
	{RO, WO, RW},  {RO, RW, RW},  {WO, RW, RW},   {WNI, RWNI, RWNI}, {WNI, WO, WO},
	{WNI, RO, RW}, {WNI, RW, RW}, {RWNI, WO, RW}, {RWNI, RO, RW},    {RWNI, RW, RW},
};
enum { ROWS = sizeof(table) / sizeof(table[0]) };

static uint32_t by_table(uint32_t a, uint32_t b)
{
	if (a == b)
		return a;
	for (unsigned i = 0; i < ROWS; i++) {
		if ((table[i].a == a && table[i].b == b) || (table[i].a == b && table[i].b == a))
			return table[i].together;
	}
	cr_fatal("no row for %u and %u", a, b);
}

Test(access_modes, C1_every_pair_unites_as_the_table_says)
{
	for (unsigned i = 0; i < MODES; i++) {
		for (unsigned j = 0; j < MODES; j++) {
			cr_assert(eq(u32, access_mode_union(modes[i], modes[j]),
				     by_table(modes[i], modes[j])),
				  "modes %u and %u", modes[i], modes[j]);
			cr_assert(access_mode_valid(access_mode_union(modes[i], modes[j])));
		}
	}
}

Test(access_modes, C2_every_triple_unites_the_same_in_any_order)
{
	for (unsigned i = 0; i < MODES; i++) {
		for (unsigned j = 0; j < MODES; j++) {
			cr_assert(eq(u32, by_table(modes[i], modes[j]),
				     by_table(modes[j], modes[i])));
			for (unsigned k = 0; k < MODES; k++) {
				uint32_t a = modes[i], b = modes[j], c = modes[k];
				uint32_t left = access_mode_union(access_mode_union(a, b), c);
				cr_assert(eq(u32, left,
					     access_mode_union(a, access_mode_union(b, c))));
				cr_assert(eq(u32, left,
					     access_mode_union(access_mode_union(c, a), b)));
				cr_assert(eq(u32, left, by_table(by_table(a, b), c)));
				cr_assert(eq(u32, left, by_table(a, by_table(b, c))));
			}
		}
	}
}

/* An atomic access is stored like this; it has no bits of its own. */
Test(access_modes, reading_writing_and_keeping_is_read_write)
{
	uint32_t atomic = ACCESS_READ_BIT | ACCESS_WRITE_BIT | ACCESS_KEEP_BIT;
	cr_assert(eq(u32, atomic, RW));
	for (unsigned i = 0; i < MODES; i++)
		cr_assert(eq(u32, access_mode_union(atomic, modes[i]), RW));
}

Test(access_modes, only_the_five_modes_are_valid)
{
	for (uint32_t mode = 0; mode < 1024; mode++) {
		bool known = mode == RO || mode == WO || mode == RW || mode == WNI || mode == RWNI;
		cr_assert(eq(int, access_mode_valid(mode), known), "mode %u", mode);
	}
	cr_assert(not(access_mode_valid(UINT32_MAX)));
}

Test(access_modes, C6_only_modes_without_no_init_need_the_contents)
{
	cr_assert(access_mode_needs_contents(RO));
	cr_assert(access_mode_needs_contents(WO));
	cr_assert(access_mode_needs_contents(RW));
	cr_assert(not(access_mode_needs_contents(WNI)));
	cr_assert(not(access_mode_needs_contents(RWNI)));
	cr_assert(not(access_mode_writes(RO)));
	for (unsigned i = 1; i < MODES; i++)
		cr_assert(access_mode_writes(modes[i]));
}
