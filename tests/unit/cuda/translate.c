/* What is read of LLVM's texts and changed in them, and the options: without any program of
 * LLVM's. */
#include "cuda/translate/ir.h"
#include "cuda/translate/words.h"
#include "status.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char text[] =
	"target triple = \"spir64\"\n"
	"@t = internal addrspace(4) constant [2 x i32] zeroinitializer\n"
	"define dso_local spir_func i32 @helper(ptr addrspace(4) %0) #0 {\n"
	"  ret i32 0\n"
	"}\n"
	"define linkonce_odr spir_func void @odd() {\n"
	"}\n"
	"define dso_local spir_kernel void @first(ptr addrspace(1) %0, ptr addrspace(3) %1, i32 %2) #0 "
	"!kernel_arg_addr_space !5 !kernel_arg_access_qual !6 !kernel_arg_type !7 "
	"!kernel_arg_type_qual !8 !kernel_arg_name !9 !reqd_work_group_size !10 {\n"
	"}\n"
	"define dso_local ptx_kernel void @\"second.a\"() #0 !kernel_arg_addr_space !4 {\n"
	"}\n"
	"!4 = !{}\n"
	"!5 = !{i32 1, i32 3, i32 0}\n"
	"!6 = !{!\"none\", !\"none\", !\"none\"}\n"
	"!7 = !{!\"float*\", !\"a\\22b\", !\"uint\"}\n"
	"!8 = !{!\"const restrict\", !\"\", !\"\"}\n"
	"!9 = !{!\"in\", !\"l\", !\"n\"}\n"
	"!10 = !{i32 8, i32 4, i32 1}\n";

Test(cuda_translate, kernels_are_read_with_their_arguments)
{
	struct cuda_ir_kernels kernels = {0};

	cr_assert_eq(cuda_ir_read(text, &kernels), 0);
	cr_assert_eq(kernels.count, 2);
	const struct cuda_ir_kernel *first = &kernels.list[0];
	cr_assert_str_eq(first->name, "first");
	cr_assert_eq(first->argument_count, 3);
	cr_expect_eq(first->required[0], 8);
	cr_expect_eq(first->required[2], 1);
	cr_expect_eq(first->arguments[0].kind, BACKEND_ARGUMENT_GLOBAL);
	cr_expect_eq(first->arguments[0].qualifiers,
		     BACKEND_QUALIFIER_CONST | BACKEND_QUALIFIER_RESTRICT);
	cr_expect_str_eq(first->arguments[0].type_name, "float*");
	cr_expect_eq(first->arguments[1].kind, BACKEND_ARGUMENT_LOCAL);
	cr_expect_str_eq(first->arguments[1].type_name, "a\"b");
	cr_expect_eq(first->arguments[2].address, BACKEND_ADDRESS_PRIVATE);
	cr_expect_str_eq(first->arguments[2].name, "n");
	cr_assert_str_eq(kernels.list[1].name, "second.a");
	cr_assert_eq(kernels.list[1].argument_count, 0);
	cuda_ir_kernels_fini(&kernels);
}

/* Each beginning of the text, as a compiler that was ended would leave it. */
Test(cuda_translate, a_text_that_is_cut_off_is_read_without_harm)
{
	for (size_t bytes = 0; bytes < sizeof(text); bytes++) {
		struct cuda_ir_kernels kernels = {0};
		char *cut = strndup(text, bytes);
		if (cuda_ir_read(cut, &kernels) == 0)
			cuda_ir_kernels_fini(&kernels);
		free(cuda_ir_settle(cut));
		free(cuda_ir_retarget(cut));
		free(cut);
	}
}

Test(cuda_translate, a_settled_text_keeps_kernels_and_has_no_constant_memory)
{
	char *settled = cuda_ir_settle(text);

	cr_assert_not_null(settled);
	cr_expect_not_null(
		strstr(settled, "define internal spir_func i32 @helper(ptr addrspace(1)"));
	cr_expect_not_null(strstr(settled, "define linkonce_odr spir_func void @odd"));
	cr_expect_not_null(strstr(settled, "define dso_local spir_kernel void @first"));
	cr_expect_null(strstr(settled, "addrspace(4)"));
	free(settled);
}

Test(cuda_translate, a_text_for_spir_gets_nvidias_address_spaces)
{
	static const char spir[] =
		"target triple = \"spir64\"\n"
		"@c = addrspace(2) constant i32 1\n"
		"define spir_kernel void @k(ptr addrspace(1) %0, ptr %1) {\n"
		"  %3 = addrspacecast ptr addrspace(1) %0 to ptr addrspace(4)\n"
		"  %4 = addrspacecast ptr %1 to ptr addrspace(4)\n"
		"  call void @f(ptr addrspacecast (ptr @p to ptr addrspace(4)), ptr addrspace(4) %4)\n"
		"  call spir_func float @_Z5fractfPU3AS4f(float 0.0, ptr addrspace(4) %4)\n"
		"  call spir_func void @_Z1gPU3AS2Kfm(ptr addrspace(2) @c, i64 0)\n"
		"}\n";
	static const char wanted[] =
		"@c = addrspace(4) constant i32 1\n"
		"define spir_kernel void @k(ptr addrspace(1) %0, ptr %1) {\n"
		"  %3 = addrspacecast ptr addrspace(1) %0 to ptr\n"
		"  %4 = bitcast ptr %1 to ptr\n"
		"  call void @f(ptr bitcast (ptr @p to ptr), ptr %4)\n"
		"  call spir_func float @_Z5fractfPf(float 0.0, ptr %4)\n"
		"  call spir_func void @_Z1gPU3AS4Kfm(ptr addrspace(4) @c, i64 0)\n"
		"}\n"
		"!20000000 = !{ptr @\"k\", !\"kernel\", i32 1}\n"
		"!nvvm.annotations = !{!20000000}\n";
	char *made = cuda_ir_retarget(spir);

	cr_assert_not_null(made);
	cr_expect_str_eq(made, wanted);
	free(made);
}

static int add_options(const char *given, const char **list, struct cuda_options *options,
		       struct backend_fault *fault)
{
	cr_assert_eq(cuda_options_parse(given, false, options), 0);
	return cuda_words_add(options, list, 1, fault);
}

Test(cuda_translate, only_options_of_opencl_reach_the_compiler)
{
	static const char *const refused[] = {
		"-Xclang",       "-o",       "@file",         "kernel.cl",
		"-fplugin=x.so", "--config", "-cl-std=CL9.9", "-wrapper"};
	const char *list[CUDA_OPTIONS_MAX + 8] = {"clang"};
	struct cuda_options options;
	struct backend_fault fault = {0};

	cr_assert_eq(add_options("-DA=1 -D B -I /x -w -cl-mad-enable -cl-nv-verbose -g "
				 "-cl-std=CL1.2",
				 list, &options, &fault),
		     9, "%s", fault.text);
	cr_expect_str_eq(list[1], "-DA=1");
	cr_expect_str_eq(list[2], "-D");
	cr_expect_str_eq(list[5], "/x");
	cr_expect_str_eq(list[8], "-cl-std=CL1.2");
	cuda_options_fini(&options);
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		fault = (struct backend_fault){0};
		cr_expect_eq(add_options(refused[i], list, &options, &fault), -EINVAL, "%s",
			     refused[i]);
		cr_expect_eq(fault.status, STATUS_BUILD);
		cr_expect_eq(fault.native_code, -43);
		cuda_options_fini(&options);
	}
}
