package webtext

import "bytes"

// pageStarts are what pages begin with, in small letters. Parts of pages, and notes with tags, begin otherwise.
var pageStarts = [][]byte{
	[]byte("<!doctype html"), []byte("<html"), []byte("<head"), []byte("<body"),
	[]byte("<title"), []byte("<meta"),
}

// BeginsPage reports whether a text that begins with head is a web page. Comments and what declares XML may come first.
func BeginsPage(head []byte) bool {
	for {
		var found bool
		head = bytes.TrimLeft(head, " \t\r\n\f")
		switch {
		case bytes.HasPrefix(head, []byte("<!--")):
			_, head, found = bytes.Cut(head, []byte("-->"))
		case bytes.HasPrefix(head, []byte("<?xml")):
			_, head, found = bytes.Cut(head, []byte("?>"))
		}
		if !found {
			break
		}
	}
	for _, start := range pageStarts {
		if len(head) > len(start) && bytes.EqualFold(head[:len(start)], start) &&
			bytes.IndexByte([]byte(" \t\r\n\f/>"), head[len(start)]) >= 0 {
			return true
		}
	}
	return false
}
