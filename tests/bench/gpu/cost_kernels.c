#include "gpu/cost_kernels.h"

#define POINTER(name) ".param .u64 .ptr .global .align 4 " name ", "
#define ENTRY(name, pointers)                                                                      \
	".visible .entry " name "(" pointers ".param .u32 value)\n{\n\tret;\n}\n"

const char cost_kernels_ptx[] =
	".version 7.0\n.target sm_70\n.address_size 64\n" ENTRY("cost_one", POINTER("a"))
		ENTRY("cost_two", POINTER("a") POINTER("b"))
			ENTRY("cost_three", POINTER("a") POINTER("b") POINTER("c"))
				ENTRY("cost_six", POINTER("a") POINTER("b") POINTER("c")
							  POINTER("d") POINTER("e") POINTER("f"));

const char *const cost_kernel_names[COST_KERNEL_NAMES] = {"cost_one", "cost_two", "cost_three",
							  "cost_six"};

enum { SOLUTION, RESIDUAL, DIRECTION, PRODUCT, PARTS, NUMBERS };

const struct cost_group cost_one = {COST_ONE, 1, {SOLUTION}, {true}};

const struct cost_group cost_all[COST_KERNELS] = {
	{COST_THREE, 3, {DIRECTION, PRODUCT, PARTS}, {false, true, true}},
	{COST_TWO, 2, {PARTS, NUMBERS}, {false, true}},
	{COST_SIX,
	 6,
	 {SOLUTION, RESIDUAL, DIRECTION, PRODUCT, PARTS, NUMBERS},
	 {true, true, false, false, true, false}},
	{COST_TWO, 2, {PARTS, NUMBERS}, {false, true}},
	{COST_THREE, 3, {RESIDUAL, DIRECTION, NUMBERS}, {false, true, false}},
};

_Static_assert((int)NUMBERS == (int)COST_READ_BUFFER && NUMBERS + 1 == COST_BUFFERS, "all of them");
