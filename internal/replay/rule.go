package replay

import (
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/internal/history"
)

// ruleOf returns the policy that is what a log's system did. Hadoop's logs do not say whether it was to clone; whether
// it did tells.
func ruleOf(c *history.Course, cloned bool) string {
	switch {
	case c.System == "spark" && c.Settings["spark.speculation"] == "true":
		return sparkRule(c)
	case c.System == "hadoop" && cloned:
		return "hadoop2"
	case c.System == "tailcut" && c.Settings["policy"] != "":
		spec, _, _ := strings.Cut(c.Settings["policy"], "/")
		return spec
	}
	return Without
}

// sparkRule is Spark's speculation with the settings of a log, and the defaults of its version for what it leaves out.
func sparkRule(c *history.Course) string {
	quantile, multiplier := "0.75", "1.5"
	major, _, _ := strings.Cut(c.Version, ".")
	if n, err := strconv.Atoi(major); err == nil && n >= 4 {
		quantile, multiplier = "0.9", "3"
	}
	number := func(name, otherwise string) string {
		if _, err := strconv.ParseFloat(c.Settings[name], 64); err == nil {
			return c.Settings[name]
		}
		return otherwise
	}
	spec := "spark:quantile=" + number("spark.speculation.quantile", quantile) + ",multiplier=" + number("spark.speculation.multiplier", multiplier)
	for parameter, name := range map[string]string{"interval": "spark.speculation.interval", "min_runtime": "spark.speculation.minTaskRuntime"} {
		if span := sparkSpan(c.Settings[name]); span != "" {
			spec += "," + parameter + "=" + span
		}
	}
	return spec
}

// sparkSpan is a time of Spark's, whose bare numbers are milliseconds, as a policy takes it; "" if it is none.
func sparkSpan(text string) string {
	if _, err := strconv.ParseUint(text, 10, 63); err == nil {
		return text + "ms"
	}
	for _, unit := range []string{"ms", "s", "m", "min", "h"} {
		if n, found := strings.CutSuffix(text, unit); found {
			if _, err := strconv.ParseUint(n, 10, 63); err == nil {
				return n + strings.TrimSuffix(unit, "in")
			}
		}
	}
	return ""
}
