/* Sources, programs, and facts about kernels. A part of backend.h. */
#ifndef SYCL_BACKENDS_BACKEND_PROGRAM_H
#define SYCL_BACKENDS_BACKEND_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

enum backend_source_kind { /* proto's SourceKind */
			   BACKEND_SOURCE_OPENCL_C = 1,
			   BACKEND_SOURCE_PORTABLE = 2,
			   BACKEND_SOURCE_BUILTIN = 3,
			   BACKEND_SOURCE_PTX = 4,
			   BACKEND_SOURCE_CUBIN = 5, /* a cubin or a fatbin: bytes, no text */
			   BACKEND_SOURCE_CUDA_CPP = 6,
			   BACKEND_SOURCE_SPIRV = 7, /* bytes, no text; where the device has
							BACKEND_FEATURE_SPIRV */
};

/* How far programs have come; numbers equal to enum sycl_bundle_state of syclclient/kernel.h. */
enum backend_program_state {
	BACKEND_PROGRAM_INPUT = 0,
	BACKEND_PROGRAM_OBJECT = 1,
	BACKEND_PROGRAM_EXECUTABLE = 2
};

enum backend_argument_kind { /* proto's ArgumentKind */
			     BACKEND_ARGUMENT_UNKNOWN = 0,
			     BACKEND_ARGUMENT_VALUE = 1,
			     BACKEND_ARGUMENT_GLOBAL = 2,
			     BACKEND_ARGUMENT_LOCAL = 3,
			     BACKEND_ARGUMENT_IMAGE = 4,
			     BACKEND_ARGUMENT_SAMPLER = 5,
};

/* Address spaces of an argument's target; numbers equal to enum sycl_address_space of
 * syclclient/kernel.h. */
enum backend_address_space {
	BACKEND_ADDRESS_UNKNOWN = 0,
	BACKEND_ADDRESS_PRIVATE = 1, /* a value */
	BACKEND_ADDRESS_GLOBAL = 2,
	BACKEND_ADDRESS_CONSTANT = 3,
	BACKEND_ADDRESS_LOCAL = 4,
};

/* Numbers equal to enum sycl_argument_qualifier and enum sycl_argument_access of
 * syclclient/kernel.h. */
enum backend_argument_qualifier {
	BACKEND_QUALIFIER_CONST = 1,
	BACKEND_QUALIFIER_RESTRICT = 2,
	BACKEND_QUALIFIER_VOLATILE = 4,
	BACKEND_QUALIFIER_PIPE = 8,
	BACKEND_QUALIFIERS = 15,
};
enum backend_argument_access {
	BACKEND_ACCESS_NONE = 0, /* no image, or not known */
	BACKEND_ACCESS_READ = 1,
	BACKEND_ACCESS_WRITE = 2,
	BACKEND_ACCESS_READ_WRITE = 3,
};

struct backend_argument_facts {
	enum backend_argument_kind kind;
	uint32_t size_bytes; /* size of a value; 0: not known */
	bool is_const;
	enum backend_address_space address;
	uint8_t qualifiers;                  /* bits of enum backend_argument_qualifier */
	enum backend_argument_access access; /* of an image */
	char type_name[64], name[64];
};

struct backend_kernel_facts {
	/* The kernel's, valid as long as the kernel. */
	const struct backend_argument_facts *arguments;
	uint32_t argument_count;
	uint64_t max_work_group_size, preferred_multiple, private_mem_bytes, local_mem_bytes;
	uint64_t required_work_group_size[3]; /* SYCL's order; 0: none */
	/* Limit of a launch, beside local_mem_bytes; 0: the device's. */
	uint64_t max_local_mem_bytes;
	uint64_t max_global_size[3]; /* SYCL's order; of a built-in kernel or on a custom device; 0:
					not known */
	uint32_t registers;          /* registers of a work-item; 0: not known */
	uint32_t sub_group_size;     /* 0: not known */
	/*
	 * The kernel is written in the vendor's own language and computes its ids itself. It takes
	 * no offset (E13), and a basic range runs only in groups that divide it.
	 */
	bool native;
	/* The kernel is the application's: an argument of kind UNKNOWN keeps the value that it has
	 * (J9). */
	bool has_presets;
	bool splits; /* its launches may be sent in parts (struct backend_part) */
	/* It may print with printf, to standard output; the text is there before the end of its
	 * launch is reported. Such launches of a process run one at a time. */
	bool prints;
	bool waits; /* with EARLY: the kernel itself waits for earlier launches (R5) */
};

struct backend_occupancy {
	uint32_t groups_per_compute_unit; /* number resident at one time */
	uint32_t max_cooperative_groups;  /* limit of one cooperative launch; 0: none */
	uint32_t max_cluster_groups;      /* 0: none */
	uint32_t suggested_group_size;    /* the size that fills the device best */
};

#endif
