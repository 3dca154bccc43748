/* A client's build options as a list for NVRTC. White space separates words, unless quotes or
 * backslashes protect it. Pure: any thread, never blocks. */
#ifndef SYCL_BACKENDS_CUDA_OPTIONS_H
#define SYCL_BACKENDS_CUDA_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CUDA_OPTIONS_MAX 256u

struct cuda_options {
	char *text; /* the words' storage */
	/* Portable: -D and -U as lines between the prelude and the source. As options of NVRTC they
	 * would also apply to its own headers, in which T is the name of a type. */
	char *definitions; /* "": there are none */
	uint32_t count, expression_count;
	const char *list[CUDA_OPTIONS_MAX + 8u]; /* with room for options that the build adds */
	/* CUDA C++: --sycl-kernel=EXPRESSION names an instance of a template for the bundle, as in
	 * "scale<float>". */
	const char *expressions[CUDA_OPTIONS_MAX];
	char pending;          /* 'D' or 'U': the next word is defined or undefined */
	bool has_architecture; /* the user has named the architecture */
	bool checks;           /* portable: --sycl-check. CUDA only looks for words */
};

/*
 * `portable`: options of OpenCL's compilers are translated, or left out if CUDA has no equivalent.
 * So the same options serve every device. -EINVAL: a quote is not closed; -E2BIG: too many options;
 * -ENOMEM.
 */
int cuda_options_parse(const char *text, bool portable, struct cuda_options *options_out);
/* Frees the members, not the structure. */
void cuda_options_fini(struct cuda_options *options);

#endif
