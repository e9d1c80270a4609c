package cluster

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// volumeOwner is the user that the operator's containers run as.
const volumeOwner = 65532

// applyAddons applies what every cluster has: DNS, the firewall's role, volumes.
func (c *Cluster) applyAddons(ctx context.Context) error {
	if err := c.recycleVolumes(ctx); err != nil {
		return err
	}
	for _, directory := range c.volumeDirectories() {
		if err := os.MkdirAll(directory, 0o770); err != nil {
			return err
		}
		if err := os.Chown(directory, volumeOwner, volumeOwner); err != nil {
			return err
		}
	}
	var manifests bytes.Buffer
	for _, name := range []string{"addons.yaml", "volumes.yaml"} {
		content, err := c.render(name)
		if err != nil {
			return err
		}
		manifests.Write(content)
		manifests.WriteString("\n---\n")
	}
	return c.apply(ctx, manifests.Bytes())
}

func (c *Cluster) apply(ctx context.Context, manifests []byte) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, self, "kubectl", "apply", "--kubeconfig="+c.adminKubeconfig(),
		"--server-side", "--force-conflicts", "--field-manager=graphwright-cluster", "-f", "-")
	command.Stdin = bytes.NewReader(manifests)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot apply the cluster's own manifests: %w\n%s", err, output)
	}
	return nil
}

// volumeDirectories maps each PersistentVolume to its directory.
func (c *Cluster) volumeDirectories() map[string]string {
	directories := map[string]string{}
	for i := range c.Volumes {
		name := fmt.Sprintf("local-%d", i)
		directories[name] = c.path("volumes", name)
	}
	return directories
}

// recycleVolumes empties the volumes whose claim is gone and offers them anew:
// a released volume of policy Retain is never bound again.
func (c *Cluster) recycleVolumes(ctx context.Context) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	for name, directory := range c.volumeDirectories() {
		volume, err := client.CoreV1().PersistentVolumes().Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return err
		}
		if volume.Status.Phase != corev1.VolumeReleased && volume.Status.Phase != corev1.VolumeFailed {
			continue
		}
		if err := os.RemoveAll(directory); err != nil {
			return err
		}
		if err := client.CoreV1().PersistentVolumes().Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
			return err
		}
		err = await(ctx, "volume "+name+" is deleted", nil, func(ctx context.Context) error {
			_, err := client.CoreV1().PersistentVolumes().Get(ctx, name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return nil
			}
			return fmt.Errorf("it is still there: %v", err)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
