// Package cluster brings a Kubernetes cluster up on this machine and takes it
// down again.
package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

// Mode says how much of a cluster there is.
type Mode string

const (
	// Node is everything, pods included; it needs root.
	Node Mode = "node"
	// ControlPlane is etcd, API server, controller manager and scheduler on
	// 127.0.0.1, as any user.
	ControlPlane Mode = "control-plane"
)

// Cluster is one cluster: what cluster.json in its directory remembers.
type Cluster struct {
	Name string `json:"name"`
	Mode Mode   `json:"mode"`
	// BootID is that of the boot the processes and namespaces belong to.
	BootID string `json:"bootID"`
	// Server is the API server's URL.
	Server string `json:"server"`
	Ports  Ports  `json:"ports"`
	// Network is set in mode Node alone.
	Network *Network `json:"network,omitempty"`
	// Flags are extra flags by component.
	Flags map[string][]string `json:"flags,omitempty"`
	// Volumes is the number of PersistentVolumes.
	Volumes int `json:"volumes,omitempty"`

	dir  string
	tied bool // the processes end with the command that started them
}

// Ports are the ports the control plane listens on.
type Ports struct {
	Etcd              int `json:"etcd"`
	EtcdPeer          int `json:"etcdPeer"`
	APIServer         int `json:"apiServer"`
	ControllerManager int `json:"controllerManager"`
	Scheduler         int `json:"scheduler"`
}

var validName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,28}[a-z0-9])?$`)

// stateRoot holds one directory per cluster.
func stateRoot() string {
	if root := os.Getenv("GRAPHWRIGHT_STATE"); root != "" {
		return root
	}
	if os.Geteuid() == 0 {
		return "/var/lib/graphwright-cluster"
	}
	if state := os.Getenv("XDG_STATE_HOME"); state != "" {
		return filepath.Join(state, "graphwright-cluster")
	}
	return filepath.Join(os.Getenv("HOME"), ".local", "state", "graphwright-cluster")
}

// directory is where the cluster of that name lives, unless one is given.
func directory(name, dir string) (string, error) {
	if !validName.MatchString(name) {
		return "", fmt.Errorf("--name %q: up to 30 lower-case letters, digits and inner dashes", name)
	}
	if dir == "" {
		dir = filepath.Join(stateRoot(), name)
	}
	return filepath.Abs(dir)
}

var errNoCluster = errors.New("there is no cluster")

// load reads a cluster that was brought up before, whole or in part.
func load(dir string) (*Cluster, error) {
	content, err := os.ReadFile(filepath.Join(dir, "cluster.json"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w in %s: start it with \"cluster up\"", errNoCluster, dir)
	}
	if err != nil {
		return nil, err
	}
	c := &Cluster{dir: dir}
	if err := json.Unmarshal(content, c); err != nil {
		return nil, fmt.Errorf("%s/cluster.json is damaged (%w): remove the cluster with \"cluster down --name %s\"", dir, err, filepath.Base(dir))
	}
	return c, nil
}

func (c *Cluster) save() error {
	content, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	partial := c.path("cluster.json.new")
	if err := os.WriteFile(partial, content, 0o644); err != nil {
		return err
	}
	return os.Rename(partial, c.path("cluster.json"))
}

func (c *Cluster) path(elements ...string) string {
	return filepath.Join(append([]string{c.dir}, elements...)...)
}

func (c *Cluster) adminKubeconfig() string { return c.path("admin.kubeconfig") }

func (c *Cluster) makeDirectories() error {
	for _, name := range []string{"log", "run", "kubeconfig"} {
		if err := os.MkdirAll(c.path(name), 0o755); err != nil {
			return err
		}
	}
	return nil
}

func bootID() string {
	content, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(content))
}

// lock waits until no other command works on the same thing; the lock goes with
// the returned function, or with the process.
func lock(path, waiting string) (release func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("%w (GRAPHWRIGHT_STATE names another place)", err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		progress("%s", waiting)
		if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
			return nil, err
		}
	}
	return func() { _ = file.Close() }, nil
}

func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
}
