/* The container of a built program. The cache on the disk may contain anything. */
#include "cuda/program/binary.h"

#include <criterion/criterion.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

TestSuite(cuda_binary, .timeout = 30);

static void add_kernel(struct cuda_binary *binary, const char *name, const char *symbol)
{
	struct cuda_binary_kernel *kernel = &binary->kernels[binary->kernel_count++];

	kernel->name = strdup(name);
	kernel->symbol = strdup(symbol);
	kernel->required[0] = 8;
	kernel->argument_count = 2;
	kernel->arguments = calloc(2, sizeof(*kernel->arguments));
	kernel->arguments[0].facts = (struct backend_argument_facts){
		.kind = BACKEND_ARGUMENT_GLOBAL, .size_bytes = 8, .is_const = true};
	(void)strcpy(kernel->arguments[0].facts.type_name, "float const*");
	(void)strcpy(kernel->arguments[0].facts.name, "x");
	kernel->is_checked = strcmp(name, "saxpy") == 0;
	kernel->arguments[1].facts =
		(struct backend_argument_facts){.kind = BACKEND_ARGUMENT_LOCAL, .size_bytes = 4};
	kernel->arguments[1].local = CUDA_LOCAL_PLACE;
}

/* A portable program's container has three images. */
static void binary_make_sample(void **bytes_out, size_t *count_out)
{
	struct cuda_binary binary = {.kernels = calloc(2, sizeof(*binary.kernels))};

	add_kernel(&binary, "saxpy", "saxpy");
	add_kernel(&binary, "tk<float, 3>", "_Z2tkIfLi3EEvPKfPf");
	cr_assert_eq(cuda_binary_add_image(&binary, CUDA_IMAGE_PTX, "one", 3), 0);
	cr_assert_eq(cuda_binary_add_image(&binary, CUDA_IMAGE_PTX, "two", 3), 0);
	cr_assert_eq(cuda_binary_add_image(&binary, CUDA_IMAGE_PTX, "three", 5), 0);
	cr_assert_eq(cuda_binary_pack(&binary, bytes_out, count_out), 0);
	cuda_binary_fini(&binary);
}

Test(cuda_binary, what_is_packed_comes_back)
{
	struct cuda_binary *binary = NULL;
	void *bytes = NULL;
	size_t count = 0;

	binary_make_sample(&bytes, &count);
	cr_assert_eq(cuda_binary_unpack(bytes, count, &binary), 0);
	cr_assert_eq(binary->flags, 0);
	cr_assert_eq(binary->kernel_count, 2);
	cr_assert_eq(binary->image_count, 3);
	cr_assert_str_eq(binary->images[2].bytes, "three");
	const struct cuda_binary_kernel *kernel = cuda_binary_find(binary, "saxpy");
	cr_assert_not_null(kernel);
	cr_assert_eq(kernel->required[0], 8);
	cr_assert_eq(kernel->argument_count, 2);
	cr_assert_eq(kernel->arguments[0].facts.kind, BACKEND_ARGUMENT_GLOBAL);
	cr_assert(kernel->arguments[0].facts.is_const);
	cr_assert_str_eq(kernel->arguments[0].facts.type_name, "float const*");
	cr_assert_str_eq(kernel->arguments[0].facts.name, "x");
	cr_assert_str_eq(kernel->arguments[1].facts.name, "");
	cr_assert(kernel->is_checked);
	cr_assert_not(binary->kernels[1].is_checked);
	cr_assert_eq(kernel->arguments[1].local, CUDA_LOCAL_PLACE);
	/* The kernel is found by name, however it is spaced, or by symbol. */
	cr_assert_eq(cuda_binary_find(binary, "tk<float,3>"), &binary->kernels[1]);
	cr_assert_eq(cuda_binary_find(binary, "_Z2tkIfLi3EEvPKfPf"), &binary->kernels[1]);
	cr_assert_null(cuda_binary_find(binary, "tk"));
	cuda_binary_free(binary);
	free(bytes);
}

/* Each prefix, with exactly that many readable bytes, is refused; so is one byte more. */
Test(cuda_binary, what_is_cut_off_or_longer_is_refused)
{
	struct cuda_binary *binary = NULL;
	void *bytes = NULL;
	size_t count = 0;

	binary_make_sample(&bytes, &count);
	for (size_t i = 0; i < count; i++) {
		void *part = malloc(i ? i : 1);
		memcpy(part, bytes, i);
		cr_assert_eq(cuda_binary_unpack(part, i, &binary), -EINVAL, "%zu of %zu bytes", i,
			     count);
		free(part);
	}
	unsigned char *longer = calloc(1, count + 1);
	memcpy(longer, bytes, count);
	cr_assert_eq(cuda_binary_unpack(longer, count + 1, &binary), -EINVAL);
	free(longer);
	free(bytes);
}

/* Every byte gets other values. There is always an answer, and no error for a sanitizer. */
Test(cuda_binary, damaged_bytes_harm_nothing)
{
	static const unsigned char values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
	unsigned char *copy = NULL;
	void *bytes = NULL;
	size_t count = 0;
	unsigned refused = 0;

	binary_make_sample(&bytes, &count);
	copy = malloc(count);
	for (size_t i = 0; i < count; i++) {
		for (size_t v = 0; v < sizeof(values); v++) {
			struct cuda_binary *binary = NULL;
			memcpy(copy, bytes, count);
			copy[i] ^= values[v];
			if (cuda_binary_unpack(copy, count, &binary) != 0)
				refused++;
			else
				cr_assert_leq(binary->kernel_count, 2);
			cuda_binary_free(binary);
		}
	}
	cr_assert_gt(refused, count);
	free(copy);
	free(bytes);
}

Test(cuda_binary, images_are_as_many_as_the_kind_of_program_has)
{
	struct cuda_binary binary = {.flags = CUDA_BINARY_NATIVE}, *unpacked = NULL;
	void *bytes = NULL;
	size_t count = 0;

	cr_assert_eq(cuda_binary_add_image(&binary, CUDA_IMAGE_PTX, "one", 3), 0);
	cr_assert_eq(cuda_binary_pack(&binary, &bytes, &count), 0);
	cr_assert_eq(cuda_binary_unpack(bytes, count, &unpacked), 0);
	cuda_binary_free(unpacked);
	free(bytes);
	binary.flags = 0;
	cr_assert_eq(cuda_binary_pack(&binary, &bytes, &count), 0);
	cr_assert_eq(cuda_binary_unpack(bytes, count, &unpacked), -EINVAL);
	free(bytes);
	binary.flags = 2;
	cr_assert_eq(cuda_binary_pack(&binary, &bytes, &count), 0);
	cr_assert_eq(cuda_binary_unpack(bytes, count, &unpacked), -EINVAL);
	free(bytes);
	cuda_binary_fini(&binary);
}

/* The smallest cubin that the check takes: a header and one section. */
struct small_cubin {
	Elf64_Ehdr header;
	Elf64_Shdr section;
	char bytes[16];
};

static struct small_cubin cubin(void)
{
	struct small_cubin c = {
		.header = {.e_machine = 190,
			   .e_shoff = offsetof(struct small_cubin, section),
			   .e_shnum = 1,
			   .e_shentsize = sizeof(Elf64_Shdr),
			   .e_phentsize = sizeof(Elf64_Phdr)},
		.section = {.sh_type = SHT_PROGBITS,
			    .sh_offset = offsetof(struct small_cubin, bytes),
			    .sh_size = 16},
	};

	memcpy(c.header.e_ident, ELFMAG, SELFMAG);
	c.header.e_ident[EI_CLASS] = ELFCLASS64;
	c.header.e_ident[EI_DATA] = ELFDATA2LSB;
	return c;
}

static int check_image(const struct small_cubin *c, size_t bytes)
{
	enum cuda_image_kind kind = CUDA_IMAGE_PTX;
	void *copy = malloc(bytes ? bytes : 1);

	memcpy(copy, c, bytes);
	int error = cuda_image_check(copy, bytes, &kind);
	free(copy);
	cr_assert_eq(kind, error == 0 ? CUDA_IMAGE_CUBIN : CUDA_IMAGE_PTX);
	return error;
}

Test(cuda_binary, cubins_whose_sizes_lie_are_refused)
{
	struct small_cubin c = cubin();

	cr_assert_eq(check_image(&c, sizeof(c)), 0);
	for (size_t i = 0; i < sizeof(c); i++)
		cr_assert_eq(check_image(&c, i), -EINVAL, "%zu bytes", i);
	c.section.sh_size = 17;
	cr_assert_eq(check_image(&c, sizeof(c)), -EINVAL);
	c.section.sh_size = UINT64_MAX;
	cr_assert_eq(check_image(&c, sizeof(c)), -EINVAL);
	c = cubin();
	c.header.e_shnum = 2;
	cr_assert_eq(check_image(&c, sizeof(c)), -EINVAL);
	c = cubin();
	c.header.e_shoff = UINT64_MAX - 8;
	cr_assert_eq(check_image(&c, sizeof(c)), -EINVAL);
	c = cubin();
	c.header.e_shstrndx = 1;
	cr_assert_eq(check_image(&c, sizeof(c)), -EINVAL);
	c = cubin();
	c.section.sh_link = 5;
	cr_assert_eq(check_image(&c, sizeof(c)), -EINVAL);
	c = cubin();
	c.section.sh_name = 16;
	cr_assert_eq(check_image(&c, sizeof(c)), -EINVAL, "a name behind the names");
	c = cubin();
	c.bytes[15] = 'x';
	cr_assert_eq(check_image(&c, sizeof(c)), -EINVAL, "a name without an end");
	c = cubin();
	c.section.sh_type = SHT_NOBITS;
	cr_assert_eq(check_image(&c, sizeof(c)), -EINVAL, "no names");
	c = cubin();
	c.header.e_phnum = 1;
	c.header.e_phoff = sizeof(c) - sizeof(Elf64_Phdr) + 1;
	cr_assert_eq(check_image(&c, sizeof(c)), -EINVAL);
	c = cubin();
	c.header.e_machine = EM_X86_64;
	cr_assert_eq(check_image(&c, sizeof(c)), -EINVAL, "a host's program");
}

/* Header of the fatbin, header of its one entry, four bytes. */
struct small_fatbin {
	uint32_t magic;
	uint16_t version, header_bytes;
	uint64_t bytes;
	uint16_t kind, entry_version;
	uint32_t entry_header_bytes;
	uint64_t entry_bytes;
	char code[8];
};

static int check_fatbin(const struct small_fatbin *fatbin, size_t bytes)
{
	enum cuda_image_kind kind = CUDA_IMAGE_PTX;
	void *copy = malloc(bytes);

	memcpy(copy, fatbin, bytes);
	int error = cuda_image_check(copy, bytes, &kind);
	free(copy);
	return error;
}

Test(cuda_binary, fatbins_whose_sizes_lie_are_refused)
{
	const struct small_fatbin good = {0xba55ed50, 1, 16, 24, 2, 1, 16, 8, "1234567"};
	struct small_fatbin fatbin = good;

	cr_assert_eq(check_fatbin(&fatbin, sizeof(fatbin)), 0);
	for (size_t i = 4; i < sizeof(fatbin); i++)
		cr_assert_eq(check_fatbin(&fatbin, i), -EINVAL, "%zu bytes", i);
	fatbin.bytes = 25;
	cr_assert_eq(check_fatbin(&fatbin, sizeof(fatbin)), -EINVAL);
	fatbin.bytes = UINT64_MAX;
	cr_assert_eq(check_fatbin(&fatbin, sizeof(fatbin)), -EINVAL);
	fatbin = good;
	fatbin.header_bytes = 8;
	cr_assert_eq(check_fatbin(&fatbin, sizeof(fatbin)), -EINVAL);
	fatbin = good;
	fatbin.entry_bytes = UINT64_MAX - 15;
	cr_assert_eq(check_fatbin(&fatbin, sizeof(fatbin)), -EINVAL);
	fatbin = good;
	fatbin.entry_header_bytes = 0;
	cr_assert_eq(check_fatbin(&fatbin, sizeof(fatbin)), -EINVAL, "it would never end");
	fatbin = good;
	fatbin.entry_header_bytes = 20;
	fatbin.entry_bytes = 4;
	memcpy(fatbin.code, "\5\0\0\0", 4);
	cr_assert_eq(check_fatbin(&fatbin, sizeof(fatbin)), -EINVAL,
		     "more is compressed than there is");
	fatbin.code[0] = 4;
	cr_assert_eq(check_fatbin(&fatbin, sizeof(fatbin)), 0);
	fatbin = good;
	memcpy(fatbin.code, ELFMAG, SELFMAG);
	cr_assert_eq(check_fatbin(&fatbin, sizeof(fatbin)), -EINVAL, "a cubin in it is cut off");
	fatbin = good;
	fatbin.magic = 0x466243b1;
	cr_assert_eq(check_fatbin(&fatbin, sizeof(fatbin)), -ENOEXEC,
		     "a host program's wrapper has addresses in it");
}
