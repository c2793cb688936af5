package ssh

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	gossh "golang.org/x/crypto/ssh"
)

// keyring reads each key file once for a whole run, and asks for each
// passphrase once, one question at a time.
type keyring struct {
	mu    sync.Mutex
	files map[string]*keyFile
	ask   sync.Mutex // held while a person is asked
}

// asker gets passphrases for one connection.
type asker interface {
	unlock(file string) (passphrase string, err error)
	failed(err error) // a key that the server wanted could not be used
	pause()           // the host's time stops
	resume()          // and goes on
}

// keyFile is a key file that was read; public is nil where only unlocking tells.
type keyFile struct {
	path    string
	content []byte
	cert    *gossh.Certificate // beside it, or nil
	public  gossh.PublicKey

	mu     sync.Mutex
	signer gossh.Signer // once unlocked
	err    error        // why it cannot be unlocked
}

// load returns the signers of a key file: its certificate's, where there is
// one, and its own. An encrypted key whose public half is known asks for its
// passphrase only when the server wants its signature.
func (k *keyring) load(path string, who asker) ([]gossh.Signer, error) {
	file, err := k.read(path)
	if err != nil {
		return nil, err
	}
	public := file.public
	if public == nil {
		signer, err := k.open(file, who)
		if err != nil {
			return nil, err
		}
		public = signer.PublicKey()
	}
	one := &lazySigner{ring: k, file: file, who: who, public: public}
	signers := []gossh.Signer{one}
	if file.cert != nil {
		if c, err := gossh.NewCertSigner(file.cert, one); err == nil {
			signers = []gossh.Signer{c, one}
		}
	}
	return signers, nil
}

// read reads a key file and what stands beside it.
func (k *keyring) read(path string) (*keyFile, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if file, ok := k.files[path]; ok {
		return file, nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the key: %w", err)
	}
	file := &keyFile{path: path, content: content}
	signer, err := gossh.ParsePrivateKey(content)
	var locked *gossh.PassphraseMissingError
	switch {
	case err == nil:
		file.signer, file.public = signer, signer.PublicKey()
	case errors.As(err, &locked):
		file.public = locked.PublicKey
	default:
		return nil, fmt.Errorf("cannot use the key %q: %w", path, err)
	}
	if pub := publicBeside(path + ".pub"); pub != nil && file.public == nil {
		file.public = pub
	}
	file.cert, _ = publicBeside(path + "-cert.pub").(*gossh.Certificate)
	if k.files == nil {
		k.files = map[string]*keyFile{}
	}
	k.files[path] = file
	return file, nil
}

func publicBeside(path string) gossh.PublicKey {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	key, _, _, _, err := gossh.ParseAuthorizedKey(content)
	if err != nil {
		return nil
	}
	return key
}

// open unlocks a key file, asking at most once in a run.
func (k *keyring) open(file *keyFile, who asker) (gossh.Signer, error) {
	// Waiting for a person, and for the key's own derivation, is not the host's time.
	who.pause()
	defer who.resume()
	file.mu.Lock()
	defer file.mu.Unlock()
	if file.signer != nil || file.err != nil {
		return file.signer, file.err
	}
	k.ask.Lock()
	passphrase, err := who.unlock(file.path)
	k.ask.Unlock()
	if err == nil {
		file.signer, err = gossh.ParsePrivateKeyWithPassphrase(file.content, []byte(passphrase))
	}
	if err != nil {
		file.err = fmt.Errorf("cannot unlock the key %q: %w", file.path, err)
		return nil, file.err
	}
	return file.signer, nil
}

// lazySigner signs with a key that may still be locked.
type lazySigner struct {
	ring   *keyring
	file   *keyFile
	public gossh.PublicKey
	who    asker
}

var _ gossh.AlgorithmSigner = (*lazySigner)(nil)

// PublicKey is the key's public half.
func (s *lazySigner) PublicKey() gossh.PublicKey { return s.public }

// Sign signs with the key's default algorithm.
func (s *lazySigner) Sign(rand io.Reader, data []byte) (*gossh.Signature, error) {
	return s.SignWithAlgorithm(rand, data, "")
}

// SignWithAlgorithm signs with the algorithm that was agreed on.
func (s *lazySigner) SignWithAlgorithm(rand io.Reader, data []byte, algorithm string) (*gossh.Signature, error) {
	signer, err := s.ring.open(s.file, s.who)
	if err != nil {
		s.who.failed(err)
		return nil, err
	}
	if a, ok := signer.(gossh.AlgorithmSigner); ok {
		return a.SignWithAlgorithm(rand, data, algorithm)
	}
	return signer.Sign(rand, data)
}
