/* The driver's results as cuda.h documents them, against the CUDA backend's handling. */
#include "cuda/device/device.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(cuda_fault_header, .timeout = 10);

enum { LINE_BYTES = 512, COMMENT_BYTES = 4096, RESULTS_MIN = 90 };

/* These are sticky, though the header does not state it. The driver ends; memory, a link or a
 * server is broken; or the context does not exist any more. */
static const int also_sticky[] = {CUDA_ERROR_DEINITIALIZED, CUDA_ERROR_ECC_UNCORRECTABLE,
				  CUDA_ERROR_NVLINK_UNCORRECTABLE, CUDA_ERROR_CONTEXT_IS_DESTROYED,
				  CUDA_ERROR_MPS_RPC_FAILURE};

static bool says(const char *comment, const char *words)
{
	return strstr(comment, words) != NULL;
}

/* Returns true if only a new process, or at least a new context, can continue. */
static bool header_says_sticky(const char *comment)
{
	return says(comment, "terminated and relaunched") ||
	       says(comment, "context cannot be used anymore");
}

/* Returns the number in "CUDA_ERROR_X = N", -1 for other lines. */
static int result_of_line(const char *line)
{
	char name[128];
	int number;
	return sscanf(line, " CUDA_%127[A-Z0-9_] = %d", name, &number) == 2 ? number : -1;
}

static void append(char comment[COMMENT_BYTES], const char *line)
{
	size_t used = strlen(comment);
	line += strspn(line, " \t*/");
	(void)snprintf(comment + used, COMMENT_BYTES - used, "%.*s ", (int)strcspn(line, "\n"),
		       line);
}

static bool expected(int result, const char *comment)
{
	bool sticky = header_says_sticky(comment);
	for (size_t i = 0; i < sizeof(also_sticky) / sizeof(*also_sticky); i++)
		sticky |= also_sticky[i] == result;
	return sticky;
}

Test(cuda_fault_header, F12_every_result_is_as_sticky_as_the_header_says)
{
	char line[LINE_BYTES], comment[COMMENT_BYTES] = "";
	bool inside = false;
	int results = 0, sticky = 0;
	FILE *header = fopen(CUDA_HEADER, "re");

	cr_assert(header != NULL, "%s does not open", CUDA_HEADER);
	while (fgets(line, sizeof(line), header)) {
		inside |= says(line, "enum cudaError_enum");
		if (!inside)
			continue;
		if (says(line, "} CUresult"))
			break;
		int result = result_of_line(line);
		if (result < 0) {
			if (says(line, "/**"))
				comment[0] = '\0';
			append(comment, line);
			continue;
		}
		bool is_sticky = cuda_result_is_sticky((CUresult)result);
		cr_expect_eq(is_sticky, expected(result, comment), "%d: %s", result, comment);
		results++;
		sticky += header_says_sticky(comment);
		comment[0] = '\0';
	}
	(void)fclose(header);
	cr_assert_geq(results, RESULTS_MIN, "the header was not understood");
	cr_assert_geq(sticky, 10, "the header was not understood");
}
