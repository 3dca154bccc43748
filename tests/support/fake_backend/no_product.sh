#!/bin/sh
# no_product.sh TEST-ENGINE PRODUCT... checks that the test engine has the fake backend's symbols and that no product has one.
set -u
fakes() {
	nm "$1" | grep -c fake_
}
test_engine=$1
shift
if [ "$(fakes "$test_engine")" -eq 0 ]; then
	printf '%s: no symbol of the fake backend: so this test cannot find one in a product\n' "$test_engine"
	exit 1
fi
status=0
for product in "$@"; do
	count=$(fakes "$product")
	if [ "$count" -ne 0 ]; then
		printf '%s: %s symbols of the fake backend\n' "$product" "$count"
		status=1
	fi
done
exit "$status"
