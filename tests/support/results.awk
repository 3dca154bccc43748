# Reads TAP files of Criterion and JUnit files of ctest; prints "pass NAME", "fail NAME" or "skip NAME" for each test.
# A Criterion program has a TAP file with its single tests, so its line in the JUnit file says nothing more.
FNR == 1 {
	tap = FILENAME ~ /\.tap$/
}
tap && /^(not )?ok - / {
	result = /^not/ ? "fail" : (/# SKIP/ ? "skip" : "pass")
	sub(/^(not )?ok - /, "")
	sub(/[ \t].*/, "")
	print result, $0
}
!tap && /<testcase / {
	name = $0
	sub(/.* name="/, "", name)
	sub(/".*/, "", name)
	result = /status="run"/ ? "pass" : (/status="fail"/ ? "fail" : "skip")
	print result, name
}
