#include "cuda/translate/translate.h"

#include "cuda/translate/tools.h"
#include "cuda/translate/words.h"
#include "portable_prelude.h"
#include "private_folder.h"
#include "protocol_limits.h"
#include "status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Options, or four words for each of 64 units, and what each call has. */
#define ARGUMENTS_MAX  (CUDA_OPTIONS_MAX + 128u)
#define FILE_BYTES_MAX (1ull << 30)

struct translation {
	const struct cuda_translate_request *request;
	struct cuda_tools tools;
	struct cuda_options options;
	struct private_folder folder;
	char architecture[16], defined[48];
	const char *arguments[ARGUMENTS_MAX];
	uint32_t count;
	const char *log; /* the file with what the last step printed; NULL: none has run */
	struct backend_fault *fault_out;
};

/* The compiler's words about the source, and those of all other steps, which are of no use to the
 * user unless the step fails. */
static const char source_log[] = "source.log", other_log[] = "other.log";

static void translation_end(struct translation *t)
{
	private_folder_remove(&t->folder);
	cuda_options_fini(&t->options);
}

static void add_words(struct translation *t, const char *const *words)
{
	for (; *words; words++)
		t->arguments[t->count++] = *words;
}

#define ADD(t, ...) add_words((t), (const char *const[]){__VA_ARGS__, NULL})

/* Begins a call of clang for a file of this language. */
static void begin_clang(struct translation *t, const char *language)
{
	t->count = 0;
	ADD(t, t->tools.clang, "-x", language, "-target", "nvptx64-nvidia-cuda", "-Xclang",
	    "-target-cpu", "-Xclang", t->architecture, "-fno-crash-diagnostics");
	if (t->tools.version == 14) /* it has the instructions, but does not enable them */
		ADD(t, "-Xclang", "-target-feature", "-Xclang", "+ptx71");
}

/* What the device and the built-in functions have, beyond what clang knows of. */
static void add_extensions(struct translation *t)
{
	ADD(t, "-Xclang",
	    "-cl-ext=+cl_khr_fp16,+cl_khr_fp64,+cl_khr_int64_base_atomics,"
	    "+cl_khr_int64_extended_atomics,+cl_khr_subgroups,+cl_khr_subgroup_ballot,"
	    "+cl_khr_subgroup_non_uniform_vote,+cl_khr_subgroup_shuffle,"
	    "+cl_khr_subgroup_shuffle_relative,+__opencl_c_generic_address_space,"
	    "+__opencl_c_subgroups,+__opencl_c_atomic_order_acq_rel,"
	    "+__opencl_c_atomic_order_seq_cst,+__opencl_c_atomic_scope_device,"
	    "+__opencl_c_atomic_scope_all_devices,+__opencl_c_program_scope_global_variables");
}

/* Both libraries, of which only what is called is taken: of the first one where it has it. */
static void add_libraries(struct translation *t)
{
	ADD(t, "-Xclang", "-mlink-builtin-bitcode", "-Xclang", "builtins.bc", "-Xclang",
	    "-mlink-builtin-bitcode", "-Xclang", t->tools.library);
}

static int translation_write(const struct translation *t, const char *name, const void *bytes,
			     size_t count)
{
	CLEANUP(free_pointer) char *path = NULL;

	if (asprintf(&path, "%s/%s", t->folder.path, name) < 0) {
		path = NULL;
		return cuda_no_memory(t->fault_out, "a translation");
	}
	FILE *file = fopen(path, "we");
	bool written = file && fwrite(bytes, 1, count, file) == count;
	if (file && fclose(file) != 0)
		written = false;
	return written ? 0
		       : cuda_fault_words(t->fault_out, -EIO, STATUS_BUILD,
					  "the build's folder takes no file: %s", strerror(errno));
}

/* The file, with a 0 behind it that is not counted. NULL: there is none, or no memory. */
static char *translation_read(const struct translation *t, const char *name, size_t *count_out)
{
	CLEANUP(free_pointer) char *path = NULL;
	CLEANUP(free_pointer) char *bytes = NULL;
	struct stat status;

	if (asprintf(&path, "%s/%s", t->folder.path, name) < 0) {
		path = NULL;
		return NULL;
	}
	FILE *file = fopen(path, "re");
	if (!file)
		return NULL;
	if (fstat(fileno(file), &status) == 0 && (uint64_t)status.st_size < FILE_BYTES_MAX)
		bytes = malloc((size_t)status.st_size + 1);
	size_t count = bytes ? fread(bytes, 1, (size_t)status.st_size, file) : 0;
	(void)fclose(file);
	if (!bytes)
		return NULL;
	bytes[count] = '\0';
	*count_out = count;
	return TAKE(bytes);
}

/* Ends what a crash printed where it says nothing about the source. */
static void cut_log(char *log)
{
	static const char *const marks[] = {"PLEASE submit a bug report",
					    "Stack dump:", "PLEASE ATTACH"};

	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		char *found = strstr(log, marks[i]);
		if (found)
			*found = '\0';
	}
}

static void take_log(const struct translation *t, bool failed, char **log_in_out)
{
	size_t count = 0;
	char *log = t->log ? translation_read(t, failed ? t->log : source_log, &count) : NULL;

	if (log && count > BACKEND_LOG_BYTES_MAX)
		log[BACKEND_LOG_BYTES_MAX - 1] = '\0';
	if (log)
		cut_log(log);
	if (*log_in_out || !log || !log[0])
		free(log);
	else
		*log_in_out = log;
}

static int run_arguments(struct translation *t, const char *log, const char *what)
{
	t->arguments[t->count] = NULL;
	t->log = log;
	int status = cuda_tool_run(t->folder.path, log, t->arguments);

	if (status == 0)
		return 0;
	if (status < 0)
		return cuda_fault_words(t->fault_out, status, STATUS_BUILD, "%.80s cannot run: %s",
					t->arguments[0], strerror(-status));
	if (status == 1)
		return cuda_fault_words(t->fault_out, -EINVAL, STATUS_BUILD,
					"%s does not compile; see the build log", what);
	return cuda_fault_words(t->fault_out, -EINVAL, STATUS_BUILD,
				"the compiler failed at %s (%d); see the build log", what, status);
}

static int make_builtins(struct translation *t)
{
	int error = translation_write(t, "builtins.cl", cuda_translate_builtins,
				      strlen(cuda_translate_builtins));

	if (error < 0)
		return error;
	begin_clang(t, "cl");
	add_extensions(t);
	ADD(t, "-cl-std=CL2.0", "-cl-no-stdinc", t->defined, "-w", "-O1", "-Xclang",
	    "-disable-llvm-passes", "-emit-llvm", "-c", "builtins.cl", "-o", "builtins.bc");
	return run_arguments(t, other_log, "the library of built-in functions");
}

/* Front end only. The libraries are linked when it is whole. */
static int compile_opencl_c(struct translation *t)
{
	const struct cuda_translate_source *source = t->request->sources;
	int error = translation_write(t, "kernel", source->bytes, source->count);

	if (error < 0)
		return error;
	begin_clang(t, "cl");
	add_extensions(t);
	/* Programs that know the vendor write PTX in their source. */
	ADD(t, "-cl-kernel-arg-info", "-fgnu-keywords");
	int count = cuda_words_add(&t->options, t->arguments, t->count, t->fault_out);
	if (count < 0)
		return count;
	t->count = (uint32_t)count;
	ADD(t, "-O2", "-Xclang", "-disable-llvm-passes", "-emit-llvm", "-c", "kernel", "-o",
	    "unit-0.bc");
	return run_arguments(t, source_log, "the source");
}

static int change_text(struct translation *t, const char *from, const char *to,
		       char *(*change)(const char *text))
{
	size_t count = 0;
	CLEANUP(free_pointer) char *text = translation_read(t, from, &count);
	CLEANUP(free_pointer) char *changed = text ? change(text) : NULL;

	return changed ? translation_write(t, to, changed, strlen(changed))
		       : cuda_no_memory(t->fault_out, "a translation");
}

static int compile_spirv(struct translation *t)
{
	const struct cuda_translate_source *source = t->request->sources;
	int error = translation_write(t, "kernel.spv", source->bytes, source->count);

	t->count = 0;
	ADD(t, t->tools.spirv, "-r", "--spirv-target-env=CL2.0", "kernel.spv", "-o", "spirv.bc");
	if (error == 0)
		error = run_arguments(t, other_log, "the SPIR-V module");
	if (error < 0)
		return error;
	t->count = 0;
	ADD(t, t->tools.clang, "-x", "ir", "-target", "spir64", "-w", "-Xclang",
	    "-disable-llvm-passes", "-emit-llvm", "-S", "spirv.bc", "-o", "spirv.ll");
	error = run_arguments(t, other_log, "the SPIR-V module");
	if (error == 0)
		error = change_text(t, "spirv.ll", "module.ll", cuda_ir_retarget);
	if (error < 0)
		return error;
	begin_clang(t, "ir");
	ADD(t, "-w", "-Xclang", "-disable-llvm-passes", "-emit-llvm", "-c", "module.ll", "-o",
	    "unit-0.bc");
	return run_arguments(t, other_log, "the SPIR-V module");
}

static int write_units(struct translation *t)
{
	char name[32];
	int error = 0;

	for (uint32_t i = 0; error == 0 && i < t->request->source_count; i++) {
		(void)snprintf(name, sizeof(name), "unit-%u.bc", i);
		error = translation_write(t, name, t->request->sources[i].bytes,
					  t->request->sources[i].count);
	}
	return error;
}

/*
 * All units and both libraries in one text. They are linked to a source without contents, because
 * before clang-16 nothing is linked to a unit.
 */
static int link_units(struct translation *t)
{
	char names[64][16];
	uint32_t units = t->request->source_count;

	if (units > sizeof(names) / sizeof(*names))
		return cuda_fault_words(t->fault_out, -EINVAL, STATUS_BUILD,
					"%u objects; 64 can be linked for a CUDA device", units);
	int error = translation_write(t, "empty.cl", "\n", 1);
	if (error < 0)
		return error;
	begin_clang(t, "cl");
	for (uint32_t i = 0; i < units; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "unit-%u.bc", i);
		ADD(t, "-Xclang", "-mlink-bitcode-file", "-Xclang", names[i]);
	}
	add_libraries(t);
	ADD(t, "-w", "-O2", "-Xclang", "-disable-llvm-passes", "-emit-llvm", "-S", "empty.cl", "-o",
	    "linked.ll");
	return run_arguments(t, other_log, "the program");
}

static int generate_ptx(struct translation *t)
{
	int error = change_text(t, "linked.ll", "settled.ll", cuda_ir_settle);

	if (error < 0)
		return error;
	begin_clang(t, "ir");
	ADD(t, "-w", "-O2", "-S", "settled.ll", "-o", "kernel.ptx");
	return run_arguments(t, other_log, "the program");
}

static int read_result(struct translation *t, struct cuda_translation *result)
{
	size_t count = 0;

	result->bytes = translation_read(t, t->request->relocatable ? "unit-0.bc" : "kernel.ptx",
					 &result->count);
	if (!result->bytes)
		return cuda_no_memory(t->fault_out, "a translation");
	if (t->request->relocatable)
		return 0;
	CLEANUP(free_pointer) char *text = translation_read(t, "linked.ll", &count);
	int error = text ? cuda_ir_read(text, &result->kernels) : -ENOMEM;
	if (error == -ENOMEM)
		return cuda_no_memory(t->fault_out, "a translation");
	return error < 0 ? cuda_fault_words(t->fault_out, error, STATUS_BUILD,
					    "clang's text has kernels that are not understood")
			 : 0;
}

static int run_steps(struct translation *t, struct cuda_translation *result)
{
	int error = 0;

	switch (t->request->kind) {
	case CUDA_TRANSLATE_OPENCL_C:
		error = compile_opencl_c(t);
		break;
	case CUDA_TRANSLATE_SPIRV:
		error = compile_spirv(t);
		break;
	default:
		error = write_units(t);
		break;
	}
	if (error == 0 && !t->request->relocatable) {
		error = make_builtins(t);
		if (error == 0)
			error = link_units(t);
		if (error == 0)
			error = generate_ptx(t);
	}
	return error == 0 ? read_result(t, result) : error;
}

static int prepare_translation(struct translation *t)
{
	const struct cuda_translate_request *request = t->request;
	int error = cuda_tools_find(request->clang, request->architecture,
				    request->kind == CUDA_TRANSLATE_SPIRV, &t->tools, t->fault_out);

	if (error < 0)
		return error;
	error = cuda_options_parse(request->options, false, &t->options);
	if (error == -ENOMEM)
		return cuda_no_memory(t->fault_out, "a translation");
	if (error < 0)
		return cuda_fault_words(t->fault_out, -EINVAL, STATUS_BUILD,
					"the build options have an open quote, or are more than %u",
					CUDA_OPTIONS_MAX);
	(void)snprintf(t->architecture, sizeof(t->architecture), "sm_%d", t->tools.newest);
	(void)snprintf(t->defined, sizeof(t->defined), "-DSYCL_ARCHITECTURE=%d", t->tools.newest);
	error = private_folder_make(request->folder, "sycld-translate", &t->folder);
	return error < 0 ? cuda_fault_words(t->fault_out, error, STATUS_BUILD,
					    "there is no folder for the compiler's files: %s",
					    strerror(-error))
			 : 0;
}

int cuda_translate(const struct cuda_translate_request *request,
		   struct cuda_translation *translation_out, char **log_in_out,
		   struct backend_fault *fault_out)
{
	CLEANUP(translation_end)
	struct translation t = {
		.request = request, .folder = PRIVATE_FOLDER_NONE, .fault_out = fault_out};
	struct cuda_translation result = {0};

	int error = prepare_translation(&t);
	if (error == 0)
		error = run_steps(&t, &result);
	take_log(&t, error < 0, log_in_out);
	if (error < 0)
		cuda_translation_fini(&result);
	else
		*translation_out = result;
	return error;
}

void cuda_translation_fini(struct cuda_translation *translation)
{
	free(translation->bytes);
	cuda_ir_kernels_fini(&translation->kernels);
	*translation = (struct cuda_translation){0};
}
