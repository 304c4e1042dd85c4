package past

import (
	"os/exec"
	"syscall"
)

// leadGroup keeps the interrupts of the terminal from the program: whoever started it has still things to say then.
func leadGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
