/* Which library this is, at run time. */
#include "syclclient.h"

SYCL_API const char *sycl_get_version(void)
{
	return SYCLD_VERSION;
}
