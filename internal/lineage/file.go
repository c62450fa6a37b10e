package lineage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"mirrorbeam/internal/storage"
)

// magic begins a file of groups. The number in it is that of the layout, and changes with it.
const magic = "mirrorbeam groups 1\n"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

const memberSize = 16

// AppendGroup packs a group without its lineage: the length of the name, the number of members, the name, the members.
func AppendGroup(b []byte, name string, members []Member) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(name)))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(members)))
	b = append(b, name...)
	for _, member := range members {
		b = binary.LittleEndian.AppendUint64(b, member[0])
		b = binary.LittleEndian.AppendUint64(b, member[1])
	}
	return b
}

// NextGroup reads the first of the packed groups and returns the bytes of the others.
func NextGroup(b []byte) (g Group, rest []byte, err error) {
	const header = 8
	if len(b) < header {
		return g, nil, errDamaged
	}
	name, members := int(binary.LittleEndian.Uint32(b)), int(binary.LittleEndian.Uint32(b[4:]))
	b = b[header:]
	if len(b) < name || (len(b)-name)/memberSize < members {
		return g, nil, errDamaged
	}
	g.Name, b = string(b[:name]), b[name:]
	g.Members = make([]Member, members)
	for i := range g.Members {
		g.Members[i] = Member{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}
		b = b[memberSize:]
	}
	return g, b, nil
}

var errDamaged = errors.New("groups are damaged")

// Write writes groups to a file that survives a loss of power.
func Write(path string, groups []Group) error {
	b := []byte(magic)
	for i := range groups {
		b = append(b, byte(len(groups[i].Lineage)))
		b = append(b, groups[i].Lineage...)
		b = AppendGroup(b, groups[i].Name, groups[i].Members)
	}
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	w, err := storage.CreateWith(path, storage.Options{Durable: true})
	if err != nil {
		return fmt.Errorf("write groups: %w", err)
	}
	defer w.Abort()
	if _, err = w.Write(b); err == nil {
		err = w.Commit()
	}
	if err != nil {
		return fmt.Errorf("write groups: %w", err)
	}
	return nil
}

// Read reads what Write wrote.
func Read(path string) (groups []Group, err error) {
	b, err := storage.ReadFile(path)
	if err == nil {
		groups, err = decode(b)
	}
	if err != nil {
		return nil, fmt.Errorf("read groups of %s: %w", path, err)
	}
	return groups, nil
}

// decode reads the content of a file.
func decode(b []byte) (groups []Group, err error) {
	end := len(b) - 4
	if end < len(magic) || string(b[:len(magic)]) != magic || crc32.Checksum(b[:end], castagnoli) != binary.LittleEndian.Uint32(b[end:]) {
		return nil, errDamaged
	}
	for b = b[len(magic):end]; len(b) > 0; {
		length := int(b[0])
		if b = b[1:]; len(b) < length {
			return nil, errDamaged
		}
		text := string(b[:length])
		var g Group
		if g, b, err = NextGroup(b[length:]); err != nil {
			return nil, err
		}
		g.Lineage = text
		groups = append(groups, g)
	}
	return groups, nil
}
