/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file image.h Images, samplers, image arguments of kernels, and access to images from the
 * host. The rules for all functions are at the top of result.h.
 *
 * An image has one to three dimensions of pixels. A pixel has four components, r, g, b and a,
 * stored in one of eleven formats, or in a general one that the device lists. On a device its
 * storage is opaque: kernels read and write pixels as float4, int4 or uint4, which are converted
 * from and to the format. On the host an image is tightly packed, with the last dimension fastest.
 *
 * One image serves as SYCL's unsampled and sampled image. A command group chooses for each
 * argument. Dimensions count as in sycl_range: the last one runs along the rows. So an image of
 * `height` rows is sycl_range2(height, width), and a pixel's place is (row, column).
 */
#ifndef SYCLCLIENT_IMAGE_H
#define SYCLCLIENT_IMAGE_H

#include "buffer.h"
#include "handler.h"

SYCL_BEGIN_DECLS

/**
 * How pixels are stored; the names are SYCL's own. The order is r, g, b, a except in the last one.
 */
typedef enum sycl_image_format {
	SYCL_IMAGE_FORMAT_R8G8B8A8_UNORM = 1,       /**< float4, 0 to 1 in 255 steps */
	SYCL_IMAGE_FORMAT_R16G16B16A16_UNORM = 2,   /**< float4, 0 to 1 in 65535 steps */
	SYCL_IMAGE_FORMAT_R8G8B8A8_SINT = 3,        /**< int4 */
	SYCL_IMAGE_FORMAT_R16G16B16A16_SINT = 4,    /**< int4 */
	SYCL_IMAGE_FORMAT_R32B32G32A32_SINT = 5,    /**< int4 */
	SYCL_IMAGE_FORMAT_R8G8B8A8_UINT = 6,        /**< uint4 */
	SYCL_IMAGE_FORMAT_R16G16B16A16_UINT = 7,    /**< uint4 */
	SYCL_IMAGE_FORMAT_R32B32G32A32_UINT = 8,    /**< uint4 */
	SYCL_IMAGE_FORMAT_R16B16G16A16_SFLOAT = 9,  /**< float4, in half precision */
	SYCL_IMAGE_FORMAT_R32G32B32A32_SFLOAT = 10, /**< float4 */
	/** float4 r, g, b, a; stored b, g, r, a, 0 to 1 in 255 steps */
	SYCL_IMAGE_FORMAT_B8G8R8A8_UNORM = 11,
	SYCL_IMAGE_FORMAT_GENERAL = 256,  /**< the first general format (sycl_image_format_of) */
	SYCL_IMAGE_FORMAT_LARGEST = 65535 /**< no format is larger */
} sycl_image_format;

/** Which channels the pixels of a general format have in memory, in this order. */
typedef enum sycl_image_order {
	SYCL_IMAGE_ORDER_R = 0,
	SYCL_IMAGE_ORDER_A = 1,
	SYCL_IMAGE_ORDER_RG = 2,
	SYCL_IMAGE_ORDER_RA = 3,
	SYCL_IMAGE_ORDER_RGB = 4,
	SYCL_IMAGE_ORDER_RGBA = 5,
	SYCL_IMAGE_ORDER_BGRA = 6,
	SYCL_IMAGE_ORDER_ARGB = 7,
	SYCL_IMAGE_ORDER_INTENSITY = 8,
	SYCL_IMAGE_ORDER_LUMINANCE = 9,
	SYCL_IMAGE_ORDER_RX = 10,
	SYCL_IMAGE_ORDER_RGX = 11,
	SYCL_IMAGE_ORDER_RGBX = 12,
	SYCL_IMAGE_ORDER_DEPTH = 13,
	SYCL_IMAGE_ORDER_SRGB = 14,
	SYCL_IMAGE_ORDER_SRGBX = 15,
	SYCL_IMAGE_ORDER_SRGBA = 16,
	SYCL_IMAGE_ORDER_SBGRA = 17,
	SYCL_IMAGE_ORDER_ABGR = 18
} sycl_image_order;

/** How a channel of a general format is stored; with the meaning of OpenCL's channel types. */
typedef enum sycl_image_type {
	SYCL_IMAGE_TYPE_SNORM8 = 0,
	SYCL_IMAGE_TYPE_SNORM16 = 1,
	SYCL_IMAGE_TYPE_UNORM8 = 2,
	SYCL_IMAGE_TYPE_UNORM16 = 3,
	SYCL_IMAGE_TYPE_UNORM_565 = 4,
	SYCL_IMAGE_TYPE_UNORM_555 = 5,
	SYCL_IMAGE_TYPE_UNORM_101010 = 6,
	SYCL_IMAGE_TYPE_SINT8 = 7,
	SYCL_IMAGE_TYPE_SINT16 = 8,
	SYCL_IMAGE_TYPE_SINT32 = 9,
	SYCL_IMAGE_TYPE_UINT8 = 10,
	SYCL_IMAGE_TYPE_UINT16 = 11,
	SYCL_IMAGE_TYPE_UINT32 = 12,
	SYCL_IMAGE_TYPE_HALF = 13,
	SYCL_IMAGE_TYPE_FLOAT = 14,
	SYCL_IMAGE_TYPE_UNORM_101010_2 = 15
} sycl_image_type;

/**
 * Make a general format of an order and a type. Not all pairs are formats, and a device has those
 * that sycl_device_get_general_image_formats lists. Host functions for pixels (sycl_host_image_...)
 * are for the eleven formats of SYCL alone. CUDA devices have no general formats.
 */
static inline sycl_image_format sycl_image_format_of(sycl_image_order order, sycl_image_type type)
{
	return (sycl_image_format)(SYCL_IMAGE_FORMAT_GENERAL + (int)order * 32 + (int)type);
}

/** Bits of sycl_image_format_entry.kinds. */
typedef enum sycl_image_kind {
	SYCL_IMAGE_KIND_1D = 1,
	SYCL_IMAGE_KIND_2D = 2,
	SYCL_IMAGE_KIND_3D = 4,
	SYCL_IMAGE_KIND_1D_LAYERED = 8,
	SYCL_IMAGE_KIND_2D_LAYERED = 16,
	SYCL_IMAGE_KIND_1D_VIEW =
		32, /**< of a buffer: sycl_handler_set_image_view; so is the next */
	SYCL_IMAGE_KIND_2D_VIEW = 64
} sycl_image_kind;

/** A general format of a device. */
typedef struct sycl_image_format_entry {
	uint32_t format; /**< sycl_image_format_of its order and type */
	uint32_t kinds;  /**< bits of enum sycl_image_kind: images of these kinds may have it */
} sycl_image_format_entry;

/** How a sampler treats a coordinate outside of the image. */
typedef enum sycl_addressing_mode {
	/** the image and its mirror image in turn; coordinates must be normalised */
	SYCL_ADDRESSING_MIRRORED_REPEAT = 1,
	SYCL_ADDRESSING_REPEAT = 2, /**< the image repeated; coordinates must be normalised */
	SYCL_ADDRESSING_CLAMP_TO_EDGE = 3, /**< the nearest pixel of the image */
	SYCL_ADDRESSING_CLAMP = 4,         /**< the border's colour: 0, 0, 0, 0 */
	SYCL_ADDRESSING_NONE = 5           /**< undefined by SYCL; here as SYCL_ADDRESSING_CLAMP */
} sycl_addressing_mode;

/** The unit of coordinates. */
typedef enum sycl_coordinate_normalization_mode {
	/** 0 to the image's size; the middle of pixel i is at i + 0.5 */
	SYCL_COORDINATE_UNNORMALIZED = 0,
	SYCL_COORDINATE_NORMALIZED = 1 /**< 0 to 1 */
} sycl_coordinate_normalization_mode;

/** How a sampler chooses pixels. */
typedef enum sycl_filtering_mode {
	SYCL_FILTERING_NEAREST = 0, /**< the pixel that holds the coordinate */
	/** a mix of the 2, 4 or 8 pixels around it; only for formats that are float4 in a kernel */
	SYCL_FILTERING_LINEAR = 1
} sycl_filtering_mode;

/** How a kernel reads a sampled image: a plain value. Start from sycl_sampler_create. */
typedef struct sycl_sampler {
	uint32_t addressing;    /**< enum sycl_addressing_mode, for all dimensions */
	uint32_t normalization; /**< enum sycl_coordinate_normalization_mode */
	uint32_t filtering;     /**< enum sycl_filtering_mode */
	uint32_t reserved;      /**< must be 0 */
} sycl_sampler;

/** Make a sampler. */
static inline sycl_sampler sycl_sampler_create(sycl_addressing_mode addressing,
					       sycl_coordinate_normalization_mode normalization,
					       sycl_filtering_mode filtering)
{
	sycl_sampler sampler;
	sampler.addressing = (uint32_t)addressing;
	sampler.normalization = (uint32_t)normalization;
	sampler.filtering = (uint32_t)filtering;
	sampler.reserved = 0;
	return sampler;
}

/** A sampler in a backend's own numbers. */
typedef struct sycl_sampler_mapping {
	/** sizeof(struct sycl_sampler_mapping); start from SYCL_SAMPLER_MAPPING_INIT */
	uint32_t struct_bytes;
	uint32_t addressing;        /**< enum cudaTextureAddressMode, or CL_ADDRESS_* */
	uint32_t filtering;         /**< enum cudaTextureFilterMode, or CL_FILTER_* */
	uint32_t normalized_coords; /**< 0 or 1 */
} sycl_sampler_mapping;

/* clang-format off */
#define SYCL_SAMPLER_MAPPING_INIT { sizeof(sycl_sampler_mapping), 0, 0, 0 }
/* clang-format on */

/**
 * Get the backend's numbers for a sampler, as the backend's specification maps them. Never blocks.
 * For CUDA this is the specification's table, in which `clamp` is cudaAddressModeClamp. Kernels
 * still see SYCL's meaning, in which `clamp` gives the border's colour. Repeat and mirrored_repeat
 * without normalised coordinates are cudaAddressModeBorder. For OpenCL these are the numbers in
 * use.
 *
 * @param sampler          The sampler.
 * @param backend          Whose numbers.
 * @param[in,out] mapping  With struct_bytes set; the call fills the rest.
 * @retval SYCL_ERROR_INVALID  No such sampler or backend; a wrong struct_bytes.
 * @since 0.1
 */
SYCL_API sycl_result sycl_sampler_get_mapping(const sycl_sampler *sampler, sycl_backend backend,
					      sycl_sampler_mapping *mapping);

/**
 * List the image formats of a device. Never blocks.
 *
 * @param capacity          Room in formats_out; 0: only count.
 * @param[out] formats_out  Up to `capacity` of enum sycl_image_format, ascending. NULL if capacity
 *                          is 0.
 * @param[out] count_out    How many there are; 0 without images. May be NULL if formats_out is
 *                          given.
 * @retval SYCL_ERROR_INVALID  An output is missing.
 * @since 0.1
 */
SYCL_API sycl_result sycl_device_get_image_formats(sycl_device device, uint32_t capacity,
						   uint32_t *formats_out, uint32_t *count_out);

/**
 * List the general image formats of a device. Never blocks.
 *
 * @param capacity          Room in entries_out; 0: only count.
 * @param[out] entries_out  Up to `capacity` entries, each format once. NULL if capacity is 0.
 * @param[out] count_out    How many there are; 0 without images, and on CUDA devices. May be NULL
 * if entries_out is given.
 * @retval SYCL_ERROR_INVALID  An output is missing.
 * @since 0.1
 */
SYCL_API sycl_result sycl_device_get_general_image_formats(sycl_device device, uint32_t capacity,
							   sycl_image_format_entry *entries_out,
							   uint32_t *count_out);

/**
 * Make an image, usable with every queue of the connection whose device has the format. Blocks as
 * sycl_buffer_create.
 *
 * @param platform        Any platform of the connection.
 * @param format          enum sycl_image_format.
 * @param range           1 to 3 dimensions, none of them 0 or above 2^20. Devices allow less
 *                        (sycl_device_info).
 * @param host            The first pixels, tightly packed, copied during the call. NULL with
 *                        SYCL_HOST_NONE.
 * @param kind            What happens to `host` later: as for buffers.
 * @param[out] image_out  The caller releases it with sycl_image_release.
 * @retval SYCL_ERROR_INVALID  No such format; no such range; host and kind contradict each other.
 * @retval SYCL_ERROR_QUOTA    More objects, bytes or shared memory than the session may have.
 * @since 0.1
 */
SYCL_API sycl_result sycl_image_create(sycl_platform platform, sycl_image_format format,
				       sycl_range range, void *host, sycl_host_memory kind,
				       sycl_image *image_out);

/** Options of sycl_image_create_with. Start from SYCL_IMAGE_OPTIONS_INIT. */
struct sycl_image_options {
	uint32_t struct_bytes; /**< sizeof(struct sycl_image_options) */
	sycl_host_memory kind;
	sycl_image_format format;
	uint32_t layered; /**< 0 or 1: the first dimension of `range` counts layers */
	sycl_range range;
	/** the first pixels, tightly packed, as `kind` says; NULL with SYCL_HOST_NONE */
	void *host;
};
#define SYCL_IMAGE_OPTIONS_INIT                                                                    \
	{                                                                                          \
		sizeof(struct sycl_image_options), SYCL_HOST_NONE,                                 \
			SYCL_IMAGE_FORMAT_R8G8B8A8_UNORM, 0, {0, 0, {0, 0, 0}}, 0                  \
	}

/**
 * Make an image with options. It can be a layered image: an array of images of one or two
 * dimensions. All layers have the same size and format. A kernel takes the array as one argument
 * and selects a layer by its number. Blocks as sycl_image_create.
 *
 * The first dimension of `range` counts the layers: in sycl_range3(layers, rows, columns) the pixel
 * (2, 4, 7) is in layer 2, row 4, column 7. On the host the layers follow each other. Copies,
 * accessors and queries treat the image like any other of these dimensions. Samplers differ: they
 * mix pixels of one layer only. The layer coordinate is never normalised or repeated, whatever the
 * sampler says. It is rounded to a whole number, and outside of the image the nearest layer is
 * taken.
 *
 * Kernels in the portable form take it as SYCL_IMAGE_READ_2D_LAYERED and the like, those in OpenCL
 * C as image2d_array_t or image1d_array_t. CUDA kernels take it as a texture object for
 * tex2DLayered or tex1DLayered, or as a surface object. A layered image cannot be made from a
 * native handle.
 *
 * There are no mipmaps: images of SYCL have no levels of detail, and in OpenCL only devices with
 * cl_khr_mipmap_image have them.
 *
 * @param options         Not NULL.
 * @param[out] image_out  The caller releases it with sycl_image_release.
 * @retval SYCL_ERROR_INVALID  Wrong struct_bytes; `layered` is neither 0 nor 1; a layered image of
 *                             one dimension, whose layers would have none.
 * @return Otherwise as sycl_image_create. If SYCL_DEVICE_INFO_IMAGE_MAX_LAYERS is 0, a command that
 *         uses a layered image fails with SYCL_ERROR_FEATURE_NOT_SUPPORTED.
 * @since 0.1
 */
SYCL_API sycl_result sycl_image_create_with(sycl_platform platform,
					    const struct sycl_image_options *options,
					    sycl_image *image_out);
/** Take one more reference. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_image_retain(sycl_image image);
/**
 * Release one reference. The last one waits and writes back as for buffers: sycl_buffer_release.
 * @since 0.1
 *
 * @example
 *	static unsigned char pixels[480][640][4];
 *	sycl_image image = NULL;
 *	result = sycl_image_create(platform, SYCL_IMAGE_FORMAT_R8G8B8A8_UNORM,
 *				   sycl_range2(480, 640), pixels, SYCL_HOST_BORROWED, &image);
 *	// ... command groups that write it ...
 *	if (result == SYCL_SUCCESS)
 *		result = sycl_image_release(image); // waits, and writes back to `pixels`
 */
SYCL_API sycl_result sycl_image_release(sycl_image image);
/**
 * Release one reference as sycl_image_release does, with a limit on the wait.
 *
 * @param timeout_ns  Longest wait, ns of CLOCK_MONOTONIC.
 * @retval SYCL_ERROR_TIMEOUT  The image is still the caller's.
 * @since 0.1
 */
SYCL_API sycl_result sycl_image_release_for(sycl_image image, uint64_t timeout_ns);
/**
 * Get the number of references that the caller holds, for tests. Never blocks.
 *
 * @param[out] count_out  The number.
 * @since 0.1
 */
SYCL_API sycl_result sycl_image_get_reference_count(sycl_image image, uint32_t *count_out);

/**
 * Get the format of an image, as given at creation. Never blocks.
 *
 * @param[out] format_out  The format.
 * @since 0.1
 */
SYCL_API sycl_result sycl_image_get_format(sycl_image image, sycl_image_format *format_out);
/**
 * Get the range of an image, as given at creation. Never blocks.
 *
 * @param[out] range_out  The range.
 * @since 0.1
 */
SYCL_API sycl_result sycl_image_get_range(sycl_image image, sycl_range *range_out);
/**
 * Get the number of an image's layers. Never blocks.
 *
 * @param[out] layers_out  0 if the image is not layered.
 * @since 0.1
 */
SYCL_API sycl_result sycl_image_get_layers(sycl_image image, uint32_t *layers_out);
/**
 * Get the size of an image's tightly packed pixels, in bytes. Never blocks.
 *
 * @param[out] size_bytes_out  The size.
 * @since 0.1
 */
SYCL_API sycl_result sycl_image_get_size(sycl_image image, uint64_t *size_bytes_out);
/**
 * Set whether the last release may write back, as sycl_buffer_set_write_back. Never blocks.
 * @since 0.1
 */
SYCL_API sycl_result sycl_image_set_write_back(sycl_image image, uint32_t write_back);
/**
 * Set where the last release writes the pixels, as sycl_buffer_set_final_data. Never blocks.
 *
 * @param final_data  Room for all pixels, tightly packed. NULL: nowhere.
 * @since 0.1
 */
SYCL_API sycl_result sycl_image_set_final_data(sycl_image image, void *final_data);

/**
 * Require the image, and give it to the kernel as argument `index`, unsampled. That is
 * SYCL_IMAGE_READ_2D and the like of a portable kernel, image2d_t of OpenCL C, a surface object of
 * a CUDA kernel. It orders as a buffer does, always as the whole image. Never blocks. Otherwise as
 * sycl_handler_set_accessor.
 *
 * @param image  The image.
 * @param mode   SYCL_ACCESS_READ, SYCL_ACCESS_WRITE or SYCL_ACCESS_WRITE_NO_INIT: a kernel reads an
 *               image or writes it. A surface object needs one of the latter two, whatever the
 *               kernel does with it. SYCL_ACCESS_READ_WRITE on devices with
 *               SYCL_DEVICE_INFO_MAX_READ_WRITE_IMAGE_ARGS, for read_write images of OpenCL C.
 * @retval SYCL_ERROR_INVALID                Another mode.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The queue's device has no images, or not this format.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_set_image(sycl_handler handler, uint32_t index, sycl_image image,
					    sycl_access_mode mode);

/**
 * Require the image for reading, and give it with a sampler as one argument. That is
 * SYCL_IMAGE_SAMPLED_2D and the like of a portable kernel, a texture object of a CUDA kernel. Never
 * blocks. Otherwise as sycl_handler_set_image.
 *
 * @param sampler  Copied now.
 * @retval SYCL_ERROR_INVALID  No such sampler; linear filtering of a format that is not float4 in a
 *                             kernel.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_set_sampled_image(sycl_handler handler, uint32_t index,
						    sycl_image image, const sycl_sampler *sampler);

/**
 * Give the kernel a sampler alone as argument `index`: sampler_t of a kernel in OpenCL C, which
 * takes its image as another argument. Never blocks.
 *
 * @param index    The argument's number, from 0.
 * @param sampler  Copied now.
 * @retval SYCL_ERROR_INVALID          No such sampler.
 * @retval SYCL_ERROR_KERNEL_ARGUMENT  No kernel has that many arguments.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_set_sampler(sycl_handler handler, uint32_t index,
					      const sycl_sampler *sampler);

/**
 * Set the action: copy all pixels of an image to another one of the same format and range. The
 * group requires both. Never blocks.
 *
 * @param source       The image to read.
 * @param destination  The image to write.
 * @retval SYCL_ERROR_INVALID  The group has an action already; the same image; another format or
 *                             range.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_copy_image(sycl_handler handler, sycl_image source,
					     sycl_image destination);

/**
 * A part of images. Start from SYCL_IMAGE_REGION_INIT.
 *
 * Origins and sizes are in pixels: the column first, then the row, then the slice or the layer. So
 * they are in the reverse order of sycl_range. A dimension that an image has not is 0 in an origin
 * and 1 in the size. In a layered image of one dimension the second number is the layer.
 */
typedef struct sycl_image_region {
	uint32_t struct_bytes;          /**< sizeof(struct sycl_image_region) */
	uint32_t reserved;              /**< must be 0 */
	uint64_t source_origin[3];      /**< of a source that is an image, else ignored */
	uint64_t destination_origin[3]; /**< of a destination that is an image, else ignored */
	uint64_t size[3];               /**< none is 0 */
	/** Of the program's memory: bytes from row to row; 0: tightly packed. Otherwise it must be
	 * 0. */
	uint64_t row_pitch_bytes;
	/** bytes from slice to slice, or layer to layer; 0: rows times the row pitch */
	uint64_t slice_pitch_bytes;
} sycl_image_region;
#define SYCL_IMAGE_REGION_INIT                                                                     \
	{                                                                                          \
		sizeof(struct sycl_image_region), 0, {0, 0, 0}, {0, 0, 0}, {1, 1, 1}, 0, 0         \
	}

/**
 * Set the action: copy a part of an image to an image of the same format. They may be one image if
 * the parts do not overlap, and may have different dimensions. The group requires both, as wholes.
 * Never blocks.
 *
 * @param region  Copied now.
 * @retval SYCL_ERROR_INVALID  The group has an action already; no valid region; a part lies outside
 *                             of its image; another format; the parts overlap.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The queue's device has no such images.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_copy_image_region(sycl_handler handler, sycl_image source,
						    sycl_image destination,
						    const struct sycl_image_region *region);

/**
 * Set the action: copy memory of the program to a part of an image. The memory is read when the
 * group is submitted. Otherwise as sycl_handler_copy_image_region.
 *
 * @param source  The first pixel of the part.
 * @retval SYCL_ERROR_INVALID  Also: source is NULL; the pitches are too small.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_copy_image_from_host(sycl_handler handler, const void *source,
						       sycl_image destination,
						       const struct sycl_image_region *region);
/**
 * Set the action: copy a part of an image to memory of the program. The whole image is brought to
 * the host for that. A host task of the library writes the memory, when a thread of the program
 * waits or a helper thread is free, as for sycl_handler_copy_to_host. Otherwise as
 * sycl_handler_copy_image_region.
 *
 * @param destination  Room for the part; valid until the group is complete.
 * @retval SYCL_ERROR_INVALID  Also: destination is NULL; the pitches are too small.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_copy_image_to_host(sycl_handler handler, sycl_image source,
						     void *destination,
						     const struct sycl_image_region *region);
/**
 * Set the action: copy a part of an image to a buffer, tightly packed. Otherwise as
 * sycl_handler_copy_image_region.
 *
 * @param offset_bytes  Where the part begins in the buffer.
 * @retval SYCL_ERROR_INVALID  Also: bytes outside of the buffer; a pitch is not 0.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_copy_image_to_buffer(sycl_handler handler, sycl_image source,
						       sycl_buffer destination,
						       uint64_t offset_bytes,
						       const struct sycl_image_region *region);
/** Set the action: the other way. As sycl_handler_copy_image_to_buffer. @since 0.1 */
SYCL_API sycl_result sycl_handler_copy_buffer_to_image(sycl_handler handler, sycl_buffer source,
						       uint64_t offset_bytes,
						       sycl_image destination,
						       const struct sycl_image_region *region);
/**
 * Set the action: fill a part of an image with one pixel. The part is that of the destination. An
 * image of SYCL's eleven formats is filled by a host task of the library, because not every driver
 * fills images. Otherwise as sycl_handler_copy_image_region.
 *
 * @param pixel  16 bytes: r, g, b, a as float, int32_t or uint32_t, as kernels write this format.
 *               Copied now.
 * @retval SYCL_ERROR_INVALID  Also: pixel is NULL.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_fill_image(sycl_handler handler, sycl_image image,
					     const void *pixel,
					     const struct sycl_image_region *region);

/** A buffer as an image. Start from SYCL_IMAGE_VIEW_INIT. */
typedef struct sycl_image_view {
	uint32_t struct_bytes; /**< sizeof(struct sycl_image_view) */
	sycl_image_format format;
	uint64_t offset_bytes; /**< of the first pixel in the buffer */
	uint64_t width;        /**< pixels of a row */
	uint64_t rows;         /**< 0: one dimension */
	/** bytes from row to row; 0: tightly packed. Some devices want a multiple
	 * (SYCL_DEVICE_INFO_IMAGE_VIEW_PITCH_PIXELS). */
	uint64_t row_pitch_bytes;
} sycl_image_view;
#define SYCL_IMAGE_VIEW_INIT                                                                       \
	{                                                                                          \
		sizeof(struct sycl_image_view), SYCL_IMAGE_FORMAT_GENERAL, 0, 1, 0, 0              \
	}

/**
 * Require a buffer, and give it to the kernel as an image: image1d_buffer_t of OpenCL C, or
 * image2d_t with rows. The pixels are the buffer's bytes, so nothing is copied. It orders as
 * sycl_handler_set_accessor does. Never blocks.
 *
 * @param mode  SYCL_ACCESS_READ, SYCL_ACCESS_WRITE or SYCL_ACCESS_READ_WRITE.
 * @param view  Copied now.
 * @retval SYCL_ERROR_INVALID  Another mode; no valid view; it lies outside of the buffer.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The queue's device does not list the format for such
 *                                           views.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_set_image_view(sycl_handler handler, uint32_t index,
						 sycl_buffer buffer, sycl_access_mode mode,
						 const struct sycl_image_view *view);

/**
 * Access an image from the host, sampled or not. Blocks, and orders, as sycl_host_accessor_create.
 *
 * @param[out] accessor_out  The caller releases it with sycl_host_image_release. It keeps the image
 *                           alive.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_image_create(sycl_image image, sycl_access_mode mode,
					    sycl_host_image *accessor_out);
/**
 * Access an image from the host, with a limit on the wait. Otherwise as sycl_host_image_create.
 *
 * @param timeout_ns  Longest wait, ns of CLOCK_MONOTONIC. 0: do not wait for a device.
 * @retval SYCL_ERROR_TIMEOUT  Not in time. No accessor exists, and no group waits for it.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_image_create_for(sycl_image image, sycl_access_mode mode,
						uint64_t timeout_ns, sycl_host_image *accessor_out);
/** Take one more reference. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_host_image_retain(sycl_host_image accessor);
/**
 * Release one reference. After the last one, groups that wait for it may run. Never blocks.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_image_release(sycl_host_image accessor);
/**
 * Get the number of references that the caller holds, for tests. Never blocks.
 *
 * @param[out] count_out  The number.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_image_get_reference_count(sycl_host_image accessor,
							 uint32_t *count_out);
/**
 * Get all pixels, tightly packed in the image's format. Write there only with a mode that writes.
 * Never blocks.
 *
 * @param[out] pointer_out  Valid until the accessor's last release.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_image_get_pointer(sycl_host_image accessor, void **pointer_out);

/**
 * Read one pixel as a kernel would. Never blocks.
 *
 * @param index           As many numbers as the image has dimensions: row, column for two of them.
 * @param[out] value_out  r, g, b, a.
 * @retval SYCL_ERROR_INVALID   Outside of the image; a format of another type.
 * @retval SYCL_ERROR_ACCESSOR  The mode does not allow it.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_image_read_float(sycl_host_image accessor, const uint64_t *index,
						float value_out[4]);
/**
 * Read one pixel of a format that is int4. Otherwise as sycl_host_image_read_float. Never blocks.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_image_read_int(sycl_host_image accessor, const uint64_t *index,
					      int32_t value_out[4]);
/**
 * Read one pixel of a format that is uint4. Otherwise as sycl_host_image_read_float. Never blocks.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_image_read_uint(sycl_host_image accessor, const uint64_t *index,
					       uint32_t value_out[4]);
/**
 * Write one pixel as a kernel would. Values that the format cannot hold are limited and rounded.
 * Errors as sycl_host_image_read_float. Never blocks.
 *
 * @param index  As many numbers as the image has dimensions: row, column for two of them.
 * @param value  r, g, b, a.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_image_write_float(sycl_host_image accessor, const uint64_t *index,
						 const float value[4]);
/**
 * Write one pixel of a format that is int4. Otherwise as sycl_host_image_write_float. Never blocks.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_image_write_int(sycl_host_image accessor, const uint64_t *index,
					       const int32_t value[4]);
/**
 * Write one pixel of a format that is uint4. Otherwise as sycl_host_image_write_float. Never
 * blocks.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_image_write_uint(sycl_host_image accessor, const uint64_t *index,
						const uint32_t value[4]);

/**
 * Sample a coordinate as a kernel would. The result is computed here, in float. Never blocks.
 *
 * @param sampler         The sampler.
 * @param coordinate      As many numbers as the image has dimensions, in their order.
 * @param[out] value_out  r, g, b, a.
 * @retval SYCL_ERROR_INVALID   No such sampler; linear filtering of a format that is not float4;
 *                              another type.
 * @retval SYCL_ERROR_ACCESSOR  The mode does not allow it.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_image_sample_float(sycl_host_image accessor,
						  const sycl_sampler *sampler,
						  const float *coordinate, float value_out[4]);
/**
 * Sample a format that is int4, nearest only. Otherwise as sycl_host_image_sample_float. Never
 * blocks.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_image_sample_int(sycl_host_image accessor,
						const sycl_sampler *sampler,
						const float *coordinate, int32_t value_out[4]);
/**
 * Sample a format that is uint4, nearest only. Otherwise as sycl_host_image_sample_float. Never
 * blocks.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_image_sample_uint(sycl_host_image accessor,
						 const sycl_sampler *sampler,
						 const float *coordinate, uint32_t value_out[4]);

SYCL_END_DECLS
#endif
