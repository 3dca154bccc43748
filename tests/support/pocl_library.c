/*
 * pocl_library DRIVER FULL REDUCED PART... writes a reduced copy of PoCL's library of built-in
 * functions. It leaves out functions whose names contain one of the parts, unless another function
 * calls them. The code of the others does not change. pocl.cmake runs it while CMake configures;
 * the reason is there.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* LLVM's C interface, in the version that the driver is linked with. */
static struct {
	int (*read_file)(const char *path, void **buffer_out, char **message_out);
	void *(*create_context)(void);
	int (*parse)(void *context, void *buffer, void **module_out);
	void *(*first_function)(void *module);
	void *(*next_function)(void *function);
	const char *(*name_of)(void *function, size_t *length_out);
	void *(*first_use)(void *function);
	void (*delete_function)(void *function);
	int (*write_file)(void *module, const char *path);
} llvm;

static bool load_llvm(const char *driver)
{
	const struct {
		void *to;
		const char *name;
	} functions[] = {
		{&llvm.read_file, "LLVMCreateMemoryBufferWithContentsOfFile"},
		{&llvm.create_context, "LLVMContextCreate"},
		{&llvm.parse, "LLVMParseBitcodeInContext2"},
		{&llvm.first_function, "LLVMGetFirstFunction"},
		{&llvm.next_function, "LLVMGetNextFunction"},
		{&llvm.name_of, "LLVMGetValueName2"},
		{&llvm.first_use, "LLVMGetFirstUse"},
		{&llvm.delete_function, "LLVMDeleteFunction"},
		{&llvm.write_file, "LLVMWriteBitcodeToFile"},
	};
	void *library = dlopen(driver, RTLD_NOW | RTLD_LOCAL);

	for (size_t i = 0; library && i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *found = dlsym(library, functions[i].name);
		if (!found)
			return false;
		memcpy(functions[i].to, &found, sizeof(found));
	}
	return library != NULL;
}

static bool has_part(void *function, char **parts)
{
	size_t length = 0;
	const char *name = llvm.name_of(function, &length);

	for (; *parts; parts++)
		if (memmem(name, length, *parts, strlen(*parts)))
			return true;
	return false;
}

/* Goes through the module once. Functions that only deleted functions called become unused by
 * that. */
static unsigned delete_unused(void *module, char **parts)
{
	unsigned deleted = 0;

	for (void *next, *function = llvm.first_function(module); function; function = next) {
		next = llvm.next_function(function);
		if (llvm.first_use(function) || !has_part(function, parts))
			continue;
		llvm.delete_function(function);
		deleted++;
	}
	return deleted;
}

int main(int count, char **arguments)
{
	void *buffer = NULL, *module = NULL;
	char *message = NULL;
	unsigned deleted = 0;

	if (count < 5 || !load_llvm(arguments[1]))
		return EXIT_FAILURE;
	if (llvm.read_file(arguments[2], &buffer, &message) != 0 ||
	    llvm.parse(llvm.create_context(), buffer, &module) != 0)
		return EXIT_FAILURE;
	for (unsigned more; (more = delete_unused(module, arguments + 4)) > 0;)
		deleted += more;
	if (llvm.write_file(module, arguments[3]) != 0)
		return EXIT_FAILURE;
	(void)printf("%u functions left out\n", deleted);
	return EXIT_SUCCESS;
}
