package main

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// Code is the plain module, compiled once for the process. Goroutines may share it.
type Code struct {
	runtime wazero.Runtime
	module  wazero.CompiledModule
}

// Pdp is one opened bundle in an instance of its own. One goroutine at a time uses it.
type Pdp struct {
	module api.Module
	terms  Terms
	handle uint64
	block  uint32
	room   uint32
}

// Refused is the reason why a bundle or a request was refused. It never means permission.
type Refused struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (refused *Refused) Error() string { return refused.Message }

// Key is a public key that is trusted: a JWK as `wardgate keys generate` writes it.
type Key struct {
	Alg string `json:"alg"`
	Kid string `json:"kid"`
	Pub string `json:"pub"`
}

// Terms are the conditions for opening a bundle.
type Terms struct {
	// One of these keys must have signed; without keys, unsigned bundles are opened.
	Keys []Key
	// The name that the bundle must have; the empty one accepts all.
	Name string
	// The lowest revision that is accepted.
	MinRevision int64
	// The longest time of one call.
	Limit time.Duration
}

// Time is the value of now() in conditions.
type Time struct {
	Seconds int64
	Nanos   uint32
}

// Compile compiles the module. An instance gets at most this many bytes of memory.
func Compile(ctx context.Context, wasm []byte, memory uint32) (*Code, error) {
	config := wazero.NewRuntimeConfig().WithCloseOnContextDone(true).WithMemoryLimitPages(memory >> 16)
	runtime := wazero.NewRuntimeWithConfig(ctx, config)
	module, err := runtime.CompileModule(ctx, wasm)
	return &Code{runtime, module}, err
}

// Open opens a bundle. A time of zero means no time, and then no bundle with dates is opened.
func (code *Code) Open(ctx context.Context, bundle []byte, terms Terms, now time.Time) (*Pdp, error) {
	module, err := code.runtime.InstantiateModule(ctx, code.module, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		return nil, err
	}
	pdp := &Pdp{module: module, terms: terms}
	if err := pdp.open(ctx, bundle, now); err != nil {
		return nil, errors.Join(err, module.Close(ctx))
	}
	return pdp, nil
}

func (pdp *Pdp) open(ctx context.Context, bundle []byte, now time.Time) error {
	if version, err := pdp.call(ctx, "wardgate_version"); err != nil || version != 1 {
		return errors.Join(fmt.Errorf("plain calls of version %d, expected 1", version), err)
	}
	terms, err := pdp.terms.bytes()
	if err != nil {
		return err
	}
	if err := pdp.write(ctx, append(append([]byte{}, bundle...), terms...)); err != nil {
		return err
	}
	at, length := uint64(pdp.block), uint64(len(bundle))
	handle, err := pdp.call(ctx, "wardgate_open", at, length, at+length, uint64(len(terms)), seconds(now),
		uint64(pdp.terms.MinRevision))
	pdp.handle = uint64(handle)
	return err
}

// Reload puts another bundle in the place of this one, which stays if the other is refused.
func (pdp *Pdp) Reload(ctx context.Context, bundle []byte, now time.Time) error {
	if err := pdp.write(ctx, bundle); err != nil {
		return err
	}
	_, err := pdp.call(ctx, "wardgate_reload", pdp.handle, uint64(pdp.block), uint64(len(bundle)), seconds(now),
		uint64(pdp.terms.MinRevision))
	return err
}

// IsAllowed decides one action.
func (pdp *Pdp) IsAllowed(ctx context.Context, request []byte, now Time) (bool, error) {
	answer, err := pdp.ask(ctx, "wardgate_is_allowed", request, now)
	return err == nil && answer == 1, err
}

// DecisionBytes decides several actions, and returns the decision as canonical JSON.
func (pdp *Pdp) DecisionBytes(ctx context.Context, request []byte, now Time) ([]byte, error) {
	return pdp.answer(ctx, "wardgate_check", request, now)
}

// Evaluate answers an AuthZEN evaluation request with its response.
func (pdp *Pdp) Evaluate(ctx context.Context, request []byte, now Time) ([]byte, error) {
	return pdp.answer(ctx, "wardgate_evaluate", request, now)
}

// Close gives the instance back.
func (pdp *Pdp) Close(ctx context.Context) error { return pdp.module.Close(ctx) }

func (pdp *Pdp) answer(ctx context.Context, name string, request []byte, now Time) ([]byte, error) {
	length, err := pdp.ask(ctx, name, request, now)
	if err != nil {
		return nil, err
	}
	return pdp.read(ctx, uint32(length))
}

func (pdp *Pdp) ask(ctx context.Context, name string, request []byte, now Time) (int32, error) {
	if err := pdp.write(ctx, request); err != nil {
		return 0, err
	}
	length := uint64(len(request))
	return pdp.call(ctx, name, pdp.handle, uint64(pdp.block), length, uint64(now.Seconds), uint64(now.Nanos))
}

// call makes a call within the time that one may take. After an error other than Refused the instance must
// not be used again.
func (pdp *Pdp) call(ctx context.Context, name string, parameters ...uint64) (int32, error) {
	bounded, cancel := context.WithTimeout(ctx, pdp.terms.Limit)
	defer cancel()
	function := pdp.module.ExportedFunction(name)
	if function == nil {
		return 0, fmt.Errorf("the module has no %s", name)
	}
	results, err := function.Call(bounded, parameters...)
	if err != nil {
		return 0, err
	}
	result := api.DecodeI32(results[0])
	// An address is unsigned; every other result below zero is an error.
	if result >= 0 || name == "wardgate_alloc" || name == "wardgate_answer" {
		return result, nil
	}
	return 0, pdp.refusal(ctx)
}

func (pdp *Pdp) refusal(ctx context.Context) error {
	length, err := pdp.call(ctx, "wardgate_answer_length")
	if err != nil {
		return err
	}
	text, err := pdp.read(ctx, uint32(length))
	if err != nil {
		return err
	}
	refused := &Refused{}
	if err := json.Unmarshal(text, refused); err != nil {
		return err
	}
	return refused
}

// read copies the answer.
func (pdp *Pdp) read(ctx context.Context, length uint32) ([]byte, error) {
	address, err := pdp.call(ctx, "wardgate_answer")
	if err != nil {
		return nil, err
	}
	bytes, found := pdp.module.Memory().Read(uint32(address), length)
	if !found {
		return nil, errors.New("the answer lies outside the memory")
	}
	return append([]byte{}, bytes...), nil
}

// write copies bytes into the memory of the module, in a block that the next question uses again.
func (pdp *Pdp) write(ctx context.Context, bytes []byte) error {
	if length := uint32(len(bytes)); length > pdp.room {
		if pdp.room > 0 {
			if _, err := pdp.call(ctx, "wardgate_free", uint64(pdp.block)); err != nil {
				return err
			}
		}
		pdp.block, pdp.room = 0, 0
		block, err := pdp.call(ctx, "wardgate_alloc", uint64(length))
		if err != nil {
			return err
		}
		if block == 0 {
			return errors.New("the instance has no room for the question")
		}
		pdp.block, pdp.room = uint32(block), length
	}
	if !pdp.module.Memory().Write(pdp.block, bytes) {
		return errors.New("the block lies outside the memory")
	}
	return nil
}

// seconds is the time as the module takes it: below zero there is none.
func seconds(now time.Time) uint64 {
	if now.IsZero() {
		return ^uint64(0)
	}
	return uint64(now.Unix())
}

// bytes writes the terms as docs/ABI.md describes them.
func (wanted *Terms) bytes() ([]byte, error) {
	const mostBytes = 64 << 20
	keys := wanted.Keys
	if len(wanted.Name) > 256 {
		return nil, errors.New("the name is longer than that of any bundle")
	}
	terms := binary.LittleEndian.AppendUint32(nil, mostBytes)
	terms = binary.LittleEndian.AppendUint16(terms, uint16(len(wanted.Name)))
	terms = append(terms, wanted.Name...)
	if len(keys) == 0 {
		return append(terms, 0, 0, 0), nil
	}
	if len(keys) > 64 {
		return nil, errors.New("expected at most 64 keys")
	}
	terms = append(terms, 1, byte(len(keys)), 0)
	for _, key := range keys {
		public, err := base64.RawURLEncoding.DecodeString(key.Pub)
		level, known := map[string]byte{"ML-DSA-44": 44, "ML-DSA-65": 65, "ML-DSA-87": 87}[key.Alg]
		if err != nil || !known || len(key.Kid) > 64 || len(public) > 1<<16-1 {
			return nil, fmt.Errorf("the key %q is no public key of ML-DSA", key.Kid)
		}
		terms = append(terms, level, byte(len(key.Kid)))
		terms = binary.LittleEndian.AppendUint16(terms, uint16(len(public)))
		terms = append(append(terms, key.Kid...), public...)
	}
	return terms, nil
}
