package corpus_test

// The tests of corpus list files of the formats that this package registers.
import _ "mirrorbeam.dev/internal/input/formats"
