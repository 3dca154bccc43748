#include "cuda/program/describe.h"

#include "cuda/program/symbol.h"

#include <stdio.h>
#include <string.h>

static const struct cuda_type *symbol_type_at(const struct cuda_symbol *symbol, uint32_t index)
{
	return symbol && index < symbol->parameter_count ? &symbol->parameters[index] : NULL;
}

static void take_type(const struct cuda_type *type, struct backend_argument_facts *facts)
{
	_Static_assert(sizeof(type->text) <= sizeof(facts->type_name), "a type's text fits");
	if (!type)
		return;
	facts->is_const = type->points_to_const;
	memcpy(facts->type_name, type->text, sizeof(type->text));
}

void cuda_describe_word(const struct cuda_symbol *symbol_or_null, uint32_t index,
			uint32_t size_bytes, struct cuda_binary_argument *argument_out)
{
	const struct cuda_type *type = symbol_type_at(symbol_or_null, index);
	bool pointer = size_bytes == sizeof(uint64_t) && (!type || type->kind == CUDA_TYPE_POINTER);

	*argument_out = (struct cuda_binary_argument){
		.facts = {.kind = pointer ? BACKEND_ARGUMENT_UNKNOWN : BACKEND_ARGUMENT_VALUE,
			  .size_bytes = size_bytes},
		.local = pointer ? CUDA_LOCAL_GENERIC : CUDA_LOCAL_NONE,
	};
	take_type(type, &argument_out->facts);
}

static void cuda_describe_native(const struct cuda_ptx_parameter *parameter,
				 const struct cuda_symbol *symbol, uint32_t index,
				 struct cuda_binary_argument *argument)
{
	cuda_describe_word(symbol, index, parameter->size_bytes, argument);
	switch (parameter->space) {
	case CUDA_PTX_GLOBAL:
		argument->facts.kind = BACKEND_ARGUMENT_GLOBAL;
		argument->local = CUDA_LOCAL_NONE;
		return;
	case CUDA_PTX_SHARED:
		argument->facts.kind = BACKEND_ARGUMENT_LOCAL;
		argument->local = CUDA_LOCAL_SHARED;
		return;
	case CUDA_PTX_CONST:
	case CUDA_PTX_LOCAL: /* no local memory of the service lies there */
		argument->local = CUDA_LOCAL_NONE;
		return;
	default:
		break;
	}
	/* Without a symbol, the PTX's own type may show that the parameter is a value: a float of
	 * 64 bits is no pointer. */
	if (!symbol && parameter->space == CUDA_PTX_NO_POINTER && !parameter->may_point) {
		argument->facts.kind = BACKEND_ARGUMENT_VALUE;
		argument->local = CUDA_LOCAL_NONE;
	}
}

static void describe_portable(const struct cuda_ptx_parameter *parameter,
			      const struct cuda_symbol *symbol, uint32_t index,
			      struct cuda_binary_argument *argument)
{
	const struct cuda_type *type = symbol_type_at(symbol, index);
	bool maybe_local =
		parameter->size_bytes == 4 && parameter->align_bytes == 4 && !parameter->may_point;

	argument->facts.size_bytes = parameter->size_bytes;
	if (!type) { /* A type that is not read here accepts what has the right size. */
		argument->facts.kind = parameter->may_point || maybe_local
					       ? BACKEND_ARGUMENT_UNKNOWN
					       : BACKEND_ARGUMENT_VALUE;
		argument->local = maybe_local ? CUDA_LOCAL_PLACE : CUDA_LOCAL_NONE;
	} else if (type->kind == CUDA_TYPE_LOCAL) {
		argument->facts.kind = BACKEND_ARGUMENT_LOCAL;
		argument->local = CUDA_LOCAL_PLACE;
	} else if (type->kind == CUDA_TYPE_IMAGE) {
		argument->facts.kind = BACKEND_ARGUMENT_IMAGE;
	} else {
		argument->facts.kind = type->kind == CUDA_TYPE_POINTER ? BACKEND_ARGUMENT_GLOBAL
								       : BACKEND_ARGUMENT_VALUE;
	}
	take_type(type, &argument->facts);
}

static int describe_entry(const struct cuda_ptx_entry *entry, bool portable,
			  struct cuda_binary_kernel *kernel)
{
	CLEANUP(cuda_symbol_cleanup) struct cuda_symbol *symbol = NULL;

	int error = cuda_symbol_parse(entry->name, &symbol);
	if (error == -ENOMEM)
		return error;
	kernel->name = strdup(symbol ? symbol->name : entry->name);
	/* In a completed text, kernels have their plain names as symbols. */
	kernel->symbol = strdup(portable && symbol ? symbol->name : entry->name);
	kernel->arguments = calloc(entry->parameter_count + 1u, sizeof(*kernel->arguments));
	if (!kernel->name || !kernel->symbol || !kernel->arguments)
		return -ENOMEM;
	if (symbol && symbol->parameter_count != entry->parameter_count)
		symbol = cuda_symbol_free(symbol);
	memcpy(kernel->required, entry->required, sizeof(kernel->required));
	kernel->argument_count = entry->parameter_count;
	kernel->waits = entry->waits;
	for (uint32_t i = 0; i < entry->parameter_count; i++) {
		if (portable)
			describe_portable(&entry->parameters[i], symbol, i, &kernel->arguments[i]);
		else
			cuda_describe_native(&entry->parameters[i], symbol, i,
					     &kernel->arguments[i]);
	}
	return 0;
}

/* If an earlier kernel has the same name, as instances of a template may, this kernel is named by
 * its symbol. For portable kernels that is -EEXIST. */
static int binary_settle_name(struct cuda_binary *binary, uint32_t last, bool portable)
{
	struct cuda_binary_kernel *kernel = &binary->kernels[last];

	for (uint32_t i = 0; i < last; i++) {
		if (strcmp(binary->kernels[i].name, kernel->name) != 0)
			continue;
		if (portable)
			return -EEXIST;
		free(kernel->name);
		kernel->name = strdup(kernel->symbol);
		return kernel->name ? 0 : -ENOMEM;
	}
	return 0;
}

int cuda_describe_ptx(struct cuda_binary *binary, const struct cuda_ptx *ptx, bool portable)
{
	int error = 0;

	binary->kernels = calloc(ptx->entry_count + 1u, sizeof(*binary->kernels));
	if (!binary->kernels)
		return -ENOMEM;
	for (uint32_t i = 0; error == 0 && i < ptx->entry_count; i++) {
		binary->kernel_count = i + 1;
		error = describe_entry(&ptx->entries[i], portable, &binary->kernels[i]);
		if (error == 0)
			error = binary_settle_name(binary, i, portable);
	}
	return error;
}
