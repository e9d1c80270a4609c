package cluster

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// packages maps a program the node needs to the Debian package that has it.
var packages = []struct{ program, pkg string }{
	{"containerd", "containerd"},
	{"ctr", "containerd"},
	{"runc", "runc"},
	{"nft", "nftables"},
	{"iptables", "iptables"},
	{"ipset", "ipset"},
	{"ip", "iproute2"},
	{"nsenter", "util-linux"},
	{"mount", "mount"},
	{"modprobe", "kmod"},
	{"busybox", "busybox"}, // not for the node: the samples' image is made of it
}

// ensurePackages installs what is missing where apt can.
func ensurePackages() error {
	// Administration tools live in directories that not every shell has in PATH.
	_ = os.Setenv("PATH", os.Getenv("PATH")+":/usr/local/sbin:/usr/sbin:/sbin")
	missing := missingPackages()
	if len(missing) == 0 {
		return nil
	}
	if _, err := exec.LookPath("apt-get"); err != nil {
		return fmt.Errorf("this machine lacks %s, and has no apt-get to install it with: install it by hand (package names are Debian's)", strings.Join(missing, ", "))
	}
	progress("installing %s", strings.Join(missing, " "))
	install := append([]string{"install", "--yes", "--no-install-recommends"}, missing...)
	if err := aptGet(install...); err == nil {
		return nil
	}
	// A fresh machine has no package lists, or old ones.
	if err := aptGet("update"); err != nil {
		return err
	}
	return aptGet(install...)
}

func missingPackages() []string {
	var missing []string
	add := func(pkg string) {
		for _, known := range missing {
			if known == pkg {
				return
			}
		}
		missing = append(missing, pkg)
	}
	for _, p := range packages {
		if _, err := exec.LookPath(p.program); err != nil {
			add(p.pkg)
		}
	}
	if _, err := os.Stat(filepath.Join(cniPlugins(), "ptp")); err != nil {
		add("containernetworking-plugins")
	}
	return missing
}

func aptGet(args ...string) error {
	command := exec.Command("apt-get", append([]string{"-qq", "-o", "Dpkg::Use-Pty=0"}, args...)...)
	command.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("apt-get %s: %w\n%s", strings.Join(args, " "), err, output)
	}
	return nil
}
