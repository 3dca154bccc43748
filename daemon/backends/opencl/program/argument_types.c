#include "opencl/program/argument_types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct scalar {
	const char *name;
	uint32_t bytes; /* 0: the size of a pointer */
	bool has_vectors;
};

static const struct scalar scalars[] = {
	{"char", 1, true},       {"uchar", 1, true},      {"unsigned char", 1, false},
	{"short", 2, true},      {"ushort", 2, true},     {"unsigned short", 2, false},
	{"int", 4, true},        {"uint", 4, true},       {"unsigned int", 4, false},
	{"long", 8, true},       {"ulong", 8, true},      {"unsigned long", 8, false},
	{"half", 2, true},       {"float", 4, true},      {"double", 8, true},
	{"size_t", 0, false},    {"ptrdiff_t", 0, false}, {"intptr_t", 0, false},
	{"uintptr_t", 0, false}, {"int8_t", 1, false},    {"uint8_t", 1, false},
	{"int16_t", 2, false},   {"uint16_t", 2, false},  {"int32_t", 4, false},
	{"uint32_t", 4, false},  {"int64_t", 8, false},   {"uint64_t", 8, false},
};

/*
 * The size of a vector type: "float4" has the bytes of four floats, and so has a vector of three.
 */
static uint32_t vector_bytes(const struct scalar *scalar, const char *digits)
{
	char *end = NULL;
	unsigned long count = strtoul(digits, &end, 10);

	if (*end || (count != 2 && count != 3 && count != 4 && count != 8 && count != 16))
		return 0;
	return scalar->bytes * (uint32_t)(count == 3 ? 4 : count);
}

/* The size of a value of this OpenCL C type ("uint", "float4", "int32_t"); 0: not known, for
 * example for a struct. */
static uint32_t opencl_type_bytes(const char *type_name, uint32_t address_bits)
{
	for (size_t i = 0; i < sizeof(scalars) / sizeof(*scalars); i++) {
		const struct scalar *scalar = &scalars[i];
		size_t length = strlen(scalar->name);
		if (strncmp(type_name, scalar->name, length) != 0)
			continue;
		if (type_name[length] == '\0')
			return scalar->bytes ? scalar->bytes : address_bits / 8;
		uint32_t bytes = scalar->has_vectors ? vector_bytes(scalar, type_name + length) : 0;
		if (bytes)
			return bytes;
	}
	return 0;
}

static enum backend_argument_kind argument_kind(cl_kernel_arg_address_qualifier address,
						const char *type_name)
{
	/* Images count as pointers to global memory, samplers as values. */
	if (strncmp(type_name, "image", 5) == 0 && strstr(type_name, "_t"))
		return BACKEND_ARGUMENT_IMAGE;
	if (strcmp(type_name, "sampler_t") == 0)
		return BACKEND_ARGUMENT_SAMPLER;
	switch (address) {
	case CL_KERNEL_ARG_ADDRESS_GLOBAL:
	case CL_KERNEL_ARG_ADDRESS_CONSTANT:
		return BACKEND_ARGUMENT_GLOBAL;
	case CL_KERNEL_ARG_ADDRESS_LOCAL:
		return BACKEND_ARGUMENT_LOCAL;
	default:
		return BACKEND_ARGUMENT_VALUE;
	}
}

static enum backend_address_space address_space(cl_kernel_arg_address_qualifier address)
{
	switch (address) {
	case CL_KERNEL_ARG_ADDRESS_GLOBAL:
		return BACKEND_ADDRESS_GLOBAL;
	case CL_KERNEL_ARG_ADDRESS_CONSTANT:
		return BACKEND_ADDRESS_CONSTANT;
	case CL_KERNEL_ARG_ADDRESS_LOCAL:
		return BACKEND_ADDRESS_LOCAL;
	default:
		return BACKEND_ADDRESS_PRIVATE;
	}
}

static void query_text(const struct opencl_library *cl, cl_kernel kernel, cl_uint index,
		       cl_kernel_arg_info what, char *text, size_t capacity)
{
	char long_text[1024] = "";

	if (cl->GetKernelArgInfo(kernel, index, what, sizeof(long_text), long_text, NULL) !=
	    CL_SUCCESS)
		long_text[0] = '\0';
	long_text[sizeof(long_text) - 1] = '\0';
	(void)snprintf(text, capacity, "%.*s", (int)capacity - 1, long_text);
}

static enum backend_argument_access image_access(const struct opencl_library *cl, cl_kernel kernel,
						 cl_uint index)
{
	cl_kernel_arg_access_qualifier access = CL_KERNEL_ARG_ACCESS_NONE;

	if (cl->GetKernelArgInfo(kernel, index, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof(access),
				 &access, NULL) != CL_SUCCESS)
		return BACKEND_ACCESS_NONE;
	switch (access) {
	case CL_KERNEL_ARG_ACCESS_READ_ONLY:
		return BACKEND_ACCESS_READ;
	case CL_KERNEL_ARG_ACCESS_WRITE_ONLY:
		return BACKEND_ACCESS_WRITE;
	case CL_KERNEL_ARG_ACCESS_READ_WRITE:
		return BACKEND_ACCESS_READ_WRITE;
	default:
		return BACKEND_ACCESS_NONE;
	}
}

static uint8_t qualifier_bits(cl_kernel_arg_type_qualifier theirs)
{
	return (uint8_t)((theirs & CL_KERNEL_ARG_TYPE_CONST ? BACKEND_QUALIFIER_CONST : 0) |
			 (theirs & CL_KERNEL_ARG_TYPE_RESTRICT ? BACKEND_QUALIFIER_RESTRICT : 0) |
			 (theirs & CL_KERNEL_ARG_TYPE_VOLATILE ? BACKEND_QUALIFIER_VOLATILE : 0) |
			 (theirs & CL_KERNEL_ARG_TYPE_PIPE ? BACKEND_QUALIFIER_PIPE : 0));
}

void opencl_argument_facts(const struct opencl_library *cl, cl_kernel kernel, cl_uint index,
			   uint32_t address_bits, struct backend_argument_facts *facts_out)
{
	struct backend_argument_facts facts = {.kind = BACKEND_ARGUMENT_UNKNOWN};
	cl_kernel_arg_address_qualifier address = 0;
	cl_kernel_arg_type_qualifier qualifiers = 0;

	if (cl->GetKernelArgInfo(kernel, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof(address),
				 &address, NULL) == CL_SUCCESS) {
		query_text(cl, kernel, index, CL_KERNEL_ARG_TYPE_NAME, facts.type_name,
			   sizeof(facts.type_name));
		query_text(cl, kernel, index, CL_KERNEL_ARG_NAME, facts.name, sizeof(facts.name));
		if (cl->GetKernelArgInfo(kernel, index, CL_KERNEL_ARG_TYPE_QUALIFIER,
					 sizeof(qualifiers), &qualifiers, NULL) == CL_SUCCESS)
			facts.qualifiers = qualifier_bits(qualifiers);
		facts.is_const = (facts.qualifiers & BACKEND_QUALIFIER_CONST) != 0;
		facts.kind = argument_kind(address, facts.type_name);
		if (facts.kind == BACKEND_ARGUMENT_VALUE)
			facts.size_bytes = opencl_type_bytes(facts.type_name, address_bits);
		if (address == CL_KERNEL_ARG_ADDRESS_CONSTANT)
			facts.is_const = true;
		facts.address = address_space(address);
		/* the type of an image states whether it is only read */
		if (facts.kind == BACKEND_ARGUMENT_IMAGE) {
			facts.access = image_access(cl, kernel, index);
			facts.is_const = facts.access == BACKEND_ACCESS_READ;
		}
	}
	*facts_out = facts;
}
