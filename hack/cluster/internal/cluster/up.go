package cluster

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"
)

// upOptions are the flags of "up".
type upOptions struct {
	target       target
	controlPlane bool
	foreground   bool
	json         bool
	volumes      int
	timeout      time.Duration
	users        listFlag
	flags        map[string][]string
}

func parseUp(args []string) (upOptions, error) {
	flags := flag.NewFlagSet("cluster up", flag.ExitOnError)
	o := upOptions{target: targetFlags(flags)}
	flags.BoolVar(&o.controlPlane, "control-plane", false, "only etcd, API server, controller manager and scheduler, on free ports of 127.0.0.1; needs no root")
	flags.BoolVar(&o.foreground, "foreground", false, "with --control-plane: stay, and end the cluster on SIGTERM, SIGINT or the end of standard input")
	flags.BoolVar(&o.json, "json", false, "print {name, server, kubeconfig, dir, users} instead of the kubeconfig's path; implied by --foreground")
	flags.IntVar(&o.volumes, "volumes", 4, "number of PersistentVolumes of storage class \"local\"")
	flags.DurationVar(&o.timeout, "timeout", 3*time.Minute, "give up after this time")
	flags.Var(&o.users, "user", "`NAME[=GROUP,...]`: also write DIR/users/NAME.kubeconfig; may be repeated")
	extra := extraFlags(flags)
	if err := parse(flags, args); err != nil {
		return o, err
	}
	o.flags = extra.values()
	if o.foreground && !o.controlPlane {
		return o, usageError{"--foreground goes with --control-plane only"}
	}
	return o, nil
}

// Up is the command "up".
func Up(args []string) error {
	o, err := parseUp(args)
	if err != nil {
		return err
	}
	if o.foreground {
		return runForeground(o)
	}
	dir, err := o.target.directory()
	if err != nil {
		return err
	}
	if !o.controlPlane && os.Geteuid() != 0 {
		return errors.New("a cluster that runs pods needs root (namespaces, mounts, cgroups): run it with sudo, or use --control-plane, which needs no root and runs no pods")
	}
	release, err := lock(dir+".lock", "waiting for another command to finish with "+dir)
	if err != nil {
		return err
	}
	defer release()
	ctx, cancel := context.WithTimeout(context.Background(), o.timeout)
	defer cancel()

	c, err := prepare(dir, o)
	if err != nil {
		return err
	}
	if err := c.bringUp(ctx); err != nil {
		return fmt.Errorf("%w\nthe logs are in %s; \"cluster down --name %s\" removes what was started", err, c.path("log"), c.Name)
	}
	return c.report(os.Stdout, o)
}

// prepare finds the cluster as it was, or writes down a new one.
func prepare(dir string, o upOptions) (*Cluster, error) {
	mode := Node
	if o.controlPlane {
		mode = ControlPlane
	}
	c, err := load(dir)
	if errors.Is(err, errNoCluster) {
		return create(dir, *o.target.name, mode, o)
	}
	if err != nil {
		return nil, err
	}
	if c.Mode != mode {
		return nil, fmt.Errorf("cluster %q exists in mode %q: end it first with \"cluster down --name %s\", or choose another --name", c.Name, c.Mode, c.Name)
	}
	if reason := c.unusable(); reason != "" {
		progress("%s since cluster %q came up: starting it anew", reason, c.Name)
		if err := c.remove(); err != nil {
			return nil, err
		}
		return create(dir, *o.target.name, mode, o)
	}
	if len(o.flags) > 0 && fmt.Sprint(o.flags) != fmt.Sprint(c.Flags) {
		return nil, fmt.Errorf("cluster %q runs with other component flags: end it first with \"cluster down --name %s\"", c.Name, c.Name)
	}
	return c, nil
}

// unusable says what happened that starting missing processes cannot mend.
func (c *Cluster) unusable() string {
	if c.BootID != bootID() {
		return "the machine was restarted"
	}
	if c.Mode == Node {
		if _, err := os.Stat(c.netnsPath()); err != nil {
			return "the network namespace was removed"
		}
	}
	return ""
}

func create(dir, name string, mode Mode, o upOptions) (*Cluster, error) {
	c := &Cluster{Name: name, Mode: mode, BootID: bootID(), Flags: o.flags, dir: dir}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("%w (GRAPHWRIGHT_STATE or --dir names another place)", err)
	}
	if mode == ControlPlane {
		ports, err := freePorts()
		if err != nil {
			return nil, err
		}
		c.Ports = ports
		c.Server = fmt.Sprintf("https://127.0.0.1:%d", ports.APIServer)
		return c, c.save()
	}
	if c.leftovers() {
		progress("removing what an earlier cluster %q left behind", name)
		if err := c.remove(); err != nil {
			return nil, err
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	c.Ports, c.Volumes = nodePorts, o.volumes
	return c, c.allocateNetwork()
}

// bringUp starts what does not run; what runs it leaves alone.
func (c *Cluster) bringUp(ctx context.Context) error {
	if err := c.makeDirectories(); err != nil {
		return err
	}
	if c.Mode == Node {
		return c.bringUpNode(ctx)
	}
	if _, err := c.ensurePKI(); err != nil {
		return err
	}
	return c.startControlPlane(ctx)
}
