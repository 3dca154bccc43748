#include "opencl/program/binary.h"

#include "binary_stream.h"
#include "protocol_limits.h"

#include <stdio.h>
#include <string.h>

static const char magic[8] = {'S', 'Y', 'C', 'L', 'O', 'C', 'L', '3'};

/* Some numbers of dimensions are absent. */
static bool lacks_payloads(uint32_t dimensions)
{
	return dimensions != 0 && dimensions != OPENCL_DIMENSIONS_ALL;
}

static bool has_payload(uint32_t dimensions, uint32_t variant)
{
	return dimensions == 0 ? variant == 0 : (dimensions >> variant & 1) != 0;
}

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
	binary_put_number(file, binary->dimensions, 4);
	binary_put_number(file, binary->kernel_count, 4);
	if (lacks_payloads(binary->dimensions)) {
		binary_put_number(file, binary->identity_bytes, 8);
		(void)fwrite(binary->identity, 1, binary->identity_bytes, file);
	}
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
	for (uint32_t i = 0; i < OPENCL_VARIANTS; i++) {
		if (!has_payload(binary->dimensions, i))
			continue;
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

static int get_identity(struct binary_reader *reader, struct opencl_binary *binary)
{
	uint64_t count = binary_get_number(reader, 8);
	const void *from = binary_get_bytes(reader, count);

	if (!from || count == 0)
		return -EINVAL;
	binary->identity = (char *)(uintptr_t)from;
	binary->identity_bytes = count;
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
	uint64_t dimensions = binary_get_number(&reader, 4),
		 kernels = binary_get_number(&reader, 4);
	if (reader.failed || kernels > OPENCL_BINARY_KERNELS_MAX ||
	    dimensions > OPENCL_DIMENSIONS_ALL)
		return -EINVAL;
	binary->dimensions = (uint32_t)dimensions;
	if (lacks_payloads(binary->dimensions) && get_identity(&reader, binary) < 0)
		return -EINVAL;
	binary->kernels = calloc(kernels ? kernels : 1, sizeof(*binary->kernels));
	if (!binary->kernels)
		return -ENOMEM;
	for (uint32_t i = 0; error == 0 && i < kernels; i++) {
		binary->kernel_count = i + 1;
		error = opencl_get_kernel(&reader, &binary->kernels[i]);
	}
	for (uint32_t i = 0; error == 0 && i < OPENCL_VARIANTS; i++) {
		if (!has_payload(binary->dimensions, i))
			continue;
		binary->payload_count++;
		error = get_payload(&reader, &binary->payloads[i]);
	}
	if (error < 0)
		return error;
	if (reader.left != 0)
		return -EINVAL;
	*binary_out = TAKE(binary);
	return 0;
}

static bool kernel_is_equal(const struct opencl_binary_kernel *a,
			    const struct opencl_binary_kernel *b)
{
	if (!b || a->argument_count != b->argument_count)
		return false;
	for (uint32_t i = 0; i < a->argument_count; i++) {
		const struct backend_argument_facts *one = &a->arguments[i],
						    *other = &b->arguments[i];
		if (one->kind != other->kind || one->is_const != other->is_const ||
		    one->address != other->address || one->qualifiers != other->qualifiers ||
		    one->access != other->access || one->size_bytes != other->size_bytes ||
		    strcmp(one->type_name, other->type_name) != 0 ||
		    strcmp(one->name, other->name) != 0)
			return false;
	}
	return true;
}

static bool binary_is_of_same_source(const struct opencl_binary *binary,
				     const struct opencl_binary *added)
{
	return binary->identity && added->identity && binary->has_checks == added->has_checks &&
	       binary->identity_bytes == added->identity_bytes &&
	       memcmp(binary->identity, added->identity, binary->identity_bytes) == 0;
}

/* Kernel i of `binary` in `added`, which usually has the same order. */
static const struct opencl_binary_kernel *binary_find_equal_name(const struct opencl_binary *added,
								 uint32_t i,
								 const struct opencl_binary *binary)
{
	const char *name = binary->kernels[i].name;

	if (i < added->kernel_count && strcmp(added->kernels[i].name, name) == 0)
		return &added->kernels[i];
	return opencl_binary_kernel(added, name);
}

/* The first kernel that `added` lacks, or that has other arguments there. */
static const char *find_difference(const struct opencl_binary *binary,
				   const struct opencl_binary *added)
{
	for (uint32_t i = 0; i < binary->kernel_count; i++)
		if (!kernel_is_equal(&binary->kernels[i], binary_find_equal_name(added, i, binary)))
			return binary->kernels[i].name;
	return NULL;
}

int opencl_binary_add(struct opencl_binary *binary, const struct opencl_binary *added,
		      const char **name_out)
{
	void *copies[OPENCL_VARIANTS] = {NULL};
	const uint32_t wanted = added->dimensions & ~binary->dimensions;

	*name_out = NULL;
	if (!binary_is_of_same_source(binary, added))
		return -EINVAL;
	*name_out = find_difference(binary, added);
	if (*name_out)
		return -EINVAL;
	for (uint32_t i = 0; i < OPENCL_VARIANTS; i++) {
		if (!(wanted >> i & 1))
			continue;
		copies[i] = malloc(added->payloads[i].count);
		if (!copies[i]) {
			while (i-- > 0)
				free(copies[i]);
			return -ENOMEM;
		}
		memcpy(copies[i], added->payloads[i].bytes, added->payloads[i].count);
	}
	for (uint32_t i = 0; i < OPENCL_VARIANTS; i++) {
		if (!copies[i])
			continue;
		binary->payloads[i] = (struct opencl_payload){
			.bytes = copies[i], .count = added->payloads[i].count, .is_added = true};
		binary->payload_count++;
	}
	binary->dimensions |= wanted;
	return 0;
}

uint32_t opencl_binary_variant(const struct opencl_binary *binary, uint32_t dimensions)
{
	return binary->dimensions == 0 ? 0 : dimensions - 1;
}

uint32_t opencl_binary_first(const struct opencl_binary *binary)
{
	return binary->dimensions == 0 ? 0 : (uint32_t)__builtin_ctz(binary->dimensions);
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
	for (uint32_t i = 0; i < OPENCL_VARIANTS; i++)
		if (!binary->packed || binary->payloads[i].is_added)
			free(binary->payloads[i].bytes);
	if (!binary->packed)
		free(binary->identity);
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
