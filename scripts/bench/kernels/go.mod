module mirrorbeam.dev/scripts/bench/kernels

go 1.26.0

replace mirrorbeam.dev => ../../..

require (
	github.com/dgryski/go-minhash v0.0.0-20170608043002-7fe510aff544
	github.com/dgryski/go-simstore v0.0.0-20170329105504-e9b8ddcc5730
	mirrorbeam.dev v0.0.0
)

require (
	github.com/dchest/siphash v1.2.3 // indirect
	github.com/dgryski/go-bits v0.0.0-20180113010104-bd8a69a71dc2 // indirect
	github.com/dgryski/go-bitstream v0.0.0-20180413035011-3522498ce2c8 // indirect
	github.com/dgryski/go-huff v0.0.0-20151109211320-89573a3ee09c // indirect
	github.com/dgryski/go-metro v0.0.0-20250106013310-edb8663e5e33 // indirect
	github.com/dgryski/go-spooky v0.0.0-20170606183049-ed3d087f40e2 // indirect
	github.com/klauspost/cpuid/v2 v2.4.2 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)
