/* Objects that are passed to the linker, and the cache of a build that reads files. */
#include "build/cache.h"
#include "build/objects.h"
#include "build/support.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

TestSuite(build_link, .timeout = 120);

Test(build_link, objects_come_out_as_they_went_in)
{
	const void *objects[] = {"first", "", "a longer one"};
	const size_t bytes[] = {5, 0, 12};
	struct build_object_list list = {0};
	char *packed = NULL;
	size_t packed_bytes = 0;

	cr_assert_eq(build_objects_pack(3, objects, bytes, &packed, &packed_bytes), 0);
	cr_assert_eq(packed_bytes, 4 + 3 * 8 + 17);
	cr_assert_eq(build_objects_unpack(packed, packed_bytes, &list), 0);
	cr_assert_eq(list.count, 3);
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(list.bytes[i], bytes[i]);
		cr_assert_eq(memcmp(list.objects[i], objects[i], bytes[i]), 0);
	}
	build_objects_fini(&list);
	free(packed);
}

/* The text is cut at every length, and sizes are larger than the text. */
Test(build_link, what_does_not_add_up_is_refused)
{
	const void *objects[] = {"abc", "de"};
	const size_t bytes[] = {3, 2};
	struct build_object_list list = {0};
	char *packed = NULL;
	size_t packed_bytes = 0;

	cr_assert_eq(build_objects_pack(2, objects, bytes, &packed, &packed_bytes), 0);
	for (size_t cut = 0; cut < packed_bytes; cut++)
		cr_assert_eq(build_objects_unpack(packed, cut, &list), -EBADMSG, "%zu bytes", cut);
	for (size_t at = 4; at < 20; at++) {
		packed[at] = (char)(packed[at] + 1);
		cr_assert_eq(build_objects_unpack(packed, packed_bytes, &list), -EBADMSG,
			     "byte %zu", at);
		packed[at] = (char)(packed[at] - 1);
	}
	packed[0] = 127;
	cr_assert_eq(build_objects_unpack(packed, packed_bytes, &list), -EBADMSG);
	cr_assert_null(list.objects);
	free(packed);
}

Test(build_link, too_many_or_too_large_is_said_before_anything_is_copied)
{
	const void *objects[BUILD_OBJECTS_MAX + 1];
	size_t bytes[BUILD_OBJECTS_MAX + 1];
	char *packed = NULL;
	size_t packed_bytes = 0;

	for (unsigned i = 0; i <= BUILD_OBJECTS_MAX; i++) {
		objects[i] = "";
		bytes[i] = 0;
	}
	cr_assert_eq(
		build_objects_pack(BUILD_OBJECTS_MAX + 1, objects, bytes, &packed, &packed_bytes),
		-E2BIG);
	bytes[0] = bytes[1] = BUILD_OBJECTS_BYTES_MAX / 2;
	cr_assert_eq(build_objects_pack(2, objects, bytes, &packed, &packed_bytes), -E2BIG);
	bytes[0] = SIZE_MAX;
	cr_assert_eq(build_objects_pack(1, objects, bytes, &packed, &packed_bytes), -E2BIG);
	cr_assert_null(packed);
}

static bool keeps(enum build_action action, enum backend_source_kind kind, const char *source,
		  const char *options)
{
	const struct build_request request = {
		.backend = &backend_fake_ops,
		.device_key = "device",
		.action = action,
		.kind = kind,
		.source = source,
		.source_bytes = strlen(source),
		.options = options,
	};
	return build_may_keep(&request);
}

Test(build_link, what_reads_files_is_not_kept)
{
	static const char *const reads[] = {
		"#include \"a.h\"\n",
		"  #  include <a.h>\n",
		"x\n#include_next <a.h>\n",
		"#\\\ninclude \"a.h\"\n",
		"#inc\\\nlude \"a.h\"\n",
		"#inc\\ \r\nlude \"a.h\"\n",
		"#i?\?/\nnclude \"a.h\"\n",
		"?\?=include \"a.h\"\n",
		"#\finclude \"a.h\"\n",
		"#\\ \ninclude \"a.h\"\n",
		"%: include \"a.h\"\n",
		"# /* why */ include \"a.h\"\n",
		"#if __has_include(\"a.h\")\n#endif\n",
		"#import \"a.h\"\n",
		"char t[] = {\n#embed \"/etc/hostname\"\n};\n",
	};
	for (size_t i = 0; i < sizeof(reads) / sizeof(*reads); i++) {
		cr_assert_not(keeps(BUILD_ACTION_BUILD, BACKEND_SOURCE_OPENCL_C, reads[i], ""),
			      "%zu", i);
		cr_assert_not(keeps(BUILD_ACTION_COMPILE, BACKEND_SOURCE_PORTABLE, reads[i], ""),
			      "%zu", i);
		cr_assert_not(keeps(BUILD_ACTION_LINK, BACKEND_SOURCE_PTX, reads[i], ""), "%zu", i);
		cr_assert(keeps(BUILD_ACTION_BUILD, BACKEND_SOURCE_PTX, reads[i], ""),
			  "PTX includes nothing");
	}
	cr_assert(
		keeps(BUILD_ACTION_BUILD, BACKEND_SOURCE_CUDA_CPP, "#include <cuda_fp16.h>\n", ""));
	cr_assert_not(
		keeps(BUILD_ACTION_BUILD, BACKEND_SOURCE_CUDA_CPP, "#include \"mine.h\"\n", ""));
	cr_assert_not(keeps(BUILD_ACTION_BUILD, BACKEND_SOURCE_CUDA_CPP, "#include <mine.h>\n",
			    "-I/somewhere"));
	cr_assert_not(keeps(BUILD_ACTION_BUILD, BACKEND_SOURCE_CUDA_CPP, "int a;\n",
			    "--pre-include=mine.h"));
	cr_assert(keeps(BUILD_ACTION_BUILD, BACKEND_SOURCE_OPENCL_C,
			"int included; /* to include */\n", "-DN=4 -w"));
}

/* Another action on the same source has another result. */
Test(build_link, J19_what_is_built_and_what_is_compiled_are_kept_apart)
{
	struct build_request request = {
		.backend = &backend_fake_ops,
		.device_key = "device",
		.kind = BACKEND_SOURCE_OPENCL_C,
		.source = "source",
		.source_bytes = 6,
		.options = "",
	};
	struct build_key keys[3];

	for (int i = 0; i < 3; i++) {
		request.action = (enum build_action)i;
		cr_assert_eq(build_key_make(&request, &keys[i]), 0);
	}
	for (int i = 1; i < 3; i++)
		for (int k = 0; k < i; k++)
			cr_assert_neq(memcmp(&keys[i], &keys[k], sizeof(keys[i])), 0, "%d and %d",
				      i, k);
}

Test(build_link, a_build_that_includes_is_done_each_time)
{
	struct build_bench bench;
	struct built built;

	bench_open(&bench);
	for (int i = 0; i < 2; i++) { /* for the fake backend a comment */
		bench_build(&bench, "#include \"what the key does not know\"\nfill_u32\n", &built);
		cr_assert_eq(built.status, 0, "%s", built.text);
		cr_assert_not(built.from_cache);
		built_free(&built);
	}
	bench_close(&bench);
}
