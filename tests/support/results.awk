# Reads TAP files of Criterion and JUnit files of ctest; prints "pass NAME", "fail NAME" or "skip NAME" for each test. A Criterion program
# has a TAP file with its single tests, so its line in the JUnit file adds nothing. With -v suites=1 the name of such a test begins with its
# program's, which tells its device: "pass client_model_cpu::parts::C13_...".
FNR == 1 {
	tap = FILENAME ~ /\.tap$/
	suite = FILENAME
	sub(/.*\//, "", suite)
	sub(/\.tap$/, "::", suite)
}
# Left out by --filter: the program runs it in another test of ctest.
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
# The program reported that it was skipped, or it could not be started.
!tap && unknown && /<skipped / {
	print /SKIP_RETURN_CODE|SKIP_REGULAR_EXPRESSION_MATCHED/ ? "skip" : "fail", name
	unknown = 0
}
