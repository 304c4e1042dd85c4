//go:build linux

package attack

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/tailcut/tailcut/policy"
)

// An attack is one job with something done to it: its engine dies, the power goes, its journal is damaged. All that an attack does follows from its
// seed (but for who is how fast), and all attacks end the same way: the same command again and again, and then the result is, to the byte, that of a
// run that nobody disturbed, the journal is in order, and nothing is left behind.

var (
	askedDeaths  = flag.Int("deaths", shortOrLong.deaths, "deaths in TestDeaths")
	askedCuts    = flag.Int("cuts", shortOrLong.cuts, "power cuts in TestPowerCuts")
	askedDamages = flag.Int("damages", shortOrLong.damages, "damaged journals in TestDamagedJournals")
	askedJumps   = flag.Int("jumps", shortOrLong.jumps, "jumps of the clock in TestClockJumps")
	askedServers = flag.Int("server-deaths", shortOrLong.servers, "deaths in TestServerDeaths")
	askedSoak    = flag.Duration("soak", shortOrLong.soak, "how long TestSoak takes")
	askedSeed    = flag.Uint64("seed", 1, "seed of the first attack; the others count up from it")
	askedLanes   = flag.Int("lanes", 4, "attacks at a time")
	askedKind    = flag.String("kind", "", "attack only jobs of this kind")
	askedPolicy  = flag.String("policy", "", "attack only under this policy")
)

// amounts says how many attacks there are when nobody asks for a number.
type amounts struct{ deaths, cuts, damages, jumps, servers int }

// counts names the flag that says how many attacks of a test there are.
var counts = map[string]string{"TestDeaths": "deaths", "TestPowerCuts": "cuts", "TestDamagedJournals": "damages", "TestClockJumps": "jumps", "TestServerDeaths": "server-deaths"}

// kind is a sort of job. Its result does not depend on which attempts win, but for what even makes even.
type kind struct {
	name string
	args []string                                           // without the verb, the output and the policy
	own  []string                                           // what a run of it has besides, and a server decides
	even func(map[string]string) (map[string]string, error) // nil, or checks and removes what tells attempts apart
	want map[string]string                                  // the result of an undisturbed run, by path
	span time.Duration                                      // that it took
}

// deck has all kinds of jobs, with their inputs and what they should result in, and the policies under which live runs can be.
type deck struct {
	kinds    []*kind
	policies []string
}

// shuffled is the deck of the test binary, made when it is first asked for.
var shuffled = sync.OnceValues(newDeck)

func newDeck() (*deck, error) {
	root := filepath.Join(scratch, "deck")
	corpus, dag := filepath.Join(root, "corpus"), filepath.Join(root, "dag.yaml")
	if err := os.MkdirAll(corpus, 0o777); err != nil {
		return nil, err
	}
	draw := rand.New(rand.NewPCG(17, 1))
	for i := range 9 {
		var text bytes.Buffer
		for text.Len() < draw.IntN(30<<10) {
			fmt.Fprintf(&text, "%s%c", strconv.FormatUint(draw.Uint64N(1<<draw.IntN(16)), 36), " \n\t"[draw.IntN(3)])
		}
		if err := os.WriteFile(filepath.Join(corpus, strconv.Itoa(i)), text.Bytes(), 0o666); err != nil {
			return nil, err
		}
	}
	values, packed := filepath.Join(root, "values"), filepath.Join(root, "packed")
	if err := errors.Join(os.WriteFile(dag, []byte(dagFile), 0o666), os.WriteFile(values, []byte(hostile), 0o666), pack(corpus, packed)); err != nil {
		return nil, err
	}
	over := func(args ...string) []string { return append(args, corpus, "--split-size", "12KiB") }
	array := func(script string, flags ...string) []string { // any command may fail or be killed, and then its script has to
		return append(append([]string{"--tasks", "12"}, flags...), "--", "sh", "-e", "-c", script)
	}
	classes := []string{"--slots", "map=3,shuffle=2"}
	d := &deck{kinds: []*kind{
		{name: "wordcount", args: over("wordcount", "--reducers", "3")},
		{name: "wordmean", args: over("wordmean")},
		{name: "grep", args: over("grep", "[a-c]+[0-9]", "--reducers", "2")},
		{name: "sort", args: over("sort", "--reducers", "2")},
		{name: "streaming", args: over("--mapper", "tr ' ' '\\n'", "--combiner", "uniq", "--reducer", "uniq -c", "--reducers", "2")},
		{name: "shuffled", args: over("wordcount", "--reducers", "3"), own: classes},
		{name: "shuffled streaming", args: over("--mapper", "tr ' ' '\\n'", "--reducer", "uniq -c", "--reducers", "2"), own: classes},
		{name: "mapper", args: over("--mapper", "rev")},
		{name: "small", args: array(`sleep 0.02; echo result of {}`)},
		{name: "large", args: array(`seq {}000 {}900; sleep 0.02; seq {}0000 {}3000`)},
		{name: "silent", args: array(`sleep 0.01`)},
		{name: "swift", args: []string{"--tasks", "150", "--", "seq", "{}", "600"}}, // its journal grows by pages between two syncs
		{name: "files", args: array(`cd $TAILCUT_OUTPUT; mkdir a; echo {} >a/b; sleep 0.02; seq 2000 >c; test {} = 3 || echo out {}`)},
		{name: "uneven", args: array(unevenScript), even: even},
		{name: "resumable", args: array(strides, "--resumable")},
		{name: "dag", args: []string{"-f", dag}},
		{name: "values", args: []string{"-a", values, "--", "sleep 0.02; printf '%s\\n' {} {/.} {#}"}},
		{name: "blocks", args: []string{"--pipe-part", "-a", filepath.Join(corpus, "3"), "--block", "1KiB", "--", "sleep 0.01; wc; cat"}},
		{name: "errors", args: array(`echo trouble with {} >&2; sleep 0.01; echo {}`, "--stderr", "keep")},
		{name: "packed", args: []string{"wordcount", "--reducers", "3", packed, "--split-size", "12KiB"}},
	}}
	if err := d.undisturbed(root); err != nil {
		return nil, err
	}
	for _, name := range policy.Names() { // some can do nothing in a live run, and are refused
		if exec.Command(tailcut, "run", "--tasks", "2", "--policy", name, "--dry-run", "--output", filepath.Join(root, "dry"), "--", "true").Run() == nil {
			d.policies = append(d.policies, name)
		}
	}
	return d, nil
}

// undisturbed finds out what the jobs result in.
func (d *deck) undisturbed(root string) error {
	for _, k := range d.kinds {
		out := filepath.Join(root, "want", k.name)
		began := time.Now()
		if said, err := exec.Command(tailcut, append([]string{"run", "--output", out, "--policy", "fifo"}, k.args...)...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", k.name, err, said)
		}
		k.span = time.Since(began)
		var err error
		if k.want, err = k.result(out); err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
	}
	return nil
}

// hostile are values that a shell would obey.
const hostile = "a\n$(kill -9 $PPID)\n; rm -rf .\n'\n\"\nd/e.f g\n`reboot`\n*\n\\\n&& false\n-n\n\xff\xfe\n"

// pack writes what is in a folder into another, compressed with gzip or zstd.
func pack(from, to string) error {
	if err := os.MkdirAll(to, 0o777); err != nil {
		return err
	}
	files, err := os.ReadDir(from)
	for i, f := range files {
		text, unread := os.ReadFile(filepath.Join(from, f.Name()))
		var packed bytes.Buffer
		var w io.WriteCloser = gzip.NewWriter(&packed)
		if i%2 == 1 {
			w, _ = zstd.NewWriter(&packed)
		}
		_, unwritten := w.Write(text)
		err = errors.Join(err, unread, unwritten, w.Close(), os.WriteFile(filepath.Join(to, f.Name()), packed.Bytes(), 0o666))
	}
	return err
}

// dagFile has stages that wait for each other in both ways, with outputs large and small, and files.
const dagFile = `
stages:
  - name: make
    tasks: 4
    command: "set -e; sleep 0.02; seq {}00 {}99; echo {} >$TAILCUT_OUTPUT/file"
  - name: each
    tasks: 4
    command: set -e; sleep 0.01; cat "$TAILCUT_INPUT"/stdout "$TAILCUT_INPUT"/files/file; seq 3000
    after_each: make
  - name: all
    command: set -e; sha256sum <"$(echo "$TAILCUT_INPUT" | cut -d':' -f1)"/00002/stdout; cat $(echo "$TAILCUT_INPUT" | cut -d':' -f1)/*/stdout >$TAILCUT_OUTPUT/all; wc <$TAILCUT_OUTPUT/all
    after: [each, make]
`

// unevenScript leaves in everything that a task results in which attempt of which life of the engine it was.
const unevenScript = `me="$$ $TAILCUT_ATTEMPT $(date +%s%N)"; echo {} $me >$TAILCUT_OUTPUT/one; sleep 0.02; echo {} $me; echo {} $me >$TAILCUT_OUTPUT/two`

// even checks that all of a task's result is of one attempt.
func even(tree map[string]string) (map[string]string, error) {
	clean := map[string]string{}
	for path, text := range tree {
		task, _, _ := strings.Cut(path, ".files")
		if strings.HasPrefix(path, "part-") && !strings.HasSuffix(path, "/") {
			if whole := tree[task]; whole != text {
				return nil, fmt.Errorf("%s is %q, and %s is %q: two attempts have made one result", path, text, task, whole)
			}
			text, _, _ = strings.Cut(text, " ")
		}
		clean[path] = text
	}
	return clean, nil
}

// strides is a resumable task of four strides.
const strides = `at=$TAILCUT_RESUME_OFFSET
while [ $at -lt 40 ]; do
	sleep 0.01
	echo {} $at >$TAILCUT_OUTPUT/$at
	at=$((at + 10))
	[ $at = 40 ] || echo "0.$((at / 4 * 10)) $at" >$TAILCUT_PROGRESS
done
echo end of {}`

// result reads what a job has published: a path and its content each, folders with a slash and what they hold of the user's and of the job's.
func (k *kind) result(out string) (map[string]string, error) {
	tree := map[string]string{}
	err := filepath.WalkDir(out, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(out, path)
		switch {
		case err != nil:
			return err
		case name == "_tailcut":
			return filepath.SkipDir
		case name == "_MANIFEST.json": // names the run; verify reads it
			return nil
		case e.IsDir():
			tree[name+"/"] = ""
		case !e.Type().IsRegular():
			return fmt.Errorf("%s is not a file: %s", name, e.Type())
		default:
			text, err := os.ReadFile(path)
			tree[name] = string(text)
			return err
		}
		return nil
	})
	if err != nil || k.even == nil {
		return tree, err
	}
	return k.even(tree)
}

// unlike compares results in a few words.
func unlike(got, want map[string]string) string {
	var found []string
	for _, path := range slices.Sorted(maps.Keys(want)) {
		if text, ok := got[path]; !ok {
			found = append(found, path+" is missing")
		} else if text != want[path] {
			found = append(found, fmt.Sprintf("%s has %d bytes %.60q, want %d %.60q", path, len(text), text, len(want[path]), want[path]))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[path]; !ok {
			found = append(found, path+" is too much")
		}
	}
	if len(found) > 5 {
		found = append(found[:5], fmt.Sprintf("and %d more", len(found)-5))
	}
	return strings.Join(found, "; ")
}

// attack is one job that is attacked.
type attack struct {
	t       *testing.T
	deck    *deck
	seed    uint64
	draw    *rand.Rand
	kind    *kind
	policy  string
	home    string // holds out, and nothing else in the end
	out     string
	tmp     string
	name    string
	flags   []string
	story   []string // what was done and said
	engines int
	failed  bool
}

// newAttack draws a job and how it is run. home is a folder of the attack's own.
func newAttack(t *testing.T, d *deck, seed uint64, home string) *attack {
	a := &attack{t: t, deck: d, seed: seed, draw: rand.New(rand.NewPCG(seed, 17)), home: home}
	a.kind = d.kinds[a.draw.IntN(len(d.kinds))]
	if *askedKind != "" {
		a.kind = d.kinds[slices.IndexFunc(d.kinds, func(k *kind) bool { return k.name == *askedKind })]
	}
	a.out, a.tmp = filepath.Join(home, "out"), filepath.Join(home, "tmp")
	a.name = fmt.Sprintf("%s-%d-%d", t.Name(), seed, os.Getpid())
	a.settle()
	return a
}

// settle draws what may differ between two starts of a run.
func (a *attack) settle() {
	a.policy = a.deck.policies[a.draw.IntN(len(a.deck.policies))]
	if *askedPolicy != "" {
		a.policy = *askedPolicy
	}
	a.flags = []string{"--policy", a.policy, "--slots", strconv.Itoa(1 + a.draw.IntN(5)), "--retries", strconv.Itoa(50 + a.draw.IntN(3)), "--seed", strconv.FormatUint(a.seed+a.draw.Uint64N(2), 10)}
	if a.draw.IntN(2) == 0 {
		a.flags = append(a.flags, "--disturb", "slow=0.2,factor=4,fail=0.05")
	}
	for _, courtesy := range []string{"--keep-going", "--keep-order", "--delay=0.005", "--memory=64MiB", "--nice=3", "--memfree=1MiB", "--timeout=30"} {
		if a.draw.IntN(8) == 0 {
			a.flags = append(a.flags, courtesy)
		}
	}
}

// resettle has the run taken up with other settings, once in three times.
func (a *attack) resettle() {
	if a.draw.IntN(3) == 0 {
		a.settle()
		a.note("from here on with %v", a.flags)
	}
}

// command is what is run, again and again.
func (a *attack) command(k *kind, more ...string) []string {
	return slices.Concat([]string{"run", "--output", a.out}, a.flags, more, k.own, k.args)
}

// note adds to the story.
func (a *attack) note(format string, args ...any) {
	a.story = append(a.story, fmt.Sprintf(format, args...))
}

// wrong reports a finding with all that repeats it.
func (a *attack) wrong(format string, args ...any) {
	a.t.Helper()
	a.failed = true
	again := fmt.Sprintf("-seed %d -%s 1 -lanes 1", a.seed, counts[a.t.Name()])
	if counts[a.t.Name()] == "" {
		again = "-policy " + a.policy
	}
	a.t.Errorf("%s under %s: %s\n\trepeat it: go test ./internal/attack -run '^%s$' -v -args %s\n\t%s",
		a.kind.name, a.policy, fmt.Sprintf(format, args...), a.t.Name(), again, strings.Join(a.story, "\n\t"))
}

// engine is one process of the tool.
type engine struct {
	cmd  *exec.Cmd
	said string
	over chan struct{}
	ours bool // we have killed it, or made the world fail that it lived in
}

// start begins a command. What it says goes to a file outside the attacked folder.
func (a *attack) start(args []string) *engine {
	a.engines++
	_ = os.MkdirAll(a.tmp, 0o777) // on a disk that is full there may be none
	e := &engine{cmd: exec.Command(tailcut, args...), over: make(chan struct{}), said: filepath.Join(scratch, "said", a.name)}
	_ = os.MkdirAll(filepath.Dir(e.said), 0o777)
	said, err := os.Create(e.said)
	if err != nil {
		a.t.Error(err)
		close(e.over)
		return e
	}
	defer said.Close()
	e.cmd.Env = append(os.Environ(), mark+"="+a.name, "TMPDIR="+a.tmp)
	e.cmd.Stdout, e.cmd.Stderr = said, said
	e.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan struct{})
	go func() {
		defer close(e.over)
		err := e.cmd.Start()
		close(started)
		if err == nil {
			_ = e.cmd.Wait()
		}
	}()
	<-started
	return e
}

// within waits for an engine's end.
func (e *engine) within(most time.Duration) bool {
	select {
	case <-e.over:
		return true
	case <-time.After(most):
		return false
	}
}

// code is an engine's exit status, -1 if a signal ended it.
func (e *engine) code() int {
	if e.cmd.ProcessState == nil {
		return -2
	}
	return e.cmd.ProcessState.ExitCode()
}

// patience is how long a job of half a second may take on a machine that others use too.
const patience = 90 * time.Second

// stacks has an engine that does not end say what it is doing, which ends it.
func (e *engine) stacks() string {
	_ = e.cmd.Process.Signal(syscall.SIGQUIT)
	e.within(5 * time.Second)
	said, _ := os.ReadFile(e.said)
	return string(said)
}

// ended waits for an engine that nobody kills any more, notes what it said, and looks at how it said it.
func (a *attack) ended(e *engine) (code int, said string) {
	a.t.Helper()
	if !e.within(patience) {
		a.wrong("the engine does not end")
		_ = e.cmd.Process.Kill()
		<-e.over
	}
	text, _ := os.ReadFile(e.said)
	code, said = e.code(), string(text)
	a.note("engine %d: status %d: %s", a.engines, code, strings.Join(a.complaints(said), " / "))
	if strings.Contains(said, "panic:") || strings.Contains(said, "goroutine ") {
		a.wrong("panic: %s", said)
	}
	if lines := a.complaints(said); (code == 1 || code == 2) && len(lines) != 1 {
		a.wrong("status %d with %d lines of what is wrong, want one:\n%s", code, len(lines), said)
	}
	return code, said
}

// complaints returns the lines that say what is wrong; what is said about the policy is none.
func (a *attack) complaints(said string) (lines []string) {
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		if what, ok := strings.CutPrefix(line, "tailcut: "); ok && !strings.HasPrefix(what, "warning: ") && !strings.Contains(what, ": a run has one ") {
			lines = append(lines, line)
		}
	}
	return lines
}

// alone waits until nothing of the attack lives.
func (a *attack) alone() {
	a.t.Helper()
	a.outlive("engine", nil)
}

// outlive waits until nothing of the attack lives but what is spared by its arguments, and ends what does not go.
func (a *attack) outlive(what string, spared func(args []byte) bool) {
	a.t.Helper()
	if guards, others := outlived(a.name, 15*time.Second, spared); len(guards)+len(others) > 0 {
		a.wrong("processes of a dead %s linger: guards %v, others %v", what, guards, others)
		a.killAll()
	}
}

// killAll ends everything of the attack, as the end of a container or of the power does.
func (a *attack) killAll() {
	for range 3 { // what was being started meanwhile
		guards, others := marked(a.name, nil)
		for _, pid := range append(guards, others...) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		if len(guards)+len(others) == 0 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// right holds the result of a finished run against that of an undisturbed one, has the journal replayed and the result verified, asks for the same
// once more, and looks for what should not be there.
func (a *attack) right(k *kind, beside map[string]string) {
	a.t.Helper()
	if a.failed {
		return
	}
	a.alone()
	a.like(k, beside, "the result")
	for _, verb := range []string{"replay", "verify"} {
		if said, err := exec.Command(tailcut, verb, a.out).CombinedOutput(); err != nil {
			a.wrong("tailcut %s: %v: %s", verb, err, said)
		}
	}
	names, _ := filepath.Glob(filepath.Join(a.out, "_tailcut", "*"))
	for _, name := range names {
		if base := filepath.Base(name); slices.Contains([]string{"attempts", "done", "saved", "stderr"}, base) || strings.HasSuffix(base, ".new") {
			a.wrong("left of the run: %s", name)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(a.tmp, "*")); len(left) > 0 {
		a.wrong("left in $TMPDIR: %v", left)
	}
	if left, _ := filepath.Glob(filepath.Join(a.home, "*")); len(left) > 2 { // out and tmp
		a.wrong("left beside the output: %v", left)
	}
}

// like compares what is published.
func (a *attack) like(k *kind, beside map[string]string, what string) {
	a.t.Helper()
	got, err := k.result(a.out)
	want := maps.Clone(k.want)
	maps.Copy(want, beside)
	if err != nil {
		a.wrong("%s: %v", what, err)
	} else if diff := unlike(got, want); diff != "" {
		a.wrong("%s: %s", what, diff)
	}
}

// lanes runs attacks side by side, each with a seed of its own, until the wanted number of blows was dealt. one returns how many it dealt.
func lanes(t *testing.T, wanted int, one func(lane int, seed uint64) int) (blows, attacks int) {
	t.Helper()
	var dealt, next atomic.Int64
	var group sync.WaitGroup
	for lane := range *askedLanes {
		group.Go(func() {
			for dealt.Load() < int64(wanted) && !t.Failed() || dealt.Load() < int64(wanted) && shortOrLong.goOn {
				dealt.Add(int64(one(lane, *askedSeed+uint64(next.Add(1))-1)))
			}
		})
	}
	group.Wait()
	return int(dealt.Load()), int(next.Load())
}
