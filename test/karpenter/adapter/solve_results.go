package scheduling

import (
	"context"
	"errors"
	"fmt"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/sets"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/joiner"
	karpopts "sigs.k8s.io/karpenter/pkg/operator/options"
	"sigs.k8s.io/karpenter/pkg/scheduling"
	"sigs.k8s.io/karpenter/pkg/utils/pod"
)

type joinerRequirement struct {
	Key       string   `json:"key"`
	Operator  string   `json:"operator"`
	Values    []string `json:"values"`
	MinValues *int     `json:"minValues"`
}

type joinerClaim struct {
	NodePool      string              `json:"nodePool"`
	Requirements  []joinerRequirement `json:"requirements"`
	InstanceTypes []string            `json:"instanceTypes"`
	Pods          []string            `json:"pods"`
	Requests      map[string]string   `json:"requests"`
	Labels        map[string]string   `json:"labels"`
	Annotations   map[string]string   `json:"annotations"`
}

// joinerPlan is what `joiner solve` prints.
type joinerPlan struct {
	NewNodeClaims []joinerClaim `json:"newNodeClaims"`
	Existing      []struct {
		Node string   `json:"node"`
		Pods []string `json:"pods"`
	} `json:"existing"`
	Errors   map[string]string   `json:"errors"`
	Ignored  map[string]string   `json:"ignored"`
	Rejected map[string][]string `json:"rejected"`
}

// joinerResults is the plan as Karpenter's scheduler would have returned it.
func (s *Scheduler) joinerResults(
	ctx context.Context, pods []*corev1.Pod, plan joinerPlan,
) Results {
	byKey := map[string]*corev1.Pod{}
	for _, p := range pods {
		byKey[p.Namespace+"/"+p.Name] = p
	}
	placed := sets.New[string]()
	take := func(keys []string) []*corev1.Pod {
		var out []*corev1.Pod
		for _, key := range keys {
			p, ok := byKey[key]
			if !ok {
				joiner.Doubt("the plan has pod %s, which was not asked for", key)
				continue
			}
			placed.Insert(key)
			out = append(out, p)
		}
		return out
	}
	for kind, reasons := range plan.Rejected {
		joiner.Doubt("rejected %s: %v", kind, reasons)
	}
	var claims []*NodeClaim
	for _, planned := range plan.NewNodeClaims {
		if members := take(planned.Pods); len(members) > 0 {
			claims = append(claims, s.joinerNodeClaim(planned, members))
		}
	}
	existing := s.existingByName()
	for _, each := range plan.Existing {
		n, ok := existing[each.Node]
		if !ok {
			joiner.Doubt("the plan has node %s, which was not given", each.Node)
			continue
		}
		n.Pods = append(n.Pods, take(each.Pods)...)
	}
	failed := map[*corev1.Pod]error{}
	for key, p := range byKey {
		if !placed.Has(key) {
			failed[p] = plan.errorOf(ctx, key, p)
		}
	}
	return Results{NewNodeClaims: claims, ExistingNodes: s.existingNodes, PodErrors: failed}
}

func (s *Scheduler) existingByName() map[string]*ExistingNode {
	byName := map[string]*ExistingNode{}
	for _, n := range s.existingNodes {
		if n.Node != nil {
			byName[n.Node.Name] = n
		} else {
			byName[n.NodeClaim.Name] = n
		}
	}
	return byName
}

func (plan joinerPlan) errorOf(ctx context.Context, key string, p *corev1.Pod) error {
	reason, ok := plan.Errors[key]
	if !ok {
		reason = fmt.Sprintf("not in the plan: %s", lo.CoalesceOrEmpty(plan.Ignored[key], "no reason"))
		joiner.Doubt("pod %s is %s", key, reason)
	}
	err := errors.New(reason)
	if pod.HasDRARequirements(p) && karpopts.FromContext(ctx).IgnoreDRARequests {
		return NewDRAError(err)
	}
	return err
}

func (s *Scheduler) joinerNodeClaim(planned joinerClaim, members []*corev1.Pod) *NodeClaim {
	template, ok := lo.Find(s.nodeClaimTemplates, func(t *NodeClaimTemplate) bool {
		return t.NodePoolName == planned.NodePool
	})
	if !ok {
		np, _ := lo.Find(s.joiner.nodePools, func(np *v1.NodePool) bool {
			return np.Name == planned.NodePool
		})
		template = NewNodeClaimTemplate(np)
		joiner.Doubt("Karpenter has ruled out NodePool %s", planned.NodePool)
	}
	its := lo.Map(planned.InstanceTypes, func(name string, _ int) *cloudprovider.InstanceType {
		return s.joiner.names.Of(planned.NodePool, name)
	})
	nc := NewNodeClaim(
		template, s.topology, nil, its, s.reservationManager, s.reservedOfferingMode,
	)
	nc.Requirements = planned.requirements(its)
	nc.Pods = members
	requests := corev1.ResourceList{}
	for name, amount := range planned.Requests {
		requests[corev1.ResourceName(name)] = resource.MustParse(amount)
	}
	nc.Spec.Resources.Requests = requests
	nc.Labels = lo.Assign(nc.Labels, lo.MapKeys(planned.Labels, func(_, key string) string {
		return joiner.FromJoiner(key)
	}))
	relaxed := map[string]string{v1.NodeClaimMinValuesRelaxedAnnotationKey: "false"}
	nc.Annotations = lo.Assign(nc.Annotations, relaxed, planned.Annotations)
	return nc
}

func (planned joinerClaim) requirements(
	its []*cloudprovider.InstanceType,
) scheduling.Requirements {
	out := scheduling.NewRequirements()
	for _, r := range planned.Requirements {
		if r.Key == corev1.LabelInstanceTypeStable {
			r.Values = lo.Map(its, func(it *cloudprovider.InstanceType, _ int) string { return it.Name })
		}
		one := v1.NodeSelectorRequirementWithMinValues{
			Key:       joiner.FromJoiner(r.Key),
			Operator:  corev1.NodeSelectorOperator(r.Operator),
			Values:    r.Values,
			MinValues: r.MinValues,
		}
		out.Add(scheduling.NewNodeSelectorRequirementsWithMinValues(one).Values()...)
	}
	return out
}
