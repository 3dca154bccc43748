#include "opencl/program/binary.h"

#include "binary_stream.h"
#include "protocol_limits.h"

#include <stdio.h>
#include <string.h>

static const char magic[8] = {'S', 'Y', 'C', 'L', 'O', 'C', 'L', '2'};

int opencl_binary_pack(const struct opencl_binary *binary, void **bytes_out, size_t *count_out)
{
	char *bytes = NULL;
	size_t count = 0;
	FILE *file = open_memstream(&bytes, &count);
	if (!file)
		return -ENOMEM;

	(void)fwrite(magic, 1, sizeof(magic), file);
	binary_put_number(file, binary->is_builtin, 4);
	binary_put_number(file, binary->has_checks, 4);
	binary_put_number(file, binary->kernel_count, 4);
	binary_put_number(file, binary->payload_count, 4);
	for (uint32_t k = 0; k < binary->kernel_count; k++) {
		const struct opencl_binary_kernel *kernel = &binary->kernels[k];
		binary_put_text(file, kernel->name);
		binary_put_number(file, kernel->argument_count, 4);
		for (uint32_t a = 0; a < kernel->argument_count; a++) {
			binary_put_number(file, kernel->arguments[a].kind, 1);
			binary_put_number(file, kernel->arguments[a].is_const, 1);
			binary_put_number(file, kernel->arguments[a].address, 1);
			binary_put_number(file, kernel->arguments[a].qualifiers, 1);
			binary_put_number(file, kernel->arguments[a].access, 1);
			binary_put_number(file, kernel->arguments[a].size_bytes, 4);
			binary_put_text(file, kernel->arguments[a].type_name);
			binary_put_text(file, kernel->arguments[a].name);
		}
	}
	for (uint32_t i = 0; i < binary->payload_count; i++) {
		binary_put_number(file, binary->payloads[i].count, 8);
		(void)fwrite(binary->payloads[i].bytes, 1, binary->payloads[i].count, file);
	}

	return binary_put_end(file, &bytes, &count, bytes_out, count_out);
}

/* Reads the next text, cut off to fit; "" after a failure. */
static void opencl_get_text(struct binary_reader *reader, char *text, size_t capacity)
{
	size_t length = (size_t)binary_get_number(reader, 2);
	const void *from = binary_get_bytes(reader, length);
	size_t kept = !from ? 0 : length < capacity - 1 ? length : capacity - 1;

	if (kept > 0)
		memcpy(text, from, kept);
	text[kept] = '\0';
}

static int opencl_get_kernel(struct binary_reader *reader, struct opencl_binary_kernel *kernel)
{
	char name[KERNEL_NAME_BYTES_MAX + 1];

	opencl_get_text(reader, name, sizeof(name));
	uint64_t count = binary_get_number(reader, 4);
	if (reader->failed || count > KERNEL_ARGUMENTS_MAX)
		return -EINVAL;
	kernel->name = strdup(name);
	kernel->arguments = calloc(count ? count : 1, sizeof(*kernel->arguments));
	if (!kernel->name || !kernel->arguments)
		return -ENOMEM;
	kernel->argument_count = (uint32_t)count;
	for (uint32_t i = 0; i < count; i++) {
		struct backend_argument_facts *argument = &kernel->arguments[i];
		uint64_t kind = binary_get_number(reader, 1);
		argument->is_const = binary_get_number(reader, 1) != 0;
		uint64_t address = binary_get_number(reader, 1);
		uint64_t qualifiers = binary_get_number(reader, 1),
			 access = binary_get_number(reader, 1);
		argument->size_bytes = (uint32_t)binary_get_number(reader, 4);
		opencl_get_text(reader, argument->type_name, sizeof(argument->type_name));
		opencl_get_text(reader, argument->name, sizeof(argument->name));
		if (reader->failed || kind > BACKEND_ARGUMENT_SAMPLER ||
		    address > BACKEND_ADDRESS_LOCAL || qualifiers > BACKEND_QUALIFIERS ||
		    access > BACKEND_ACCESS_READ_WRITE)
			return -EINVAL;
		argument->qualifiers = (uint8_t)qualifiers;
		argument->access = (enum backend_argument_access)access;
		argument->address = (enum backend_address_space)address;
		argument->kind = (enum backend_argument_kind)kind;
	}
	return 0;
}

static int get_payload(struct binary_reader *reader, struct opencl_payload *payload)
{
	uint64_t count = binary_get_number(reader, 8);
	const void *from = binary_get_bytes(reader, count);

	if (!from || count == 0)
		return -EINVAL;
	payload->bytes = (void *)(uintptr_t)from;
	payload->count = count;
	return 0;
}

int opencl_binary_unpack(const void *bytes, size_t count, struct opencl_binary **binary_out)
{
	int error = 0;
	CLEANUP(opencl_binary_cleanup) struct opencl_binary *binary = calloc(1, sizeof(*binary));
	if (!binary || count == 0)
		return binary ? -EINVAL : -ENOMEM;
	binary->packed = malloc(count);
	if (!binary->packed)
		return -ENOMEM;
	memcpy(binary->packed, bytes, count);
	binary->packed_bytes = count;
	struct binary_reader reader = {.next = binary->packed, .left = count};

	if (!binary_get_magic(&reader, magic, sizeof(magic)))
		return -EINVAL;
	binary->is_builtin = binary_get_number(&reader, 4) != 0;
	binary->has_checks = binary_get_number(&reader, 4) != 0;
	uint64_t kernels = binary_get_number(&reader, 4), payloads = binary_get_number(&reader, 4);
	if (reader.failed || kernels > OPENCL_BINARY_KERNELS_MAX ||
	    (payloads != 1 && payloads != OPENCL_VARIANTS))
		return -EINVAL;
	binary->kernels = calloc(kernels ? kernels : 1, sizeof(*binary->kernels));
	if (!binary->kernels)
		return -ENOMEM;
	for (uint32_t i = 0; error == 0 && i < kernels; i++) {
		binary->kernel_count = i + 1;
		error = opencl_get_kernel(&reader, &binary->kernels[i]);
	}
	for (uint32_t i = 0; error == 0 && i < payloads; i++) {
		binary->payload_count = i + 1;
		error = get_payload(&reader, &binary->payloads[i]);
	}
	if (error < 0)
		return error;
	if (reader.left != 0)
		return -EINVAL;
	*binary_out = TAKE(binary);
	return 0;
}

bool opencl_binary_is(const struct opencl_binary *binary, const void *bytes, size_t count)
{
	return binary->packed && binary->packed_bytes == count &&
	       memcmp(binary->packed, bytes, count) == 0;
}

void opencl_binary_fini(struct opencl_binary *binary)
{
	for (uint32_t i = 0; i < binary->kernel_count; i++) {
		free(binary->kernels[i].name);
		free(binary->kernels[i].arguments);
	}
	for (uint32_t i = 0; i < OPENCL_VARIANTS && !binary->packed; i++)
		free(binary->payloads[i].bytes);
	free(binary->packed);
	free(binary->kernels);
	*binary = (struct opencl_binary){0};
}

struct opencl_binary *opencl_binary_free(struct opencl_binary *binary)
{
	if (binary)
		opencl_binary_fini(binary);
	free(binary);
	return NULL;
}

const struct opencl_binary_kernel *opencl_binary_kernel(const struct opencl_binary *binary,
							const char *name)
{
	for (uint32_t i = 0; i < binary->kernel_count; i++)
		if (strcmp(binary->kernels[i].name, name) == 0)
			return &binary->kernels[i];
	return NULL;
}
