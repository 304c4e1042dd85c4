package policy

// UsesProgress tells whether reported progress matters to the policy that a specification names, so that a simulator
// has to report it, or returns the error that New would return. It matters to those that decide by it, and to those
// that preempt: stages that can resume go on from there.
func UsesProgress(spec string) (bool, error) {
	e, args, err := parse(spec)
	if err != nil {
		return false, err
	}
	return e.Progress || e.progressIf != nil && e.progressIf(args), nil
}
