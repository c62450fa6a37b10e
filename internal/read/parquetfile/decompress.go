package parquetfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// errLong says that a page holds more than its header says.
var errLong = errors.New("it is longer than its header says")

// isKnown reports whether pages of a codec can be read. LZ4 without RAW is a frame of Hadoop's, of several kinds.
func isKnown(codec format.CompressionCodec) bool {
	switch codec {
	case format.Uncompressed, format.Snappy, format.Gzip, format.Brotli, format.Zstd, format.Lz4Raw:
		return true
	}
	return false
}

// decompress appends what src holds to dst, which has room for it.
func (f *File) decompress(codec format.CompressionCodec, dst, src []byte) ([]byte, error) {
	if len(src) == 0 {
		return dst, nil // a page of nulls
	}
	room := dst[len(dst):cap(dst)]
	switch codec {
	case format.Snappy:
		length, err := snappy.DecodedLen(src)
		if err != nil {
			return nil, err
		}
		if length > len(room) {
			return nil, errLong
		}
		content, err := snappy.Decode(room, src)
		return dst[:len(dst)+len(content)], err
	case format.Zstd:
		decoder, err := f.decoders.zstd()
		if err != nil {
			return nil, err
		}
		defer f.decoders.zstds.Put(decoder)
		return decoder.DecodeAll(src, dst)
	case format.Lz4Raw:
		n, err := lz4.UncompressBlock(src, room)
		return dst[:len(dst)+max(0, n)], err
	case format.Gzip:
		decoder, err := f.decoders.gzip(src)
		if err != nil {
			return nil, err
		}
		defer f.decoders.gzips.Put(decoder)
		return readInto(dst, decoder)
	case format.Brotli:
		return readInto(dst, brotli.NewReader(bytes.NewReader(src)))
	}
	return nil, fmt.Errorf("codec %v cannot be read", codec)
}

// readInto appends all that a reader has, in the room behind dst.
func readInto(dst []byte, reader io.Reader) ([]byte, error) {
	n, err := io.ReadFull(reader, dst[len(dst):cap(dst)])
	switch err {
	case io.EOF, io.ErrUnexpectedEOF:
		return dst[:len(dst)+n], nil
	case nil:
	default:
		return nil, err
	}
	var more [1]byte
	if n, err := io.ReadFull(reader, more[:]); n > 0 {
		return nil, errLong
	} else if err != io.EOF {
		return nil, err
	}
	return dst[:cap(dst)], nil
}

// decoders are decompressors that wait for a page. They belong to a file, all of whose readers share them.
type decoders struct{ zstds, gzips sync.Pool }

// zstd returns a decoder that stops where the room ends.
func (d *decoders) zstd() (*zstd.Decoder, error) {
	if decoder, is := d.zstds.Get().(*zstd.Decoder); is {
		return decoder, nil
	}
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
}

func (d *decoders) gzip(src []byte) (*gzip.Reader, error) {
	if decoder, is := d.gzips.Get().(*gzip.Reader); is {
		return decoder, decoder.Reset(bytes.NewReader(src))
	}
	return gzip.NewReader(bytes.NewReader(src))
}
