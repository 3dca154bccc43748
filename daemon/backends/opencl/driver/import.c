#include "opencl/driver/import.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
#define IS_FUNCTION_SLOT(type) ((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT)
#elif defined(__aarch64__)
#define IS_FUNCTION_SLOT(type) ((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT)
#else
#define IS_FUNCTION_SLOT(type) false
#endif

struct search {
	const char *library, *name;
	opencl_function *replacement;
	unsigned count;
};

/* The tables of one library that name its imports. */
struct tables {
	const ElfW(Sym) * symbols;
	const char *strings;
	const ElfW(Rela) * places[2]; /* of functions bound at the first call, and of all others */
	size_t bytes[2];
};

/* The loader has made these addresses absolute, on some processors only. */
static const void *table_address(const struct dl_phdr_info *library, ElfW(Addr) value)
{
	return (const void *)(value < library->dlpi_addr ? library->dlpi_addr + value : value);
}

static void read_tables(const struct dl_phdr_info *library, const ElfW(Dyn) * entry,
			struct tables *tables)
{
	for (; entry->d_tag != DT_NULL; entry++) {
		const void *address = table_address(library, entry->d_un.d_ptr);
		switch (entry->d_tag) {
		case DT_SYMTAB:
			tables->symbols = address;
			break;
		case DT_STRTAB:
			tables->strings = address;
			break;
		case DT_JMPREL:
			tables->places[0] = address;
			break;
		case DT_PLTRELSZ:
			tables->bytes[0] = entry->d_un.d_val;
			break;
		case DT_RELA:
			tables->places[1] = address;
			break;
		case DT_RELASZ:
			tables->bytes[1] = entry->d_un.d_val;
			break;
		default:
			break;
		}
	}
}

/* True if the loader has made this page unwritable after it had bound the functions. It leaves a
 * page writable that also has other data, as where pages are larger than the linker assumed. */
static bool page_is_read_only(const struct dl_phdr_info *library, uintptr_t page, size_t page_bytes)
{
	for (unsigned i = 0; i < library->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &library->dlpi_phdr[i];
		const uintptr_t begin = library->dlpi_addr + part->p_vaddr;
		if (part->p_type == PT_GNU_RELRO && page + page_bytes > begin &&
		    page + page_bytes <= begin + part->p_memsz)
			return true;
	}
	return false;
}

static bool replace_place(const struct dl_phdr_info *library, uintptr_t place,
			  opencl_function *replacement)
{
	const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	const uintptr_t page = place & ~(uintptr_t)(page_bytes - 1);
	if (mprotect((void *)page, page_bytes, PROT_READ | PROT_WRITE) < 0)
		return false;
	__atomic_store_n((opencl_function **)place, replacement, __ATOMIC_SEQ_CST);
	if (page_is_read_only(library, page, page_bytes))
		(void)mprotect((void *)page, page_bytes, PROT_READ);
	return true;
}

static void search_places(const struct dl_phdr_info *library, const struct tables *tables,
			  unsigned table, struct search *search)
{
	const ElfW(Rela) *place = tables->places[table];
	const size_t count = place ? tables->bytes[table] / sizeof(*place) : 0;
	for (size_t i = 0; i < count; i++) {
		const ElfW(Sym) *symbol = &tables->symbols[ELF64_R_SYM(place[i].r_info)];
		if (IS_FUNCTION_SLOT(ELF64_R_TYPE(place[i].r_info)) &&
		    strcmp(tables->strings + symbol->st_name, search->name) == 0 &&
		    replace_place(library, library->dlpi_addr + place[i].r_offset,
				  search->replacement))
			search->count++;
	}
}

static int search_library(struct dl_phdr_info *library, size_t bytes, void *context)
{
	struct search *search = context;
	struct tables tables = {.symbols = NULL};
	const char *slash = strrchr(library->dlpi_name, '/');
	const char *name = slash ? slash + 1 : library->dlpi_name;
	(void)bytes;
	if (strncmp(name, search->library, strlen(search->library)) != 0)
		return 0;
	for (unsigned i = 0; i < library->dlpi_phnum; i++)
		if (library->dlpi_phdr[i].p_type == PT_DYNAMIC)
			read_tables(
				library,
				(const void *)(library->dlpi_addr + library->dlpi_phdr[i].p_vaddr),
				&tables);
	if (tables.symbols && tables.strings) {
		search_places(library, &tables, 0, search);
		search_places(library, &tables, 1, search);
	}
	return 0;
}

unsigned opencl_import_replace(const char *library, const char *name, opencl_function *replacement)
{
	struct search search = {.library = library, .name = name, .replacement = replacement};
	(void)dl_iterate_phdr(search_library, &search);
	return search.count;
}
