//go:build !race

package pipeline

// raceDetector reports whether the tests run under the race detector.
const raceDetector = false
