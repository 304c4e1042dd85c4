package grammar

// FieldError says which part of a request has a value that it cannot have.
type FieldError struct {
	Field   string // as the flag of the tool is called: policy, machines, launch-delay
	Problem error  // what was expected
}

// Wrong returns a FieldError.
func Wrong(field string, problem error) error { return &FieldError{field, problem} }

// Error names field and problem.
func (e *FieldError) Error() string { return e.Field + ": " + e.Problem.Error() }

// Unwrap returns the problem.
func (e *FieldError) Unwrap() error { return e.Problem }
