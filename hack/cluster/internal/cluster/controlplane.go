package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"graphwright.dev/hack/cluster/internal/pki"
	"graphwright.dev/hack/cluster/internal/supervise"
)

// process describes a component run by this very program.
func (c *Cluster) process(component string, args ...string) (*supervise.Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return c.program(component, append([]string{self, component}, args...)...), nil
}

// program describes any supervised program of the cluster.
func (c *Cluster) program(name string, args ...string) *supervise.Process {
	p := &supervise.Process{
		Name:    name,
		Args:    args,
		Dir:     c.dir,
		PidFile: c.path("run", name+".pid"),
		LogFile: c.path("log", name+".log"),
		Tied:    c.tied,
	}
	if c.Mode == Node {
		p.NetNS = c.netnsPath()
		p.Cgroups = c.daemonCgroups()
	}
	return p
}

// start launches one component with the user's extra flags after ours.
func (c *Cluster) start(component, flagsOf string, args []string) (*supervise.Process, error) {
	p, err := c.process(component, append(args, c.Flags[flagsOf]...)...)
	if err != nil {
		return nil, err
	}
	return p, p.Start()
}

func (c *Cluster) ensurePKI() (*pki.Authority, error) {
	authority, err := pki.Ensure(c.path("pki"))
	if err != nil {
		return nil, err
	}
	if err := authority.EnsureKey("service-accounts"); err != nil {
		return nil, err
	}
	files := map[string]pki.Request{
		"apiserver": {
			User: "kube-apiserver",
			DNS: []string{
				"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
				"kubernetes.default.svc.cluster.local",
			},
			IPs: c.apiServerAddresses(),
		},
		"kubelet-client": {User: "kube-apiserver-kubelet-client", Groups: []string{"system:masters"}},
	}
	for name, request := range files {
		if err := authority.EnsureFiles(name, request); err != nil {
			return nil, err
		}
	}
	users := map[string]string{
		"controller-manager": "system:kube-controller-manager",
		"scheduler":          "system:kube-scheduler",
	}
	for name, user := range users {
		if err := c.ensureKubeconfig(authority, c.path("kubeconfig", name), user); err != nil {
			return nil, err
		}
	}
	return authority, c.ensureKubeconfig(authority, c.adminKubeconfig(), "admin", "system:masters")
}

func (c *Cluster) apiServerAddresses() []string {
	if c.Mode == ControlPlane {
		return []string{"127.0.0.1"}
	}
	return []string{"127.0.0.1", c.Network.Node, c.Network.APIService}
}

// startControlPlane returns once the API server answers and its controllers run.
func (c *Cluster) startControlPlane(ctx context.Context) error {
	etcd, err := c.start("etcd", "etcd", c.etcdArgs())
	if err != nil {
		return err
	}
	apiServer, err := c.start("kube-apiserver", "apiserver", c.apiServerArgs())
	if err != nil {
		return err
	}
	if err := c.waitForAPIServer(ctx, etcd, apiServer); err != nil {
		return err
	}
	manager, err := c.start("kube-controller-manager", "controller-manager", c.controllerManagerArgs())
	if err != nil {
		return err
	}
	scheduler, err := c.start("kube-scheduler", "scheduler", c.schedulerArgs())
	if err != nil {
		return err
	}
	return c.waitForControllers(ctx, manager, scheduler)
}

func (c *Cluster) etcdArgs() []string {
	client := "http://127.0.0.1:" + strconv.Itoa(c.Ports.Etcd)
	peer := "http://127.0.0.1:" + strconv.Itoa(c.Ports.EtcdPeer)
	return []string{
		"--data-dir=" + c.path("etcd"),
		"--unsafe-no-fsync", // the data need not outlive the machine
		"--log-level=error",
		"--listen-client-urls=" + client,
		"--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=default=" + peer,
	}
}

func (c *Cluster) apiServerArgs() []string {
	args := []string{
		"--etcd-servers=http://127.0.0.1:" + strconv.Itoa(c.Ports.Etcd),
		"--secure-port=" + strconv.Itoa(c.Ports.APIServer),
		"--client-ca-file=" + c.path("pki", "ca.crt"),
		"--tls-cert-file=" + c.path("pki", "apiserver.crt"),
		"--tls-private-key-file=" + c.path("pki", "apiserver.key"),
		"--kubelet-client-certificate=" + c.path("pki", "kubelet-client.crt"),
		"--kubelet-client-key=" + c.path("pki", "kubelet-client.key"),
		"--kubelet-certificate-authority=" + c.path("pki", "ca.crt"),
		"--kubelet-preferred-address-types=InternalIP",
		"--service-account-key-file=" + c.path("pki", "service-accounts.key"),
		"--service-account-signing-key-file=" + c.path("pki", "service-accounts.key"),
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--allow-privileged=true",
		"--profiling=false",
	}
	if c.Mode == ControlPlane {
		return append(args,
			"--bind-address=127.0.0.1",
			"--advertise-address=127.0.0.1",
			"--endpoint-reconciler-type=none", // an endpoint may not be a loopback address
			"--service-cluster-ip-range=10.96.0.0/16",
		)
	}
	return append(args,
		"--advertise-address="+c.Network.Node,
		"--service-cluster-ip-range="+c.Network.Services,
	)
}

func (c *Cluster) controllerManagerArgs() []string {
	return []string{
		"--kubeconfig=" + c.path("kubeconfig", "controller-manager"),
		"--service-account-private-key-file=" + c.path("pki", "service-accounts.key"),
		"--root-ca-file=" + c.path("pki", "ca.crt"),
		// Without it the controllers share one user that may not do their work.
		"--use-service-account-credentials=true",
		"--leader-elect=false",
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(c.Ports.ControllerManager),
		"--flex-volume-plugin-dir=" + c.path("volume-plugins"), // by default it makes one in /usr
		// At the default limit of 20 requests per second the controllers alone
		// take 4 seconds to start.
		"--kube-api-qps=500",
		"--kube-api-burst=1000",
	}
}

func (c *Cluster) schedulerArgs() []string {
	return []string{
		"--kubeconfig=" + c.path("kubeconfig", "scheduler"),
		"--leader-elect=false",
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(c.Ports.Scheduler),
	}
}

// controlPlane lists the processes of every cluster, in the order they end.
var controlPlane = []string{"kube-scheduler", "kube-controller-manager", "kube-apiserver", "etcd"}

// stop ends the named processes one after the other: the API server outlives
// SIGTERM for a long time once etcd is gone.
func (c *Cluster) stop(grace time.Duration, names ...string) error {
	var problems []string
	for _, name := range names {
		if err := c.program(name).Stop(grace); err != nil {
			problems = append(problems, err.Error())
		}
	}
	if len(problems) > 0 {
		return fmt.Errorf("%s", strings.Join(problems, "; "))
	}
	return nil
}

// processNames lists every process the cluster has a pid file of.
func (c *Cluster) processNames() []string {
	files, _ := filepath.Glob(c.path("run", "*.pid"))
	names := make([]string, 0, len(files))
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".pid"))
	}
	return names
}
