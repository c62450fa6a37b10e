// Package build tells one build of the program from another. It needs no clone of the repository.
package build

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"sync"
)

// Build identifies a build of the program.
type Build struct {
	// Commit is the commit of the sources. It is empty if they were modified, or if the build has recorded none.
	Commit string
	// Content is a digest of the program file.
	Content string
}

// This identifies the build that is running.
func This() (Build, error) {
	content, err := Content()
	if err != nil {
		return Build{}, err
	}
	info, _ := debug.ReadBuildInfo()
	return Build{Commit: cleanCommit(info), Content: content}, nil
}

// Content returns the digest of the program that is running. It reads the file once.
var Content = sync.OnceValues(func() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("identify this program: %w", err)
	}
	program, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("identify this program: %w", err)
	}
	defer program.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, program); err != nil {
		return "", fmt.Errorf("identify this program: read %s: %w", path, err)
	}
	return hex.EncodeToString(hash.Sum(nil)[:8]), nil
})

// Matches reports whether two builds work alike: they are the same file, or come from the same commit. Programs for two
// systems are never the same file, and an image that was built without a clone knows no commit.
func (b Build) Matches(other Build) bool {
	return b.Content != "" && b.Content == other.Content || b.Commit != "" && b.Commit == other.Commit
}

// String is the build as it travels, and as messages show it.
func (b Build) String() string {
	if b.Commit == "" {
		return b.Content
	}
	return b.Content + " of commit " + b.Commit
}

// Parse reads what String has written.
func Parse(text string) Build {
	content, commit, _ := strings.Cut(text, " of commit ")
	return Build{Commit: commit, Content: content}
}

// Version names the build in results: version, and commit or, without one, the digest of the program.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	version, commit := info.Main.Version, cleanCommit(info)
	if commit != "" {
		if strings.Contains(version, commit[:min(12, len(commit))]) {
			return version
		}
		return version + " " + commit
	}
	content, err := Content()
	if err != nil {
		return version
	}
	return version + " build " + content
}

// cleanCommit returns the commit whose sources, unmodified, a build was made of.
func cleanCommit(info *debug.BuildInfo) string {
	if info == nil {
		return ""
	}
	var revision, modified string
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			revision = setting.Value
		case "vcs.modified":
			modified = setting.Value
		}
	}
	if modified == "true" {
		return "" // nobody knows what was modified
	}
	return revision
}
