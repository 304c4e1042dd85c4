# What became of predictions, as rows of a table. For scripts to source.

heading() { printf '%-8s %4s  %-38s %26s %28s  outcome\n' kind seed recommended predicted realised; }

# nothing KIND SEED: the row of what had no recommendation.
nothing() { printf '%-8s %4d  %-38s\n' "$1" "$2" none; }

# outcome KIND SEED RULE: the row of a recommendation whose JSON from plan verify comes on standard input.
outcome() {
	python3 -c '
import json, sys
v = json.load(sys.stdin)
words = lambda s: "%.0f %% (%.0f to %.0f)" % tuple(100 * s[k] for k in ("ratio", "low_ratio", "high_ratio"))
print("%-8s %4d  %-38s %26s %28s  %s" % (sys.argv[1], int(sys.argv[2]), sys.argv[3], words(v["predicted"]), words(v["realised"]), v["outcome"]))' "$@"
}

# count FILE KIND...: how often something was recommended, and came true, by kind.
count() {
	printf '\n%-8s %6s %12s %13s\n' kind seeds recommended as-predicted
	local kind
	for kind in "${@:2}"; do
		awk -v k="$kind" '$1 == k { n++; if ($3 != "none") r++; if ($NF == "as-predicted") a++ } END { printf "%-8s %6d %12d %13d\n", k, n, r, a }' "$1"
	done
}
