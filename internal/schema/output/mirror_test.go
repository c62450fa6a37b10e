package output

import "testing"

func TestRowsAboutSites(t *testing.T) {
	checkRow(t, Mirror{
		A:             "a.org",
		B:             "b.org",
		Kind:          "exact",
		Score:         0.9375,
		Group:         "a.org",
		PagesA:        20,
		PagesB:        18,
		CommonA:       17,
		CommonB:       16,
		ContainmentA:  0.85,
		ContainmentB:  0.9,
		WeightedA:     0.75,
		WeightedB:     1,
		SamePath:      0.5,
		Similarity:    0.9876,
		Sites:         2.25,
		Markup:        0.75,
		SameLanguage:  0.25,
		LanguagePages: 33,
		FirstA:        "2020-01-02T00:00:00Z",
		Examples:      []PagePair{{"http://a.org/\"", "http://b.org/", 1}, {"c", "d", 0.5}},
	}, `{"a":"a.org","b":"b.org","kind":"exact","score":0.9375,"group":"a.org","pages_a":20,"pages_b":18,"common_a":17,"common_b":16,`+
		`"containment_a":0.85,"containment_b":0.9,"weighted_a":0.75,"weighted_b":1,"same_path":0.5,"similarity":0.9876,"sites":2.25,"markup":0.75,"same_language":0.25,"language_pages":33,`+
		`"first_a":"2020-01-02T00:00:00Z","examples":[{"a":"http://a.org/\"","b":"http://b.org/","similarity":1},{"a":"c","b":"d","similarity":0.5}]}`,
		"a=a.org", "b=b.org", "kind=exact", "score=0.9375", "group=a.org", "pages_a=20", "pages_b=18", "common_a=17",
		"common_b=16",
		"containment_a=0.85", "containment_b=0.9", "weighted_a=0.75", "weighted_b=1", "same_path=0.5",
		"similarity=0.9876", "sites=2.25", "markup=0.75", "same_language=0.25", "language_pages=33",
		"first_a=2020-01-02T00:00:00Z", "first_b=", `examples.a=http://a.org/";c`, "examples.b=http://b.org/;d",
		"examples.similarity=1;0.5")
	checkRow(t, Site{
		Site:       "a.org",
		Pages:      3,
		Duplicates: 1,
		First:      "2020-01-02T00:00:00Z",
		Rank:       7,
		Protected:  true,
		Group:      "b.org",
		GroupSites: 4,
		Cohesion:   0.5,
	},
		`{"site":"a.org","pages":3,"duplicates":1,"first":"2020-01-02T00:00:00Z","rank":7,"protected":true,"group":"b.org","primary":false,"group_sites":4,"cohesion":0.5}`,
		"site=a.org", "pages=3", "duplicates=1", "first=2020-01-02T00:00:00Z", "rank=7", "protected=true",
		"group=b.org", "primary=false",
		"group_sites=4", "cohesion=0.5")
	checkRow(t, Site{Site: "a.org", Pages: 3}, `{"site":"a.org","pages":3,"duplicates":0,"protected":false}`,
		"first=", "rank=0", "group=", "primary=false", "group_sites=0")
	checkRow(t, Suspect{
		ID:                 "0123456789abcdef",
		Severity:           "high",
		Reasons:            []string{"mirror", "look_alike"},
		Class:              "mirror",
		Site:               "b.org",
		Protected:          "a.org",
		By:                 "text",
		Score:              1,
		Pages:              9,
		Common:             8,
		LoginPages:         1,
		Page:               "http://b.org/",
		Share:              0.875,
		ProtectedShare:     0.25,
		Similarity:         0.75,
		SamePath:           1,
		Markup:             0.25,
		LanguagePages:      2,
		Lookalike:          0.9,
		LookalikeReason:    "typing",
		ProtectedFirstSeen: "2020-01-02T00:00:00Z",
		Examples:           []CopiedPage{{"http://b.org/", "http://a.org/", 1, 8, 9, "shown", "log in", "Log in"}},
	}, `{"id":"0123456789abcdef","severity":"high","reasons":["mirror","look_alike"],`+
		`"class":"mirror","site":"b.org","protected":"a.org","by":"text","score":1,"pages":9,`+
		`"common":8,"login_pages":1,"page":"http://b.org/","share":0.875,"protected_share":0.25,"similarity":0.75,"same_path":1,"markup":0.25,"same_language":0,"language_pages":2,"lookalike":0.9,"lookalike_reason":"typing",`+
		`"protected_first_seen":"2020-01-02T00:00:00Z","examples":[{"page":"http://b.org/","original":"http://a.org/","similarity":1,"words":8,"of_words":9,"reading":"shown","passage":"log in","original_passage":"Log in"}]}`,
		"id=0123456789abcdef", "severity=high", "reasons=mirror;look_alike", "class=mirror", "site=b.org",
		"protected=a.org", "by=text",
		"score=1", "pages=9", "common=8",
		"login_pages=1", "page=http://b.org/", "share=0.875", "protected_share=0.25", "similarity=0.75", "same_path=1",
		"markup=0.25", "same_language=0", "language_pages=2", "lookalike=0.9", "lookalike_reason=typing",
		"first_seen=", "protected_first_seen=2020-01-02T00:00:00Z", "examples.page=http://b.org/",
		"examples.original=http://a.org/")
	checkRow(t, Suspect{},
		`{"id":"","severity":"","reasons":[],"class":"","site":"","protected":"","by":"",`+
			`"score":0,"pages":0,"common":0,"login_pages":0,"share":0,`+
			`"protected_share":0,"similarity":0,"same_path":0,"lookalike":0,"examples":[]}`, "id=", "reasons=")
}
