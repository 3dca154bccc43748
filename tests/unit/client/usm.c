/* Small pieces of USM, and the table of allocations, each against a model. */
#include "usm/allocations.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(client_usm, .timeout = 20);

enum { SLABS = 4, PIECES = 3000, STEPS = 100000, ALLOCATIONS = 64, ROOM = 2000, FIRST = 4096 };

static uint64_t seed = 0x9e3779b97f4a7c15ull;

static uint32_t client_usm_random_below(uint32_t bound)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 33) % bound;
}

Test(client_usm, small_is_what_a_class_has_at_its_alignment)
{
	uint32_t index = 0;
	cr_assert(usm_slabs_class(1, 0, &index));
	cr_assert(eq(u32, index, 0));
	cr_assert(usm_slabs_class(64, 64, &index));
	cr_assert(eq(u32, index, 0));
	cr_assert(usm_slabs_class(65, 1, &index));
	cr_assert(eq(u32, index, 1));
	cr_assert(usm_slabs_class(1, 1024, &index));
	cr_assert(eq(u32, index, 4));
	cr_assert(usm_slabs_class(USM_PIECE_MOST, 0, &index));
	cr_assert(eq(u32, index, USM_PIECE_CLASSES - 1));
	cr_assert(not(usm_slabs_class(USM_PIECE_MOST + 1, 0, &index)));
	cr_assert(not(usm_slabs_class(1, 4096, &index)));
	cr_assert(not(usm_slabs_class(UINT64_MAX, 0, &index)));
}

struct piece {
	struct usm_slab *slab;
	char *begin;
	uint32_t class_index;
};

static struct piece pieces[PIECES];
static uint32_t piece_count, slab_count;

static void take_one(struct usm_slabs *slabs, char *memory)
{
	uint32_t class_index = client_usm_random_below(USM_PIECE_CLASSES),
		 bytes = USM_PIECE_LEAST << class_index;
	struct piece piece = {.class_index = class_index};

	piece.begin = usm_slabs_take(slabs, class_index, &piece.slab);
	if (!piece.begin) {
		const struct arena_range range = {.size_bytes = USM_SLAB_BYTES};
		char *begin = memory + (size_t)slab_count++ * USM_SLAB_BYTES;
		cr_assert(ne(ptr, usm_slabs_add(slabs, class_index, &range, begin), NULL));
		piece.begin = usm_slabs_take(slabs, class_index, &piece.slab);
	}
	cr_assert(piece.begin >= piece.slab->begin &&
		  piece.begin + bytes <= piece.slab->begin + USM_SLAB_BYTES);
	cr_assert(eq(sz, (uintptr_t)piece.begin % bytes, 0));
	for (uint32_t i = 0; i < bytes; i++) {
		cr_assert(eq(i8, piece.begin[i], 0), "another piece has it");
		piece.begin[i] = 1;
	}
	pieces[piece_count++] = piece;
}

static uint32_t give_one(struct usm_slabs *slabs, uint32_t index)
{
	struct piece piece = pieces[index];

	pieces[index] = pieces[--piece_count];
	memset(piece.begin, 0, USM_PIECE_LEAST << piece.class_index);
	if (!usm_slabs_give(slabs, piece.slab, piece.begin))
		return 0;
	free(piece.slab);
	return 1;
}

Test(client_usm, pieces_never_overlap_and_slabs_go_with_their_last)
{
	struct usm_slabs slabs = {0};
	uint32_t gone = 0;
	char *memory = aligned_alloc(USM_PIECE_MOST, (size_t)PIECES * USM_SLAB_BYTES / 8);

	cr_assert(ne(ptr, memory, NULL));
	memset(memory, 0, (size_t)PIECES * USM_SLAB_BYTES / 8);
	for (uint32_t i = 0; i < PIECES; i++) {
		take_one(&slabs, memory);
		if (client_usm_random_below(3) == 0)
			gone += give_one(&slabs, client_usm_random_below(piece_count));
	}
	cr_assert(le(u32, slab_count, PIECES / 8));
	while (piece_count > 0)
		gone += give_one(&slabs, client_usm_random_below(piece_count));
	cr_assert(eq(u32, gone, slab_count));
	for (uint32_t i = 0; i < USM_PIECE_CLASSES; i++)
		cr_assert(zero(ptr, slabs.with_room[i]));
	free(memory);
}

static struct usm_allocation allocations[ALLOCATIONS];
static bool is_listed[ALLOCATIONS];

static bool overlaps(const struct usm_allocation *a)
{
	for (uint32_t i = 0; i < ALLOCATIONS; i++)
		if (is_listed[i] && allocations[i].address < a->address + a->real_bytes &&
		    a->address < allocations[i].address + allocations[i].real_bytes)
			return true;
	return false;
}

static struct usm_allocation *expected(uint64_t context, uint64_t address, uint64_t size_bytes)
{
	for (uint32_t i = 0; i < ALLOCATIONS; i++) {
		struct usm_allocation *a = &allocations[i];
		if (is_listed[i] && !a->freed && (!context || a->context == context) &&
		    address >= a->address && address < a->address + a->size_bytes &&
		    address + size_bytes <= a->address + a->size_bytes)
			return a;
	}
	return NULL;
}

Test(client_usm, E22_an_address_finds_its_allocation_or_none)
{
	struct usm_state usm = {0};

	for (uint32_t step = 0; step < STEPS; step++) {
		uint32_t index = client_usm_random_below(ALLOCATIONS);
		struct usm_allocation *a = &allocations[index];
		if (is_listed[index] && client_usm_random_below(4) == 0) {
			a->freed = true;
		} else if (is_listed[index] && client_usm_random_below(2) == 0) {
			usm_allocations_remove(&usm, a);
			is_listed[index] = false;
		} else if (!is_listed[index]) {
			*a = (struct usm_allocation){.address =
							     FIRST + client_usm_random_below(ROOM),
						     .size_bytes = 1 + client_usm_random_below(40),
						     .context = 1 + client_usm_random_below(3)};
			a->real_bytes = a->size_bytes + client_usm_random_below(8);
			bool taken = overlaps(a);
			cr_assert(eq(int, usm_allocations_insert(&usm, a), taken ? -EEXIST : 0));
			is_listed[index] = !taken;
		}
		uint64_t context = client_usm_random_below(4),
			 address = FIRST - 10 + client_usm_random_below(ROOM + 60);
		uint64_t size_bytes = client_usm_random_below(50);
		cr_assert(eq(ptr, usm_allocations_find(&usm, context, address, size_bytes),
			     expected(context, address, size_bytes)));
	}
	cr_assert(zero(ptr, usm_allocations_find(&usm, 0, FIRST + ROOM / 2, UINT64_MAX)));
	cr_assert(zero(ptr, usm_allocations_find(&usm, 0, UINT64_MAX, 1)));
	struct usm_allocation beyond = {
		.address = UINT64_MAX - 10, .size_bytes = 20, .real_bytes = 20};
	cr_assert(eq(int, usm_allocations_insert(&usm, &beyond), -EEXIST));
	free((void *)usm.table);
}
