#!/bin/bash
# dpctl.sh BUILD OUT FOLDER [PACKAGE [PART]]: the tests of a package of SYCL for Python, both ways: dpctl's own without PACKAGE. FOLDER is a
# virtual environment with the package, pytest, and Intel's OpenCL runtime for processors (README.md), which is the one plain driver here.
# Programs of SYCL reach a driver through DPC++'s runtime and the loader that these packages bring. PART: a regular expression of the tests'
# names; without it all.
# shellcheck source=tests/judges/judge.sh
. "$(dirname "${BASH_SOURCE[0]}")/judge.sh"
# shellcheck source=tests/judges/pytest.sh
. "$judges/pytest.sh"
folder=$(cd "${3:?BUILD OUT FOLDER}" && pwd) || exit 1
package=${4:-dpctl} part=${5-}

python=$folder/bin/python3
[ -e "$folder/lib/libintelocl.so" ] || judge_skip "$folder has no lib/libintelocl.so"
tests=$(cd / && "$python" -c "import os, $package; print(os.path.dirname($package.__file__))" 2>/dev/null)/tests
[ -d "$tests" ] || judge_skip "$folder has no $package with tests"

judge_vendors=$2/$package.vendors
mkdir -p "$judge_vendors" && echo "$folder/lib/libintelocl.so" >"$judge_vendors/intel.icd" || exit 1
judge_begin "$package" "$1" "$2"

export PYTHONPATH=$judges PYTHONDONTWRITEBYTECODE=1 JUDGE_LIMIT=$limit JUDGE_PART=$part SYCL_CACHE_PERSISTENT=0
pytest_both "$python" "$tests"
judge_end
