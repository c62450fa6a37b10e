//go:build !race

// Package racetest tells tests whether the race detector watches them.
package racetest

// On reports whether the tests run under the race detector.
const On = false
