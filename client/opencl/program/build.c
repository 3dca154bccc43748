/* SPDX-License-Identifier: Apache-2.0 */
/* Building, compiling and linking programs, and what that left. */
#include "program/program.h"

#include <stdlib.h>
#include <string.h>

enum { PARTS_MAX = 1024 }; /* of one bundle of the library */

typedef void(CL_CALLBACK *build_callback)(cl_program, void *);

struct device_build *program_build_of(cl_program program, cl_device_id device)
{
	for (cl_uint i = 0; i < program->device_count; i++)
		if (program->devices[i] == device)
			return &program->builds[i];
	return NULL;
}

static cl_int check_devices(cl_program program, cl_uint count, const cl_device_id *devices)
{
	if ((count == 0) != (devices == NULL))
		return CL_INVALID_VALUE;
	for (cl_uint i = 0; i < count; i++)
		if (!FIND_DEVICE(devices[i]) || !program_build_of(program, devices[i]))
			return CL_INVALID_DEVICE;
	return CL_SUCCESS;
}

static bool is_chosen(cl_device_id device, cl_uint count, const cl_device_id *devices)
{
	if (count == 0)
		return true;
	for (cl_uint i = 0; i < count; i++)
		if (devices[i] == device)
			return true;
	return false;
}

static void set_text(char **text, const char *value)
{
	free(*text);
	*text = strdup(value ? value : "");
}

/* Stores how a build ended, for each of its devices. */
static void note_builds(cl_program program, cl_uint count, const cl_device_id *devices,
			const char *options, sycl_result result, cl_program_binary_type type)
{
	const char *log = sycl_get_build_log();
	if (result == SYCL_SUCCESS &&
	    sycl_kernel_bundle_get_log(program->bundle, &log) != SYCL_SUCCESS)
		log = "";
	if (result != SYCL_SUCCESS && !*log)
		log = sycl_get_last_error_text();
	for (cl_uint i = 0; i < program->device_count; i++) {
		struct device_build *build = &program->builds[i];
		if (!is_chosen(build->device, count, devices))
			continue;
		build->status = result == SYCL_SUCCESS ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
		build->type = result == SYCL_SUCCESS ? type : CL_PROGRAM_BINARY_TYPE_NONE;
		set_text(&build->log, log);
		if (!program->is_binary)
			set_text(&build->options, options);
	}
}

static sycl_result make_input(cl_program program, cl_uint count, const cl_device_id *devices,
			      struct source source, sycl_kernel_bundle *input_out)
{
	sycl_device list[64];
	cl_device_id found[64];
	cl_uint chosen = 0;
	for (cl_uint i = 0; i < program->device_count && chosen < 64; i++)
		if (is_chosen(program->devices[i], count, devices))
			found[chosen++] = program->devices[i];
	const uint32_t listed = device_list(chosen, found, list);
	return sycl_kernel_bundle_create_input(
		program->context->sycl, listed, list,
		source.is_il ? SYCL_SOURCE_SPIRV : SYCL_SOURCE_OPENCL_C, source.bytes,
		source.is_il ? source.count : 0, input_out);
}

/* The driver behind the service says what was wrong with the options. */
static cl_int build_code(sycl_result result, bool compiles)
{
	struct sycl_error_detail detail = SYCL_ERROR_DETAIL_INIT;
	if (result == SYCL_SUCCESS)
		return CL_SUCCESS;
	if (sycl_get_last_error(&detail) == SYCL_SUCCESS &&
	    (detail.native_code == CL_INVALID_BUILD_OPTIONS ||
	     detail.native_code == CL_INVALID_COMPILER_OPTIONS))
		return compiles ? CL_INVALID_COMPILER_OPTIONS : CL_INVALID_BUILD_OPTIONS;
	cl_int code = code_of(result);
	return code == CL_BUILD_PROGRAM_FAILURE && compiles ? CL_COMPILE_PROGRAM_FAILURE : code;
}

typedef sycl_result build_function(sycl_kernel_bundle input, const char *options,
				   sycl_kernel_bundle *bundle_out);

/* `options` are those of the program, `sent` those for the service. A source that is NULL is the
 * program's module. */
static cl_int build_with(cl_program program, build_function *function, const char *text,
			 const char *options, const char *sent, cl_uint count,
			 const cl_device_id *devices)
{
	bool compiles = function == sycl_kernel_bundle_compile;
	sycl_kernel_bundle input = NULL, bundle = NULL;
	pthread_mutex_lock(&program->lock);
	if (program->kernel_count > 0) {
		pthread_mutex_unlock(&program->lock);
		return CL_INVALID_OPERATION;
	}
	const struct source source = {text ? text : (const char *)program->module,
				      text ? strlen(text) : program->il_bytes, !text};
	sycl_result r = make_input(program, count, devices, source, &input);
	if (r == SYCL_SUCCESS)
		r = function(input, sent, &bundle);
	cl_int code = build_code(r, compiles);
	if (program->bundle)
		(void)sycl_kernel_bundle_release(program->bundle);
	program->bundle = bundle;
	program->is_object = compiles;
	parts_clear(&program->parts);
	if (r == SYCL_SUCCESS && !parts_add(&program->parts, source, sent, strlen(sent)))
		code = CL_OUT_OF_HOST_MEMORY;
	note_builds(program, count, devices, options, r,
		    compiles ? CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT
			     : CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
	if (input)
		(void)sycl_kernel_bundle_release(input);
	pthread_mutex_unlock(&program->lock);
	return code;
}

/* The same for what the program was made of. */
static cl_int build_source(cl_program program, build_function *function, cl_uint header_count,
			   const cl_program *headers, const char **names, const char *options,
			   cl_uint count, const cl_device_id *devices)
{
	options = options ? options : "";
	if (program->module)
		return build_with(program, function, NULL, options, options, count, devices);
	char *source = program_include(program->source, header_count, headers, names, options);
	char *sent = source ? program_options(options, source) : NULL;
	cl_int code = sent ? build_with(program, function, source, options, sent, count, devices)
			   : CL_OUT_OF_HOST_MEMORY;
	free(source);
	free(sent);
	return code;
}

/* Makes the bundles of all parts, and one of them all. */
static sycl_result load_parts(cl_program program, bool executable, sycl_kernel_bundle *bundle_out)
{
	const struct parts *parts = &program->parts;
	bool is_single = parts->count == 1 && (!executable || !parts->link_options);
	sycl_kernel_bundle input = NULL, bundles[PARTS_MAX];
	uint32_t count = 0;
	sycl_result r = SYCL_SUCCESS;
	for (; count < parts->count && r == SYCL_SUCCESS; count += r == SYCL_SUCCESS) {
		const struct part *part = &parts->list[count];
		const struct source source = {part->source, part->source_bytes, part->is_il};
		r = make_input(program, 0, NULL, source, &input);
		if (r != SYCL_SUCCESS)
			break;
		r = (is_single && executable
			     ? sycl_kernel_bundle_build
			     : sycl_kernel_bundle_compile)(input, part->options, &bundles[count]);
		(void)sycl_kernel_bundle_release(input);
	}
	if (r == SYCL_SUCCESS && is_single) {
		*bundle_out = bundles[0];
		return r;
	}
	if (r == SYCL_SUCCESS)
		r = executable ? sycl_kernel_bundle_link(count, bundles, parts->link_options,
							 bundle_out)
			       : sycl_kernel_bundle_join(count, bundles, bundle_out);
	while (count > 0)
		(void)sycl_kernel_bundle_release(bundles[--count]);
	return r;
}

/* Makes the bundle of a program that was made of a binary. */
static cl_int load(cl_program program, bool executable)
{
	sycl_kernel_bundle bundle = NULL;
	pthread_mutex_lock(&program->lock);
	if (program->kernel_count > 0) {
		pthread_mutex_unlock(&program->lock);
		return CL_INVALID_OPERATION;
	}
	sycl_result r = load_parts(program, executable, &bundle);
	cl_int code = build_code(r, false);
	if (program->bundle)
		(void)sycl_kernel_bundle_release(program->bundle);
	program->bundle = bundle;
	program->is_object = !executable;
	note_builds(program, 0, NULL, NULL, r,
		    executable ? CL_PROGRAM_BINARY_TYPE_EXECUTABLE : program->builds[0].type);
	pthread_mutex_unlock(&program->lock);
	return code;
}

CL_API_ENTRY cl_int CL_API_CALL clBuildProgram(cl_program handle, cl_uint count,
					       const cl_device_id *devices, const char *options,
					       build_callback notify, void *user_data)
{
	cl_program program = FIND_PROGRAM(handle);
	if (!program)
		return CL_INVALID_PROGRAM;
	if (!notify && user_data)
		return CL_INVALID_VALUE;
	cl_int code = check_devices(program, count, devices);
	if (code != CL_SUCCESS)
		return code;
	if (program->is_linked)
		return CL_INVALID_OPERATION;
	if (program->is_binary)
		code = load(program, true);
	else
		code = build_source(program, sycl_kernel_bundle_build, 0, NULL, NULL, options,
				    count, devices);
	if (notify)
		notify(program, user_data);
	return code;
}

CL_API_ENTRY cl_int CL_API_CALL clCompileProgram(cl_program handle, cl_uint count,
						 const cl_device_id *devices, const char *options,
						 cl_uint header_count, const cl_program *headers,
						 const char **names, build_callback notify,
						 void *user_data)
{
	cl_program program = FIND_PROGRAM(handle);
	if (!program)
		return CL_INVALID_PROGRAM;
	if ((!notify && user_data) || (header_count == 0) != (headers == NULL) ||
	    (header_count == 0) != (names == NULL))
		return CL_INVALID_VALUE;
	cl_int code = check_devices(program, count, devices);
	if (code != CL_SUCCESS)
		return code;
	for (cl_uint i = 0; i < header_count; i++)
		if (!FIND_PROGRAM(headers[i]) || !names[i])
			return CL_INVALID_PROGRAM;
	if (program->is_linked || program->is_binary)
		return CL_INVALID_OPERATION;
	code = build_source(program, sycl_kernel_bundle_compile, header_count, headers, names,
			    options, count, devices);
	if (notify)
		notify(program, user_data);
	return code;
}

static sycl_result link_bundles(cl_program linked, const char *options, cl_uint count,
				const cl_program *programs)
{
	sycl_kernel_bundle bundles[PARTS_MAX];
	bool is_library = options && strstr(options, "-create-library");
	for (cl_uint i = 0; i < count; i++) {
		bundles[i] = programs[i]->bundle;
		if (!parts_add_all(&linked->parts, &programs[i]->parts))
			return SYCL_ERROR_MEMORY_ALLOCATION;
	}
	linked->parts.link_options = strdup(options ? options : "");
	if (!linked->parts.link_options)
		return SYCL_ERROR_MEMORY_ALLOCATION;
	linked->is_object = is_library;
	return is_library ? sycl_kernel_bundle_join(count, bundles, &linked->bundle)
			  : sycl_kernel_bundle_link(count, bundles, options, &linked->bundle);
}

static cl_int check_link(cl_context context, cl_uint device_count, const cl_device_id *devices,
			 cl_uint count, const cl_program *programs)
{
	if ((device_count == 0) != (devices == NULL) || count == 0 || !programs ||
	    count > PARTS_MAX)
		return CL_INVALID_VALUE;
	for (cl_uint i = 0; i < device_count; i++)
		if (!FIND_DEVICE(devices[i]) || !context_has_device(context, devices[i]))
			return CL_INVALID_DEVICE;
	for (cl_uint i = 0; i < count; i++) {
		cl_program program = FIND_PROGRAM(programs[i]);
		if (!program)
			return CL_INVALID_PROGRAM;
		if (program->is_binary && !program->bundle && program->is_object &&
		    load(program, false) != CL_SUCCESS)
			return CL_INVALID_OPERATION;
		if (!program->bundle || !program->is_object)
			return CL_INVALID_OPERATION;
	}
	return CL_SUCCESS;
}

CL_API_ENTRY cl_program CL_API_CALL clLinkProgram(cl_context handle, cl_uint device_count,
						  const cl_device_id *devices, const char *options,
						  cl_uint count, const cl_program *programs,
						  build_callback notify, void *user_data,
						  cl_int *code_out)
{
	cl_context context = FIND_CONTEXT(handle);
	cl_int code = context ? check_link(context, device_count, devices, count, programs)
			      : CL_INVALID_CONTEXT;
	if (code == CL_SUCCESS && !notify && user_data)
		code = CL_INVALID_VALUE;
	if (code != CL_SUCCESS)
		return made(NULL, code, code_out);
	cl_program linked =
		program_make(context, device_count ? device_count : context->device_count,
			     device_count ? devices : context->devices, strdup(""), 0, code_out);
	if (!linked)
		return NULL;
	linked->is_linked = true;
	sycl_result r = link_bundles(linked, options, count, programs);
	note_builds(linked, 0, NULL, options, r,
		    linked->is_object ? CL_PROGRAM_BINARY_TYPE_LIBRARY
				      : CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
	code = code_of(r);
	if (code == CL_BUILD_PROGRAM_FAILURE)
		code = CL_LINK_PROGRAM_FAILURE;
	if (notify)
		notify(linked, user_data);
	return made(linked, code, code_out);
}

CL_API_ENTRY cl_int CL_API_CALL clGetProgramBuildInfo(cl_program handle, cl_device_id device,
						      cl_program_build_info what, size_t size,
						      void *value, size_t *bytes_out)
{
	cl_program program = FIND_PROGRAM(handle);
	if (!program)
		return CL_INVALID_PROGRAM;
	struct device_build *build = FIND_DEVICE(device) ? program_build_of(program, device) : NULL;
	if (!build)
		return CL_INVALID_DEVICE;
	switch (what) {
	case CL_PROGRAM_BUILD_STATUS:
		return answer_uint(ANSWER, (cl_uint)build->status);
	case CL_PROGRAM_BUILD_OPTIONS:
		return answer_text(ANSWER, build->options ? build->options : "");
	case CL_PROGRAM_BUILD_LOG:
		return answer_text(ANSWER, build->log ? build->log : "");
	case CL_PROGRAM_BINARY_TYPE:
		return answer_uint(ANSWER, build->type);
	case CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE:
		return answer_size(ANSWER, 0);
	default:
		return CL_INVALID_VALUE;
	}
}

/* The compiler is the service's, so there is nothing to unload. */
CL_API_ENTRY cl_int CL_API_CALL clUnloadPlatformCompiler(cl_platform_id platform)
{
	return FIND_PLATFORM(platform) ? CL_SUCCESS : CL_INVALID_PLATFORM;
}

CL_API_ENTRY cl_int CL_API_CALL clUnloadCompiler(void)
{
	return CL_SUCCESS;
}
