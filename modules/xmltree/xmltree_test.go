package xmltree

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	n, err := Parse("<?xml version=\"1.0\"?>\n<!-- a <b> -->\n<a x='1 &lt; 2' y = \"&#65;&#x42;\">t&amp;u<b/><c><b k=\"v\">in</b></c><![CDATA[<raw>]]></a>\n")
	if err != nil {
		t.Fatal(err)
	}
	if n.Name != "a" || n.Attrs["x"] != "1 < 2" || n.Attrs["y"] != "AB" || n.Text != "t&u<raw>" {
		t.Errorf("got %+v", n)
	}
	found := n.All("c", "b")
	if len(found) != 1 || found[0].Attrs["k"] != "v" || found[0].Text != "in" || len(n.All("b")) != 1 || len(n.All("x", "y")) != 0 {
		t.Errorf("got %+v", found)
	}
}

func TestBroken(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                               "not one element",
		"<a>":                            "<a> is not closed",
		"<a></b>":                        "</b> closes nothing",
		"</a>":                           "closes nothing",
		"<a x></a>":                      "attribute of <a>",
		"<a x=1></a>":                    "attribute of <a>",
		"<a x=\"1></a>":                  "is missing",
		"<a>&nope;</a>":                  `"&nope" is unknown`,
		"<a>&amp</a>":                    "is unknown",
		"<a/>x":                          "not one element",
		"<a/><b/>":                       "not one element",
		"<":                              "a name is missing",
		"<a":                             "attribute of <a>",
		"<!-- ":                          "is missing",
		strings.Repeat("<a>", 2000):      "nest deeper",
		"<a>" + strings.Repeat("&", 100): "is unknown",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30q: got %v, want %q", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("<a x='1'>t<b/></a>")
	f.Fuzz(func(_ *testing.T, text string) {
		_, _ = Parse(text) // it must only not panic
	})
}
