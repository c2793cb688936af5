package vault

import (
	"bytes"
	"testing"
)

// plainly decrypts by cutting off a header.
type plainly struct{}

func (plainly) Decrypt(text []byte) ([]byte, error) { return bytes.TrimPrefix(text, []byte("V;")), nil }

// TestNoted takes out what was decrypted and nothing else.
func TestNoted(t *testing.T) {
	t.Parallel()
	n := Note(plainly{})
	if got := n.Mask("all is shown"); got != "all is shown" {
		t.Error(got)
	}
	for _, text := range []string{"V;a: hunter22\nb: [x, {c: 'longer hunter22'}]\nd: 80\nt: '{{ other }}'\n", "V;single secret\n", "V;- |\n  line one\n  line two\n"} {
		if _, err := n.Decrypter().Decrypt([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	n.Add("", "password9")
	for text, want := range map[string]string{
		"it is hunter22.":            "it is ********.",
		"it is longer hunter22":      "it is ********",
		"+line one\n+line two":       "+********\n+********",
		"single secret, port 80 x a": "********, port 80 x a",
		"{{ other }} password9":      "{{ other }} ********",
	} {
		if got := n.Mask(text); got != want {
			t.Errorf("%q is masked as %q, want %q", text, got, want)
		}
	}
	if Note(nil).Decrypter() != nil {
		t.Error("there is a decrypter over none")
	}
}
