/* Images of the portable prelude, OpenCL C side. Coordinates come in SYCL's order: the last one is OpenCL's x. */
#line 3 "prelude_images"

#if defined(cl_khr_3d_image_writes)
#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable
#endif

#define SYCL_IMAGE_READ_1D(name)  __read_only image1d_t name
#define SYCL_IMAGE_READ_2D(name)  __read_only image2d_t name
#define SYCL_IMAGE_READ_3D(name)  __read_only image3d_t name
#define SYCL_IMAGE_WRITE_1D(name) __write_only image1d_t name
#define SYCL_IMAGE_WRITE_2D(name) __write_only image2d_t name
#define SYCL_IMAGE_WRITE_3D(name) __write_only image3d_t name

/* Two arguments of OpenCL; the host treats them as one by the second one's name. */
#define SYCL_IMAGE_SAMPLED_1D(name) __read_only image1d_t name, sampler_t sycl_sampler_of_##name
#define SYCL_IMAGE_SAMPLED_2D(name) __read_only image2d_t name, sampler_t sycl_sampler_of_##name
#define SYCL_IMAGE_SAMPLED_3D(name) __read_only image3d_t name, sampler_t sycl_sampler_of_##name
#define SYCL_SAMPLED(name)          name, sycl_sampler_of_##name

/*
 * Layers of one dimension or two. PoCL before 4.0 takes a layer's number for normalised where the
 * sampler's coordinates are. The host passes the factor for it as a third argument of a sampled
 * image, which is recognised by its name.
 */
#define SYCL_IMAGE_READ_1D_LAYERED(name)  __read_only image1d_array_t name
#define SYCL_IMAGE_READ_2D_LAYERED(name)  __read_only image2d_array_t name
#define SYCL_IMAGE_WRITE_1D_LAYERED(name) __write_only image1d_array_t name
#define SYCL_IMAGE_WRITE_2D_LAYERED(name) __write_only image2d_array_t name
#define SYCL_IMAGE_SAMPLED_1D_LAYERED(name) \
	__read_only image1d_array_t name, sampler_t sycl_sampler_of_##name, float sycl_layer_step_of_##name
#define SYCL_IMAGE_SAMPLED_2D_LAYERED(name) \
	__read_only image2d_array_t name, sampler_t sycl_sampler_of_##name, float sycl_layer_step_of_##name
#define SYCL_SAMPLED_LAYERED(name) name, sycl_sampler_of_##name, sycl_layer_step_of_##name

#define SYCL_AT_2D_(i, j)    ((int2)((int)(j), (int)(i)))
#define SYCL_AT_3D_(i, j, k) ((int4)((int)(k), (int)(j), (int)(i), 0))
#define SYCL_AT_1D_LAYERED_(layer, i)    ((int2)((int)(i), (int)(layer)))
#define SYCL_AT_2D_LAYERED_(layer, i, j) ((int4)((int)(j), (int)(i), (int)(layer), 0))
#define SYCL_TO_2D_(i, j)    ((float2)((float)(j), (float)(i)))
#define SYCL_TO_3D_(i, j, k) ((float4)((float)(k), (float)(j), (float)(i), 0.0f))

static float sycl_layer_(long layer, size_t layers, float step)
{
	long last = (long)layers - 1;
	return (float)(layer < 0 ? 0 : layer > last ? last : layer) * step;
}
#define SYCL_LAYER_(name, layer) sycl_layer_((long)(layer), get_image_array_size(name), sycl_layer_step_of_##name)
#define SYCL_TO_1D_LAYERED_(name, layer, i) ((float2)((float)(i), SYCL_LAYER_(name, layer)))
#define SYCL_TO_2D_LAYERED_(name, layer, i, j) ((float4)((float)(j), (float)(i), SYCL_LAYER_(name, layer), 0.0f))

#define sycl_image_read_float_1d(image, i)       read_imagef(image, (int)(i))
#define sycl_image_read_float_2d(image, i, j)    read_imagef(image, SYCL_AT_2D_(i, j))
#define sycl_image_read_float_3d(image, i, j, k) read_imagef(image, SYCL_AT_3D_(i, j, k))
#define sycl_image_read_int_1d(image, i)         read_imagei(image, (int)(i))
#define sycl_image_read_int_2d(image, i, j)      read_imagei(image, SYCL_AT_2D_(i, j))
#define sycl_image_read_int_3d(image, i, j, k)   read_imagei(image, SYCL_AT_3D_(i, j, k))
#define sycl_image_read_uint_1d(image, i)        read_imageui(image, (int)(i))
#define sycl_image_read_uint_2d(image, i, j)     read_imageui(image, SYCL_AT_2D_(i, j))
#define sycl_image_read_uint_3d(image, i, j, k)  read_imageui(image, SYCL_AT_3D_(i, j, k))

/*
 * Pixels halfway between two values become the even one, as S1's table has it. Drivers may round
 * normalised ones otherwise, and cut off those in half precision.
 */
static float4 sycl_rounded_(int type, float4 value)
{
	float most = type == CLK_UNORM_INT8 ? 255.0f : type == CLK_UNORM_INT16 ? 65535.0f : 0.0f;
	if (type == CLK_HALF_FLOAT)
		return (float4)(sycl_half_to_float(sycl_float_to_half(value.x)),
				sycl_half_to_float(sycl_float_to_half(value.y)),
				sycl_half_to_float(sycl_float_to_half(value.z)),
				sycl_half_to_float(sycl_float_to_half(value.w)));
	return most == 0.0f ? value : rint(fmin(fmax(value, 0.0f), 1.0f) * most) / most;
}
#define SYCL_ROUNDED_(image, value) sycl_rounded_(get_image_channel_data_type(image), value)

#define sycl_image_write_float_1d(image, i, value)    write_imagef(image, (int)(i), SYCL_ROUNDED_(image, value))
#define sycl_image_write_float_2d(image, i, j, value) write_imagef(image, SYCL_AT_2D_(i, j), SYCL_ROUNDED_(image, value))
#define sycl_image_write_float_3d(image, i, j, k, value) \
	write_imagef(image, SYCL_AT_3D_(i, j, k), SYCL_ROUNDED_(image, value))
#define sycl_image_write_int_1d(image, i, value)         write_imagei(image, (int)(i), value)
#define sycl_image_write_int_2d(image, i, j, value)      write_imagei(image, SYCL_AT_2D_(i, j), value)
#define sycl_image_write_int_3d(image, i, j, k, value)   write_imagei(image, SYCL_AT_3D_(i, j, k), value)
#define sycl_image_write_uint_1d(image, i, value)        write_imageui(image, (int)(i), value)
#define sycl_image_write_uint_2d(image, i, j, value)     write_imageui(image, SYCL_AT_2D_(i, j), value)
#define sycl_image_write_uint_3d(image, i, j, k, value)  write_imageui(image, SYCL_AT_3D_(i, j, k), value)

#define sycl_image_sample_float_1d(name, i)       read_imagef(name, sycl_sampler_of_##name, (float)(i))
#define sycl_image_sample_float_2d(name, i, j)    read_imagef(name, sycl_sampler_of_##name, SYCL_TO_2D_(i, j))
#define sycl_image_sample_float_3d(name, i, j, k) read_imagef(name, sycl_sampler_of_##name, SYCL_TO_3D_(i, j, k))
#define sycl_image_sample_int_1d(name, i)         read_imagei(name, sycl_sampler_of_##name, (float)(i))
#define sycl_image_sample_int_2d(name, i, j)      read_imagei(name, sycl_sampler_of_##name, SYCL_TO_2D_(i, j))
#define sycl_image_sample_int_3d(name, i, j, k)   read_imagei(name, sycl_sampler_of_##name, SYCL_TO_3D_(i, j, k))
#define sycl_image_sample_uint_1d(name, i)        read_imageui(name, sycl_sampler_of_##name, (float)(i))
#define sycl_image_sample_uint_2d(name, i, j)     read_imageui(name, sycl_sampler_of_##name, SYCL_TO_2D_(i, j))
#define sycl_image_sample_uint_3d(name, i, j, k)  read_imageui(name, sycl_sampler_of_##name, SYCL_TO_3D_(i, j, k))

#define sycl_image_range_1d(image, d) ((uint)get_image_width(image))
#define sycl_image_range_2d(image, d) ((uint)((d) == 0 ? get_image_height(image) : get_image_width(image)))
#define sycl_image_range_3d(image, d) \
	((uint)((d) == 0   ? get_image_depth(image)  \
		: (d) == 1 ? get_image_height(image) \
			   : get_image_width(image)))

#define sycl_image_read_float_1d_layered(image, layer, i) read_imagef(image, SYCL_AT_1D_LAYERED_(layer, i))
#define sycl_image_read_float_2d_layered(image, layer, i, j) read_imagef(image, SYCL_AT_2D_LAYERED_(layer, i, j))
#define sycl_image_read_int_1d_layered(image, layer, i) read_imagei(image, SYCL_AT_1D_LAYERED_(layer, i))
#define sycl_image_read_int_2d_layered(image, layer, i, j) read_imagei(image, SYCL_AT_2D_LAYERED_(layer, i, j))
#define sycl_image_read_uint_1d_layered(image, layer, i) read_imageui(image, SYCL_AT_1D_LAYERED_(layer, i))
#define sycl_image_read_uint_2d_layered(image, layer, i, j) read_imageui(image, SYCL_AT_2D_LAYERED_(layer, i, j))

#define sycl_image_write_float_1d_layered(image, layer, i, value) \
	write_imagef(image, SYCL_AT_1D_LAYERED_(layer, i), SYCL_ROUNDED_(image, value))
#define sycl_image_write_float_2d_layered(image, layer, i, j, value) \
	write_imagef(image, SYCL_AT_2D_LAYERED_(layer, i, j), SYCL_ROUNDED_(image, value))
#define sycl_image_write_int_1d_layered(image, layer, i, value) \
	write_imagei(image, SYCL_AT_1D_LAYERED_(layer, i), value)
#define sycl_image_write_int_2d_layered(image, layer, i, j, value) \
	write_imagei(image, SYCL_AT_2D_LAYERED_(layer, i, j), value)
#define sycl_image_write_uint_1d_layered(image, layer, i, value) \
	write_imageui(image, SYCL_AT_1D_LAYERED_(layer, i), value)
#define sycl_image_write_uint_2d_layered(image, layer, i, j, value) \
	write_imageui(image, SYCL_AT_2D_LAYERED_(layer, i, j), value)

#define sycl_image_sample_float_1d_layered(name, layer, i) \
	read_imagef(name, sycl_sampler_of_##name, SYCL_TO_1D_LAYERED_(name, layer, i))
#define sycl_image_sample_float_2d_layered(name, layer, i, j) \
	read_imagef(name, sycl_sampler_of_##name, SYCL_TO_2D_LAYERED_(name, layer, i, j))
#define sycl_image_sample_int_1d_layered(name, layer, i) \
	read_imagei(name, sycl_sampler_of_##name, SYCL_TO_1D_LAYERED_(name, layer, i))
#define sycl_image_sample_int_2d_layered(name, layer, i, j) \
	read_imagei(name, sycl_sampler_of_##name, SYCL_TO_2D_LAYERED_(name, layer, i, j))
#define sycl_image_sample_uint_1d_layered(name, layer, i) \
	read_imageui(name, sycl_sampler_of_##name, SYCL_TO_1D_LAYERED_(name, layer, i))
#define sycl_image_sample_uint_2d_layered(name, layer, i, j) \
	read_imageui(name, sycl_sampler_of_##name, SYCL_TO_2D_LAYERED_(name, layer, i, j))

#define sycl_image_range_1d_layered(image, d) ((uint)((d) == 0 ? get_image_array_size(image) : (size_t)get_image_width(image)))
#define sycl_image_range_2d_layered(image, d)                    \
	((uint)((d) == 0   ? get_image_array_size(image)         \
		: (d) == 1 ? (size_t)get_image_height(image)     \
			   : (size_t)get_image_width(image)))
