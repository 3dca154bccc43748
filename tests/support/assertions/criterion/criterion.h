#ifndef SYCL_TEST_CRITERION_H
#define SYCL_TEST_CRITERION_H

/*
 * Criterion's header with other assertions. They have the same meaning and compile in a fraction of
 * the time: a third of a build went into the expansion of Criterion's macros. Assertions that few
 * tests use are still Criterion's.
 */
#include_next <criterion/criterion.h>

#include "../assertions.h"

#define ASSERTION_COMPARED(Fail, Op, A, B, ...)                                                    \
	ASSERTION(Fail, (A)Op(B), #A " " #Op " " #B, __VA_ARGS__)

#undef cr_assert
#undef cr_expect
#undef cr_assert_not
#undef cr_expect_not
#undef cr_assert_null
#undef cr_expect_null
#undef cr_assert_not_null
#undef cr_expect_not_null
#undef cr_assert_eq
#undef cr_expect_eq
#undef cr_assert_neq
#undef cr_expect_neq
#undef cr_assert_lt
#undef cr_expect_lt
#undef cr_assert_leq
#undef cr_expect_leq
#undef cr_assert_gt
#undef cr_expect_gt
#undef cr_assert_geq
#undef cr_expect_geq
#define cr_assert(Condition, ...)                                                                  \
	ASSERTION(criterion_abort_test, Condition, #Condition, __VA_ARGS__)
#define cr_expect(Condition, ...)                                                                  \
	ASSERTION(criterion_continue_test, Condition, #Condition, __VA_ARGS__)
#define cr_assert_not(Condition, ...)                                                              \
	ASSERTION(criterion_abort_test, !(Condition), "not " #Condition, __VA_ARGS__)
#define cr_expect_not(Condition, ...)                                                              \
	ASSERTION(criterion_continue_test, !(Condition), "not " #Condition, __VA_ARGS__)
#define cr_assert_null(A, ...) ASSERTION_COMPARED(criterion_abort_test, ==, A, NULL, __VA_ARGS__)
#define cr_expect_null(A, ...) ASSERTION_COMPARED(criterion_continue_test, ==, A, NULL, __VA_ARGS__)
#define cr_assert_not_null(A, ...)                                                                 \
	ASSERTION_COMPARED(criterion_abort_test, !=, A, NULL, __VA_ARGS__)
#define cr_expect_not_null(A, ...)                                                                 \
	ASSERTION_COMPARED(criterion_continue_test, !=, A, NULL, __VA_ARGS__)
#define cr_assert_eq(A, B, ...)  ASSERTION_COMPARED(criterion_abort_test, ==, A, B, __VA_ARGS__)
#define cr_expect_eq(A, B, ...)  ASSERTION_COMPARED(criterion_continue_test, ==, A, B, __VA_ARGS__)
#define cr_assert_neq(A, B, ...) ASSERTION_COMPARED(criterion_abort_test, !=, A, B, __VA_ARGS__)
#define cr_expect_neq(A, B, ...) ASSERTION_COMPARED(criterion_continue_test, !=, A, B, __VA_ARGS__)
#define cr_assert_lt(A, B, ...)  ASSERTION_COMPARED(criterion_abort_test, <, A, B, __VA_ARGS__)
#define cr_expect_lt(A, B, ...)  ASSERTION_COMPARED(criterion_continue_test, <, A, B, __VA_ARGS__)
#define cr_assert_leq(A, B, ...) ASSERTION_COMPARED(criterion_abort_test, <=, A, B, __VA_ARGS__)
#define cr_expect_leq(A, B, ...) ASSERTION_COMPARED(criterion_continue_test, <=, A, B, __VA_ARGS__)
#define cr_assert_gt(A, B, ...)  ASSERTION_COMPARED(criterion_abort_test, >, A, B, __VA_ARGS__)
#define cr_expect_gt(A, B, ...)  ASSERTION_COMPARED(criterion_continue_test, >, A, B, __VA_ARGS__)
#define cr_assert_geq(A, B, ...) ASSERTION_COMPARED(criterion_abort_test, >=, A, B, __VA_ARGS__)
#define cr_expect_geq(A, B, ...) ASSERTION_COMPARED(criterion_continue_test, >=, A, B, __VA_ARGS__)

#endif
