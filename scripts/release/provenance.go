package main

import (
	"encoding/hex"
	"encoding/json"
	"runtime"
)

// provenance says of which commit and by which compiler the files were made, as a statement of in-toto. It is not signed:
// 'cosign attest-blob' and the like do that, with a key that only its owner has.
func (r *release) provenance(files []file) (file, error) {
	type digests map[string]string
	type resource struct {
		Name   string  `json:"name,omitempty"`
		URI    string  `json:"uri,omitempty"`
		Digest digests `json:"digest,omitempty"`
	}
	var subjects []resource
	for _, f := range files {
		sum := digests{"sha256": hex.EncodeToString(digest(f.content))}
		subjects = append(subjects, resource{Name: f.name, Digest: sum})
	}
	made := r.made.Format("2006-01-02T15:04:05Z")
	content, err := json.MarshalIndent(map[string]any{
		"_type":         "https://in-toto.io/Statement/v1",
		"subject":       subjects,
		"predicateType": "https://slsa.dev/provenance/v1",
		"predicate": map[string]any{
			"buildDefinition": map[string]any{
				"buildType":            sources + "/release",
				"externalParameters":   map[string]any{"version": r.version.plain},
				"resolvedDependencies": []resource{{URI: "git+" + sources, Digest: digests{"gitCommit": r.commit}}},
			},
			"runDetails": map[string]any{
				"builder": map[string]any{
					"id":      sources + "/scripts/release",
					"version": map[string]string{"go": runtime.Version()},
				},
				"metadata": map[string]any{"startedOn": made},
			},
		},
	}, "", "  ")
	return file{"runjob-" + r.version.plain + ".intoto.json", append(content, '\n')}, err
}
