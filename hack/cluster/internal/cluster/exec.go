package cluster

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// Exec is the command "exec": a program in the node's network namespace.
func Exec(args []string) error {
	flags := flag.NewFlagSet("cluster exec", flag.ExitOnError)
	target := targetFlags(flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return usageError{"usage: cluster exec [--name NAME] -- COMMAND…"}
	}
	c, err := target.load()
	if err != nil {
		return err
	}
	if c.Mode != Node {
		return errors.New("a control plane alone has no network namespace")
	}
	return become(c.inNetns(flags.Args()...))
}

// Helm is the command "helm", against the cluster that kubectl uses.
func Helm(args []string) error {
	UseKubeconfig()
	helm := beside("helm")
	if _, err := os.Stat(helm); err != nil {
		return fmt.Errorf("helm is missing beside this program: run hack/cluster/cluster, which builds it")
	}
	return become(exec.Command(helm, args...))
}

// become replaces this process with the command.
func become(command *exec.Cmd) error {
	if command.Err != nil {
		return command.Err
	}
	return syscall.Exec(command.Path, command.Args, os.Environ())
}
