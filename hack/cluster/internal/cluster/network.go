package cluster

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Network is the addresses of one cluster. Every cluster of the machine has an
// index of its own, and everything else follows from it.
type Network struct {
	Index      int    `json:"index"`
	Host       string `json:"host"`       // this machine's end of the link
	Node       string `json:"node"`       // the node's end, and its address
	Pods       string `json:"pods"`       // CIDR
	Services   string `json:"services"`   // CIDR
	APIService string `json:"apiService"` // ClusterIP of Service kubernetes
	DNS        string `json:"dns"`        // ClusterIP of Service kube-dns
}

func networkAt(index int) *Network {
	return &Network{
		Index:      index,
		Host:       fmt.Sprintf("10.245.%d.1", index),
		Node:       fmt.Sprintf("10.245.%d.2", index),
		Pods:       fmt.Sprintf("10.244.%d.0/24", index),
		Services:   fmt.Sprintf("10.246.%d.0/24", index),
		APIService: fmt.Sprintf("10.246.%d.1", index),
		DNS:        fmt.Sprintf("10.246.%d.10", index),
	}
}

// allocateNetwork takes the first index that neither another cluster nor one of
// this machine's own networks uses, and saves the cluster with it.
func (c *Cluster) allocateNetwork() error {
	// The machine's, not the state directory's: addresses are shared by all.
	release, err := lock("/run/graphwright-cluster.lock", "waiting for another cluster to choose its addresses")
	if err != nil {
		return err
	}
	defer release()
	taken := takenIndexes()
	local, err := localPrefixes()
	if err != nil {
		return err
	}
	for index := range 255 {
		candidate := networkAt(index)
		if taken[index] || overlapsAny(candidate, local) {
			continue
		}
		c.Network = candidate
		c.Server = fmt.Sprintf("https://%s:%d", candidate.Node, c.Ports.APIServer)
		if err := c.save(); err != nil {
			return err
		}
		// The link is made under the lock: it is what says "taken" to clusters
		// whose state lies elsewhere.
		return c.ensureNetwork()
	}
	return fmt.Errorf("no free addresses: 10.244.0.0/16 to 10.246.0.0/16 are all in use on this machine")
}

func takenIndexes() map[int]bool {
	taken := map[int]bool{}
	files, _ := filepath.Glob(filepath.Join(stateRoot(), "*", "cluster.json"))
	for _, file := range files {
		other, err := load(filepath.Dir(file))
		if err == nil && other.Network != nil {
			taken[other.Network.Index] = true
		}
	}
	return taken
}

// localPrefixes are the networks of this machine's interfaces.
func localPrefixes() ([]netip.Prefix, error) {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	var prefixes []netip.Prefix
	for _, address := range addresses {
		if prefix, err := netip.ParsePrefix(address.String()); err == nil {
			prefixes = append(prefixes, prefix)
		}
	}
	return prefixes, nil
}

func overlapsAny(n *Network, prefixes []netip.Prefix) bool {
	for _, cidr := range []string{n.Host + "/30", n.Pods, n.Services} {
		own := netip.MustParsePrefix(cidr)
		for _, prefix := range prefixes {
			if own.Overlaps(prefix) {
				return true
			}
		}
	}
	return false
}

func (c *Cluster) netns() string     { return "graphwright-" + c.Name }
func (c *Cluster) netnsPath() string { return "/run/netns/" + c.netns() }

// hostLink and nodeLink are the two ends of the veth pair; an interface's name
// has 15 characters at most, so it is made of the index.
func (c *Cluster) hostLink() string { return fmt.Sprintf("gwc%d-host", c.Network.Index) }
func (c *Cluster) nodeLink() string { return fmt.Sprintf("gwc%d-node", c.Network.Index) }

// ensureNetwork makes the namespace and the link into it, where missing.
func (c *Cluster) ensureNetwork() error {
	if _, err := os.Stat(c.netnsPath()); err == nil {
		return nil
	}
	n := c.Network
	steps := [][]string{
		{"netns", "add", c.netns()},
		{"link", "add", c.hostLink(), "type", "veth", "peer", "name", c.nodeLink(), "netns", c.netns()},
		{"link", "set", c.hostLink(), "alias", c.netns()}, // how it is found without cluster.json
		{"address", "add", n.Host + "/30", "dev", c.hostLink()},
		{"link", "set", c.hostLink(), "up"},
		{"-n", c.netns(), "link", "set", "lo", "up"},
		{"-n", c.netns(), "address", "add", n.Node + "/30", "dev", c.nodeLink()},
		{"-n", c.netns(), "link", "set", c.nodeLink(), "up"},
		// There is nothing beyond the host: say so at once instead of letting
		// an image pull or a name lookup run into its timeout.
		{"-n", c.netns(), "route", "add", "unreachable", "default"},
		// Services and pods can be reached from the host.
		{"route", "add", n.Services, "via", n.Node},
		{"route", "add", n.Pods, "via", n.Node},
	}
	for _, step := range steps {
		if err := run("ip", step...); err != nil {
			_ = c.removeNetwork() // half a network would look like a whole one
			return err
		}
	}
	// /proc/sys/net shows the namespace of whoever opens it.
	if err := c.inNetns("sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward").Run(); err != nil {
		return fmt.Errorf("cannot switch on forwarding in the namespace: %w", err)
	}
	return nil
}

func (c *Cluster) removeNetwork() error {
	aliases, _ := filepath.Glob("/sys/class/net/gwc*-host/ifalias")
	for _, file := range aliases {
		alias, err := os.ReadFile(file)
		if err != nil || strings.TrimSpace(string(alias)) != c.netns() {
			continue
		}
		if err := run("ip", "link", "delete", filepath.Base(filepath.Dir(file))); err != nil {
			return err
		}
	}
	if _, err := os.Stat(c.netnsPath()); err != nil {
		return nil
	}
	return run("ip", "netns", "delete", c.netns())
}

// inNetns is a command that runs inside the node's network namespace.
func (c *Cluster) inNetns(args ...string) *exec.Cmd {
	return exec.Command("nsenter", append([]string{"--net=" + c.netnsPath(), "--"}, args...)...)
}

// run runs a program, and its error carries what the program said.
func run(name string, args ...string) error {
	output, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(string(output)))
	}
	return nil
}
