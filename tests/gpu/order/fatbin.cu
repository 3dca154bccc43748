/* For launches.c: kernels that nvcc compiles for several devices into one file. */
extern "C" __global__ void number(unsigned *out, unsigned value)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	out[i] = i * i + value;
}

/* Returns which of the file's images this is. */
extern "C" __global__ void made_for(unsigned *out, unsigned value)
{
#ifdef __CUDA_ARCH__
	*out = __CUDA_ARCH__ / 10 + value;
#endif
}
