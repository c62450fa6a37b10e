// Package asmkernels holds the inner loops of mirrorbeam: the few functions in
// which a job spends its time once the documents have become sets of shingle
// hashes.
//
// The files without a build tag are the reference: plain Go, the definition of
// what every faster version must return bit for bit. They keep to forms which
// the compiler turns into branch-free code, since the outcome of comparing two
// hashes cannot be predicted.
//
// The package works on plain slices and imports nothing from the module.
package asmkernels
