// Package decisionlog verifies the files beside it with an implementation of C2SP's logs that knows nothing of this
// project.
package decisionlog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/mldsa"
	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/tlog"
)

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// verifier verifies timestamped signatures with ML-DSA-44, which the library does not know in this version of Go.
type verifier struct {
	name string
	hash uint32
	key  *mldsa.PublicKey
}

func (v verifier) Name() string    { return v.name }
func (v verifier) KeyHash() uint32 { return v.hash }

// Verify puts the structure cosigned_message of C2SP, tlog-cosignature together.
func (v verifier) Verify(text, signature []byte) bool {
	head, err := torchwood.ParseCheckpoint(string(text))
	if err != nil || len(signature) < 8 {
		return false
	}
	message := append([]byte("subtree/v1\n\x00"), byte(len(v.name)))
	message = append(message, v.name...)
	message = append(message, signature[:8]...)
	message = append(message, byte(len(head.Origin)))
	message = append(message, head.Origin...)
	message = binary.BigEndian.AppendUint64(message, 0)
	message = binary.BigEndian.AppendUint64(message, uint64(head.N))
	message = append(message, head.Hash[:]...)
	return mldsa.Verify(v.key, message, signature[8:], nil) == nil
}

// key reads the key of the log, and computes its id anew.
func key(t *testing.T) verifier {
	t.Helper()
	parts := strings.SplitN(strings.TrimSpace(string(read(t, "key.vkey"))), "+", 3)
	bytes, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil || bytes[0] != 6 {
		t.Fatalf("expected a key of type 6, found %x: %v", bytes[0], err)
	}
	id := sha256.Sum256(append([]byte(parts[0]+"\n"), bytes...))
	if hex.EncodeToString(id[:4]) != parts[1] {
		t.Fatalf("expected the id %x, found %s", id[:4], parts[1])
	}
	public, err := mldsa.NewPublicKey(mldsa.MLDSA44(), bytes[1:])
	if err != nil {
		t.Fatal(err)
	}
	return verifier{parts[0], binary.BigEndian.Uint32(id[:4]), public}
}

// policy trusts the key of the log alone.
func policy(t *testing.T) torchwood.Policy {
	t.Helper()
	return torchwood.ThresholdPolicy(2, torchwood.OriginPolicy("log.example/wardgate"),
		torchwood.SingleVerifierPolicy(key(t)))
}

func checkpoint(t *testing.T, path string) torchwood.Checkpoint {
	t.Helper()
	found, _, err := torchwood.VerifyCheckpoint(read(t, path), policy(t))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// files reads tiles from the folder.
type files struct{ t *testing.T }

func (f files) ReadTiles(_ context.Context, tiles []tlog.Tile) ([][]byte, error) {
	var found [][]byte
	for _, tile := range tiles {
		found = append(found, read(f.t, torchwood.TilePath(tile)))
	}
	return found, nil
}

func (f files) ReadEndpoint(_ context.Context, path string) ([]byte, error) {
	return read(f.t, path), nil
}

func (f files) SaveTiles([]tlog.Tile, [][]byte) {}

func TestEveryEntryIsInTheTree(t *testing.T) {
	head := checkpoint(t, "checkpoint")
	client, err := torchwood.NewClient(files{t})
	if err != nil {
		t.Fatal(err)
	}
	count := int64(0)
	for index, entry := range client.AllEntries(context.Background(), head.Tree, 0) {
		if index != count || !bytes.HasSuffix(entry, []byte("log.example/wardgate")) {
			t.Fatalf("entry %d is %q", index, entry)
		}
		count++
	}
	if err := client.Err(); err != nil || count != 300 {
		t.Fatalf("%d entries: %v", count, err)
	}
}

func TestTheOldTreeIsTheBeginningOfTheNewOne(t *testing.T) {
	older, newer := checkpoint(t, "checkpoint.100"), checkpoint(t, "checkpoint")
	reader := torchwood.TileHashReaderWithContext(context.Background(), newer.Tree, files{t})
	proof, err := tlog.ProveTree(newer.N, older.N, reader)
	if err != nil {
		t.Fatal(err)
	}
	if err := tlog.CheckTree(proof, newer.N, newer.Hash, older.N, older.Hash); err != nil {
		t.Fatal(err)
	}
}

func TestProofs(t *testing.T) {
	for _, name := range []string{"first.tlog-proof", "last.tlog-proof"} {
		proof := read(t, name)
		extra, err := torchwood.ProofExtraData(proof)
		if err != nil || len(extra) < 113 || extra[0] != 1 {
			t.Fatalf("%s: extra data %x: %v", name, extra, err)
		}
		entry := append(extra[1:113:113], "log.example/wardgate"...)
		if err := torchwood.VerifyProof(policy(t), tlog.RecordHash(entry), proof); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(proof) > 6000 {
			t.Fatalf("%s has %d bytes", name, len(proof))
		}
		entry[9]++
		if torchwood.VerifyProof(policy(t), tlog.RecordHash(entry), proof) == nil {
			t.Fatalf("%s proves another entry", name)
		}
	}
}

func TestAnotherCheckpointIsRefused(t *testing.T) {
	signed := string(read(t, "checkpoint"))
	for _, forged := range []string{
		strings.Replace(signed, "\n300\n", "\n301\n", 1),
		strings.Replace(signed, "log.example/wardgate\n", "log.example/another\n", 1),
		signed[:len(signed)-9] + base64.StdEncoding.EncodeToString([]byte("forged")) + "\n",
	} {
		if _, _, err := torchwood.VerifyCheckpoint([]byte(forged), policy(t)); err == nil {
			t.Fatalf("accepted %q", forged[:60])
		}
	}
}
