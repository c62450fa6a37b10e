module mirrorbeam.dev/scripts/bench/fingerprint

go 1.26.0

require (
	github.com/ophymx/semblance v0.2.0
	mirrorbeam.dev v0.0.0
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/klauspost/cpuid/v2 v2.4.2 // indirect
	github.com/zeebo/xxh3 v1.1.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace mirrorbeam.dev => ../../..

