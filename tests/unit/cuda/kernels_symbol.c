/* Symbols of CUDA C++: their names and types. NVRTC made them of the sources beside them. */
#include "cuda/program/symbol.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

TestSuite(cuda_symbol, .timeout = 10);

/* "name(type, type)", with ! behind pointers to const and @ behind local memory. */
static void expect_symbol(const char *symbol, const char *expected)
{
	char text[2048];
	struct cuda_symbol *parsed = NULL;

	cr_assert_eq(cuda_symbol_parse(symbol, &parsed), 0, "%s", symbol);
	size_t at = (size_t)snprintf(text, sizeof(text), "%s(", parsed->name);
	for (uint32_t i = 0; i < parsed->parameter_count; i++) {
		const struct cuda_type *type = &parsed->parameters[i];
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s%s%s", i ? ", " : "",
				       type->text,
				       type->kind == CUDA_TYPE_LOCAL     ? "@"
				       : type->kind == CUDA_TYPE_POINTER ? "^"
									 : "",
				       type->points_to_const ? "!" : "");
	}
	(void)snprintf(text + at, sizeof(text) - at, ")");
	cr_assert_str_eq(text, expected);
	cuda_symbol_free(parsed);
}

Test(cuda_symbol, names_and_types_are_read)
{
	/* __global__ void saxpy(const float *x, float *y, float a) */
	expect_symbol("_Z5saxpyPKfPff", "saxpy(float const*^!, float*^, float)");
	expect_symbol("_Z3nopv", "nop()");
	/* namespace a { namespace b { __global__ void deep(const float4 *, float4 *, int, unsigned
	 * long long) */
	expect_symbol("_ZN1a1b4deepEPK6float4PS1_iy",
		      "a::b::deep(float4 const*^!, float4*^, int, unsigned long long)");
	/* in a namespace without a name */
	expect_symbol("_ZN36_GLOBAL__N__00000000_6_kernel__Z1kPf2anEPi", "an(int*^)");
	expect_symbol("_Z2k2PFviPfEPA4_fPK1sxPS4_",
		      "k2(function*^, float[]*^, s const*^!, long long, s*^)");
	expect_symbol(
		"_Z1wN2ns1vEPS0_NS_5inner4deepIS0_EEPNS3_IfEES5_",
		"w(ns::v, ns::v*^, ns::inner::deep<ns::v>, ns::inner::deep<float>*^, ns::inner::deep<float>)");
}

/* template <class T> __global__ void tk(T *, T), and others: instances have the type of the result
 * first. */
Test(cuda_symbol, instances_of_templates_have_their_arguments)
{
	expect_symbol("_Z2tkIfEvPT_S0_", "tk<float>(float*^, float)");
	expect_symbol("_Z3twoIPfEvT_PS1_PN2ns1vEPKS1_",
		      "two<float*>(float*^, float**^, ns::v*^, float* const*^!)");
	expect_symbol(
		"_ZN2ns5multiIfLi3ELb1EEEvPT_PKS1_NS_1vEPS5_S2_",
		"ns::multi<float, 3, true>(float*^, float const*^!, ns::v, ns::v*^, float*^)");
	expect_symbol(
		"_ZN2ns5multiINS_1vELin3ELb0EEEvPT_PKS2_S1_PS1_S3_",
		"ns::multi<ns::v, -3, false>(ns::v*^, ns::v const*^!, ns::v, ns::v*^, ns::v*^)");
	expect_symbol(
		"_Z2k33vecILi3EfEPS0_S_ILi2E1sEPKS0_PKfPKS7_PVi",
		"k3(vec<3, float>, vec<3, float>*^, vec<2, s>, vec<3, float> const*^!, float const*^!, "
		"float const* const*^!, int volatile*^)");
}

/* The prelude's SYCL_LOCAL, which may be repeated as a substitution. */
Test(cuda_symbol, local_memory_of_the_prelude_is_known)
{
	expect_symbol("_Z3redPf11sycl_local_IfES0_I6float4E",
		      "red(float*^, SYCL_LOCAL(float)@, SYCL_LOCAL(float4)@)");
	expect_symbol(
		"_Z2k1PfS_PKf11sycl_local_IfES2_IS0_ES3_1sPS5_6float4PS7_2enbhlmPS_S2_IS5_ES2_IS7_EPKS5_",
		"k1(float*^, float*^, float const*^!, SYCL_LOCAL(float)@, SYCL_LOCAL(float const)@!, "
		"SYCL_LOCAL(float)@, "
		"s, s*^, float4, float4*^, en, bool, unsigned char, long, unsigned long, float**^, SYCL_LOCAL(s)@, "
		"SYCL_LOCAL(float4)@, s const*^!)");
}

Test(cuda_symbol, others_are_refused)
{
	static const char *const symbols[] = {
		"",       "kernel",     "_Z",       "_Z0",    "_Z99a",           "_Z1",
		"_Z1aS_", "_Z1aT_",     "_Z1aPf_",  "_Z1aP",  "_Z1aQ",           "_ZN1aE1",
		"_ZN1a",  "_Z1aSt3foo", "_Z1aIfEv", "_Z1aA4", "_Z1aS999999999_", "_Z1aIL_Z1bEEvv"};

	for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++) {
		struct cuda_symbol *parsed = NULL;
		int error = cuda_symbol_parse(symbols[i], &parsed);
		if (strcmp(symbols[i], "_Z1aIfEv") == 0)
			cr_assert_eq(error, 0, "an instance without parameters");
		else
			cr_assert_eq(error, -EINVAL, "'%s'", symbols[i]);
		cuda_symbol_free(parsed);
	}
}

/* The depth and number of inner parts are bounded; names that do not fit are cut off. */
Test(cuda_symbol, hostile_symbols_harm_nothing)
{
	static char symbol[70000];
	struct cuda_symbol *parsed = NULL;
	size_t at = (size_t)sprintf(symbol, "_Z1a");

	memset(symbol + at, 'P', 60000);
	symbol[at + 60000] = '\0';
	cr_assert_eq(cuda_symbol_parse(symbol, &parsed), -EINVAL);
	for (int i = 0; i < 2000; i++)
		at += (size_t)sprintf(symbol + at, "3a%02d", i % 100);
	cr_assert_eq(cuda_symbol_parse(symbol, &parsed), -EINVAL);
	at = (size_t)sprintf(symbol, "_Z3000");
	memset(symbol + at, 'n', 3000);
	(void)sprintf(symbol + at + 3000, "f");
	cr_assert_eq(cuda_symbol_parse(symbol, &parsed), 0);
	cr_assert_lt(strlen(parsed->name), CUDA_SYMBOL_NAME_BYTES);
	cuda_symbol_free(parsed);
	/* All prefixes, and all changes of one byte, of a symbol that has every feature. */
	static const char whole[] = "_ZN2ns5multiINS_1vELin3ELb0EEEvPT_PKS2_S1_PS1_S3_PFviPfEPA4_f";
	for (size_t i = 0; i < sizeof(whole) * 8; i++) {
		memcpy(symbol, whole, sizeof(whole));
		if (i < sizeof(whole))
			symbol[i] = '\0';
		else
			symbol[i % (sizeof(whole) - 1)] = "SIEN_9PT"[i / sizeof(whole)];
		parsed = NULL;
		(void)cuda_symbol_parse(symbol, &parsed);
		cuda_symbol_free(parsed);
	}
}

Test(cuda_symbol, spaces_do_not_make_another_name)
{
	cr_assert(cuda_symbol_same_name("tk<float, 3>", "tk<float,3>"));
	cr_assert(cuda_symbol_same_name("a::b", " a :: b "));
	cr_assert_not(cuda_symbol_same_name("tk<float>", "tk<float"));
	cr_assert_not(cuda_symbol_same_name("a", "b"));
}
