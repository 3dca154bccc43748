/* The page, which the build makes of the files in page/. */
#ifndef SYCLD_EXPORTER_PAGE_H
#define SYCLD_EXPORTER_PAGE_H

#include <stddef.h>

extern const unsigned char page_html[];
extern const size_t page_html_bytes;
/* The value of Content-Security-Policy: it allows only the page's own style and program. */
extern const char page_policy[];

#endif
