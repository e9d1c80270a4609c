// graphwright-cluster is a whole Kubernetes in one program: every component is
// a subcommand, and the commands up, down and status run them as a cluster.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"graphwright.dev/hack/cluster/internal/cluster"
	"graphwright.dev/hack/cluster/internal/component"
	"graphwright.dev/hack/cluster/internal/image"
)

const usage = `usage: cluster COMMAND [flags]

The cluster:
  up          start it, or bring back what is missing; prints the kubeconfig's path
  down        end it and remove everything it left on this machine
  status      say what runs and what does not
  kubeconfig  write a kubeconfig for another user of the cluster
  firewall    stop or start the enforcement of NetworkPolicies
  image       build an image archive, or load one into the cluster
  exec        run a command in the node's network namespace

Programs, with the cluster's kubeconfig:
  kubectl, helm

Components (what "up" starts): etcd, kube-apiserver, kube-controller-manager,
kube-scheduler, kubelet, kube-proxy, coredns

"cluster COMMAND -h" explains a command.`

func init() {
	// Children started with a parent-death signal die with the thread that
	// started them, so main keeps the first thread for itself.
	runtime.LockOSThread()
}

func main() {
	if filepath.Base(os.Args[0]) == "kubectl" {
		component.Run("kubectl", os.Args[1:])
		return
	}
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	}
	name, args := os.Args[1], os.Args[2:]
	if slices.Contains(component.Names(), name) {
		if name == "kubectl" {
			cluster.UseKubeconfig()
		}
		component.Run(name, args)
		return
	}
	if err := command(name, args); err != nil {
		fmt.Fprintln(os.Stderr, "cluster "+name+": "+err.Error())
		os.Exit(cluster.ExitCode(err))
	}
}

func command(name string, args []string) error {
	switch name {
	case "up":
		return cluster.Up(args)
	case "down":
		return cluster.Down(args)
	case "status":
		return cluster.Status(args)
	case "kubeconfig":
		return cluster.Kubeconfig(args)
	case "firewall":
		return cluster.Firewall(args)
	case "exec":
		return cluster.Exec(args)
	case "helm":
		return cluster.Helm(args)
	case "image":
		return imageCommand(args)
	case "help", "-h", "--help":
		fmt.Println(usage)
		return nil
	}
	return fmt.Errorf("no such command\n\n%s", usage)
}

func imageCommand(args []string) error {
	if len(args) > 0 {
		switch args[0] {
		case "build":
			return image.BuildCommand(args[1:])
		case "load":
			return cluster.LoadImage(args[1:])
		}
	}
	return fmt.Errorf("usage: cluster image build|load")
}
