package cluster

import "net"

// nodePorts are the usual ones: a node has a network of its own.
var nodePorts = Ports{Etcd: 2379, EtcdPeer: 2380, APIServer: 6443, ControllerManager: 10257, Scheduler: 10259}

// freePorts asks the system for ports that nobody has. All listeners are open at
// the same time, so that no port comes twice.
func freePorts() (Ports, error) {
	var numbers [5]int
	for i := range numbers {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return Ports{}, err
		}
		defer listener.Close()
		numbers[i] = listener.Addr().(*net.TCPAddr).Port
	}
	return Ports{
		Etcd:              numbers[0],
		EtcdPeer:          numbers[1],
		APIServer:         numbers[2],
		ControllerManager: numbers[3],
		Scheduler:         numbers[4],
	}, nil
}
