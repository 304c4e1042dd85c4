package policy

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

const newPolicyPage = "../docs/new-policy.md"

// TestNewPolicyPage: the code of docs/new-policy.md is that of the files it names, which this package compiles; -rewrite copies it there. The policy has less than 60 lines.
func TestNewPolicyPage(t *testing.T) {
	page, err := os.ReadFile(newPolicyPage)
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	block := regexp.MustCompile("(?s)<!-- (policy/[a-z_]+\\.go) -->\n```go\n.*?```\n")
	want := block.ReplaceAllFunc(page, func(old []byte) []byte {
		name := string(block.FindSubmatch(old)[1])
		code, err := os.ReadFile("../" + name)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(code, []byte("\n")); n >= 60 {
			t.Errorf("%s has %d lines, less than 60 wanted", name, n)
		}
		files++
		return []byte("<!-- " + name + " -->\n```go\n" + string(code) + "```\n")
	})
	if files != 2 {
		t.Errorf("the page shows %d files, 2 wanted: the policy and its test", files)
	}
	if flag.Lookup("rewrite").Value.String() == "true" {
		if err := os.WriteFile(newPolicyPage, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(want), string(page)); diff != "" {
		t.Errorf("docs/new-policy.md is out of date, run go test ./policy -run TestNewPolicyPage -rewrite (-want +file):\n%s", diff)
	}
}

// TestNewPolicyBattery holds the page's example to what every policy is held to.
func TestNewPolicyBattery(t *testing.T) {
	if seen := policytest.Run(t, &patienceEntry, "after=5s", "after=0s", "after=1s"); seen.Clones < 100 && !testing.Short() {
		t.Errorf("only %d clones in all: the worlds test nothing", seen.Clones)
	}
}

// built makes a policy that the registry does not have.
func built(e *kit.Entry, params string) sched.Policy {
	args, err := e.Parse(params)
	if err != nil {
		panic(err)
	}
	return e.New(args)
}
