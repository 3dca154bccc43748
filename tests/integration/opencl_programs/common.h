/* Common parts of the tests of OpenCL programs: folders for OpenCL's loader, and programs that use
 * it. */
#ifndef SYCL_TESTS_OPENCL_PROGRAMS_H
#define SYCL_TESTS_OPENCL_PROGRAMS_H

#include "processes/common.h"

enum { PROGRAMS_MAX = 8, FAILED = 3 };

/* A temporary folder with files for the loader, and room for a service's. */
struct vendors {
	char directory[64];
	char through[96]; /* this driver only */
	char both[96];    /* this driver, and those that the test itself has */
};

void vendors_make(struct vendors *vendors_out);
/* Returns the pid of the service that a program has started in the folder; 0: there is none. */
pid_t vendors_service(const struct vendors *vendors);
/* Ends a service that a program has started in the folder, and removes the folder. */
void vendors_remove(struct vendors *vendors);

/* Starts `opencl_program WORDS...` with the environment, which may be NULL. */
void program_start(struct child *program, const char *const *environment, const char *const *words);
/* Starts it for a service of the test: with the loader pointed at this driver only. */
void program_start_at(struct child *program, const struct private_service *service,
		      const struct vendors *vendors, const char *const *words);
void program_expect(struct child *program, const char *start_of_line);
/* Lets it do its last rounds; all results must be right. */
void program_finish(struct child *program);
/* Expects "failed", with a code of OpenCL, and the end. Returns the code. */
int program_expect_failure(struct child *program);

#endif
