package report

import (
	"context"

	"mirrorbeam/internal/ground/setting"
	"mirrorbeam/internal/look/difference"
)

// TextUse says whether a report reads the input again.
type TextUse string

// The uses.
const (
	// AutoTexts reads the input if it has at most autoBytes.
	AutoTexts TextUse = "auto"
	AllTexts  TextUse = "yes"
	NoTexts   TextUse = "no"
)

const (
	// autoBytes is the size of an input that is read within seconds.
	autoBytes = 1 << 30
	// heldBytes is how much of a text is compared.
	heldBytes = 1 << 20
)

// addTexts reads the texts of the first pairs, if they are wanted and still there.
func (b *builder) addTexts(ctx context.Context) error {
	f := &b.figures
	switch {
	case len(f.Pairs) == 0, b.options.Texts == NoTexts, b.options.HideIDs:
		return nil
	case b.options.Texts != AllTexts && b.summary.Counts.Bytes+b.summary.Counts.ReferenceBytes > autoBytes:
		b.note("Texts are not shown, since the input is large: --texts=yes reads it again.")
		return nil
	}
	shown := f.Pairs[:min(len(f.Pairs), textsLow+textsSided+textsSampled)]
	var names []string
	for _, pair := range shown {
		names = append(names, pair.A, pair.B)
	}
	texts, err := b.folder.TextsUpTo(ctx, names, heldBytes)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		b.note("Texts are not shown: the input cannot be read from here: " + setting.Text(err, flagName))
		return nil
	}
	for i := range shown {
		first, hasFirst := texts[shown[i].A]
		second, hasSecond := texts[shown[i].B]
		if hasFirst && hasSecond {
			config := &b.folder.Summary.Config
			shown[i].Texts = difference.SideBySide(first, second, config.Shingle, config.Tokens)
		}
	}
	return nil
}
