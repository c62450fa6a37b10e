package corpus

import "bytes"

// lineEnd returns the byte that ends lines.
func lineEnd(cr bool) byte {
	if cr {
		return '\r'
	}
	return '\n'
}

// endsWithCR reports whether the lines of a text end with a carriage return alone, as old programs write them. The text is the
// beginning of a file; isEnd says that it is all of it. It is unknown if the text holds no line end yet. In lines of JSON a carriage
// return is white space, too. There it counts only between two objects.
func endsWithCR(text []byte, isEnd bool) (cr, known bool) {
	text = bytes.TrimPrefix(text, []byte(ByteOrderMark))
	isJSON := bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{"))
	newline := bytes.IndexByte(text, '\n')
	if known = newline >= 0; known {
		text = text[:newline+1]
	}
	for at := 0; ; at++ {
		n := bytes.IndexByte(text[at:], '\r')
		if n < 0 {
			return false, known || isEnd
		}
		at += n
		switch before, after := bytes.TrimRight(text[:at], " \t\r"), bytes.TrimLeft(text[at+1:], " \t\r"); {
		case len(after) == 0:
			return !isJSON && isEnd, isEnd
		case after[0] == '\n' && len(after) == 1:
			return false, true
		case !isJSON, bytes.HasSuffix(before, []byte("}")) && after[0] == '{':
			return true, true
		default:
			at = len(text) - len(after) - 1 // behind the white space
		}
	}
}
