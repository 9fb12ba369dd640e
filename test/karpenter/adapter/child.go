// Package joiner is the line to Joiner's solver and resolver, a Node process (../answers.ts). It is
// compiled into Karpenter's module as pkg/joiner.
package joiner

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/onsi/ginkgo/v2"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

type child struct {
	mu  sync.Mutex
	in  io.WriteCloser
	out *bufio.Reader
}

var theChild child

// renamed has the names that only the cloud provider of Karpenter's tests has, and those of AWS.
var renamed = [][2]string{
	{"karpenter.test.sh/testnodeclass", "karpenter.k8s.aws/ec2nodeclass"},
	{"karpenter.test.sh/reservation-id", "karpenter.k8s.aws/capacity-reservation-id"},
}

// ToJoiner is the label by which Joiner knows a label of the tests.
func ToJoiner(key string) string {
	for _, each := range renamed {
		if key == each[0] {
			return each[1]
		}
	}
	return key
}

// FromJoiner is the inverse of ToJoiner.
func FromJoiner(key string) string {
	for _, each := range renamed {
		if key == each[1] {
			return each[0]
		}
	}
	return key
}

func (c *child) start() error {
	node, program := os.Getenv("JOINER_NODE"), os.Getenv("JOINER_ANSWERS")
	cmd := exec.Command(node, "--disable-warning=ExperimentalWarning", program)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("JOINER_NODE and JOINER_ANSWERS name no program: %w", err)
	}
	c.in, c.out = in, bufio.NewReaderSize(out, 1<<20)
	return nil
}

// exchange sends one line and waits for one.
func (c *child) exchange(text string) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.in == nil {
		if err := c.start(); err != nil {
			return nil, err
		}
	}
	if _, err := io.WriteString(c.in, text+"\n"); err != nil {
		return nil, err
	}
	line, err := c.out.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("the solver ended: %w", err)
	}
	return line, nil
}

// Ask sends one case and decodes the answer into result.
func Ask(op string, kase map[string]any, result any) error {
	var known []string
	for key := range v1.WellKnownLabels {
		known = append(known, ToJoiner(key))
	}
	raw, err := json.Marshal(map[string]any{"op": op, "case": kase, "wellKnown": known})
	if err != nil {
		return err
	}
	text := string(raw)
	for _, each := range renamed {
		text = strings.ReplaceAll(text, `"`+each[0]+`"`, `"`+each[1]+`"`)
	}
	start := time.Now()
	line, err := theChild.exchange(text)
	if err != nil {
		return err
	}
	reply := struct {
		OK     bool            `json:"ok"`
		Error  string          `json:"error"`
		Result json.RawMessage `json:"result"`
	}{}
	if err := json.Unmarshal(line, &reply); err != nil {
		return err
	}
	note(map[string]any{
		"op": op, "request": json.RawMessage(text), "result": reply.Result,
		"error": reply.Error, "ms": time.Since(start).Milliseconds(),
	})
	if !reply.OK {
		return fmt.Errorf("joiner: %s", reply.Error)
	}
	return json.Unmarshal(reply.Result, result)
}

var noteLock sync.Mutex

// note appends a line about the running test to the file that JOINER_CASES names, if it is set.
func note(fields map[string]any) {
	path := os.Getenv("JOINER_CASES")
	if path == "" {
		return
	}
	fields["spec"] = ginkgo.CurrentSpecReport().FullText()
	raw, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	noteLock.Lock()
	defer noteLock.Unlock()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	defer func() { _ = file.Close() }()
	if _, err := file.Write(append(raw, '\n')); err != nil {
		panic(err)
	}
}

// Doubt notes what a case cannot say, or what of a plan could not be taken.
func Doubt(format string, args ...any) {
	note(map[string]any{"op": "doubt", "doubt": fmt.Sprintf(format, args...)})
}
