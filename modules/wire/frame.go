package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
)

// ErrProtocol is wrapped by errors about what the peer sent, as opposed to a
// stream that broke.
var ErrProtocol = errors.New("broken protocol")

// ErrBroken is wrapped by errors of writing to a stream that takes no more.
var ErrBroken = errors.New("the stream is broken")

// Frame is one frame as it was read. Its payload is undecoded.
type Frame struct {
	Kind    Kind
	ID      uint32
	Payload []byte
}

// Bytes decodes the payload of a data, output or part frame.
func (f *Frame) Bytes() (data []byte, err error) {
	r := f.items()
	if !r.null() {
		data, err = r.chunk(majorBytes)
	}
	return data, f.ended(&r, err)
}

// Text decodes the payload of a bye.
func (f *Frame) Text() (string, error) {
	r := f.items()
	text, err := r.text()
	return text, f.ended(&r, err)
}

// Number decodes the payload of a credit.
func (f *Frame) Number() (uint32, error) {
	r := f.items()
	n, err := r.number(math.MaxUint32)
	return uint32(n), f.ended(&r, err)
}

// Hello decodes the payload of a hello.
func (f *Frame) Hello() (*Hello, error) { h := &Hello{}; return h, f.message(h) }

// Call decodes the payload of a call.
func (f *Frame) Call() (*Call, error) { c := &Call{}; return c, f.message(c) }

// Reply decodes the payload of a reply.
func (f *Frame) Reply() (*Reply, error) { p := &Reply{}; return p, f.message(p) }

func (f *Frame) items() items { return items{rest: f.Payload} }

func (f *Frame) message(m message) error {
	r := f.items()
	return f.ended(&r, r.message(m, maxDepth))
}

// ended makes the error of a payload that is not what its kind asks for.
func (f *Frame) ended(r *items, err error) error {
	if err == nil {
		err = r.end()
	}
	if err != nil {
		return fmt.Errorf("%w: frame of kind %d: %v", ErrProtocol, f.Kind, err)
	}
	return nil
}

// EncodeCall is a call outside of a stream of frames (for a detached run).
func EncodeCall(c *Call) ([]byte, error) { return appendMessage(nil, c), nil }

// DecodeCall reads what EncodeCall made.
func DecodeCall(data []byte) (*Call, error) { return (&Frame{Kind: KindCall, Payload: data}).Call() }

// Reader reads frames. It is not safe for concurrent use.
type Reader struct {
	r    io.Reader
	head [4]byte
}

// NewReader returns a reader of frames from r, which should be buffered.
func NewReader(r io.Reader) *Reader { return &Reader{r: r} }

// Next reads one frame. The error is io.EOF when the stream ended between two
// frames, wraps ErrProtocol when the peer broke the rules, and else is the
// stream's.
func (r *Reader) Next() (*Frame, error) {
	if _, err := io.ReadFull(r.r, r.head[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, fmt.Errorf("%w: the stream ended inside a frame", ErrProtocol)
		}
		return nil, err
	}
	n := binary.BigEndian.Uint32(r.head[:])
	if n == 0 || n > MaxFrame {
		return nil, fmt.Errorf("%w: a frame of %d bytes (at most %d are allowed)", ErrProtocol, n, MaxFrame)
	}
	body, err := r.body(int(n))
	if err != nil {
		return nil, err
	}
	return parse(body)
}

// body reads n bytes; memory grows only as they arrive.
func (r *Reader) body(n int) ([]byte, error) {
	const step = 64 << 10
	buf := make([]byte, 0, min(n, step))
	for len(buf) < n {
		want := min(n-len(buf), step)
		if cap(buf)-len(buf) < want {
			buf = append(make([]byte, 0, min(n, 4*cap(buf))), buf...)
			want = min(n-len(buf), cap(buf)-len(buf))
		}
		got, err := io.ReadFull(r.r, buf[len(buf):len(buf)+want])
		buf = buf[:len(buf)+got]
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, fmt.Errorf("%w: the stream ended inside a frame", ErrProtocol)
		}
		if err != nil {
			return nil, err
		}
	}
	return buf, nil
}

// parse takes a frame apart; the payload's items are checked, not decoded.
func parse(body []byte) (*Frame, error) {
	r := items{rest: body}
	n, err := r.count(majorArray, 3)
	if err == nil && n != 3 {
		err = fmt.Errorf("it has %d parts", n)
	}
	var kind, id uint64
	if err == nil {
		kind, err = r.number(math.MaxUint8)
	}
	if err == nil {
		id, err = r.number(math.MaxUint32)
	}
	f := &Frame{Kind: Kind(kind), ID: uint32(id), Payload: r.rest}
	if err == nil {
		err = r.skip(maxDepth - 1)
	}
	if err == nil {
		err = r.end()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: a frame that is not CBOR: %v", ErrProtocol, err)
	}
	if f.Kind == 0 || f.Kind >= kindEnd {
		return nil, fmt.Errorf("%w: unknown frame kind %d", ErrProtocol, f.Kind)
	}
	return f, nil
}

// Writer writes frames, each with one Write to the stream. It is safe for
// concurrent use.
type Writer struct {
	mu  sync.Mutex
	w   io.Writer
	buf []byte
	err error // the first failure; everything after it fails too
}

// NewWriter returns a writer of frames to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write sends one frame. payload is a *Hello, *Call or *Reply, a []byte, a
// string, a uint32 or nil, as the kind asks for.
func (w *Writer) Write(kind Kind, id uint32, payload any) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	frame, err := appendFrame(append(w.buf[:0], 0, 0, 0, 0), kind, id, payload)
	if err != nil {
		return err
	}
	n := len(frame) - 4
	if n > MaxFrame {
		return fmt.Errorf("cannot send a frame of %d bytes: at most %d are allowed", n, MaxFrame)
	}
	binary.BigEndian.PutUint32(frame, uint32(n))
	if _, err := w.w.Write(frame); err != nil {
		w.err = fmt.Errorf("%w: %w", ErrBroken, err)
	}
	if w.buf = frame; cap(frame) > DataSize*4 {
		w.buf = nil
	}
	return w.err
}

// appendFrame writes a frame's array.
func appendFrame(b []byte, kind Kind, id uint32, payload any) ([]byte, error) {
	b = appendHead(b, majorArray, 3)
	b = appendHead(b, majorUint, uint64(kind))
	b = appendHead(b, majorUint, uint64(id))
	switch p := payload.(type) {
	case nil:
		return append(b, codeNull), nil
	case message:
		return appendMessage(b, p), nil
	case []byte:
		return appendBytes(b, p), nil
	case string:
		return appendText(b, p), nil
	case uint32:
		return appendHead(b, majorUint, uint64(p)), nil
	}
	return nil, fmt.Errorf("cannot encode a frame: a %T is no payload", payload)
}

// WriteText sends a long JSON text as part frames, up to the last piece, which
// it returns for the frame that ends the text.
func (w *Writer) WriteText(id uint32, text []byte) ([]byte, error) {
	if len(text) > MaxText {
		return nil, fmt.Errorf("cannot send %d bytes in one message: at most %d are allowed", len(text), MaxText)
	}
	for len(text) > PartSize {
		if err := w.Write(KindPart, id, text[:PartSize]); err != nil {
			return nil, err
		}
		text = text[PartSize:]
	}
	return text, nil
}
