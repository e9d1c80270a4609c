package main
import (
 _ "k8s.io/kubectl/pkg/cmd"
)
