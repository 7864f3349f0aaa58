package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

func Example() {
	ctx := context.Background()
	code, err := Compile(ctx, file("wardgate_abi.wasm"), 256<<20)
	check(err)
	var key Key
	check(json.Unmarshal(file("release.pub.jwk"), &key))
	terms := Terms{Keys: []Key{key}, Limit: time.Second}
	pdp, err := code.Open(ctx, file("album.bundle"), terms, time.Now())
	check(err)
	for _, name := range []string{"ada", "bob"} {
		request := fmt.Sprintf(`{"principal": {"id": %q, "roles": ["member"]}, "action": "view",
			"resource": {"kind": "album", "id": "a", "attr": {"owner": "ada"}}}`, name)
		allowed, err := pdp.IsAllowed(ctx, []byte(request), Time{Seconds: time.Now().Unix()})
		fmt.Println(name, allowed, err)
	}
	// Output:
	// ada true <nil>
	// bob false <nil>
}

// file reads a file that the tests made.
func file(name string) []byte {
	bytes, err := os.ReadFile(filepath.Join(os.Getenv("WARDGATE_HOSTS"), name))
	check(err)
	return bytes
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
