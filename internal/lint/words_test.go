package lint

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// words of docs/explain/design.md that are types somewhere. A reader who meets one has one thing in mind.
var words = strings.Fields("job stage task attempt original clone straggler machine slot site policy")

// sayAgain are types that share such a word with a type of another package, because they are the same thing seen from
// elsewhere. A further one needs a reason that a reader would give.
var sayAgain = map[string]string{
	". Job":                       "the job that a Go programmer asks to have run",
	". Stage":                     "a stage of that",
	"internal/jobfile Job":        "the job that a user asks to have run, before it is cut into tasks for the core",
	"internal/jobfile Stage":      "a stage of that, as its file declares it",
	"internal/live Job":           "the core's job, with its executor and what its attempts did",
	"internal/live Attempt":       "the core's attempt, as an executor is told of it",
	"internal/serve Job":          "the core's job, as a server's clients see it",
	"internal/serve Task":         "the core's task, as they see it",
	"cloud/internal/kube attempt": "the core's attempt, with the pod that is one",
	"sim Attempt":                 "the core's attempt, as a service that says how long it takes may see it",
	"sim Site":                    "the core's site, as a file of clusters describes it",
	"plan Policy":                 "numbers that are compared, and then are those of the policy fork",
}

// TestWords: a type called by one of the words is of one package.
func TestWords(t *testing.T) {
	files, err := house()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range checkTypes(files, sayAgain) {
		t.Error(s)
	}
}

func checkTypes(files []*file, excused map[string]string) (found []string) {
	places := map[string][]string{} // packages by word
	used := map[string]bool{}
	first := map[string]string{}
	for _, f := range files {
		if f.test() {
			continue
		}
		ast.Inspect(f.File, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			word := ""
			if ok {
				word = strings.ToLower(spec.Name.Name)
			}
			if !slices.Contains(words, word) {
				return true
			}
			if name := f.dir() + " " + spec.Name.Name; excused[name] != "" {
				used[name] = true
			} else if !slices.Contains(places[word], f.dir()) {
				places[word] = append(places[word], f.dir())
				if first[word] == "" {
					first[word] = f.dir()
				} else {
					found = append(found, f.found(spec.Pos(), "%s is a type of %s, too; one word, one meaning: call this what it is", spec.Name.Name, first[word]))
				}
			}
			return true
		})
	}
	for name := range excused {
		if !used[name] {
			found = append(found, "internal/lint/words_test.go:1: there is no type "+name+" any more; take it off the list")
		}
	}
	return found
}

func TestWordsFindsTypes(t *testing.T) {
	of := func(name, src string) *file {
		f, err := parse(name, "package x\n"+src)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	core := of("sched/x.go", "type Job struct{}\ntype job int\ntype Jobs []Job")
	excused := map[string]string{"sim Job": "as a file has it"}
	expect(t, checkTypes([]*file{core, of("sim/x.go", "type Job int")}, excused), "")
	expect(t, checkTypes([]*file{core, of("sim/x.go", "type Job int"), of("laws/x.go", "func f() { type job int }")}, excused), "laws/x.go:2: job is a type of sched, too")
	expect(t, checkTypes([]*file{core, of("sim/x_test.go", "type Job int")}, nil), "")
	expect(t, checkTypes([]*file{core}, excused), "there is no type sim Job any more")
}
