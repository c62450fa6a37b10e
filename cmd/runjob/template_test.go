package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/keep/preference"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/util/goldentest"
	"mirrorbeam.dev/job"
)

// metadataFile describes the Flex Template for Dataflow.
const metadataFile = "../../deploy/dataflow/metadata.json"

// templateMetadata is the content of metadataFile, in the form that Google gives it.
type templateMetadata struct {
	Name        string       `json:"name"`
	Description string       `json:"description"`
	Parameters  []*parameter `json:"parameters"`
}

// parameter is a parameter of a Flex Template. The launcher hands it to the program as a flag of the same name.
type parameter struct {
	Name       string   `json:"name"`
	Label      string   `json:"label"`
	HelpText   string   `json:"helpText"`
	ParamType  string   `json:"paramType,omitempty"`
	IsOptional bool     `json:"isOptional,omitempty"`
	Regexes    []string `json:"regexes,omitempty"`
}

// notInTemplate has the flags that are no parameters of the template, with the reason.
func notInTemplate() map[string]string {
	const launcher = "the launcher sets it, from the options of the launch"
	const local = "it is for jobs on one machine"
	const waits = "it is for a driver that waits for the end of the job"
	reasons := map[string]string{
		"lanes":              local,
		"state":              waits,
		"add":                waits,
		"rebuild":            waits,
		"republish":          waits,
		"allow-removal":      waits,
		"allow-older-state":  waits,
		"fail-on":            waits,
		"worker_binary":      "the template has the program",
		"dataflow_endpoint":  "the launcher asks Google",
		"environment_config": "sdk_container_image does the same",
		"zone":               "worker_zone does the same",
		"machine_type":       "worker_machine_type does the same",
		templateFlag:         launcher,
		"cpu_profiling":      "it is for developers",
		"worker_region":      "the region of the job is that of its buckets",
		"use_public_ips":     launcher,
		"no_use_public_ips":  launcher,
	}
	for _, name := range []string{
		"project", "region", "staging_location", "temp_location", "job_name", "labels", "experiments",
		"dataflow_kms_key", "sdk_container_image",
		"num_workers", "max_num_workers", "flexrs_goal", "worker_machine_type", "disk_size_gb", "worker_zone",
		"network", "subnetwork",
		"service_account_email", "autoscaling_algorithm",
	} {
		reasons[name] = launcher
	}
	return reasons
}

// flagOfTemplate is a flag that the template has as a parameter.
type flagOfTemplate struct {
	help     string
	required bool
	isSwitch bool
	usual    string // the default; empty if there is none
}

// templateFlags returns the flags of 'runjob run --runner dataflow' that the template has as parameters.
func templateFlags(t *testing.T) map[string]flagOfTemplate {
	config := job.Default()
	flags := map[string]flagOfTemplate{}
	for _, f := range jobFlags(&config) {
		usual, err := f.usual()
		if err != nil {
			t.Fatal(err)
		}
		isSwitch := reflect.ValueOf(f.field).Elem().Kind() == reflect.Bool
		flags[f.name] = flagOfTemplate{f.help, f.traits&required != 0, isSwitch, usual}
	}
	dataflow, _ := runnerNamed("dataflow")
	for _, name := range dataflow.flags {
		flags[name] = flagOfTemplate{help: flag.Lookup(name).Usage, isSwitch: isSwitch(name)}
	}
	for name := range notInTemplate() {
		if _, known := flags[name]; !known {
			t.Errorf("there is no flag --%s to leave out", name)
		}
		delete(flags, name)
	}
	return flags
}

// TestGeneratedTemplate: the Flex Template has each flag as a parameter, with the help of the flag. go generate adds
// parameters for new flags, removes old ones, and renews helps and patterns.
func TestGeneratedTemplate(t *testing.T) {
	found := readTemplate(t)
	flags := templateFlags(t)
	found.Parameters = renew(found.Parameters, flags)
	for _, p := range found.Parameters {
		if p.Label == "" {
			t.Errorf("the parameter %s has no label", p.Name)
		}
		checkRegexes(t, p, flags[p.Name])
	}
	var encoded bytes.Buffer
	writer := json.NewEncoder(&encoded)
	writer.SetEscapeHTML(false)
	writer.SetIndent("", "  ")
	if err := writer.Encode(found); err != nil {
		t.Fatal(err)
	}
	goldentest.File(t, metadataFile, encoded.String())
}

func readTemplate(t *testing.T) (found templateMetadata) {
	t.Helper()
	content, err := os.ReadFile(metadataFile)
	if err != nil {
		t.Fatal(err)
	}
	reader := json.NewDecoder(bytes.NewReader(content))
	reader.DisallowUnknownFields()
	if err := reader.Decode(&found); err != nil {
		t.Fatal(err)
	}
	return found
}

// renew returns the parameters of the flags, in the order of the old ones, which have the labels and other patterns.
func renew(old []*parameter, flags map[string]flagOfTemplate) (all []*parameter) {
	missing := maps.Clone(flags)
	patterns := map[string]string{
		"keep":   keepPattern(),
		"format": anyPattern(corpus.FormatNames()),
		"keys":   anyPattern(append([]methods.Name{methods.Auto}, methods.Resembling()...)),
		"emit":   emitPattern(),
	}
	for _, p := range old {
		f, isMissing := missing[p.Name]
		if !isMissing {
			continue // no flag, or the second parameter for it
		}
		delete(missing, p.Name)
		p.HelpText, p.IsOptional = f.help, !f.required
		if pattern, is := patterns[p.Name]; is {
			p.Regexes = []string{pattern}
		}
		all = append(all, p)
	}
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		f := missing[name]
		p := &parameter{
			Name:       name,
			Label:      strings.ReplaceAll(name, "-", " "),
			HelpText:   f.help,
			IsOptional: !f.required,
		}
		if f.isSwitch {
			p.Regexes = []string{"^(true|false)$"}
		}
		all = append(all, p)
	}
	return all
}

func anyPattern[N ~string](names []N) string {
	return "^(" + strings.Trim(strings.ReplaceAll(fmt.Sprint(names), " ", "|"), "[]") + ")$"
}

// emitPattern matches lists of outputs.
func emitPattern() string {
	one := "(" + strings.Join(append([]string{"auto"}, job.OutputNames()...), "|") + ")"
	return "^" + one + "(," + one + ")*$"
}

// keepPattern matches the policies of --keep.
func keepPattern() string {
	forms := strings.NewReplacer(", ", "|", " or ", "|").Replace(preference.Forms(preference.OfSource))
	return "^(" + regexp.MustCompile("[A-Z]+").ReplaceAllString(forms, ".+") + ")$"
}

// checkRegexes checks that a parameter lets the default of its flag pass, and that a switch is true or false.
func checkRegexes(t *testing.T, p *parameter, f flagOfTemplate) {
	t.Helper()
	if f.isSwitch && !slices.Equal(p.Regexes, []string{"^(true|false)$"}) {
		t.Errorf("the parameter %s is a switch, and may be %q", p.Name, p.Regexes)
	}
	for _, text := range p.Regexes {
		pattern, err := regexp.Compile(text)
		if err != nil {
			t.Errorf("the parameter %s: %v", p.Name, err)
			continue
		}
		if f.usual != "" && !pattern.MatchString(f.usual) {
			t.Errorf("the parameter %s may not be %q, its default", p.Name, f.usual)
		}
	}
}

// templateParameter returns a parameter of the template, and what it may be.
func templateParameter(t *testing.T, name string) (*parameter, *regexp.Regexp) {
	t.Helper()
	found := readTemplate(t)
	p := found.Parameters[slices.IndexFunc(found.Parameters, func(p *parameter) bool { return p.Name == name })]
	return p, regexp.MustCompile(p.Regexes[0])
}

// TestTemplateFormats: the template lets each format of the program pass.
func TestTemplateFormats(t *testing.T) {
	_, pattern := templateParameter(t, "format")
	for _, name := range corpus.FormatNames() {
		if !pattern.MatchString(name) {
			t.Errorf("the parameter format may not be %s", name)
		}
	}
	if pattern.MatchString("pdf") {
		t.Error("the parameter format may be pdf")
	}
}

// TestTemplateKeep: the template lets each policy of --keep pass.
func TestTemplateKeep(t *testing.T) {
	_, pattern := templateParameter(t, "keep")
	for _, form := range regexp.MustCompile(", | or ").Split(preference.Forms(preference.OfSource), -1) {
		if !pattern.MatchString(form) {
			t.Errorf("the parameter keep may not be %s", form)
		}
	}
	for _, wrong := range []string{"", "best", "max:", "first:x"} {
		if pattern.MatchString(wrong) {
			t.Errorf("the parameter keep may be %q", wrong)
		}
	}
}

// TestTemplateOutputs: the template lets each output pass that the help of --emit names, alone and after another one,
// and the help names each that a job takes.
func TestTemplateOutputs(t *testing.T) {
	emit, pattern := templateParameter(t, "emit")
	for _, name := range append(job.OutputNames(), "auto") {
		if !regexp.MustCompile(`\b` + name + `\b`).MatchString(emit.HelpText) {
			t.Errorf("the help of emit does not name %s", name)
		}
		if !pattern.MatchString(name) || !pattern.MatchString("pairs,"+name) {
			t.Errorf("the parameter emit may not be %s", name)
		}
	}
	for _, wrong := range []string{"", "report", "pairs,", "pairs clusters"} {
		if pattern.MatchString(wrong) {
			t.Errorf("the parameter emit may be %q", wrong)
		}
	}
}

// TestDataflowPage: the page about Dataflow names each flag.
func TestDataflowPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/how-to/dataflow.md")
	if err != nil {
		t.Fatal(err)
	}
	dataflow, _ := runnerNamed("dataflow")
	for _, name := range dataflow.flags {
		if !bytes.Contains(page, []byte("`--"+name+"`")) {
			t.Errorf("docs/how-to/dataflow.md does not name --%s", name)
		}
	}
}
