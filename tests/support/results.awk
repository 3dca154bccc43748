# Reads TAP files of Criterion and JUnit files of ctest; prints "pass NAME", "fail NAME" or "skip NAME" for each test.
# A Criterion program has a TAP file with its single tests, so its line in the JUnit file says nothing more. With -v suites=1 such a test's
# name begins with its program's, which says on what it ran: "pass client_model_cpu::parts::C13_...".
FNR == 1 {
	tap = FILENAME ~ /\.tap$/
	suite = FILENAME
	sub(/.*\//, "", suite)
	sub(/\.tap$/, "::", suite)
}
# Left out by --filter: that program has run it elsewhere.
tap && /# SKIP test was skipped/ {
	next
}
tap && /^(not )?ok - / {
	result = /^not/ ? "fail" : (/# SKIP/ ? "skip" : "pass")
	sub(/^(not )?ok - /, "")
	sub(/[ \t].*/, "")
	print result, (suites ? suite : "") $0
}
!tap && /<testcase / {
	name = $0
	sub(/.* name="/, "", name)
	sub(/".*/, "", name)
	unknown = /status="notrun"/
	if (!unknown)
		print /status="run"/ ? "pass" : (/status="disabled"/ ? "skip" : "fail"), name
}
# Skipped by its own word, or could not even be started.
!tap && unknown && /<skipped / {
	print /SKIP_RETURN_CODE|SKIP_REGULAR_EXPRESSION_MATCHED/ ? "skip" : "fail", name
	unknown = 0
}
