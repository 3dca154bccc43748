/*
 * A client's build options as a list, for NVRTC. Words are separated by white space; quotes and
 * backslashes keep it. Pure: any thread, never blocks.
 */
#ifndef SYCL_BACKENDS_CUDA_OPTIONS_H
#define SYCL_BACKENDS_CUDA_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CUDA_OPTIONS_MAX 256u

struct cuda_options {
	char *text; /* the words' storage */
	/*
	 * Portable: -D and -U as lines that go between the prelude and the source. Given to NVRTC
	 * they would also hold for its own headers, which call their types T.
	 */
	char *definitions; /* "" if there are none */
	uint32_t count, expression_count;
	const char *list[CUDA_OPTIONS_MAX + 8u]; /* with room for options that the build adds */
	/* CUDA C++: --sycl-kernel=EXPRESSION: instances of templates that the bundle shall have,
	 * "scale<float>". */
	const char *expressions[CUDA_OPTIONS_MAX];
	char pending;          /* 'D' or 'U': the next word is to be defined or undefined */
	bool has_architecture; /* the user names the architecture */
};

/*
 * `portable`: options that OpenCL's compilers take are translated, or left out where CUDA has
 * nothing like them. So one text of options serves every device. -EINVAL: a quote is open; -E2BIG:
 * too many; -ENOMEM.
 */
int cuda_options_parse(const char *text, bool portable, struct cuda_options *options_out);
/* Frees the members, and not the structure. */
void cuda_options_fini(struct cuda_options *options);

#endif
