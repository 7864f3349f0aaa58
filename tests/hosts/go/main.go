// Tries the plain module on the cases: main MODULE QUESTIONS.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"
)

type keys struct {
	Key   Key `json:"key"`
	Wrong Key `json:"wrong"`
}

type testCase struct {
	Name      string     `json:"name"`
	Bundle    []byte     `json:"bundle"`
	Seconds   int64      `json:"seconds"`
	Nanos     uint32     `json:"nanos"`
	Questions []question `json:"questions"`
}

type question struct {
	Request  string   `json:"request"`
	Decision string   `json:"decision"`
	Actions  []action `json:"actions"`
}

// action is a request about one action, with the right answer.
type action struct {
	request string
	allowed bool
}

func (action *action) UnmarshalJSON(pair []byte) error {
	return json.Unmarshal(pair, &[]any{&action.request, &action.allowed})
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "expected the module and the file of questions")
		os.Exit(2)
	}
	total, failed, err := try(context.Background(), os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, "go:", err)
		os.Exit(2)
	}
	fmt.Printf("go: %d passed, %d failed\n", total-failed, failed)
	if failed > 0 || total == 0 {
		os.Exit(1)
	}
}

func try(ctx context.Context, module, questions string) (total, failed int, err error) {
	wasm, err := os.ReadFile(module)
	if err != nil {
		return 0, 0, err
	}
	code, err := Compile(ctx, wasm, memory)
	if err != nil {
		return 0, 0, err
	}
	trusted, cases, err := read(questions)
	if err != nil {
		return 0, 0, err
	}
	for _, one := range cases {
		pdp, err := code.Open(ctx, one.Bundle, signedBy(trusted.Key), time.Time{})
		if err != nil {
			return 0, 0, fmt.Errorf("%s: %w", one.Name, err)
		}
		for _, question := range one.Questions {
			total++
			if !isRight(ctx, pdp, question, Time{one.Seconds, one.Nanos}) {
				failed++
				fmt.Printf("  %s: answered otherwise than natively: %s\n", one.Name, question.Request)
			}
		}
		if err := pdp.Close(ctx); err != nil {
			return 0, 0, err
		}
	}
	return total, failed + refusals(ctx, code, cases[0].Bundle, trusted), nil
}

func isRight(ctx context.Context, pdp *Pdp, question question, now Time) bool {
	decision, err := pdp.DecisionBytes(ctx, []byte(question.Request), now)
	if err != nil || string(decision) != question.Decision {
		return false
	}
	for _, action := range question.Actions {
		allowed, err := pdp.IsAllowed(ctx, []byte(action.request), now)
		if err != nil || allowed != action.allowed {
			return false
		}
	}
	return true
}

// refusals sends inputs that must be refused, and returns the number of wrong answers.
func refusals(ctx context.Context, code *Code, bundle []byte, keys keys) (failed int) {
	trusted := signedBy(keys.Key)
	pdp, err := code.Open(ctx, bundle, trusted, time.Time{})
	if err != nil {
		fmt.Println(" ", err)
		return 1
	}
	open := func(bundle []byte, terms Terms) error {
		_, err := code.Open(ctx, bundle, terms, time.Time{})
		return err
	}
	ask := func(request string, seconds int64) error {
		_, err := pdp.IsAllowed(ctx, []byte(request), Time{seconds, 0})
		return err
	}
	_, evaluated := pdp.Evaluate(ctx, []byte("{}"), Time{})
	named, newer := trusted, trusted
	named.Name, newer.MinRevision = "another", 2
	changed := append([]byte{}, bundle...)
	changed[len(changed)-1] ^= 1
	for _, one := range []struct {
		code string
		err  error
	}{
		{"unknown-signer", open(bundle, signedBy(keys.Wrong))},
		{"not-a-bundle", open(nil, Terms{Limit: limit})},
		{"wrong-digest", open(changed, trusted)},
		{"not-a-bundle", pdp.Reload(ctx, []byte("policies"), time.Now())},
		{"wrong-name", open(bundle, named)},
		{"old-revision", open(bundle, newer)},
		{"invalid-request", ask("{}", 0)},
		{"invalid-time", ask("{}", 1<<60)},
		{"bad-request", evaluated},
	} {
		var refused *Refused
		if !errors.As(one.err, &refused) || refused.Code != one.code {
			fmt.Printf("  expected %s, found %v\n", one.code, one.err)
			failed++
		}
	}
	return failed
}

func signedBy(key Key) Terms { return Terms{Keys: []Key{key}, Limit: limit} }

func read(path string) (trusted keys, cases []testCase, err error) {
	file, err := os.Open(path)
	if err != nil {
		return trusted, nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, longestLine)
	if !lines.Scan() {
		return trusted, nil, errors.New("the file of questions is empty")
	}
	if err := json.Unmarshal(lines.Bytes(), &trusted); err != nil {
		return trusted, nil, err
	}
	for lines.Scan() {
		var one testCase
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return trusted, nil, err
		}
		cases = append(cases, one)
	}
	if len(cases) == 0 {
		return trusted, nil, errors.New("the file of questions has no cases")
	}
	return trusted, cases, lines.Err()
}

const (
	memory      = 256 << 20
	limit       = 10 * time.Second
	longestLine = 64 << 20
)
