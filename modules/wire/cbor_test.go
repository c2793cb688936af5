package wire

import (
	"encoding/hex"
	"reflect"
	"strings"
	"testing"
)

// TestKnownBytes compares with what another encoder (fxamacker/cbor 2.9) wrote.
func TestKnownBytes(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]*Call{
		"a201616d0240": {Module: "m"},
		"a70167636f6d6d616e640241" + "7b03f5061903e8078163413dff0bfb3ff80000000000000ca20161" + "6a021a00010000": {Module: "command", Args: []byte("{"), Check: true,
			Verbosity: 1000, Env: []string{"A=\xff"}, Timeout: 1.5, Async: &Async{JID: "j", Limit: 65536}},
	} {
		got, err := EncodeCall(c)
		if err != nil || hex.EncodeToString(got) != want {
			t.Errorf("got  %x, %v\nwant %s", got, err, want)
		}
		back, err := DecodeCall(got)
		if err != nil || len(back.Args)+len(c.Args) > 0 && !reflect.DeepEqual(back, c) {
			t.Errorf("got %+v, %v; want %+v", back, err, c)
		}
	}
}

func TestNegativeAndLarge(t *testing.T) {
	t.Parallel()
	h := &Hello{Version: -5, Build: strings.Repeat("b", 70000), PID: 1 << 30, UID: 300}
	got := &Hello{}
	r := items{rest: appendMessage(nil, h)}
	if err := r.message(got, maxDepth); err != nil || !reflect.DeepEqual(got, h) {
		t.Errorf("%v: version %d, %d bytes", err, got.Version, len(got.Build))
	}
}

func TestBrokenCalls(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                       "ends inside",
		"80":                     "type 4",
		"a1":                     "ends inside",
		"a10161":                 "ends inside",
		"a10141":                 "type 2",
		"a201600160":             "comes twice",
		"a1036161":               "true or false",
		"a1061b7fffffffffffffff": "small whole number",
		"a10bf93e00":             "64 bits",
		"a1079b00ffffffffffffff": "more than",
		"a1079a00010000":         "ends inside",
		"a1070a":                 "type 0",
		"a10160" + "00":          "bytes follow",
		"b841":                   "more than",
		"a1187f" + "c100":        "begins with 0xc1",
		"a1187f" + "f818":        "begins with 0xf8",
		"a1187f" + "5f":          "begins with 0x5f",
		"a1187f" + strings.Repeat("81", 9) + "00": "nest deeper",
		"a10ca101": "ends inside",
	} {
		data, err := hex.DecodeString(in)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := DecodeCall(data); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", in, err, want)
		}
	}
	if c, err := DecodeCall([]byte{0xa1, 0x18, 0x7f, 0xa1, 0x01, 0x61, 'x'}); err != nil || c.Module != "" {
		t.Errorf("an unknown key: %+v, %v", c, err)
	}
}

func FuzzDecode(f *testing.F) {
	data, _ := EncodeCall(&Call{Module: "m", Env: []string{"A=b"}, Async: &Async{}})
	f.Add(data)
	f.Fuzz(func(_ *testing.T, data []byte) {
		_, _ = DecodeCall(data) // it must only not panic
		_, _ = parse(data)
	})
}
