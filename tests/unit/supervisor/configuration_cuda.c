/* Options that are passed to backends. */
#include "base/option_list.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(option_list, .timeout = 10);

Test(option_list, each_backend_gets_its_own)
{
	static const char *const all[] = {"cuda:lanes=4",      "opencl:x=1", "cudas:y=2",
					  "cuda:library=/a:b", "cuda",       NULL};
	const char **own = option_list_of(all, "cuda");
	cr_assert(ne(ptr, (void *)own, NULL));
	cr_assert_str_eq(own[0], "lanes=4");
	cr_assert_str_eq(own[1], "library=/a:b");
	cr_assert(eq(ptr, (void *)(uintptr_t)own[2], NULL));
	free((void *)own);
	own = option_list_of(NULL, "cuda");
	cr_assert(eq(ptr, (void *)(uintptr_t)own[0], NULL));
	free((void *)own);
}

Test(option_list, a_copy_lives_by_itself)
{
	char text[] = "cuda:lanes=4";
	const char *const list[] = {text, NULL};
	char **copy = option_list_copy(list);
	cr_assert(ne(ptr, (void *)copy, NULL));
	text[0] = 'x';
	cr_assert_str_eq(copy[0], "cuda:lanes=4");
	cr_assert(eq(sz, option_list_count((const char *const *)copy), 1));
	option_list_free(copy);
	copy = option_list_copy(NULL);
	cr_assert(eq(ptr, copy[0], NULL));
	option_list_free(copy);
	option_list_free(NULL);
}
