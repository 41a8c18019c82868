// Check compares the manifests of this directory with the API's own types, and runs a Pod by
// containerd's CRI, as a kubelet does. It is a module of its own: sbx needs none of this.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
	"sigs.k8s.io/yaml"
)

func main() {
	var err error
	switch args := os.Args[1:]; {
	case len(args) > 1 && args[0] == "manifests":
		err = manifests(args[1:])
	case len(args) > 5 && args[0] == "run":
		err = run(args[1], args[2], args[3], args[4], args[5:])
	default:
		err = errors.New("usage: check manifests FILE… | check run SOCKET HANDLER IMAGE CONFIG COMMAND…")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
		os.Exit(1)
	}
}

// kinds are the types of what the manifests may have.
var kinds = map[string]func() any{
	"v1 Namespace":                func() any { return new(corev1.Namespace) },
	"v1 ConfigMap":                func() any { return new(corev1.ConfigMap) },
	"v1 Pod":                      func() any { return new(corev1.Pod) },
	"apps/v1 DaemonSet":           func() any { return new(appsv1.DaemonSet) },
	"node.k8s.io/v1 RuntimeClass": func() any { return new(nodev1.RuntimeClass) },
}

// manifests decodes each document into its type, which must know every member, and prints
// its kind and name.
func manifests(files []string) error {
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for _, text := range bytes.Split(b, []byte("\n---\n")) {
			var of struct {
				APIVersion, Kind string
				Metadata         struct{ Name string }
			}
			if err := yaml.Unmarshal(text, &of); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			make, ok := kinds[of.APIVersion+" "+of.Kind]
			if !ok {
				return fmt.Errorf("%s: %s %s is no kind that is known here", file, of.APIVersion, of.Kind)
			}
			if err := yaml.UnmarshalStrict(text, make()); err != nil {
				return fmt.Errorf("%s: %s %s: %w", file, of.Kind, of.Metadata.Name, err)
			}
			fmt.Println(of.Kind, of.Metadata.Name)
		}
	}
	return nil
}

// config is what run is told of its Pod.
type config struct {
	Annotations map[string]string // of the Pod
}

// run makes a Pod of one container, prints what it says and what it is ended with, and
// removes both.
func run(socket, handler, image, text string, command []string) error {
	var c config
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	runtime := cri.NewRuntimeServiceClient(conn)
	logs, err := os.MkdirTemp(filepath.Dir(socket), "logs")
	if err != nil {
		return err
	}
	defer os.RemoveAll(logs)
	pod := &cri.PodSandboxConfig{
		Metadata:     &cri.PodSandboxMetadata{Name: "tests", Namespace: "default", Uid: fmt.Sprint(time.Now().UnixNano())},
		Hostname:     "tests",
		LogDirectory: logs,
		Annotations:  c.Annotations,
		DnsConfig:    &cri.DNSConfig{},
		Linux:        &cri.LinuxPodSandboxConfig{CgroupParent: "/sbx-e2e-pod"},
	}
	made, err := runtime.RunPodSandbox(ctx, &cri.RunPodSandboxRequest{Config: pod, RuntimeHandler: handler})
	if err != nil {
		return err
	}
	defer func() {
		_, _ = runtime.StopPodSandbox(ctx, &cri.StopPodSandboxRequest{PodSandboxId: made.PodSandboxId})
		_, _ = runtime.RemovePodSandbox(ctx, &cri.RemovePodSandboxRequest{PodSandboxId: made.PodSandboxId})
	}()
	container, err := runtime.CreateContainer(ctx, &cri.CreateContainerRequest{PodSandboxId: made.PodSandboxId, SandboxConfig: pod, Config: &cri.ContainerConfig{
		Metadata: &cri.ContainerMetadata{Name: "tests"},
		Image:    &cri.ImageSpec{Image: image},
		Command:  command,
		LogPath:  "log",
		Linux:    &cri.LinuxContainerConfig{SecurityContext: &cri.LinuxContainerSecurityContext{RunAsUser: &cri.Int64Value{}}},
	}})
	if err != nil {
		return err
	}
	if _, err := runtime.StartContainer(ctx, &cri.StartContainerRequest{ContainerId: container.ContainerId}); err != nil {
		return err
	}
	for {
		s, err := runtime.ContainerStatus(ctx, &cri.ContainerStatusRequest{ContainerId: container.ContainerId})
		if err != nil {
			return err
		}
		if s.Status.State == cri.ContainerState_CONTAINER_EXITED {
			if err := said(os.Stdout, filepath.Join(logs, "log")); err != nil {
				return err
			}
			fmt.Println("ended with", s.Status.ExitCode)
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// said writes a log of CRI's form, "time stream tag text".
func said(w io.Writer, file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.SplitN(line, " ", 4); len(f) == 4 {
			fmt.Fprint(w, f[3])
		}
	}
	return nil
}
