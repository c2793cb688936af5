package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/fxamacker/cbor/v2"
)

// ErrProtocol is wrapped by errors about what the peer sent, as opposed to a
// stream that broke.
var ErrProtocol = errors.New("broken protocol")

// ErrBroken is wrapped by errors of writing to a stream that takes no more.
var ErrBroken = errors.New("the stream is broken")

// Frame is one frame as it was read. Its payload is undecoded.
type Frame struct {
	_       struct{} `cbor:",toarray"`
	Kind    Kind
	ID      uint32
	Payload cbor.RawMessage
}

// outgoing is a frame to be written.
type outgoing struct {
	_       struct{} `cbor:",toarray"`
	Kind    Kind
	ID      uint32
	Payload any
}

// Bytes decodes the payload of a data, output or part frame.
func (f *Frame) Bytes() ([]byte, error) { return decode[[]byte](f) }

// Text decodes the payload of a bye.
func (f *Frame) Text() (string, error) { return decode[string](f) }

// Number decodes the payload of a credit.
func (f *Frame) Number() (uint32, error) { return decode[uint32](f) }

// Hello decodes the payload of a hello.
func (f *Frame) Hello() (*Hello, error) { return pointer(decode[Hello](f)) }

// Call decodes the payload of a call.
func (f *Frame) Call() (*Call, error) { return pointer(decode[Call](f)) }

// Reply decodes the payload of a reply.
func (f *Frame) Reply() (*Reply, error) { return pointer(decode[Reply](f)) }

func pointer[T any](v T, err error) (*T, error) { return &v, err }

func decode[T any](f *Frame) (T, error) {
	var v T
	mode, err := decoding()
	if err == nil {
		err = mode.Unmarshal(f.Payload, &v)
	}
	if err != nil {
		return v, fmt.Errorf("%w: frame of kind %d: %v", ErrProtocol, f.Kind, err)
	}
	return v, nil
}

// EncodeCall is a call outside of a stream of frames (for a detached run).
func EncodeCall(c *Call) ([]byte, error) { return cbor.Marshal(c) }

// DecodeCall reads what EncodeCall made.
func DecodeCall(data []byte) (*Call, error) { return (&Frame{Kind: KindCall, Payload: data}).Call() }

// decoding bounds what one frame can make the decoder do.
var decoding = sync.OnceValues(func() (cbor.DecMode, error) {
	return cbor.DecOptions{
		MaxNestedLevels:  8,
		MaxArrayElements: 1 << 16,
		MaxMapPairs:      64,
		IndefLength:      cbor.IndefLengthForbidden,
		TagsMd:           cbor.TagsForbidden,
		DupMapKey:        cbor.DupMapKeyEnforcedAPF,
		UTF8:             cbor.UTF8DecodeInvalid, // arguments may hold raw bytes
	}.DecMode()
})

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

func parse(body []byte) (*Frame, error) {
	mode, err := decoding()
	if err != nil {
		return nil, err
	}
	f := &Frame{}
	if err := mode.Unmarshal(body, f); err != nil {
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
	buf bytes.Buffer
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
	w.buf.Reset()
	w.buf.Write(make([]byte, 4))
	if err := cbor.MarshalToBuffer(outgoing{Kind: kind, ID: id, Payload: payload}, &w.buf); err != nil {
		return fmt.Errorf("cannot encode a frame: %w", err)
	}
	n := w.buf.Len() - 4
	if n > MaxFrame {
		return fmt.Errorf("cannot send a frame of %d bytes: at most %d are allowed", n, MaxFrame)
	}
	binary.BigEndian.PutUint32(w.buf.Bytes(), uint32(n))
	if _, err := w.w.Write(w.buf.Bytes()); err != nil {
		w.err = fmt.Errorf("%w: %w", ErrBroken, err)
	}
	if w.buf.Cap() > DataSize*4 {
		w.buf = bytes.Buffer{}
	}
	return w.err
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
