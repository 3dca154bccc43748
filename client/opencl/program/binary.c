/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Binaries. The service keeps what it compiled, and the library has no way to get it. So a binary
 * of this driver is the sources with their options. Building them again is fast while the service
 * has the program in its cache.
 */
#include "program/program.h"

#include <stdlib.h>
#include <string.h>

/* The head of a binary. The options of the linker follow, without a 0, and the parts. */
struct binary {
	char magic[8];
	uint32_t type; /* cl_program_binary_type */
	uint32_t is_linked;
	uint64_t part_count;
	uint64_t link_options_bytes;
};
static const char binary_magic[8] = {'S', 'Y', 'C', 'L', 'D', 'C', 'L', '3'};
enum { PARTS_MAX = 1024 };

/* The head of a part. The options and the source follow. */
struct binary_part {
	uint64_t options_bytes, source_bytes;
	uint64_t is_il;
};

static size_t link_options_bytes(const struct parts *parts)
{
	return parts->link_options ? strlen(parts->link_options) : 0;
}

static size_t size_of(cl_program program, const struct device_build *build)
{
	const struct parts *parts = &program->parts;
	if (build->type == CL_PROGRAM_BINARY_TYPE_NONE || parts->count == 0)
		return 0;
	size_t bytes = sizeof(struct binary) + link_options_bytes(parts);
	for (size_t i = 0; i < parts->count; i++)
		bytes += sizeof(struct binary_part) + strlen(parts->list[i].options) +
			 parts->list[i].source_bytes;
	return bytes;
}

static unsigned char *put(unsigned char *at, const void *bytes, size_t count)
{
	if (count > 0)
		memcpy(at, bytes, count);
	return at + count;
}

static void write_binary(cl_program program, const struct device_build *build, unsigned char *out)
{
	const struct parts *parts = &program->parts;
	struct binary head = {.type = build->type, .is_linked = parts->link_options != NULL};
	memcpy(head.magic, binary_magic, sizeof(head.magic));
	head.part_count = parts->count;
	head.link_options_bytes = link_options_bytes(parts);
	out = put(out, &head, sizeof(head));
	out = put(out, parts->link_options, head.link_options_bytes);
	for (size_t i = 0; i < parts->count; i++) {
		const struct part *part = &parts->list[i];
		const struct binary_part part_head = {strlen(part->options), part->source_bytes,
						      part->is_il};
		out = put(out, &part_head, sizeof(part_head));
		out = put(out, part->options, part_head.options_bytes);
		out = put(out, part->source, part_head.source_bytes);
	}
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

/* What is left of a binary, which comes from anywhere. */
struct rest {
	const unsigned char *at;
	size_t bytes;
};

static const unsigned char *take(struct rest *rest, uint64_t bytes)
{
	const unsigned char *at = rest->at;
	if (bytes > rest->bytes)
		return NULL;
	rest->at += bytes;
	rest->bytes -= bytes;
	return at;
}

static bool take_text(struct rest *rest, uint64_t bytes, const char **text_out)
{
	const unsigned char *at = take(rest, bytes);
	*text_out = (const char *)at;
	return at && !memchr(at, 0, bytes);
}

static bool read_part(struct rest *rest, struct parts *parts)
{
	struct binary_part head;
	const char *options = NULL, *text = NULL;
	const unsigned char *at = take(rest, sizeof(head));
	if (!at)
		return false;
	memcpy(&head, at, sizeof(head));
	if (head.is_il > 1 || !take_text(rest, head.options_bytes, &options))
		return false;
	if (head.is_il) {
		text = (const char *)take(rest, head.source_bytes);
		if (!text || !module_is_good(text, head.source_bytes))
			return false;
	} else if (!take_text(rest, head.source_bytes, &text)) {
		return false;
	}
	const struct source source = {text, head.source_bytes, head.is_il != 0};
	return !parts || parts_add(parts, source, options, head.options_bytes);
}

static bool is_type(uint32_t type)
{
	return type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE ||
	       type == CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT ||
	       type == CL_PROGRAM_BINARY_TYPE_LIBRARY;
}

/* Checks a binary, and takes its parts unless that is NULL. */
static bool read_binary(const unsigned char *bytes, size_t count, struct binary *head,
			struct parts *parts)
{
	struct rest rest = {bytes, count};
	const char *options = NULL;
	const unsigned char *at = take(&rest, sizeof(*head));
	if (!at)
		return false;
	memcpy(head, at, sizeof(*head));
	if (memcmp(head->magic, binary_magic, sizeof(head->magic)) != 0 || !is_type(head->type) ||
	    head->part_count < 1 || head->part_count > PARTS_MAX || head->is_linked > 1 ||
	    !take_text(&rest, head->link_options_bytes, &options))
		return false;
	if (head->is_linked && parts)
		parts->link_options = strndup(options, head->link_options_bytes);
	for (uint64_t i = 0; i < head->part_count; i++)
		if (!read_part(&rest, parts))
			return false;
	return rest.bytes == 0;
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
		else if (!read_binary(binaries[i], lengths[i], &head, NULL))
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
	cl_program program = program_make(context, count, devices, strdup(""), 0, code_out);
	if (!program)
		return NULL;
	program->is_binary = true;
	if (!read_binary(binaries[0], lengths[0], &head, &program->parts)) {
		(void)clReleaseProgram(program);
		return made(NULL, CL_OUT_OF_HOST_MEMORY, code_out);
	}
	const struct parts *parts = &program->parts;
	program->is_object = head.type != CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
	for (cl_uint i = 0; i < count; i++) {
		program->builds[i].options =
			strdup(parts->link_options ? parts->link_options : parts->list[0].options);
		program->builds[i].type = head.type;
	}
	return program;
}
