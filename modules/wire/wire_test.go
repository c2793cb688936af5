package wire_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"play/modules/wire"
)

func TestFramesComeBack(t *testing.T) {
	t.Parallel()
	var stream bytes.Buffer
	w := wire.NewWriter(&stream)
	call := &wire.Call{Module: "command", Args: []byte(`{"a":1}`), Check: true, Env: []string{"A=\xff"}, Timeout: 1.5,
		Async: &wire.Async{JID: "j", Limit: 3}, Body: true}
	hello := &wire.Hello{Version: 1, Build: "b", UID: 7, Home: "/h"}
	reply := &wire.Reply{Result: bytes.Repeat([]byte("x"), wire.PartSize)}
	for _, f := range []struct {
		kind    wire.Kind
		id      uint32
		payload any
	}{
		{wire.KindHello, 0, hello}, {wire.KindCall, 1, call}, {wire.KindData, 1, []byte("d\x00")}, {wire.KindCredit, 1, uint32(1 << 31)},
		{wire.KindCancel, 4294967295, nil}, {wire.KindReply, 1, reply}, {wire.KindBye, 0, "end"},
	} {
		if err := w.Write(f.kind, f.id, f.payload); err != nil {
			t.Fatal(err)
		}
	}
	r := wire.NewReader(iotest.HalfReader(&stream))
	next := func(kind wire.Kind, id uint32) *wire.Frame {
		f, err := r.Next()
		if err != nil || f.Kind != kind || f.ID != id {
			t.Fatalf("frame %+v, %v; want kind %d, id %d", f, err, kind, id)
		}
		return f
	}
	same := func(got any, err error, want any) {
		t.Helper()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v; want %+v", got, err, want)
		}
	}
	h, err := next(wire.KindHello, 0).Hello()
	same(h, err, hello)
	c, err := next(wire.KindCall, 1).Call()
	same(c, err, call)
	d, err := next(wire.KindData, 1).Bytes()
	same(d, err, []byte("d\x00"))
	n, err := next(wire.KindCredit, 1).Number()
	same(n, err, uint32(1<<31))
	next(wire.KindCancel, 4294967295)
	p, err := next(wire.KindReply, 1).Reply()
	same(p, err, reply)
	text, err := next(wire.KindBye, 0).Text()
	same(text, err, "end")
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

func TestReaderRefuses(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"length 0":        "\x00\x00\x00\x00",
		"too long":        "\x00\x10\x00\x01",
		"half a length":   "\x00\x00",
		"half a frame":    "\x00\x00\x00\x05ab",
		"no CBOR":         "\x00\x00\x00\x01\xff",
		"two values":      "\x00\x00\x00\x05\x83\x03\x01\x40\x40",
		"a map":           "\x00\x00\x00\x01\xa0",
		"a short array":   "\x00\x00\x00\x02\x81\x03",
		"kind 0":          "\x00\x00\x00\x04\x83\x00\x01\xf6",
		"unknown kind":    "\x00\x00\x00\x04\x83\x17\x01\xf6",
		"negative id":     "\x00\x00\x00\x04\x83\x03\x20\xf6",
		"deep nesting":    "\x00\x00\x00\x0d\x83\x02\x01" + strings.Repeat("\x81", 9) + "\x00",
		"open-ended list": "\x00\x00\x00\x05\x9f\x03\x01\xf6\xff",
	} {
		if _, err := wire.NewReader(strings.NewReader(in)).Next(); !errors.Is(err, wire.ErrProtocol) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestReaderTakesNoMemoryAhead runs alone: it counts bytes.
func TestReaderTakesNoMemoryAhead(t *testing.T) {
	head := binary.BigEndian.AppendUint32(nil, wire.MaxFrame)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 100 {
		_, err := wire.NewReader(io.MultiReader(bytes.NewReader(head), iotest.ErrReader(io.ErrClosedPipe))).Next()
		if err != io.ErrClosedPipe {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / 100; each > 100<<10 {
		t.Errorf("%d bytes for a frame that never came", each)
	}
}

func TestWriterRefusesLongFrames(t *testing.T) {
	t.Parallel()
	var stream bytes.Buffer
	w := wire.NewWriter(&stream)
	if err := w.Write(wire.KindData, 1, make([]byte, wire.MaxFrame)); err == nil || stream.Len() > 0 {
		t.Errorf("%v, %d bytes written", err, stream.Len())
	}
	if err := w.Write(wire.KindPing, 0, nil); err != nil {
		t.Errorf("the next frame: %v", err)
	}
}

func TestWriterStaysBroken(t *testing.T) {
	t.Parallel()
	r, pipe := io.Pipe()
	r.Close()
	w := wire.NewWriter(pipe)
	for range 2 {
		if err := w.Write(wire.KindPing, 0, nil); !errors.Is(err, wire.ErrBroken) {
			t.Errorf("got %v", err)
		}
	}
}

func TestLongTextIsCut(t *testing.T) {
	t.Parallel()
	var stream bytes.Buffer
	w := wire.NewWriter(&stream)
	text := bytes.Repeat([]byte("0123456789"), wire.PartSize/4)
	last, err := w.WriteText(9, text)
	if err != nil {
		t.Fatal(err)
	}
	var got []byte
	for r := wire.NewReader(&stream); ; {
		f, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil || f.Kind != wire.KindPart || f.ID != 9 {
			t.Fatalf("%+v %v", f, err)
		}
		part, err := f.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, part...)
	}
	if !bytes.Equal(append(got, last...), text) {
		t.Error("the text changed")
	}
}

func TestSkipNoise(t *testing.T) {
	t.Parallel()
	for _, noise := range []string{"", "motd\n", wire.Magic[:5], wire.Magic[:11] + "x", strings.Repeat("\x00", 40), strings.Repeat("n", wire.MaxNoise)} {
		r := bufio.NewReader(strings.NewReader(noise + wire.Magic + "rest"))
		got, err := wire.SkipNoise(r)
		rest, _ := io.ReadAll(r)
		if err != nil || string(got) != noise || string(rest) != "rest" {
			t.Errorf("%.20q: got %.20q, rest %q, %v", noise, got, rest, err)
		}
	}
	r := bufio.NewReader(strings.NewReader(strings.Repeat("n", wire.MaxNoise+1) + wire.Magic))
	if _, err := wire.SkipNoise(r); !errors.Is(err, wire.ErrProtocol) {
		t.Errorf("too much noise: %v", err)
	}
}

// loop connects an outbox to an inbox through frames.
func loop(t *testing.T) (*wire.Outbox, *wire.Inbox) {
	r, pipe := io.Pipe()
	out := wire.NewOutbox(wire.NewWriter(pipe), 1)
	in := wire.NewInbox(func(n uint32) { out.Credit(n) })
	go func() {
		frames := wire.NewReader(r)
		for {
			f, err := frames.Next()
			if err != nil {
				in.Fail(err)
				return
			}
			data, err := f.Bytes()
			if err == nil {
				err = in.Push(data)
			}
			if err != nil {
				t.Error(err)
			}
		}
	}()
	t.Cleanup(func() { pipe.Close() })
	return out, in
}

func TestContentFlows(t *testing.T) {
	t.Parallel()
	out, in := loop(t)
	data := bytes.Repeat([]byte("abcdefghij"), wire.Window/3)
	var wait sync.WaitGroup
	wait.Go(func() {
		if n, err := out.Write(data); n != len(data) || err != nil {
			t.Errorf("%d %v", n, err)
		}
		if err := out.End(); err != nil {
			t.Error(err)
		}
	})
	got, err := io.ReadAll(iotest.OneByteReader(in))
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	wait.Wait()
}

func TestContentStopsAtTheWindow(t *testing.T) {
	t.Parallel()
	out, _ := loop(t)
	result := make(chan int)
	go func() {
		n, err := out.Write(make([]byte, 2*wire.Window))
		if !errors.Is(err, wire.ErrEnded) {
			t.Errorf("got %v", err)
		}
		result <- n
	}()
	select {
	case n := <-result:
		t.Fatalf("%d bytes went out unread", n)
	case <-time.After(100 * time.Millisecond):
	}
	out.Stop()
	if n := <-result; n > wire.Window { // fewer where the machine was too busy to send them
		t.Errorf("%d bytes went out unread", n)
	}
}

func TestInboxRefusesTooMuch(t *testing.T) {
	t.Parallel()
	in := wire.NewInbox(func(uint32) {})
	if err := in.Push(make([]byte, wire.Window)); err != nil {
		t.Fatal(err)
	}
	if err := in.Push([]byte("x")); !errors.Is(err, wire.ErrProtocol) {
		t.Errorf("beyond the window: %v", err)
	}
	if err := in.Push(nil); err != nil {
		t.Errorf("the end: %v", err)
	}
	if err := in.Push([]byte{}); !errors.Is(err, wire.ErrProtocol) {
		t.Errorf("after the end: %v", err)
	}
}

func TestInboxFailsAfterWhatCame(t *testing.T) {
	t.Parallel()
	in := wire.NewInbox(func(uint32) {})
	in.Push([]byte("half"))
	in.Fail(io.ErrUnexpectedEOF)
	got, err := io.ReadAll(in)
	if string(got) != "half" || err != io.ErrUnexpectedEOF {
		t.Errorf("got %q, %v", got, err)
	}
}

func FuzzReader(f *testing.F) {
	var stream bytes.Buffer
	w := wire.NewWriter(&stream)
	w.Write(wire.KindHello, 0, &wire.Hello{Version: 1})
	w.Write(wire.KindCall, 1, &wire.Call{Module: "m", Args: []byte("{}"), Async: &wire.Async{JID: "j"}})
	w.Write(wire.KindData, 1, []byte("x"))
	w.Write(wire.KindReply, 1, &wire.Reply{Result: []byte("{}")})
	f.Add(stream.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		r := wire.NewReader(bytes.NewReader(data))
		for {
			frame, err := r.Next()
			if err != nil {
				return
			}
			// None may panic, and what decodes must encode again.
			frame.Bytes()
			frame.Text()
			frame.Number()
			out := wire.NewWriter(io.Discard)
			if h, err := frame.Hello(); err == nil && out.Write(wire.KindHello, 0, h) != nil {
				t.Errorf("hello %+v", h)
			}
			if c, err := frame.Call(); err == nil && out.Write(wire.KindCall, 0, c) != nil {
				t.Errorf("call %+v", c)
			}
			if p, err := frame.Reply(); err == nil && out.Write(wire.KindReply, 0, p) != nil {
				t.Errorf("reply %+v", p)
			}
		}
	})
}
