package cluster

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/opencontainers/go-digest"
	"graphwright.dev/hack/cluster/internal/image"
	"graphwright.dev/hack/cluster/internal/supervise"
)

const (
	pauseImage   = "localhost/graphwright-cluster/pause:1"
	coreDNSImage = "localhost/graphwright-cluster/coredns:1"
)

// LoadImage is "cluster image load".
func LoadImage(args []string) error {
	flags := flag.NewFlagSet("cluster image load", flag.ExitOnError)
	target := targetFlags(flags)
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "usage: cluster image load [flags] ARCHIVE…")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		flags.Usage()
		return usageError{"needs an archive"}
	}
	c, err := target.load()
	if err != nil {
		return err
	}
	if c.Mode != Node {
		return errors.New("a control plane alone runs no containers")
	}
	for _, archive := range flags.Args() {
		if err := c.loadImage(context.Background(), archive); err != nil {
			return err
		}
	}
	return nil
}

// loadImage imports an archive, unless every image in it is there already.
func (c *Cluster) loadImage(ctx context.Context, archive string) error {
	wanted, err := image.Content(archive)
	if err != nil {
		return err
	}
	present, err := c.presentImages(ctx)
	if err != nil {
		return err
	}
	missing := len(wanted) == 0
	for name, digest := range wanted {
		missing = missing || present[name] != digest
	}
	if !missing {
		return nil
	}
	if output, err := c.ctr(ctx, "images", "import", archive).CombinedOutput(); err != nil {
		return fmt.Errorf("cannot load %s: %w: %s", archive, err, strings.TrimSpace(string(output)))
	}
	return nil
}

func (c *Cluster) presentImages(ctx context.Context) (map[string]digest.Digest, error) {
	output, err := c.ctr(ctx, "images", "list").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("cannot list the images: %w: %s", err, strings.TrimSpace(string(output)))
	}
	images := map[string]digest.Digest{}
	for _, line := range strings.Split(string(output), "\n") {
		if fields := strings.Fields(line); len(fields) > 2 && strings.HasPrefix(fields[2], "sha256:") {
			images[fields[0]] = digest.Digest(fields[2])
		}
	}
	return images, nil
}

// ctr is containerd's own client, in the namespace that the kubelet uses.
func (c *Cluster) ctr(ctx context.Context, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, "ctr", append([]string{"--address", c.path("containerd.sock"), "--namespace", "k8s.io"}, args...)...)
}

// loadOwnImages loads the sandbox's image and CoreDNS's, once containerd listens.
func (c *Cluster) loadOwnImages(ctx context.Context, containerd *supervise.Process) error {
	err := await(ctx, "containerd answers", []*supervise.Process{containerd}, func(ctx context.Context) error {
		return c.ctr(ctx, "version").Run()
	})
	if err != nil {
		return err
	}
	for _, build := range []func() (string, error){pauseArchive, coreDNSArchive} {
		archive, err := build()
		if err != nil {
			return err
		}
		if err := c.loadImage(ctx, archive); err != nil {
			return err
		}
	}
	return nil
}

func pauseArchive() (string, error) {
	return ownArchive("pause", image.Spec{
		Tag:        pauseImage,
		Layers:     []image.Layer{{Entries: []image.Entry{{Path: "/pause", From: beside("pause"), Mode: "0755"}}}},
		User:       "65535:65535",
		Entrypoint: []string{"/pause"},
	})
}

func coreDNSArchive() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	return ownArchive("coredns", image.Spec{
		Tag:        coreDNSImage,
		Layers:     []image.Layer{{Entries: []image.Entry{{Path: "/graphwright-cluster", From: self, Mode: "0755"}}}},
		Entrypoint: []string{"/graphwright-cluster", "coredns"},
	})
}

// ownArchive builds an archive beside this program, once: both are of one version.
func ownArchive(name string, spec image.Spec) (string, error) {
	archive := beside(name + ".image.tar")
	if _, err := os.Stat(archive); err == nil {
		return archive, nil
	}
	return archive, image.Build(spec, archive)
}

// beside is a file in the directory of this program.
func beside(name string) string {
	self, err := os.Executable()
	if err != nil {
		return name
	}
	return filepath.Join(filepath.Dir(self), name)
}
