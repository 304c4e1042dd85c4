package diagnosis

import (
	"fmt"
	"io"
	"strings"

	"github.com/tailcut/tailcut/internal/show"
)

// places are where the lines of a system go.
var places = map[string]string{
	Spark:      "spark-defaults.conf, or each behind --conf of spark-submit",
	Flink:      "config.yaml, or each as -Dname=value of flink run",
	Hadoop:     "mapred-site.xml, or each as -Dname=value of hadoop jar",
	Tailcut:    "options of tailcut run",
	Kubernetes: "annotations of the Job",
}

// comment is a line among a system's settings that says nothing to it.
func comment(system, text string) string {
	if system == Hadoop {
		return "<!-- " + text + " -->"
	}
	return "# " + text
}

// Emit writes the best settings as lines to paste, below a comment that says what they give.
func (d *Diagnosis) Emit(out io.Writer, system string) error {
	if d.Replay == nil {
		_, err := fmt.Fprintln(out, comment(system, d.headline()))
		return err
	}
	lines := []string{"no setting of clones would make " + d.Log + " faster"}
	if d.oneHost {
		lines[0] += ": Spark runs no clone on the host of the original, and there was one host only"
	}
	if d.Settings != nil {
		lines[0] = fmt.Sprintf("%s: %s instead of %s (%s to %s)", places[system], show.Seconds(d.Settings.Seconds), show.Seconds(*d.Replay),
			show.Seconds(d.Settings.Low), show.Seconds(d.Settings.High))
	}
	lines[0] = comment(system, lines[0])
	if d.Settings != nil {
		lines = append(lines, d.Settings.Lines...)
	}
	if d.Engine != nil {
		lines = append(lines, comment(system, strings.TrimSuffix(d.engine(), ".")))
	}
	_, err := fmt.Fprintln(out, strings.Join(lines, "\n"))
	return err
}

// engine says what Tailcut's own engine would give beyond what the system can be told.
func (d *Diagnosis) engine() string {
	return fmt.Sprintf("Tailcut's own engine would take %s (%s to %s) with %s.", show.Seconds(d.Engine.Seconds),
		show.Seconds(d.Engine.Low), show.Seconds(d.Engine.High), strings.Join(d.Engine.Lines, " "))
}

// EmitLines writes settings as lines to paste, below a comment.
func EmitLines(out io.Writer, system, text string, settings []string) error {
	lines := append([]string{comment(system, text)}, settings...)
	_, err := fmt.Fprintln(out, strings.Join(lines, "\n"))
	return err
}
