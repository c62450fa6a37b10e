package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"
)

// flinkDeployment is what a manifest may say to Flink's operator, by its custom resource flink.apache.org/v1beta1. Pods
// are in the words of Kubernetes.
type flinkDeployment struct {
	APIVersion, Kind string
	Metadata         struct{ Name string }
	Spec             struct {
		Image, FlinkVersion, ServiceAccount string
		FlinkConfiguration                  map[string]string
		PodTemplate                         podOfOperator
		JobManager, TaskManager             struct {
			Resource struct {
				CPU    float64
				Memory string
			}
			PodTemplate podOfOperator
		}
	}
}

// podOfOperator is a template of a pod, which names its own kind.
type podOfOperator struct {
	APIVersion, Kind string
	Metadata         struct{ Name string }
	Spec             corev1.PodSpec
}

// kinds makes an empty object of each kind that a manifest has.
var kinds = map[string]func() any{
	"ConfigMap":       func() any { return new(corev1.ConfigMap) },
	"CronJob":         func() any { return new(batchv1.CronJob) },
	"Deployment":      func() any { return new(appsv1.Deployment) },
	"FlinkDeployment": func() any { return new(flinkDeployment) },
	"Job":             func() any { return new(batchv1.Job) },
	"NetworkPolicy":   func() any { return new(networkingv1.NetworkPolicy) },
	"Service":         func() any { return new(corev1.Service) },
	"ServiceAccount":  func() any { return new(corev1.ServiceAccount) },
}

// objects reads a manifest strictly: a field that Kubernetes does not know fails the test.
func objects(t *testing.T, path string) (all []any) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for part := range bytes.SplitSeq(content, []byte("\n---\n")) {
		part = slices.Clone(part)
		var named struct{ Kind string }
		if err := yaml.Unmarshal(part, &named); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if kinds[named.Kind] == nil {
			t.Fatalf("%s: nobody knows the kind %q", path, named.Kind)
		}
		object := kinds[named.Kind]()
		if err := yaml.UnmarshalStrict(append(part, '\n'), object); err != nil {
			t.Errorf("%s: %s: %v", path, named.Kind, err)
		}
		all = append(all, object)
	}
	return all
}

// TestManifests: Kubernetes knows every field. No container has rights, can write to its root, or takes memory or disk
// without a limit, and whoever is to stay is asked whether it lives.
func TestManifests(t *testing.T) {
	var pods int
	for _, path := range []string{
		"../../deploy/flink/kubernetes.yaml", "../../deploy/flink/job.yaml", "../../deploy/flink/operator.yaml",
		"../schedule/cronjob.yaml",
	} {
		for _, object := range objects(t, path) {
			switch o := object.(type) {
			case *appsv1.Deployment:
				checkPod(t, path+" "+o.Name, &o.Spec.Template.Spec, true)
			case *batchv1.Job:
				checkPod(t, path+" "+o.Name, &o.Spec.Template.Spec, false)
			case *batchv1.CronJob:
				checkPod(t, path+" "+o.Name, &o.Spec.JobTemplate.Spec.Template.Spec, false)
			case *flinkDeployment:
				// The operator merges the templates, and gives Flink's own container its memory and its probes.
				whole := o.Spec.PodTemplate.Spec
				whole.Containers = append(o.Spec.TaskManager.PodTemplate.Spec.Containers, whole.Containers...)
				whole.Volumes = append(o.Spec.TaskManager.PodTemplate.Spec.Volumes, whole.Volumes...)
				flinks := &whole.Containers[len(whole.Containers)-1]
				flinks.Resources.Limits[corev1.ResourceMemory] = flinks.Resources.Limits[corev1.ResourceEphemeralStorage]
				flinks.LivenessProbe = whole.Containers[0].LivenessProbe
				checkPod(t, path+" "+o.Metadata.Name, &whole, true)
			default:
				continue
			}
			pods++
		}
	}
	if pods != 6 {
		t.Errorf("%d pods were checked, want 6", pods)
	}
}

// TestPolicies: a stranger in the network of the pods reaches none of those that stay. None of them asks for a
// password.
func TestPolicies(t *testing.T) {
	for _, path := range []string{
		"../../deploy/flink/kubernetes.yaml", "../../deploy/flink/job.yaml",
		"../../deploy/flink/operator.yaml",
	} {
		var pods []map[string]string
		var policies []*networkingv1.NetworkPolicy
		for _, object := range objects(t, path) {
			switch o := object.(type) {
			case *appsv1.Deployment:
				pods = append(pods, o.Spec.Template.Labels)
			case *flinkDeployment:
				for _, component := range []string{"jobmanager", "taskmanager"} { // labels that the operator gives
					pods = append(pods, map[string]string{"app": o.Metadata.Name, "component": component})
				}
			case *networkingv1.NetworkPolicy:
				policies = append(policies, o)
			}
		}
		for _, pod := range pods {
			if !slices.ContainsFunc(policies, func(p *networkingv1.NetworkPolicy) bool { return isClosed(p, pod) }) {
				t.Errorf("%s: everybody reaches the pods %v", path, pod)
			}
		}
	}
}

// isClosed reports whether a policy lets only some pods reach those with these labels.
func isClosed(p *networkingv1.NetworkPolicy, labels map[string]string) bool {
	for name, value := range p.Spec.PodSelector.MatchLabels {
		if labels[name] != value {
			return false
		}
	}
	isOpen := func(rule networkingv1.NetworkPolicyIngressRule) bool { return len(rule.From) == 0 }
	return slices.Contains(p.Spec.PolicyTypes, networkingv1.PolicyTypeIngress) &&
		!slices.ContainsFunc(p.Spec.Ingress, isOpen)
}

func checkPod(t *testing.T, name string, pod *corev1.PodSpec, stays bool) {
	t.Helper()
	if c := pod.SecurityContext; c == nil || c.RunAsNonRoot == nil || !*c.RunAsNonRoot || c.SeccompProfile == nil {
		t.Errorf("%s: may run as root", name)
	}
	var volumes []string
	for _, v := range pod.Volumes {
		volumes = append(volumes, v.Name)
		if v.EmptyDir != nil && v.EmptyDir.SizeLimit == nil {
			t.Errorf("%s: the volume %s has no limit", name, v.Name)
		}
	}
	for i := range pod.Containers {
		c := &pod.Containers[i]
		if s := c.SecurityContext; s == nil || s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem ||
			s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation ||
			s.Capabilities == nil || !slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) {
			t.Errorf("%s: the container %s has rights", name, c.Name)
		}
		for _, limited := range []corev1.ResourceName{corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
			if _, has := c.Resources.Limits[limited]; !has {
				t.Errorf("%s: the container %s has no limit of %s", name, c.Name, limited)
			}
		}
		if stays && c.LivenessProbe == nil {
			t.Errorf("%s: nobody asks whether the container %s lives", name, c.Name)
		}
		var hasTemp bool
		for _, m := range c.VolumeMounts {
			hasTemp = hasTemp || m.MountPath == "/tmp" || m.MountPath == "/temp"
			if !slices.Contains(volumes, m.Name) {
				t.Errorf("%s: there is no volume %s", name, m.Name)
			}
		}
		if !hasTemp {
			t.Errorf("%s: the container %s can write nowhere", name, c.Name)
		}
	}
}

// TestConfiguration: Flink is configured alike under Compose and Kubernetes.
func TestConfiguration(t *testing.T) {
	var found *corev1.ConfigMap
	for _, object := range objects(t, "../../deploy/flink/kubernetes.yaml") {
		if c, is := object.(*corev1.ConfigMap); is {
			found = c
		}
	}
	if names := slices.Sorted(maps.Keys(found.Data)); !slices.Equal(names,
		[]string{"config.yaml", "log4j-console.properties"}) {
		t.Fatalf("the configuration is %q", names)
	}
	for name, want := range found.Data {
		content, err := os.ReadFile(filepath.Join("../../deploy/flink/conf", name))
		if err != nil {
			t.Fatal(err)
		}
		if string(content) != want {
			t.Errorf("%s is not the same in kubernetes.yaml", name)
		}
	}
}

// TestCompose: Compose knows every field, and no container has rights, can write to its root, or takes memory without a
// limit.
func TestCompose(t *testing.T) {
	options, err := cli.NewProjectOptions([]string{"../../deploy/flink/compose.yaml"},
		cli.WithProfiles([]string{"driver"}))
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(project.Services) != 7 {
		t.Errorf("services %q", project.ServiceNames())
	}
	for _, s := range project.Services {
		if user, _, _ := strings.Cut(s.User, ":"); user == "" || user == "0" || user == "root" {
			t.Errorf("%s: runs as %q", s.Name, s.User)
		}
		if !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) ||
			!slices.Contains(s.SecurityOpt, "no-new-privileges:true") {
			t.Errorf("%s: has rights", s.Name)
		}
		if s.MemLimit == 0 || s.CPUS == 0 || s.PidsLimit == 0 {
			t.Errorf("%s: has no limits", s.Name)
		}
		if s.HealthCheck == nil && s.Name != "driver" {
			t.Errorf("%s: nobody asks whether it lives", s.Name)
		}
		isTemp := func(v types.ServiceVolumeConfig) bool { return v.Target == "/tmp" }
		if !slices.ContainsFunc(s.Tmpfs, func(mount string) bool {
			return strings.HasPrefix(mount, "/tmp:size=")
		}) && !slices.ContainsFunc(s.Volumes, isTemp) {
			t.Errorf("%s: can write nowhere", s.Name)
		}
	}
}
