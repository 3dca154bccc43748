/*
 * Checks cubins and fatbins so that the driver reads no byte beyond their end. A cubin is an ELF
 * file. A fatbin is one or more of: u32 0xba55ed50, u16 version, u16 size of this header, u64 size
 * of the contents that follow.
 */
#include "cuda/program/binary.h"

#include <elf.h>
#include <string.h>

#define FATBIN_MAGIC  0xba55ed50u
#define WRAPPER_MAGIC 0x466243b1u
#define CUDA_MACHINE  190

struct fatbin_header {
	uint32_t magic;
	uint16_t version, header_bytes;
	uint64_t bytes;
};

static bool cubin_is_inside(uint64_t offset, uint64_t bytes, size_t count)
{
	return offset <= count && bytes <= count - offset;
}

static Elf64_Shdr section_at(const unsigned char *bytes, const Elf64_Ehdr *header, uint32_t index)
{
	Elf64_Shdr section;

	memcpy(&section, bytes + header->e_shoff + (uint64_t)index * sizeof(section),
	       sizeof(section));
	return section;
}

/* Each name must begin inside the table of names, and a 0 must end the table. */
static bool names_are_inside(const unsigned char *bytes, const Elf64_Ehdr *header)
{
	const Elf64_Shdr names = section_at(bytes, header, header->e_shstrndx);

	if (names.sh_type == SHT_NOBITS || names.sh_size == 0 ||
	    bytes[names.sh_offset + names.sh_size - 1] != '\0')
		return false;
	for (uint32_t i = 0; i < header->e_shnum; i++)
		if (section_at(bytes, header, i).sh_name >= names.sh_size)
			return false;
	return true;
}

static bool sections_are_inside(const unsigned char *bytes, size_t count, const Elf64_Ehdr *header)
{
	for (uint32_t i = 0; i < header->e_shnum; i++) {
		const Elf64_Shdr section = section_at(bytes, header, i);
		if (section.sh_type != SHT_NOBITS &&
		    !cubin_is_inside(section.sh_offset, section.sh_size, count))
			return false;
		/* A number of a section must be one of an existing section. */
		if (section.sh_link >= header->e_shnum && section.sh_link != 0)
			return false;
	}
	return true;
}

static bool segments_are_inside(const unsigned char *bytes, size_t count, const Elf64_Ehdr *header)
{
	for (uint32_t i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr segment;
		memcpy(&segment, bytes + header->e_phoff + (uint64_t)i * sizeof(segment),
		       sizeof(segment));
		if (!cubin_is_inside(segment.p_offset, segment.p_filesz, count))
			return false;
	}
	return true;
}

static bool cubin_is_whole(const unsigned char *bytes, size_t count)
{
	Elf64_Ehdr header;

	if (count < sizeof(header))
		return false;
	memcpy(&header, bytes, sizeof(header));
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
	    header.e_machine != CUDA_MACHINE || header.e_shnum == 0 ||
	    header.e_shentsize != sizeof(Elf64_Shdr) ||
	    (header.e_phnum > 0 && header.e_phentsize != sizeof(Elf64_Phdr)) ||
	    header.e_shstrndx >= header.e_shnum)
		return false;
	if (!cubin_is_inside(header.e_shoff, (uint64_t)header.e_shnum * sizeof(Elf64_Shdr),
			     count) ||
	    !cubin_is_inside(header.e_phoff, (uint64_t)header.e_phnum * sizeof(Elf64_Phdr), count))
		return false;
	return sections_are_inside(bytes, count, &header) && names_are_inside(bytes, &header) &&
	       segments_are_inside(bytes, count, &header);
}

/*
 * The contents of a fatbin are images one behind the other. Each has u16 kind, u16 version, u32
 * size of its header, u64 size of the contents that follow. A header that is large enough has a
 * u32, the number of compressed bytes; 0: none.
 */
struct fatbin_entry {
	uint16_t kind, version;
	uint32_t header_bytes;
	uint64_t bytes;
};

#define ENTRY_CUBIN 2

static bool image_is_whole(const unsigned char *bytes, const struct fatbin_entry *entry)
{
	const unsigned char *image = bytes + entry->header_bytes;
	uint32_t packed_bytes = 0;

	if (entry->header_bytes >= sizeof(*entry) + sizeof(packed_bytes))
		memcpy(&packed_bytes, bytes + sizeof(*entry), sizeof(packed_bytes));
	if (packed_bytes > entry->bytes)
		return false;
	/* Only the driver can read compressed contents. */
	bool is_cubin = entry->kind == ENTRY_CUBIN && entry->bytes >= SELFMAG &&
			memcmp(image, ELFMAG, SELFMAG) == 0;
	return !is_cubin || cubin_is_whole(image, (size_t)entry->bytes);
}

static bool entries_are_whole(const unsigned char *bytes, size_t count)
{
	size_t at = 0;

	while (at < count) {
		struct fatbin_entry entry;
		if (count - at < sizeof(entry))
			return false;
		memcpy(&entry, bytes + at, sizeof(entry));
		if (entry.header_bytes < sizeof(entry) ||
		    !cubin_is_inside(at, entry.header_bytes, count) ||
		    !cubin_is_inside(at + entry.header_bytes, entry.bytes, count) ||
		    !image_is_whole(bytes + at, &entry))
			return false;
		at += entry.header_bytes + (size_t)entry.bytes;
	}
	return at > 0;
}

static bool fatbin_is_whole(const unsigned char *bytes, size_t count)
{
	size_t at = 0;

	while (at < count) {
		struct fatbin_header header;
		if (count - at < sizeof(header))
			return false;
		memcpy(&header, bytes + at, sizeof(header));
		if (header.magic != FATBIN_MAGIC)
			return at > 0; /* Bytes that the driver ignores, mostly padding. */
		if (header.header_bytes < sizeof(header) ||
		    !cubin_is_inside(at, header.header_bytes, count) ||
		    !cubin_is_inside(at + header.header_bytes, header.bytes, count) ||
		    !entries_are_whole(bytes + at + header.header_bytes, (size_t)header.bytes))
			return false;
		at += header.header_bytes + (size_t)header.bytes;
	}
	return at > 0;
}

int cuda_image_check(const void *bytes, size_t count, enum cuda_image_kind *kind_out)
{
	uint32_t first = 0;

	if (count < sizeof(first))
		return -EINVAL;
	memcpy(&first, bytes, sizeof(first));
	if (first == WRAPPER_MAGIC)
		return -ENOEXEC;
	if (first == FATBIN_MAGIC) {
		if (!fatbin_is_whole(bytes, count))
			return -EINVAL;
		*kind_out = CUDA_IMAGE_FATBIN;
		return 0;
	}
	if (memcmp(bytes, ELFMAG, SELFMAG) != 0 || !cubin_is_whole(bytes, count))
		return -EINVAL;
	*kind_out = CUDA_IMAGE_CUBIN;
	return 0;
}
