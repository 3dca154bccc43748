/*
 * SPIR-V through the OpenCL driver: programs of a module, its specialization constants, and bytes
 * that are no module. The device is the fake one, which takes the names of a module's entry points.
 * A binary of the driver has the module as it was built, so it shows the constants.
 */
#include "opencl_door.h"

#include "fake_control.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define FOUR(a, b, c, d)                                                                           \
	((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)
#define OP(count, code) ((uint32_t)(count) << 16 | (code))

enum { TYPE_BOOL = 1, TYPE_INT, TYPE_LONG, TYPE_CHAR, YES, NUMBER, LARGE, SMALL, FUNCTION, BOUND };
/* Where the values are, in words. */
enum { YES_AT = 46, NUMBER_AT = 52, LARGE_AT = 56, SMALL_AT = 61 };

static const uint32_t module[] = {
	0x07230203,
	0x00010000,
	0,
	BOUND,
	0,
	OP(2, 17),
	6, /* OpCapability Kernel */
	OP(3, 14),
	2,
	2, /* OpMemoryModel */
	OP(6, 15),
	6,
	FUNCTION,
	FOUR('f', 'i', 'l', 'l'),
	FOUR('_', 'u', '3', '2'),
	0,
	OP(4, 71),
	YES,
	1,
	10, /* OpDecorate SpecId */
	OP(4, 71),
	NUMBER,
	1,
	11,
	OP(4, 71),
	LARGE,
	1,
	12,
	OP(4, 71),
	SMALL,
	1,
	13,
	OP(2, 20),
	TYPE_BOOL, /* OpTypeBool */
	OP(4, 21),
	TYPE_INT,
	32,
	0, /* OpTypeInt */
	OP(4, 21),
	TYPE_LONG,
	64,
	0,
	OP(4, 21),
	TYPE_CHAR,
	8,
	0,
	OP(3, 49),
	TYPE_BOOL,
	YES, /* OpSpecConstantFalse */
	OP(4, 50),
	TYPE_INT,
	NUMBER,
	5, /* OpSpecConstant */
	OP(5, 50),
	TYPE_LONG,
	LARGE,
	6,
	0,
	OP(4, 50),
	TYPE_CHAR,
	SMALL,
	7,
};

static cl_program made_of(const void *bytes, size_t count)
{
	cl_int code = 0;
	cl_program program = cl->clCreateProgramWithIL(cl_context_made, bytes, count, &code);
	CL(code);
	return program;
}

/* The module in the program's binary. */
static void built_module(cl_program program, uint32_t words[sizeof(module) / sizeof(*module)])
{
	unsigned char binary[4096], *place = binary;
	size_t bytes = 0;
	CL(cl->clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(bytes), &bytes, NULL));
	CHECK(bytes >= sizeof(module) && bytes <= sizeof(binary));
	CL(cl->clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(place), &place, NULL));
	memcpy(words, binary + bytes - sizeof(module), sizeof(module));
}

static void runs(cl_program program)
{
	cl_int code = 0;
	cl_mem buffer = door_buffer();
	cl_kernel fill = cl->clCreateKernel(program, "fill_u32", &code);
	CL(code);
	door_fill(fill, buffer, 9, NULL);
	door_check(buffer, 9);
	CL(cl->clReleaseKernel(fill));
	CL(cl->clReleaseMemObject(buffer));
}

static void run_module(void)
{
	uint32_t words[sizeof(module) / sizeof(*module)];
	char text[64] = "";
	size_t bytes = 0;
	cl_name_version versions[2];
	cl_program program = made_of(module, sizeof(module));
	CL(cl->clGetProgramInfo(program, CL_PROGRAM_IL, sizeof(words), words, &bytes));
	CHECK(bytes == sizeof(module) && memcmp(words, module, bytes) == 0);
	CL(cl->clGetProgramInfo(program, CL_PROGRAM_SOURCE, sizeof(text), text, &bytes));
	CHECK(bytes == 1);
	CL(cl->clBuildProgram(program, 0, NULL, "-cl-opt-disable", NULL, NULL));
	built_module(program, words);
	CHECK(memcmp(words, module, sizeof(module)) == 0);
	runs(program);
	CL(cl->clReleaseProgram(program));
	CL(cl->clGetDeviceInfo(cl_device, CL_DEVICE_IL_VERSION, sizeof(text), text, NULL));
	CHECK(strcmp(text, "SPIR-V_1.0 SPIR-V_1.2") == 0);
	CL(cl->clGetDeviceInfo(cl_device, CL_DEVICE_ILS_WITH_VERSION, sizeof(versions), versions,
			       &bytes));
	CHECK(bytes == sizeof(versions));
	CHECK(versions[0].version == CL_MAKE_VERSION(1, 0, 0));
	CHECK(versions[1].version == CL_MAKE_VERSION(1, 2, 0));
	CHECK(strcmp(versions[1].name, "SPIR-V") == 0);
}

static void set_constants(void)
{
	const uint8_t yes = 1, small = 200;
	const uint32_t number = 77;
	const uint64_t large = UINT64_C(0x123456789abcdef0);
	uint32_t words[sizeof(module) / sizeof(*module)];
	size_t bytes = 0;
	cl_program program = made_of(module, sizeof(module));
	CL(cl->clSetProgramSpecializationConstant(program, 10, sizeof(yes), &yes));
	CL(cl->clSetProgramSpecializationConstant(program, 11, sizeof(number), &number));
	CL(cl->clSetProgramSpecializationConstant(program, 12, sizeof(large), &large));
	CL(cl->clSetProgramSpecializationConstant(program, 13, sizeof(small), &small));
	REFUSES(cl->clSetProgramSpecializationConstant(program, 14, 4, &number),
		CL_INVALID_SPEC_ID);
	REFUSES(cl->clSetProgramSpecializationConstant(program, 11, 8, &large), CL_INVALID_VALUE);
	REFUSES(cl->clSetProgramSpecializationConstant(program, 11, SIZE_MAX, &large),
		CL_INVALID_VALUE);
	REFUSES(cl->clSetProgramSpecializationConstant(program, 11, 4, NULL), CL_INVALID_VALUE);
	CL(cl->clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
	built_module(program, words);
	CHECK(words[YES_AT] == OP(3, 48));
	CHECK(words[NUMBER_AT] == number);
	CHECK(memcmp(&words[LARGE_AT], &large, sizeof(large)) == 0);
	CHECK(words[SMALL_AT] == small);
	CL(cl->clGetProgramInfo(program, CL_PROGRAM_IL, sizeof(words), words, &bytes));
	CHECK(memcmp(words, module, bytes) == 0); /* as it was given */
	runs(program);
	CL(cl->clReleaseProgram(program));
}

/* A binary is made of the module with its constants, and again into a program. */
static void load_binary(void)
{
	const uint32_t number = 78;
	uint32_t words[sizeof(module) / sizeof(*module)];
	unsigned char binary[4096], *place = binary;
	const unsigned char *good = binary;
	size_t bytes = 0;
	cl_int code = 0;
	cl_program program = made_of(module, sizeof(module));
	CL(cl->clSetProgramSpecializationConstant(program, 11, sizeof(number), &number));
	CL(cl->clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
	CL(cl->clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(bytes), &bytes, NULL));
	CL(cl->clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(place), &place, NULL));
	CL(cl->clReleaseProgram(program));
	program = cl->clCreateProgramWithBinary(cl_context_made, 1, &cl_device, &bytes, &good, NULL,
						&code);
	CL(code);
	CL(cl->clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
	built_module(program, words);
	CHECK(words[NUMBER_AT] == number);
	runs(program);
	CL(cl->clReleaseProgram(program));
	for (size_t i = 0; i < bytes - sizeof(module) + 4; i++) {
		binary[i] ^= 0x41; /* any other byte before the module, and its first word */
		program = cl->clCreateProgramWithBinary(cl_context_made, 1, &cl_device, &bytes,
							&good, NULL, &code);
		if (program)
			CL(cl->clReleaseProgram(program));
		binary[i] ^= 0x41;
	}
}

static void refuse_no_module(const void *bytes, size_t count)
{
	cl_int code = 0;
	CHECK(!cl->clCreateProgramWithIL(cl_context_made, bytes, count, &code));
	CHECK(code == CL_INVALID_VALUE);
}

/* Modules cut off anywhere, and with anything in any word. None has a constant beyond its end. */
static void pass_no_modules(void)
{
	const uint32_t wrong[] = {0, 1, UINT32_MAX, OP(4, 50), OP(0xffff, 50), OP(3, 71)};
	uint32_t words[sizeof(module) / sizeof(*module)];
	const uint64_t value = 1;
	refuse_no_module(NULL, 20);
	refuse_no_module(module, 0);
	refuse_no_module(module, 16);
	refuse_no_module(module, sizeof(module) - 1);
	refuse_no_module(module + 1, sizeof(module) - 4);
	for (size_t i = 1; i < sizeof(module) / sizeof(*module); i++)
		for (size_t k = 0; k < sizeof(wrong) / sizeof(*wrong); k++) {
			memcpy(words, module, sizeof(module));
			words[i] = wrong[k];
			cl_program program = made_of(words, sizeof(words) - (k == 0) * i * 4 % 200);
			for (cl_uint id = 10; id < 14; id++)
				for (size_t bytes = 1; bytes <= 8; bytes *= 2)
					(void)cl->clSetProgramSpecializationConstant(program, id,
										     bytes, &value);
			CL(cl->clReleaseProgram(program));
		}
}

static void refuse_constants_of_a_source(void)
{
	const char *source = "fill_u32";
	const uint32_t value = 1;
	cl_int code = 0;
	cl_program program =
		cl->clCreateProgramWithSource(cl_context_made, 1, &source, NULL, &code);
	CL(code);
	REFUSES(cl->clSetProgramSpecializationConstant(program, 10, 4, &value), CL_INVALID_PROGRAM);
	REFUSES(cl->clSetProgramSpecializationConstant(NULL, 10, 4, &value), CL_INVALID_PROGRAM);
	CL(cl->clReleaseProgram(program));
}

int main(void)
{
	const struct fake_device_options options = {.features = BACKEND_FEATURE_SPIRV |
								BACKEND_FEATURE_LINK};
	fake_device_options(0, options);
	door_open();
	run_module();
	set_constants();
	load_binary();
	pass_no_modules();
	refuse_constants_of_a_source();
	door_close();
	return 0;
}
