package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// mostPath is the length of a socket's name that every system takes.
const mostPath = 100

// SocketPath returns where the server of this user listens unless it is told otherwise: in the folder that the system
// makes for a session, or in the user's state folder.
func SocketPath() (string, error) {
	if run := os.Getenv("XDG_RUNTIME_DIR"); run != "" {
		return filepath.Join(run, "tailcut", "socket"), nil
	}
	state, err := StateFolder()
	return filepath.Join(state, "socket"), err
}

// StateFolder returns the folder for what outlives programs, for instance the journal of this user's server.
func StateFolder() (string, error) {
	state := os.Getenv("XDG_STATE_HOME")
	if state == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("no place for the server's files: %w; set HOME, or name --dir and --socket", err)
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "tailcut"), nil
}

// CheckSocket tells whether a path can be that of a socket.
func CheckSocket(path string) error {
	if len(path) > mostPath {
		return fmt.Errorf("longer than %d bytes, which is the most for a socket: name a shorter one, not %s", mostPath, path)
	}
	return nil
}

// listenUnix listens on a socket that only this user can open. A socket that a dead server has left is replaced;
// nothing else is.
func listenUnix(path string) (net.Listener, error) {
	if err := CheckSocket(path); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	lock, err := lockFile(path+".lock", fmt.Sprintf("another server listens on %s", path))
	if err != nil {
		return nil, err
	}
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err == nil && info.Mode().Type() != fs.ModeSocket:
		lock.Close()
		return nil, fmt.Errorf("--socket %s: there is something else by this name; name another", path)
	default:
		if conn, err := net.DialTimeout("unix", path, time.Second); err == nil {
			conn.Close()
			lock.Close()
			return nil, fmt.Errorf("another program listens on %s; name another --socket", path)
		}
		_ = os.Remove(path)
	}
	listen, err := net.Listen("unix", path)
	if err == nil {
		if err = os.Chmod(path, 0o600); err != nil {
			listen.Close()
		}
	}
	if err != nil {
		lock.Close()
		return nil, err
	}
	return &ownListener{Listener: listen, lock: lock}, nil
}

// lastGasp is how long a lock may outlive its server: a process that the server was starting when it was killed has the
// server's files until it becomes another program.
const lastGasp = time.Second

// lockFile makes a file and locks it for as long as the process lives. taken says what it means that another has it.
func lockFile(path, taken string) (*os.File, error) {
	lock, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for began := time.Now(); ; time.Sleep(2 * time.Millisecond) {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return lock, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) || time.Since(began) > lastGasp {
			break
		}
	}
	lock.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errors.New(taken)
	}
	return nil, fmt.Errorf("%s: the file system cannot lock files: %w", path, err)
}

// ownListener accepts connections of this user's processes. File modes say the same, but not to those who have the
// socket's folder from elsewhere, as a container may.
type ownListener struct {
	net.Listener
	lock *os.File
}

func (l *ownListener) Close() error {
	err := l.Listener.Close()
	l.lock.Close()
	return err
}

func (l *ownListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		uid, err := peerOf(conn.(*net.UnixConn))
		if err == nil && uid == os.Geteuid() {
			return conn, nil
		}
		refuse(conn)
	}
}

// refuse answers somebody who may not come in. It does not wait: the answer fits the socket's buffer.
func refuse(conn net.Conn) {
	const why = "this server belongs to another user; a job runs as the user who owns the server\n"
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s", len(why), why)
	conn.Close()
}
