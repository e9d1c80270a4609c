package cluster

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Down is the command "down".
func Down(args []string) error {
	flags := flag.NewFlagSet("cluster down", flag.ExitOnError)
	target := targetFlags(flags)
	all := flags.Bool("all", false, "every cluster in $GRAPHWRIGHT_STATE")
	if err := parse(flags, args); err != nil {
		return err
	}
	if !*all {
		return down(*target.name, *target.dir)
	}
	files, _ := filepath.Glob(filepath.Join(stateRoot(), "*", "cluster.json"))
	var problems []error
	for _, file := range files {
		problems = append(problems, down(filepath.Base(filepath.Dir(file)), ""))
	}
	return errors.Join(problems...)
}

func down(name, dir string) error {
	dir, err := directory(name, dir)
	if err != nil {
		return err
	}
	c, err := load(dir)
	if err != nil {
		// Damaged or half-made: everything is found by the name.
		c = &Cluster{Name: name, Mode: Node, dir: dir}
		if _, statErr := os.Stat(dir); statErr != nil && !c.leftovers() {
			progress("there is no cluster %q in %s: nothing to do", name, dir)
			return nil
		}
	}
	if c.Mode == Node && os.Geteuid() != 0 {
		return fmt.Errorf("cluster %q was started by root: end it as root", c.Name)
	}
	release, err := lock(dir+".lock", "waiting for another command to finish with "+dir)
	if err != nil {
		return err
	}
	defer release()
	if err := c.remove(); err != nil {
		return err
	}
	_ = os.Remove(dir + ".lock")
	progress("cluster %q is gone", c.Name)
	return nil
}

// remove ends the cluster and takes away everything it made on this machine.
func (c *Cluster) remove() error {
	if c.Mode == ControlPlane {
		if err := c.stop(5*time.Second, controlPlane...); err != nil {
			return err
		}
		return os.RemoveAll(c.dir)
	}
	// The kubelet first, or it would start again what ends now.
	if err := c.stop(0, "kubelet"); err != nil {
		return err
	}
	if err := c.killAll(); err != nil {
		return err
	}
	// Whatever ran before the cgroups were there.
	if err := c.stop(0, c.processNames()...); err != nil {
		return err
	}
	c.removeShimSockets()
	if err := unmountBelow(c.dir); err != nil {
		return err
	}
	if err := c.removeNetwork(); err != nil {
		return err
	}
	c.removeStrays()
	if err := c.removeCgroups(); err != nil {
		return err
	}
	return os.RemoveAll(c.dir)
}

// leftovers says whether the machine still holds parts of a cluster of that name.
func (c *Cluster) leftovers() bool {
	if _, err := os.Stat(c.netnsPath()); err == nil {
		return true
	}
	_, err := os.Stat(filepath.Join(c.trackingTree(), c.cgroup()))
	return err == nil
}

// removeShimSockets removes what containerd's shims leave in /run/containerd
// when they are killed; each notes its socket in the container's bundle.
func (c *Cluster) removeShimSockets() {
	notes, _ := filepath.Glob(c.path("containerd-run", "io.containerd.runtime.v2.task", "*", "*", "address"))
	for _, note := range notes {
		address, err := os.ReadFile(note)
		if err != nil {
			continue
		}
		if socket, isUnix := strings.CutPrefix(strings.TrimSpace(string(address)), "unix://"); isUnix {
			_ = os.Remove(socket)
		}
	}
}

// removeStrays removes the few files whose places are fixed: CNI's notes of the
// pods' networks, and what the kubelet leaves outside of its own directory.
func (c *Cluster) removeStrays() {
	// A note is named NETWORK-SANDBOX-INTERFACE; the loopback's network has the
	// same name in every cluster.
	sandboxes, _ := filepath.Glob(c.path("containerd", "io.containerd.grpc.v1.cri", "sandboxes", "*"))
	for _, sandbox := range sandboxes {
		notes, _ := filepath.Glob("/var/lib/cni/results/*-" + filepath.Base(sandbox) + "-*")
		for _, note := range notes {
			_ = os.Remove(note)
		}
	}
	links, _ := filepath.Glob("/var/log/containers/*.log")
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && strings.HasPrefix(target, c.dir+"/") {
			_ = os.Remove(link)
		}
	}
	// All kubelets share this socket; the last one to go leaves it dead.
	const plugins = "/var/lib/kubelet/device-plugins"
	if connection, err := net.Dial("unix", plugins+"/kubelet.sock"); err == nil {
		_ = connection.Close()
		return
	}
	_ = os.Remove(plugins + "/kubelet.sock")
	_ = os.Remove(plugins) // both only where nothing else is in them
	_ = os.Remove(filepath.Dir(plugins))
}

// unmountBelow unmounts everything mounted in a directory, the deepest first.
func unmountBelow(dir string) error {
	file, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	defer file.Close()
	var points []string
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) > 4 && strings.HasPrefix(unescape(fields[4]), dir+"/") {
			points = append(points, unescape(fields[4]))
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	slices.Reverse(points) // a mount is listed after what it lies on
	for _, point := range points {
		err := syscall.Unmount(point, syscall.MNT_DETACH)
		if err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot unmount %s: %w", point, err)
		}
	}
	return nil
}

// unescape reads a path of /proc/self/mountinfo, where a space is \040.
func unescape(path string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(path)
}
