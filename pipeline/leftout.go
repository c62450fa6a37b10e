package pipeline

import (
	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/measure/common"
	"mirrorbeam/internal/settle/write"
)

// writeLeftOut writes the shingles that did not count beside the results. Base texts may change, and common shingles follow
// from the whole corpus: so nobody could find out later what was compared.
func (r *run) writeLeftOut() (files []output.File, err error) {
	of := write.Files{Partial: work.Path(r.results.Partial)}
	write := func(name string, packed []byte) error {
		file, err := write.WriteShingles(of, name, packed)
		files = append(files, file)
		return err
	}
	if len(r.inputs.Ignored) > 0 {
		if err := write(output.IgnoredShingles, r.inputs.Ignored); err != nil {
			return nil, err
		}
	}
	if r.Config.CommonLaw().IsOff() {
		return files, nil
	}
	found, err := r.common()
	if err == nil {
		err = write(output.CommonShingles, found)
	}
	return files, err
}

// common returns the shingles that did not count because very many documents have them.
func (r *run) common() ([]byte, error) {
	if r.Config.CommonLaw().IsOff() {
		return nil, nil
	}
	return common.Found(r.results.Temp)
}
