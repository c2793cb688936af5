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
	// MaxLine is the longest line of live output, in bytes; a longer one is cut.
	MaxLine = 240
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
	Version int
	Build   string // version and commit of the program
	OS      string
	Arch    string
	UID     int
	User    string
	Home    string
	TmpDir  string // private folder of this agent, gone when it ends
	PID     int
	Dir     string // working directory
	Full    bool   // it has every module, and HTTP
}

func (h *Hello) fields() []field {
	return []field{
		{1, true, &h.Version},
		{2, true, &h.Build},
		{3, false, &h.OS},
		{4, false, &h.Arch},
		{5, false, &h.UID},
		{6, false, &h.User},
		{7, false, &h.Home},
		{8, false, &h.TmpDir},
		{9, false, &h.PID},
		{10, false, &h.Dir},
		{11, false, &h.Full},
	}
}

// Call asks for one module run.
type Call struct {
	Module    string
	Args      []byte // a JSON object
	Check     bool
	Diff      bool
	NoLog     bool
	Verbosity int
	Env       []string // "NAME=value", the task's environment
	Live      bool     // send output frames while it runs (set by the link)
	Body      bool     // data frames follow (set by the link)
	Extra     []byte   // a JSON object of "_ansible_*" values and hints
	Timeout   float64  // seconds; 0: none
	Async     *Async   // start it detached
	Dir       string   // working directory of processes; "": the agent's
	Content   bool     // the module's content is wanted (set by the link)

	// Sink receives the content that the module sends back (fetch); nil: it is
	// dropped. It stays on the controller.
	Sink io.Writer
	// Full asks for the full agent. It stays on the controller.
	Full bool
}

func (c *Call) fields() []field {
	return []field{
		{1, true, &c.Module},
		{2, true, &c.Args},
		{3, false, &c.Check},
		{4, false, &c.Diff},
		{5, false, &c.NoLog},
		{6, false, &c.Verbosity},
		{7, false, &c.Env},
		{8, false, &c.Live},
		{9, false, &c.Body},
		{10, false, &c.Extra},
		{11, false, &c.Timeout},
		{12, false, &c.Async},
		{13, false, &c.Dir},
		{14, false, &c.Content},
	}
}

// Async asks for a detached run.
type Async struct {
	JID   string
	Limit int    // seconds until all its processes are ended
	Dir   string // "": ~/.ansible_async
}

func (a *Async) fields() []field {
	return []field{
		{1, true, &a.JID},
		{2, true, &a.Limit},
		{3, false, &a.Dir},
	}
}

// Reply ends a call. Result is the module's result, a JSON object, as Ansible's
// modules print it ("failed" and "msg" included).
type Reply struct {
	Result []byte
}

func (r *Reply) fields() []field {
	return []field{
		{1, true, &r.Result},
	}
}
