package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"mirrorbeam.dev/internal/failure"
)

const runnerFlag = "runner"

// templateFlag is the flag of Beam by which the launcher of a Flex Template for Dataflow asks for a job. The launcher
// sends the job when this process has ended, so such a job is not waited for.
const templateFlag = "template_location"

func forLauncher() bool { return flag.Lookup(templateFlag).Value.String() != "" }

type runner struct {
	// names are the names that --runner accepts, the usual one first.
	names []string
	// flags are the flags of Beam that this runner uses, apart from --runner.
	flags []string
}

// runnersOfBeam lists the runners. The first is the runner of a job without --runner.
func runnersOfBeam() []runner {
	// Beam's runners/universal hands these to a job service.
	portable := []string{
		"endpoint", "endpoint-timeout", "environment_type", "environment_config", "experiments", "job_name",
		"retain_docker_containers", "worker_binary",
	}
	return []runner{
		{names: []string{"direct", "DirectRunner"}},
		{names: []string{"flink", "FlinkRunner"}, flags: append([]string{"parallelism", "flink_rest"}, portable...)},
		{
			names: []string{"portable", "PortableRunner", "universal"},
			flags: append([]string{"parallelism"}, portable...),
		},
		{names: []string{"spark", "SparkRunner"}, flags: portable},
		// Beam's runners/dataflow makes the options of a job from these.
		{names: []string{"dataflow", "DataflowRunner"}, flags: []string{
			"project", "region", "staging_location", "temp_location", "job_name", "labels", "experiments",
			"dataflow_endpoint", "dataflow_kms_key", "dataflow_service_options", "environment_config",
			"sdk_container_image", "worker_binary",
			"num_workers", "max_num_workers", "autoscaling_algorithm", "flexrs_goal",
			"number_of_worker_harness_threads",
			"worker_machine_type", "machine_type", "min_cpu_platform", "disk_size_gb", "disk_type",
			"disk_provisioned_iops", "disk_provisioned_throughput_mibps",
			"zone", "worker_region", "worker_zone", "network", "subnetwork", "use_public_ips", "no_use_public_ips",
			"service_account_email", "cpu_profiling",
			templateFlag,
		}},
	}
}

func refusals() map[string]string {
	const unrun = "the job would not be run, and there would be no results to publish"
	return map[string]string{"execute_async": "--async does that", "dry_run": unrun}
}

func runnerNamed(name string) (runner, bool) {
	all := runnersOfBeam()
	i := slices.IndexFunc(all, func(r runner) bool { return slices.Contains(r.names, name) })
	if i < 0 {
		return runner{}, false
	}
	return all[i], true
}

type beamFlag struct{ name, value string }

// cutBeamFlags separates our arguments from the flags of Beam. It knows the flags that some runner takes or that are
// refused for a reason. Flags of Beam have underscores where ours have hyphens. So no flag has two meanings.
func cutBeamFlags(args []string) (ours []string, beams []beamFlag, err error) {
	known := map[string]bool{runnerFlag: true}
	for name := range refusals() {
		known[name] = true
	}
	for _, r := range runnersOfBeam() {
		for _, name := range r.flags {
			known[name] = true
		}
	}
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(ours, args[i:]...), beams, nil
		}
		name, value, hasValue := strings.Cut(strings.TrimPrefix(args[i], "--"), "=")
		switch {
		case !strings.HasPrefix(args[i], "--") || !known[name]:
			ours = append(ours, args[i])
			continue
		case hasValue:
		case isSwitch(name):
			value = "true"
		case i+1 == len(args) || strings.HasPrefix(args[i+1], "--"):
			return nil, nil, failure.Errorf(failure.Usage, "--%s: give it a value", name)
		default:
			i++
			value = args[i]
		}
		beams = append(beams, beamFlag{name, value})
	}
	return ours, beams, nil
}

func isSwitch(name string) bool {
	boolean, ok := flag.Lookup(name).Value.(interface{ IsBoolFlag() bool })
	return ok && boolean.IsBoolFlag()
}

// setBeamFlags hands flags to Beam if the command runs a job and the runner uses them. It reports all faults at once.
func setBeamFlags(command string, beams []beamFlag) error {
	chosen, err := chosenRunner(beams)
	if err != nil {
		return failure.New(failure.Usage, err)
	}
	var faults []error
	for _, given := range beams {
		fault := chosen.refuse(command, given.name)
		if fault == nil {
			if err := flag.Set(given.name, given.value); err != nil {
				fault = fmt.Errorf("--%s: %q is no value for it: %w", given.name, given.value, err)
			}
		}
		faults = append(faults, fault)
	}
	if err := errors.Join(faults...); err != nil {
		return failure.New(failure.Usage, err)
	}
	return nil
}

func chosenRunner(beams []beamFlag) (runner, error) {
	chosen, names := runnersOfBeam()[0], []string{}
	for _, r := range runnersOfBeam() {
		names = append(names, r.names[0])
	}
	for _, given := range beams {
		if given.name != runnerFlag {
			continue
		}
		var known bool
		if given.value == "prism" {
			return runner{}, errors.New(
				"--runner prism: Beam's Prism lets anybody who can reach this machine run programs on it: " +
					"leave --runner out, or start your own Prism and give --runner portable --endpoint HOST:PORT")
		}
		if chosen, known = runnerNamed(given.value); !known {
			return runner{}, fmt.Errorf("--runner %s: must be one of %s", given.value, strings.Join(names, ", "))
		}
	}
	return chosen, nil
}

func runsJob(command string) bool {
	return slices.Contains([]string{"run", "mirrors", "decontaminate", "demo"}, command)
}

func (r runner) refuse(command, name string) error {
	switch reason, refused := refusals()[name]; {
	case refused:
		return fmt.Errorf("--%s: %s; leave it out", name, reason)
	case !runsJob(command):
		return fmt.Errorf(
			"--%s: is for 'runjob run', 'runjob mirrors' and 'runjob demo', which run a job; leave it out", name)
	case name == runnerFlag || slices.Contains(r.flags, name):
		return nil
	}
	var others []string
	for _, other := range runnersOfBeam() {
		if slices.Contains(other.flags, name) {
			others = append(others, other.names[0])
		}
	}
	return fmt.Errorf("--%s: means nothing to --runner %s; it is for --runner %s", name, r.names[0],
		strings.Join(others, ", "))
}

func isWorker(args []string) bool {
	return len(args) > 0 && (args[0] == "--worker" || args[0] == "--worker=true")
}

func parseWorkerFlags(args []string) error {
	// Beam returns errors instead of exiting, and they are reported like ours.
	flag.CommandLine.Init("runjob", flag.ContinueOnError)
	flag.CommandLine.SetOutput(io.Discard)
	if err := flag.CommandLine.Parse(args); err != nil {
		return failure.New(failure.Usage, err)
	}
	return nil
}

type beamHelp bool

// BeforeReset prints the help. The parser calls it when it meets the flag.
func (beamHelp) BeforeReset(app *kong.Kong) error {
	say(app.Stdout, "Flags of Apache Beam that 'runjob run', 'runjob mirrors' and 'runjob demo' take:\n\n")
	say(app.Stdout, "  --%s\n", runnerFlag)
	var flags []string
	for _, r := range runnersOfBeam() {
		list := "no other flag"
		if len(r.flags) > 0 {
			list = "--" + strings.Join(r.flags, ", --")
		}
		paragraph(app.Stdout, 6, fmt.Sprintf("%s: %s", strings.Join(r.names, ", "), list))
		flags = append(flags, r.flags...)
	}
	slices.Sort(flags)
	for _, name := range slices.Compact(flags) {
		say(app.Stdout, "\n  --%s\n", name)
		paragraph(app.Stdout, 6, flag.Lookup(name).Usage)
	}
	app.Exit(0)
	return nil
}
