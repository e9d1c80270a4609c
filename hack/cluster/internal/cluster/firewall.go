package cluster

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"graphwright.dev/hack/cluster/internal/supervise"
)

const firewallUsage = "usage: cluster firewall start|stop|status [--name NAME]"

// Firewall is the command "firewall": kube-router, which enforces
// NetworkPolicies and does nothing else here.
func Firewall(args []string) error {
	if len(args) == 0 {
		return usageError{firewallUsage}
	}
	flags := flag.NewFlagSet("cluster firewall", flag.ExitOnError)
	target := targetFlags(flags)
	if err := parse(flags, args[1:]); err != nil {
		return err
	}
	c, err := target.load()
	if err != nil {
		return err
	}
	if c.Mode != Node {
		return errors.New("a control plane alone has no pods and no firewall")
	}
	if os.Geteuid() != 0 {
		return errors.New("needs root")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	switch args[0] {
	case "start":
		return c.startFirewall(ctx)
	case "stop":
		return c.stopFirewall()
	case "status":
		if !c.program("kube-router").Running() {
			fmt.Println("stopped")
			return nil
		}
		fmt.Println("running")
		return nil
	}
	return usageError{firewallUsage}
}

func (c *Cluster) firewallProcess() (*supervise.Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	router := filepath.Join(filepath.Dir(self), "kube-router")
	if _, err := os.Stat(router); err != nil {
		return nil, fmt.Errorf("kube-router is missing beside %s: start the cluster with hack/cluster/cluster, which builds it", self)
	}
	return c.program("kube-router", router,
		"--kubeconfig="+c.path("kubeconfig", "kube-router"),
		"--run-firewall=true",
		"--run-router=false",
		"--run-service-proxy=false",
		"--run-loadbalancer=false",
		"--hostname-override="+c.Name,
		"--service-cluster-ip-range="+c.Network.Services,
		"--health-port=20244",
	), nil
}

// startFirewall returns when the first rules are in force.
func (c *Cluster) startFirewall(ctx context.Context) error {
	router, err := c.firewallProcess()
	if err != nil {
		return err
	}
	if err := router.Start(); err != nil {
		return err
	}
	return await(ctx, "the firewall's rules are in force", []*supervise.Process{router}, func(context.Context) error {
		// The chain is there early; its last rule comes with the policies.
		rules, err := c.inNetns("iptables", "-w", "-S", "KUBE-ROUTER-FORWARD").CombinedOutput()
		if err != nil {
			return fmt.Errorf("iptables: %w: %s", err, strings.TrimSpace(string(rules)))
		}
		if !strings.Contains(string(rules), "-j ACCEPT") {
			return errors.New("kube-router has not written them yet")
		}
		return nil
	})
}

// stopFirewall ends kube-router and everything it enforced. Nothing else of the
// cluster uses iptables' filter table or ipsets: kube-proxy speaks nftables.
func (c *Cluster) stopFirewall() error {
	if err := c.stop(0, "kube-router"); err != nil {
		return err
	}
	steps := []string{
		"iptables -w -F", "iptables -w -X", "ip6tables -w -F", "ip6tables -w -X", "ipset destroy",
	}
	for _, step := range steps {
		if output, err := c.inNetns(strings.Fields(step)...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", step, err, strings.TrimSpace(string(output)))
		}
	}
	return nil
}
