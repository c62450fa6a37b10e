package webtext

import (
	"fmt"
	"strings"
	"testing"
)

// prose returns paragraphs of words that only one page has.
func prose(paragraphs int) string {
	var b strings.Builder
	for p := range paragraphs {
		b.WriteString("<p>")
		for w := range 30 {
			fmt.Fprintf(&b, "art%dw%d ", p, w)
		}
		b.WriteString("</p>")
	}
	return b.String()
}

// TestFloor: a rule that would leave little of a page does not hold for it, and the others do.
func TestFloor(t *testing.T) {
	const line = "<p>Skip to the main content of this page of the municipality website, please.</p>"
	const menu = "<nav><ul><li>all products of the house<li>prices and terms of them</ul></nav>"
	const wall = "<p>We use cookies to remember your settings and to count visits. Read the policy and choose which cookies you allow on this device.</p>"
	text := prose(5)
	links := strings.Repeat("<li><a href=x>another page of this list</a>", 40)
	for name, page := range map[string]string{
		"invisible until a script runs": line + `<div style="visibility: hidden; opacity: 0">` + text + "</div>",
		"streamed": wall +
			`<main><template id="B:0"></template>Loading</main><div hidden id="S:0"><article>` + text +
			"</article></div>",
		"in sections that appear": wall +
			strings.Repeat("<section style='opacity:0'>"+prose(2)+"</section>", 2) + "<section style='opacity:0'>" +
			text + "</section>",
		"by a class": "<style>.js-only{display:none}</style>" + wall + "<div class=js-only>" +
			text + "</div>",
		"without scripts":                wall + "<noscript><div>" + text + "</div></noscript>",
		"in a template":                  wall + "<template>" + text + "</template>",
		"in an object":                   wall + "<object data=x><div>" + text + "</div></object>",
		"not read aloud":                 line + "<div aria-hidden=true>" + text + "</div>",
		"in a form":                      line + menu + "<form method=post id=aspnetForm>" + text + "</form>" + line,
		"in a form, hidden":              line + menu + "<form><div hidden>" + text + "</div></form>",
		"in a menu without an end":       line + "<nav><a href=x>Home</a><div>" + text + "</div>",
		"in a header without an end":     line + "<header><h1>T</h1><div>" + text + "</div>",
		"in a sidebar":                   line + menu + "<div class='wrap sidebar'>" + text + "</div>",
		"in a banner":                    line + menu + "<div role=banner>" + text + "</div>",
		"in a search":                    line + menu + "<section role=search>" + text + "</section>",
		"in an aside":                    line + menu + "<aside>" + text + "</aside>",
		"in a footer":                    line + menu + "<div id=footer>" + text + "</div>",
		"in a button":                    line + menu + "<button>" + text + "</button>",
		"in captions":                    line + menu + "<figure><figcaption>" + text + "</figcaption></figure>",
		"in the main part of a form":     "<form>" + menu + "<main>" + text + "</main>" + "</form>" + prose(0),
		"in an article of a form":        "<form>" + menu + "<article>" + text + "</article></form>",
		"behind a form across cells":     "<table><tr><td><form>" + wall + "</td></form><td>" + prose(5) + "</table>",
		"in the header of an article":    "<article><header>" + text + "</header><p>by somebody</p></article>",
		"behind a picture without title": "<svg><title/><path/></svg>" + text,
		"behind a picture without end":   "<div><svg viewBox=x><path><div>" + text + "</div></div>",
		"behind an object without end":   "<div><object><p>" + line + "</div>" + text,
		"in links": line + "<ul>" + strings.ReplaceAll(links, "another", "art0w0 art4w29") +
			"</ul>",
	} {
		for _, mode := range []Mode{All, Main} {
			got := textOf("<title>T</title>"+page, mode)
			for _, word := range []string{"art0w0 ", "art4w29"} {
				if !strings.Contains(got, word) {
					t.Errorf("%s, %s: %q is lost: %.200q", name, mode, word, got)
				}
			}
			if hasMenu := strings.Contains(got, "all products"); mode == Main && hasMenu {
				t.Errorf("%s: the menu counts", name)
			}
		}
	}
	// Two pages of links do not become the same text, which is hidden in both.
	hidden := "<div hidden><p>" +
		strings.Repeat("A notice of the archive that both pages come from, and words of it. ", 9) + "</div>"
	if got := textOf(hidden+"<ul>"+links+"</ul>", Main); !strings.Contains(got, "another page") {
		t.Errorf("a page of links is %.300q", got)
	}
	// What is left out stays out where enough is left, and a list of choices never counts.
	options := "<select>" + strings.Repeat("<option>a country of the world, or a part of one", 50) + "</select>"
	for name, page := range map[string]string{
		"hidden": text + "<div hidden>" +
			strings.Repeat("<p>unseen words of a window that opens later, or of a menu", 10) + "</div>",
		"hidden menu": line + "<div hidden>" + strings.ReplaceAll(links, "another", "unseen") + "</div>",
		"footer": text + "<footer>" +
			strings.Repeat("<p>unseen words of a notice that all pages of a site have", 10) + "</footer>",
		"options":  line + strings.ReplaceAll(options, "country", "unseen country"),
		"one word": "<p>a</p><nav>unseen</nav><b hidden>unseen</b>",
		"behind it": "<div><div>" + text + "</div></div><div>" +
			strings.Repeat("<p>unseen comment of a reader who has read the page, and more words of his</p>", 3) +
			"</div>",
	} {
		if got := textOf("<title>T</title>"+page, Main); strings.Contains(got, "unseen") {
			t.Errorf("%s: %.300q", name, got)
		}
	}
}
