package scheduling

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/joiner"
	"sigs.k8s.io/karpenter/pkg/metrics"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
)

// joinerInputs is what NewScheduler was given and the scheduler does not keep.
type joinerInputs struct {
	nodePools  []*v1.NodePool
	stateNodes []*state.StateNode
	names      joiner.Names
}

// Solve asks Joiner. The metrics of the queue and of the pods' zones stay Karpenter's.
func (s *Scheduler) Solve(ctx context.Context, pods []*corev1.Pod) (Results, error) {
	name := injection.GetControllerName(ctx)
	controller := map[string]string{ControllerLabel: name}
	defer metrics.Measure(DurationSeconds, controller)()
	UnschedulablePodsCount.DeletePartialMatch(controller)
	PendingPodsByEffectiveZone.DeletePartialMatch(controller)
	QueueDepth.DeletePartialMatch(controller)
	zones := map[string]int{}
	for _, p := range pods {
		s.updateCachedPodData(ctx, p)
		if p.Status.Phase == corev1.PodPending {
			zones[s.computeEffectiveZoneFromPod(p)]++
		}
	}
	for zone, count := range zones {
		labels := map[string]string{ControllerLabel: name, "zone": zone}
		PendingPodsByEffectiveZone.Set(float64(count), labels)
	}
	if ctx.Err() != nil {
		return Results{ExistingNodes: s.existingNodes, PodErrors: map[*corev1.Pod]error{}}, ctx.Err()
	}
	plan := joinerPlan{}
	if err := joiner.Ask("solve", s.joinerCase(ctx, pods), &plan); err != nil {
		joiner.Doubt("%s", err)
		return Results{}, err
	}
	return s.joinerResults(ctx, pods, plan), ctx.Err()
}
