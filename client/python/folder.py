# SPDX-License-Identifier: Apache-2.0
"""folder.py PREFIX: prints the folder, below the prefix, in which this Python looks for packages. Debian has folders of its own."""

import os.path
import sys
import sysconfig

prefix = os.path.normpath(sys.argv[1])
scheme, base = "posix_prefix", prefix
if "deb_system" in sysconfig.get_scheme_names() and prefix in ("/usr", "/usr/local"):
    scheme, base = "deb_system" if prefix == "/usr" else "posix_local", "/usr"
print(os.path.relpath(sysconfig.get_path("purelib", scheme, {"base": base}), prefix))
