package supervise

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func process(t *testing.T, script string) *Process {
	dir := t.TempDir()
	p := &Process{
		Name:    "test",
		Args:    []string{"/bin/sh", "-c", script},
		Dir:     dir,
		PidFile: filepath.Join(dir, "test.pid"),
		LogFile: filepath.Join(dir, "test.log"),
	}
	t.Cleanup(func() { _ = p.Stop(0) })
	return p
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

func TestStartLeavesARunningProcessAlone(t *testing.T) {
	p := process(t, "exec sleep 60")
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	pid := p.Pid()
	if pid == 0 {
		t.Fatal("not running after Start")
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	if p.Pid() != pid {
		t.Errorf("a second Start made pid %d out of %d", p.Pid(), pid)
	}
}

func TestStopInsistsWhenAskedInVain(t *testing.T) {
	p := process(t, "trap '' TERM; echo ready; while :; do sleep 0.05; done")
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the script ignores TERM", func() bool { return p.LogTail(1) == "ready" })
	if err := p.Stop(100 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if p.Running() {
		t.Error("still running")
	}
	if _, err := os.Stat(p.PidFile); err == nil {
		t.Error("the pid file is still there")
	}
}

func TestAnEndedProcessDoesNotRun(t *testing.T) {
	p := process(t, "echo a; echo b; echo c; sleep 0.1; exit 3")
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it ends", func() bool { return !p.Running() })
	if tail := p.LogTail(2); tail != "b\nc" {
		t.Errorf("LogTail(2) = %q", tail)
	}
}

func TestAnotherProcessWithTheSamePidIsNotOurs(t *testing.T) {
	p := process(t, "exec sleep 60")
	ourselves := os.Getpid()
	if err := os.WriteFile(p.PidFile, fmt.Appendf(nil, "%d 1\n", ourselves), 0o644); err != nil {
		t.Fatal(err)
	}
	if p.Running() {
		t.Fatal("took this test for the process of a stale pid file")
	}
	if err := p.Stop(0); err != nil { // must not kill this test
		t.Fatal(err)
	}
}

func TestStartNamesAMissingProgram(t *testing.T) {
	p := process(t, "")
	p.Args = []string{"/does/not/exist"}
	if err := p.Start(); err == nil || !strings.Contains(err.Error(), "cannot start test") {
		t.Errorf("Start() = %v", err)
	}
}
