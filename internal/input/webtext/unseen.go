package webtext

import (
	"slices"
	"strings"
)

// isTiny reports whether a CSS length is negligible: at most 1px or 1pt, or below 0.1 in another unit.
func isTiny(value string) bool {
	length, unit, is := lengthOf(value)
	return is && (isNought(value) || length > 0 && length <= 1 && (unit == "px" || unit == "pt"))
}

// isClear reports whether a style gives text a colour that cannot be seen, and whether it says anything about that. A
// shadow, an outline, or a background cut to the letters shows the text all the same.
func (d declarations) isClear() (isClear, isKnown bool) {
	shadow, stroke := d["text-shadow"], d["-webkit-text-stroke"]
	if d["background-clip"] == "text" || d["-webkit-background-clip"] == "text" || shadow != "" && shadow != "none" ||
		stroke != "" {
		return false, true
	}
	colour := d["-webkit-text-fill-color"]
	if colour == "" {
		colour = d["color"]
	}
	switch colour {
	case "", "inherit", "currentcolor", "unset":
		return false, false
	case "transparent":
		return true, true
	}
	if digits, is := strings.CutPrefix(colour, "#"); is {
		return len(digits) == 4 && digits[3] == '0' || len(digits) == 8 && digits[6:] == "00", true
	}
	parts := argumentsOf(colour, "rgb", "rgba", "hsl", "hsla")
	return len(parts) == 4 && isNought(parts[3]), true
}

// farAway is how far, in pixels or whatever units, text is moved to be out of sight.
const farAway = -900

func (d declarations) isMovedAway() bool {
	properties := []string{"margin-left", "margin-top"}
	if position := d["position"]; position != "" && position != "static" {
		properties = append(properties, "left", "top", "right", "bottom")
	}
	for _, property := range properties {
		if length, _, is := lengthOf(d[property]); is && length < farAway {
			return true
		}
	}
	return false
}

// isEmptyBox reports whether a style leaves no room in a box, or moves the text out of it.
func (d declarations) isEmptyBox() bool {
	if indent, _, is := lengthOf(d["text-indent"]); is && indent < farAway {
		return true
	}
	if scale := argumentsOf(d["transform"], "scale", "scalex", "scaley"); len(scale) > 0 &&
		(isNought(scale[0]) || isNought(scale[len(scale)-1])) {
		return true
	}
	if overflow := d["overflow"]; overflow != "hidden" && overflow != "clip" {
		return false
	}
	return isTiny(d["width"]) || isTiny(d["height"]) || isTiny(d["max-width"]) || isTiny(d["max-height"])
}

func (d declarations) isOutOfLine() bool {
	position, float := d["position"], d["float"]
	return position == "absolute" || position == "fixed" || float == "left" || float == "right"
}

// isClipped reports whether a style cuts an element to a shape without room.
func (d declarations) isClipped() bool {
	if position := d["position"]; position == "absolute" || position == "fixed" {
		// The edges are top, right, bottom and left.
		if edges := argumentsOf(d["clip"], "rect"); len(edges) == 4 &&
			(areTogether(edges[0], edges[2]) || areTogether(edges[3], edges[1])) {
			return true
		}
	}
	if radius := argumentsOf(d["clip-path"], "circle", "ellipse"); len(radius) > 0 && isNought(radius[0]) {
		return true
	}
	if points := argumentsOf(d["clip-path"], "polygon"); len(points) > 2 && isOnePoint(points) {
		return true
	}
	edges := argumentsOf(d["clip-path"], "inset")
	if at := slices.Index(edges, "round"); at >= 0 {
		edges = edges[:at]
	}
	// A missing edge is as the one on the other side.
	meet := func(one, other int) bool {
		of := [2]float64{}
		for i, edge := range []int{one, other} {
			for edge >= len(edges) {
				edge = max(edge-2, 0)
			}
			length, unit, is := lengthOf(edges[edge])
			if !is || unit != "%" && length != 0 {
				return false
			}
			of[i] = length
		}
		return of[0]+of[1] >= 100
	}
	return len(edges) > 0 && (meet(0, 2) || meet(1, 3))
}

func isOnePoint(points []string) bool {
	for i, at := range points {
		if at != points[i%2] {
			return false
		}
	}
	return true
}

// areTogether reports whether there is no room to speak of from one place to another.
func areTogether(from, to string) bool {
	a, unitA, isA := lengthOf(from)
	b, unitB, isB := lengthOf(to)
	return isA && isB && (unitA == unitB || a == 0 || b == 0) && b-a <= 1
}

// argumentsOf returns what is between the brackets of a function of one of some names, which a value consists of.
func argumentsOf(value string, names ...string) []string {
	name, rest, _ := strings.Cut(value, "(")
	arguments, behind, isWhole := strings.Cut(rest, ")")
	if !isWhole || behind != "" || strings.Contains(arguments, "(") || !slices.Contains(names, name) {
		return nil
	}
	return strings.FieldsFunc(arguments, func(r rune) bool { return r == ' ' || r == ',' || r == '/' })
}
