package launch

import "sbx/wrap"

// Try carries a Plan out up to the point where the command would start, and
// ends it there. The error is the *StepError of the step that failed.
func Try(p *wrap.Plan) error {
	pr, err := Start(p, Options{Caller: Inherited(), KeepAll: !p.Filter.On})
	if err != nil {
		return err
	}
	if err := pr.Ready(); err != nil {
		return err
	}
	pr.Kill()
	return nil
}
