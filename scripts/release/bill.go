package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
)

// bill is the bill of materials: all modules that are linked, with their licences, as CycloneDX.
func (r *release) bill() ([]byte, error) {
	bom := cyclonedx.NewBOM()
	program := component("runjob", r.version.plain, cyclonedx.ComponentTypeApplication, []string{"Apache-2.0"})
	bom.Metadata = &cyclonedx.Metadata{Timestamp: r.made.Format(time.RFC3339), Component: &program}
	components, needs := []cyclonedx.Component{}, []string{}
	for _, m := range r.modules {
		c := component(m.path, m.version, cyclonedx.ComponentTypeLibrary, m.licences)
		c.PackageURL = "pkg:golang/" + strings.ReplaceAll(m.path, "+", "%2B") + "@" +
			strings.ReplaceAll(m.version, "+", "%2B")
		if sum, isKnown := strings.CutPrefix(m.sum, "h1:"); isKnown {
			raw, err := base64.StdEncoding.DecodeString(sum)
			if err != nil {
				return nil, fmt.Errorf("read the sum of %s in go.sum: %w", m.path, err)
			}
			c.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(raw)}}
		}
		components, needs = append(components, c), append(needs, c.BOMRef)
	}
	bom.Components = &components
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: program.BOMRef, Dependencies: &needs}}
	var content bytes.Buffer
	err := cyclonedx.NewBOMEncoder(&content, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
	return content.Bytes(), err
}

func component(name, version string, kind cyclonedx.ComponentType, licences []string) cyclonedx.Component {
	choices := cyclonedx.Licenses{}
	for _, id := range licences {
		if strings.HasPrefix(id, "Google") { // a grant of patents, which has no name in SPDX
			choices = append(choices, cyclonedx.LicenseChoice{License: &cyclonedx.License{Name: id}})
			continue
		}
		choices = append(choices, cyclonedx.LicenseChoice{License: &cyclonedx.License{ID: id}})
	}
	return cyclonedx.Component{
		BOMRef:   name + "@" + version,
		Type:     kind,
		Name:     name,
		Version:  version,
		Licenses: &choices,
	}
}
