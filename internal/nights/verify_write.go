package nights

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/tailcut/tailcut/internal/show"
)

// WriteJSON writes the comparison for programs.
func (v *Verified) WriteJSON(out io.Writer) error { return json.NewEncoder(out).Encode(v) }

// WriteCSV writes a row for each stage.
func (v *Verified) WriteCSV(out io.Writer) error { return show.WriteRecords(out, v.Stages) }

// WriteText writes the comparison for people.
func (v *Verified) WriteText(out io.Writer) error {
	of := ""
	if v.Application != "" {
		of = " of " + v.Application
	}
	fmt.Fprintf(out, "%s%s took %s at the median with %s; %s after took %s with %s.\n", show.Count(len(v.Before), "run"), of, show.Seconds(v.Seconds),
		v.RuleBefore, show.Count(len(v.After), "run"), show.Seconds(v.Then), v.RuleAfter)
	if b := v.Bytes; b != nil && (*b < 0.99 || *b > 1.01) {
		fmt.Fprintf(out, "Their stages read %.2f times as much. What that takes is left out of the saving.\n", *b)
	}
	fmt.Fprintf(out, "Predicted: %s saved. Realised: %s. %s\n\n", v.Predicted.words(), v.Realised.words(), v.sentence())
	t := show.NewTable("stage", "before", "after", "predicted", "realised", "outcome")
	t.AlignRight(2, 3)
	for i := range v.Stages {
		s := &v.Stages[i]
		t.Row(show.Trim(cmp.Or(strings.TrimSpace(s.Stage+" "+s.Name), "all tasks"), 32), show.Seconds(s.Seconds), show.Seconds(s.Then), s.Predicted.words(), s.Realised.words(), s.Outcome)
	}
	_, err := fmt.Fprintf(out, "%s\n", t)
	return err
}

// words are a saving with its interval.
func (s *Saving) words() string {
	if s.Low == nil {
		return show.Percent(s.Ratio)
	}
	return fmt.Sprintf("%s (%s to %s)", show.Percent(s.Ratio), show.Percent(*s.Low), show.Percent(*s.High))
}

// sentence says what the outcome means.
func (c *Comparison) sentence() string {
	switch c.Outcome {
	case AsPredicted:
		return "The prediction is within the 95 % interval of what came."
	case Less:
		return "Less came than was predicted."
	case More:
		return "More came than was predicted."
	}
	return "Undecided: at least three runs in all show how much is chance."
}
