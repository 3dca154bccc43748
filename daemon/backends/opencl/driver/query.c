#include "opencl/driver/query.h"

#include <stdlib.h>
#include <string.h>

/* Drivers pad some texts with blanks. */
static char *trim_text(char *text)
{
	size_t start = strspn(text, " \t\n"), length = strlen(text + start);

	while (length > 0 && strchr(" \t\n", text[start + length - 1]))
		length--;
	memmove(text, text + start, length);
	text[length] = '\0';
	return text;
}

char *opencl_platform_text(const struct opencl_library *cl, cl_platform_id platform,
			   cl_platform_info parameter)
{
	size_t size = 0;

	if (cl->GetPlatformInfo(platform, parameter, 0, NULL, &size) != CL_SUCCESS)
		size = 0;
	char *text = calloc(1, size + 1);
	if (text && size > 0 &&
	    cl->GetPlatformInfo(platform, parameter, size, text, NULL) != CL_SUCCESS)
		text[0] = '\0';
	return text ? trim_text(text) : NULL;
}

char *opencl_device_text(const struct opencl_library *cl, cl_device_id device,
			 cl_device_info parameter)
{
	size_t size = 0;

	if (cl->GetDeviceInfo(device, parameter, 0, NULL, &size) != CL_SUCCESS)
		size = 0;
	char *text = calloc(1, size + 1);
	if (text && size > 0 &&
	    cl->GetDeviceInfo(device, parameter, size, text, NULL) != CL_SUCCESS)
		text[0] = '\0';
	return text ? trim_text(text) : NULL;
}

uint32_t opencl_device_uint(const struct opencl_library *cl, cl_device_id device,
			    cl_device_info parameter)
{
	cl_uint value = 0;
	return cl->GetDeviceInfo(device, parameter, sizeof(value), &value, NULL) == CL_SUCCESS
		       ? value
		       : 0;
}

uint64_t opencl_device_ulong(const struct opencl_library *cl, cl_device_id device,
			     cl_device_info parameter)
{
	cl_ulong value = 0;
	return cl->GetDeviceInfo(device, parameter, sizeof(value), &value, NULL) == CL_SUCCESS
		       ? value
		       : 0;
}

size_t opencl_device_size(const struct opencl_library *cl, cl_device_id device,
			  cl_device_info parameter)
{
	size_t value = 0;
	return cl->GetDeviceInfo(device, parameter, sizeof(value), &value, NULL) == CL_SUCCESS
		       ? value
		       : 0;
}
