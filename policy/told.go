package policy

import "strings"

// byEntry says of policies without a parameter tnew what they take durations from. The others need none.
var byEntry = map[string]string{
	"late":    "all", // rates of winners and of running attempts
	"hadoop2": "finished", "spark": "finished", "flink": "finished",
	"auto": "known", // until a few tasks of a stage have finished
	"srew": "known", "sew": "known", "sca": "known", "ese": "known", "srpt": "known",
	"chronos-clone": "known", "chronos-restart": "known", "chronos-resume": "known", "laxity": "known", "shed": "known",
	"geoclone": "known", "flutter": "known",
}

// Told says what the policy of a specification takes the durations of attempts from, as comparisons have to state:
// "finished", the attempts of the stage that have won; "all", those and the running ones; "known", the mean and
// standard deviation that the workload states, where it does, or a law that the specification gives; or "" if it needs
// none. See kit.TNew. Of an order of jobs by what is left, order=srpt, it says nothing: that always goes by what is
// known. Classes of slots with different policies are joined by "/". The error is the one that New would return.
func Told(spec string) (string, error) {
	var all []string
	for _, part := range strings.Split(spec, "/") {
		e, args, err := Parse(part)
		if err != nil {
			return "", err
		}
		told := byEntry[e.Name]
		switch {
		case e.Param("tnew") != nil:
			told = args.Choice("tnew")
		case e.Param("under") != nil && args.Choice("under") != "none":
			under, err := Told(args.Choice("under"))
			if err != nil {
				return "", err
			}
			told = under
		}
		if len(all) == 0 || all[len(all)-1] != told {
			all = append(all, told)
		}
	}
	return strings.Join(all, "/"), nil
}
