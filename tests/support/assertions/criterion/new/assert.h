#ifndef SYCL_TEST_CRITERION_NEW_ASSERT_H
#define SYCL_TEST_CRITERION_NEW_ASSERT_H

/*
 * Criterion's newer assertions, cheap to compile (see criterion.h): cr_assert(eq(int, a, b), "words
 * %d", x). A condition is one of eq, ne, lt, le, gt, ge with a type's tag, or zero(tag, a).
 * Otherwise it is not(an expression), or an expression that begins with a name. Other tags and
 * conditions do not compile. Each side is evaluated once, the left one first.
 */
#include <criterion/criterion.h> /* included by name, because a path would not leave a next one */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

struct cr_mem {
	const void *data;
	size_t size;
};

enum assertion_order {
	ASSERTION_EQ,
	ASSERTION_NE,
	ASSERTION_LT,
	ASSERTION_LE,
	ASSERTION_GT,
	ASSERTION_GE
};

/* Returns true if the order holds. Otherwise both values are kept for assertion_failed() on this
 * thread. */
bool assertion_whole(enum assertion_order order, long long a, long long b);
bool assertion_natural(enum assertion_order order, unsigned long long a, unsigned long long b);
bool assertion_real(enum assertion_order order, double a, double b);
bool assertion_address(enum assertion_order order, const void *a, const void *b);
bool assertion_string(enum assertion_order order, const char *a, const char *b);
bool assertion_memory(enum assertion_order order, struct cr_mem a, struct cr_mem b);

/* A tag has two parts: the type to which both sides are converted, and the function that compares
 * it. */
#define ASSERTION_TAG_int   int, assertion_whole
#define ASSERTION_TAG_long  long, assertion_whole
#define ASSERTION_TAG_i8    int8_t, assertion_whole
#define ASSERTION_TAG_i16   int16_t, assertion_whole
#define ASSERTION_TAG_i32   int32_t, assertion_whole
#define ASSERTION_TAG_i64   int64_t, assertion_whole
#define ASSERTION_TAG_chr   char, assertion_whole
#define ASSERTION_TAG_uint  unsigned, assertion_natural
#define ASSERTION_TAG_ulong unsigned long, assertion_natural
#define ASSERTION_TAG_u8    uint8_t, assertion_natural
#define ASSERTION_TAG_u16   uint16_t, assertion_natural
#define ASSERTION_TAG_u32   uint32_t, assertion_natural
#define ASSERTION_TAG_u64   uint64_t, assertion_natural
#define ASSERTION_TAG_sz    size_t, assertion_natural
#define ASSERTION_TAG_uptr  uintptr_t, assertion_natural
#define ASSERTION_TAG_flt   float, assertion_real
#define ASSERTION_TAG_dbl   double, assertion_real
#define ASSERTION_TAG_ptr   const void *, assertion_address
#define ASSERTION_TAG_str   const char *, assertion_string
#define ASSERTION_TAG_mem   struct cr_mem, assertion_memory

#define ASSERTION_ORDER(...) ASSERTION_ORDER_(__VA_ARGS__)
#define ASSERTION_ORDER_(Order, Type, Compare, A, B)                                               \
	__extension__({                                                                            \
		Type assertion_left_ = (A);                                                        \
		Type assertion_right_ = (B);                                                       \
		Compare(Order, assertion_left_, assertion_right_);                                 \
	})

#define ASSERTION_OF_eq(Tag, A, B) ASSERTION_ORDER(ASSERTION_EQ, ASSERTION_TAG_##Tag, A, B)
#define ASSERTION_OF_ne(Tag, A, B) ASSERTION_ORDER(ASSERTION_NE, ASSERTION_TAG_##Tag, A, B)
#define ASSERTION_OF_lt(Tag, A, B) ASSERTION_ORDER(ASSERTION_LT, ASSERTION_TAG_##Tag, A, B)
#define ASSERTION_OF_le(Tag, A, B) ASSERTION_ORDER(ASSERTION_LE, ASSERTION_TAG_##Tag, A, B)
#define ASSERTION_OF_gt(Tag, A, B) ASSERTION_ORDER(ASSERTION_GT, ASSERTION_TAG_##Tag, A, B)
#define ASSERTION_OF_ge(Tag, A, B) ASSERTION_ORDER(ASSERTION_GE, ASSERTION_TAG_##Tag, A, B)
#define ASSERTION_OF_zero(Tag, A)  ASSERTION_ORDER(ASSERTION_EQ, ASSERTION_TAG_##Tag, A, 0)
#define ASSERTION_OF_not(A)        !(A)

/* Finds out which of these words a condition begins with. The word's macro adds a comma, which puts
 * ASSERTION_WORD in the third place. Otherwise ASSERTION_PLAIN is there. */
#define ASSERTION_IS_eq(...)                          ,
#define ASSERTION_IS_ne(...)                          ,
#define ASSERTION_IS_lt(...)                          ,
#define ASSERTION_IS_le(...)                          ,
#define ASSERTION_IS_gt(...)                          ,
#define ASSERTION_IS_ge(...)                          ,
#define ASSERTION_IS_zero(...)                        ,
#define ASSERTION_IS_not(...)                         ,
#define ASSERTION_PICK(...)                           ASSERTION_THIRD(__VA_ARGS__)
#define ASSERTION_THIRD(A, B, C, ...)                 C
#define ASSERTION_WORD(Fail, Text, Word, Plain, ...)  ASSERTION(Fail, Word, Text, __VA_ARGS__)
#define ASSERTION_PLAIN(Fail, Text, Word, Plain, ...) ASSERTION(Fail, Plain, Text, __VA_ARGS__)

#undef cr_assert
#undef cr_expect
#define cr_assert(Condition, ...)                                                                  \
	ASSERTION_PICK(ASSERTION_IS_##Condition, ASSERTION_WORD, ASSERTION_PLAIN, )                \
	(criterion_abort_test, #Condition, ASSERTION_OF_##Condition, Condition, __VA_ARGS__)
#define cr_expect(Condition, ...)                                                                  \
	ASSERTION_PICK(ASSERTION_IS_##Condition, ASSERTION_WORD, ASSERTION_PLAIN, )                \
	(criterion_continue_test, #Condition, ASSERTION_OF_##Condition, Condition, __VA_ARGS__)
#undef cr_fatal
#define cr_fatal(...) ASSERTION(criterion_abort_test, false, "never here", __VA_ARGS__)

#endif
