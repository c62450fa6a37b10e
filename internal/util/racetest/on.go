//go:build race

package racetest

// On reports whether the tests run under the race detector.
const On = true
