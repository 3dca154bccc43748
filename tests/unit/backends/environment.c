/*
 * Variables that backends set for their vendor's library, while other threads of an application
 * read the environment.
 */
#include "vendor_environment.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

enum { CHANGES = 64 };

static size_t count_of(char *const *list)
{
	size_t count = 0;

	while (list[count])
		count++;
	return count;
}

/* A thread in getenv() may use the array that environ pointed to before any of the changes. */
Test(vendor_environment, an_array_that_a_thread_may_be_reading_is_never_changed)
{
	char **held[CHANGES];
	char **copies[CHANGES];

	for (int i = 0; i < CHANGES; i++) {
		size_t bytes = (count_of(environ) + 1) * sizeof(char *);
		held[i] = environ;
		copies[i] = malloc(bytes);
		cr_assert_not_null(copies[i]);
		memcpy(copies[i], environ, bytes);
		char name[32];
		(void)snprintf(name, sizeof(name), "SYCLD_TEST_%d", i / 2);
		cr_assert_eq(vendor_variable_set(name, i % 2 ? NULL : "1"), 0);
	}
	for (int i = 0; i < CHANGES; i++) {
		size_t count = count_of(copies[i]);
		for (size_t j = 0; j <= count; j++)
			cr_assert_eq(held[i][j], copies[i][j], "change %d, entry %zu", i, j);
		free(copies[i]);
	}
}

Test(vendor_environment, a_variable_is_set_replaced_and_removed)
{
	(void)setenv("SYCLD_TEST_A", "0", 1);
	(void)setenv("SYCLD_TEST_AB", "other", 1);
	cr_assert_eq(vendor_variable_set("SYCLD_TEST_A", "1"), 0);
	cr_assert_str_eq(getenv("SYCLD_TEST_A"), "1");
	char **before = environ;
	cr_assert_eq(vendor_variable_set("SYCLD_TEST_A", "1"), 0);
	cr_assert_eq(environ, before, "a variable that is right was written");
	cr_assert_eq(vendor_variable_set("SYCLD_TEST_A", NULL), 0);
	cr_assert_null(getenv("SYCLD_TEST_A"));
	cr_assert_str_eq(getenv("SYCLD_TEST_AB"), "other");
	/* The C library's own functions continue with that array. */
	(void)setenv("SYCLD_TEST_A", "2", 1);
	cr_assert_str_eq(getenv("SYCLD_TEST_A"), "2");
	(void)unsetenv("SYCLD_TEST_AB");
	cr_assert_eq(vendor_variable_set("SYCLD_TEST_AB", "3"), 0);
	cr_assert_str_eq(getenv("SYCLD_TEST_AB"), "3");
}

/* PoCL does this. The former text is kept, for readers and the leak checker. */
Test(vendor_environment, a_library_may_set_the_variable_once_more)
{
	cr_assert_eq(vendor_variable_set("SYCLD_TEST_A", "1"), 0);
	const char *before = getenv("SYCLD_TEST_A");
	(void)setenv("SYCLD_TEST_A", "2", 1);
	cr_assert_str_eq(getenv("SYCLD_TEST_A"), "2");
	cr_assert_str_eq(before, "1");
}

Test(vendor_environment, an_empty_environment_takes_a_variable)
{
	environ = NULL;
	cr_assert_eq(vendor_variable_set("SYCLD_TEST_A", "1"), 0);
	cr_assert_str_eq(getenv("SYCLD_TEST_A"), "1");
}

struct setter {
	pthread_t thread;
	int number;
};

static void *set_some(void *context)
{
	struct setter *setter = context;
	char name[32];

	for (int i = 0; i < CHANGES; i++) {
		(void)snprintf(name, sizeof(name), "SYCLD_TEST_%d_%d", setter->number, i);
		if (vendor_variable_set(name, "1") < 0)
			return context;
	}
	return NULL;
}

Test(vendor_environment, engines_of_one_process_do_not_lose_each_others_variables)
{
	struct setter setters[3];
	char name[32];

	for (int i = 0; i < 3; i++) {
		setters[i].number = i;
		cr_assert_eq(pthread_create(&setters[i].thread, NULL, set_some, &setters[i]), 0);
	}
	for (int i = 0; i < 3; i++) {
		void *result;
		cr_assert_eq(pthread_join(setters[i].thread, &result), 0);
		cr_assert_null(result);
	}
	for (int i = 0; i < 3 * CHANGES; i++) {
		(void)snprintf(name, sizeof(name), "SYCLD_TEST_%d_%d", i / CHANGES, i % CHANGES);
		cr_assert_not_null(getenv(name), "%s is lost", name);
	}
}
