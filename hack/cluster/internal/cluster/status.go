package cluster

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
	"time"
)

// component is one line of "status".
type componentStatus struct {
	Name    string `json:"name"`
	Healthy bool   `json:"healthy"`
	Detail  string `json:"detail,omitempty"`
}

type clusterStatus struct {
	Name       string            `json:"name"`
	Mode       Mode              `json:"mode"`
	Server     string            `json:"server"`
	Kubeconfig string            `json:"kubeconfig"`
	Healthy    bool              `json:"healthy"`
	Components []componentStatus `json:"components"`
}

// Status is the command "status"; it fails if anything of the cluster does not work.
func Status(args []string) error {
	flags := flag.NewFlagSet("cluster status", flag.ExitOnError)
	target := targetFlags(flags)
	asJSON := flags.Bool("json", false, "print JSON")
	if err := parse(flags, args); err != nil {
		return err
	}
	c, err := target.load()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	status := c.status(ctx)
	if *asJSON {
		err = json.NewEncoder(os.Stdout).Encode(status)
	} else {
		err = status.print()
	}
	if err != nil {
		return err
	}
	if !status.Healthy {
		return fmt.Errorf("%w: \"cluster up\" starts what does not run; the logs are in %s", errUnhealthy, c.path("log"))
	}
	return nil
}

func (c *Cluster) status(ctx context.Context) clusterStatus {
	status := clusterStatus{Name: c.Name, Mode: c.Mode, Server: c.Server, Kubeconfig: c.adminKubeconfig()}
	names := slices.Clone(controlPlane)
	slices.Reverse(names)
	if c.Mode == Node {
		names = append(names, "containerd", "kubelet", "kube-proxy", "kube-router")
	}
	for _, name := range names {
		line := componentStatus{Name: name, Detail: "not running"}
		if pid := c.program(name).Pid(); pid != 0 {
			line = componentStatus{Name: name, Healthy: true, Detail: fmt.Sprintf("pid %d", pid)}
		}
		status.Components = append(status.Components, line)
	}
	status.Components = append(status.Components, c.checks(ctx)...)
	status.Healthy = true
	for _, line := range status.Components {
		status.Healthy = status.Healthy && line.Healthy
	}
	return status
}

// checks ask the API server about what no pid file can tell.
func (c *Cluster) checks(ctx context.Context) []componentStatus {
	client, err := c.client()
	if err != nil {
		return []componentStatus{check("API", err)}
	}
	_, err = client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
	checks := []componentStatus{check("API", err)}
	if c.Mode == Node && err == nil {
		checks = append(checks,
			check("node", nodeReady(ctx, client, c.Name)),
			check("DNS", dnsReady(ctx, client)))
	}
	return checks
}

func check(name string, err error) componentStatus {
	if err != nil {
		return componentStatus{Name: name, Detail: err.Error()}
	}
	return componentStatus{Name: name, Healthy: true, Detail: "ready"}
}

func (s clusterStatus) print() error {
	fmt.Printf("cluster %s (%s) at %s\nkubeconfig %s\n\n", s.Name, s.Mode, s.Server, s.Kubeconfig)
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, line := range s.Components {
		mark := "ok"
		if !line.Healthy {
			mark = "FAILED"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", line.Name, mark, line.Detail)
	}
	return table.Flush()
}
