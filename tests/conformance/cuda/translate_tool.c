/* No test: prints the PTX that a build of OpenCL C or SPIR-V for a CUDA device makes.
 * cuda_translate opencl|spirv FILE [OPTIONS]. */
#include "cuda/program/opencl.h"
#include "status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *file_bytes(const char *path, size_t *count_out)
{
	FILE *file = fopen(path, "re");
	char *bytes = NULL;
	size_t count = 0;
	FILE *out = open_memstream(&bytes, &count);

	for (int c; file && out && (c = fgetc(file)) != EOF;)
		(void)fputc(c, out);
	if (file)
		(void)fclose(file);
	if (out)
		(void)fclose(out);
	*count_out = count;
	return file ? bytes : NULL;
}

int main(int argc, char **argv)
{
	struct cuda_translate_source source = {NULL, 0};
	CLEANUP(cuda_binary_fini) struct cuda_binary binary = {0};
	CLEANUP(free_pointer) char *log = NULL;
	struct backend_fault fault = {0};

	if (argc < 3 || (strcmp(argv[1], "opencl") != 0 && strcmp(argv[1], "spirv") != 0)) {
		(void)fprintf(stderr, "usage: cuda_translate opencl|spirv FILE [OPTIONS]\n");
		return 2;
	}
	CLEANUP(free_pointer) char *bytes = file_bytes(argv[2], &source.count);
	source.bytes = bytes;
	const struct cuda_translate_request request = {
		.architecture = 90,
		.kind = argv[1][0] == 's' ? CUDA_TRANSLATE_SPIRV : CUDA_TRANSLATE_OPENCL_C,
		.sources = &source,
		.source_count = 1,
		.options = argc > 3 ? argv[3] : "",
	};
	int error = bytes ? cuda_opencl_build(&request, &binary, &log, &fault) : -EINVAL;
	if (log)
		(void)fputs(log, stderr);
	if (error < 0) {
		(void)fprintf(stderr, "%s\n", bytes ? fault.text : "no such file");
		return fault.status == STATUS_FEATURE_NOT_SUPPORTED ? 77 : 1;
	}
	(void)fwrite(binary.images[0].bytes, 1, binary.images[0].count, stdout);
	return 0;
}
