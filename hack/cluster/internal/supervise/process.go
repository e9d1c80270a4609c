// Package supervise starts long-running programs that outlive the command that
// started them, and finds and ends them again by their pid files.
package supervise

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Process is one supervised program.
type Process struct {
	Name string
	Args []string // the program and its arguments
	Dir  string   // working directory
	// PidFile and LogFile belong to this process alone.
	PidFile string
	LogFile string
	// NetNS is the path of the network namespace to run in; empty means ours.
	NetNS string
	// Cgroups are cgroup.procs files that the process is written into.
	Cgroups []string
	// Tied ends the process when the thread that starts it ends.
	Tied bool
}

// Start launches the process unless it already runs.
func (p *Process) Start() error {
	if p.Running() {
		return nil
	}
	log, err := os.OpenFile(p.LogFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	command := p.command()
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		return fmt.Errorf("cannot start %s: %w", p.Name, err)
	}
	if err := p.adopt(command.Process.Pid); err != nil {
		_ = command.Process.Kill()
		return err
	}
	go func() { _ = command.Wait() }() // collects it, should it end before us
	return nil
}

func (p *Process) command() *exec.Cmd {
	args := p.Args
	if p.NetNS != "" {
		// Not "ip netns exec": that one mounts a fresh /sys, which hides the
		// cgroup hierarchies from the kubelet.
		args = append([]string{"nsenter", "--net=" + p.NetNS, "--"}, args...)
	}
	command := exec.Command(args[0], args[1:]...)
	command.Dir = p.Dir
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if p.Tied {
		command.SysProcAttr.Pdeathsig = syscall.SIGKILL
	}
	return command
}

// adopt records the process, with its start time: a pid alone may come to mean
// another process.
func (p *Process) adopt(pid int) error {
	for _, procs := range p.Cgroups {
		if err := os.WriteFile(procs, []byte(strconv.Itoa(pid)), 0o644); err != nil {
			return fmt.Errorf("cannot put %s into its cgroup: %w", p.Name, err)
		}
	}
	started, _, err := stat(pid)
	if err != nil {
		return fmt.Errorf("%s ended at once: %w", p.Name, err)
	}
	return os.WriteFile(p.PidFile, fmt.Appendf(nil, "%d %s\n", pid, started), 0o644)
}

// Running says whether the process of the pid file is still that process.
func (p *Process) Running() bool { return p.Pid() != 0 }

// Pid is the running process's id, or 0.
func (p *Process) Pid() int {
	content, err := os.ReadFile(p.PidFile)
	if err != nil {
		return 0
	}
	var pid int
	var started string
	if _, err := fmt.Sscan(string(content), &pid, &started); err != nil {
		return 0
	}
	now, state, err := stat(pid)
	if err != nil || now != started || state == "Z" || state == "X" {
		return 0
	}
	return pid
}

// Stop asks the process to end, and insists after the grace period.
func (p *Process) Stop(grace time.Duration) error {
	signal := syscall.SIGTERM
	if grace == 0 {
		signal = syscall.SIGKILL
	}
	deadline := time.Now().Add(grace)
	for pid := p.Pid(); pid != 0; pid = p.Pid() {
		if err := syscall.Kill(pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("cannot end %s (pid %d): %w", p.Name, pid, err)
		}
		time.Sleep(20 * time.Millisecond)
		if time.Now().After(deadline) {
			signal = syscall.SIGKILL
		}
		if time.Now().After(deadline.Add(10 * time.Second)) {
			return fmt.Errorf("%s (pid %d) does not end, even when killed", p.Name, pid)
		}
	}
	if err := os.Remove(p.PidFile); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// LogTail is the end of the log, for error messages.
func (p *Process) LogTail(lines int) string {
	content, err := os.ReadFile(p.LogFile)
	if err != nil {
		return ""
	}
	all := bytes.Split(bytes.TrimRight(content, "\n"), []byte("\n"))
	return string(bytes.Join(all[max(0, len(all)-lines):], []byte("\n")))
}

// stat reads a process's start time (clock ticks since boot) and state.
func stat(pid int) (started, state string, err error) {
	content, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return "", "", err
	}
	// The command's name stands in parentheses and may hold spaces; what
	// follows it is the third field of proc_pid_stat(5) and on.
	_, rest, found := strings.Cut(string(content[bytes.LastIndexByte(content, ')')+1:]), " ")
	fields := strings.Fields(rest)
	if !found || len(fields) < 20 {
		return "", "", fmt.Errorf("unexpected /proc/%d/stat", pid)
	}
	return fields[19], fields[0], nil
}
