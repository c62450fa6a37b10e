package transforms

import "encoding/json"

// A path is bytes, whatever the encoding of the names in it. JSON, in which DoFns
// and outcomes travel, puts U+FFFD for bytes that are not UTF-8: so paths travel as
// bytes.

// MarshalJSON encodes the job.
func (j Job) MarshalJSON() ([]byte, error) {
	return json.Marshal(shippedJob{plainJob(j), []byte(j.Temp), []byte(j.Partial), []byte(j.Inputs)})
}

// UnmarshalJSON decodes the job.
func (j *Job) UnmarshalJSON(b []byte) error {
	var shipped shippedJob
	if err := json.Unmarshal(b, &shipped); err != nil {
		return err
	}
	*j = Job(shipped.plainJob)
	j.Temp, j.Partial, j.Inputs = string(shipped.Temp), string(shipped.Partial), string(shipped.Inputs)
	return nil
}

type plainJob Job

type shippedJob struct {
	plainJob
	Temp, Partial, Inputs []byte
}
