package cluster

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The cluster's processes all live below one cgroup, graphwright-NAME: the
// daemons in a child of it, the pods in kubepods, made by the kubelet. A cgroup
// of its own keeps two kubelets of one machine apart (each ends pods it does not
// know), and makes sure that "down" finds every last process.

// hierarchy is one mounted cgroup tree.
type hierarchy struct {
	path    string
	unified bool     // cgroup v2
	options []string // of the superblock: the controllers, in v1
}

// mountedHierarchies are all trees below /sys/fs/cgroup.
func mountedHierarchies() ([]hierarchy, error) {
	file, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var all []hierarchy
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		before, after, _ := strings.Cut(lines.Text(), " - ")
		fields, tail := strings.Fields(before), strings.Fields(after)
		if len(fields) < 5 || len(tail) < 3 || !strings.HasPrefix(fields[4], "/sys/fs/cgroup") {
			continue
		}
		if tail[0] == "cgroup" || tail[0] == "cgroup2" {
			all = append(all, hierarchy{path: fields[4], unified: tail[0] == "cgroup2", options: strings.Split(tail[2], ",")})
		}
	}
	return all, lines.Err()
}

// hierarchies are the trees the kubelet uses: the v2 tree if it is mounted at
// /sys/fs/cgroup itself, else every v1 tree.
func hierarchies() ([]hierarchy, error) {
	all, err := mountedHierarchies()
	if err != nil {
		return nil, err
	}
	var v1 []hierarchy
	for _, h := range all {
		if h.unified && h.path == "/sys/fs/cgroup" {
			return []hierarchy{h}, nil
		}
		if !h.unified {
			v1 = append(v1, h)
		}
	}
	if len(v1) == 0 {
		return nil, errors.New("this machine has no cgroups mounted at /sys/fs/cgroup: pods cannot run here")
	}
	return v1, nil
}

func (c *Cluster) cgroup() string { return "graphwright-" + c.Name }

func (c *Cluster) ensureCgroups() error {
	trees, err := hierarchies()
	if err != nil {
		return err
	}
	for _, tree := range trees {
		if tree.unified {
			if err := delegate(tree.path); err != nil {
				return err
			}
		}
		own := filepath.Join(tree.path, c.cgroup())
		if err := makeCgroup(tree, own); err != nil {
			return err
		}
		if tree.unified {
			if err := delegate(own); err != nil {
				return err
			}
		}
		if err := makeCgroup(tree, filepath.Join(own, "daemons")); err != nil {
			return err
		}
	}
	return nil
}

// delegate lets the children of a v2 cgroup use all its controllers.
func delegate(path string) error {
	available, err := os.ReadFile(filepath.Join(path, "cgroup.controllers"))
	if err != nil {
		return err
	}
	for _, controller := range strings.Fields(string(available)) {
		err := os.WriteFile(filepath.Join(path, "cgroup.subtree_control"), []byte("+"+controller), 0o644)
		if err != nil {
			return fmt.Errorf("cannot give the %s controller to the children of %s: %w", controller, path, err)
		}
	}
	return nil
}

func makeCgroup(tree hierarchy, path string) error {
	if err := os.Mkdir(path, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if tree.unified || !slices.Contains(tree.options, "cpuset") {
		return nil
	}
	// A v1 cpuset is born empty, and an empty one admits no process.
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		value, err := os.ReadFile(filepath.Join(filepath.Dir(path), file))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(path, file), value, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// daemonCgroups are where the daemons are put. In v1 one tree suffices to find
// them again: pids, which every kernel the kubelet accepts has.
func (c *Cluster) daemonCgroups() []string {
	if tree := c.trackingTree(); tree != "" {
		return []string{filepath.Join(tree, c.cgroup(), "daemons", "cgroup.procs")}
	}
	return nil
}

func (c *Cluster) trackingTree() string {
	trees, err := hierarchies()
	if err != nil {
		return ""
	}
	for _, tree := range trees {
		if tree.unified || slices.Contains(tree.options, "pids") {
			return tree.path
		}
	}
	return trees[0].path
}

// killAll ends every process of the cluster, containers included.
func (c *Cluster) killAll() error {
	root := filepath.Join(c.trackingTree(), c.cgroup())
	deadline := time.Now().Add(20 * time.Second)
	for {
		pids := processesBelow(root)
		if len(pids) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("processes %v of cluster %q do not end, even when killed", pids, c.Name)
		}
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(30 * time.Millisecond)
	}
}

func processesBelow(root string) []int {
	var pids []int
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "cgroup.procs" {
			return nil // a cgroup may vanish while we look
		}
		content, _ := os.ReadFile(path)
		for _, field := range strings.Fields(string(content)) {
			if pid, err := strconv.Atoi(field); err == nil && pid > 0 {
				pids = append(pids, pid)
			}
		}
		return nil
	})
	return pids
}

// removeCgroups removes the cluster's cgroups from every tree: runc puts
// containers into a v2 tree too that stands beside the v1 trees.
func (c *Cluster) removeCgroups() error {
	trees, err := mountedHierarchies()
	if err != nil {
		return err
	}
	for _, tree := range trees {
		if err := removeCgroup(filepath.Join(tree.path, c.cgroup())); err != nil {
			return err
		}
	}
	return nil
}

// removeCgroup removes a cgroup, its children first. The kernel may need a moment
// after the last process has ended.
func removeCgroup(root string) error {
	deadline := time.Now().Add(5 * time.Second)
	for {
		var problem error
		directories := directoriesBelow(root)
		for _, directory := range slices.Backward(directories) {
			if err := syscall.Rmdir(directory); err != nil && !errors.Is(err, syscall.ENOENT) {
				problem = fmt.Errorf("cannot remove cgroup %s: %w", directory, err)
			}
		}
		if problem == nil || time.Now().After(deadline) {
			return problem
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func directoriesBelow(root string) []string {
	var directories []string
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			directories = append(directories, path)
		}
		return nil // it may vanish while we look
	})
	return directories
}
