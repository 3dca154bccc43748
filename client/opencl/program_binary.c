/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Binaries. The service keeps what it compiled, and the library has no way to get it. So a binary
 * of this driver is the source with its options. Building it again is fast while the service has
 * the program in its cache.
 */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

/* The head of a binary; the options and the source follow, without a 0. */
struct binary {
	char magic[8];
	uint32_t type; /* cl_program_binary_type; 0: not built */
	uint32_t options_bytes;
	uint64_t source_bytes;
};
static const char binary_magic[8] = {'S', 'Y', 'C', 'L', 'D', 'C', 'L', '1'};

static const char *options_of(const struct device_build *build)
{
	return build->options ? build->options : "";
}

static size_t size_of(cl_program program, const struct device_build *build)
{
	if (program->is_linked || build->type != CL_PROGRAM_BINARY_TYPE_EXECUTABLE)
		return 0;
	return sizeof(struct binary) + strlen(options_of(build)) + program->source_bytes;
}

static void write_binary(cl_program program, const struct device_build *build, unsigned char *out)
{
	struct binary head = {.type = build->type};
	const char *options = options_of(build);
	memcpy(head.magic, binary_magic, sizeof(head.magic));
	head.options_bytes = (uint32_t)strlen(options);
	head.source_bytes = program->source_bytes;
	memcpy(out, &head, sizeof(head));
	memcpy(out + sizeof(head), options, head.options_bytes);
	memcpy(out + sizeof(head) + head.options_bytes, program->source, program->source_bytes);
}

cl_int program_answer_binaries(cl_program program, cl_program_info what, struct answer answer)
{
	size_t sizes[64] = {0};
	cl_uint count = program->device_count < 64 ? program->device_count : 64;
	for (cl_uint i = 0; i < count; i++)
		sizes[i] = size_of(program, &program->builds[i]);
	if (what == CL_PROGRAM_BINARY_SIZES)
		return answer_bytes(answer, sizes, count * sizeof(*sizes));
	unsigned char **places = answer.value;
	if (places && answer.room < count * sizeof(*places))
		return CL_INVALID_VALUE;
	for (cl_uint i = 0; places && i < count; i++)
		if (places[i] && sizes[i] > 0)
			write_binary(program, &program->builds[i], places[i]);
	if (answer.bytes_out)
		*answer.bytes_out = count * sizeof(*places);
	return CL_SUCCESS;
}

/* Checks a binary, which comes from anywhere. */
static bool read_binary(const unsigned char *bytes, size_t count, struct binary *head)
{
	if (count < sizeof(*head))
		return false;
	memcpy(head, bytes, sizeof(*head));
	return memcmp(head->magic, binary_magic, sizeof(head->magic)) == 0 &&
	       head->type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE &&
	       head->options_bytes <= count - sizeof(*head) &&
	       head->source_bytes == count - sizeof(*head) - head->options_bytes &&
	       !memchr(bytes + sizeof(*head), 0, count - sizeof(*head));
}

static cl_int check_binaries(cl_context context, cl_uint count, const cl_device_id *devices,
			     const size_t *lengths, const unsigned char **binaries,
			     cl_int *statuses)
{
	struct binary head;
	cl_int code = CL_SUCCESS;
	if (count == 0 || !devices || !lengths || !binaries)
		return CL_INVALID_VALUE;
	for (cl_uint i = 0; i < count; i++)
		if (!FIND_DEVICE(devices[i]) || !context_has_device(context, devices[i]))
			return CL_INVALID_DEVICE;
	for (cl_uint i = 0; i < count; i++) {
		cl_int status = CL_SUCCESS;
		if (lengths[i] == 0 || !binaries[i])
			status = CL_INVALID_VALUE;
		else if (!read_binary(binaries[i], lengths[i], &head))
			status = CL_INVALID_BINARY;
		if (statuses)
			statuses[i] = status;
		if (code == CL_SUCCESS)
			code = status;
	}
	return code;
}

/* All devices of one program run one source, so the binaries of all must be equal. */
CL_API_ENTRY cl_program CL_API_CALL clCreateProgramWithBinary(cl_context handle, cl_uint count,
							      const cl_device_id *devices,
							      const size_t *lengths,
							      const unsigned char **binaries,
							      cl_int *statuses, cl_int *code_out)
{
	cl_context context = FIND_CONTEXT(handle);
	struct binary head = {.type = 0};
	if (!context)
		return made(NULL, CL_INVALID_CONTEXT, code_out);
	cl_int code = check_binaries(context, count, devices, lengths, binaries, statuses);
	for (cl_uint i = 1; code == CL_SUCCESS && i < count; i++)
		if (lengths[i] != lengths[0] || memcmp(binaries[i], binaries[0], lengths[0]) != 0)
			code = CL_INVALID_BINARY;
	if (code != CL_SUCCESS)
		return made(NULL, code, code_out);
	(void)read_binary(binaries[0], lengths[0], &head);
	const char *options = (const char *)binaries[0] + sizeof(head);
	char *source = strndup(options + head.options_bytes, head.source_bytes);
	cl_program program =
		program_make(context, count, devices, source, head.source_bytes, code_out);
	if (!program)
		return NULL;
	program->is_binary = true;
	for (cl_uint i = 0; i < count; i++) {
		program->builds[i].options = strndup(options, head.options_bytes);
		program->builds[i].type = head.type;
	}
	return program;
}
