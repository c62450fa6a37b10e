package transforms

// StageName is the name of a stage. A stage has one name everywhere: file, scope, metrics.
type StageName string

// The stages.
const (
	atRead        StageName = "read"
	atFingerprint StageName = "fingerprint"
	atCount       StageName = "count"
	atKey         StageName = "key"
	atGroup       StageName = "group"
	atGather      StageName = "gather"
	atScore       StageName = "score"
	atAudit       StageName = "audit"
	atCluster     StageName = "cluster"
	atWrite       StageName = "write"
)

// Stages are the stages in the order of the data.
var Stages = []StageName{atRead, atFingerprint, atCount, atKey, atGroup, atGather, atScore, atAudit, atCluster, atWrite}
