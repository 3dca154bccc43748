/* Programs of the OpenCL driver: binaries of all kinds, and headers in files. */
#include "driver.h"
#include "private_service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(programs, .init = with_driver, .fini = without_driver);

static cl_program compiled(const char *text, const char *options)
{
	cl_int code = 0;
	cl_program program = clCreateProgramWithSource(cl_context_made, 1, &text, NULL, &code);
	CL(code);
	CL(clCompileProgram(program, 0, NULL, options, 0, NULL, NULL, NULL, NULL));
	return program;
}

static cl_program linked(const char *options, cl_uint count, const cl_program *parts)
{
	cl_int code = 0;
	cl_program program =
		clLinkProgram(cl_context_made, 0, NULL, options, count, parts, NULL, NULL, &code);
	CL(code);
	return program;
}

static unsigned char *binary_of(cl_program program, size_t *bytes_out)
{
	CL(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(*bytes_out), bytes_out, NULL));
	cr_assert(gt(sz, *bytes_out, 0));
	unsigned char *binary = malloc(*bytes_out);
	CL(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(unsigned char *), &binary, NULL));
	return binary;
}

static cl_int load(const unsigned char *binary, size_t bytes, cl_program *program_out)
{
	cl_int code = 0;
	*program_out = clCreateProgramWithBinary(cl_context_made, 1, &cl_device, &bytes, &binary,
						 NULL, &code);
	return code;
}

/* Makes the program again of its binary, and releases it. */
static cl_program reloaded(cl_program program, cl_program_binary_type type)
{
	cl_program again = NULL;
	cl_program_binary_type found = 0;
	size_t bytes = 0;
	unsigned char *binary = binary_of(program, &bytes);
	CL(load(binary, bytes, &again));
	CL(clGetProgramBuildInfo(again, cl_device, CL_PROGRAM_BINARY_TYPE, sizeof(found), &found,
				 NULL));
	cr_assert(eq(u32, found, type));
	CL(clReleaseProgram(program));
	free(binary);
	return again;
}

/* Runs the kernel `k` of the program, and checks the word that it writes. */
static void check_word(cl_program program, cl_uint expected)
{
	cl_int code = 0;
	cl_uint word = 0;
	cl_mem buffer = buffer_of(NULL);
	cl_kernel kernel = clCreateKernel(program, "k", &code);
	CL(code);
	CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &buffer));
	CL(clEnqueueTask(cl_queue, kernel, 0, NULL, NULL));
	CL(clEnqueueReadBuffer(cl_queue, buffer, CL_TRUE, 0, 4, &word, 0, NULL, NULL));
	cr_assert(eq(u32, word, expected));
	CL(clReleaseKernel(kernel));
	CL(clReleaseMemObject(buffer));
}

static const char caller[] = "uint twice(uint x); __kernel void k(__global uint *x) { *x = "
			     "twice(WORD); }";
static const char called[] = "uint twice(uint x) { return x * 2; }";

static void check_attributes(cl_program program, const char *name, const char *expected)
{
	char text[256] = "";
	cl_int code = 0;
	cl_kernel kernel = clCreateKernel(program, name, &code);
	CL(code);
	CL(clGetKernelInfo(kernel, CL_KERNEL_ATTRIBUTES, sizeof(text), text, NULL));
	cr_assert(eq(str, text, (char *)expected));
	CL(clReleaseKernel(kernel));
}

Test(programs, attributes_are_those_of_the_source)
{
	cl_program program = built_program(
		"// __kernel void a(\n#define WORD \"{\"\n/* { */ void helper(int x) { if (x) { } }\n"
		"__kernel __attribute__((vec_type_hint(float4)))\n"
		"__attribute__ ((reqd_work_group_size(2, 1, 1), work_group_size_hint(2,1,1)))\n"
		"void a(__global int *x) { x[0] = ')'; }\n"
		"kernel void b(__global int *x);\nkernel void b(__global int *x) { x[0] = 1; }\n");
	check_attributes(program, "a",
			 "vec_type_hint(float4) reqd_work_group_size(2,1,1) "
			 "work_group_size_hint(2,1,1)");
	check_attributes(program, "b", "");
	CL(clReleaseProgram(program));
}

Test(programs, objects_libraries_and_executables_have_binaries)
{
	cl_program object =
		reloaded(compiled(caller, "-DWORD=21"), CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
	cl_program part = compiled(called, NULL);
	cl_program library =
		reloaded(linked("-create-library", 1, &part), CL_PROGRAM_BINARY_TYPE_LIBRARY);
	const cl_program both[2] = {object, library};
	cl_program whole = reloaded(linked(NULL, 2, both), CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
	CL(clBuildProgram(whole, 0, NULL, NULL, NULL, NULL));
	check_word(whole, 42);
	CL(clReleaseProgram(object));
	CL(clReleaseProgram(part));
	CL(clReleaseProgram(library));
	CL(clReleaseProgram(whole));
}

/* Whatever is cut off or changed in the head, there is an answer. */
Test(programs, a_damaged_binary_is_refused)
{
	cl_program made = NULL, program = built_program("__kernel void k(__global uint *x) { }");
	size_t bytes = 0;
	unsigned char *binary = binary_of(program, &bytes);
	for (size_t cut = 1; cut < bytes; cut++)
		REFUSES(load(binary, cut, &made), CL_INVALID_BINARY);
	for (size_t i = 0; i < 48 && i < bytes; i++) {
		binary[i] ^= 0xff;
		REFUSES(load(binary, bytes, &made), CL_INVALID_BINARY);
		binary[i] ^= 0xff;
	}
	CL(clReleaseProgram(program));
	free(binary);
}

static void write_file(const char *folder, const char *name, const char *text)
{
	char path[128];
	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *file = fopen(path, "w");
	cr_assert(file != NULL);
	cr_assert(ge(int, fputs(text, file), 0));
	cr_assert(eq(int, fclose(file), 0));
}

static void remove_file(const char *folder, const char *name)
{
	char path[128];
	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	cr_assert(eq(int, unlink(path), 0));
}

/* The service may be another user, or see other files. So the program's files are read by the call
 * that compiles, and never afterwards. */
Test(programs, headers_are_files_of_the_program)
{
	char folder[] = "/tmp/sycld-headers.XXXXXX", options[64];
	cr_assert(mkdtemp(folder) != NULL);
	write_file(folder, "outer.h", "#include \"inner.h\"\n#include \"round.h\"\n");
	write_file(folder, "inner.h", "#define WORD 4\n");
	write_file(folder, "round.h",
		   "#ifndef ROUND\n#define ROUND\n#include \"outer.h\"\n#endif\n");
	(void)snprintf(options, sizeof(options), "-I \"%s\"", folder);
	cl_program parts[2] = {
		compiled(
			"#include <outer.h>\n"
			"uint twice(uint x); __kernel void k(__global uint *x) { *x = twice(WORD); }",
			options),
		compiled(called, NULL)};
	remove_file(folder, "outer.h");
	remove_file(folder, "inner.h");
	remove_file(folder, "round.h");
	cr_assert(eq(int, rmdir(folder), 0));
	cl_program whole = linked(NULL, 2, parts);
	check_word(whole, 8);
	for (int i = 0; i < 2; i++)
		CL(clReleaseProgram(parts[i]));
	CL(clReleaseProgram(whole));
}

static char *options_of(cl_program program)
{
	static char options[128];
	CL(clGetProgramBuildInfo(program, cl_device, CL_PROGRAM_BUILD_OPTIONS, sizeof(options),
				 options, NULL));
	return options;
}

static cl_program built_with(const char *text, const char *options)
{
	cl_int code = 0;
	cl_program program = clCreateProgramWithSource(cl_context_made, 1, &text, NULL, &code);
	CL(code);
	CL(clBuildProgram(program, 0, NULL, options, NULL, NULL));
	return program;
}

static int cache_hits(void)
{
	const char *key = "build_cache_hits";
	json_t *status = private_service_status(driver_service());
	json_t *tenants = json_object_get(status, "tenants");
	int hits = (int)json_integer_value(json_object_get(json_array_get(tenants, 0), key));
	json_decref(status);
	return hits;
}

/* pyopencl names a folder in every build. What the headers say is in the text then, so the service
 * may keep the build. A binary is the same text with the same options. */
Test(programs, a_build_with_a_folder_of_headers_is_kept)
{
	static const char text[] =
		"#include \"word.h\"\n__kernel void k(__global uint *x) { *x = WORD + MORE; }";
	char folder[] = "/tmp/sycld-headers.XXXXXX", options[64], word[64];
	cr_assert(mkdtemp(folder) != NULL);
	/* A text that no earlier run has built. */
	(void)snprintf(word, sizeof(word), "#define WORD 4 // %s\n", folder);
	write_file(folder, "word.h", word);
	(void)snprintf(options, sizeof(options), "-DMORE=1 -I %s -w", folder);
	cl_program first = built_with(text, options);
	check_word(first, 5);
	cr_assert(eq(str, options_of(first), options));
	cr_assert(eq(int, cache_hits(), 0));
	(void)snprintf(options, sizeof(options), "-DMORE=1 -I\"%s\" -w", folder);
	cl_program second = built_with(text, options);
	check_word(second, 5);
	cr_assert(eq(int, cache_hits(), 1));
	(void)snprintf(word, sizeof(word), "#define WORD 5 // %s\n", folder);
	write_file(folder, "word.h", word);
	cl_program third = built_with(text, options);
	check_word(third, 6);
	cr_assert(eq(int, cache_hits(), 1));
	remove_file(folder, "word.h");
	cr_assert(eq(int, rmdir(folder), 0));
	cl_program again = reloaded(first, CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
	CL(clBuildProgram(again, 0, NULL, NULL, NULL, NULL));
	check_word(again, 5);
	cr_assert(eq(int, cache_hits(), 2));
	CL(clReleaseProgram(second));
	CL(clReleaseProgram(third));
	CL(clReleaseProgram(again));
}
