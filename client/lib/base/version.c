/* The library's version, at run time. */
#include "syclclient.h"

SYCL_API const char *sycl_get_version(void)
{
	return SYCLD_VERSION;
}
