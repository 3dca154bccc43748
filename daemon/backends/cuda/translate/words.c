#include "cuda/translate/words.h"

#include "status.h"

#include <errno.h>
#include <string.h>

/* OpenCL's number for options that are wrong, which its programs know. */
#define INVALID_BUILD_OPTIONS (-43)

static const char *const taken[] = {
	"-w",
	"-Werror",
	"-cl-single-precision-constant",
	"-cl-denorms-are-zero",
	"-cl-fp32-correctly-rounded-divide-sqrt",
	"-cl-mad-enable",
	"-cl-no-signed-zeros",
	"-cl-unsafe-math-optimizations",
	"-cl-finite-math-only",
	"-cl-fast-relaxed-math",
	"-cl-uniform-work-group-size",
	"-cl-std=CL1.0",
	"-cl-std=CL1.1",
	"-cl-std=CL1.2",
	"-cl-std=CL2.0",
	"-cl-std=CL3.0",
};
/* Without an effect, as are the options of vendors that begin with these words. */
static const char *const passed_over[] = {
	"-cl-opt-disable",
	"-cl-kernel-arg-info",
	"-cl-strict-aliasing",
	"-cl-no-subgroup-ifp",
	"-cl-nv-",
	"-cl-intel-",
	"-g",
	"-O",
};

static bool word_is_taken(const char *word)
{
	for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++)
		if (strcmp(word, taken[i]) == 0)
			return true;
	return false;
}

static bool word_is_passed_over(const char *word)
{
	for (size_t i = 0; i < sizeof(passed_over) / sizeof(*passed_over); i++)
		if (strncmp(word, passed_over[i], strlen(passed_over[i])) == 0)
			return true;
	return false;
}

int cuda_words_add(const struct cuda_options *options, const char **list, uint32_t count,
		   struct backend_fault *fault_out)
{
	for (uint32_t i = 0; i < options->count; i++) {
		const char *word = options->list[i];
		bool names = word[0] == '-' && word[1] && strchr("DUI", word[1]);
		const char *next = i + 1 < options->count ? options->list[i + 1] : "@";
		/* clang would read options of every kind from the file "@FILE". */
		if (names && !word[2] && next[0] != '@') {
			list[count++] = word;
			list[count++] = options->list[++i];
		} else if ((names && word[2]) || word_is_taken(word)) {
			list[count++] = word;
		} else if (!word_is_passed_over(word)) {
			int error = cuda_fault_words(fault_out, -EINVAL, STATUS_BUILD,
						     "'%.100s' is no option of OpenCL C", word);
			if (fault_out)
				fault_out->native_code = INVALID_BUILD_OPTIONS;
			return error;
		}
	}
	return (int)count;
}
