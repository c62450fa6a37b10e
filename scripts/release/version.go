package main

import (
	"fmt"
	"regexp"
	"strings"
)

// version is the version of a release, as each kind of file writes it.
type version struct {
	// plain is the semantic version: 1.2.3, 1.2.3-rc.1 or, of a commit without a tag,
	// 0.0.0-20261124120000-0123456789ab.
	plain string
	// python is the version in the form of PEP 440.
	python string
}

var (
	semantic = regexp.MustCompile(`^v(\d+\.\d+\.\d+)(?:-([0-9A-Za-z.-]+))?$`)
	// untagged is what Go puts behind the last version for a commit without a tag.
	untagged  = regexp.MustCompile(`^(?:.*\.)?(\d{14})-([0-9a-f]{12})$`)
	candidate = regexp.MustCompile(`^(alpha|beta|rc)\.?(\d+)$`)
)

// parseVersion reads the version that Go has stamped a program with.
func parseVersion(stamped string) (version, error) {
	parts := semantic.FindStringSubmatch(stamped)
	if parts == nil {
		return version{}, fmt.Errorf(
			"the program is of version %q: build it in a clone with git, where Go can tell the commit", stamped)
	}
	v := version{plain: strings.TrimPrefix(stamped, "v"), python: parts[1]}
	if commit := untagged.FindStringSubmatch(parts[2]); commit != nil {
		v.python += ".dev" + commit[1] + "+" + commit[2]
	} else if parts[2] != "" {
		before := candidate.FindStringSubmatch(parts[2])
		if before == nil {
			return version{}, fmt.Errorf(
				"the tag %q has no form that Python knows: name it v1.2.3, v1.2.3-alpha.1, v1.2.3-beta.1 or v1.2.3-rc.1", stamped)
		}
		v.python += map[string]string{"alpha": "a", "beta": "b", "rc": "rc"}[before[1]] + before[2]
	}
	return v, nil
}
