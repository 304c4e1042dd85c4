package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestNotebook: the cells of docs/data/results.ipynb run, on what the command in its text prints. It has no outputs, which would become old.
func TestNotebook(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "data", "results.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	var notebook struct {
		Cells []struct {
			Kind    string `json:"cell_type"`
			Source  []string
			Outputs []json.RawMessage
		}
	}
	if err := json.Unmarshal(text, &notebook); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	t.Chdir(folder)
	var code strings.Builder
	for _, c := range notebook.Cells {
		if len(c.Outputs) > 0 {
			t.Error("a cell has outputs; clear them")
		}
		if c.Kind == "code" {
			code.WriteString(strings.Join(c.Source, "") + "\n")
		}
		for _, line := range c.Source {
			command, ok := strings.CutPrefix(strings.TrimSpace(line), "tailcut ")
			if !ok {
				continue
			}
			command, file, _ := strings.Cut(command, " >")
			out, err := os.Create(file)
			if err != nil {
				t.Fatal(err)
			}
			var args []string // no quote is within a word
			for i, part := range strings.Split(command, "'") {
				if i%2 == 1 {
					args = append(args, part)
				} else {
					args = append(args, strings.Fields(part)...)
				}
			}
			if status := tailcut(args, strings.NewReader(""), out, os.Stderr); status != 0 {
				t.Fatalf("%s: exit status %d", line, status)
			}
			if err := out.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	cmd := exec.CommandContext(t.Context(), python, "-")
	cmd.Stdin = strings.NewReader(code.String())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"10", "srew: -", "600 jobs, median", "SHA-256"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}
