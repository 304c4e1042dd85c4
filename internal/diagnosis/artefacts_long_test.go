//go:build long

package diagnosis

import (
	"archive/zip"
	"bytes"
	"context"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// artefact returns the files of a released artefact whose names match.
func artefact(t *testing.T, coordinates, files string) (text []byte) {
	t.Helper()
	if _, err := exec.LookPath("mvn"); err != nil {
		t.Skip("the names are checked against released artefacts, which needs mvn in PATH")
	}
	within, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	folder := t.TempDir()
	if out, err := exec.CommandContext(within, "mvn", "-q", "-B", "org.apache.maven.plugins:maven-dependency-plugin:3.6.0:copy",
		"-Dartifact="+coordinates, "-DoutputDirectory="+folder).CombinedOutput(); err != nil {
		t.Skipf("the names are checked against released artefacts; mvn cannot get %s: %v\n%.300s", coordinates, err, out)
	}
	jars, err := filepath.Glob(filepath.Join(folder, "*.jar"))
	if err != nil || len(jars) != 1 {
		t.Fatal(jars, err)
	}
	jar, err := zip.OpenReader(jars[0])
	if err != nil {
		t.Fatal(err)
	}
	defer jar.Close()
	for _, f := range jar.File {
		if !regexp.MustCompile(files).MatchString(f.Name) {
			continue
		}
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		all, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, all...)
	}
	return text
}

var option = regexp.MustCompile(`(?:spark|execution|slow-task-detector|mapreduce)\.[a-zA-Z.-]+`)

// The options that are emitted are those of released systems, and the defaults that candidates are named after are
// theirs.
func TestReleasedOptions(t *testing.T) {
	for _, c := range []struct {
		candidate          candidate
		coordinates, files string
	}{
		{sparkCandidate("0.9", 3), "org.apache.spark:spark-core_2.13:4.0.1", `^org/apache/spark/internal/config/package\$\.class$`},
		{sparkCandidate("0.75", 1.5), "org.apache.spark:spark-core_2.12:3.5.6", `^org/apache/spark/internal/config/package\$\.class$`},
		{flinkCandidate("0.75", 1.5), "org.apache.flink:flink-core:1.20.1", `^org/apache/flink/configuration/(SlowTaskDetector|BatchExecution)Options\.class$`},
		{hadoopCandidate(10, 15), "org.apache.hadoop:hadoop-mapreduce-client-core:3.4.1", `^mapred-default\.xml$`},
	} {
		text := artefact(t, c.coordinates, c.files)
		for _, line := range c.candidate.lines {
			if name := option.FindString(line); name == "" || !bytes.Contains(text, []byte(name)) {
				t.Errorf("%s has no %q", c.coordinates, name)
			}
		}
	}
	defaults := string(artefact(t, "org.apache.hadoop:hadoop-mapreduce-client-core:3.4.1", `^mapred-default\.xml$`))
	defaults = strings.Join(strings.Fields(defaults), "")
	for _, line := range hadoopCandidate(10, 15).lines {
		if property := strings.TrimSuffix(line, "</property>"); !strings.Contains(defaults, property) {
			t.Errorf("%s is not the default", property)
		}
	}
}
