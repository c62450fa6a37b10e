// Package asmkernels holds the inner loops of mirrorbeam: the functions in which
// a job spends its time, from the bytes of a text to the comparison of sets.
//
// The files without a build tag are the reference: plain Go, the definition of what every faster version must return
// bit for bit, and what runs where there is none. They keep to forms which the compiler turns into branch-free code,
// since the outcome of comparing two hashes cannot be predicted.
//
// Faster versions exist in tiers. Those of amd64 are "sse4.2", "avx2", "avx512" with the byte instructions that AMD has
// had since Zen 4 and Intel since Ice Lake, and "vp2intersect" with one that AMD has had since Zen 5. Arm64 has "neon".
// The best tier that the CPU and the operating system support is taken, and a kernel that does not beat the tier below
// does not exist: NEON has short vectors and no product of 64-bit numbers, so hashing and sorting are plain Go there.
// The environment variable MIRRORBEAM_CPU=go, sse4.2, avx2 or avx512 asks for a lower tier; any other value, and a tier
// that the CPU does not have, changes nothing. The build tag purego leaves the assembly out.
//
// The assembly of amd64 is written by the programs in the module _asm with avo; go generate runs them. Avo knows no
// other processor, so the assembly of arm64 is written by hand.
//
// The package works on plain slices and imports nothing from the module.
package asmkernels

//go:generate go run -C _asm ./minhash -out ../minhash_amd64.s -stubs ../minhash_stubs_amd64.go -pkg asmkernels
//go:generate go run -C _asm ./scan -out ../scan_amd64.s -stubs ../scan_stubs_amd64.go -pkg asmkernels
//go:generate go run -C _asm ./hash -out ../hash_amd64.s -stubs ../hash_stubs_amd64.go -pkg asmkernels
//go:generate go run -C _asm ./jaccard -out ../jaccard_amd64.s -stubs ../jaccard_stubs_amd64.go -pkg asmkernels
//go:generate go run -C _asm ./hamming -out ../hamming_amd64.s -stubs ../hamming_stubs_amd64.go -pkg asmkernels
//go:generate go run -C _asm ./set -out ../set_amd64.s -stubs ../set_stubs_amd64.go -pkg asmkernels
//go:generate go run -C _asm ./simhash -out ../simhash_amd64.s -stubs ../simhash_stubs_amd64.go -pkg asmkernels
//go:generate go run -C _asm ./filter -out ../filter_amd64.s -stubs ../filter_stubs_amd64.go -pkg asmkernels
//go:generate go run -C _asm ./counting -out ../counting_amd64.s -stubs ../counting_stubs_amd64.go -pkg asmkernels
