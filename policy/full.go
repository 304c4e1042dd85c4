package policy

import "strings"

// Full returns the specification with the values of all parameters, in the order in which the policy declares them:
// what a result stands on even if a default changes. A/B is a policy for each class of slots.
func Full(spec string) (string, error) {
	var all []string
	for part := range strings.SplitSeq(spec, "/") {
		e, args, err := Parse(part)
		if err != nil {
			return "", err
		}
		var set []string
		for i := range e.Params {
			if value := args.Get(e.Params[i].Name); value != "" { // some have no value unless it is given
				set = append(set, e.Params[i].Name+"="+value)
			}
		}
		text := e.Name
		if len(set) > 0 {
			text += ":" + strings.Join(set, ",")
		}
		all = append(all, text)
	}
	return strings.Join(all, "/"), nil
}
