package serve

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestSocketIsForItsOwnerAlone(t *testing.T) {
	t.Parallel() // it waits
	path := filepath.Join(t.TempDir(), "run", "socket")
	l, err := listenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, not %v (%v)", name, info.Mode().Perm(), want, err)
		}
	}
	if _, err := listenUnix(path); err == nil || !strings.Contains(err.Error(), "another server listens") {
		t.Errorf("a second server on the same socket: %v", err)
	}
	l.Close()
	if l, err = listenUnix(path); err != nil {
		t.Fatal("after the first has ended:", err)
	}
	l.Close()
}

// What a dead server has left is replaced, what others have is not.
func TestSocketReplacesOnlyTheDead(t *testing.T) {
	dir := t.TempDir()
	dead := filepath.Join(dir, "dead")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: dead, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if _, err := listenUnix(dead); err == nil || !strings.Contains(err.Error(), "another program listens") {
		t.Errorf("on the socket of another program: %v", err)
	}
	l.Close()
	again, err := listenUnix(dead)
	if err != nil {
		t.Fatal("on the socket of a dead one:", err)
	}
	again.Close()

	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := listenUnix(file); err == nil {
		t.Error("a file was taken for a socket")
	}
	if text, _ := os.ReadFile(file); string(text) != "precious" {
		t.Error("a file was replaced by a socket")
	}
	if _, err := listenUnix(filepath.Join(dir, strings.Repeat("x", mostPath))); err == nil || !strings.Contains(err.Error(), "shorter") {
		t.Errorf("a name that is too long: %v", err)
	}
}

// Another user is refused, although the modes of socket and folder would let it in.
func TestSocketRefusesOtherUsers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	if _, err := exec.LookPath("perl"); err != nil {
		t.Skip("there is no perl to connect with")
	}
	dir, err := os.MkdirTemp("", "socket") // t.TempDir is below a folder that others cannot enter
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "socket")
	l, err := listenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, name := range []string{dir, path} {
		if err := os.Chmod(name, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	accepted := make(chan bool, 1)
	go func() {
		conn, err := l.Accept()
		accepted <- err == nil
		if err == nil {
			conn.Close()
		}
	}()
	cmd := exec.Command("perl", "-MIO::Socket::UNIX", "-e", `my $s = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die "connect: $!"; print <$s>`, path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	cmd.Dir = "/"
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "403") || !strings.Contains(string(out), "belongs to another user") {
		t.Errorf("another user reads %q (%v)", out, err)
	}
	select {
	case <-accepted:
		t.Error("another user's connection was accepted")
	case <-time.After(50 * time.Millisecond):
	}
	l.Close()
	<-accepted
}

// A process that a dead server was starting has its lock for a moment more.
func TestLockOutlivesItsServer(t *testing.T) {
	t.Parallel() // it waits
	path := filepath.Join(t.TempDir(), "lock")
	last, err := lockFile(path, "taken")
	if err != nil {
		t.Fatal(err)
	}
	gone := time.AfterFunc(50*time.Millisecond, func() { last.Close() })
	defer gone.Stop()
	next, err := lockFile(path, "taken")
	if err != nil {
		t.Fatalf("a lock that is given back within %v: %v", lastGasp, err)
	}
	defer next.Close()
	if _, err := lockFile(path, "taken"); err == nil || err.Error() != "taken" {
		t.Errorf("a lock that is kept: %v", err)
	}
}
