#include "opencl/program/link.h"

#include "opencl/program/build.h"
#include "opencl/driver/fault.h"
#include "opencl/program/link_words.h"
#include "opencl/program/long_name.h"
#include "portable_names.h"
#include "status.h"

#include <stdio.h>
#include <string.h>

/* Before the options, ended by a 0, and the source. */
struct object_head {
	char magic[8];
	uint32_t kind, options_bytes; /* bytes of the options with the final 0 */
};
static const char magic[8] = {'S', 'Y', 'C', 'L', 'O', 'C', 'L', 'O'};

static int pack_object(const struct opencl_build *build, void **object_out, size_t *bytes_out)
{
	const char *options = build->options ? build->options : "";
	struct object_head head = {.kind = (uint32_t)build->kind,
				   .options_bytes = (uint32_t)strlen(options) + 1};
	size_t bytes = sizeof(head) + head.options_bytes + build->source_bytes;
	char *object = malloc(bytes);

	if (!object)
		return -ENOMEM;
	memcpy(head.magic, magic, sizeof(magic));
	memcpy(object, &head, sizeof(head));
	memcpy(object + sizeof(head), options, head.options_bytes);
	memcpy(object + sizeof(head) + head.options_bytes, build->source, build->source_bytes);
	*object_out = object;
	*bytes_out = bytes;
	return 0;
}

/* Reads kind, options and source of a build from untrusted bytes. -EINVAL: they are no object. */
static int unpack_object(const void *object, size_t bytes, struct opencl_build *build)
{
	struct object_head head;
	const char *options = (const char *)object + sizeof(head);

	if (bytes < sizeof(head))
		return -EINVAL;
	memcpy(&head, object, sizeof(head));
	if (memcmp(head.magic, magic, sizeof(magic)) != 0 || head.options_bytes == 0 ||
	    head.options_bytes > bytes - sizeof(head) || options[head.options_bytes - 1] != '\0' ||
	    (head.kind != BACKEND_SOURCE_OPENCL_C && head.kind != BACKEND_SOURCE_PORTABLE))
		return -EINVAL;
	build->kind = (enum backend_source_kind)head.kind;
	build->options = options;
	build->source = options + head.options_bytes;
	build->source_bytes = bytes - sizeof(head) - head.options_bytes;
	return 0;
}

/* build->program, compiled. */
static int compile_for_dimensions(struct opencl_build *build, uint32_t dimensions,
				  struct backend_fault *fault_out)
{
	CLEANUP(free_pointer) char *options = NULL;

	int error = opencl_build_create(build, fault_out);
	if (error == 0)
		error = opencl_build_options(build, dimensions, &options, fault_out);
	if (error < 0)
		return error;
	cl_int code = build->cl->CompileProgram(build->program, 1, &build->device, options, 0, NULL,
						NULL, NULL, NULL);
	return opencl_build_result(build, code, "compile the program", fault_out);
}

/* Compiles the source of an object once. That also shows which of its texts compiles. */
static int compile_object(struct opencl_build *build, struct backend_fault *fault_out)
{
	int error = compile_for_dimensions(build, opencl_build_needs_dimensions(build) ? 1 : 0,
					   fault_out);

	if (build->program)
		(void)build->cl->ReleaseProgram(build->program);
	build->program = NULL;
	return error;
}

int opencl_compile(struct backend *backend, uint32_t device, enum backend_source_kind kind,
		   const char *source, size_t source_bytes, const char *options, void **object_out,
		   size_t *object_bytes_out, char **log_out, struct backend_fault *fault_out)
{
	CLEANUP(opencl_build_fini)
	struct opencl_build build = {
		.kind = kind, .source = source, .options = options, .source_bytes = source_bytes};

	*log_out = NULL;
	/*
	 * The facts of a module's arguments must be read from the module itself: program/spirv.h.
	 */
	if (kind == BACKEND_SOURCE_BUILTIN || kind == BACKEND_SOURCE_SPIRV || source_bytes == 0) {
		opencl_fault_words(fault_out, source_bytes ? STATUS_INVALID : STATUS_BUILD,
				   source_bytes
					   ? "built-in kernels and SPIR-V are built, not compiled"
					   : "the source is empty");
		return -EINVAL;
	}
	int error = opencl_build_open(&build, backend, device, fault_out);
	if (error == 0)
		error = opencl_build_try(&build, compile_object, fault_out);
	*log_out = build.log;
	if (error == 0 && pack_object(&build, object_out, object_bytes_out) < 0)
		return opencl_no_memory(fault_out, "linking");
	return error;
}

/* The objects of one link, and the program that is linked from them. */
struct link {
	struct opencl_build whole;
	struct opencl_build *parts; /* use the context of `whole` */
	cl_program *programs;
	uint32_t count;
};

static void release_programs(struct link *link)
{
	for (uint32_t i = 0; i < link->count; i++) {
		if (link->parts[i].program)
			(void)link->whole.cl->ReleaseProgram(link->parts[i].program);
		link->parts[i].program = NULL;
	}
	if (link->whole.program)
		(void)link->whole.cl->ReleaseProgram(link->whole.program);
	link->whole.program = NULL;
}

static void opencl_link_fini(struct link *link)
{
	if (link->parts)
		release_programs(link);
	free(link->parts);
	free(link->programs);
	opencl_build_fini(&link->whole);
}

/* The first part with a log gives it to the link. */
static void link_hand_log(struct link *link, struct opencl_build *part)
{
	if (link->whole.log)
		free(part->log);
	else
		link->whole.log = part->log;
	part->log = NULL;
}

/* If the linker gives no log, the sources are searched for the error. The log lists all functions
 * found. The fault has the log's last line, if a function is missing or defined twice. */
static void opencl_explain_failure(struct link *link, struct backend_fault *fault_out)
{
	CLEANUP(free_pointer) struct opencl_text *sources = calloc(link->count, sizeof(*sources));

	for (uint32_t i = 0; sources && i < link->count; i++)
		sources[i] =
			(struct opencl_text){link->parts[i].source, link->parts[i].source_bytes};
	char *words = sources ? opencl_link_words(sources, link->count) : NULL;
	if (!words) /* the linker's code is returned all the same */
		return;
	free(link->whole.log);
	link->whole.log = words;
	const char *last = memrchr(words, '\n', strlen(words) - 1);
	bool is_known = last && last[1] != 'o'; /* no line of an object */
	(void)snprintf(
		fault_out->text, sizeof(fault_out->text),
		"these %u objects do not link, and the driver does not say why; see the build log%s%.*s",
		link->count, is_known ? ": " : "", is_known ? (int)strcspn(last + 1, "\n") : 0,
		is_known ? last + 1 : "");
}

static int link_variant(struct link *link, uint32_t dimensions, struct backend_fault *fault_out)
{
	struct opencl_build *whole = &link->whole;
	cl_int code = CL_SUCCESS;

	for (uint32_t i = 0; i < link->count; i++) {
		struct opencl_build *part = &link->parts[i];
		int error = compile_for_dimensions(part, dimensions, fault_out);
		link_hand_log(link, part);
		if (error < 0)
			return error;
		link->programs[i] = part->program;
	}
	CLEANUP(free_pointer) char *options = strdup(whole->options ? whole->options : "");
	if (!options)
		return opencl_no_memory(fault_out, "a program");
	opencl_build_plain_options(options);
	whole->program = whole->cl->LinkProgram(whole->context, 1, &whole->device, options,
						link->count, link->programs, NULL, NULL, &code);
	if (!whole->program) {
		int error = opencl_fault_code(fault_out, code ? code : CL_LINK_PROGRAM_FAILURE,
					      "link the program");
		if (code == CL_LINK_PROGRAM_FAILURE)
			opencl_explain_failure(link, fault_out);
		return error;
	}
	int error = opencl_build_result(whole, code, "link the program", fault_out);
	return error < 0 ? error : opencl_build_take(whole, dimensions, fault_out);
}

static int link_variants(struct link *link, struct backend_fault *fault_out)
{
	uint32_t first = 0, last = 0;
	int error = 0;

	for (uint32_t i = 0; i < link->count; i++) {
		if (opencl_build_needs_dimensions(&link->parts[i])) {
			first = 1;
			last = OPENCL_VARIANTS;
		}
	}
	for (uint32_t dimensions = first; error == 0 && dimensions <= last; dimensions++) {
		error = link_variant(link, dimensions, fault_out);
		release_programs(link);
	}
	return error;
}

static int opencl_link_open_parts(struct link *link, const void *const *objects,
				  const size_t *object_bytes, uint32_t count,
				  struct backend_fault *fault_out)
{
	link->parts = calloc(count + 1u, sizeof(*link->parts));
	link->programs = calloc(count + 1u, sizeof(cl_program));
	if (!link->parts || !link->programs)
		return opencl_no_memory(fault_out, "linking");
	link->count = count;
	for (uint32_t i = 0; i < count; i++) {
		struct opencl_build *part = &link->parts[i];
		part->cl = link->whole.cl;
		part->facts = link->whole.facts;
		part->device = link->whole.device;
		part->context = link->whole.context;
		if (unpack_object(objects[i], object_bytes[i], part) < 0) {
			opencl_fault_words(fault_out, STATUS_INVALID,
					   "input %u is no object of this device", i);
			return -EINVAL;
		}
	}
	return 0;
}

static int link_restore_names(struct link *link, struct backend_fault *fault_out)
{
	for (uint32_t i = 0; i < link->count; i++)
		if (opencl_long_names_restore(&link->whole.binary, link->parts[i].source,
					      link->parts[i].source_bytes) < 0)
			return opencl_no_memory(fault_out, "linking");
	return 0;
}

int opencl_link(struct backend *backend, uint32_t device, uint32_t count,
		const void *const *objects, const size_t *object_bytes, const char *options,
		void **binary_out, size_t *binary_bytes_out, char **log_out,
		struct backend_fault *fault_out)
{
	CLEANUP(opencl_link_fini)
	struct link link = {.whole = {.kind = BACKEND_SOURCE_OPENCL_C, .options = options}};

	*log_out = NULL;
	int error = opencl_build_open(&link.whole, backend, device, fault_out);
	if (error == 0)
		error = opencl_link_open_parts(&link, objects, object_bytes, count, fault_out);
	if (error == 0)
		error = link_variants(&link, fault_out);
	if (error == 0)
		error = link_restore_names(&link, fault_out);
	if (link.whole.log)
		portable_names_restore(link.whole.log);
	portable_names_restore(fault_out->text);
	*log_out = link.whole.log;
	if (error == 0 && opencl_binary_pack(&link.whole.binary, binary_out, binary_bytes_out) < 0)
		return opencl_no_memory(fault_out, "linking");
	return error;
}
