package serve

import (
	"net"

	"golang.org/x/sys/unix"
)

// peerOf returns the user whose process is at the other end.
func peerOf(conn *net.UnixConn) (uid int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Xucred
	var failed error
	err = raw.Control(func(fd uintptr) {
		cred, failed = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}
