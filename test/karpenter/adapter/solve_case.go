package scheduling

import (
	"context"
	"time"

	"github.com/samber/lo"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/joiner"
	karpopts "sigs.k8s.io/karpenter/pkg/operator/options"
)

// joinerCase is what Scheduler was made from, in the format of `joiner solve`.
func (s *Scheduler) joinerCase(ctx context.Context, pods []*corev1.Pod) map[string]any {
	// The deadline of a context is the solver's; reading the cluster is no part of it.
	ctx = context.WithoutCancel(ctx)
	nodes, claims, active := s.joinerNodes(ctx)
	var pools []string
	var nodePools []*v1.NodePool
	for _, np := range s.joiner.nodePools {
		pools = append(pools, np.Name)
		nodePools = append(nodePools, joiner.NodePool(np))
	}
	instanceTypes, names := joiner.InstanceTypes(pools, s.instanceTypes)
	s.joiner.names = names
	kase := map[string]any{
		"options":       s.joinerOptions(ctx),
		"instanceTypes": instanceTypes,
		"nodePools":     nodePools,
		"nodes":         orEmpty(nodes),
		"nodeClaims":    orEmpty(claims),
		"pods":          orEmpty(s.joinerPods(ctx, pods, active)),
	}
	for field, list := range map[string]client.ObjectList{
		"daemonSets":     &appsv1.DaemonSetList{},
		"pvcs":           &corev1.PersistentVolumeClaimList{},
		"pvs":            &corev1.PersistentVolumeList{},
		"storageClasses": &storagev1.StorageClassList{},
		"csiNodes":       &storagev1.CSINodeList{},
		"pdbs":           &policyv1.PodDisruptionBudgetList{},
		"namespaces":     &corev1.NamespaceList{},
	} {
		kase[field] = itemsOf(ctx, s.kubeClient, list)
	}
	return kase
}

func (s *Scheduler) joinerOptions(ctx context.Context) map[string]any {
	o := karpopts.FromContext(ctx)
	ignores := s.preferencePolicy == PreferencePolicyIgnore
	strict := s.minValuesPolicy == ""
	return map[string]any{
		"preferencePolicy": lo.Ternary(ignores, "Ignore", "Respect"),
		"minValuesPolicy":  string(lo.Ternary(strict, karpopts.MinValuesPolicyStrict, s.minValuesPolicy)),
		"reservedCapacity": o.FeatureGates.ReservedCapacity,
		"reservedFallback": s.reservedOfferingMode == ReservedOfferingModeFallback,
		"nodeOverlay":      false, // the instance types have been through the store
		"truncateTo":       MaxInstanceTypes,
		"now":              s.clock.Now().UTC().Format(time.RFC3339),
	}
}

// joinerNodes has nodes and claims, and by the name of each node that Karpenter's state knows
// whether it may take pods.
func (s *Scheduler) joinerNodes(
	ctx context.Context,
) (nodes []*corev1.Node, claims []*v1.NodeClaim, active map[string]bool) {
	leaves := &metav1.Time{Time: s.clock.Now()}
	active = map[string]bool{}
	providers := sets.New[string]()
	add := func(n *state.StateNode, leaving bool) {
		if id := n.ProviderID(); id != "" {
			if providers.Has(id) {
				return
			}
			providers.Insert(id)
		}
		if n.Node != nil {
			node := n.Node.DeepCopy()
			node.SetManagedFields(nil)
			if leaving && node.DeletionTimestamp == nil {
				node.DeletionTimestamp = leaves
			}
			active[node.Name] = !leaving
			nodes = append(nodes, node)
		}
		if n.NodeClaim != nil {
			claim := joiner.NodeClaim(n.NodeClaim)
			if leaving && claim.DeletionTimestamp == nil {
				claim.DeletionTimestamp = leaves
			}
			claims = append(claims, claim)
		}
	}
	for _, n := range s.joiner.stateNodes {
		add(n, false)
	}
	for n := range s.cluster.Nodes() {
		add(n, true)
	}
	list := &corev1.NodeList{}
	if err := s.kubeClient.List(ctx, list); err != nil {
		joiner.Doubt("listing nodes: %s", err)
	}
	for i := range list.Items {
		if _, ok := active[list.Items[i].Name]; !ok {
			nodes = append(nodes, withoutRoom(&list.Items[i]))
		}
	}
	return nodes, claims, active
}

// withoutRoom is a node that Karpenter's state has not seen: its pods count, its room does not.
func withoutRoom(node *corev1.Node) *corev1.Node {
	node.SetManagedFields(nil)
	node.Spec.Unschedulable = true
	node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{
		Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule,
	})
	return node
}

// joinerPods has the pods of the cluster, and those that are asked for as the scheduler got them.
func (s *Scheduler) joinerPods(
	ctx context.Context, pods []*corev1.Pod, active map[string]bool,
) []*corev1.Pod {
	asked := map[types.NamespacedName]*corev1.Pod{}
	for _, p := range pods {
		asked[client.ObjectKeyFromObject(p)] = p
	}
	list := &corev1.PodList{}
	if err := s.kubeClient.List(ctx, list); err != nil {
		joiner.Doubt("listing pods: %s", err)
	}
	var all []*corev1.Pod
	for i := range list.Items {
		p := &list.Items[i]
		key := client.ObjectKeyFromObject(p)
		given, ok := asked[key]
		delete(asked, key)
		if ok {
			p = given.DeepCopy()
			if p.Spec.NodeName == "" || active[p.Spec.NodeName] {
				waits(p)
			}
		} else if p.Spec.NodeName == "" {
			// Karpenter's provisioner has left it out.
			p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "not-asked-for"}}
		}
		all = append(all, p)
	}
	for _, p := range pods {
		if _, left := asked[client.ObjectKeyFromObject(p)]; left {
			p = p.DeepCopy()
			waits(p)
			all = append(all, p)
		}
	}
	for _, p := range all {
		p.SetManagedFields(nil)
		p.APIVersion, p.Kind = "v1", "Pod"
	}
	return all
}

func waits(p *corev1.Pod) {
	p.Spec.NodeName, p.Status.Conditions, p.Status.Phase = "", nil, corev1.PodPending
}

func itemsOf(ctx context.Context, c client.Client, list client.ObjectList) any {
	if err := c.List(ctx, list); err != nil {
		joiner.Doubt("listing %T: %s", list, err)
	}
	switch listed := list.(type) {
	case *appsv1.DaemonSetList:
		return orEmpty(listed.Items)
	case *corev1.PersistentVolumeClaimList:
		return orEmpty(listed.Items)
	case *corev1.PersistentVolumeList:
		return orEmpty(listed.Items)
	case *storagev1.StorageClassList:
		return orEmpty(listed.Items)
	case *storagev1.CSINodeList:
		return orEmpty(listed.Items)
	case *policyv1.PodDisruptionBudgetList:
		return orEmpty(listed.Items)
	case *corev1.NamespaceList:
		return orEmpty(listed.Items)
	}
	return []any{}
}

// orEmpty is the list as JSON has it: [], not null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
