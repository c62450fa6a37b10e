package work

// Stage is the name of a stage. A stage has one name everywhere: file, scope, metrics.
type Stage string

// The stages.
const (
	Read        Stage = "read"
	Fingerprint Stage = "fingerprint"
	Source      Stage = "source"
	Common      Stage = "common"
	Strip       Stage = "strip"
	Boilerplate Stage = "boilerplate"
	Spread      Stage = "spread"
	Count       Stage = "count"
	Key         Stage = "key"
	Group       Stage = "group"
	Gather      Stage = "gather"
	Score       Stage = "score"
	Audit       Stage = "audit"
	Cluster     Stage = "cluster"
	Site        Stage = "site"
	Mirror      Stage = "mirror"
	Write       Stage = "write"
)

// The stages that a job has besides, if its documents come from the pipeline of somebody else and its results go there.
const (
	Pack   Stage = "pack"
	Unpack Stage = "unpack"
)

// Stages are the stages of a job on files, in the order of the data.
var Stages = []Stage{Read, Fingerprint, Source, Common, Strip, Boilerplate, Spread, Count, Key, Group, Gather, Score, Audit, Cluster, Site, Mirror, Write}
