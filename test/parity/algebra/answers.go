// Prints Karpenter's and Kubernetes' answers for the tables of this folder. Run in a module that
// requires sigs.k8s.io/karpenter v1.14.1 and k8s.io/apimachinery v0.35.1:
//
//	go run answers.go requirements < requirements.json > requirements.answers.txt
//	go run answers.go min-values < requirements.json > min-values.answers.txt
//	go run answers.go quantities < quantities.txt > quantities.answers.txt
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

type expression struct {
	Operator string
	Values   []string
}

type table struct {
	Expressions []expression
	Probes      []string
}

func (e expression) requirement() *scheduling.Requirement {
	return scheduling.NewRequirement("example.com/key", corev1.NodeSelectorOperator(e.Operator), e.Values...)
}

// absent says whether a node without the label meets the requirement.
func absent(r *scheduling.Requirement) bool {
	return r.Operator() == corev1.NodeSelectorOpNotIn || r.Operator() == corev1.NodeSelectorOpDoesNotExist
}

// bit is 1 for yes.
func bit(yes bool) string {
	if yes {
		return "1"
	}
	return "0"
}

// requirements prints a line for each pair: the values of the probes that the intersection has, then
// whether a node without the label meets both, then whether the two intersect.
func requirements() error {
	var in table
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		return err
	}
	for _, a := range in.Expressions {
		for _, b := range in.Expressions {
			both := a.requirement().Intersection(b.requirement())
			var line strings.Builder
			for _, probe := range in.Probes {
				line.WriteString(bit(both.Has(probe)))
			}
			line.WriteString(bit(absent(a.requirement()) && absent(b.requirement())))
			met := scheduling.NewRequirements(a.requirement()).Intersects(scheduling.NewRequirements(b.requirement()))
			line.WriteString(bit(met == nil))
			fmt.Println(line.String())
		}
	}
	return nil
}

// minimums are the minValues of two requirements; 0 stands for none.
var minimums = []int{0, 1, 2, 3, 50}

func (e expression) flexible(minimum int) *scheduling.Requirement {
	var minValues *int
	if minimum > 0 {
		minValues = &minimum
	}
	return scheduling.NewRequirementWithFlexibility("example.com/key", corev1.NodeSelectorOperator(e.Operator), minValues, e.Values...)
}

// minValues prints a line for each pair of minimums: both, and that of the two requirements
// together; every pair of requirements has to give the same.
func minValues() error {
	var in table
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		return err
	}
	for _, x := range minimums {
		for _, y := range minimums {
			answers := map[int]bool{}
			for _, a := range in.Expressions {
				for _, b := range in.Expressions {
					both := scheduling.NewRequirements(a.flexible(x), b.flexible(y)).Get("example.com/key")
					if both.MinValues == nil {
						answers[0] = true
					} else {
						answers[*both.MinValues] = true
					}
				}
			}
			if len(answers) != 1 {
				return fmt.Errorf("%d and %d have several answers: %v", x, y, answers)
			}
			for answer := range answers {
				fmt.Println(x, y, answer)
			}
		}
	}
	return nil
}

// quantities prints a line for each text: its value and its thousandths, both rounded up, or "!".
func quantities() error {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		quantity, err := resource.ParseQuantity(lines.Text())
		if err != nil {
			fmt.Println("!")
			continue
		}
		fmt.Println(quantity.Value(), quantity.MilliValue())
	}
	return lines.Err()
}

func main() {
	run := quantities
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "requirements":
			run = requirements
		case "min-values":
			run = minValues
		}
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
