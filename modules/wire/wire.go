// Package wire holds the types that travel between play (connection/link) and
// play-agent (modules/agent), and their framing. docs/protocol.md is its
// specification. It knows neither hosts nor modules.
package wire

import "io"

// Version is the protocol version. Both sides name theirs first and part when
// they differ.
const Version = 1

// Magic stands before the agent's first frame; what comes before it is noise of
// the login shell.
const Magic = "\x00play-agent\n"

const (
	// MaxFrame is the largest frame in bytes that either side sends or accepts,
	// without its length field; longer content is cut.
	MaxFrame = 1 << 20
	// MaxNoise is how many bytes the controller skips before Magic.
	MaxNoise = 64 << 10
	// MaxText bounds one JSON text (arguments or result) put together from parts.
	MaxText = 128 << 20
	// PartSize is the largest piece of a JSON text in one frame.
	PartSize = 512 << 10
	// DataSize is the largest piece of content or output in one frame.
	DataSize = 32 << 10
	// Window is how far the sender of content may be ahead of its reader.
	Window = 256 << 10
	// MaxRunning is how many calls an agent runs at once; others wait.
	MaxRunning = 64
)

// Kind says what a frame is.
type Kind uint8

// The kinds of frames, as docs/protocol.md lists them.
const (
	KindHello Kind = iota + 1
	KindCall
	KindData
	KindOutput
	KindPart
	KindReply
	KindCancel
	KindCredit
	KindPing
	KindPong
	KindBye
	kindEnd // one past the last
)

// Hello is each side's first frame. The controller fills in Version and Build
// only; the agent says where it runs.
type Hello struct {
	Version int    `cbor:"1,keyasint"`
	Build   string `cbor:"2,keyasint"` // version and commit of the program
	OS      string `cbor:"3,keyasint,omitempty"`
	Arch    string `cbor:"4,keyasint,omitempty"`
	UID     int    `cbor:"5,keyasint,omitempty"`
	User    string `cbor:"6,keyasint,omitempty"`
	Home    string `cbor:"7,keyasint,omitempty"`
	TmpDir  string `cbor:"8,keyasint,omitempty"` // private folder of this agent, gone when it ends
	PID     int    `cbor:"9,keyasint,omitempty"`
	Dir     string `cbor:"10,keyasint,omitempty"` // working directory
}

// Call asks for one module run.
type Call struct {
	Module    string   `cbor:"1,keyasint"`
	Args      []byte   `cbor:"2,keyasint"` // a JSON object
	Check     bool     `cbor:"3,keyasint,omitempty"`
	Diff      bool     `cbor:"4,keyasint,omitempty"`
	NoLog     bool     `cbor:"5,keyasint,omitempty"`
	Verbosity int      `cbor:"6,keyasint,omitempty"`
	Env       []string `cbor:"7,keyasint,omitempty"`  // "NAME=value", the task's environment
	Live      bool     `cbor:"8,keyasint,omitempty"`  // send output frames while it runs (set by the link)
	Body      bool     `cbor:"9,keyasint,omitempty"`  // data frames follow (set by the link)
	Extra     []byte   `cbor:"10,keyasint,omitempty"` // a JSON object of "_ansible_*" values and hints
	Timeout   float64  `cbor:"11,keyasint,omitempty"` // seconds; 0: none
	Async     *Async   `cbor:"12,keyasint,omitempty"` // start it detached
	Dir       string   `cbor:"13,keyasint,omitempty"` // working directory of processes; "": the agent's
	Content   bool     `cbor:"14,keyasint,omitempty"` // the module's content is wanted (set by the link)

	// Sink receives the content that the module sends back (fetch); nil: it is
	// dropped. It stays on the controller.
	Sink io.Writer `cbor:"-"`
}

// Async asks for a detached run.
type Async struct {
	JID   string `cbor:"1,keyasint"`
	Limit int    `cbor:"2,keyasint"`           // seconds until all its processes are ended
	Dir   string `cbor:"3,keyasint,omitempty"` // "": ~/.ansible_async
}

// Reply ends a call. Result is the module's result, a JSON object, as Ansible's
// modules print it ("failed" and "msg" included).
type Reply struct {
	Result []byte `cbor:"1,keyasint"`
}
