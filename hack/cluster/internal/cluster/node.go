package cluster

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"

	"graphwright.dev/hack/cluster/internal/pki"
	"graphwright.dev/hack/cluster/internal/supervise"
	"k8s.io/client-go/kubernetes"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

//go:embed templates
var templates embed.FS

// bringUpNode starts the control plane and a node that runs pods. The container
// runtime and its images get ready while the API server starts.
func (c *Cluster) bringUpNode(ctx context.Context) error {
	if err := ensurePackages(); err != nil {
		return err
	}
	if err := c.ensureNetwork(); err != nil {
		return err
	}
	if err := c.ensureCgroups(); err != nil {
		return err
	}
	authority, err := c.ensurePKI()
	if err != nil {
		return err
	}
	if err := c.ensureNodeFiles(authority); err != nil {
		return err
	}
	containerd := c.program("containerd", "containerd", "--config", c.path("containerd.toml"))
	if err := containerd.Start(); err != nil {
		return err
	}
	images := make(chan error, 1)
	go func() { images <- c.loadOwnImages(ctx, containerd) }()
	if err := c.startControlPlane(ctx); err != nil {
		return err
	}
	if err := <-images; err != nil {
		return err
	}
	started, err := c.startNode()
	if err != nil {
		return err
	}
	if err := c.applyAddons(ctx); err != nil {
		return err
	}
	needed := append(started, containerd)
	if err := c.waitForRegistration(ctx, needed); err != nil {
		return err
	}
	if err := c.startFirewall(ctx); err != nil {
		return err
	}
	return c.waitForNode(ctx, needed)
}

func (c *Cluster) startNode() ([]*supervise.Process, error) {
	kubelet, err := c.start("kubelet", "kubelet", []string{
		"--config=" + c.path("kubelet.yaml"),
		"--kubeconfig=" + c.path("kubeconfig", "kubelet"),
		"--root-dir=" + c.path("kubelet"),
		"--hostname-override=" + c.Name,
		"--node-ip=" + c.Network.Node,
	})
	if err != nil {
		return nil, err
	}
	proxy, err := c.start("kube-proxy", "proxy", []string{"--config=" + c.path("proxy.yaml")})
	return []*supervise.Process{kubelet, proxy}, err
}

// ensureNodeFiles writes the node's certificates, kubeconfigs and configuration.
func (c *Cluster) ensureNodeFiles(authority *pki.Authority) error {
	err := authority.EnsureFiles("kubelet", pki.Request{
		User: "system:node:" + c.Name, Groups: []string{"system:nodes"}, DNS: []string{c.Name}, IPs: []string{c.Network.Node, "127.0.0.1"},
	})
	if err != nil {
		return err
	}
	if err := c.ensureKubeconfig(authority, c.path("kubeconfig", "kubelet"), "system:node:"+c.Name, "system:nodes"); err != nil {
		return err
	}
	if err := c.ensureKubeconfig(authority, c.path("kubeconfig", "kube-proxy"), "system:kube-proxy"); err != nil {
		return err
	}
	if err := c.ensureKubeconfig(authority, c.path("kubeconfig", "kube-router"), "kube-router"); err != nil {
		return err
	}
	if err := os.MkdirAll(c.path("cni"), 0o755); err != nil {
		return err
	}
	return c.ensureConfiguration()
}

// ensureConfiguration writes the configuration files that changed, which is
// all of them at first, and ends the daemons that read an older one: they are
// started again with the rest. An unchanged file is not touched, because
// kube-proxy exits when its own is written.
func (c *Cluster) ensureConfiguration() error {
	files := []struct{ template, place, reader string }{
		{"containerd.toml", c.path("containerd.toml"), "containerd"},
		{"kubelet.yaml", c.path("kubelet.yaml"), "kubelet"},
		{"proxy.yaml", c.path("proxy.yaml"), "kube-proxy"},
		{"cni.json", c.path("cni", "10-pods.conflist"), "containerd"},
	}
	for _, file := range files {
		content, err := c.render(file.template)
		if err != nil {
			return err
		}
		if existing, err := os.ReadFile(file.place); err == nil && bytes.Equal(existing, content) {
			continue
		}
		if err := c.stop(10*time.Second, file.reader); err != nil {
			return err
		}
		if err := os.WriteFile(file.place, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// render fills in one of the embedded templates.
func (c *Cluster) render(name string) ([]byte, error) {
	parsed, err := template.New(name).
		Funcs(template.FuncMap{"path": c.path, "json": toJSON}).
		Option("missingkey=error").
		ParseFS(templates, "templates/"+name)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = parsed.Execute(&out, map[string]any{
		"Name":         c.Name,
		"NetworkName":  c.netns(),
		"Cgroup":       c.cgroup(),
		"Network":      c.Network,
		"Volumes":      c.volumeDirectories(),
		"CNIPlugins":   cniPlugins(),
		"PauseImage":   pauseImage,
		"CoreDNSImage": coreDNSImage,
	})
	return out.Bytes(), err
}

func toJSON(value any) (string, error) {
	content, err := json.Marshal(value)
	return string(content), err
}

// cniPlugins is where Debian keeps them, else where everybody else does.
func cniPlugins() string {
	for _, dir := range []string{"/usr/lib/cni", "/usr/libexec/cni"} {
		if _, err := os.Stat(filepath.Join(dir, "ptp")); err == nil {
			return dir
		}
	}
	return "/opt/cni/bin"
}

// waitForRegistration waits until the API server knows the node: kube-router ends
// at once where it does not find its own.
func (c *Cluster) waitForRegistration(ctx context.Context, needed []*supervise.Process) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	return await(ctx, "the node is registered", needed, func(ctx context.Context) error {
		_, err := client.CoreV1().Nodes().Get(ctx, c.Name, metav1.GetOptions{})
		return err
	})
}

// waitForNode waits until pods can run and find each other by name.
func (c *Cluster) waitForNode(ctx context.Context, needed []*supervise.Process) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	err = await(ctx, "the node is ready", needed, func(ctx context.Context) error { return nodeReady(ctx, client, c.Name) })
	if err != nil {
		return err
	}
	return await(ctx, "CoreDNS is ready", needed, func(ctx context.Context) error { return dnsReady(ctx, client) })
}

func nodeReady(ctx context.Context, client kubernetes.Interface, name string) error {
	node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
			return nil
		} else if condition.Type == corev1.NodeReady {
			return fmt.Errorf("node %s: %s", name, condition.Message)
		}
	}
	return fmt.Errorf("node %s has not reported yet", name)
}

func dnsReady(ctx context.Context, client kubernetes.Interface) error {
	deployment, err := client.AppsV1().Deployments("kube-system").Get(ctx, "coredns", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if deployment.Status.ReadyReplicas > 0 {
		return nil
	}
	pods, err := client.CoreV1().Pods("kube-system").List(ctx, metav1.ListOptions{LabelSelector: "k8s-app=kube-dns"})
	if err != nil {
		return err
	}
	var states []string
	for _, pod := range pods.Items {
		states = append(states, fmt.Sprintf("pod %s is %s %s", pod.Name, pod.Status.Phase, pod.Status.Message))
	}
	return fmt.Errorf("CoreDNS is not ready: %s", strings.Join(states, ", "))
}
