// Package state keeps what a scheduled job need not do again: see docs/scheduled.md.
//
// A state is a folder, on the local disk or in a bucket:
//
//	lock                   the lease of the run that may write
//	generation-0000000007  what the state holds: its files, and where the units of each are
//	units/run-...          sketch blocks, as package documents makes them
//	clusters-...           the clusters of the last run, see [Follow]
//	verdicts-...           its similar pairs, see [Verdicts]
//	mirrors-...            the groups of mirrors of the last run that was about sites
//	suspects-...           the alerts of all such runs
//	outbox-...             changes that nobody has acknowledged, see [Outbox]
//
// A group, such as a cluster of documents or of mirrors, keeps its lineage, a short text, for as long as it can be followed
// from run to run. So does an alert, which has an id. A similar pair is known by the digests of its documents, which stay
// the same however files come and go.
//
// A file of a state never changes. A run writes new files beside the old ones, and in the end the next generation, under a
// number that must be free. So the change from one generation to the next is one step, and a run that dies before it
// leaves only files that no generation names. The next run removes them.
//
// The generation before the current one stays until the run after the next, for programs that still read it. Nothing depends
// on it: if it is damaged, it goes at once.
package state
