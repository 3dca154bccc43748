/*
 * Kernels of images. A cubin is an ELF file with a section for each kernel's code and one for its
 * parameters. A fatbin contains cubins and PTX. The double runs no machine code: kernels of a cubin
 * run only if a test has registered them by name. Of a fatbin it prefers PTX, which it can run. The
 * memory of an image has been checked before.
 */
#include "fake.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MACHINE             190
#define RESERVED            1024 /* of shared memory, the driver's */
#define ATTRIBUTE_PARAMETER 0x17

struct image {
	const unsigned char *bytes;
	const Elf64_Ehdr *head;
	const Elf64_Shdr *sections;
	const char *names;
};

static const Elf64_Shdr *find_section(const struct image *image, const char *prefix,
				      const char *name)
{
	for (unsigned i = 0; i < image->head->e_shnum; i++) {
		const char *text = image->names + image->sections[i].sh_name;
		if (strncmp(text, prefix, strlen(prefix)) == 0 &&
		    strcmp(text + strlen(prefix), name) == 0)
			return &image->sections[i];
	}
	return NULL;
}

/* An attribute has a byte for its form and one for its meaning. A byte, two bytes, or a count and
 * that many bytes follow. */
static size_t attribute_bytes(const unsigned char *at)
{
	uint16_t count;

	if (at[0] != 4)
		return 4;
	memcpy(&count, at + 2, sizeof(count));
	return 4u + count;
}

static bool take_parameter(struct CUfunc_st *function, const unsigned char *payload)
{
	uint16_t ordinal, offset;
	uint32_t flags;

	memcpy(&ordinal, payload + 4, sizeof(ordinal));
	memcpy(&offset, payload + 6, sizeof(offset));
	memcpy(&flags, payload + 8, sizeof(flags));
	if (ordinal >= 1024)
		return false;
	if (ordinal >= function->parameter_count) {
		struct fake_parameter *list =
			reallocarray(function->parameters, ordinal + 1u, sizeof(*list));
		if (!list)
			return false;
		memset(list + function->parameter_count, 0,
		       (ordinal + 1u - function->parameter_count) * sizeof(*list));
		function->parameters = list;
		function->parameter_count = ordinal + 1u;
	}
	function->parameters[ordinal] = (struct fake_parameter){offset, flags >> 18};
	if (offset + (flags >> 18) > function->parameter_bytes)
		function->parameter_bytes = offset + (flags >> 18);
	return true;
}

static bool read_kernel(const struct image *image, struct CUmod_st *module, const char *name)
{
	struct CUfunc_st *function = fake_function_make(module, name, strlen(name));
	const Elf64_Shdr *info = find_section(image, ".nv.info.", name);
	const Elf64_Shdr *shared = find_section(image, ".nv.shared.", name);
	size_t at = 0;

	if (!function)
		return false;
	while (info && at + 4 <= info->sh_size) {
		const unsigned char *attribute = image->bytes + info->sh_offset + at;
		if (attribute[0] == 4 && attribute[1] == ATTRIBUTE_PARAMETER &&
		    at + 16 <= info->sh_size && !take_parameter(function, attribute + 4))
			return false;
		at += attribute_bytes(attribute);
	}
	if (shared && shared->sh_size > RESERVED)
		function->static_shared = ((int)shared->sh_size - RESERVED + 15) & ~15;
	return true;
}

CUresult fake_cubin_read(const void *bytes, int compute, struct CUmod_st *module, char *log,
			 size_t log_bytes)
{
	struct image image = {.bytes = bytes, .head = bytes};

	if (memcmp(image.head->e_ident, ELFMAG, SELFMAG) != 0 || image.head->e_machine != MACHINE) {
		(void)snprintf(log, log_bytes, "this is no image of a kernel\n");
		return CUDA_ERROR_INVALID_IMAGE;
	}
	/* Code runs on its own major version only, and from its minor version on. */
	int made_for = image.head->e_ident[EI_ABIVERSION] >= 8 ? image.head->e_flags >> 8 & 255
							       : image.head->e_flags & 255;
	if (made_for / 10 != compute / 10 || made_for > compute)
		return CUDA_ERROR_NO_BINARY_FOR_GPU;
	image.sections = (const Elf64_Shdr *)(const void *)(image.bytes + image.head->e_shoff);
	image.names = (const char *)image.bytes + image.sections[image.head->e_shstrndx].sh_offset;
	for (unsigned i = 0; i < image.head->e_shnum; i++) {
		const char *name = image.names + image.sections[i].sh_name;
		if (strncmp(name, ".text.", 6) == 0 && !read_kernel(&image, module, name + 6))
			return CUDA_ERROR_OUT_OF_MEMORY;
	}
	module->binary_version = made_for;
	return CUDA_SUCCESS;
}

struct fatbin_head {
	uint32_t magic;
	uint16_t version, header_bytes;
	uint64_t bytes;
};

struct fatbin_entry {
	uint16_t kind, version; /* 1: PTX, 2: cubin */
	uint32_t header_bytes;
	uint64_t bytes;
	uint32_t packed_bytes, more[2], architecture;
};

/* PTX is packed by zstd. Its library is opened only here; every Debian has it. */
static char *cubin_unpack(const unsigned char *bytes, size_t packed, size_t *bytes_out)
{
	void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
	size_t (*decompress)(void *, size_t, const void *, size_t) =
		library ? (size_t(*)(void *, size_t, const void *, size_t))dlsym(library,
										 "ZSTD_decompress")
			: NULL;
	const size_t room = (size_t)16 << 20;
	char *text = decompress ? malloc(room) : NULL;

	if (!text) {
		fake_misuse("the PTX is compressed, but libzstd.so.1 is missing");
		return NULL;
	}
	size_t got = decompress(text, room - 1, bytes, packed);
	if (got >= room) { /* zstd reports errors as huge numbers */
		free(text);
		return NULL;
	}
	text[got] = 0;
	*bytes_out = got;
	return text;
}

static CUresult read_text(const struct fatbin_entry *entry, const unsigned char *payload,
			  int compute, struct CUmod_st *module, char *log, size_t log_bytes)
{
	size_t bytes = (size_t)entry->bytes;
	char *text = entry->packed_bytes ? cubin_unpack(payload, entry->packed_bytes, &bytes)
					 : strndup((const char *)payload, bytes);
	CUresult result = text ? fake_ptx_read(text, compute, module, log, log_bytes)
			       : CUDA_ERROR_INVALID_IMAGE;

	free(text);
	return result;
}

/* Chooses the best entry of a kind: the newest that runs on this device. */
static const unsigned char *cubin_choose(const unsigned char *image, const struct fatbin_head *head,
					 int compute, int kind, struct fatbin_entry *entry_out)
{
	const unsigned char *best = NULL;
	size_t at = head->header_bytes, end = head->header_bytes + (size_t)head->bytes;

	while (at + sizeof(struct fatbin_entry) <= end) {
		struct fatbin_entry entry;
		memcpy(&entry, image + at, sizeof(entry));
		int made_for = (int)entry.architecture;
		bool runs = made_for <= compute && (kind == 1 || made_for / 10 == compute / 10);
		if (entry.kind == kind && runs &&
		    (!best || entry.architecture > entry_out->architecture)) {
			best = image + at + entry.header_bytes;
			*entry_out = entry;
		}
		at += entry.header_bytes + (size_t)entry.bytes;
	}
	return best;
}

CUresult fake_fatbin_read(const void *image, int compute, struct CUmod_st *module, char *log,
			  size_t log_bytes)
{
	struct fatbin_head head;
	struct fatbin_entry entry = {0};
	const unsigned char *payload;

	memcpy(&head, image, sizeof(head));
	payload = cubin_choose(image, &head, compute, 1, &entry);
	if (payload)
		return read_text(&entry, payload, compute, module, log, log_bytes);
	payload = cubin_choose(image, &head, compute, 2, &entry);
	if (payload)
		return fake_cubin_read(payload, compute, module, log, log_bytes);
	(void)snprintf(log, log_bytes, "no image of this fatbin runs on this device\n");
	return CUDA_ERROR_NO_BINARY_FOR_GPU;
}
